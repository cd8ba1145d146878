"""In which direction a change goes by the words of names alone: schemas/weakenings.yaml, `directions`.

A kind, a file, a program or values that nobody evaluates can be judged where three things are certain: what the name
speaks of (a login, TLS, an allow-list), which way the value goes, and that it is switched on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from policylint.catalog.weakenings import access, differing, table, words_of
from policylint.model import mapping, sequence, text, value_at
from policylint.model.weakness import Weakness
from policylint.namedtuple import NamedTuple
from policylint.spaces.addresses import cidr, without

Sense = Literal[-1, 0, 1]
_ON = (True, "true", "True", "yes", "on", "On", "enabled", "Enabled", "enable", "1")
_OFF = (False, "false", "False", "no", "off", "Off", "disabled", "Disabled", "disable", "0")
_LONGEST = 300
_PLAIN = {
    "https": "http", "wss": "ws", "grpcs": "grpc", "ldaps": "ldap", "rediss": "redis", "amqps": "amqp", "mqtts": "mqtt",
    "smtps": "smtp", "h2": "h2c", "tls": "tcp", "ssl": "plaintext",
}  # fmt: skip
"""Protocols, and what they are without TLS."""


_ACTIONS = ("action", "type", "effect", "verdict")
"""Fields that say what a rule does with what it takes."""
_VALUES = frozenset({"value", "values", "name", "names", "member", "match", "pattern", "regex", "id"})
"""Names of fields that say nothing of what they hold."""


class _Directions(NamedTuple):
    """Words of names, see the file."""

    guards: frozenset[str]
    dangers: frozenset[str]
    apart: frozenset[str]
    passing: frozenset[str]
    turning: frozenset[str]
    switches: frozenset[str]
    protocols: frozenset[str]
    allows: frozenset[str]
    denies: frozenset[str]
    spares: frozenset[str]
    whom: frozenset[str]
    permitting: frozenset[str]
    everything: frozenset[str]
    waved: frozenset[str]
    refusing: frozenset[str]
    methods: frozenset[str]
    demanding: frozenset[str]
    weak: frozenset[str]
    everybody: frozenset[str]
    policies: frozenset[str]
    purposes: frozenset[str]


@lru_cache(maxsize=1)
def _directions() -> _Directions:
    said = mapping(table().get("directions"))
    return _Directions(*(frozenset(map(text, sequence(said.get(name)))) for name in _Directions._fields))


@lru_cache(maxsize=4096)
def sense_of(name: str) -> Sense:
    """Return 1 for a name that says that something is asked or checked, -1 where somebody passes unasked, else 0."""
    said, words = _directions(), words_of(name)
    if not said.apart.isdisjoint(words):
        return 0
    dangerous = not said.dangers.isdisjoint(words)
    known = (said.dangers | said.guards).intersection(words)
    turning = said.turning.intersection(words)
    turned = sum(not any(word.startswith(turn) and word != turn for word in known) for turn in turning) % 2
    passing = not said.passing.isdisjoint(words) and not said.guards.isdisjoint(words)
    if passing and not dangerous:
        return 1 if turned else -1
    if not dangerous and not said.permitting.isdisjoint(words):
        return 0
    sense: Sense = -1 if dangerous else 0 if said.guards.isdisjoint(words) else 1
    return _turned(sense) if turned else sense


def _turned(sense: Sense) -> Sense:
    return 1 if sense < 0 else -1 if sense > 0 else 0


def guards_by_name(kind: str) -> bool:
    """Tell whether a kind's name says that its objects refuse something: `AccessPolicy`, `FirewallRule`."""
    said = _directions()
    words = _singles(kind)
    return any(first in said.purposes and second in said.policies for first, second in pairwise(words))


def directed(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakness]:
    """Yield what fields that differ between two states of an object mean, where their names and values alone say it."""
    for path in dict.fromkeys(differing(before, after)):
        if not _is_idle(path, after):
            yield from _of_path(kind, path, before, after)


