"""Connections at Istio's own Gateways: TCP routes and TLS routes of VirtualServices, and who is let in.

What is expected was written down from Istio's source first: pilot/pkg/networking/core/gateway.go, model/gateway.go.
"""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides
from policylint.reach.ways import all_ways
from tests.doors.test_istio import SELECTED, ends, gateway, pods, policy, virtual
from tests.worlds import manifest, service, simulated

TCP = "{port: {number: 9000, name: tcp, protocol: TCP}, hosts: ['*']}"
PASSING = "{port: {number: 9443, name: tls, protocol: TLS}, hosts: ['*.example.com'], tls: {mode: PASSTHROUGH}}"
SECURE = PASSING.replace("PASSTHROUGH", "SIMPLE, credentialName: c").replace("'*.example.com'", "shop.example.com")
HTTPS = PASSING.replace("TLS}", "HTTPS}").replace("PASSTHROUGH", "SIMPLE, credentialName: c")
SECURE_FOR_ALL = SECURE.replace("shop.example.com", "'*/shop.example.com'")
THERE = "tcp://:9000"
NAMED = "tls://shop.example.com:9443"


def tcp(*rules: str, **more: str) -> str:
    """Return a VirtualService with TCP routes."""
    return virtual("", more=f"tcp: [{', '.join(rules)}]", **{"hosts": "['*']", **more})


def tls(*rules: str, **more: str) -> str:
    """Return a VirtualService with TLS routes."""
    return virtual("", more=f"tls: [{', '.join(rules)}]", **more)


def to(host: str = "web", match: str = "") -> str:
    return (
        f"{{{f'match: [{match}], ' if match else ''}route: [{{destination: {{host: {host}, port: {{number: 80}}}}}}]}}"
    )


def by(*names: str, host: str = "web", more: str = "") -> str:
    return to(host, f"{{sniHosts: [{', '.join(names)}]{more}}}")


