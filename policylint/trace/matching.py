"""Decide whether a rule's matches take a request, and how specific they are.

Source: docs/design/request-precedence.md §4 and §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.regex import expression, quoted
from policylint.spaces import Predicate
from policylint.trace.request import Request

EXACT, REGEX, PREFIX = 2, 1, 0
_PATHS = ("Exact", "PathPrefix", "RegularExpression")
_VALUES = ("Exact", "RegularExpression")
_KINDS = {"Exact": EXACT, "RegularExpression": REGEX, "PathPrefix": PREFIX}


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
        path: the path or gRPC method condition in words.
        weights: the criteria of precedence after the hostname, in order; more is better.
        value: the entry as written.
    """

    number: int | None
    path: str
    weights: tuple[int, ...]
    value: Mapping[str, Any]
    grpc: bool = False

    def __str__(self) -> str:
        """Return the match in words: `PathPrefix /checkout + header x-canary`."""
        parts = [self.path] if self.path else []
        if not self.grpc and text(self.value.get("method")):
            parts.append(f"method {self.value['method']}")
        parts += [f"header {name}" for name, _, _ in conditions(self.value.get("headers"), fold=True)]
        parts += [f"cookie {name}" for name, _, _ in conditions(self.value.get("cookies"), fold=False)]
        parts += [f"query {name}" for name, _, _ in conditions(self.value.get("queryParams"), fold=False)]
        return " + ".join(parts) or "every request"

    def misses(self, request: Request) -> Iterator[Miss]:
        """Yield the conditions that the request does not satisfy; none when the match takes it."""
        if self.grpc:
            yield from _grpc_misses(mapping(self.value.get("method")), request)
        else:
            yield from _path_misses(mapping(self.value.get("path")), request.bare_path)
            method = text(self.value.get("method"))
            if method and method != request.method:
                yield Miss("method", f"method {method}")
        for name, kind, value in conditions(self.value.get("headers"), fold=True):
            actual = request.header(name)
            words = f"header {name}: {value}" if kind == "Exact" else f"header {name} ~ {value}"
            if actual is None:
                yield Miss("header", words)
            else:
                yield from _miss("header", words, kind, value, actual)
        for name, kind, value in conditions(self.value.get("cookies"), fold=False):
            actual = request.cookie(name)
            if actual is None:
                yield Miss("header", f"cookie {name}={value}")
            else:
                yield from _miss("header", f"cookie {name}={value}", kind, value, actual)
        for name, kind, value in conditions(self.value.get("queryParams"), fold=False):
            actual = request.parameter(name)
            if actual is None:
                yield Miss("query", f"query parameter {name}={value}")
            else:
                yield from _miss("query", f"query parameter {name}={value}", kind, value, actual)


def matches(
    rule: Mapping[str, Any],
    *,
    grpc: bool = False,
    regex_last: bool = False,
    narrowing: Sequence[Mapping[str, Any]] = (),
) -> list[Match]:
    """Return the matches of a rule; a rule without any matches every path (HTTPRouteRule.Matches) or call.

    `regex_last`: where the implementation ranks regular expressions, which the spec leaves to it: below prefixes, or
    between them and exact paths.

    `narrowing`: further matches on cookies, of which one must take the request too.
    """
    listed = enumerate(map(mapping, sequence(rule.get("matches"))))
    entries: list[tuple[int | None, Mapping[str, Any]]] = [*listed] or [(None, {})]
    if narrowing:
        cookies = [further.get("cookies") for further in narrowing]
        entries = [(number, {**entry, "cookies": wanted}) for number, entry in entries for wanted in cookies]
    if grpc:
        return [_grpc_match(number, entry) for number, entry in entries]
    return [_http_match(number, entry, regex_last) for number, entry in entries]


def conditions(listed: object, *, fold: bool) -> Iterator[tuple[str, str, str]]:
    """Yield (name, type, value) of header or query conditions; of equivalent names only the first counts."""
    seen: set[str] = set()
    for condition in map(mapping, sequence(listed)):
        name = text(condition.get("name"))
        key = name.lower() if fold else name
        if name and key not in seen:
            seen.add(key)
            yield name, text(condition.get("type")) or "Exact", str(condition.get("value", ""))


def path_of(value: Mapping[str, Any]) -> tuple[str, str]:
    """Return type and value of an HTTP match's path, with the defaults."""
    path = mapping(value.get("path"))
    return text(path.get("type")) or "PathPrefix", text(path.get("value")) or "/"


