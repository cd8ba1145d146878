"""A request to trace: what a client sends, and where (docs/design/interfaces.md §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.errors import UsageError
from policylint.model import integer, mapping, text
from policylint.model.spelling import same_kind, spelling
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.spaces.addresses import number_of
from policylint.topology.workloads import WORKLOADS

SCHEMES = ("http", "https", "tls", "tcp", "udp", "sctp")
FIELDS = (
    "gateway",
    "client",
    "service",
    "pod",
    "scheme",
    "port",
    "method",
    "host",
    "path",
    "headers",
    "sni",
    "protocol",
    "clientCertificate",
    "backendSetsHeaders",
    "address",
    "claims",
    "expect",
)
PORTS = {"http": 80, "https": 443}
_CALLS = Pattern(r"application/grpc(\+[\w.-]+)?\s*(;.*)?")


class RequestError(UsageError):
    """A request that cannot be traced as it is; the message is for users."""


class Request(NamedTuple):
    """One request.

    Args:
        gateway, client, service, pod: identities as users write them, `Gateway infra/edge` or `Deployment/shop/web`.
        port: the port it is sent to; None where any port will do (mesh) or none is stated.
        host: of the Host header, "" where the client names none.
        path: with its query string.
        sni: of the TLS handshake; the host where none is given.
        grpc: whether it is a gRPC call; the path is then `/package.Service/Method`.
        backend_headers: headers that the backend sets in its response.
        given: the request as it was entered, for reports.
        address: of the client, as the Gateway sees it; "" where it is not stated.
        claims: of a valid token that it brings, () for none; None where nothing is stated.
        blank: whether policies are to ask all that they might, and get no answer.
    """

    scheme: str = "http"
    method: str = "GET"
    host: str = ""
    path: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    port: int | None = None
    gateway: str = ""
    client: str = ""
    service: str = ""
    pod: str = ""
    sni: str = ""
    grpc: bool = False
    client_certificate: str = ""
    backend_headers: tuple[tuple[str, str], ...] = ()
    given: Mapping[str, Any] = {}
    address: str = ""
    claims: tuple[tuple[str, str], ...] | None = None
    blank: bool = False

    @property
    def can_be_sent(self) -> bool:
        """Whether a client can send it: no path is without a slash, whatever a route says that no cluster takes."""
        return self.scheme not in PORTS or self.path.startswith("/")

    @property
    def upgrades(self) -> bool:
        """Whether it asks for another protocol on its connection, as WebSockets do."""
        return any(name.lower() == "upgrade" for name, _ in self.headers)

    @property
    def bare_path(self) -> str:
        """The path without its query string, which path matches ignore."""
        return self.path.partition("?")[0] or "/"

    @property
    def query(self) -> str:
        """The query string with its question mark, "" without one."""
        _, mark, rest = self.path.partition("?")
        return mark + rest.partition("#")[0]

    def value(self, name: str) -> str | None:
        """Return the value of a property, as dimensions are called: `path`, `header x-canary`, `query page`."""
        kind, _, key = name.partition(" ")
        match kind:
            case "header":
                return self.header(key)
            case "query":
                return self.parameter(key)
            case "service" | "call":
                service, _, called = self.bare_path.lstrip("/").rpartition("/")
                return service if kind == "service" else called
        return self.method if kind == "method" else self.bare_path

    def header(self, name: str) -> str | None:
        """Return the value of a header by its name in any case; several of one name are joined as HTTP joins them."""
        lowered = name.lower()
        values = [value for header_name, value in self.headers if header_name.lower() == lowered]
        return ",".join(values) if values else None

    def parameter(self, name: str) -> str | None:
        """Return the first value of a query parameter (docs/design/request-precedence.md §4)."""
        from urllib.parse import parse_qsl

        pairs = parse_qsl(self.query[1:], keep_blank_values=True)
        return next((value for key, value in pairs if key == name), None)

    def __str__(self) -> str:
        if self.scheme not in PORTS:
            place = self.service or self.pod or self.gateway
            target = self.sni or self.host or place
            return f"{self.scheme} {target}" + (f":{self.port}" if self.port is not None else "")
        default = self.port is None or self.port == PORTS[self.scheme] or ":" in self.host
        host = self.host or "*"
        verb = "GRPC" if self.grpc else self.method
        claims = ", ".join(f"{name}={value}" for name, value in self.claims or ())
        who = (f" from {self.address}" if self.address else "") + (f" with {claims}" if claims else "")
        return f"{verb} {self.scheme}://{host}{'' if default else f':{self.port}'}{self.path}{who}"


def request(value: object) -> Request:
    """Return the request of one entry of a list of requests.

    Raises:
        RequestError: the entry is not a mapping, or a field has an impossible value.
    """
    if not isinstance(value, dict):
        raise RequestError("a request is a mapping such as {method: GET, host: shop.example.com, path: /}")
    unknown = sorted(str(field) for field in value if field not in FIELDS)
    if unknown:
        from difflib import get_close_matches

        close = get_close_matches(unknown[0], FIELDS, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise RequestError(f"a request has no field {unknown[0]!r}{hint}")
    scheme = text(value.get("scheme"), "http").lower()
    if scheme not in SCHEMES:
        raise RequestError(f"scheme {scheme!r} is none of {', '.join(SCHEMES)}")
    host, path = text(value.get("host")), text(value.get("path"), "/") or "/"
    mesh = bool(value.get("service") or value.get("pod"))
    return Request(
        scheme=scheme,
        method=text(value.get("method"), "GET").upper() or "GET",
        host=host,
        path=path if path.startswith("/") else f"/{path}",
        headers=_headers(value.get("headers"), "headers"),
        port=_port(value.get("port"), host, None if mesh else PORTS.get(scheme)),
        gateway=text(value.get("gateway")),
        client=text(value.get("client")),
        service=text(value.get("service")),
        pod=text(value.get("pod")),
        sni=text(value.get("sni")),
        grpc=text(value.get("protocol")).lower() == "grpc" or _is_call(value),
        client_certificate=text(value.get("clientCertificate")),
        backend_headers=_headers(value.get("backendSetsHeaders"), "backendSetsHeaders"),
        given={name: entry for name, entry in value.items() if name != "expect"},
        address=_address(value.get("address")),
        claims=None if value.get("claims") is None else _headers(value["claims"], "claims"),
    )


def _is_call(value: Mapping[str, Any]) -> bool:
    """Return whether a request is a gRPC call by its media type, which that of gRPC-Web is not."""
    headers = {str(name).lower(): text(said).lower() for name, said in mapping(value.get("headers")).items()}
    return text(value.get("method")).upper() == "POST" and _CALLS.fullmatch(headers.get("content-type", "")) is not None


def from_url(
    method: str,
    url: str,
    headers: Iterable[str] = (),
    *,
    gateway: str = "",
    client: str = "",
    service: str = "",
    claims: Iterable[str] = (),
    certificate: str = "",
    address: str = "",
) -> Request:
    """Return a request from the command line; a scheme `grpc` or `grpcs` means gRPC over http or https.

    Args:
        headers: each as `name: value`.
        client: mesh traffic of this workload; without a `service` the host names it, as it does inside the cluster.
            An address is that of a client outside.
        claims: each as `name=value`, of a valid token; one "" for a request without any.
        certificate: what the client's certificate is called; "" where it shows none.
        address: of the client, beside who it is.

    Raises:
        RequestError: the URL has no scheme or host, or a header no colon.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError as error:
        raise RequestError(f"{url!r} is not a URL: {str(error).lower()}") from None
    host = parts.hostname or ""
    address, client = (client, "") if number_of(client) is not None else (address, client)
    if client and not service:
        service = _service_of(host, client)
    scheme = parts.scheme.lower()
    given: dict[str, Any] = {"scheme": {"grpc": "http", "grpcs": "https"}.get(scheme, scheme)}
    kind = spelling(service).kind
    role = "pod" if any(same_kind(kind, name) for _, name in WORKLOADS) else "service"
    given |= {name: value for name, value in (("gateway", gateway), ("client", client), (role, service)) if value}
    if port is not None:
        given["port"] = port
    elif given["scheme"] in PORTS and not service:
        given["port"] = PORTS[given["scheme"]]
    if given["scheme"] in SCHEMES and given["scheme"] not in PORTS:
        if host:
            given["sni"] = host
    else:
        query = f"?{parts.query}" if parts.query else ""
        given.update(method=method.upper(), host=host, path=(parts.path or "/") + query)
    if scheme in ("grpc", "grpcs") or method.upper() == "GRPC":
        given.update(protocol="grpc", method="POST")
    pairs: dict[str, str] = {}
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise RequestError(f"{header!r} is not a header such as 'x-canary: 1'")
        if name.strip().lower() == "host":
            given["host"] = value.strip()
            continue
        pairs[name.strip()] = f"{pairs[name.strip()]},{value.strip()}" if name.strip() in pairs else value.strip()
    if pairs:
        given["headers"] = pairs
    if address:
        given["address"] = address
    if certificate:
        given["clientCertificate"] = certificate
    listed = list(claims)
    if listed:
        token: dict[str, list[str]] = {}
        for claim in filter(None, listed):
            name, equals, value = claim.partition("=")
            if not equals or not name:
                raise RequestError(f"{claim!r} is not a claim such as 'groups=admin'")
            token.setdefault(name, []).append(value)
        given["claims"] = token
    return request(given)


