"""Traefik's rules: alternatives of matchers, the hosts for which one may hold, and what it demands of requests.

Source: doc.traefik.io/traefik, routing-configuration/http/routing/rules-and-priority; v2/routing/routers;
traefik/traefik @ v3.7.13, pkg/muxer/http/matcher.go, matcher_v2.go, pkg/muxer/muxer.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.doors.lowered import plain, searched
from policylint.matches import CHANCE, FOREIGN
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.regex import expression
from policylint.spaces import predicates
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate
from policylint.spaces.samples import literal

_TOKEN = Pattern(r"\s*(&&|\|\||!|\(|\)|,|[A-Za-z]\w*|`[^`]*`|\"(?:[^\"\\]|\\.)*\")")
_ESCAPED = Pattern(r"\\(.)")
_TEMPLATE = Pattern(r"\{(\w+)(?::((?:[^{}]|\{[^{}]*\})*))?\}")
_MOST = 64
"""Alternatives of one rule, beyond which it is not read."""
_DEEPEST = 100
"""Brackets and negations within each other, beyond which it is not either."""
_NAMES = {
    name.lower(): name
    for name in (
        *("ClientIP", "Header", "HeaderRegexp", "Headers", "HeadersRegexp", "Host", "HostHeader", "HostRegexp"),
        *("Method", "Path", PREFIX, "PathRegexp", "Query", "QueryRegexp"),
    )
}
MATCHERS = frozenset(_NAMES)
"""The matchers of requests of all releases, in lower case."""
_OF_HOSTS = frozenset({"Host", "HostHeader", "HostRegexp"})
_EITHER = _OF_HOSTS | {"Method", "Path", PREFIX}
"""Matchers of Traefik 2 that take several values, of which one is enough."""
_ANYTHING = (".*", ".+")


class Matcher(NamedTuple):
    """One call of a rule: ``Host(`a`)``; `negated` where a `!` is before it."""

    name: str
    arguments: tuple[str, ...]
    negated: bool = False


Alternatives = list[tuple[Matcher, ...]]


class _Condition(NamedTuple):
    """What a matcher demands of a property: of its value, by a predicate."""

    of: str
    predicate: Predicate
    negated: bool = False

    @property
    def entry(self) -> dict[str, Any]:
        """It as a further condition of a match."""
        said = {"of": self.of, "type": self.predicate.type, "value": self.predicate.value}
        return {**said, "not": True} if self.negated else said


class Hosts:
    """The hosts that some rules tell apart: names, wildcards, and all others ("").

    Which rule comes first has nothing to do with hosts, so that each of these has all rules that may hold for it.
    """

    def __init__(self, written: Iterable[str]) -> None:
        read = [matchers for rule in written for matchers in alternatives(rule) or ()]
        of_hosts = [matcher for matchers in read for matcher in matchers if matcher.name in _OF_HOSTS]
        named = (_pattern_of(name) for matcher in of_hosts for name in _hosts_of(matcher))
        self._names = dict.fromkeys((*filter(None, named), ""))
        if any(matcher.negated for matcher in of_hosts):
            with_rules = {host for matchers in read for host, _ in self.matches(matchers)}
            self._names = {host: None for host in self._names if host in with_rules}

    def matches(self, matchers: Sequence[Matcher]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield hosts for which all of some matchers may hold, with the match there.

        Where it is not known whether they hold for a host, and where a matcher cannot be told, the match is in doubt.
        """
        of_hosts = [matcher for matcher in matchers if matcher.name in _OF_HOSTS]
        match = _match([matcher for matcher in matchers if matcher.name not in _OF_HOSTS])
        if match is None:
            return
        named = (name for matcher in of_hosts if not matcher.negated for name in _hosts_of(matcher))
        only = next((name for name in named if name in self._names and "*" not in name), None)
        for host in self._names if only is None else (only,):
            held = [self._holds(matcher, host) for matcher in of_hosts]
            if False not in held:
                doubtful = None in held
                yield host, _doubted(match, str(tuple(of_hosts))) if doubtful else match

    def _holds(self, matcher: Matcher, host: str) -> bool | None:
        """Return whether a matcher holds for one of the hosts; a name for which no rule is may be among the others."""
        (name,) = _hosts_of(matcher) or ("",)
        taken = _takes(name, host)
        if taken is None or not matcher.negated:
            return taken
        is_within = _several(host) and host != name and _pattern_of(name).endswith(host[1:])
        return None if is_within and _pattern_of(name) not in self._names else not taken


def _doubted(match: Mapping[str, Any], why: str, kind: str = FOREIGN) -> dict[str, Any]:
    return {**match, "also": [*match.get("also", ()), {"of": "path", "type": kind, "value": why}]}


def is_doubted(match: Mapping[str, Any]) -> bool:
    """Return whether it is not known which requests a match takes, or whether any."""
    return any(condition["type"] in (FOREIGN, EXPRESSION) for condition in match.get("also", ()))


