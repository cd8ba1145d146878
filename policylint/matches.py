"""A match of a rule as conditions on what a request is: which requests it takes, and how two matches relate.

Whoever asks what a match means asks here: which requests it takes, what one lacks, whether two have a request in
common, whether one lies within another, which of the two comes first. What users write, `{type, value}`, becomes a
predicate in `read`; nothing else knows the types. Source: docs/design/request-precedence.md §4 and §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, Protocol

from policylint.documents import Pointer
from policylint.model import holds_variable, is_symbolic, mapping, sequence, text
from policylint.model.ternary import every
from policylint.namedtuple import NamedTuple
from policylint.regex import expression, quoted
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate, matching

PATH_TYPES: Final = ("Exact", PREFIX, EXPRESSION)
VALUE_TYPES: Final = ("Exact", EXPRESSION)
ORDER: Final = {"Exact": 2, EXPRESSION: 1, PREFIX: 0}
_ORDER_OF_EXPRESSIONS_LAST: Final = {"Exact": 2, PREFIX: 1, EXPRESSION: 0}
_BEFORE_ALL: Final = 3
"""Where it may rank what a variable stands for."""
_LONGER_THAN_ALL: Final = 1_000_000
"""The length for precedence of a path with a variable in it, which may rank before any other one of its type."""
_STRUCTURES: Final = ("path", "headers", "queryParams")
_LONG: Final = " " * 4_096
FOREIGN: Final = "${an expression of another engine}"
"""The type of an expression that a proxy understands and RE2 does not: what it matches is not known."""
CHANCE: Final = "${which of two comes first}"
"""The type of a condition that nothing settles, which says why: that of a request which two rules of one rank take."""

SLASHED: Final = "slashed"
"""The field of an entry that is answered with a redirect to a path with a slash at its end: to this one."""
Asked = frozenset[tuple[str, str, str]]
"""By name what is asked of properties: type and value."""


class Valued(Protocol):
    """Anything with properties as matches ask for them: a request."""

    def value(self, name: str) -> str | None:
        """Return the value of a property by the name of its dimension, `header x-canary`; None where it has none."""
        ...


class Term(NamedTuple):
    """What a match demands of one property.

    Args:
        name: of the property, as dimensions are called: `path`, `method`, `service`, `call`, `header x`, `query page`.
        needs: it in words: `header x-canary: 1`.
        fault: the type that nobody knows, "" for none; of a foreign expression the predicate takes all that may match.
        negated: whether it demands that the predicate does not hold.
    """

    name: str
    predicate: Predicate
    needs: str
    fault: str = ""
    negated: bool = False

    @property
    def what(self) -> str:
        """What it is about, for users: path, method, header or query."""
        kind = self.name.partition(" ")[0]
        return {"service": "path", "call": "method"}.get(kind, kind)

    def miss(self, value: str | None) -> Miss | None:
        """Return why a value does not satisfy it; None where it does."""
        taken = self.predicate.takes(value)
        is_open = self.fault in (FOREIGN, CHANCE) and (taken is not False or not self.predicate.is_expression)
        if taken is not self.negated and taken is not None and not is_open:
            return None
        near = _alike(self.predicate.value, value) if value is not None and self.what == "path" else 0.0
        if is_open:
            why = self.predicate.value if self.fault == CHANCE else "such a condition is not evaluated here"
            return Miss(self.what, self.needs, near, why)
        if is_symbolic(self.fault) and self.fault != FOREIGN:
            whole = self.fault == self.predicate.value
            unknown = "what it matches" if whole else f"the type of a match on its {self.what}"
            return Miss(self.what, self.needs, near, f"{unknown} stands in a variable")
        if taken is None:
            why = f"the expression in {self.what} is too large to be matched"
            why = f"a part of its {self.what} stands in a variable" if self.predicate.is_open else why
            return Miss(self.what, self.needs, near, why)
        refusal = self.predicate.refusal
        return Miss(self.what, f"{self.needs}, which is {refusal}" if refusal else self.needs, near)


class Miss(NamedTuple):
    """A condition of a match that a request does not satisfy.

    Args:
        what: path, method, header or query.
        needs: the condition in words: `header x-canary: 1`.
        near: how much of a path matched, 0 to 1.
        undecided: why it is not known whether the request satisfies it; "" where it certainly does not.
    """

    what: str
    needs: str
    near: float = 0.0
    undecided: str = ""


class Match(NamedTuple):
    """One entry of a rule's matches, or the implied one of a rule without any.

    Args:
        number: its index in the rule; None for a rule without matches.
        conditions: all of which a request must satisfy.
        weights: the criteria of precedence after the hostname, in order; more is better.
        value: the entry as written.
    """

    number: int | None
    conditions: tuple[Term, ...]
    weights: tuple[int, ...]
    value: Mapping[str, Any]
    grpc: bool = False

    @property
    def path(self) -> str:
        """The path or gRPC method condition in words: `PathPrefix /checkout`."""
        if not self.grpc:
            kind, value = path_of(self.value)
            return f"{kind} {value}"
        method = mapping(self.value.get("method"))
        service, name = text(method.get("service")), text(method.get("method"))
        verb = "method ~ " if text(method.get("type")) == EXPRESSION else "method "
        return f"{verb}{service or '*'}/{name or '*'}" if service or name else ""

    def __str__(self) -> str:
        """Return the match in words: `PathPrefix /checkout + header x-canary`."""
        parts = [self.path] if self.path else []
        if not self.grpc and text(self.value.get("method")):
            parts.append(f"method {self.value['method']}")
        for field, said in (("headers", "header"), ("cookies", "cookie"), ("queryParams", "query")):
            parts += [f"{said} {name}" for name, _ in _entries(self.value.get(field), fold=field == "headers")]
        parts += [each.needs for each in map(_also, sequence(self.value.get("also")))]
        return " + ".join(parts) or "every request"

    def misses(self, request: Valued) -> Iterator[Miss]:
        """Yield the conditions that the request does not satisfy; none when the match takes it."""
        for condition in self.conditions:
            miss = condition.miss(request.value(condition.name))
            if miss is not None:
                yield miss

    @property
    def asked(self) -> Asked:
        """What it asks of requests; the same of two matches that take the same ones."""
        terms = ((each.name, each.predicate.type, each.predicate.value) for each in self.conditions)
        return frozenset(
            (name, kind, value.rstrip("/") if kind == PREFIX else value)
            for name, kind, value in terms
            if (name, kind, value) != ("path", PREFIX, "/")
        )

    @property
    def refusal(self) -> str:
        """Why an expression of it is none that RE2 takes; "" where all are, or where a variable hides one."""
        refused = (each for each in self.conditions if each.predicate.refusal and not holds_variable(each.needs))
        return next((f"{each.needs}, which is {each.predicate.refusal}" for each in refused), "")

    @property
    def prefix(self) -> str:
        """The path that ReplacePrefixMatch replaces."""
        path = next((each for each in self.conditions if each.name == "path"), None)
        return path.predicate.value if path is not None and path.predicate.type in ("Exact", PREFIX) else "/"

    @property
    def fault(self) -> Term | None:
        """The first condition of a type that nobody knows, so that no request is taken."""
        return next((condition for condition in self.conditions if condition.fault), None)

    @property
    def expressions(self) -> list[Term]:
        """The conditions that are regular expressions."""
        return [condition for condition in self.conditions if condition.predicate.is_expression]

    @property
    def doubtful(self) -> bool:
        """Whether it may take any request: an expression is too large to be matched, a type stands in a variable."""
        if any(is_symbolic(condition.fault) or condition.predicate.is_open for condition in self.conditions):
            return True
        patterns = (expression(condition.predicate.value) for condition in self.expressions)
        return any(not pattern.refusal and pattern.is_whole(_LONG) is None for pattern in patterns)

    def overlaps(self, other: Match) -> bool | None:
        """Return whether some request meets both, both of calls or both of plain requests; None: not known."""
        answers = [
            own.predicate.overlaps(another.predicate)
            for own in self.conditions
            for another in other.conditions
            if own.name == another.name and not own.negated and not another.negated
        ]
        answers += [False for match in (self, other) for each in match.conditions if each.fault]
        answers += [None for match in (self, other) for each in match.conditions if each.negated]
        together = every(answers)
        several = any(len({each.name for each in match.conditions}) < len(match.conditions) for match in (self, other))
        return None if together and several else together

    def within(self, other: Match) -> bool | None:
        """Return whether the other one takes every request that this one takes; None where that is not known."""
        answers: list[bool | None] = []
        for wanted in other.conditions:
            if wanted.negated:
                answers.append(True if wanted in self.conditions else None)
                continue
            own = [
                each.predicate.within(wanted.predicate)
                for each in self.conditions
                if each.name == wanted.name and not each.negated
            ]
            everything = wanted.name == "path" and wanted.predicate.value in ("", "/") and wanted.predicate.is_prefix
            answers.append(True if everything or True in own else None if None in own or len(own) > 1 else False)
        return every(answers)

    def before(self, other: Match) -> bool | None:
        """Return whether it comes before another one by what they match; None where neither does, or it is theirs.

        Where regular expressions come is only certain next to exact paths and the same expression, and not all count
        the slash at the end of a prefix.
        """
        if self.weights == other.weights or not self._is_ranked(other):
            return None
        return self.weights > other.weights

    def _is_ranked(self, other: Match) -> bool:
        """Return whether all controllers agree which of two comes first."""
        own, others = (
            {each.name: each.predicate for each in match.conditions if each.name in ("path", "service", "call")}
            for match in (self, other)
        )
        if self.grpc != other.grpc:
            return False
        if own == others or self.grpc:
            return own == others or not any(each.is_expression for each in (*own.values(), *others.values()))
        first, second = own["path"], others["path"]
        if first.is_expression or second.is_expression:
            return "Exact" in (first.type, second.type)
        return first.type != second.type or first.value.rstrip("/") != second.value.rstrip("/")


def matches(
    rule: Mapping[str, Any],
    *,
    grpc: bool = False,
    regex_last: bool = False,
    narrowing: Sequence[Mapping[str, Any]] = (),
) -> list[Match]:
    """Return the matches of a rule; a rule without any matches every path (HTTPRouteRule.Matches) or call, and of one
    with a variable for them it is not known what it matches.

    `regex_last`: where the implementation ranks regular expressions, which the spec leaves to it: below prefixes, or
    between them and exact paths.

    `narrowing`: further matches on cookies, of which one must take the request too.
    """
    written = rule.get("matches")
    listed = enumerate(map(_entry, sequence(written)))
    entries: list[tuple[int | None, Mapping[str, Any]]] = [*listed] or [(None, _entry(written))]
    if narrowing:
        cookies = [further.get("cookies") for further in narrowing]
        entries = [(number, {**entry, "cookies": wanted}) for number, entry in entries for wanted in cookies]
    return [match_of(entry, number, grpc=grpc, regex_last=regex_last) for number, entry in entries]


def _entry(written: object) -> Mapping[str, Any]:
    """Return an entry as written; one of which it is not known what it takes where a variable stands for it, or for a
    list or an object in it."""
    stated = (written, *(written.get(name) for name in _STRUCTURES)) if isinstance(written, dict) else (written,)
    variable = next(filter(is_symbolic, stated), None)
    return mapping(written) if variable is None else {"path": {"type": variable, "value": variable}}


def match_of(
    entry: Mapping[str, Any], number: int | None = None, *, grpc: bool = False, regex_last: bool = False
) -> Match:
    """Return one entry of a rule's matches."""
    headers = list(_conditions(entry.get("headers"), "header"))
    cookies = [_cookie(*each) for each in _entries(entry.get("cookies"), fold=False)] if entry.get("cookies") else ()
    if grpc:
        called = list(_call(mapping(entry.get("method"))))
        lengths = {condition.name: _length(condition.predicate) for condition in called}
        calls = (lengths.get("service", 0), lengths.get("call", 0), len(headers))
        return Match(number, (*called, *headers, *cookies), calls, entry, grpc=True)
    kind, value = path_of(entry)
    path = Term("path", read(kind, value, PATH_TYPES), f"{'path' if kind == 'Exact' else kind} {value}")
    path = path if kind in PATH_TYPES else path._replace(fault=kind)
    method = text(entry.get("method"))
    methods = (Term("method", Predicate("Exact", method), f"method {method}"),) if method else ()
    queries = list(_conditions(entry.get("queryParams"), "query"))
    order = (_ORDER_OF_EXPRESSIONS_LAST if regex_last else ORDER).get(kind, _BEFORE_ALL if is_symbolic(kind) else -1)
    weights = (order, _length(path.predicate), len(methods), len(headers), len(queries))
    also = tuple(map(_also, sequence(entry.get("also")))) if "also" in entry else ()
    return Match(number, (path, *methods, *headers, *cookies, *queries, *also), weights, entry)