def denials(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Weakness]:
    """Yield what lists mean of which entries turn away, by an action that says so, and those within such an entry."""
    refusing = sorted(_directions().refusing)
    for path in dict.fromkeys(differing(before, after)):
        lists = [old for old, new in _pairs(before, after, path) if isinstance(old, list) and isinstance(new, list)]
        for action in _ACTIONS if lists else ():
            entries = {action: refusing}
            if any(action in mapping(entry) for entry in lists[0]):
                yield Weakness(".".join(path), "what it turned away passes", list="demands", entries=entries)
            elif "*" in path:
                yield Weakness(".".join(path), "it turns away less", list="demands", where=entries)
        for old, new in _pairs(before, after, path) if "*" in path and not lists else ():
            if _is_narrower(old, new):
                for action in _ACTIONS:
                    where = {action: refusing}
                    yield Weakness(".".join(path), "it turns away less", order=((old,), (new,)), where=where)


def is_certain(weak: Weakness, kind: str) -> bool:
    """Tell whether a common word says all by itself that a protection asks less, in a kind that nobody knows.

    The name must speak of a protection. What is left out may have any default, and what is exchanged may be as good.
    """
    if weak.severity != "warning" or weak.anchor or weak.presence == "demands" or weak.grows or weak.shrinks:
        return False
    *above, name = (step for step in weak.path.split(".") if step != "*")
    nearest = next((step for step in reversed(above) if not _is_switch(step)), kind if len(above) < 2 else "")
    return not _is_idle((*above, name), {}) and any(sense_of(step) or _lists(step) for step in (name, nearest))


def is_switched_off(after: Mapping[str, Any], pointer: tuple[Any, ...]) -> bool:
    """Tell whether what holds a value is switched off as a whole."""
    above = range(len(pointer) - 1 if pointer[-1:] == ("enabled",) else len(pointer))
    return any(mapping(value_at(after, pointer[:depth])).get("enabled") is False for depth in above)


def _is_idle(path: tuple[str, ...], said: Mapping[str, Any]) -> bool:
    words = access()
    value: Any = said
    for step in path:
        value = value[0] if isinstance(value, list) and value and step == "*" else mapping(value).get(step)
        if words.is_idle(step, value):
            return True
    return False


def _of_path(
    kind: str, path: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Weakness]:
    """Yield what one field means."""
    said, name, dotted = _directions(), path[-1], ".".join(path)
    sense = _sense(kind, path)
    if sense > 0:
        yield Weakness(dotted, "it is asked, or checked, no longer", order=(_ON, _OFF))
    elif sense < 0:
        yield Weakness(dotted, "whoever shows nothing, or something false, passes", order=(_OFF, _ON), unset=False)
    if _is_of_whom(path) and not any(_turns_away(step) for step in path):
        yield Weakness(dotted, "everybody is among them", everybody=tuple(sorted(said.everybody)))
    lists = _lists(name)
    if lists == "deny":
        yield Weakness(dotted, "what it turned away passes", list="demands")
    elif lists == "allow" and not _is_of_one(path, before, after):
        yield Weakness(dotted, "one more is let in", list="alternatives")
    elif (lists == "spare" and _speaks(kind, path[:-1])) or any(_lists(step) == "spare" for step in path[:-1]):
        yield Weakness(dotted, "these are spared", list="conditions")
    yield from _of_values(kind, path, sense, before, after)


def _is_of_one(path: tuple[str, ...], before: Any, after: Any) -> bool:
    """Tell whether a field holds the settings of one, and no list of whom: `trustedProxy: {userHeader, roleHeader}`."""
    last = _singles(path[-1])[-1:]
    is_noun = not any(word.endswith("s") or word in _directions().allows for word in last)
    return is_noun and any(isinstance(value, dict) for pair in _pairs(before, after, path) for value in pair)


def _is_of_whom(path: tuple[str, ...]) -> bool:
    """Tell whether a field says who is meant, by its own name or, where that is no more than `value`, by that above."""
    said = _directions()
    if not said.whom.isdisjoint(words_of(path[-1])):
        return True
    above = [step for step in path[:-1] if step != "*" and not _is_switch(step) and step not in _VALUES]
    return path[-1] in _VALUES and not said.whom.isdisjoint(words_of(above[-1]) if above else ())


