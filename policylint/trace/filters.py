"""What a rule's filters do with a request and its answer (docs/design/request-precedence.md §6; HTTPRouteFilter)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.trace.request import Request, split_host

WELL_KNOWN = {"http": 80, "https": 443}
Headers = dict[str, tuple[str, str]]
"""Lower-case name → name as written, and value."""


class Step(NamedTuple):
    """One thing that a filter did, in words, and where it is written below the route."""

    what: str
    pointer: Pointer


class Redirect(NamedTuple):
    """The answer of a RequestRedirect filter; `port` is None where the Location header names none."""

    status: int
    scheme: str
    host: str
    port: int | None
    path: str


class Message:
    """A request on its way through filters, and what they will do to the answer.

    Attributes:
        request_headers, response_headers: as they are by now.
        mirrors: pointers of the mirrors' backendRefs, in order.
        redirect, error: an answer that a filter gives itself; `error` for a filter that cannot do its work.
        steps: what was done.
    """

    __slots__ = (
        "_prefix",
        "_request",
        "cors",
        "error",
        "host",
        "mirrors",
        "path",
        "redirect",
        "request_headers",
        "response_headers",
        "steps",
    )

    def __init__(self, request: Request, prefix: str) -> None:
        """`prefix` is the path prefix that the match took, which ReplacePrefixMatch replaces."""
        self._request = request
        self._prefix = prefix
        self.host = request.host
        self.path = request.path
        self.request_headers = _headers(request.headers)
        self.response_headers = _headers(request.backend_headers)
        self.mirrors: list[Pointer] = []
        self.redirect: Redirect | None = None
        self.cors: dict[str, str] | None = None
        self.error = ""
        self.steps: list[Step] = []

    def copy(self) -> Message:
        """The same message, to go on towards another backend."""
        other = Message(self._request, self._prefix)
        other.host, other.path = self.host, self.path
        other.request_headers, other.response_headers = dict(self.request_headers), dict(self.response_headers)
        return other

    def apply(self, filters: object, pointer: Pointer, port: int | None) -> None:
        """Let a list of filters work in the order in which they are written.

        Args:
            filters: `spec.rules[].filters`, or those of a backendRef.
            pointer: of the list.
            port: of the listener, for redirects that name none.
        """
        for number, value in enumerate(sequence(filters)):
            each = mapping(value)
            place = (*pointer, number)
            match text(each.get("type")):
                case "RequestHeaderModifier":
                    self._modify(self.request_headers, mapping(each.get("requestHeaderModifier")), "", place)
                    self._host_header()
                case "ResponseHeaderModifier":
                    words = " of the response"
                    self._modify(self.response_headers, mapping(each.get("responseHeaderModifier")), words, place)
                case "RequestMirror":
                    self._mirror(mapping(each.get("requestMirror")), (*place, "requestMirror"))
                case "RequestRedirect":
                    self.redirect = self._redirect(mapping(each.get("requestRedirect")), port)
                    self.steps.append(Step("redirect", place))
                case "URLRewrite":
                    self._rewrite(mapping(each.get("urlRewrite")), place)
                case "CORS":
                    self._cors(mapping(each.get("cors")), place)
                case "ExternalAuth":
                    self.steps.append(Step("ask an external authoriser", (*place, "externalAuth")))
                case "ExtensionRef":
                    reference = mapping(each.get("extensionRef"))
                    what = f"extension {text(reference.get('kind'))} {text(reference.get('name'))}"
                    self.steps.append(Step(what, (*place, "extensionRef")))
                case unknown:
                    # A filter that cannot be processed must not be skipped (HTTPRouteFilter.Type).
                    self.error = f"filter type {unknown or '(none)'} is not known"

    def _mirror(self, mirror: Mapping[str, Any], place: Pointer) -> None:
        """Copy all requests or a part of them (HTTPRequestMirrorFilter.Percent, Fraction); of 0 % nothing comes."""
        part = _part(mirror)
        if part != 0:
            self.mirrors.append((*place, "backendRef"))
        if part is not None:
            self.steps.append(Step(f"mirror {part:.6g} % of the requests", place))

    def _modify(self, headers: Headers, modifier: Mapping[str, Any], words: str, place: Pointer) -> None:
        """set overwrites, add appends with a comma, remove; names are case-insensitive (HTTPHeaderFilter)."""
        for each in map(mapping, sequence(modifier.get("set"))):
            name, value = text(each.get("name")), str(each.get("value", ""))
            headers[name.lower()] = (name, value)
            self.steps.append(Step(f"set header {name}={value}{words}", place))
        for each in map(mapping, sequence(modifier.get("add"))):
            name, value = text(each.get("name")), str(each.get("value", ""))
            before = headers.get(name.lower())
            headers[name.lower()] = (name, value) if before is None else (before[0], f"{before[1]},{value}")
            self.steps.append(Step(f"add header {name}={value}{words}", place))
        for each in sequence(modifier.get("remove")):
            headers.pop(str(each).lower(), None)
            self.steps.append(Step(f"remove header {each}{words}", place))

    def _host_header(self) -> None:
        """A modifier of `Host` changes the host."""
        host = self.request_headers.pop("host", None)
        if host is not None:
            self.host = host[1]

    def _rewrite(self, rewrite: Mapping[str, Any], place: Pointer) -> None:
        host = text(rewrite.get("hostname"))
        if host:
            self.host = host
            self.steps.append(Step(f"rewrite host to {host}", place))
        if rewrite.get("path"):
            self.path = self._new_path(mapping(rewrite["path"])) + self._request.query
            self.steps.append(Step(f"rewrite path to {self.path}", place))

    def _new_path(self, modifier: Mapping[str, Any]) -> str:
        """The path after a modifier; ReplacePrefixMatch keeps exactly one `/` between the parts (HTTPPathModifier)."""
        if text(modifier.get("type")) == "ReplaceFullPath":
            return text(modifier.get("replaceFullPath")) or "/"
        path = self._request.bare_path
        prefix = self._prefix.rstrip("/")
        rest = path[len(prefix) :]
        new = text(modifier.get("replacePrefixMatch"))
        return (new.rstrip("/") + rest if rest else new) or "/"

    def _redirect(self, redirect: Mapping[str, Any], port: int | None) -> Redirect:
        """The Location of a redirect (HTTPRequestRedirectFilter)."""
        named = text(redirect.get("scheme"))
        scheme = named or self._request.scheme
        wanted = redirect.get("port")
        if isinstance(wanted, bool) or not isinstance(wanted, int):
            wanted = WELL_KNOWN.get(named.lower()) if named else port
        path = self._new_path(mapping(redirect["path"])) if redirect.get("path") else self._request.bare_path
        status = redirect.get("statusCode")
        return Redirect(
            status=status if isinstance(status, int) and not isinstance(status, bool) else 302,
            scheme=scheme,
            host=text(redirect.get("hostname")) or split_host(self.host)[0],
            port=None if wanted == WELL_KNOWN.get(scheme.lower()) else wanted,
            path=path + self._request.query,
        )

    def _cors(self, cors: Mapping[str, Any], place: Pointer) -> None:
        """Answer a preflight, or mark the answer for the browser (HTTPCORSFilter)."""
        asked = self._request.header("Access-Control-Request-Method")
        origin = self._request.header("Origin")
        if origin is None:
            return
        preflight = self._request.method == "OPTIONS" and asked is not None
        allowed = allowed_origin(cors, origin)
        answer: dict[str, str] = {}
        if allowed:
            answer["Access-Control-Allow-Origin"] = allowed
            if cors.get("allowCredentials") is True:
                answer["Access-Control-Allow-Credentials"] = "true"
            exposed = _list(cors, "exposeHeaders")
            if exposed:
                answer["Access-Control-Expose-Headers"] = ", ".join(exposed)
            if preflight:
                answer.update(_preflight(cors, asked or "", self._request))
        self.steps.append(Step(f"CORS: origin {origin} is {'' if allowed else 'not '}allowed", place))
        if preflight:
            self.cors = answer
        else:
            self.response_headers.update(_headers(tuple(answer.items())))


def _part(mirror: Mapping[str, Any]) -> float | None:
    """The percentage of the requests that a mirror gets; None where nothing is said of it, which means all."""
    percent, fraction = mirror.get("percent"), mapping(mirror.get("fraction"))
    if isinstance(percent, int) and not isinstance(percent, bool):
        return float(percent)
    numerator, denominator = fraction.get("numerator"), fraction.get("denominator", 100)
    numbers = [each for each in (numerator, denominator) if isinstance(each, int) and not isinstance(each, bool)]
    return 100 * numbers[0] / numbers[1] if len(numbers) == 2 and numbers[1] > 0 else None


def allowed_origin(cors: Mapping[str, Any], origin: str) -> str:
    """What Access-Control-Allow-Origin says to an origin, "" where it is not allowed."""
    for pattern in _list(cors, "allowOrigins"):
        if pattern == "*":
            return origin if cors.get("allowCredentials") is True else "*"
        if pattern == origin or _wildcard(pattern, origin):
            return origin
    return ""


def shown(headers: Headers) -> dict[str, str]:
    """Names as written with their values, sorted."""
    return dict(sorted(headers.values(), key=lambda each: each[0].lower()))


def _wildcard(pattern: str, origin: str) -> bool:
    """`https://*.example.com` covers any number of labels, and a port only if it names the same one."""
    head, star, tail = pattern.partition("*")
    return bool(star) and len(origin) > len(head) + len(tail) and origin.startswith(head) and origin.endswith(tail)


def _preflight(cors: Mapping[str, Any], asked: str, request: Request) -> dict[str, str]:
    methods = _list(cors, "allowMethods") or ["GET", "HEAD", "POST"]
    names = _list(cors, "allowHeaders")
    wanted = request.header("Access-Control-Request-Headers")
    credentials = cors.get("allowCredentials") is True
    answer = {"Access-Control-Allow-Methods": asked if "*" in methods and credentials else ", ".join(methods)}
    if "*" in names and wanted and credentials:
        answer["Access-Control-Allow-Headers"] = wanted
    elif names:
        answer["Access-Control-Allow-Headers"] = ", ".join(names)
    age = cors.get("maxAge")
    answer["Access-Control-Max-Age"] = str(age if isinstance(age, int) and not isinstance(age, bool) else 5)
    return answer


def _list(value: Mapping[str, Any], name: str) -> list[str]:
    return [each for each in sequence(value.get(name)) if isinstance(each, str)]


def _headers(pairs: tuple[tuple[str, str], ...]) -> Headers:
    found: Headers = {}
    for name, value in pairs:
        before = found.get(name.lower())
        found[name.lower()] = (name, value) if before is None else (before[0], f"{before[1]},{value}")
    return found
