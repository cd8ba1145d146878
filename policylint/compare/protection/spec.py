"""The weakenings between two specs of one kind, by the words that the catalog has for it (`weaker`).

Nothing is reported about what was exchanged (one entry for another), what cannot be told (`${VAR}`), and a setting that
is there for the first time: it demands more than nothing did.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from policylint.checks.kit.locations import value_at
from policylint.compare.protection.embedded import configuration
from policylint.compare.sameness import same_value
from policylint.documents import Pointer
from policylint.model import mapping, sequence
from policylint.model.embedded import json_in
from policylint.model.quantities import milliseconds, number_of_bytes, per_second
from policylint.model.values import telling
from policylint.model.weakness import Rate, Weakness
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.declared import is_there
from policylint.policy.results import holds
from policylint.spaces.addresses import cidr, without

_LONGEST = 60
"""Most characters of a value or name in a message."""
_HASHED = Pattern(r":(?:\{SHA\}|\$)\S*$")
_LISTED = Pattern(r"[\s,;]+|(?<=[A-Z0-9]):(?=[A-Z])")
"""Between the entries of a list that is written as a text."""
_TO_READ = frozenset({"message", "messageExpression", "description", "comment", "reason"})
"""Fields of an entry that only say something to people."""
_NAMES = ("name", "issuer")
"""Fields by which an entry of a list is known."""


class PathValue(NamedTuple):
    """The value at a path, or where it would be.

    Args:
        value: None where the field is missing.
        held: whether the object that would hold it is there.
    """

    pointer: Pointer
    value: Any
    held: bool


PathValues = dict[tuple[str, ...], PathValue]
"""Values of a path, by the names of the entries that its `*`s stand for."""


class Weakening(NamedTuple):
    """One weakening of a setting.

    Args:
        weak: the weakness of the catalog that describes it.
        before, after: pointers below each spec; for what is gone `after` is where it would be.
        change: what happened, e.g. `goes from Deny to Allow`.
        was: the value that was stronger, "" for anything but a value.
        opens: whether the purpose of `weak.opens` is no longer served.
    """

    weak: Weakness
    before: Pointer
    after: Pointer
    change: str
    was: str = ""
    opens: bool = False


def weakenings(
    weaknesses: Iterable[Weakness], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Weakening]:
    """Yield everything that is weaker, in the order of the weaknesses."""
    reported: list[Pointer] = []
    gone: list[Pointer] = []
    exchanged: set[Pointer] = set()
    beside: set[str] = set()
    told: set[tuple[Pointer, str]] = set()
    for weak in weaknesses:
        if weak.path in beside:
            continue  # it is what makes another field weaker, which is reported
        for weakening in _compared(weak, before, after):
            place = weakening.after
            if weak.anchor:
                entry = place[: _depth_of_entry(weak.path)]
                if entry in exchanged or place in reported:
                    continue  # whoever has other keys has another issuer, too
                exchanged.add(entry)
            if weak.list in ("alternatives", "conditions") and any(
                pointer[: len(place)] == place or (pointer and place[: len(pointer)] == pointer) for pointer in reported
            ):
                continue  # what the new entry lets in has been reported
            if any(pointer == place[: len(pointer)] for pointer in gone):
                continue  # with what held it
            told_below = any(pointer[: len(place)] == place for pointer in reported)
            if told_below and "demands" in (weak.presence, weak.list):
                continue  # what is weaker in it has been reported
            if (place, weakening.change) in told:
                continue  # in other words
            told.add((place, weakening.change))
            beside.update(weak.where)
            reported.append(place)
            gone += [place] if weak.presence == "demands" else []
            opens = weakening.opens and not any(_stands(after, path) for path in weak.unless)
            yield weakening._replace(opens=opens)


def _depth_of_entry(path: str) -> int:
    """Return how many steps of a path lead to the innermost entry of a list or map that it goes through."""
    steps = path.split(".")
    return len(steps) - steps[::-1].index("*") if "*" in steps else len(steps)


def text(value: object) -> str:
    """Return a value as it stands in a message."""
    if isinstance(value, str):
        return value
    encoded = json.dumps(value, default=str)
    return encoded if len(encoded) <= _LONGEST else f"{encoded[:_LONGEST]}…"


def _compared(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Return the weakenings of one weakness."""
    if weak.order:
        return _order(weak, before, after)
    if weak.list:
        return _changed_lists(weak, before, after)
    if weak.presence == "demands":
        return _removed(weak, before, after)
    if weak.presence == "narrows":
        return _narrowed(weak, before, after)
    if weak.rate is not None or weak.grows or weak.shrinks:
        return _raised(weak, before, after)
    if weak.anchor:
        return _exchanged(weak, before, after)
    return _introduced(weak, before, after)