def arguments(request: Request) -> tuple[str, ...]:
    """Return what `policylint trace` takes to trace a request at a Gateway, or, by any port but one stated, a mesh."""
    implied = not (request.service or request.pod) and request.port == PORTS.get(request.scheme)
    port = "" if implied or request.port is None else f":{request.port}"
    path = request.path if request.scheme in PORTS else ""
    headers = (word for name, value in request.headers for word in ("-H", f"{name}: {value}"))
    method = "grpc" if request.grpc else request.method
    who = ("--from", request.address) if request.address else ()
    claims = [f"{name}={value}" for name, value in request.claims or ()] or ([""] if request.claims == () else [])
    token = [word for claim in claims for word in ("--claim", claim)]
    certificate = ("--certificate", request.client_certificate) if request.client_certificate else ()
    url = f"{request.scheme}://{request.host}{port}{path}"
    if request.service or request.pod:
        who = (*(("--from", request.client) if request.client else ()), *who)
        return (method, url, *headers, *who, *token, "--to", request.service or request.pod)
    return (method, url, *headers, *who, *token, *certificate, "--gateway", request.gateway)


def claims_of(request: Request) -> dict[str, list[str]]:
    """Return the claims of a request, each with its values."""
    found: dict[str, list[str]] = {}
    for name, value in request.claims or ():
        found.setdefault(name, []).append(value)
    return found


