"""The settings of one effective policy as a reader wants them: value, who set it, where, and what was lost to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.implementations import implementation
from policylint.model import Location, Node, Resource, ResourceKey, value_at
from policylint.model.resource import dotted
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, Effective, Group, Lost, holds

State = Literal["applies", "overridden", "dropped"]
_OfPolicy = dict[ResourceKey, list[Attachment]]
"""The attachments of a stack, by policy."""


class Setting(NamedTuple):
    """A setting of a policy in some contexts.

    Args:
        field: its path in words: `cors`, `timeout.http`.
        pointer: the same path, below the spec proper.
        value: the value that applies, or the value that the policy declared and lost.
        policy: the object that set it; in the 2023 edition this may be the target itself.
        location: where it is written; None for values that an object has by itself.
        node: what the policy is attached to.
        state: applies; overridden (another value stands there now); dropped (nothing does).
        by: the policies that prevailed over it.
        words: what the policy does, where the value is the whole policy.
    """

    field: str
    pointer: Pointer
    value: Any
    policy: ResourceKey
    location: Location | None
    node: Node | None
    state: State = "applies"
    by: tuple[ResourceKey, ...] = ()
    words: str = ""

    def summary(self, room: int) -> str:
        """Return what it sets in at most `room` characters."""
        return summary(self.words or self.value, room)


def settings(group: Group, field: str = "") -> list[Setting]:
    """Return what applies in the contexts of a group, then what was lost; only below `field` if one is given."""
    effective = group.effective
    said = implementation(group.kind.implementation).in_words
    entries = [_in_words(entry, effective, said) for entry in _applied(effective)] + _lost_settings(effective)
    if not field:
        return entries
    path = tuple(field.strip("/.").replace("/", ".").split("."))
    return [narrowed for entry in entries if (narrowed := _narrow(entry, path)) is not None]


def _applied(effective: Effective) -> list[Setting]:
    """Return one entry per top-level field, or per owner's part where several policies share the field."""
    of_policy = _by_policy(effective.stack)
    by_field: dict[str | int, dict[Pointer, ResourceKey]] = defaultdict(dict)
    for pointer, owner in effective.owners.items():
        by_field[pointer[0] if pointer else ""][pointer] = owner
    entries = []
    for name in sorted(by_field, key=str):
        owned = by_field[name]
        owners = set(owned.values())
        if len(owners) == 1:
            whole: Pointer = (name,) if name != "" else ()
            entries.append(_setting(effective, whole, next(iter(owners)), next(iter(owned)), of_policy))
        else:
            for pointer, leaf in sorted(_parts(owned).items(), key=lambda part: [str(step) for step in part[0]]):
                entries.append(_setting(effective, pointer, owned[leaf], leaf, of_policy))
    return entries


def _in_words(setting: Setting, effective: Effective, said: Callable[[Resource], str]) -> Setting:
    """Return a setting whose value is its whole policy with what that policy does."""
    if setting.value != str(setting.policy) and setting.value != [str(setting.policy)]:
        return setting
    policy = next((attachment.policy for attachment in effective.stack if attachment.key == setting.policy), None)
    return setting if policy is None else setting._replace(words=said(policy))


def _parts(owned: Mapping[Pointer, ResourceKey]) -> dict[Pointer, Pointer]:
    """Return the shortest pointers below which every leaf has the same owner, each with its first leaf."""
    owners_below: dict[Pointer, set[ResourceKey]] = defaultdict(set)
    for leaf, owner in owned.items():
        for length in range(1, len(leaf) + 1):
            owners_below[leaf[:length]].add(owner)
    parts: dict[Pointer, Pointer] = {}
    for leaf in owned:
        for length in range(1, len(leaf) + 1):
            if len(owners_below[leaf[:length]]) == 1:
                parts.setdefault(leaf[:length], leaf)
                break
    return parts


def _by_policy(stack: Iterable[Attachment]) -> _OfPolicy:
    of_policy: _OfPolicy = defaultdict(list)
    for attachment in stack:
        of_policy[attachment.key].append(attachment)
    return of_policy


def _setting(
    effective: Effective, pointer: Pointer, owner: ResourceKey, leaf: Pointer, of_policy: _OfPolicy
) -> Setting:
    """Return the setting at a pointer of an effective spec; `leaf` is any leaf below it."""
    attachment, prefix = _writer(of_policy.get(owner, []), leaf)
    location = None
    if attachment is not None:
        is_declared = _value(attachment, prefix, pointer) is not None
        # A list that several policies fill has other places in the result than in the manifests.
        location = attachment.policy.location(*prefix, *(pointer if is_declared else ()), key=True)
    node = None if attachment is None else attachment.node
    return Setting(dotted(pointer), pointer, value_at(effective.spec, pointer), owner, location, node)


