"""Istio's own Gateways as a witness: to whom their filter chains lead connections, and what `trace` says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from policylint.topology.hostnames import covers
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.witness.envoy_gateway import simulated
from tests.witness.facts import Facts
from tests.witness.grammar import Draw, Manifest, manifest, name_of
from tests.witness.programs import Program

ABOUT = (
    "The filter chains that Istio makes of its own Gateways and of `tcp` and `tls` of VirtualServices: for each port"
    " and server name which Services get a connection, with their shares, as `trace` has them; what it refuses."
)
API = "networking.istio.io/v1"
PORTS = (9000, 9001, 9443)
NAMES = ("", "db.example.com", "shop.example.com", "a.api.example.com", "other.org")
"""Server names of connections; "" for those without TLS."""
_PATTERNS = ("db.example.com", "shop.example.com", "a.api.example.com", "*.api.example.com", "*.example.com")
_HOSTS = ("*", *_PATTERNS[:2], *_PATTERNS[3:], "shop/*", "./*", "pay/db.example.com", "*/shop.example.com")
_GATEWAYS = (("edge", "infra"), ("in", "shop"))
_PLACES = ("infra/edge", "shop/in", "mesh", "edge")
_SERVICES: Mapping[str, tuple[int, ...]] = {"web": (80,), "next": (80, 9000)}
_REFUSED = "Refused"
_NOBODY = "refused"


def world(seed: object, number: int) -> list[Manifest]:
    """Return the objects of one world: one Gateway or two, VirtualServices for them, and the Services behind."""
    draw = Draw("istio-connections", seed, number)
    objects = [
        manifest(
            "v1", "Service", name, namespace, spec={"ports": [{"port": port, "name": f"tcp-{port}"} for port in ports]}
        )
        for namespace in ("shop", "pay")
        for name, ports in _SERVICES.items()
    ]
    objects += [_gateway(draw, *each) for each in _GATEWAYS[: draw.number(1, 2)]]
    return objects + [_virtual_service(draw, f"v{each}") for each in range(draw.number(1, 3))]


def _gateway(draw: Draw, name: str, namespace: str) -> Manifest:
    servers = []
    for number in range(draw.one(1, 1, 2, 3)):
        protocol = draw.one("TCP", "TCP", "MONGO", "TLS", "TLS", "TLS", "HTTPS", "HTTP")
        port = {"number": draw.one(9000, *PORTS), "name": f"p{number}", "protocol": protocol}
        server: dict[str, Any] = {"port": port, "hosts": draw.some(_HOSTS, 2)}
        if protocol in ("TLS", "HTTPS"):
            mode = draw.one("SIMPLE", "PASSTHROUGH", "PASSTHROUGH", "MUTUAL", "AUTO_PASSTHROUGH")
            server["tls"] = {"mode": mode} | ({"credentialName": "c"} if mode in ("SIMPLE", "MUTUAL") else {})
        servers.append(server)
    spec = {"selector": {"istio": name}, "servers": servers}
    return manifest(API, "Gateway", name, namespace, draw.age(), spec=spec)


def _virtual_service(draw: Draw, name: str) -> Manifest:
    namespace = draw.one("shop", "shop", "pay", "infra")
    hosts = draw.some(_PATTERNS, 2)
    spec: dict[str, Any] = {"hosts": hosts, "gateways": draw.some(_PLACES, 3)}
    spec |= draw.maybe(0.3, "exportTo", [draw.one(".", "*", "infra", "shop")])
    for field in draw.some(("tcp", "tls", "http"), 2):
        spec[field] = [_rule(draw, field, namespace, hosts) for _ in range(draw.one(1, 1, 2))]
    return manifest(API, "VirtualService", name, namespace, draw.age(), spec=spec)


def _rule(draw: Draw, field: str, namespace: str, hosts: Sequence[str]) -> dict[str, Any]:
    if field == "http":
        return {"route": [_destination(draw, namespace)]}
    route = [_destination(draw, namespace) for _ in range(draw.one(1, 1, 1, 2))]
    for each in route if len(route) > 1 else ():
        each |= draw.maybe(0.9, "weight", draw.one(10, 30, 60))
    matches = [_match(draw) for _ in range(draw.one(1, 1, 2))]
    if field == "tls":
        names = [name for name in _PATTERNS if any(name == host or name.endswith(host.lstrip("*")) for host in hosts)]
        matches = [{**match, "sniHosts": draw.some(names, 2)} for match in matches]
    matches = [match for match in matches if match]
    return {"route": route} | ({"match": matches} if matches else {})


def _match(draw: Draw) -> dict[str, Any]:
    match = draw.maybe(0.3, "port", draw.of(PORTS)) | draw.maybe(0.2, "gateways", [draw.of(_PLACES[:3])])
    match |= draw.maybe(0.1, "destinationSubnets", ["10.0.0.0/8"])
    return match | draw.maybe(0.1, "sourceLabels", {"a": "b"})


def _destination(draw: Draw, namespace: str) -> dict[str, Any]:
    home = "shop" if namespace == "infra" else namespace
    name = f"{draw.of(list(_SERVICES))}.{draw.one(home, home, 'shop', 'pay')}.svc.cluster.local"
    return {"destination": {"host": name} | draw.maybe(0.6, "port", {"number": 80})}


class Istio(Program):
    """The running program."""

    def facts(self, objects: Sequence[Manifest]) -> tuple[Facts, tuple[str, ...]]:
        """Return to whom connections are led, and the objects that the webhook refuses."""
        answer = self.answer(objects)
        if answer.get("error"):
            return {"| failed": str(answer["error"])}, ()
        told: Facts = {}
        refused = []
        for each in answer["statuses"]:
            place = f"{each['namespace']}/{each['name']}"
            if each["kind"].startswith(_REFUSED):
                refused.append(f"{each['kind'].removeprefix(_REFUSED)} {place}")
                continue
            for port in PORTS:
                here = [chain for chain in each["status"] if chain["port"] == port]
                for name in NAMES:
                    taking = _taking(here, name)
                    if len(taking) < 2 and all(_is_compared(chain, name) for chain in taking):
                        told[_named(place, port, name)] = _ends(taking)
        return told, tuple(sorted(refused))


def _named(gateway: str, port: int, name: str) -> str:
    return f"Gateway {gateway} | {port} {name or 'without TLS'}"


def _taking(chains: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Return the filter chains of a port for a connection with a server name, or one without TLS; of several for one
    and the same name Envoy takes neither."""
    found: defaultdict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for chain in chains if name else [chain for chain in chains if not chain["tls"]]:
        for pattern in chain["names"] or [""]:
            if not pattern or (name and covers(pattern, name)):
                found[2 * len(pattern) + (pattern == name)].append(chain)
    return found[max(found)] if found else []


