"""Apply a rule's filters to a request and its response (docs/design/request-precedence.md §6; HTTPRouteFilter)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.preflights import allowed_origin, in_full
from policylint.model import Resource, ResourceKey, integer, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.policy.handling import Handling, Redirect
from policylint.regex import expanded
from policylint.trace.request import Request, split_host

WELL_KNOWN = {"http": 80, "https": 443}
Headers = dict[str, tuple[str, str]]
"""Lower-case name → name as written, and value."""


class Step(NamedTuple):
    """One action of a filter, in words, and its pointer below the route."""

    what: str
    pointer: Pointer


class Message:
    """A request on its way through filters, and what they will do to the response.

    Attributes:
        request_headers, response_headers: as the filters so far leave them.
        mirrors: pointers of the mirrors' backendRefs, in order.
        authorisers: pointers of the filters that ask an external authoriser.
        redirect, error: the response of a filter itself; `error` of a filter that cannot be processed.
        handled: what objects that filters name do with it, each with the object.
        settled: the objects of which nothing is left to say, as what they do is here, or their turn never comes.
        steps: the actions so far.
    """

    def __init__(self, request: Request, prefix: str) -> None:
        """`prefix` is the path prefix that the match took, which ReplacePrefixMatch replaces."""
        self._request = request
        self._prefix = prefix
        self.host = request.host
        self.path = request.path
        self.request_headers = _headers(request.headers)
        self.response_headers = _headers(request.backend_headers)
        self.mirrors: list[Pointer] = []
        self.authorisers: list[Pointer] = []
        self.redirect: Redirect | None = None
        self.cors: dict[str, str] | None = None
        self.error = ""
        self.steps: list[Step] = []
        self.handled: list[tuple[Resource, Handling]] = []
        self.settled: set[ResourceKey] = set()

    def copy(self) -> Message:
        """Return the same message, to send on to another backend."""
        copied = Message(self._request, self._prefix)
        copied.host, copied.path = self.host, self.sent_path
        copied.request_headers, copied.response_headers = dict(self.request_headers), dict(self.response_headers)
        return copied

    @property
    def sent_path(self) -> str:
        """The path as it is sent on: with a slash at least."""
        return self.path if self.path.startswith("/") else f"/{self.path}"

    @property
    def is_answered(self) -> bool:
        """Whether a filter has answered it, or one that a filter names."""
        return self.redirect is not None or bool(self.cors) or any(handling.ends for _, handling in self.handled)

    def handle(self, by: Resource, handling: Handling, place: Pointer, port: int | None) -> None:
        """Let an object that the filter at a place names do what it does."""
        self.handled.append((by, handling))
        if handling.decision is None:
            self.settled.add(by.key)
        for http_filter in handling.filters:
            self._filter(mapping(http_filter), place, port)
        if handling.path is not None:
            self.path = handling.path + self._request.query
            self.steps.append(Step(f"rewrite path to {self.path or '/'}", place))
        self.redirect = self.redirect or handling.redirect

    def apply(
        self,
        filters: object,
        pointer: Pointer,
        port: int | None,
        extend: Callable[[Mapping[str, Any], Pointer], None] | None = None,
    ) -> None:
        """Apply the filters at a pointer in written order; `port` is the listener's, for redirects that name none.

        Args:
            extend: lets what a filter names do what it does.
        """
        for number, value in enumerate(sequence(filters)):
            http_filter = mapping(value)
            place = (*pointer, number)
            self._filter(http_filter, place, port)
            if extend is not None and http_filter.get("type") == "ExtensionRef":
                extend(http_filter, place)

    def _filter(self, http_filter: Mapping[str, Any], place: Pointer, port: int | None) -> None:
        match text(http_filter.get("type")):
            case "RequestHeaderModifier":
                self._modify(self.request_headers, mapping(http_filter.get("requestHeaderModifier")), "", place)
                if host := self.request_headers.pop("host", None):
                    self.host = host[1]
            case "ResponseHeaderModifier":
                modifier = mapping(http_filter.get("responseHeaderModifier"))
                self._modify(self.response_headers, modifier, " of the response", place)
            case "RequestMirror":
                self._mirror(mapping(http_filter.get("requestMirror")), (*place, "requestMirror"))
            case "RequestRedirect":
                self.redirect = self._redirect(mapping(http_filter.get("requestRedirect")), port)
                self.steps.append(Step("redirect", place))
            case "URLRewrite":
                self._rewrite(mapping(http_filter.get("urlRewrite")), place)
            case "CORS":
                self._cors(mapping(http_filter.get("cors")), place)
            case "ExternalAuth":
                self.authorisers.append((*place, "externalAuth"))
                self.steps.append(Step("ask an external authoriser", (*place, "externalAuth")))
            case "ExtensionRef":
                reference = mapping(http_filter.get("extensionRef"))
                extension = f"extension {text(reference.get('kind'))} {text(reference.get('name'))}"
                self.steps.append(Step(extension, (*place, "extensionRef")))
            case unknown:
                # A filter that cannot be processed must not be skipped (HTTPRouteFilter.Type).
                self.error = f"filter type {unknown or '(none)'} is not known"

    def _mirror(self, mirror: Mapping[str, Any], place: Pointer) -> None:
        """Mirror all requests or a part of them (HTTPRequestMirrorFilter.Percent, Fraction); 0 % mirrors none."""
        part = _part(mirror)
        if part != 0:
            self.mirrors.append((*place, "backendRef"))
        if part not in (None, 100):  # all of them where nothing is stated
            self.steps.append(Step(f"mirror {part:.6g} % of the requests", place))

    def _modify(self, headers: Headers, modifier: Mapping[str, Any], words: str, place: Pointer) -> None:
        """Change headers: set overwrites, add appends with a comma, remove (HTTPHeaderFilter).

        Names are case-insensitive.
        """
        for header in map(mapping, sequence(modifier.get("set"))):
            name, value = text(header.get("name")), str(header.get("value", ""))
            headers[name.lower()] = (name, value)
            self.steps.append(Step(f"set header {name}={value}{words}", place))
        for header in map(mapping, sequence(modifier.get("add"))):
            name, value = text(header.get("name")), str(header.get("value", ""))
            _append(headers, name, value)
            self.steps.append(Step(f"add header {name}={value}{words}", place))
        for entry in sequence(modifier.get("remove")):
            headers.pop(str(entry).lower(), None)
            self.steps.append(Step(f"remove header {entry}{words}", place))

    def _rewrite(self, rewrite: Mapping[str, Any], place: Pointer) -> None:
        host = text(rewrite.get("hostname"))
        if host:
            self.host = host
            self.steps.append(Step(f"rewrite host to {host}", place))
        if rewrite.get("path"):
            self.path = self._new_path(mapping(rewrite["path"])) + self._request.query
            self.steps.append(Step(f"rewrite path to {self.path}", place))

    def _new_path(self, modifier: Mapping[str, Any]) -> str:
        """Return the path after a modifier (HTTPPathModifier).

        ReplacePrefixMatch keeps exactly one `/` between the parts.
        """
        if text(modifier.get("type")) == "ReplaceFullPath":
            return text(modifier.get("replaceFullPath")) or "/"
        path = self._request.bare_path
        if found := mapping(modifier.get("replaceCaptured")):
            return expanded(f"^(?:{text(found.get('pattern'))}).*", path, text(found.get("by")), most=1) or "/"
        if found := mapping(modifier.get("replaceMatched")):
            return expanded(text(found.get("pattern")), path, text(found.get("by"))) or "/"
        prefix = self._prefix.rstrip("/")
        rest = path[len(prefix) :]
        new = text(modifier.get("replacePrefixMatch"))
        return (new.rstrip("/") + rest if rest else new) or "/"

    def _redirect(self, redirect: Mapping[str, Any], port: int | None) -> Redirect:
        """Return the redirect with its Location (HTTPRequestRedirectFilter)."""
        redirect_scheme = text(redirect.get("scheme"))
        scheme = redirect_scheme or self._request.scheme
        redirect_port = integer(redirect.get("port"))
        if redirect_port is None:
            redirect_port = WELL_KNOWN.get(redirect_scheme.lower()) if redirect_scheme else port
        path = self._new_path(mapping(redirect["path"])) if redirect.get("path") else self._request.bare_path
        return Redirect(
            status=integer(redirect.get("statusCode")) or 302,
            scheme=scheme,
            host=text(redirect.get("hostname")) or split_host(self.host)[0],
            port=None if redirect_port == WELL_KNOWN.get(scheme.lower()) else redirect_port,
            path=path if redirect.get("dropsQuery") is True else path + self._request.query,
        )

    def _cors(self, cors: Mapping[str, Any], place: Pointer) -> None:
        """Answer a preflight, or add the CORS headers to the response (HTTPCORSFilter)."""
        requested_method = self._request.header("Access-Control-Request-Method")
        origin = self._request.header("Origin")
        if origin is None:
            return
        preflight = self._request.method == "OPTIONS" and requested_method is not None
        allowed = allowed_origin(cors, origin)
        cors_headers: dict[str, str] = {}
        if allowed:
            cors_headers["Access-Control-Allow-Origin"] = allowed
            if cors.get("allowCredentials") is True:
                cors_headers["Access-Control-Allow-Credentials"] = "true"
            exposed = texts(cors.get("exposeHeaders"))
            if exposed:
                cors_headers["Access-Control-Expose-Headers"] = ", ".join(exposed)
            if preflight:
                cors_headers.update(_preflight(cors, requested_method or "", self._request))
        self.steps.append(Step(f"CORS: origin {origin} is {'' if allowed else 'not '}allowed", place))
        if preflight:
            self.cors = cors_headers
        else:
            self.response_headers.update(_headers(tuple(cors_headers.items())))


def _part(mirror: Mapping[str, Any]) -> float | None:
    """Return the percentage of requests that are mirrored; None where none is stated, which means all."""
    percent, fraction = integer(mirror.get("percent")), mapping(mirror.get("fraction"))
    if percent is not None:
        return float(percent)
    numerator, denominator = integer(fraction.get("numerator")), integer(fraction.get("denominator", 100))
    return None if numerator is None or denominator is None or denominator <= 0 else 100 * numerator / denominator


def shown(headers: Headers) -> dict[str, str]:
    """Return the names as written with their values, sorted."""
    return dict(sorted(headers.values(), key=lambda header: header[0].lower()))


def _preflight(cors: Mapping[str, Any], requested_method: str, request: Request) -> dict[str, str]:
    whole = in_full(cors)
    methods = texts(cors.get("allowMethods")) or whole["allowMethods"]
    names = texts(cors.get("allowHeaders"))
    requested_headers = request.header("Access-Control-Request-Headers")
    credentials = cors.get("allowCredentials") is True
    cors_headers = {
        "Access-Control-Allow-Methods": requested_method if "*" in methods and credentials else ", ".join(methods)
    }
    if "*" in names and requested_headers and credentials:
        cors_headers["Access-Control-Allow-Headers"] = requested_headers
    elif names:
        cors_headers["Access-Control-Allow-Headers"] = ", ".join(names)
    cors_headers["Access-Control-Max-Age"] = str(whole["maxAge"])
    return cors_headers


def _headers(pairs: tuple[tuple[str, str], ...]) -> Headers:
    headers: Headers = {}
    for name, value in pairs:
        _append(headers, name, value)
    return headers


def _append(headers: Headers, name: str, value: str) -> None:
    """Add a header; values of one name are joined with a comma."""
    before = headers.get(name.lower())
    headers[name.lower()] = (name, value) if before is None else (before[0], f"{before[1]},{value}")
