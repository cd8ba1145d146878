"""Istio's routes as a witness: what requests get from the real Envoy with the routes that Istio makes of HTTPRoutes and
GRPCRoutes of one Gateway, and from `trace`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.trace import Tracer, request
from tests.witness.api_server import parted
from tests.witness.envoy import Asked, Proxy, Stubs, container
from tests.witness.envoy_gateway import simulated
from tests.witness.envoy_gateway_worlds import GATEWAY_API
from tests.witness.envoy_static import values_of
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.istio_requests import head as of_istio
from tests.witness.programs import Program, installed_envoy

ABOUT = (
    "The routes that Istio makes of HTTPRoutes and GRPCRoutes of one Gateway, in the proxy itself: which backend a"
    " request of HTTP or a call of gRPC gets, as `trace` has it."
)
REQUESTS = 40
"""Per world."""
_PORTS = {"web": 80, "alt": 8080}
_HOSTS = ("shop.example", "api.example", "a.api.example", "other.test")
_NAMES = ("shop.example", "api.example", "*.example", "*.api.example")
_SERVICES = ("shop.Cart", "shop.v1.Cart", "Pay")
_METHODS = ("Add", "Get", "Charge")
_BACKENDS = ("cart", "pay", "login", "rest")
_LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener"
_CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
_MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
_PROXY_PROTOCOL = "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"
_ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
_OUTBOUND = re.compile(r"outbound\|\d+\|\|([^.]+)\.")


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world: a Gateway with one or two ports, and routes of both kinds."""
    draw = Draw("istio-routes", seed, number)
    every = {"namespaces": {"from": "All"}}
    listeners = [
        {"name": name, "port": _PORTS[name], "protocol": "HTTP", "allowedRoutes": every}
        | draw.maybe(0.25, "hostname", draw.one("*.example", "api.example"))
        for name in ("web", "alt")[: draw.number(1, 2)]
    ]
    spec = {"gatewayClassName": "istio", "listeners": listeners}
    controller = {"controllerName": "istio.io/gateway-controller"}
    objects = [
        manifest(f"{GATEWAY_API}/v1", "GatewayClass", "istio", spec=controller),
        manifest("v1", "Namespace", "infra"),
        manifest("v1", "Namespace", "shop"),
        *(manifest("v1", "Service", name, "shop", spec={"ports": [{"port": 80}]}) for name in _BACKENDS),
        manifest(f"{GATEWAY_API}/v1", "Gateway", "edge", "infra", draw.age(), spec=spec),
    ]
    return objects + [_route(draw, f"r{each}") for each in range(draw.number(2, 5))]


def _route(draw: Draw, name: str) -> Manifest:
    calls = draw.often(0.55)
    parent = {"name": "edge", "namespace": "infra"} | draw.maybe(0.2, "sectionName", draw.one("web", "alt"))
    rules = []
    for _ in range(draw.one(1, 1, 2, 3)):
        rule: dict[str, Any] = {"backendRefs": [{"name": draw.of(_BACKENDS), "port": 80}]}
        matches = [(_call(draw) if calls else _request(draw)) for _ in range(draw.one(0, 1, 1, 1, 2))]
        rules.append(rule | ({"matches": matches} if matches else {}))
    spec: dict[str, Any] = {"parentRefs": [parent], "rules": rules}
    spec |= draw.maybe(0.6, "hostnames", draw.some(_NAMES, 2))
    kind = "GRPCRoute" if calls else "HTTPRoute"
    return manifest(f"{GATEWAY_API}/v1", kind, name, "shop", draw.age(), spec=spec)


def _call(draw: Draw) -> dict[str, Any]:
    match: dict[str, Any] = {}
    if draw.often(0.85):
        service, method = {"service": draw.of(_SERVICES)}, {"method": draw.of(_METHODS)}
        asked: dict[str, Any] = draw.one({**service, **method}, {**service, **method}, service, method)
        if draw.often(0.3):
            asked["type"] = "RegularExpression"
            asked |= {
                name: draw.one("shop.*", "[a-zA-Z.0-9]+", "Pay", "Add|Get", "(Ge|Pu)t")
                for name in asked
                if name != "type"
            }
        match["method"] = asked
    return match | _headers(draw, 0.35)


def _request(draw: Draw) -> dict[str, Any]:
    paths = ("/", "/shop.Cart", "/shop.Cart/", "/shop.Cart/Add", "/Pay/Charge", "/shop.v1.Cart", "/cart", "/Pay")
    match: dict[str, Any] = {}
    kind = draw.one("PathPrefix", "PathPrefix", "Exact", "RegularExpression")
    value = draw.one("/shop.*", "/[^/]+/Get", "/.+", "/Pay/Charge") if kind == "RegularExpression" else draw.of(paths)
    match |= draw.maybe(0.9, "path", {"type": kind, "value": value})
    match |= draw.maybe(0.2, "method", draw.one("GET", "POST"))
    match |= draw.maybe(0.15, "queryParams", [{"name": "v", "value": "1"}])
    return match | _headers(draw, 0.25)


def _headers(draw: Draw, chance: float) -> dict[str, Any]:
    own = {
        "name": "x-canary",
        **draw.one({"value": "yes"}, {"value": "yes"}, {"type": "RegularExpression", "value": "y.*"}),
    }
    other = {"name": "x-team", "value": "a"}
    return draw.maybe(chance, "headers", draw.one([own], [own], [other], [own, other]))