@pytest.mark.parametrize(
    ("objects", "url", "end"),
    [
        # one route for all connections
        ((gateway(f"[{TCP}]"), tcp(to())), THERE, "web"),
        ((gateway(f"[{TCP}]"), tcp(to(), gateways="[mesh]")), THERE, "refused"),
        ((gateway(f"[{TCP}]"), tcp(to(), to("next"))), THERE, "web"),
        ((gateway(f"[{TCP.replace('TCP', 'MONGO')}]"), tcp(to())), THERE, "web"),
        ((gateway(f"[{TCP}]"), virtual()), THERE, "refused"),
        # the port and the Gateways of a match count, nothing else of it
        ((gateway(f"[{TCP}]"), tcp(to(match="{port: 9000}"))), THERE, "web"),
        ((gateway(f"[{TCP}]"), tcp(to(match="{port: 9001}"))), THERE, "refused"),
        ((gateway(f"[{TCP}]"), tcp(to(match="{port: 9001}, {port: 9000}"))), THERE, "web"),
        ((gateway(f"[{TCP}]"), tcp(to(match="{gateways: [other/public]}"))), THERE, "refused"),
        ((gateway(f"[{TCP}]"), tcp(to(match="{gateways: [istio-system/public]}"))), THERE, "web"),
        ((gateway(f"[{TCP}]"), tcp(to(match="{destinationSubnets: [10.0.0.0/8]}"))), THERE, "web"),
        ((gateway(f"[{TCP}]"), tcp(to(match="{sourceLabels: {app: other}, sourceNamespace: other}"))), THERE, "web"),
        # hosts tie a VirtualService to a server, though no connection has one
        ((gateway(f"[{TCP.replace('*', 'db.example.com')}]"), tcp(to(), hosts="[db.example.com]")), THERE, "web"),
        ((gateway(f"[{TCP.replace('*', 'db.example.com')}]"), tcp(to(), hosts="[web.example.com]")), THERE, "refused"),
        ((gateway(f"[{TCP.replace('*', 'pay/*')}]"), tcp(to())), THERE, "refused"),
        # of several the oldest, but those for their own namespace first
        ((gateway(f"[{TCP}]"), tcp(to("next"), name="a"), tcp(to(), name="b")), THERE, "next"),
        (
            (
                gateway(f"[{TCP}]", namespace="shop"),
                tcp(to("next"), name="a", gateways="[public]"),
                virtual("", more=f"tcp: [{to()}], exportTo: ['.']", hosts="['*']", name="b", gateways="[public]"),
            ),
            THERE,
            "web",
        ),
        # a Service with several ports gets the server's; weights
        (
            (gateway(f"[{TCP}]"), tcp("{route: [{destination: {host: web}}, {destination: {host: next}, weight: 7}]}")),
            THERE,
            "next",
        ),
        # the first server at a port is alone
        (
            (gateway(f"[{TCP.replace('*', 'a.example.com')}, {TCP}]"), tcp(to(), hosts="[b.example.com]")),
            THERE,
            "refused",
        ),
        # TLS that ends at the server: TCP routes, for the names of the server
        ((gateway(f"[{SECURE}]"), tcp(to())), NAMED, "web"),
        ((gateway(f"[{SECURE}]"), tcp(to())), "tls://other.example.com:9443", "refused"),
        ((gateway(f"[{SECURE}]"), virtual()), NAMED, "refused"),
        ((gateway(f"[{SECURE}]"), tls(by("shop.example.com"))), NAMED, "refused"),
        # TLS that is passed on: TLS routes, by the names that they match
        ((gateway(f"[{PASSING}]"), tls(by("shop.example.com"))), NAMED, "web"),
        ((gateway(f"[{PASSING}]"), tcp(to())), NAMED, "refused"),
        ((gateway(f"[{PASSING}]"), tls(by("shop.example.com"), hosts="['*.example.com']")), NAMED, "web"),
        (
            (gateway(f"[{PASSING}]"), tls(by("shop.example.com"), hosts="['*.example.com']")),
            "tls://pay.example.com:9443",
            "refused",
        ),
        (
            (
                gateway(f"[{PASSING}]"),
                tls(by("'*.example.com'", host="next"), by("shop.example.com"), hosts="['*.example.com']"),
            ),
            NAMED,
            "web",
        ),
        ((gateway(f"[{PASSING}]"), tls(by("shop.example.com", more=", port: 443"))), NAMED, "refused"),
        ((gateway(f"[{PASSING}]"), tls(by("shop.example.com", more=", gateways: [mesh]"))), NAMED, "refused"),
        ((gateway(f"[{PASSING}]"), tls(by("shop.example.com", more=", sourceLabels: {app: other}"))), NAMED, "web"),
        ((gateway(f"[{PASSING}]"), tls(by("shop.example.com", host="next"), by("shop.example.com"))), NAMED, "next"),
        ((gateway(f"[{PASSING.replace('PASS', 'AUTO_PASS')}]"), tls(by("shop.example.com"))), NAMED, "refused"),
        # a host with TLS that two servers have at a port is the first one's
        (
            (
                gateway(f"[{SECURE.replace('shop.', '*.').replace('[*.', '[shop/*.')}, {PASSING}]"),
                tls(by("shop.example.com")),
            ),
            NAMED,
            "web",
        ),
        (
            (
                gateway(f"[{SECURE_FOR_ALL}, {PASSING.replace('*.', 'shop.')}]"),
                tls(by("shop.example.com")),
            ),
            NAMED,
            "refused",
        ),
        # servers that end TLS beside one that passes it on
        (
            (
                gateway(f"[{PASSING.replace('*.', 'pay.')}, {HTTPS.replace('*.', 'shop.')}]"),
                virtual(),
                tls(by("pay.example.com", host="next"), name="pay", hosts="[pay.example.com]"),
            ),
            "https://shop.example.com:9443/",
            "web",
        ),
        (
            (
                gateway(f"[{PASSING.replace('*.', 'pay.')}, {HTTPS.replace('*.', 'shop.')}]"),
                virtual(),
                tls(by("pay.example.com", host="next"), name="pay", hosts="[pay.example.com]"),
            ),
            "https://pay.example.com:9443/",
            "next",
        ),
        (
            (
                gateway(f"[{PASSING.replace(chr(39) + '*.example.com' + chr(39), chr(39) + '*' + chr(39))}, {HTTPS}]"),
                virtual(),
                tls(by("pay.example.com", host="next"), name="pay", hosts="[pay.example.com]"),
            ),
            "https://pay.example.com:9443/",
            "next",
        ),
    ],
)
def test_where_connections_end(objects: tuple[str, ...], url: str, end: str) -> None:
    assert ends(*objects, url=url)[0] == end


def test_a_port_that_nobody_states_is_that_of_each_server() -> None:
    several = manifest("v1", "Service", "web", "shop", "spec: {ports: [{name: a, port: 9000}, {name: b, port: 9001}]}")
    rule = "tcp: [{route: [{destination: {host: web}}]}]"
    simulation = simulated(
        several, gateway(f"[{TCP}, {TCP.replace('9000', '9001')}]"), virtual("", more=rule, hosts="['*']")
    )
    ports = {way.entry.port: [share.port for share in way.trace.outcome.shares] for way in all_ways(simulation)}
    assert ports == {9000: [9000], 9001: [9001]}