def _is_compared(chain: Mapping[str, Any], name: str) -> bool:
    """Return whether a chain says where such a connection ends: not one that reads requests, nor one that takes bytes,
    whichever they are, for a server name."""
    return chain["to"] is not None and (not name or bool(chain["names"]) or chain["tls"])


def _ends(taking: Iterable[Mapping[str, Any]]) -> str:
    """Return `shop/web:80 0.25, shop/next:80 0.75`."""
    shares: Counter[str] = Counter()
    for cluster, weight in (each for chain in taking for each in chain["to"].items()):
        if match := re.fullmatch(r"outbound\|(\d+)\|\|([^.]+)\.([^.]+)\..*", cluster):
            port, name, namespace = match.groups()
            shares[f"{namespace}/{name}:{port}"] += weight
    return _in_words(shares)


def _in_words(shares: Mapping[str, float]) -> str:
    whole = sum(shares.values())
    return ", ".join(f"{name} {share / whole:.2f}" for name, share in sorted(shares.items())) or _NOBODY


def our_facts(objects: Sequence[Manifest], refused: Collection[str], asked: Collection[str]) -> Facts:
    """Return what policylint says of the connections that were asked about."""
    simulation = simulated([each for each in objects if name_of(each) not in refused])
    tracer = Tracer(simulation, nearest=False)
    return {fact: said for fact, said in _ours(tracer, objects) if fact in asked}


def _ours(tracer: Tracer, objects: Sequence[Manifest]) -> Iterator[tuple[str, str]]:
    for gateway in (each["metadata"] for each in objects if each["kind"] == "Gateway"):
        place = f"{gateway['namespace']}/{gateway['name']}"
        for port in PORTS:
            for name in NAMES:
                url = f"tls://{name}:{port}" if name else f"tcp://:{port}"
                trace = tracer.trace(from_url("GET", url, (), gateway=f"Gateway.networking.istio.io/{place}"))
                shares: Counter[str] = Counter()
                for share in trace.outcome.shares:
                    shares[f"{share.key.path}:{share.port}"] += share.share
                yield _named(place, port, name), "not known" if trace.outcome.unknown else _in_words(+shares)


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    written = (Path(__file__).parent / "istio" / "go.mod").read_text(encoding="utf-8")
    (istio,) = re.findall(r"^\s*istio.io/istio (v\S+)$", written, re.MULTILINE)
    return {"title": "Istio's own Gateways", "about": ABOUT, "versions": {"istio": istio}}
