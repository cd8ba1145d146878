"""What names of fields mean for protection in whatever kind they stand: schemas/weakenings.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from policylint.documents import read
from policylint.model import PolicyKind, Resource, mapping, sequence, text
from policylint.model.shipped import shipped_data
from policylint.model.weakness import Weakness, weakness
from policylint.namedtuple import NamedTuple

ANY = "any"
"""Of `changes`: all objects of the kind rewrite or delete what others apply."""
_MOST_PATHS = 4_000
_LINE = re.compile(
    r" *- \{groups: \[([^]]+)\], kind: '?(.+?)'?(?:, (?:guards|spares|with|changes|makes|settings): \w+)*\}$"
)
_WRAPPER = re.compile(r"(?:(?:from|to|rules)\.\*\.)?(?:defaults?|overrides?)\.(?=.)")
"""What holds the settings of a policy and says nothing of them."""
_Steps = tuple[str, ...]
_OF_PROGRAMS = frozenset({"limits", "requests", "claims"})
"""What a program may use."""


class _Word(NamedTuple):
    """What fields of some names mean, and where."""

    fields: re.Pattern[str]
    under: re.Pattern[str] | None
    not_under: re.Pattern[str] | None
    entry: Mapping[str, Any]

    def speaks_of(self, above: str, field: str) -> bool:
        return (
            (self.fields.fullmatch(field) or self.fields.fullmatch(_camel(field))) is not None
            and (self.under is None or self.under.search(above) is not None)
            and (self.not_under is None or self.not_under.search(f"{above}.{field}") is None)
        )


def _camel(field: str) -> str:
    """Return `failureModeAllow` for `failure_mode_allow` and `failure-mode-allow`."""
    first, *others = field.replace("-", "_").split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


def as_step(name: str) -> str:
    """Return a name as one step of a path, in which dots part the steps."""
    return name.replace(".", "-")


class Deciding(NamedTuple):
    """What a kind outside of the catalog does: it guards, it spares something, or decides in another way.

    Args:
        holding: a field that an object of the kind must have below its spec.
        changing: the field, of a rule or `true` by itself, with which it rewrites or deletes what others apply; `any`
            where all of them do.
        making: the field, of a rule, with which it makes others.
        settings: whether it states settings of something that goes on without it, as its defaults have it.
    """

    guards: bool
    spares: bool
    holding: str
    changing: str = ""
    making: str = ""
    settings: bool = False

    def refuses(self, resource: Resource) -> bool:
        """Tell whether an object refuses something, and does not only rewrite, delete or make what others apply."""
        rules = [mapping(rule) for rule in sequence(resource.spec.get("rules"))]
        own = {self.changing, self.making}
        return self.changing != ANY and (not rules or any(own.isdisjoint(rule) for rule in rules))


class Access(NamedTuple):
    """What may bear on who gets in, by words: see schemas/weakenings.yaml."""

    fields: frozenset[str]
    holders: frozenset[str]
    kinds: frozenset[str]
    guards: frozenset[str]
    grants: frozenset[str]
    values: frozenset[str]
    idle: frozenset[str]
    placing: frozenset[str]
    watching: frozenset[str]
    silent: frozenset[str]
    read: frozenset[str]

    def of_kind(self, kind: str) -> bool:
        """Tell whether all that objects of a kind say bears on it."""
        return not self.kinds.isdisjoint(words_of(kind))

    def of_field(self, name: str) -> bool:
        """Tell whether a name of a field, or a line of a text, bears on it."""
        words = words_of(name)
        return name not in self.holders and not self.fields.isdisjoint(words) and self.watching.isdisjoint(words)

    def is_idle(self, name: str, value: object = None, *, decides: bool = False) -> bool:
        """Tell whether a field, with all below it, says how a program is run or watched and not whom it lets in.

        Args:
            decides: whether it is one of an object that decides: then it says where or when that acts.
        """
        if decides and name in self.placing:
            return False
        if name == "resources" and value is not None:
            return isinstance(value, dict) and value.keys() <= _OF_PROGRAMS
        if name == "instances" and isinstance(value, list):
            return False  # a list of them is something else than how often a program runs
        return name in self.idle or not self.watching.isdisjoint(words_of(name))


_WORDS = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, pairs of them as one word, too: `redirectURIs`, `OAuth2Client`."""
    words = [word.lower() for word in _WORDS.findall(name.replace("OAuth", "Oauth").replace("URIs", "Uris"))]
    return [*words, *(first + second for first, second in pairwise(words))]


@lru_cache(maxsize=1)
def access() -> Access:
    """Return the words of what may bear on who gets in."""
    said = mapping(table().get("access"))
    return Access(*(frozenset(map(text, sequence(said.get(name)))) for name in Access._fields))


@lru_cache(maxsize=1)
def table() -> Mapping[str, Any]:
    """Return what the file says."""
    return mapping(read(shipped_data("schemas", "weakenings.yaml"), "weakenings.yaml").documents[0].value)


