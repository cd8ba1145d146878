"""The settings of one effective policy as a reader wants them: value, who set it, where, and what was lost to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.model import Location, Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, Effective, Group, Lost, holds

State = Literal["applies", "overridden", "dropped"]


class Setting(NamedTuple):
    """A setting of a policy in some contexts.

    Args:
        field: its path in words: `cors`, `timeout.http`.
        pointer: the same below the spec proper.
        value: what applies, or what the policy wanted.
        policy: who set it; in the 2023 edition this may be an object.
        location: where; None for values that an object has by itself.
        node: what the policy is attached to.
        state: applies; overridden (another value stands there now); dropped (nothing does).
        by: who prevailed over it.
    """

    field: str
    pointer: Pointer
    value: Any
    policy: ResourceKey
    location: Location | None
    node: Node | None
    state: State = "applies"
    by: tuple[ResourceKey, ...] = ()


def settings(group: Group, field: str = "") -> list[Setting]:
    """What applies in the contexts of a group, then what was set and lost; only below `field` if one is given."""
    effective = group.effective
    found = [*_standing(effective), *_lost(effective)]
    if not field:
        return found
    path = tuple(field.strip("/.").replace("/", ".").split("."))
    return [narrowed for each in found if (narrowed := _narrowed(each, path)) is not None]


def _standing(effective: Effective) -> list[Setting]:
    """One entry per top-level field, or per owner's part where several policies share it."""
    by_field: dict[str | int, dict[Pointer, ResourceKey]] = defaultdict(dict)
    for pointer, owner in effective.owners.items():
        by_field[pointer[0] if pointer else ""][pointer] = owner
    found = []
    for name in sorted(by_field, key=str):
        owned = by_field[name]
        owners = set(owned.values())
        if len(owners) == 1:
            whole: Pointer = (name,) if name != "" else ()
            found.append(_setting(effective, whole, next(iter(owners)), next(iter(owned))))
        else:
            for pointer, owner in sorted(_parts(owned).items(), key=lambda each: [str(step) for step in each[0]]):
                leaf = next(each for each in owned if each[: len(pointer)] == pointer)
                found.append(_setting(effective, pointer, owner, leaf))
    return found


def _parts(owned: Mapping[Pointer, ResourceKey]) -> dict[Pointer, ResourceKey]:
    """The shortest pointers below which everything has one owner."""
    found: dict[Pointer, ResourceKey] = {}
    for pointer, owner in owned.items():
        for length in range(1, len(pointer) + 1):
            part = pointer[:length]
            if all(each == owner for other, each in owned.items() if other[:length] == part):
                found[part] = owner
                break
    return found


def _setting(effective: Effective, pointer: Pointer, owner: ResourceKey, leaf: Pointer) -> Setting:
    attachment, prefix = _writer(effective.stack, owner, leaf)
    location = None
    if attachment is not None:
        there = _value(attachment, prefix, pointer) is not None
        # A list that several policies fill has other places in the result than in the manifests.
        location = attachment.policy.location(*prefix, *(pointer if there else ()), key=True)
    node = None if attachment is None else attachment.node
    return Setting(words(pointer), pointer, at(effective.spec, pointer), owner, location, node)


def _lost(effective: Effective) -> list[Setting]:
    """Lost leaves, folded into whole fields where all of a policy's field went the same way."""
    by_field: dict[tuple[ResourceKey, str | int], list[Lost]] = defaultdict(list)
    for each in effective.lost:
        by_field[each.policy, each.pointer[0] if each.pointer else ""].append(each)
    found = []
    for (policy, name), leaves in sorted(by_field.items(), key=lambda each: (str(each[0][1]), each[0][0])):
        attachment, prefix = _writer(effective.stack, policy, leaves[0].pointer)
        node = None if attachment is None else attachment.node
        kept = any(owner == policy and pointer[:1] == (name,) for pointer, owner in effective.owners.items())
        ends = {(each.by, each.replaced) for each in leaves}
        by, replaced = next(iter(ends))
        if len(ends) == 1 and not kept and name != "" and (replaced or name not in effective.spec):
            standing = replaced
            value = _value(attachment, prefix, (name,))
            location = leaves[0].location
            if attachment is not None and value is not None:
                location = attachment.policy.location(*prefix, name, key=True)
            state: State = "overridden" if standing else "dropped"
            found.append(Setting(str(name), (name,), value, policy, location, node, state, by))
            continue
        parts = {(_gone(effective.spec, each), each.by, each.replaced): each for each in reversed(leaves)}
        for (pointer, by, replaced), each in sorted(parts.items(), key=lambda part: str(part[0][0])):
            value = _value(attachment, prefix, pointer)
            state = "overridden" if replaced else "dropped"
            found.append(Setting(words(pointer), pointer, value, policy, each.location, node, state, by))
    return found


def _gone(spec: Mapping[str, Any], lost: Lost) -> Pointer:
    """The whole of what went with a lost leaf: the first step at which nothing stands now."""
    if not lost.replaced:
        for length in range(1, len(lost.pointer)):
            if not holds(spec, lost.pointer[:length]):
                return lost.pointer[:length]
    return lost.pointer


def _writer(stack: Iterable[Attachment], owner: ResourceKey, leaf: Pointer) -> tuple[Attachment | None, Pointer]:
    """The attachment of a policy that declares a leaf, with where its declaration begins."""
    of_owner = [each for each in stack if each.key == owner]
    for attachment in of_owner:
        for declared in attachment.declared:
            if holds(declared.proper, leaf):
                return attachment, declared.prefix
    if of_owner:
        declares = of_owner[0].declared
        return of_owner[0], declares[0].prefix if declares else ("spec",)
    return None, ()


def _value(attachment: Attachment | None, prefix: Pointer, pointer: Pointer) -> Any:
    if attachment is None:
        return None
    proper = next((each.proper for each in attachment.declared if each.prefix == prefix), {})
    return at(proper, pointer)


def at(value: Any, pointer: Pointer) -> Any:
    """The value at a pointer, None where there is none."""
    for step in pointer:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def words(pointer: Pointer) -> str:
    """`timeout.http.requestTimeout`, `rules[0].limit`."""
    text = ""
    for step in pointer:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def summary(value: Any, room: int = 60) -> str:
    """A value in a few words: `requests 100, unit Minute`; what does not fit ends in `…`."""
    text = " ".join(_words(value).split())
    return text if len(text) <= room else text[: room - 1].rstrip(", ") + "…"


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), Mapping) and inner:
            return _words(inner)
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items()) or "{}"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "[]"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def _narrowed(setting: Setting, path: tuple[str, ...]) -> Setting | None:
    """A setting if it lies below a path; the part of it at the path if that lies inside; None for any other."""
    steps = [str(step) for step in setting.pointer]
    shorter = min(len(steps), len(path))
    if steps[:shorter] != list(path[:shorter]):
        return None
    rest = path[shorter:]
    value = at(setting.value, rest)
    if not rest or setting.value is None:
        return setting
    if value is None:
        return None
    pointer = (*setting.pointer, *rest)
    return setting._replace(field=words(pointer), pointer=pointer, value=value)