def _of_values(
    kind: str, path: tuple[str, ...], sense: Sense, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Weakness]:
    """Yield what a field means whose two values say themselves which of them is weaker."""
    said = _directions()
    for old, new in _pairs(before, after, path):
        if _is_weak(new, sense) and not _is_weak(old, sense) and old:
            yield Weakness(".".join(path), "it is asked, or checked, no longer", order=((old,), (new,)))
        elif isinstance(old, str) and isinstance(new, str) and new in said.everything and _lists(path[-1]) == "spare":
            yield Weakness(".".join(path), "everything is spared", order=((old,), (new,)))
        elif _is_plain_now(old, new) and (_of_protocol(path[-1]) or _speaks(kind, path)):
            yield Weakness(".".join(path), "it is spoken in plain text", order=((old,), (new,)))


def _sense(kind: str, path: tuple[str, ...]) -> Sense:
    """Return what being on means for a field: by its own name or, of a mere switch, by the names above it."""
    said, words = _directions(), words_of(path[-1])
    if not _is_switch(path[-1]):
        return sense_of(path[-1])
    turned = sum(word in said.turning for word in words) % 2
    above = [step for step in path[:-1] if step != "*" and not _is_switch(step)]
    found = sense_of(above[-1] if above else kind)
    if not found and above and said.demanding.intersection(words) and said.methods.intersection(words_of(above[-1])):
        found = 1
    return _turned(found) if turned else found


def _is_switch(name: str) -> bool:
    """Tell whether a name says nothing but that something is on, or of which sort: what is above it says what."""
    said, words = _directions(), _singles(name)
    return bool(words) and (said.switches | said.turning).issuperset(words)


def _singles(name: str) -> list[str]:
    """Return the words of a name, without the pairs of them."""
    words = words_of(name)
    return words[: (len(words) + 1) // 2]


def _speaks(kind: str, path: tuple[str, ...]) -> bool:
    """Tell whether a kind, or a name of a path, speaks of a protection."""
    return any(sense_of(step) for step in (kind, *path))


def _lists(name: str) -> Literal["allow", "deny", "spare", ""]:
    """Return what a list of that name does with whom it names."""
    said, words = _directions(), words_of(name)
    if not said.denies.isdisjoint(words):
        return "deny"
    if not said.allows.isdisjoint(words) and (said.turning | said.apart).isdisjoint(words):
        return "allow"
    return "spare" if not said.spares.isdisjoint(words) else ""


def _turns_away(name: str) -> bool:
    said, words = _directions(), words_of(name)
    return not (said.denies | said.spares | said.turning).isdisjoint(words)


def _of_protocol(name: str) -> bool:
    return not _directions().protocols.isdisjoint(words_of(name))


def _is_weak(value: object, sense: Sense) -> bool:
    """Tell whether a value, as a whole, says that nothing is asked of what a field of some sense speaks of."""
    said = _directions()
    if not isinstance(value, str) or not value or not sense or len(value) > _LONGEST:
        return False
    return "".join(letter for letter in value.lower() if letter.isalnum()) in (said.weak if sense > 0 else said.waved)


def _is_plain_now(old: object, new: object) -> bool:
    """Tell whether a value names a protocol without TLS where it named the same with it."""
    if not isinstance(old, str) or not isinstance(new, str) or len(old) > _LONGEST:
        return False
    (was, _, server), (now, _, other) = old.lower().partition("://"), new.lower().partition("://")
    return _PLAIN.get(was) == now and server == other


def _is_narrower(old: object, new: object) -> bool:
    """Tell whether a network holds less than another one."""
    was, now = (cidr(value) if isinstance(value, str) else None for value in (old, new))
    return was is not None and now is not None and not without([now], [was]) and bool(without([was], [now]))


def _pairs(before: Any, after: Any, path: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """Return the values of both sides at a path, of lists those of entries with the same number."""
    pairs = [(before, after)]
    for step in path:
        if step == "*":
            lists = ((old, new) for old, new in pairs if isinstance(old, list) and isinstance(new, list))
            pairs = [pair for old, new in lists if len(old) == len(new) for pair in zip(old, new, strict=True)]
        else:
            pairs = [(mapping(old).get(step), mapping(new).get(step)) for old, new in pairs]
    return [(old, new) for old, new in pairs if old != new]


__all__ = ["denials", "directed", "guards_by_name", "is_certain", "is_switched_off", "sense_of"]