def _length(predicate: Predicate) -> int:
    return _LONGER_THAN_ALL if predicate.is_open else len(predicate.value)


def _also(entry: Any) -> Term:
    """Return a further condition of a door's rule: one of several on a property, or what must not be."""
    name, kind, value = entry["of"], entry["type"], entry["value"]
    negated = entry.get("not") is True
    sign = "~" if kind == EXPRESSION else ":"
    fault = "" if kind in PATH_TYPES else kind
    return Term(name, read(kind, value, PATH_TYPES), f"{'no ' if negated else ''}{name}{sign} {value}", fault, negated)


def read(kind: str, value: str, known: Sequence[str] = VALUE_TYPES) -> Predicate:
    """Return the predicate of a type and a value; one of a type that nobody knows takes nothing.

    Such a type is refused by the API server, or a variable that was not filled in.
    """
    return Predicate(kind, value) if kind in known else Predicate("Nothing", value)  # type: ignore[arg-type]


def path_of(value: Mapping[str, Any]) -> tuple[str, str]:
    """Return type and value of an HTTP match's path, with the defaults."""
    path = mapping(value.get("path"))
    return text(path.get("type")) or PREFIX, text(path.get("value")) or "/"


def typed(entry: object) -> Predicate:
    """Return the predicate of `{type, value}` as filters and policies write it, exact by default."""
    written = mapping(entry)
    return read(text(written.get("type")) or "Exact", str(written.get("value", "")))


