"""Istio's sidecars as a witness: what requests for Services get from the real Envoy with the routes of clients'
proxies, made of VirtualServices, of HTTPRoutes for Services and of Sidecars, and from `trace`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from policylint.topology.hostnames import covers
from policylint.trace import Request, Tracer, request
from tests.witness.api_server import parted
from tests.witness.envoy import Asked, Proxy, Stubs, container
from tests.witness.envoy_gateway import simulated
from tests.witness.envoy_gateway_worlds import GATEWAY_API
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.istio_requests import head as of_istio
from tests.witness.programs import Program, installed_envoy

ABOUT = (
    "The routes that Istio makes of VirtualServices of the mesh, of HTTPRoutes for Services and of Sidecars for the"
    " sidecars of four clients, in the proxy itself: where a request for a Service ends, as which path it gets there,"
    " as `trace` has it; and the filter chains that it makes of `tcp` and `tls`: where connections end."
)
REQUESTS = 40
"""Per world."""
_API = "networking.istio.io/v1"
_CLIENTS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("shop", "web"): {"app": "web", "tier": "front"},
    ("shop", "job"): {"app": "job", "tier": "back"},
    ("away", "web"): {"app": "web", "tier": "front"},
    ("pay", "job"): {"app": "job", "tier": "back"},
}
_SERVICES: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("shop", "cart"): (80,),
    ("shop", "rest"): (80, 8080),
    ("pay", "cart"): (80,),
    ("pay", "till"): (8080,),
}
_STREAMS: Mapping[tuple[str, str], str] = {("shop", "db"): "10.1.0.1", ("pay", "db"): "10.2.0.1"}
"""The Services with ports of connections, and their addresses."""
_PORTS = {"tcp": 9000, "tls": 9443}
_ALL = {**_SERVICES, **dict.fromkeys(_STREAMS, tuple(_PORTS.values()))}
_NAMES = ("db.example", "a.api.example", "b.example")
"""The servers that connections ask for."""
_SUBSETS: Mapping[str, Mapping[str, str]] = {"old": {"version": "v1"}, "new": {"version": "v2"}}
_DIVIDED = (("shop", "cart"), ("pay", "till"))
"""The Services with subsets."""
_PATHS = ("/", "/a", "/a/b", "/ab", "/b/c", "/A")
_FIRST = 20_000
"""The port of the first listener: each client's port has one of its own."""
_LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener"
_CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
_MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
_ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
_FAULT = "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"
_FAULTS = "envoy.filters.http.fault"
_OUTBOUND = re.compile(r"outbound\|(\d+)\|([^|]*)\|([^.]+)\.([^.]+)\.svc")


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world: clients and Services in three namespaces, and what routes between them."""
    draw = Draw("istio-sidecars", seed, number)
    objects = [
        *(manifest("v1", "Namespace", name, labels={"istio-injection": "enabled"}) for name in ("shop", "away", "pay")),
        *(_client(*each, labels) for each, labels in _CLIENTS.items()),
        *(
            manifest(
                "v1", "Service", name, home, spec={"ports": [{"name": f"http-{port}", "port": port} for port in ports]}
            )
            for (home, name), ports in _SERVICES.items()
        ),
    ]
    objects += [_virtual_service(draw, f"v{each}") for each in range(draw.one(1, 1, 2, 2, 3, 4))]
    for (home, name), address in _STREAMS.items():
        ports = [{"name": f"{scheme}-{port}", "port": port} for scheme, port in _PORTS.items()]
        objects.append(manifest("v1", "Service", name, home, spec={"clusterIP": address, "ports": ports}))
    objects += [_for_connections(draw, f"c{each}") for each in range(draw.one(0, 1, 1, 2, 3))]
    objects += [_divided(*each) for each in _DIVIDED]
    objects += [_delegate(draw, f"d{each}") for each in range(draw.one(0, 1, 2))]
    objects += [_route(draw, f"r{each}") for each in range(draw.one(0, 0, 0, 1, 2))]
    return objects + [_sidecar(draw, home) for home in ("shop", "away") if draw.often(0.2)]


def _client(home: str, name: str, labels: Mapping[str, str]) -> Manifest:
    pods = {"serviceAccountName": name, "containers": [{"name": "main", "image": "main"}]}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": labels}, "spec": pods}}
    return manifest("apps/v1", "Deployment", name, home, spec=spec)


def _for_connections(draw: Draw, name: str) -> Manifest:
    home = draw.one("shop", "shop", "pay", "away")
    spec: dict[str, Any] = {"hosts": draw.some(("db", "db.shop.svc.cluster.local", "*.shop.svc.cluster.local"), 2)}
    spec |= draw.maybe(0.2, "gateways", draw.one(["mesh"], ["mesh", "edge"], ["edge"]))
    spec |= draw.maybe(0.3, "exportTo", draw.one(["."], ["*"], ["away"], ["shop", "pay"]))
    for field in draw.some(("tcp", "tls"), 2):
        spec[field] = [_stream(draw, field) for _ in range(draw.one(1, 1, 2))]
    return manifest(_API, "VirtualService", name, home, draw.age(), spec=spec)


def _stream(draw: Draw, field: str) -> dict[str, Any]:
    matches = []
    for _ in range(draw.one(1, 1, 2)):
        match = draw.maybe(0.25, "port", draw.one(9000, 9443)) | draw.maybe(0.1, "gateways", [draw.one("mesh", "edge")])
        match |= draw.maybe(0.25, "sourceLabels", draw.one({"tier": "front"}, {"app": "job"}))
        match |= draw.maybe(0.2, "sourceNamespace", draw.one("shop", "away"))
        blocks = draw.some(("10.0.0.0/8", "10.1.0.0/16", "10.2.0.1", "192.168.0.0/16"), 2)
        match |= draw.maybe(0.3 if field == "tcp" else 0.1, "destinationSubnets", blocks)
        if field == "tls":
            match["sniHosts"] = draw.some(("db.example", "*.api.example", "*.example", "b.example"), 2)
        matches += [match] if match else []
    to = [_destination(draw) for _ in range(draw.one(1, 1, 2))]
    for each, weight in zip(to, (70, 30) if len(to) > 1 else (), strict=False):
        each["weight"] = weight
    return {"route": to} | ({"match": matches} if matches else {})


def _divided(home: str, name: str) -> Manifest:
    subsets = [{"name": each, "labels": labels} for each, labels in _SUBSETS.items()]
    return manifest(_API, "DestinationRule", name, home, spec={"host": name, "subsets": subsets})


def _virtual_service(draw: Draw, name: str) -> Manifest:
    home = draw.one("shop", "shop", "pay", "away")
    spec: dict[str, Any] = {"hosts": draw.some(("cart", "rest", *_FULL, *_WILD), 2)}
    spec |= draw.maybe(0.35, "gateways", draw.one(["mesh"], ["mesh", "edge"], ["edge"]))
    spec |= draw.maybe(0.35, "exportTo", draw.one(["."], ["*"], ["away"], ["shop", "pay"], [".", "away"]))
    spec["http"] = [_rule(draw) for _ in range(draw.one(1, 1, 2, 3))]
    return manifest(_API, "VirtualService", name, home, draw.age(), spec=spec)


_FULL = ("cart.shop.svc.cluster.local", "cart.shop.svc.cluster.local", "rest.shop.svc.cluster.local")
_WILD = ("*.shop.svc.cluster.local", "*.svc.cluster.local", "till.pay.svc.cluster.local")


def _delegate(draw: Draw, name: str) -> Manifest:
    spec = draw.maybe(0.2, "exportTo", [draw.one(".", "shop", "*")])
    spec["http"] = [_rule(draw, is_delegate=True) for _ in range(draw.one(1, 2))]
    return manifest(_API, "VirtualService", name, draw.one("shop", "pay"), draw.age(), spec=spec)


def _rule(draw: Draw, *, is_delegate: bool = False) -> dict[str, Any]:
    if not is_delegate and draw.often(0.15):
        named = {"name": draw.one("d0", "d0", "d1")} | draw.maybe(0.6, "namespace", draw.one("shop", "pay"))
        return draw.maybe(0.7, "match", [_match(draw)]) | {"delegate": named}
    rule: dict[str, Any] = draw.maybe(0.7, "match", [_match(draw) for _ in range(draw.one(1, 1, 2))])
    rule |= draw.maybe(
        0.12, "fault", {"abort": {"httpStatus": 418} | draw.maybe(0.8, "percentage", {"value": draw.one(100, 100, 0)})}
    )
    kind = draw.one("route", "route", "route", "route", "direct", "redirect")
    if kind == "direct":
        return rule | {"directResponse": {"status": draw.one(200, 403, 503)}}
    if kind == "redirect":
        told = {"authority": "other.test"} | draw.maybe(0.5, "uri", "/new") | draw.maybe(0.4, "redirectCode", 302)
        return rule | {"redirect": told}
    rule |= draw.maybe(
        0.25, "rewrite", draw.one({"uri": "/"}, {"uri": "/new"}, {"authority": "other.test"}, {"uri": "/n/"})
    )
    to = [_destination(draw) for _ in range(draw.one(1, 1, 1, 2))]
    for each, weight in zip(to, (100, 0) if len(to) > 1 else (), strict=False):
        each["weight"] = weight
    return rule | {"route": to}


def _destination(draw: Draw) -> dict[str, Any]:
    host = draw.one("rest", *_FULL, "till.pay.svc.cluster.local", "cart.pay.svc.cluster.local")
    destination = {"host": host} | draw.maybe(0.35, "port", {"number": draw.one(80, 8080)})
    is_divided = any(host == f"{name}.{home}.svc.cluster.local" for home, name in _DIVIDED)
    return {"destination": destination | draw.maybe(0.4 if is_divided else 0, "subset", draw.of(list(_SUBSETS)))}


def _match(draw: Draw) -> dict[str, Any]:
    match: dict[str, Any] = {}
    kind = draw.one("prefix", "prefix", "exact", "regex")
    value = draw.one("/a.*", "/[ab]", "/.+") if kind == "regex" else draw.of(_PATHS)
    match |= draw.maybe(0.65, "uri", {kind: value})
    match |= draw.maybe(0.15, "ignoreUriCase", True)
    match |= draw.maybe(0.15, "headers", {"x-canary": draw.one({"exact": "yes"}, {"prefix": "y"}, {})})
    match |= draw.maybe(0.1, "method", {"exact": draw.one("GET", "POST")})
    match |= draw.maybe(0.1, "withoutHeaders", {"x-canary": draw.one({"exact": "yes"}, {})})
    match |= draw.maybe(0.1, "queryParams", {"v": {"exact": "1"}})
    match |= draw.maybe(
        0.2, "sourceLabels", draw.one({"tier": "front"}, {"app": "job"}, {"tier": "back", "app": "web"})
    )
    match |= draw.maybe(0.15, "sourceNamespace", draw.one("shop", "away", "pay"))
    match |= draw.maybe(0.15, "gateways", draw.one(["mesh"], ["edge"], ["mesh", "edge"]))
    return match | draw.maybe(0.15, "port", draw.one(80, 8080))


def _route(draw: Draw, name: str) -> Manifest:
    home, service = draw.one(("shop", "cart"), ("shop", "rest"), ("away", "cart"), ("pay", "till"))
    parent = {"group": "", "kind": "Service", "name": service} | ({"namespace": "shop"} if home == "away" else {})
    rules = []
    for _ in range(draw.one(1, 1, 2)):
        ending = {"filters": [{"type": "RequestRedirect", "requestRedirect": {"hostname": f"{name}.test"}}]}
        path = {"type": draw.one("PathPrefix", "Exact"), "value": draw.one("/a", "/b", "/")}
        rules.append(ending | draw.maybe(0.6, "matches", [{"path": path}]))
    return manifest(
        f"{GATEWAY_API}/v1", "HTTPRoute", name, home, draw.age(), spec={"parentRefs": [parent], "rules": rules}
    )


def _sidecar(draw: Draw, home: str) -> Manifest:
    hosts = draw.some(
        (
            "./*",
            "*/*",
            "shop/*",
            "pay/*",
            "shop/cart.shop.svc.cluster.local",
            "away/*",
            "*/rest.shop.svc.cluster.local",
        ),
        3,
    )
    spec: dict[str, Any] = {"egress": [{"hosts": hosts}]}
    spec |= draw.maybe(0.4, "workloadSelector", {"labels": {"app": draw.one("web", "job")}})
    return manifest(_API, "Sidecar", "own", home, draw.age(), spec=spec)


def requests(seed: object, number: int, objects: Sequence[Manifest]) -> list[Asked]:
    """Return requests of the clients of a world for its Services."""
    del objects
    draw = Draw("istio-sidecars-asked", seed, number)
    asked = []
    for _ in range(REQUESTS):
        home, service = draw.of((("shop", "cart"), ("shop", "cart"), *_SERVICES))
        client = draw.of(list(_CLIENTS))
        asked.append(
            {
                "client": f"Deployment/{client[0]}/{client[1]}",
                "service": f"Service/{home}/{service}",
                "scheme": "http",
                "port": draw.of(_SERVICES[home, service]),
                "address": "127.0.0.2",
                "host": draw.one(f"{service}.{home}", f"{service}.{home}.svc.cluster.local"),
                "method": draw.one("GET", "GET", "POST"),
                "path": draw.of(_PATHS) + draw.one("", "", "", "?v=1"),
                "headers": draw.one({}, {}, {"x-canary": "yes"}, {"x-canary": "no"}),
            }
        )
    return asked


def named(asked: Asked) -> str:
    """Return a request as a fact is named."""
    headers = "".join(f" {name}={value}" for name, value in asked["headers"].items())
    return f"{asked['client']}: {asked['method']} {asked['host']}:{asked['port']}{asked['path']}{headers} | answer"


class Asking(Program):
    """The running program, and the proxy that has the routes of all clients."""

    def __init__(self, program: Path, certificate: str, key: str, directory: Path) -> None:
        del certificate, key
        super().__init__(program)
        self._directory = directory
        self._envoy = installed_envoy()

    def told(
        self, objects: Sequence[Manifest], fates: Sequence[Mapping[str, Any]], asked: Sequence[Asked], stubs: Stubs
    ) -> tuple[Facts, tuple[str, ...]]:
        """Return what requests get, and the objects that the API server refuses."""
        known = [(one, fate) for one, fate in zip(objects, fates, strict=True) if one["kind"] != "Deployment"]
        stored, refused = parted([one for one, _ in known], [fate for _, fate in known])
        answer = self.answer([*stored, *(one for one in objects if one["kind"] == "Deployment")])
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, refused
        facts: Facts = {
            f"{each['kind'].removeprefix('Refused')} {each['namespace']}/{each['name']} | webhook": "refused"
            for each in answer["statuses"]
            if each["kind"].startswith("Refused")
        }
        places: dict[tuple[str, int], int] = {}
        listeners, clusters = [], set[str]()
        for each in answer["statuses"]:
            for name, routes in each["status"].items() if each["kind"] == "Routes" else ():
                if name.isdigit():
                    place = places[f"Deployment/{each['namespace']}/{each['name']}", int(name)] = _FIRST + len(places)
                    listeners.append(_listener(place, routes))
                    clusters.update(_clusters(routes))
        for each in answer["statuses"]:
            if each["kind"] == "Chains":
                facts |= _connected(f"Deployment/{each['namespace']}/{each['name']}", each["status"])
        resources = {_LISTENER: listeners, _CLUSTER: [_cluster(name) for name in sorted(clusters)]}
        with Proxy(self._envoy, resources, stubs, self._directory) as proxy:
            if proxy.refused:
                return {"| Envoy": proxy.refused.strip().splitlines()[-1]}, refused
            for number, one in enumerate(asked):
                place = places.get((one["client"], one["port"]))
                if place is not None:
                    got, headers = proxy.exchange({**one, "port": place}, str(number))
                    facts[named(one)] = _plain(one, got, headers)
        return facts, refused


def _streams() -> Iterator[tuple[str, int, str, str]]:
    """Yield the Services that are connected to, with the port, the server that is asked for, and the address."""
    for (home, name), address in _STREAMS.items():
        for server in ("", *_NAMES):
            yield f"{home}/{name}", _PORTS["tls" if server else "tcp"], server, address


def _connected(client: str, chains: Sequence[Mapping[str, Any]]) -> Facts:
    """Return where the connections of a client are led: by the narrowest block, then the closest name, as Envoy takes
    one of several filter chains; what its proxy passes on by none of them is not asked about."""
    facts: Facts = {}
    for service, port, server, address in _streams():
        here = [each for each in chains if (each["address"], each["port"]) == (address, port)]
        found: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
        for each in here:
            widths = [_width(block, address) for block in each["blocks"]] or [0]
            names = [len(name) + 99 * (name[0] != "*") for name in each["names"] or () if covers(name, server)]
            if max(widths) >= 0 and (names or not each["names"]):
                place = (-1, 0) if each["last"] else (max(widths), max(names, default=0))
                found.setdefault(place, []).append(each)
        taking = found[max(found)] if found else []
        shares = {f"{home}/{name}:{at}": 0.0 for _, at, name, home in _led(taking)}
        for weight, at, name, home in _led(taking):
            shares[f"{home}/{name}:{at}"] += weight
        known = {f"{home}/{name}:{at}" for (home, name), ports in _ALL.items() for at in ports}
        if len(taking) == 1 and shares and all(each.partition(" ")[0] in known for each in shares):
            facts[_to(client, service, port, server)] = _shared(shares)
    return facts


def _led(chains: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, str, str, str]]:
    for cluster, weight in (each for chain in chains for each in (chain["to"] or {}).items()):
        if (led := _OUTBOUND.match(cluster)) is not None:
            which = "".join(f" {name}={value}" for name, value in _SUBSETS.get(led[2], {}).items())
            yield weight, f"{led[1]}{which}", led[3], led[4]


def _width(block: str, address: str) -> int:
    """Return how narrow a block is that an address is in, -1 where it is in none."""
    network = ip_network(block)
    return network.prefixlen if ip_address(address) in network else -1


def _shared(shares: Mapping[str, float]) -> str:
    whole = sum(shares.values())
    return ", ".join(f"{name} {share / whole:.2f}" for name, share in sorted(shares.items()))


def _to(client: str, service: str, port: int, server: str) -> str:
    return f"{client}: connects to {service}:{port} {server or 'without TLS'} | connection"


def _our_connection(tracer: Tracer, client: str, service: str, port: int, server: str) -> str:
    """Return where a connection ends, as `trace` has it."""
    host = server or service.partition("/")[2]
    scheme = "tls" if server else "tcp"
    asked = Request(service=f"Service/{service}", client=client, scheme=scheme, port=port, host=host)
    outcome = tracer.trace(asked).outcome
    if outcome.unknown:
        return "depends"
    shares = Counter[str]()
    for share in outcome.shares:
        which = "".join(f" {name}={value}" for name, value in share.labels)
        shares[f"{share.key.path}:{share.port}{which}"] += share.share
    return _shared(shares)


def _plain(asked: Asked, answer: str, headers: Mapping[str, str]) -> str:
    """Return an answer; what a sidecar passes on as it is goes to the Service that was asked for."""
    if answer[:2] == "30":
        return f"{answer} {headers.get('location', '').partition('?')[0]}"
    found = _OUTBOUND.search(answer)
    if found is not None and int(found[1]) not in _SERVICES.get((found[4], found[3]), ()):
        return "503"  # there is no such cluster
    if found is not None:
        which = "".join(f" {name}={value}" for name, value in _SUBSETS.get(found[2], {}).items())
        return f"200 {found[4]}/{found[3]}:{found[1]}{which} as {headers['x-got-path']}"
    if "Passthrough" not in answer:
        return answer
    return f"200 {asked['service'].partition('/')[2]}:{asked['port']} as {headers['x-got-path']}"


def _clusters(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("cluster"), str):
            yield value["cluster"]
        yield from (each["name"] for each in value.get("weightedClusters", {}).get("clusters", ()))
        for inner in value.values():
            yield from _clusters(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _clusters(inner)


def _listener(port: int, routes: Mapping[str, Any]) -> dict[str, Any]:
    filters = [("fault", _FAULTS, _FAULT), ("router", "envoy.filters.http.router", _ROUTER)]
    manager = {
        "@type": _MANAGER,
        "statPrefix": "client",
        "normalizePath": True,
        "routeConfig": {**_for_faults(routes), "validateClusters": False},
        "httpFilters": [{"name": name, "typedConfig": {"@type": kind}} for _, name, kind in filters],
    }
    network = {"name": "envoy.filters.network.http_connection_manager", "typedConfig": manager}
    address = {"socketAddress": {"address": "0.0.0.0", "portValue": container(port)}}
    return {"name": str(port), "address": address, "filterChains": [{"filters": [network]}]}


def _for_faults(value: Any) -> Any:
    """Return routes without what is for metrics, and for filters other than that of faults."""
    if isinstance(value, dict):
        left_out = ("metadata", "decorator", "requestMirrorPolicies", "retryPolicy")
        return {
            name: {_FAULTS: inner[_FAULTS]} if name == "typedPerFilterConfig" else _for_faults(inner)
            for name, inner in value.items()
            if name not in left_out and (name != "typedPerFilterConfig" or _FAULTS in inner)
        }
    return [_for_faults(inner) for inner in value] if isinstance(value, list) else value


def _cluster(name: str) -> dict[str, Any]:
    endpoint = {"endpoint": {"address": {"socketAddress": {"address": name, "portValue": 80}}}}
    assignment = {"clusterName": name, "endpoints": [{"lbEndpoints": [endpoint]}]}
    return {"name": name, "loadAssignment": assignment, "connectTimeout": "5s"}


def our_answers(objects: Sequence[Manifest], refused: Sequence[str], asked: Sequence[Asked], real: Facts) -> Facts:
    """Return what policylint says of the requests."""
    turned_away = {name.partition(" | ")[0] for name in real if name.endswith("| webhook")}
    taken = [each for each in objects if name_of(each) not in {*refused, *turned_away}]
    tracer = Tracer(simulated(taken))
    told: Facts = {name: "refused" for name in real if name.endswith("| webhook")}
    for client in (f"Deployment/{home}/{name}" for home, name in _CLIENTS):
        for service, port, server, _ in _streams():
            if (name := _to(client, service, port, server)) in real:
                told[name] = _our_connection(tracer, client, service, port, server)
    return told | {named(one): _answer(tracer, one) for one in asked if named(one) in real}


def _answer(tracer: Tracer, asked: Asked) -> str:
    trace = tracer.trace(request(asked))
    outcome = trace.outcome
    if trace.depends or outcome.unknown:
        return "depends"
    if outcome.redirect is not None:
        to = outcome.redirect
        port = "" if to.port in (None, 80) else f":{to.port}"
        return f"{to.status} {to.scheme}://{to.host}{port}{to.path.partition('?')[0]}"
    if outcome.status is not None or outcome.refused:
        return "reset" if outcome.refused else str(outcome.status)
    (share,) = (each for each in outcome.shares if each.share)
    path = "" if trace.forwarded is None else trace.forwarded.path
    which = "".join(f" {name}={value}" for name, value in share.labels)
    return f"200 {share.key.path}:{share.port}{which} as {path}"


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    return {"title": "Istio's sidecars", "about": ABOUT, "versions": of_istio()["versions"]}