def demands(match: Match) -> Iterator[tuple[str, Predicate]]:
    """Yield what a match demands: the name of a dimension and a predicate on it."""
    if match.grpc:
        method = mapping(match.value.get("method"))
        kind = text(method.get("type")) or "Exact"
        for name, field in (("service", "service"), ("call", "method")):
            if text(method.get(field)):
                yield name, _predicate(kind, text(method.get(field)), _VALUES)
    else:
        kind, value = path_of(match.value)
        yield "path", _predicate(kind, value, _PATHS)
        if text(match.value.get("method")):
            yield "method", Predicate("Exact", text(match.value.get("method")))
    for name, kind, value in conditions(match.value.get("headers"), fold=True):
        yield f"header {name.lower()}", _predicate(kind, value, _VALUES)
    for name, kind, value in conditions(match.value.get("cookies"), fold=False):
        wanted = f"(?:{value})" if kind == "RegularExpression" else quoted(value)
        yield "header cookie", Predicate("RegularExpression", f"(?:.*; *)?{quoted(name)}={wanted}(?: *;.*)?")
    for name, kind, value in conditions(match.value.get("queryParams"), fold=False):
        yield f"query {name}", _predicate(kind, value, _VALUES)


def _predicate(kind: str, value: str, known: Sequence[str]) -> Predicate:
    """Return a predicate; one of a type that nobody knows is an expression that matches nothing."""
    return Predicate(kind, value) if kind in known else Predicate("RegularExpression", "(")  # type: ignore[arg-type]


def takes_prefix(prefix: str, path: str) -> bool:
    """Return whether a PathPrefix covers a path: by whole elements, ignoring a trailing `/`.

    Source: HTTPRoute PathMatchPathPrefix.
    """
    short = prefix.rstrip("/")
    return path == short or path.startswith(f"{short}/")


def _http_match(number: int | None, value: Mapping[str, Any], regex_last: bool) -> Match:
    kind, path = path_of(value)
    order = _KINDS.get(kind, -1)
    if regex_last and order in (REGEX, PREFIX):
        order = PREFIX if order == REGEX else REGEX
    headers = sum(1 for _ in conditions(value.get("headers"), fold=True))
    queries = sum(1 for _ in conditions(value.get("queryParams"), fold=False))
    weights = (order, len(path), int(bool(text(value.get("method")))), headers, queries)
    return Match(number, f"{kind} {path}", weights, value)


def _grpc_match(number: int | None, value: Mapping[str, Any]) -> Match:
    method = mapping(value.get("method"))
    service, name = text(method.get("service")), text(method.get("method"))
    headers = sum(1 for _ in conditions(value.get("headers"), fold=True))
    regex = text(method.get("type")) == "RegularExpression"
    words = f"{'method ~ ' if regex else 'method '}{service or '*'}/{name or '*'}" if service or name else ""
    return Match(number, words, (len(service), len(name), headers), value, grpc=True)


def _path_misses(path: Mapping[str, Any], requested: str) -> Iterator[Miss]:
    kind, value = path_of({"path": path})
    words, near = f"{'path' if kind == 'Exact' else kind} {value}", _alike(value, requested)
    if kind in ("Exact", "RegularExpression"):
        yield from _miss("path", words, kind, value, requested, near)
    elif kind != "PathPrefix" or not takes_prefix(value, requested):  # the API server refuses others; or a variable
        yield Miss("path", words, near)


def _grpc_misses(method: Mapping[str, Any], request: Request) -> Iterator[Miss]:
    service, _, name = request.bare_path.lstrip("/").rpartition("/")
    kind = text(method.get("type")) or "Exact"
    wanted_service, wanted_name = text(method.get("service")), text(method.get("method"))
    if wanted_service:
        near = _alike(wanted_service, service)
        yield from _miss("path", f"gRPC service {wanted_service}", kind, wanted_service, service, near)
    if wanted_name:
        yield from _miss("method", f"gRPC method {wanted_name}", kind, wanted_name, name)


def _miss(what: str, needs: str, kind: str, expected: str, actual: str, near: float = 0.0) -> Iterator[Miss]:
    """Yield the miss of a value that is there but not the expected one.

    An expression matches the whole value. Its dialect is the implementation's, RE2 nearly always.
    """
    if kind != "RegularExpression":
        if expected != actual:
            yield Miss(what, needs, near)
        return
    compiled = expression(expected)
    fits = compiled.is_whole(actual)
    if compiled.refusal:
        yield Miss(what, f"{needs}, which is {compiled.refusal}", near)
    elif fits is None:
        yield Miss(what, needs, near, f"the expression in {what} is too large to be matched")
    elif not fits:
        yield Miss(what, needs, near)


def _alike(first: str, second: str) -> float:
    """Return how much of two paths is the same from the left, 0 to 1."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return len(list(same)) / max(len(first), len(second), 1)