def requests(seed: object, number: int, objects: Sequence[Manifest]) -> list[Asked]:
    """Return requests to the Gateway of a world: calls, and what is no call at the same paths."""
    draw = Draw("istio-routes-asked", seed, number)
    listeners = [each for one in objects for each in one.get("spec", {}).get("listeners", ())]
    asked = []
    for _ in range(REQUESTS):
        called = f"/{draw.of(_SERVICES)}/{draw.of(_METHODS)}"
        path = draw.one(
            called, called, called, "/", "/cart", "/shop.Cart", "/shop.Cart/", "/Pay", f"{called}/x", "/a/Get"
        )
        headers = draw.one({}, {}, {"x-canary": "yes"}, {"x-team": "a"}, {"x-canary": "yes", "x-team": "a"})
        is_call = path == called and draw.often(0.6)
        if is_call:
            headers = {**headers, "content-type": "application/grpc"}
        asked.append(
            {
                "gateway": "infra/edge",
                "scheme": "http",
                "port": draw.of(listeners)["port"],
                "address": "127.0.0.2",
                "host": draw.of(_HOSTS),
                "method": "POST" if is_call else draw.one("GET", "POST"),
                "path": path + ("" if is_call else draw.one("", "", "?v=1")),
                "headers": headers,
            }
        )
    return asked


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    headers = "".join(f" {name}={value}" for name, value in asked["headers"].items())
    return f"{asked['method']} {asked['host']}:{asked['port']}{asked['path']}{headers} | answer"


class Asking(Program):
    """The running program, and the proxy that its routes are for."""

    def __init__(self, program: Path, certificate: str, key: str, directory: Path) -> None:
        del certificate, key
        super().__init__(program)
        self._directory = directory
        self._envoy = installed_envoy()

    def told(
        self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]], asked: Sequence[Asked], stubs: Stubs
    ) -> tuple[Facts, tuple[str, ...]]:
        """Return what requests get, and the objects that the API server refuses."""
        stored, refused = parted(objects, fates)
        answer = self.answer(stored)
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        (routes,) = (each["status"] for each in answer["statuses"] if each["kind"] == "Routes")
        resources = {
            _LISTENER: [
                _listener(port, routes[f"http.{port}"]) for port in _PORTS.values() if f"http.{port}" in routes
            ],
            _CLUSTER: [
                _cluster(name)
                for name in sorted({name for name in values_of(routes, "cluster") if isinstance(name, str)})
            ],
        }
        facts: Facts = {}
        with Proxy(self._envoy, resources, stubs, self._directory) as proxy:
            if proxy.refused:
                return {"| Envoy": proxy.refused.strip().splitlines()[-1]}, refused
            for number, one in enumerate(asked):
                facts[named(one)] = _plain(proxy.ask(one, str(number)))
        return facts, refused


def _plain(answer: str) -> str:
    found = _OUTBOUND.search(answer)
    return f"200 {found[1]}" if found else answer


def _listener(port: int, routes: Mapping[str, Any]) -> dict[str, Any]:
    manager = {
        "@type": _MANAGER,
        "statPrefix": "edge",
        "useRemoteAddress": True,
        "normalizePath": True,
        "routeConfig": {**_without_filters(routes), "validateClusters": False},
        "httpFilters": [{"name": "router", "typedConfig": {"@type": _ROUTER}}],
    }
    network = {"name": "envoy.filters.network.http_connection_manager", "typedConfig": manager}
    address = {"socketAddress": {"address": "0.0.0.0", "portValue": container(port)}}
    clients = {"name": "envoy.filters.listener.proxy_protocol", "typedConfig": {"@type": _PROXY_PROTOCOL}}
    return {
        "name": str(port),
        "address": address,
        "listenerFilters": [clients],
        "filterChains": [{"filters": [network]}],
    }


def _without_filters(value: Any) -> Any:
    """Return routes without what is for filters, and for metrics."""
    if isinstance(value, dict):
        left_out = ("typedPerFilterConfig", "metadata", "decorator", "requestMirrorPolicies")
        return {name: _without_filters(inner) for name, inner in value.items() if name not in left_out}
    return [_without_filters(inner) for inner in value] if isinstance(value, list) else value


def _cluster(name: str) -> dict[str, Any]:
    endpoint = {"endpoint": {"address": {"socketAddress": {"address": name, "portValue": 80}}}}
    assignment = {"clusterName": name, "endpoints": [{"lbEndpoints": [endpoint]}]}
    return {"name": name, "loadAssignment": assignment, "connectTimeout": "5s"}


def our_answers(objects: Sequence[Manifest], refused: Sequence[str], asked: Sequence[Asked], real: Facts) -> Facts:
    """Return what policylint says of the requests."""
    tracer = Tracer(simulated([each for each in objects if name_of(each) not in refused]))
    return {named(one): _answer(tracer, one) for one in asked if named(one) in real}


def _answer(tracer: Tracer, asked: Asked) -> str:
    is_call = asked["headers"].get("content-type") == "application/grpc"
    trace = tracer.trace(request({**asked, **({"protocol": "grpc"} if is_call else {})}))
    outcome = trace.outcome
    if trace.depends or outcome.unknown:
        return "depends"
    if outcome.status is not None or outcome.refused:
        return "reset" if outcome.refused else str(outcome.status)
    return " or ".join(f"200 {each.name}" for each in outcome.backends)


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    return {"title": "Istio's routes", "about": ABOUT, "versions": of_istio()["versions"]}
