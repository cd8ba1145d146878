"""What objects of doors name of their own controller, and nothing deploys: one list for them all (schemas/doors.yaml).

Predicted from traefik/traefik, pkg/server/service/transport.go, pkg/server/router/router.go and
pkg/server/router/tcp/manager.go (a router without its transport is not made, TLS options that are missing close
connections), and projectcontour/contour, internal/dag/httpproxy_processor.go (mirrors).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from policylint.catalog.naming import shipped_schemas
from policylint.checks import run
from policylint.doors.vendors import naming, objects_named
from policylint.model import mapping, texts
from policylint.schema.known import _shipped
from tests.doors.asking import answer
from tests.model.test_named_objects import below
from tests.worlds import manifest, service, simulated

WEB = "name: web, port: 80"


def traefik(kind: str, spec: str, name: str = "web") -> str:
    return manifest("traefik.io/v1alpha1", kind, name, "shop", f"spec: {{{spec}}}")


def routed(kind: str, more: str = "", of_service: str = "") -> str:
    matcher = "Host" if kind == "IngressRoute" else "HostSNI"
    rule = f"match: '{matcher}(`shop.example.com`)', kind: Rule, services: [{{{WEB}{of_service}}}]"
    return traefik(kind, f"routes: [{{{rule}}}]{more}")


def told(*objects: str) -> list[tuple[str, str, str]]:
    kinds = ("TLSOption", "ServersTransport", "ServersTransportTCP")
    other = routed("IngressRoute").replace("name: web", "name: it", 1)
    there = [*(traefik(kind, "", "there") for kind in kinds), other]
    found = run(simulated(service("web"), *there, *objects), select={"GWP415"})
    return [(each.severity, each.message, each.label) for each in found]


OPTIONS = ", tls: {options: {name: %s}}"
TRANSPORT = ", serversTransport: %s"


@pytest.mark.parametrize("kind", ["IngressRoute", "IngressRouteTCP"])
def test_options_that_are_missing_close_connections(kind: str) -> None:
    [(severity, message, label)] = told(routed(kind, OPTIONS % "gone"))
    assert (severity, message) == ("error", f"{kind} shop/web names TLSOption shop/gone, which is missing")
    assert label == "connections for its hosts are closed"


@pytest.mark.parametrize("name", ["there", "default", "'mtls@file'"])
@pytest.mark.parametrize("kind", ["IngressRoute", "IngressRouteTCP"])
def test_options_that_are_there_or_elsewhere(kind: str, name: str) -> None:
    assert not told(routed(kind, OPTIONS % name))


@pytest.mark.parametrize(("kind", "named"), [("IngressRoute", ""), ("IngressRouteTCP", "TCP")])
def test_transports_that_are_missing_make_no_router(kind: str, named: str) -> None:
    [(_, message, label)] = told(routed(kind, ", tls: {}", TRANSPORT % "gone"))
    assert message == f"{kind} shop/web names ServersTransport{named} shop/gone, which is missing"
    assert "makes no router" in label
    assert not told(routed(kind, ", tls: {}", TRANSPORT % "there"))
    assert not told(routed(kind, ", tls: {}", TRANSPORT % "'t@file'"))


@pytest.mark.parametrize(
    "spec",
    [
        f"weighted: {{services: [{{{WEB}, serversTransport: gone}}]}}",
        f"mirroring: {{{WEB}, serversTransport: gone}}",
        f"mirroring: {{{WEB}, mirrors: [{{{WEB}, serversTransport: gone}}]}}",
        f"failover: {{service: {{{WEB}}}, fallback: {{{WEB}, serversTransport: gone}}}}",
        f"highestRandomWeight: {{services: [{{{WEB}, serversTransport: gone}}]}}",
    ],
)
def test_transports_of_services_of_traefik(spec: str) -> None:
    assert [each[1] for each in told(traefik("TraefikService", spec))] == [
        "TraefikService shop/web names ServersTransport shop/gone, which is missing"
    ]


@pytest.mark.parametrize(
    ("transport", "end"),
    [("", "web"), (TRANSPORT % "there", "web"), (TRANSPORT % "'t@file'", "web"), (TRANSPORT % "gone", "next")],
)
@pytest.mark.parametrize("through", ["", "TraefikService"])
def test_requests_go_on_where_no_router_is_made(transport: str, end: str, through: str) -> None:
    """The rule for all hosts takes what the narrower one, of which no router is made, would have taken."""
    others = (service("web"), service("next"), traefik("ServersTransport", "", "there"))
    wide = traefik(
        "IngressRoute", "routes: [{match: 'PathPrefix(`/`)', kind: Rule, services: [{name: next, port: 80}]}]", "wide"
    )
    narrow = routed("IngressRoute", of_service=transport)
    if through:
        narrow = routed("IngressRoute", of_service=", kind: TraefikService").replace("port: 80, ", "")
        others += (traefik("TraefikService", f"weighted: {{services: [{{{WEB}{transport}}}]}}"),)
    assert answer(simulated(*others, wide, narrow), "http://shop.example.com/")[0] == end


def test_connections_are_closed_where_no_router_is_made() -> None:
    transports = TRANSPORT % "gone", TRANSPORT % "there"
    other = (
        routed("IngressRouteTCP", ", tls: {}")
        .replace("shop.example", "other.example")
        .replace("name: web", "name: it", 1)
    )
    there = service("web"), traefik("ServersTransportTCP", "", "there"), other
    ends = [
        answer(simulated(*there, routed("IngressRouteTCP", ", tls: {}", each)), "tls://shop.example.com:443")[0]
        for each in transports
    ]
    assert ends == ["refused", "web"]


def test_the_service_of_a_page_of_errors() -> None:
    [(_, message, _)] = told(traefik("Middleware", "errors: {status: ['500'], service: {name: gone, port: 80}}"))
    assert message == "Middleware shop/web sends requests to Service shop/gone, which is missing"


def proxy(more: str) -> str:
    routes = f"routes: [{{services: [{{{WEB}}}, {{name: gone, port: 80{more}}}]}}]"
    spec = f"spec: {{virtualhost: {{fqdn: shop.example.com}}, {routes}}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", spec)


def test_copies_are_lost_in_silence_and_no_request_is() -> None:
    [(severity, message, label)] = told(proxy(", mirror: true"))
    assert severity == "warning"
    assert message.endswith("mirrors requests to Service shop/gone, which is missing")
    assert label == "the copies are lost in silence"


SENDING = [proxy(""), traefik("TraefikService", "mirroring: {name: gone, port: 80, mirrors: []}")]


@pytest.mark.parametrize("sending", SENDING)
def test_what_is_no_copy_is_an_error(sending: str) -> None:
    [(severity, message, _)] = told(sending)
    assert (severity, "sends requests to" in message) == ("error", True)


def test_a_chain_of_middlewares_that_are_missing() -> None:
    chain = "chain: {middlewares: [{name: gone}, {name: own}]}"
    own = traefik("Middleware", "headers: {frameDeny: true}", "own")
    assert [each[1] for each in told(traefik("Middleware", chain), own)] == [
        "Middleware shop/web names Middleware shop/gone, which is missing"
    ]


OTHERWISE: Mapping[str, str] = {
    r"routes\.\*\.middlewares\.\*$": "doors/traefik.py, unrouted: it knows the group of Traefik 2, too",
    r"tls\.store$": "the default one is used whatever stands there",
    r"sticky\.cookie$": "the name of a cookie",
}
"""Fields of Traefik's objects that hold a name and are in neither list, with why."""


def named_by_traefik() -> Iterator[tuple[str, str]]:
    """Yield the kinds and fields of Traefik's shipped schemas that name a Service, or an object of Traefik."""
    for kind in sorted(shipped_schemas("traefik.io")):
        versions = list(_shipped("traefik.io", kind)["versions"].values())
        spec = mapping(mapping(versions[-1].get("properties")).get("spec"))
        for path, schema in below(spec):
            is_named = "name" in mapping(schema.get("properties")) or path.endswith("serversTransport")
            if path and is_named and not any(re.search(pattern, path) for pattern in OTHERWISE):
                yield kind, path


def test_each_name_in_an_object_of_traefik_is_in_one_of_the_lists() -> None:
    known = {(f"{group}/{kind}", path) for (group, kind), paths, *_ in naming() for path in paths}
    known |= {(str(entry["kind"]), path) for entry in objects_named() for path in texts(entry["at"])}
    found = list(named_by_traefik())
    assert len(found) > 25
    assert [each for each in found if (f"traefik.io/{each[0]}", each[1]) not in known] == []
