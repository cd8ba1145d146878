"""Listeners, Gateways, ListenerSets and parents of routes as kgateway reports them.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.8.
"""

from __future__ import annotations

import json

import pytest

from policylint.topology import RouteState
from policylint.trace.request import request
from policylint.trace.tracing import Tracer
from tests import worlds
from tests.witness.envoy_gateway_worlds import CERTIFICATE, PRIVATE_KEY

CLASS = worlds.gateway_class("kgateway", "kgateway.dev/kgateway")
CERT = f"""
apiVersion: v1
kind: Secret
metadata: {{name: cert, namespace: infra}}
stringData: {{tls.crt: {json.dumps(CERTIFICATE)}, tls.key: {json.dumps(PRIVATE_KEY)}}}
"""
LETS_IN = "allowedListeners: {namespaces: {from: All}}"
HTTP = "{name: http, port: 80, protocol: HTTP}"
WEB = worlds.service("web", "infra")
TO_WEB = "rules: [{backendRefs: [{name: web, port: 80}]}]"


def told(*listeners: str, more: str = "", beside: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Return the conditions of a Gateway, and of ListenerSets and listeners by name."""
    gateway = worlds.gateway(of_class="kgateway", listeners=f"[{', '.join(listeners)}]", more=more)
    topology = worlds.simulated(CLASS, CERT, WEB, gateway, *beside).topology
    found = {"": worlds.conditions(topology.gateways[0].conditions)}
    found |= {each.listener_set.key.name: worlds.conditions(each.conditions) for each in topology.listener_sets}
    for state in (*topology.gateways, *topology.listener_sets):
        found |= {each.name: worlds.conditions(each.conditions) for each in state.listeners}
    return found


def has_lost(conditions: list[str]) -> str:
    """Return for which reason a listener is in conflict."""
    lost = [each for each in conditions if each.startswith("Conflicted=True")]
    return lost[0].partition("/")[2] if lost else ""


@pytest.mark.parametrize(
    ("protocols", "lost"),
    [
        (("HTTP", "HTTP"), ("", "HostnameConflict")),
        (("HTTP", "HTTP, hostname: a.example"), ("", "")),
        (("HTTP", "TCP", "HTTP, hostname: a.example"), ("", "ProtocolConflict", "")),
        (("TCP", "TCP"), ("", "HostnameConflict")),
        (("HTTPS", "TLS, hostname: a.example"), ("", "")),
        (("HTTPS", "TLS, hostname: a.example", "TCP"), ("", "ProtocolConflict", "ProtocolConflict")),
        (
            ("HTTP", "TCP, hostname: a.example", "HTTP, hostname: a.example"),
            ("", "ProtocolConflict", "HostnameConflict"),
        ),
        (("UDP", "TCP"), ("", "")),
        (("HTTP, allowedRoutes: {kinds: [{kind: TLSRoute}]}", "HTTP"), ("", "")),
    ],
)
def test_the_first_listener_has_the_protocol_and_the_first_of_a_hostname_that(
    protocols: tuple[str, ...], lost: tuple[str, ...]
) -> None:
    """Nobody gives way to listeners of a protocol that is not served, nor to those without any kind of route."""
    listeners = (f"{{name: l{number}, port: 80, protocol: {each}}}" for number, each in enumerate(protocols))
    found = told(*listeners)
    assert tuple(has_lost(found[f"l{number}"]) for number in range(len(protocols))) == lost


def test_ports_of_the_proxy_are_taken() -> None:
    assert "Accepted=False/Invalid" in told("{name: admin, port: 19000, protocol: HTTP}")["admin"]


@pytest.mark.parametrize(
    ("listeners", "accepted"),
    [
        ((HTTP,), "True/Accepted"),
        ((HTTP, "{name: udp, port: 1, protocol: UDP}"), "True/ListenersNotValid"),
        (("{name: udp, port: 1, protocol: UDP}",), "False/ListenersNotValid"),
        (("{name: tcp, port: 1, protocol: TCP}",), "True/ListenersNotValid"),
        ((HTTP, HTTP.replace("http", "again")), "True/ListenersNotValid"),
        (
            ("{name: http, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}, {kind: TLSRoute}]}}",),
            "True/Accepted",
        ),
        (
            ("{name: http, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: TLSRoute}]}}",),
            "False/ListenersNotValid",
        ),
    ],
)
def test_what_is_not_programmed_leaves_a_gateway_accepted(listeners: tuple[str, ...], accepted: str) -> None:
    """A listener of connections is not, without a route; one of a protocol that is not served does not count at all."""
    assert told(*listeners)[""][0] == f"Accepted={accepted}"


@pytest.mark.parametrize(
    ("rules", "programmed"),
    [
        (TO_WEB, True),
        ("rules: [{backendRefs: [{name: gone, port: 80}]}]", True),
        ("rules: [{backendRefs: [{name: web, port: 80}]}, {backendRefs: [{name: web, port: 80}]}]", False),
    ],
)
@pytest.mark.parametrize(("kind", "protocol"), [("TCPRoute", "TCP"), ("TLSRoute", "TLS, tls: {mode: Passthrough}")])
def test_a_listener_of_connections_needs_a_route_with_one_rule(
    kind: str, protocol: str, rules: str, programmed: bool
) -> None:
    route = worlds.route("stream", "infra", "[{name: edge}]", kind, rules)
    accepted = told(f"{{name: a, port: 9000, protocol: {protocol}}}", beside=(route,))[""][0]
    assert accepted == f"Accepted=True/{'Accepted' if programmed else 'ListenersNotValid'}"


@pytest.mark.parametrize(
    ("certificates", "resolved", "accepted"),
    [
        (("cert",), "True/ResolvedRefs", "True/Accepted"),
        (("gone",), "False/InvalidCertificateRef", "False/Invalid"),
        (("gone", "cert"), "False/InvalidCertificateRef", "True/Invalid"),
        (("gone, namespace: pay", "gone"), "False/RefNotPermitted", "False/Invalid"),
    ],
)
@pytest.mark.parametrize("protocol", ["HTTPS", "TLS"])
def test_one_certificate_that_is_there_is_enough(
    protocol: str, certificates: tuple[str, ...], resolved: str, accepted: str
) -> None:
    """Of a listener for TLS they are looked at where a route leads on."""
    references = ", ".join(f"{{name: {each}}}" for each in certificates)
    listener = f"{{name: tls, port: 443, protocol: {protocol}, tls: {{certificateRefs: [{references}]}}}}"
    route = worlds.route("stream", "infra", "[{name: edge}]", "TLSRoute", TO_WEB)
    found = told(listener, beside=(route,))
    assert {f"ResolvedRefs={resolved}", f"Accepted={accepted}"} <= set(found["tls"])
    alone = told(listener)
    assert (f"ResolvedRefs={resolved}" in alone["tls"]) == (protocol == "HTTPS" or resolved.startswith("True"))


@pytest.mark.parametrize(
    ("authorities", "mode", "resolved", "accepted"),
    [
        ("{group: '', kind: ConfigMap, name: gone}", "", "InvalidCACertificateRef", "False/NoValidCACertificate"),
        ("{group: '', kind: Service, name: gone}", "", "InvalidCACertificateKind", "False/NoValidCACertificate"),
        ("{group: '', kind: Secret, name: gone}", "", "InvalidCertificateRef", "False/Invalid"),
        (
            "{group: '', kind: ConfigMap, name: gone}",
            "mode: AllowInsecureFallback, ",
            "InvalidCACertificateRef",
            "True/NoValidCACertificate",
        ),
        (
            "{group: '', kind: ConfigMap, name: ca}, {group: '', kind: Service, name: gone}",
            "",
            "InvalidCACertificateKind",
            "True/NoValidCACertificate",
        ),
    ],
)
def test_cas_of_clients(authorities: str, mode: str, resolved: str, accepted: str) -> None:
    more = f"tls: {{frontend: {{default: {{validation: {{{mode}caCertificateRefs: [{authorities}]}}}}}}}}"
    ca = worlds.manifest("v1", "ConfigMap", "ca", "infra", f"data: {{ca.crt: {json.dumps(CERTIFICATE)}}}")
    listener = "{name: tls, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}"
    found = told(listener, more=more, beside=(ca,))
    assert {f"ResolvedRefs=False/{resolved}", f"Accepted={accepted}"} <= set(found["tls"])


@pytest.mark.parametrize(
    ("listeners", "accepted"),
    [
        ("{name: a, port: 81, protocol: HTTP}", "True/Accepted"),
        ("{name: a, port: 80, protocol: HTTP}", "False/ListenersNotValid"),
        ("{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}", "True/ListenersNotValid"),
        ("{name: a, port: 80, protocol: UDP}", "True/ListenersNotValid"),
    ],
)
def test_listener_sets(listeners: str, accepted: str) -> None:
    found = told(HTTP, more=LETS_IN, beside=(worlds.listener_set("more", "pay", f"[{listeners}]"),))
    assert found["more"] == [f"Accepted={accepted}"]
    assert found["http"][0] == "Accepted=True/Accepted"
    refused = told(HTTP, beside=(worlds.listener_set("more", "pay", f"[{listeners}]"),))
    assert (refused["more"], refused["a"]) == (["Accepted=False/NotAllowed"], [])


THREE = (
    "[{name: one, port: 80, protocol: HTTP, hostname: a.example}, {name: two, port: 80, protocol: HTTP, "
    "hostname: a.example}, {name: tcp, port: 9000, protocol: TCP}]"
)


def parent_of(parent: str, kind: str = "HTTPRoute", more: str = "rules: [{}]", *beside: str) -> RouteState:
    simulation = worlds.simulated(
        CLASS,
        WEB,
        worlds.gateway(of_class="kgateway", listeners=THREE),
        worlds.listener_set("out", "infra", "[{name: out, port: 81, protocol: HTTP}]"),
        worlds.route("web", "infra", f"[{parent}]", kind, more),
        *beside,
    )
    return next(each for each in simulation.topology.routes if each.route.key.name == "web")


@pytest.mark.parametrize(
    ("parent", "kind", "accepted"),
    [
        ("{name: edge}", "HTTPRoute", "Accepted=True/Accepted"),
        ("{name: edge, sectionName: two}", "HTTPRoute", ""),
        ("{name: edge, sectionName: tcp}", "HTTPRoute", "Accepted=False/NoMatchingParent"),
        ("{name: edge, sectionName: gone}", "TLSRoute", "Accepted=False/NotAllowedByListeners"),
        ("{name: edge, sectionName: gone}", "TCPRoute", "Accepted=False/NoMatchingParent"),
        ("{name: out, kind: ListenerSet}", "HTTPRoute", ""),
    ],
)
def test_all_listeners_are_asked_before_the_one_that_is_named(parent: str, kind: str, accepted: str) -> None:
    (found,) = parent_of(parent, kind).parents
    assert found.silent == (accepted == "")
    if accepted:
        assert accepted in worlds.conditions(found.conditions)


@pytest.mark.parametrize(
    ("rules", "resolved"),
    [
        ("[{backendRefs: [{name: web, port: 80}]}]", "True/ResolvedRefs"),
        ("[{backendRefs: [{name: web, port: 81}]}]", "False/BackendNotFound"),
        ("[{backendRefs: [{name: gone, port: 80}, {group: example.net, kind: Odd, name: x}]}]", "False/InvalidKind"),
        (
            "[{backendRefs: [{group: example.net, kind: Odd, name: x}]}, {backendRefs: [{name: gone, port: 80}]}]",
            "False/BackendNotFound",
        ),
        ("[{backendRefs: [{group: example.net, kind: Odd, name: x, namespace: pay}]}]", "False/RefNotPermitted"),
        (
            "[{filters: [{type: RequestMirror, requestMirror: {backendRef: {name: gone, port: 80}}}]}]",
            "True/ResolvedRefs",
        ),
    ],
)
def test_the_last_backend_that_fails_is_said(rules: str, resolved: str) -> None:
    (found,) = parent_of("{name: edge}", more=f"rules: {rules}").parents
    assert f"ResolvedRefs={resolved}" in worlds.conditions(found.conditions)


def test_of_routes_for_tcp_the_oldest_has_the_listener() -> None:
    elder = worlds.route("elder", "infra", "[{name: edge}]", "TCPRoute", TO_WEB, "2026-01-01T00:00:00Z")
    gone = "rules: [{backendRefs: [{name: gone, port: 80}]}]"
    (alone,), (beside,) = (parent_of("{name: edge}", "TCPRoute", gone, *each).parents for each in ((), (elder,)))
    assert "ResolvedRefs=False/BackendNotFound" in worlds.conditions(alone.conditions)
    assert "ResolvedRefs=True/ResolvedRefs" in worlds.conditions(beside.conditions)


def test_backends_of_a_route_of_connections_are_said_of_the_gateway_that_takes_it() -> None:
    """Of two parents of one Gateway both say it; what another Gateway does with the route is not their business."""
    route = worlds.route(
        "web",
        "infra",
        "[{name: edge, sectionName: tcp}, {name: edge, sectionName: one}, {name: other}]",
        "TCPRoute",
        "rules: [{backendRefs: [{name: gone, port: 80}]}]",
    )
    other = worlds.gateway("other", of_class="kgateway")
    gateway = worlds.gateway(of_class="kgateway", listeners=THREE)
    (state,) = worlds.simulated(CLASS, gateway, other, route).topology.routes
    resolved = [each for parent in state.parents for each in worlds.conditions(parent.conditions) if "Resolved" in each]
    assert resolved == ["ResolvedRefs=False/BackendNotFound"] * 2 + ["ResolvedRefs=True/ResolvedRefs"]


def test_the_listener_that_stands_serves() -> None:
    simulation = worlds.simulated(
        CLASS,
        WEB,
        worlds.gateway(of_class="kgateway", listeners=THREE),
        worlds.route("web", "infra", "[{name: edge}]", more=TO_WEB),
    )
    trace = Tracer(simulation).trace(request({"host": "a.example", "path": "/"}))
    assert trace.listener is not None
    assert (trace.listener.node.section, set(map(str, trace.outcome.backends))) == ("one", {"Service infra/web"})


TARGET = "targetRefs: [{group: '', kind: Service, name: web%s}]"


def tls(name: str, section: str = "", validation: str = "wellKnownCACertificates: System") -> str:
    spec = f"spec: {{{TARGET % section}, validation: {{hostname: a.b, {validation}}}}}"
    return worlds.manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, "infra", spec)


@pytest.mark.parametrize(
    ("parent", "more", "ancestors"),
    [
        ("{name: edge}", TO_WEB, ["Gateway infra/edge"]),
        ("{name: edge, sectionName: one}", TO_WEB, ["Listener infra/edge#one"]),
        ("{name: edge, sectionName: two}", TO_WEB, []),
        ("{name: edge}", "rules: [{backendRefs: [{name: web, port: 81}]}]", []),
        ("{name: edge}", "hostnames: [b.example], " + TO_WEB, []),
    ],
)
def test_a_policy_for_tls_has_the_parents_of_routes_to_its_service(
    parent: str, more: str, ancestors: list[str]
) -> None:
    simulation = worlds.simulated(
        CLASS,
        WEB,
        worlds.gateway(of_class="kgateway", listeners=THREE),
        worlds.route("web", "infra", f"[{parent}]", more=more),
        tls("tls"),
    )
    told_of = worlds.state(simulation, "tls").ancestors
    assert [f"{each.ancestor.key.path}#{each.ancestor.section}".rstrip("#") for each in told_of] == [
        each.partition(" ")[2] for each in ancestors
    ]


def test_a_policy_for_a_port_takes_it_from_the_one_for_the_whole_service() -> None:
    simulation = worlds.simulated(
        CLASS,
        WEB,
        worlds.gateway(of_class="kgateway", listeners=THREE),
        worlds.route("web", "infra", "[{name: edge}]", more=TO_WEB),
        tls("whole"),
        tls("port", ", sectionName: http"),
    )
    assert [len(worlds.state(simulation, name).ancestors) for name in ("whole", "port")] == [0, 1]


TLS_FAULT = ["Accepted=False/Invalid", "Conflicted=False/NoConflicts", "ResolvedRefs=False/InvalidCertificateRef"]
HASH = "a" * 64


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ("example.net/own: 'yes'", True),
        ("kgateway.dev/min-tls-version: '1.2', kgateway.dev/max-tls-version: '1.3'", False),
        ("kgateway.dev/min-tls-version: '1.3', kgateway.dev/max-tls-version: '1.2'", True),
        ("kgateway.dev/min-tls-version: TLSv1_2", True),
        ("kgateway.dev/cipher-suites: ECDHE-RSA-AES128-GCM-SHA256", False),
        (f"kgateway.dev/verify-certificate-hash: '{HASH}'", False),
        ("kgateway.dev/verify-certificate-hash: abc", True),
        ("kgateway.dev/verify-subject-alt-names: a.example", True),
        ("kgateway.dev/min-tls-version: '${LEAST}'", False),
    ],
)
def test_options_of_tls_must_be_the_controllers_own(options: str, refused: bool) -> None:
    """Source: pkg/kgateway/translator/sslutils/ssl_utils.go, ApplyTLSExtensionOptions @ v2.4.0."""
    tls = f"tls: {{certificateRefs: [{{name: cert}}], options: {{{options}}}}}"
    found = told(f"{{name: https, port: 443, protocol: HTTPS, {tls}}}")
    assert (found["https"] == TLS_FAULT) is refused


@pytest.mark.parametrize(
    ("more", "accepted"),
    [
        ("addresses: [{value: 203.0.113.7}]", True),
        ("addresses: [{type: IPAddress, value: '2001:db8::7'}]", True),
        ("addresses: [{value: 203.0.113.7}, {value: 203.0.113.8}]", False),
        ("addresses: [{type: Hostname, value: edge.example}]", False),
        ("addresses: [{type: Hostname, value: edge.example}, {value: 203.0.113.7}]", True),
        ("addresses: [{value: nowhere}]", False),
        ("addresses: [{value: '${ADDRESS}'}]", True),
        ("infrastructure: {parametersRef: {group: gateway.kgateway.dev, kind: GatewayParameters, name: own}}", True),
        ("infrastructure: {parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: own}}", False),
        ("infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: own}}", False),
    ],
)
def test_a_gateway_whose_proxy_cannot_be_deployed(more: str, accepted: bool) -> None:
    """Source: pkg/kgateway/deployer/gateway_parameters.go, pkg/deployer/values_helpers.go @ v2.4.0."""
    own = (
        worlds.manifest("gateway.kgateway.dev/v1alpha1", "GatewayParameters", "own", "infra", "spec: {}"),
        worlds.manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "own", "infra", "spec: {}"),
        worlds.manifest("v1", "ConfigMap", "own", "infra", "data: {}"),
    )
    expected = "Accepted=True/Accepted" if accepted else "Accepted=False/InvalidParameters"
    assert expected in told(HTTP, more=more, beside=own)[""]