def unknown_types(entry: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Yield the types in an entry of a rule's matches that nobody knows, with their places in it."""
    conditions: list[tuple[Pointer, object]] = [(("path",), entry.get("path")), (("method",), entry.get("method"))]
    for field in ("headers", "queryParams"):
        conditions += [((field, number), condition) for number, condition in enumerate(sequence(entry.get(field)))]
    for place, condition in conditions:
        kind = text(condition.get("type")) if isinstance(condition, dict) else ""
        if kind and kind not in (PATH_TYPES if place == ("path",) else VALUE_TYPES) and not is_symbolic(kind):
            yield (*place, "type"), kind


def _entries(listed: object, *, fold: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield headers, cookies or query parameters by name; of equivalent names only the first counts."""
    seen: set[str] = set()
    for entry in map(mapping, sequence(listed)):
        name = str(entry.get("name") or "")  # `y` is a boolean of YAML, which the API server refuses
        key = name.lower() if fold else name
        if name and key not in seen:
            seen.add(key)
            yield name, entry


def _conditions(listed: object, said: str) -> Iterator[Term]:
    fold = said == "header"
    for name, entry in _entries(listed, fold=fold):
        kind, value = text(entry.get("type")) or "Exact", str(entry.get("value", ""))
        equals = f"query parameter {name}={value}" if not fold else f"header {name}: {value}"
        needs = equals if kind == "Exact" or not fold else f"header {name} ~ {value}"
        known = kind in VALUE_TYPES
        needs = needs if known else f"{said} {name} by an unknown type ({kind})"
        yield Term(f"{said} {name.lower() if fold else name}", read(kind, value), needs, "" if known else kind)


def _cookie(name: str, entry: Mapping[str, Any]) -> Term:
    kind, value = text(entry.get("type")) or "Exact", str(entry.get("value", ""))
    wanted = f"(?:{value})" if kind == EXPRESSION else quoted(value)
    pattern = f"(?:.*; *)?{quoted(name)}={wanted}(?: *;.*)?"
    known = kind in VALUE_TYPES
    predicate = matching(pattern) if known else Predicate("Nothing", value)
    return Term("header cookie", predicate, f"cookie {name}={value}", "" if known else kind)


def _call(method: Mapping[str, Any]) -> Iterator[Term]:
    """Yield what a gRPC method match demands; an empty service or method matches any."""
    kind = text(method.get("type")) or "Exact"
    for name, field in (("service", "service"), ("call", "method")):
        value = text(method.get(field))
        if value:
            yield Term(name, read(kind, value), f"gRPC {field} {value}", "" if kind in VALUE_TYPES else kind)


def _alike(first: str, second: str) -> float:
    """Return how much of two paths is the same from the left, 0 to 1."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return len(list(same)) / max(len(first), len(second), 1)