def _service_of(host: str, client: str) -> str:
    """The Service that a host name inside the cluster means: `cart`, `cart.shop`, `cart.shop.svc.cluster.local`."""
    parts = host.split(".")
    if len(parts) > 1:
        return f"Service/{parts[1]}/{parts[0]}"
    namespace = client.replace(" ", "/", 1).split("/")[1:-1]
    return f"Service/{namespace[0]}/{host}" if namespace else f"Service/{host}"


def split_host(host: str) -> tuple[str, int | None]:
    """Return the name and port of a Host header."""
    name, colon, port = host.rpartition(":")
    number = whole_number(port) if colon and len(port) < 6 else None
    return (host, None) if number is None else (name, number)


def _headers(value: object, field: str) -> tuple[tuple[str, str], ...]:
    if value is not None and not isinstance(value, dict):
        raise RequestError(f"{field} is a mapping of names to values")
    return tuple(
        (str(name), "" if entry is None else str(entry))
        for name, values in mapping(value).items()
        for entry in (values if isinstance(values, list) else [values])
    )


def _address(value: object) -> str:
    if value is not None and number_of(str(value)) is None:
        raise RequestError(f"address {value!r} is no address such as 203.0.113.1")
    return text(value)


def _port(value: object, host: str, default: int | None) -> int | None:
    if value is None:
        return split_host(host)[1] or default
    number = whole_number(value) if isinstance(value, str) else integer(value)
    if number is None:
        raise RequestError(f"port {value!r} is not a number")
    return number