@lru_cache(maxsize=1)
def _words() -> tuple[_Word, ...]:
    return tuple(_word(mapping(entry)) for entry in sequence(table().get("words")))


@lru_cache(maxsize=1024)
def deciding(group: str, kind: str) -> Deciding | None:
    """Return what objects of a kind decide that nobody evaluates, None where they decide nothing."""
    for of_kind, entry in _deciding():
        if group in entry["groups"] and of_kind.fullmatch(kind):
            named = (text(entry.get("with")), text(entry.get("changes")), text(entry.get("makes")))
            return Deciding(bool(entry.get("guards")), bool(entry.get("spares")), *named, bool(entry.get("settings")))
    return None


@lru_cache(maxsize=1)
def _deciding() -> tuple[tuple[re.Pattern[str], Mapping[str, Any]], ...]:
    entries = map(mapping, sequence(table().get("deciding")))
    return tuple((re.compile(entry["kind"]), entry) for entry in entries)


@lru_cache(maxsize=1)
def _deciding_lines() -> Mapping[str, str]:
    """Return the kinds that decide and are not evaluated, as one expression for each API group, read from the file
    without parsing it."""
    kinds: dict[str, str] = {}
    lines = shipped_data("schemas", "weakenings.yaml").decode().partition("\ndeciding:\n")[2].splitlines()
    for match in filter(None, map(_LINE.match, lines)):
        listed, expression = match.groups()
        for group in listed.split(", "):
            kinds[group] = f"{kinds[group]}|{expression}" if group in kinds else expression
    return kinds


@lru_cache(maxsize=4096)
def may_decide(group: str, kind: str) -> bool:
    """Tell whether objects of a kind decide and are not evaluated, without parsing what they mean."""
    expression = _deciding_lines().get(group)
    return expression is not None and re.fullmatch(expression, kind) is not None


def _word(entry: Mapping[str, Any]) -> _Word:
    fields = "|".join(f"(?:{field})" for field in map(text, sequence(entry.get("fields"))))
    said = {name: value for name, value in entry.items() if name not in ("fields", "under", "notUnder")}
    return _Word(re.compile(fields, re.IGNORECASE), _pattern(entry, "under"), _pattern(entry, "notUnder"), said)


def _pattern(entry: Mapping[str, Any], name: str) -> re.Pattern[str] | None:
    return re.compile(entry[name], re.IGNORECASE) if name in entry else None


@lru_cache(maxsize=4096)
def _meant(path: str, kind: str) -> tuple[Weakness, ...]:
    """Return what the last step of a path means there, right below the spec what it means in a kind."""
    above, _, field = _WRAPPER.sub("", path).rpartition(".")
    return tuple(weakness({**word.entry, "path": path}) for word in _words() if word.speaks_of(above or kind, field))


def common_weaknesses(
    kind: str, before: Mapping[str, Any], after: Mapping[str, Any], known: PolicyKind | None = None
) -> Iterator[Weakness]:
    """Yield what fields that differ between two specs of a kind mean by their names alone.

    Args:
        known: what the catalog says of the kind: where that speaks of a field, it says more.
    """
    own = () if known is None else [*(path for weak in known.weaker for path in (weak.path, weak.instead)), *known.idle]
    told = [tuple(path.split(".")) for path in own]
    for path in dict.fromkeys(differing(before, after)):
        if not any(_stands_for(steps, path) for steps in told):
            yield from _meant(".".join(path), kind)


def _stands_for(told: _Steps, path: _Steps) -> bool:
    """Return whether a path of a kind's own words stands for another one, in which maps and lists are `*` or names."""
    return len(told) == len(path) and all(step in ("*", other) for step, other in zip(told, path, strict=True))


def differing(before: Any, after: Any) -> Iterator[_Steps]:
    """Yield the paths of fields that differ, those that hold others first; entries of lists are `*`."""
    stack: list[tuple[Any, Any, _Steps]] = [(before, after, ())]
    for _ in range(_MOST_PATHS):
        if not stack:
            return
        old, new, path = stack.pop()
        if isinstance(old, dict) or isinstance(new, dict):
            was, now = mapping(old), mapping(new)
            for name in {**was, **now}:
                if isinstance(name, str) and "." not in name and was.get(name) != now.get(name):
                    below = (*path, name)
                    yield below
                    if (name in was and name in now) or isinstance(was.get(name, now.get(name)), dict):
                        stack.append((was.get(name, {}), now.get(name, {}), below))
        elif isinstance(old, list) and isinstance(new, list):
            known = [entry for entry in old if entry not in new]
            stack += (
                (former, entry, (*path, "*"))
                for entry in new
                if isinstance(entry, dict) and entry not in old
                for former in known[:8]
                if isinstance(former, dict)
            )


__all__ = [
    "Access",
    "Deciding",
    "access",
    "as_step",
    "common_weaknesses",
    "deciding",
    "differing",
    "may_decide",
    "table",
    "words_of",
]
