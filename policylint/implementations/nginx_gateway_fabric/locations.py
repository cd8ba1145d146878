"""Locations of NGINX: one takes a request by its path alone, and what none of its matches wants gets 404.

Rules with one path share a location; their other conditions are only asked there, so that a request never goes on to a
shorter path. Prefixes are two locations, and the one for the prefix itself comes before all expressions. Source:
internal/controller/nginx/config/servers.go (createLocations, initializeExternalLocations), state/dataplane/sort.go and
modules/src/httpmatches.js @ e55bfe339; the order of locations is NGINX's (ngx_http_core_module, location). Seen by
tests/witness (nginx-requests).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policylint.matches import FOREIGN, SLASHED, Match, Term, path_of
from policylint.model import holds_variable
from policylint.namedtuple import NamedTuple
from policylint.regex import quoted
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate
from policylint.spaces.samples import literal_start

_EXACT_FIRST = 2
"""The weight of an exact path, before those of expressions and prefixes."""


class _Location(NamedTuple):
    """What matches share: the kind and value of a path."""

    kind: str
    value: str

    @property
    def takes(self) -> Predicate:
        return _path(self.kind, self.value)

    @property
    def is_below(self) -> Predicate:
        """Which paths it takes from others that come after it: unlike a prefix of the API, `/api/` leaves `/api`."""
        ends = self.kind == PREFIX and self.value.endswith("/")
        return Predicate(EXPRESSION, f"{quoted(self.value)}.*") if ends else self.takes

    @property
    def is_split(self) -> bool:
        """Whether it is one for the prefix itself, and one for what is below it (isNonSlashedPrefixPath)."""
        return self.kind == PREFIX and not self.value.endswith("/")

    def comes_before(self, other: _Location) -> bool:
        """Return whether NGINX tries it first: exact paths, then expressions, the longer ones first, then prefixes."""
        own, others = ((each.kind != "Exact", each.kind != EXPRESSION, -len(each.value)) for each in (self, other))
        return (own, self.value) < (others, other.value) if self.kind == EXPRESSION else own < others

    def ties(self, other: _Location) -> bool:
        """Tell whether both are expressions of one length: NGINX tries them by their texts."""
        return self.kind == other.kind == EXPRESSION and len(self.value) == len(other.value)


class _Starts:
    """With what the paths of locations certainly begin: most have nothing in common, which texts tell at once."""

    def __init__(self, locations: Iterable[_Location]) -> None:
        self._of = {
            each: literal_start(each.takes.value) if each.kind == EXPRESSION else each.value.rstrip("/")
            for each in locations
        }

    def meet(self, one: _Location, other: _Location) -> bool:
        """Return whether two locations may have a path in common."""
        first, second = self._of[one], self._of[other]
        return first.startswith(second) or second.startswith(first)


def read(match: Match) -> Match:
    """Return a match with its expressions as NGINX reads them: paths from their beginning, other values anywhere."""
    if not match.expressions:
        return match
    return match._replace(conditions=tuple(map(_read, match.conditions)))


def apart(found: Sequence[Match]) -> Iterator[tuple[int, Match]]:
    """Yield the matches of one server, each with what other locations leave to its own, and its number among them."""
    at = [_Location(*path_of(match.value)) for match in found]
    asking: dict[_Location, bool] = defaultdict(lambda: True)
    for location, match in zip(at, found, strict=True):
        asking[location] &= any(each.name != "path" for each in match.conditions)
    expressions = [each for each in asking if each.kind == EXPRESSION]
    rivals = [other for other, is_asking in asking.items() if is_asking or other.kind == EXPRESSION]
    starts, many = _Starts(asking), Counter(at)
    barred = {
        location: (*_slash(location), *(_without(location, asking, rivals, starts) if location.kind != "Exact" else ()))
        for location in asking
    }
    for number, (location, match) in enumerate(zip(at, found, strict=True)):
        bare = _bare(location)
        others = {_Location("Exact", bare), _Location(PREFIX, bare)} & asking.keys()
        alone = many[location] == 1 and not asking[location]  # else a script chooses there, which adds no slash
        if bare and alone and not others:  # ngx_http_core_find_static_location, auto_redirect
            value = {"path": {"type": "Exact", "value": bare}, SLASHED: location.value}
            term = Term("path", Predicate("Exact", bare), f"path {bare}")
            yield number, match._replace(conditions=(term,), weights=(_EXACT_FIRST, *match.weights[1:]), value=value)
        rest = tuple(each for each in match.conditions if each.name != "path")
        own = next(each for each in match.conditions if each.name == "path" and not each.negated)
        itself = Predicate("Exact", location.value)
        splits = location.is_split and any(
            starts.meet(each, location) and each.takes.takes(location.value) is not False for each in expressions
        )
        if splits and _Location("Exact", location.value) not in asking:
            first = match._replace(weights=(_EXACT_FIRST, *match.weights[1:]))
            yield number, first._replace(conditions=(own._replace(predicate=itself), *rest))
            below = (_not(itself, f"a path below {location.value}"),)
            yield number, match._replace(conditions=(own, *below, *barred[location], *rest))
        else:
            yield number, match._replace(conditions=(own, *barred[location], *rest))


def _bare(location: _Location) -> str:
    """Return the path to which a location with a slash at its end adds it, by a redirect where it sends requests on."""
    bare = location.value.rstrip("/")
    return bare if location.kind == PREFIX and bare != location.value else ""


def _slash(location: _Location) -> Iterator[Term]:
    """Yield that a prefix with a slash at its end does not take the path without it."""
    if bare := _bare(location):
        yield _not(Predicate("Exact", bare), f"a path below {bare}")


def _without(
    location: _Location, asking: Mapping[_Location, bool], rivals: Sequence[_Location], starts: _Starts
) -> Iterator[Term]:
    """Yield what requests at a location are not: those of others that come first, and ask for more than a path.

    What asks for no more takes its requests by its rank, which two expressions of one length share.

    Args:
        rivals: all that ask for more, and all expressions.
    """
    for other in rivals:
        if other == location or not (asking[other] or other.ties(location)) or not starts.meet(other, location):
            continue
        if other.comes_before(location):
            predicate = other.is_below
        elif other.is_split and location.kind == EXPRESSION and _Location("Exact", other.value) not in asking:
            predicate = Predicate("Exact", other.value)
        else:
            continue
        if predicate.overlaps(location.takes) is not False:
            yield _not(predicate, f"a path that {other.kind} {other.value} does not take")


def _not(predicate: Predicate, needs: str) -> Term:
    return Term("path", predicate, needs, negated=True)


def _read(term: Term) -> Term:
    value = term.predicate.value
    if not term.predicate.is_expression or holds_variable(value):
        return term
    predicate = _path(EXPRESSION, value) if term.name == "path" else Predicate(EXPRESSION, f".*(?:{value}).*")
    if predicate.refusal:  # NGINX has the expressions of Perl, `(?!…)` among them (validation/common.go, regexp2)
        is_path = term.name == "path" and "|" not in _outside(value)
        start = literal_start(value.partition("(")[0]) if is_path else ""
        return term._replace(predicate=Predicate(EXPRESSION, f"{quoted(start)}.*"), fault=FOREIGN)
    return term._replace(predicate=predicate)


def _path(kind: str, value: str) -> Predicate:
    """Return which paths a location takes; an expression begins with `^`, which binds its first alternative alone."""
    if kind != EXPRESSION or holds_variable(value):
        return Predicate(kind, value)  # type: ignore[arg-type]
    if "|" in _outside(value):
        return Predicate(EXPRESSION, f".*(?:^{value}).*")
    return Predicate(EXPRESSION, value if value.endswith(".*") and not value.endswith("\\.*") else f"{value}.*")


def _outside(expression: str) -> str:
    """Return what stands in no brackets of an expression."""
    depth, told = 0, ""
    characters: Iterable[str] = iter(expression)
    for character in characters:
        if character == "\\":
            next(iter(characters), "")
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif not depth:
            told += character
    return told