def _order(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the values that went further down the order of a weakness."""
    old, new = pair_values(before, after, weak.path)
    compares_all = weak.instead and "*" in weak.path  # entries that come and go fall back on another field
    for key in dict.fromkeys((*old, *new)) if compares_all else (key for key in old if key in new):
        old_value, new_value = _value(weak, before, old.get(key)), _value(weak, after, new.get(key))
        old_rank, new_rank = _rank(weak, old_value.value), _rank(weak, new_value.value)
        if old_rank is None or new_rank is None or old_rank >= new_rank or not _holds(weak, after, new.get(key)):
            continue
        old_text = text(old_value.value)
        change = f"goes from {old_text} to" if old_value.pointer == new_value.pointer or compares_all else "is now"
        yield Weakening(
            weak, old_value.pointer, new_value.pointer, f"{change} {text(new_value.value)}", old_text, bool(weak.opens)
        )


def ranked(weaknesses: Iterable[Weakness], before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Pointer]:
    """Yield where both sides have a value of which an order says how strong it is."""
    for weak in weaknesses:
        if weak.order:
            old, new = pair_values(before, after, weak.path)
            for key in old.keys() & new.keys():
                ranks = (
                    _rank(weak, _value(weak, before, old[key]).value),
                    _rank(weak, _value(weak, after, new[key]).value),
                )
                if None not in ranks:
                    yield new[key].pointer


def unmoved(
    weaknesses: Iterable[Weakness], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[Pointer, Pointer]]:
    """Yield where both sides are as strong, by an order in which what is left out has its place, before and after."""
    for weak in weaknesses:
        if weak.order:
            old, new = pair_values(before, after, weak.path)
            for key in old.keys() & new.keys():
                was, now = _value(weak, before, old[key]), _value(weak, after, new[key])
                if _rank(weak, was.value) is not None and _rank(weak, was.value) == _rank(weak, now.value):
                    yield old[key].pointer, new[key].pointer


def _raised(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the limits that let more pass."""
    old, new = pair_values(before, after, weak.path)
    for key in old.keys() & new.keys():
        was, now = _value(weak, before, old[key]), _value(weak, after, new[key])
        amounts = _amount(weak, was.value), _amount(weak, now.value)
        amounts = amounts[::-1] if weak.shrinks else amounts
        if None not in amounts and amounts[0] < amounts[1] and _holds(weak, after, new[key]):  # type: ignore[operator]
            change = f"goes from {_amount_in_words(weak, was.value)} to {_amount_in_words(weak, now.value)}"
            yield Weakening(weak, was.pointer, now.pointer, change)


def _amount(weak: Weakness, value: Any) -> float | None:
    """Return how much a limit lets pass, None where that cannot be told."""
    if weak.rate is not None:
        each = value_at(value, tuple(weak.rate.each.split("."))) if weak.rate.each else None
        number = _counted(weak, weak.rate, value)
        if number is not None and number == weak.rate.none:
            return inf
        return per_second(number, weak.rate.unset if each is None else each)
    if weak.none and str(value) == weak.none:
        return inf
    length = None if weak.grows == "size" else milliseconds(value)
    if weak.grows == "size" and isinstance(value, str):
        exact = number_of_bytes(value)
        return number_of_bytes(value.upper().replace("K", "k")) if exact is None else exact
    return length if length is not None else number_of_bytes(value)


def _counted(weak: Weakness, rate: Rate, value: Any) -> Any:
    number = value if rate.number == "." else value_at(value, tuple(rate.number.split(".")))
    return weak.unset if number is None and isinstance(value, dict) else number


def _amount_in_words(weak: Weakness, value: Any) -> str:
    if weak.rate is None:
        return text(value)
    each = value_at(value, tuple(weak.rate.each.split("."))) if weak.rate.each else None
    count = text(_counted(weak, weak.rate, value))
    return count if "/" in count else f"{count} per {text(weak.rate.unset if each is None else each)}"


def _exchanged(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the values by which requests are checked, where it is by others now."""
    old, new = pair_values(before, after, weak.path)
    for key in old.keys() & new.keys():
        was, now = old[key], new[key]
        if was.value is None or now.value is None or _unclear([was.value, now.value]) or not _holds(weak, after, now):
            continue
        change = _exchange(weak, was.value, now.value)
        if change:
            yield Weakening(weak, was.pointer, now.pointer, change)


def _exchange(weak: Weakness, before: Any, after: Any) -> str:
    """Return how a value that others go by is exchanged, "" where by what it checks is the same."""
    if weak.anchor == "keys":
        known, keys = _keys(before), _keys(after)
        if known is None or keys is None:
            return "" if before == after else "is a different one"
        return "" if keys <= known else "gains a key" if known < keys else "holds other keys"
    if weak.anchor == "server":
        was, now = _server(before), _server(after)
        if was == now:  # another realm of the same server has other users
            was, now = _realm(before), _realm(after)
        return f"goes from {was} to {now}" if was and now and was != now else ""
    if weak.anchor == "entries":
        return _in_place_of(_named(before), _named(after))
    field = next(step for step in reversed(weak.path.split(".")) if step != "*")
    if same_value(before, after, field) or (isinstance(before, (list, dict)) and not _is_mixed(before, after)):
        return ""  # of a list, or labels, that only gain or lose entries other words speak
    if weak.anchor != "value" and _is_narrower(weak.anchor, before, after):
        return ""
    documents = _held(before), _held(after)
    if None not in documents and (documents[0] == documents[1] or _is_stricter(weak, *documents)):
        return ""  # the same, written otherwise, or one that grants no more and denies no less
    was, now = text(before), text(after)
    return f"goes from {was} to {now}" if len(was) <= _LONGEST >= len(now) else "is a different text"


def _named(value: Any) -> dict[str, Any]:
    """Return the entries of a list or map by name, without their own names: what one says under another is the same."""
    if isinstance(value, dict):
        return {str(name): entry for name, entry in value.items() if entry is not None}
    return {name_of(each): {**mapping(each), "name": None} for each in sequence(value)}


def _in_place_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return which entry takes the place of which, "" where none does: of one more, or less, other words speak."""
    lost = [name for name in before if name not in after]
    gained = [name for name in after if name not in before and after[name] not in [before[each] for each in lost]]
    return f"holds {_listed(gained)} in place of {_listed(lost)}" if lost and gained else ""


def _is_narrower(anchor: str, before: Any, after: Any) -> bool:
    """Tell whether expressions show by their terms that they let no request in that others did not let in."""
    from policylint.cel.implication import canonical, implies

    was, now = (
        [canonical(text(each)) for each in (value if isinstance(value, list) else [value])] for value in (before, after)
    )
    if None in was or None in now:
        return False
    if anchor == "grant":
        return all(any(implies(each, former) for former in was) for each in now)
    if anchor == "demand":
        return all(any(implies(each, former) for each in now) for former in was)
    return all(any(implies(former, each) for each in now) for former in was)


def _is_stricter(weak: Weakness, before: Any, after: Any) -> bool:
    """Return whether of two documents with lists of entries that grant or deny the second one only grants less, or
    denies more."""
    if not (weak.entries and isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys()):
        return False
    for name, was in before.items():
        now = after[name]
        if was == now:
            continue
        if not (isinstance(was, list) and isinstance(now, list)):
            return False
        gained, lost = ([each for each in one if each not in other] for one, other in ((now, was), (was, now)))
        if any(_grants(weak, each) for each in gained) or not all(_grants(weak, each) for each in lost):
            return False
    return True


def _grants(weak: Weakness, entry: Any) -> bool:
    return all(mapping(entry).get(field) == value for field, value in weak.entries.items())


def _is_mixed(before: list[Any] | dict[str, Any], after: Any) -> bool:
    """Return whether a list or map both gains and loses entries; one with another value is another entry."""
    listed = ([*each.items()] if isinstance(each, dict) else sequence(each) for each in (before, after))
    old, new = (set(map(name_of, each)) for each in listed)
    return bool(old - new) and bool(new - old)


def _keys(value: Any) -> frozenset[str] | None:
    """Return the keys of a JSON Web Key Set, None where it is none."""
    listed = sequence(mapping(json_in(value) if isinstance(value, str) else value).get("keys"))
    return frozenset(json.dumps(key, sort_keys=True) for key in listed) or None


def _held(value: object) -> Any:
    """Return what a text holds as JSON or YAML, None where it is neither."""
    held = json_in(value)
    if held is None and isinstance(value, str) and (told := configuration(value)) != value:
        return told
    return held


def _server(value: Any) -> str:
    """Return the scheme, host and port of an address."""
    scheme, apart, rest = text(value).partition("://")
    authority = (rest if apart else scheme).partition("/")[0].rpartition("@")[2].lower()
    port = {"https": ":443", "http": ":80"}.get(scheme.lower(), "") if apart else ""
    return f"{scheme.lower()}://{authority.removesuffix(port)}" if apart else authority


def _realm(value: Any) -> str:
    """Return an address up to the last step of its path, "" where there is no more than one step."""
    above, _, _ = text(value).partition("?")[0].rstrip("/").rpartition("/")
    return above if above.partition("://")[2].count("/") else ""


def _value(weak: Weakness, spec: Mapping[str, Any], at: PathValue | None) -> PathValue:
    """Return the value that counts at a path, and where it is written or would be."""
    if at is not None and at.value is not None:
        return at
    if weak.instead:
        (fallback,) = instances(spec, weak.instead).values()
        if fallback.value is not None:
            return fallback
    value = weak.unset if at is not None and at.held and weak.unset is not None else weak.without
    pointer = at.pointer if at is not None else tuple(weak.instead.split("."))
    return PathValue(pointer, value, held=False)


def _rank(weak: Weakness, value: object) -> int | None:
    """Return the rank of a value in the order, None if it is not in it; `1` is not `true`."""
    ranks = (
        number
        for number, values in enumerate(weak.order)
        if any(candidate == value and isinstance(candidate, bool) == isinstance(value, bool) for candidate in values)
    )
    return next(ranks, None)


def _changed_lists(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the lists that became weaker.

    These are demands that lost one and gained none, conditions that gained one and lost none (the protection acts on
    fewer requests), and likewise alternatives, of which there were some before.
    """
    for was, now, old, new in _lists(weak, before, after):
        if weak.list == "demands" and (_is_of_several(was.value) or _is_of_several(now.value)):
            for at, names in _eased(_alternatives(was.value), _alternatives(now.value)):
                yield Weakening(weak, was.pointer, (*now.pointer, at), f"loses {_listed(names)}")
        elif weak.list in ("demands", "each"):
            if new.keys() < old.keys() or (weak.list == "each" and old.keys() - new.keys()):
                lost = [name for name in old if name not in new]
                yield Weakening(weak, (*was.pointer, old[lost[0]]), now.pointer, f"loses {_listed(lost)}")
        elif weak.list == "alternatives" and (wider := _wider(old, new)):
            yield Weakening(weak, was.pointer, (*now.pointer, new[wider]), f"now holds {wider}")
        elif old.keys() < new.keys() and (old or weak.list == "conditions"):
            added = [name for name in new if name not in old]
            yield Weakening(weak, was.pointer, (*now.pointer, new[added[0]]), f"gains {_listed(added)}")


def _is_of_several(value: object) -> bool:
    """Tell whether a list holds those of several policies, of which one is enough."""
    return isinstance(value, list) and any(isinstance(each, list) for each in value)


def _alternatives(value: object) -> list[list[str]]:
    """Return the names of the demands of each of several policies; of a list of one policy they are one alternative."""
    listed = value if isinstance(value, list) else []
    several = [one if isinstance(one, list) else [one] for one in listed] if _is_of_several(value) else [listed]
    return [[name_of(each) for each in one] for one in several]


def _eased(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the alternatives that are a former one without some of its demands, and that no former one was enough for,
    each with these demands."""
    for at, names in enumerate(new):
        if any(set(names).issuperset(one) for one in old):
            continue
        former = next((one for one in old if set(one).issuperset(names)), None)
        if former is not None:
            yield at, [name for name in former if name not in names]


def _wider(old: Collection[str], new: Collection[str]) -> str:
    """Return the first entry of a list that stands for one of another and more, as a network or with an asterisk, ""
    if there is none."""
    lost = [name for name in old if name not in new and " " not in name]
    for name in new:
        head, asterisk, tail = name.partition("*")
        if asterisk and head + tail and any(each.startswith(head) and each.endswith(tail) for each in lost):
            return name
    known = [each for each in map(cidr, old) if each is not None]
    if not known:
        return ""
    for name in new:
        one = cidr(name)
        if one is not None and without([one], sorted(known)) and any(not without([each], [one]) for each in known):
            return name
    return ""


def _lists(
    weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[PathValue, PathValue, dict[str, Any], dict[str, Any]]]:
    """Yield the lists that stand, or could, on both sides, with their entries by name."""
    old, new = pair_values(before, after, weak.path)
    for key, was in old.items():
        now = new.get(key)
        if now is None or not was.held or not _holds(weak, after, now):
            continue
        if not now.held and ("*" in weak.path or weak.list != "each"):
            continue  # what held it is gone, of which other words speak
        if not _unclear(was.value) and not _unclear(now.value):
            yield was, now, _entries(weak, was.value), _entries(weak, now.value)


def _entries(weak: Weakness, value: object) -> dict[str, Any]:
    """Return name → index or key of the entries that count."""
    if isinstance(value, dict):
        present = {key: mapping(entry) for key, entry in value.items() if entry is not None}
        return {key: key for key, entry in present.items() if _matches(entry, weak.entries)}
    if isinstance(value, str):
        return {entry: number for number, entry in enumerate(_LISTED.split(value)) if entry}
    if not isinstance(value, list):
        return {}
    return {name_of(entry): number for number, entry in enumerate(value) if _matches(mapping(entry), weak.entries)}


def _removed(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the demands that are gone."""
    old, new = pair_values(before, after, weak.path)
    for key, was in old.items():
        now = new.get(key)
        demanded = is_there(was.value) and not (weak.none and str(was.value) == weak.none)
        if not demanded or now is None or is_there(now.value) or not _holds(weak, after, now):
            continue
        if any(_stands(after, path) and not _stands(before, path) for path in weak.unless):
            continue  # exchanged for something that serves the same purpose
        yield Weakening(weak, was.pointer, now.pointer, "is gone", opens=bool(weak.opens))


def _introduced(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the first grant that lets everybody in where there was none, in a setting that stood before.

    Where the catalog says what holds without it, the setting need not have stood.
    """
    if weak.without is None and not is_there(_holder(before, weak)):
        return
    if any(_admits(weak, old.value) and _holds(weak, before, old) for old in instances(before, weak.path).values()):
        return
    for new in instances(after, weak.path).values():
        change = _admits(weak, new.value)
        if change and _holds(weak, after, new):
            yield Weakening(weak, new.pointer, new.pointer, change, opens=bool(weak.opens))
            return


def _narrowed(weak: Weakness, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakening]:
    """Yield the list that makes a setting, which was for everybody, one for some alone."""
    listed, _, name = weak.path.partition(".*.")
    place = tuple(listed.split("."))
    if weak.narrows(after) and not weak.narrows(before) and holds(before, place[:-1]):
        change = f"now has {name} in every entry" if holds(before, place) else "is new"
        yield Weakening(weak, place[:-1], place, change, opens=bool(weak.opens))


def _admits(weak: Weakness, value: object) -> str:
    """Return how a value lets everybody in, "" if it does not."""
    if weak.presence:
        return "is new" if value is not None else ""
    entries = value if isinstance(value, list) else _LISTED.split(value) if isinstance(value, str) else [value]
    admitted = [entry for entry in entries if entry in weak.everybody]
    return f"now holds {admitted[0]}" if admitted else ""


def _holder(spec: Mapping[str, Any], weak: Weakness) -> Any:
    """Return what holds all that a path stands for: up to its first `*`, else up to its last step."""
    steps = weak.path.split(".")
    return value_at(spec, tuple(steps[: steps.index("*") if "*" in steps else -1]))


def _holds(weak: Weakness, spec: Mapping[str, Any], at: PathValue | None) -> bool:
    """Return whether the fields beside a value are as `where` demands."""
    if not weak.where:
        return True
    beside: Pointer = ()
    steps = weak.path.split(".")
    if at is not None and "*" in steps:
        beside = at.pointer[: len(steps) - steps[::-1].index("*")]
    top = {path[1:]: value for path, value in weak.where.items() if path.startswith("/")}
    near = {path: value for path, value in weak.where.items() if not path.startswith("/")}
    return _matches(spec, top) and _matches(mapping(value_at(spec, beside)), near)


def _matches(entry: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Return whether an entry has the values that conditions name."""
    return all(_is_among(value_at(entry, tuple(path.split("."))), value) for path, value in conditions.items())


def _is_among(value: object, expected: object) -> bool:
    """Return whether a value, or one of its entries, is among the expected ones."""
    accepted = expected if isinstance(expected, list) else [expected]
    return any(entry in accepted for entry in value) if isinstance(value, list) else value in accepted


def _stands(spec: Mapping[str, Any], path: str) -> bool:
    """Return whether there is a value at `path`, or for `path=value` that one."""
    where, _, expected = path.partition("=")
    values = [instance.value for instance in instances(spec, where).values()]
    return any(value == expected if expected else is_there(value) for value in values)


def _unclear(value: object) -> bool:
    """Return whether a value holds a variable."""
    return "${" in json.dumps(value, default=str)


def _listed(names: list[str]) -> str:
    """Return names in words; of a line of an htpasswd file only the user, since nobody wants to read the hash.

    The name of an entry that has none is its content (`name_of`).
    """
    contents = (json_in(name) if name.startswith("{") else None for name in names)
    shown = (
        _HASHED.sub("", name) if content is None else f"the entry with {telling(content)}"
        for name, content in zip(names, contents, strict=True)
    )
    return listing((name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in shown), most=3)


def pair_values(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> tuple[PathValues, PathValues]:
    """Return the values of a path on both sides, by the names of the entries that its `*`s stand for."""
    old: PathValues = {(): PathValue((), before, held=True)}
    new: PathValues = {(): PathValue((), after, held=True)}
    for step in path.split("."):
        old, new = _below(old, step, new), _below(new, step, old)
    return old, new


def instances(spec: Mapping[str, Any], path: str) -> PathValues:
    """Return the values of a path on one side."""
    return pair_values(spec, {}, path)[0]


def _below(values: PathValues, step: str, opposite: PathValues) -> PathValues:
    """Return the values one step further down; `opposite` are those of the other side."""
    following: PathValues = {}
    for key, holder_value in values.items():
        if step == "*":
            beside = opposite[key].value if key in opposite else None
            for name, index, entry in _every(holder_value.value, beside):
                following[(*key, name)] = PathValue((*holder_value.pointer, index), entry, held=True)
        else:
            holder = mapping(holder_value.value)
            following[key] = PathValue(
                (*holder_value.pointer, step), holder.get(step), bool(holder) or holder_value.pointer == ()
            )
    return following


def _every(value: object, opposite: object) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, index and value of the entries of a list or object.

    An entry without a name is known by its content if both sides have it, else by its rank among such entries, as long
    as their number stays.
    """
    if isinstance(value, dict):
        for key, entry in value.items():
            yield str(key), key, entry
    elif isinstance(value, list):
        opposite_names = set(map(name_of, opposite)) if isinstance(opposite, list) else set()
        names = [name_of(entry) for entry in value]
        # Entries without a name that the other side has not: changed, so known by their rank among each other.
        changed = [
            number for number, entry in enumerate(value) if not _own_name(entry) and names[number] not in opposite_names
        ]
        ranks = {number: rank for rank, number in enumerate(changed)}
        for number, entry in enumerate(value):
            name = f"{ranks[number]} of {len(ranks)}" if number in ranks else names[number]
            yield name, number, entry


def _own_name(entry: object) -> str:
    """Return the name that an entry has for itself, "" if none."""
    return next((str(entry[name]) for name in _NAMES if isinstance(entry, dict) and name in entry), "")


def name_of(entry: object) -> str:
    """Return the name of an entry, or its whole content if it has none."""
    if isinstance(entry, dict) and not _TO_READ.isdisjoint(entry):
        entry = {field: value for field, value in entry.items() if field not in _TO_READ} or entry
    content = entry if isinstance(entry, str) else json.dumps(entry, sort_keys=True, default=str)
    return _own_name(entry) or content
