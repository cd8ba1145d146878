"""A variable in what takes connections leaves open where they go, as it does for requests."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.test_streams import BY_NAME, kong, nginx, traefik
from tests.variables import OF_IDENTITY, places, with_variable
from tests.worlds import gateway, manifest, service, simulated

API = "gateway.networking.k8s.io/"
PASSING = "[{name: tls, port: 9000, protocol: TLS, hostname: '*.example.com', tls: {mode: Passthrough}}]"


def routed(kind: str, listeners: str, more: str = "") -> list[str]:
    body = f"spec: {{parentRefs: [{{name: gw}}]{more}, rules: [{{backendRefs: [{{name: web, port: 80}}]}}]}}"
    return [gateway("gw", "shop", listeners), manifest(f"{API}v1alpha2", kind, "r", "shop", body)]


WORLDS = {
    "TransportServer": (
        [nginx("{name: tls-passthrough, protocol: TLS_PASSTHROUGH}", ", host: db.example.com")],
        ["tls://db.example.com:443", "tls://x.example.com:443"],
    ),
    "TCPIngress": (
        [kong("TCPIngress", "{port: 9000, host: db.example.com, backend: {serviceName: web, servicePort: 80}}")],
        ["tls://db.example.com:9000", "tls://x.example.com:9000"],
    ),
    "IngressRouteTCP": (
        [traefik(BY_NAME, tls="{passthrough: true}")],
        ["tls://db.example.com:9000", "tls://x.example.com:9000"],
    ),
    "TLSRoute": (
        routed("TLSRoute", PASSING, ", hostnames: [db.example.com]"),
        ["tls://db.example.com:9000", "tls://x.example.com:9000"],
    ),
    "TCPRoute": (routed("TCPRoute", "[{name: tcp, port: 9000, protocol: TCP}]"), ["tcp://x:9000"]),
    "UDPRoute": (routed("UDPRoute", "[{name: dns, port: 53, protocol: UDP}]"), ["udp://x:53"]),
}


def read(world: str) -> list[Any]:
    return [document for text in WORLDS[world][0] for document in yaml.safe_load_all(text)]


def answers(world: str, documents: list[Any]) -> list[str]:
    """Return where connections go, with a `?` wherever something of it is not known."""
    manifests = [service(name, "shop", "[{port: 80}]") for name in ("web", "next")]
    tracer = Tracer(simulated(*manifests, *map(yaml.safe_dump, documents)), nearest=False)
    found = []
    for url in WORLDS[world][1]:
        trace = tracer.trace(from_url("CONNECT", url, []))
        assumed = any("taken to be" in note for note in trace.notes)
        is_open = trace.outcome.unknown or trace.depends or trace.may_ask or assumed
        found.append(f"{sorted(key.name for key in trace.outcome.backends)}{' ?' if is_open else ''}")
    return found


LEFT = {
    *(("IngressRouteTCP", ("spec", *more)) for more in ((), ("tls",), ("entryPoints",), ("entryPoints", 0))),
}
"""Places at which a variable still leaves no way in at all, or another one than there is."""


@pytest.mark.parametrize(
    ("world", "number", "place"),
    [
        (world, number, place)
        for world in WORLDS
        for number, document in enumerate(read(world))
        for place in places(document, (*OF_IDENTITY, "allowedRoutes", "gatewayClassName"))
        if (world, place) not in LEFT
    ],
)
def test_a_variable_makes_nothing_certain(world: str, number: int, place: tuple[Any, ...]) -> None:
    documents = read(world)
    before, after = answers(world, documents), answers(world, with_variable(documents, (number, *place)))
    assert [(was, said) for was, said in zip(before, after, strict=True) if said != was and "?" not in said] == []


def test_a_port_that_no_manifest_states_may_be_any() -> None:
    tracer = Tracer(simulated(service("web", "shop", "[{port: 80}]"), traefik(BY_NAME, tls="{passthrough: true}")))
    outcome = tracer.trace(from_url("CONNECT", "tls://db.example.com:9000", [])).outcome
    assert outcome.unknown
    assert outcome.reason == "the port of Listener dbs#tls-0 is stated in no manifest"
