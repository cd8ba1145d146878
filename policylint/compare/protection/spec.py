"""Two specs of one kind in, out what the second one weakens, by the words that the catalog has for it (`weaker`).

Nothing is said of what was exchanged (one entry for another), of what cannot be told (`${VAR}`), nor of a setting that
is there for the first time: it asks for more than nothing did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import value_at
from policylint.checks.kit.wording import listing
from policylint.compare.protection.dotted import At, instances, name_of, pair
from policylint.documents import Pointer
from policylint.model import mapping
from policylint.model.weakness import Weakness
from policylint.namedtuple import NamedTuple
from policylint.policy.declared import is_opt_out


class Weakened(NamedTuple):
    """One thing that is weaker.

    Args:
        weak: in which way.
        before, after: below each spec; for what is gone `after` is where it would be.
        change: what happened, e.g. `goes from Deny to Allow`.
        was: the value that was stronger, "" for anything but a value.
        opens: whether the purpose of `weak.opens` is served no longer.
    """

    weak: Weakness
    before: Pointer
    after: Pointer
    change: str
    was: str = ""
    opens: bool = False


def weakened(words: Iterable[Weakness], before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    """Everything that is weaker, in the order of the words."""
    told: list[Pointer] = []
    for weak in words:
        for each in _compared(weak, before, after):
            if weak.list in ("alternatives", "conditions") and any(at[: len(each.after)] == each.after for at in told):
                continue  # what the new entry lets in has been said
            told.append(each.after)
            opens = each.opens and not any(_stands(after, path) for path in weak.unless)
            yield each._replace(opens=opens)


def text(value: object) -> str:
    """A value in a message."""
    if isinstance(value, str):
        return value
    said = json.dumps(value, default=str)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


_LONGEST = 60
_HASHED = re.compile(r":(?:\{SHA\}|\$)\S*$")


def _compared(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    if weak.order:
        return _order(weak, before, after)
    if weak.list:
        return _LISTS[weak.list](weak, before, after)
    if weak.presence == "demands":
        return _gone(weak, before, after)
    return _come(weak, before, after)


def _order(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    old, new = pair(before, after, weak.path)
    always = weak.instead and "*" in weak.path  # entries that come and go fall back on another field
    for key in dict.fromkeys((*old, *new)) if always else (key for key in old if key in new):
        was, now = _value(weak, before, old.get(key)), _value(weak, after, new.get(key))
        one, other = _step(weak, was.value), _step(weak, now.value)
        if one is None or other is None or one >= other or not _holds(weak, after, new.get(key)):
            continue
        said = text(was.value)
        change = f"goes from {said} to" if was.pointer == now.pointer or always else "is now"
        yield Weakened(weak, was.pointer, now.pointer, f"{change} {text(now.value)}", said, bool(weak.opens))


def _value(weak: Weakness, spec: Mapping[str, Any], at: At | None) -> At:
    """What counts at a place, and where it is written, or would be."""
    if at is not None and at.value is not None:
        return at
    if weak.instead:
        (other,) = instances(spec, weak.instead).values()
        if other.value is not None:
            return other
    value = weak.unset if at is not None and at.held and weak.unset is not None else weak.without
    pointer = at.pointer if at is not None else tuple(weak.instead.split("."))
    return At(pointer, value, held=False)


def _step(weak: Weakness, value: object) -> int | None:
    """`1` is not `true`: what stands in the order is of its type."""
    found = (
        number
        for number, values in enumerate(weak.order)
        if any(each == value and isinstance(each, bool) == isinstance(value, bool) for each in values)
    )
    return next(found, None)


def _alternatives(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    for was, now, old, new in _lists(weak, before, after):
        if old and old.keys() < new.keys():
            added = [name for name in new if name not in old]
            pointer = (*now.pointer, new[added[0]])
            yield Weakened(weak, was.pointer, pointer, f"gains {_listed(added)}")


def _conditions(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    for was, now, old, new in _lists(weak, before, after):
        if old.keys() < new.keys():
            added = [name for name in new if name not in old]
            yield Weakened(weak, was.pointer, (*now.pointer, new[added[0]]), f"gains {_listed(added)}")


def _demands(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    for was, now, old, new in _lists(weak, before, after):
        if new.keys() < old.keys():
            lost = [name for name in old if name not in new]
            yield Weakened(weak, (*was.pointer, old[lost[0]]), now.pointer, f"loses {_listed(lost)}")


def _lists(
    weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[At, At, dict[str, Any], dict[str, Any]]]:
    """The lists that stand, or could, on both sides, with their entries by name."""
    old, new = pair(before, after, weak.path)
    for key, was in old.items():
        now = new.get(key)
        if now is None or not was.held or not now.held or not _holds(weak, after, now):
            continue
        if not _unclear(was.value) and not _unclear(now.value):
            yield was, now, _entries(weak, was.value), _entries(weak, now.value)


def _entries(weak: Weakness, value: object) -> dict[str, Any]:
    """Name → index or key of the entries that count."""
    if isinstance(value, dict):
        return {key: key for key, each in value.items() if each is not None and _matches(mapping(each), weak.entries)}
    if not isinstance(value, list):
        return {}
    return {name_of(each): number for number, each in enumerate(value) if _matches(mapping(each), weak.entries)}


def _gone(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    old, new = pair(before, after, weak.path)
    for key, was in old.items():
        now = new.get(key)
        if not _is_there(was.value) or now is None or _is_there(now.value) or not _holds(weak, after, now):
            continue
        if any(_stands(after, path) and not _stands(before, path) for path in weak.unless):
            continue  # exchanged for something that serves the same purpose
        yield Weakened(weak, was.pointer, now.pointer, "is gone", opens=bool(weak.opens))


def _come(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakened]:
    """What lets somebody in anywhere for the first time, in a setting that stood before."""
    if not _is_there(_holder(before, weak)):
        return
    if any(_admits(weak, each.value) and _holds(weak, before, each) for each in instances(before, weak.path).values()):
        return
    for each in instances(after, weak.path).values():
        change = _admits(weak, each.value)
        if change and _holds(weak, after, each):
            yield Weakened(weak, each.pointer, each.pointer, change, opens=bool(weak.opens))
            return


def _admits(weak: Weakness, value: object) -> str:
    if weak.presence:
        return "is there now" if value is not None else ""
    found = [each for each in (value if isinstance(value, list) else [value]) if each in weak.everybody]
    return f"now holds {found[0]}" if found else ""


def _holder(spec: Mapping[str, Any], weak: Weakness) -> Any:
    """What holds all that a path stands for: up to its first `*`, else its last step."""
    steps = weak.path.split(".")
    value: Any = spec
    for step in steps[: steps.index("*") if "*" in steps else -1]:
        value = mapping(value).get(step)
    return value


def _holds(weak: Weakness, spec: Mapping[str, Any], at: At | None) -> bool:
    """Whether the fields beside a value are as `where` wants them."""
    if not weak.where:
        return True
    beside: Any = spec
    steps = weak.path.split(".")
    if at is not None and "*" in steps:
        last = len(steps) - 1 - steps[::-1].index("*")
        for step in at.pointer[: last + 1]:
            beside = beside[step]
    return _matches(mapping(beside), weak.where)


def _matches(entry: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_is_among(value_at(entry, tuple(path.split("."))), value) for path, value in wanted.items())


def _is_among(value: object, wanted: object) -> bool:
    among = wanted if isinstance(wanted, list) else [wanted]
    return any(each in among for each in value) if isinstance(value, list) else value in among


def _stands(spec: Mapping[str, Any], path: str) -> bool:
    """Whether there is something at `path`, or `path=value` somewhere."""
    where, _, wanted = path.partition("=")
    return any(each.value == wanted if wanted else _is_there(each.value) for each in instances(spec, where).values())


def _is_there(value: object) -> bool:
    return value is not None and value != [] and not is_opt_out(value)


def _unclear(value: object) -> bool:
    return "${" in json.dumps(value, default=str)


def _listed(names: list[str]) -> str:
    """Names; of a line of an htpasswd file that of its user, for nobody wants to read the hash."""
    shown = (_HASHED.sub("", each) for each in names)
    return listing((each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in shown), most=3)


_LISTS = {"alternatives": _alternatives, "conditions": _conditions, "demands": _demands}