def by_chance(match: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return a match of requests of which nothing settles whether its rule has them."""
    return _doubted(match, why, CHANCE)


def names_of(matchers: Sequence[Matcher]) -> frozenset[str]:
    """Return the only hosts for which all of some matchers may hold; none where they may be more than names."""
    plain_names = (
        {name for name in _hosts_of(matcher) if name[:1] not in ("~", "*")}
        for matcher in matchers
        if matcher.name in _OF_HOSTS and not matcher.negated
    )
    return frozenset(next((names for names in plain_names if names), ()))


def _hosts_of(matcher: Matcher) -> tuple[str, ...]:
    """Return the names that a matcher of hosts has, an expression as `~…`."""
    if matcher.name != "HostRegexp":
        return tuple(argument.lower() for argument in matcher.arguments)
    return tuple(f"~{_templated(argument, '[^.]+', whole=True)}" for argument in matcher.arguments)


def _pattern_of(name: str) -> str:
    """Return the name or wildcard among which hosts of a matcher are; "" where they may be any."""
    if not name.startswith("~"):
        return "" if name == "*" else name
    start, suffix = _suffix(name[1:])
    return suffix if start is None else f"*{suffix}" if suffix.startswith(".") else ""


def _suffix(pattern: str) -> tuple[str | None, str]:
    """Return how an expression for hosts begins, and the text with which it certainly ends; None and the only host that
    it takes."""
    if not pattern.endswith("$") or pattern.endswith("\\$"):
        return pattern, ""
    bare = pattern.removeprefix("^").removesuffix("$")
    only = literal(bare) if pattern.startswith("^") else None
    if only is not None:
        return None, only
    for place in range(len(bare)):
        rest = literal(bare[place:])
        if bare.startswith("\\.", place) and rest is not None and expression(bare[:place] or ".*").refusal == "":
            return bare[:place], rest
    return pattern, ""


def _several(host: str) -> bool:
    return not host or host.startswith("*")


def _takes(name: str, host: str) -> bool | None:
    several = _several(host)
    if name.startswith("~"):
        pattern = name[1:]
        if not several:
            return expression(searched(pattern)).is_whole(host)
        start, suffix = _suffix(pattern)
        if start is None:
            return False
        if start.strip("^$()") in _ANYTHING:
            return not suffix or host.endswith(suffix)
        return None if not suffix or host.endswith(suffix) else False
    if name == "*" or name == host:
        return True
    wild = name.startswith("*.") and not several
    return wild and host.partition(".")[2] == name[2:]


def _match(matchers: Sequence[Matcher]) -> dict[str, Any] | None:
    """Return the match of matchers that all must hold, None where no request meets them; what cannot be told is a
    condition that nobody reads."""
    conditions: list[_Condition] = []
    unread: list[Matcher] = []
    for matcher in matchers:
        read = _read(matcher)
        if read is None or (matcher.negated and len(read) > 1):
            unread.append(matcher)
        else:
            conditions += read
    by_property: dict[str, list[_Condition]] = {}
    for condition in dict.fromkeys(conditions):
        by_property.setdefault(condition.of, []).append(condition)
    paths = _together(by_property.pop("path", []))
    rest = [_together(each) for each in by_property.values()]
    if paths is None or None in rest:
        return None
    said: dict[str, Any] = {"path": {"type": EXPRESSION, "value": "/.*"}}
    if paths and not paths[0].negated:
        said["path"] = {"type": paths[0].predicate.type, "value": paths[0].predicate.value}
        del paths[0]
    also = [condition.entry for each in (paths, *rest) for condition in each or ()]
    if also:
        said["also"] = also
    return _doubted(said, str(tuple(unread))) if unread else said


def _read(matcher: Matcher) -> list[_Condition] | None:
    """Return what a matcher demands, all of it; None where that cannot be told."""
    name, arguments, negated = matcher
    first = arguments[0] if arguments else ""
    match name:
        case "Path" | predicates.PREFIX if len(arguments) == 1 and first.startswith("/"):
            return [_Condition("path", _path(first, is_prefix=name == PREFIX), negated)]
        case "PathRegexp" if len(arguments) == 1:
            return [_Condition("path", Predicate(EXPRESSION, searched(first)), negated)]
        case "Method" if len(arguments) == 1:
            return [_Condition("method", Predicate("Exact", first.upper()), negated)]
        case "Header" | "Headers" | "HeaderRegexp" | "HeadersRegexp" if arguments and not len(arguments) % 2:
            pairs = zip(arguments[::2], arguments[1::2], strict=True)
            of = [(f"header {key.lower()}", value) for key, value in pairs]
        case "Query" if "=" in first:
            of = [(f"query {each.partition('=')[0]}", each.partition("=")[2]) for each in arguments]
        case "Query" | "QueryRegexp" if len(arguments) in (1, 2):
            of = [(f"query {first}", "".join(arguments[1:]))]
        case _:
            return None
    is_searched = name.endswith("Regexp") and len(arguments) > 1
    return [
        _Condition(key, Predicate(EXPRESSION, searched(value)) if is_searched else Predicate("Exact", value), negated)
        for key, value in of
    ]


def _path(value: str, *, is_prefix: bool) -> Predicate:
    """Return what a path must be; one with `{name:expression}` is of Traefik 2."""
    if "{" in value and not Predicate("Exact", value).is_open:
        return Predicate(EXPRESSION, _templated(value, "[^/]+") + (".*" if is_prefix else ""))
    return Predicate(EXPRESSION, f"{plain(value)}.*") if is_prefix else Predicate("Exact", value)


def _together(conditions: Sequence[_Condition]) -> list[_Condition] | None:
    """Return what is left to say of one property, what says most first; None where no value meets all conditions."""
    exact = [each for each in conditions if each.predicate.type == "Exact" and not each.negated]
    if exact:
        value = exact[0].predicate.value
        answers = [(each, each.predicate.takes(value)) for each in conditions if each is not exact[0]]
        if any(taken is each.negated for each, taken in answers if taken is not None):
            return None
        return [exact[0], *(each for each, taken in answers if taken is None)]
    held = [each for each in conditions if not each.negated]
    barred = [each for each in conditions if each.negated]
    for each in held:
        if any(each.predicate.within(other.predicate) for other in barred):
            return None
        if any(each.predicate.overlaps(other.predicate) is False for other in held):
            return None
    held = [
        each
        for each in held
        if not any(other is not each and other.predicate.within(each.predicate) is True for other in held)
    ]
    barred = [each for each in barred if all(each.predicate.overlaps(other.predicate) is not False for other in held)]
    return [*held, *barred]


def _templated(value: str, unstated: str, *, whole: bool = False) -> str:
    """Return the expression of a text with parts of the form `{name:expression}`.

    Args:
        whole: whether a text without such parts is an expression itself.
    """
    found = list(_TEMPLATE.finditer(value))
    if whole and not found:
        return value
    parts, place = [], 0
    for each in found:
        parts += [plain(value[place : each.start()]), f"(?:{each[2] or unstated})"]
        place = each.end()
    written = "".join([*parts, plain(value[place:])])
    return f"^{written}$" if whole else written


def alternatives(written: str) -> Alternatives | None:
    """Return a rule as alternatives of matchers that all must hold; None where it is none, or too large."""
    tokens: list[str] = []
    place = 0
    written = written.rstrip()
    while place < len(written):
        found = _TOKEN.match(written, place)
        if found is None:
            return None
        tokens.append(found[1])
        place = found.end()
    return _Rule(tokens).read()


class _Rule:
    """A rule of Traefik, read from its tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0
        self._deep = 0

    def read(self) -> Alternatives | None:
        """Return all of it."""
        found = self._any(negated=False)
        return found if found and len(found) <= _MOST and self._place == len(self._tokens) else None

    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _taken(self, token: str) -> bool:
        if self._next() != token:
            return False
        self._place += 1
        return True

    def _any(self, *, negated: bool) -> Alternatives | None:
        """Read what `||` joins; negated, all of it must not hold."""
        found = self._all(negated=negated)
        while found is not None and self._taken("||"):
            found = _joined(found, self._all(negated=negated), every=negated)
        return found

    def _all(self, *, negated: bool) -> Alternatives | None:
        found = self._one(negated=negated)
        while found is not None and self._taken("&&"):
            found = _joined(found, self._one(negated=negated), every=not negated)
        return found

    def _within(self, *, negated: bool) -> Alternatives | None:
        """Read what a negation or a bracket holds."""
        if self._taken("!"):
            return self._one(negated=not negated)
        self._place += 1
        inner = self._any(negated=negated)
        return inner if self._taken(")") else None

    def _one(self, *, negated: bool) -> Alternatives | None:
        if self._next() in ("!", "("):
            self._deep += 1
            inner = self._within(negated=negated) if self._deep <= _DEEPEST else None
            self._deep -= 1
            return inner
        name = self._next()
        if not name[:1].isalpha():
            return None
        self._place += 1
        arguments = []
        if not self._taken("("):
            return None
        while self._next()[:1] in ("`", '"'):
            token = self._next()
            arguments.append(token[1:-1] if token[0] == "`" else _ESCAPED.sub(r"\1", token[1:-1]))
            self._place += 1
            if not self._taken(","):
                break
        if not self._taken(")"):
            return None
        called = _NAMES.get(name.lower(), name)
        if called not in _EITHER or len(arguments) < 2:
            return [(Matcher(called, tuple(arguments), negated),)]
        each = [Matcher(called, (argument,), negated) for argument in arguments]
        return [tuple(each)] if negated else [(matcher,) for matcher in each]


def _joined(first: Alternatives, second: Alternatives | None, *, every: bool) -> Alternatives | None:
    if second is None:
        return None
    if not every:
        return [*first, *second]
    return [(*one, *other) for one in first for other in second] if len(first) * len(second) <= _MOST else None