CUT = f"{{{SELECTED}, action: DENY, rules: [{{to: [{{operation: {{ports: ['9000']}}}}]}}]}}"
FROM = f"{{{SELECTED}, rules: [{{from: [{{source: {{ipBlocks: [10.0.0.0/8]}}}}]}}]}}"


@pytest.mark.parametrize(
    ("objects", "client", "end"),
    [
        ((), "", "web"),
        ((policy(CUT),), "", "refused"),
        ((policy(CUT.replace("9000", "80")),), "", "web"),
        ((policy(FROM),), "10.1.2.3", "web"),
        ((policy(FROM),), "203.0.113.9", "refused"),
        # what rules say of requests: one that lets in takes no connection, one that denies takes all
        ((policy(f"{{{SELECTED}, rules: [{{to: [{{operation: {{paths: [/a]}}}}]}}]}}"),), "", "refused"),
        ((policy(f"{{{SELECTED}, action: DENY, rules: [{{to: [{{operation: {{paths: [/a]}}}}]}}]}}"),), "", "refused"),
        # tokens are in requests
        (
            (policy(f"{{{SELECTED}, jwtRules: [{{issuer: i, jwksUri: 'https://i/k'}}]}}", "RequestAuthentication"),),
            "",
            "web",
        ),
    ],
)
@pytest.mark.parametrize("there", [(pods(),), ()], ids=["pods", "unseen"])
def test_who_is_let_in_by_the_pods(there: tuple[str, ...], objects: tuple[str, ...], client: str, end: str) -> None:
    assert ends(gateway(f"[{TCP}]"), *there, tcp(to()), *objects, url=THERE, client=client)[0] == end


def test_certificates_are_asked_for_where_tls_of_connections_ends() -> None:
    server = SECURE.replace("SIMPLE", "MUTUAL")
    assert ends(gateway(f"[{server}]"), tcp(to()), url=NAMED) == ("web", "clientCertificate")


def test_reach_has_a_way_for_connections() -> None:
    simulation = simulated(
        service("web"), gateway(f"[{TCP}, {PASSING}]"), tcp(to()), tls(by("shop.example.com"), name="tls")
    )
    ways = {
        (way.entry.scheme, way.entry.hostname): sorted(key.name for key in way.trace.outcome.backends)
        for way in all_ways(simulation)
    }
    assert ways == {("tcp", ""): ["web"], ("tls", "shop.example.com"): ["web"], ("tls", ""): []}


def test_gateways_of_the_same_pods_share_their_ports() -> None:
    aged = gateway(f"[{TCP}]", name="old").replace("name: old", "name: old, creationTimestamp: '2026-01-01T00:00:00Z'")
    both = tcp(to(), name="a", gateways="[istio-system/old]"), tcp(to("next"), name="b", gateways="[istio-system/new]")
    simulation = simulated(service("web"), service("next"), aged, gateway(f"[{TCP}]", name="new"), *both)
    ends = {way.entry.gateway.name: [key.name for key in way.trace.outcome.backends] for way in all_ways(simulation)}
    assert ends == {"old": ["web"]}


def test_routes_are_shown_to_the_namespace_of_the_pods() -> None:
    route = f"tcp: [{to()}], exportTo: ['.']"
    objects = gateway(f"[{TCP}]", namespace="shop"), virtual("", more=route, hosts="['*']", gateways="[public]")
    assert ends(*objects, url=THERE)[0] == "web"
    assert ends(*objects, pods(), url=THERE)[0] == "refused"
    assert ends(*objects, pods("shop"), url=THERE)[0] == "web"


@pytest.mark.parametrize("kind", ["VirtualService", "Gateway"])
def test_what_a_change_adds_is_younger_than_what_was_there(kind: str) -> None:
    old = gateway(f"[{TCP}]", name="old"), tcp(to(), name="old", gateways="[istio-system/old]")
    new = {
        "VirtualService": (tcp(to("next"), name="a", gateways="[istio-system/old]"),),
        "Gateway": (gateway(f"[{TCP}]", name="a"), tcp(to("next"), name="a", gateways="[istio-system/a]")),
    }
    services = service("web"), service("next")
    sides = pair_sides([simulated(*services, *old)], [simulated(*services, *old, *new[kind])])
    (change,) = compare(sides)
    assert change.requests is not None
    assert change.requests.changes == ()