def _lost_settings(effective: Effective) -> list[Setting]:
    """Return the lost leaves, folded into a whole field where all leaves of a policy's field were lost alike."""
    of_policy = _by_policy(effective.stack)
    keeping = {(owner, pointer[:1]) for pointer, owner in effective.owners.items()}
    by_field: dict[tuple[ResourceKey, str | int], list[Lost]] = defaultdict(list)
    for lost in effective.lost:
        by_field[lost.policy, lost.pointer[0] if lost.pointer else ""].append(lost)
    entries = []
    for (policy, name), leaves in sorted(by_field.items(), key=lambda entry: (str(entry[0][1]), entry[0][0])):
        attachment, prefix = _writer(of_policy.get(policy, []), leaves[0].pointer)
        node = None if attachment is None else attachment.node
        kept = (policy, (name,)) in keeping
        ends = {(leaf.by, leaf.replaced) for leaf in leaves}
        by, replaced = next(iter(ends))
        if len(ends) == 1 and not kept and name != "" and (replaced or name not in effective.spec):
            value = _value(attachment, prefix, (name,))
            location = leaves[0].location
            if attachment is not None and value is not None:
                location = attachment.policy.location(*prefix, name, key=True)
            state: State = "overridden" if replaced else "dropped"
            entries.append(Setting(str(name), (name,), value, policy, location, node, state, by))
            continue
        parts = {(_lost_with(effective.spec, leaf), leaf.by, leaf.replaced): leaf for leaf in reversed(leaves)}
        for (pointer, by, replaced), leaf in sorted(parts.items(), key=lambda part: str(part[0][0])):
            value = _value(attachment, prefix, pointer)
            state = "overridden" if replaced else "dropped"
            entries.append(Setting(dotted(pointer), pointer, value, policy, leaf.location, node, state, by))
    return entries


def _lost_with(spec: Mapping[str, Any], lost: Lost) -> Pointer:
    """Return the pointer of all that was lost with a leaf: up to the first step at which nothing stands now."""
    if not lost.replaced:
        for length in range(1, len(lost.pointer)):
            if not holds(spec, lost.pointer[:length]):
                return lost.pointer[:length]
    return lost.pointer


def _writer(of_owner: Sequence[Attachment], leaf: Pointer) -> tuple[Attachment | None, Pointer]:
    """Return which attachment of a policy declares a leaf, and the pointer at which its declaration begins."""
    for attachment in of_owner:
        for declared in attachment.declared:
            if holds(declared.proper, leaf):
                return attachment, declared.prefix
    if of_owner:
        declares = of_owner[0].declared
        return of_owner[0], declares[0].prefix if declares else ("spec",)
    return None, ()


def _value(attachment: Attachment | None, prefix: Pointer, pointer: Pointer) -> Any:
    """Return the value that an attached policy declares at a pointer, None where it declares none."""
    if attachment is None:
        return None
    proper = next((declaration.proper for declaration in attachment.declared if declaration.prefix == prefix), {})
    return value_at(proper, pointer)


def summary(value: Any, room: int = 60) -> str:
    """Return a value in at most `room` characters: `requests 100, unit Minute`; what does not fit ends in `…`."""
    text = " ".join(_words(value).split())
    return text if len(text) <= room else text[: room - 1].rstrip(", ") + "…"


def _words(value: Any) -> str:
    """Return a value as text, without a limit."""
    if isinstance(value, Mapping):
        name = next(iter(value), "")
        if len(value) == 1 and name.isidentifier() and isinstance(inner := value[name], Mapping) and inner:
            return _words(inner)  # the name of a field; one that users chose (a port, say) is part of what is said
        return ", ".join(f"{name} {_words(inner_value)}" for name, inner_value in value.items()) or "{}"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "[]"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def _narrow(setting: Setting, path: tuple[str, ...]) -> Setting | None:
    """Return a setting if it lies below a path, its part at the path if the path lies inside it, None otherwise."""
    steps = [str(step) for step in setting.pointer]
    shorter = min(len(steps), len(path))
    if steps[:shorter] != list(path[:shorter]):
        return None
    rest = path[shorter:]
    if not rest or setting.value is None:
        return setting
    value = value_at(setting.value, rest)
    pointer = (*setting.pointer, *rest)
    return None if value is None else setting._replace(field=dotted(pointer), pointer=pointer, value=value)
