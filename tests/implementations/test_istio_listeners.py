"""Listeners, Gateways and ListenerSets as istiod reports them (docs/design/implementations/istio.md §8)."""

from __future__ import annotations

import json

import pytest

from policylint.trace.request import request
from policylint.trace.tracing import Tracer
from tests import worlds
from tests.witness.envoy_gateway_worlds import CERTIFICATE, PRIVATE_KEY

CLASS = worlds.gateway_class("istio", "istio.io/gateway-controller")
CERT = f"""
apiVersion: v1
kind: Secret
metadata: {{name: cert, namespace: infra}}
stringData: {{tls.crt: {json.dumps(CERTIFICATE)}, tls.key: {json.dumps(PRIVATE_KEY)}}}
"""
LETS_IN = "allowedListeners: {namespaces: {from: All}}"
HTTP = "{name: http, port: 80, protocol: HTTP}"


def https(name: str, *certificates: str, port: int = 443, more: str = "") -> str:
    references = ", ".join(f"{{name: {each}}}" for each in certificates)
    return f"{{name: {name}, port: {port}, protocol: HTTPS, tls: {{certificateRefs: [{references}]}}{more}}}"


def told(*listeners: str, more: str = "", beside: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Return the conditions of a Gateway, and of ListenerSets and listeners by name."""
    gateway = worlds.gateway(of_class="istio", listeners=f"[{', '.join(listeners)}]", more=more)
    topology = worlds.simulated(CLASS, CERT, gateway, *beside).topology
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
    ("first", "second", "lost"),
    [
        ("HTTP", "HTTP", "HostnameConflict"),
        ("HTTP", "HTTP, hostname: a.example", ""),
        ("HTTP", "HTTPS, hostname: a.example", ""),
        ("HTTP", "HTTPS", "ProtocolConflict"),
        ("HTTP, hostname: a.example", "TLS, hostname: a.example", "ProtocolConflict"),
        ("HTTP", "TCP", "ProtocolConflict"),
        ("TCP", "TCP", "ProtocolConflict"),
        ("UDP", "TCP", "ProtocolConflict"),
        ("TCP", "HTTP, hostname: a.example", "ProtocolConflict"),
    ],
)
def test_of_listeners_that_are_not_distinct_the_first_one_stands(first: str, second: str, lost: str) -> None:
    found = told(f"{{name: one, port: 80, protocol: {first}}}", f"{{name: two, port: 80, protocol: {second}}}")
    assert has_lost(found["one"]) == ""
    assert has_lost(found["two"]) == lost
    if lost:
        assert f"Accepted=False/{lost}" in found["two"]
        assert not any(each.startswith("ResolvedRefs") for each in found["two"])


def test_listener_sets_come_after_the_gateway_by_age() -> None:
    sets = [
        worlds.listener_set(name, "infra", f"[{{name: {name}-http, port: {port}, protocol: HTTP}}]", created)
        for name, port, created in (("young", 81, "2026-01-02T00:00:00Z"), ("old", 81, "2026-01-01T00:00:00Z"))
    ]
    sets.append(worlds.listener_set("late", "infra", "[{name: late-http, port: 80, protocol: HTTP}]"))
    found = told(HTTP, more=LETS_IN, beside=tuple(sets))
    assert [has_lost(found[f"{name}-http"]) for name in ("old", "young", "late")] == ["", *["HostnameConflict"] * 2]
    assert found["old"] == ["Accepted=True/Accepted"]
    assert found["young"] == found["late"] == ["Accepted=False/ListenersNotValid"]
    assert found[""][0] == "Accepted=True/Accepted"


@pytest.mark.parametrize(
    ("certificates", "resolved", "accepted"),
    [
        (("cert",), "True/ResolvedRefs", "True/Accepted"),
        (("gone",), "False/InvalidCertificateRef", "True/Accepted"),
        (("gone", "cert"), "True/ResolvedRefs", "True/Accepted"),
        (("cert", "cert", "cert"), "False/InvalidCertificateRef", "True/Accepted"),
        (("gone, namespace: pay",), "False/InvalidCertificateRef", "True/Accepted"),
        (("cert, namespace: pay",), "False/RefNotPermitted", "False/NoValidCACertificate"),
    ],
)
def test_one_certificate_of_two_is_enough(certificates: tuple[str, ...], resolved: str, accepted: str) -> None:
    elsewhere = CERT.replace("infra", "pay")
    found = told(https("tls", *certificates), HTTP, beside=(elsewhere,))
    assert f"ResolvedRefs={resolved}" in found["tls"]
    assert f"Accepted={accepted}" in found["tls"]
    whole = resolved.startswith("True")
    assert found[""][0] == f"Accepted=True/{'Accepted' if whole else 'ListenersNotValid'}"


@pytest.mark.parametrize(
    ("authorities", "resolved"),
    [
        ("{group: '', kind: ConfigMap, name: gone}", "InvalidCACertificateRef"),
        ("{group: '', kind: Service, name: gone}", "InvalidCACertificateKind"),
        ("{group: '', kind: ConfigMap, name: ca}, {group: '', kind: ConfigMap, name: ca}", "InvalidCACertificateRef"),
        ("{group: '', kind: ConfigMap, name: ca}", ""),
    ],
)
def test_a_ca_is_asked_for_where_there_is_a_certificate(authorities: str, resolved: str) -> None:
    more = f"tls: {{frontend: {{default: {{validation: {{caCertificateRefs: [{authorities}]}}}}}}}}"
    ca = worlds.manifest("v1", "ConfigMap", "ca", "infra", f"data: {{ca.crt: {json.dumps(CERTIFICATE)}}}")
    found = told(https("good", "cert"), https("bad", "gone", port=444), more=more, beside=(ca,))
    assert f"ResolvedRefs={f'False/{resolved}' if resolved else 'True/ResolvedRefs'}" in found["good"]
    assert ("Accepted=False/NoValidCACertificate" in found["good"]) == bool(resolved)
    assert {"Accepted=True/Accepted", "ResolvedRefs=False/InvalidCertificateRef"} <= set(found["bad"])


@pytest.mark.parametrize(
    ("addresses", "accepted", "has_listeners"),
    [
        ("{value: 10.0.0.1}", "True/Accepted", True),
        ("{type: Hostname, value: edge}", "True/Accepted", True),
        ("{value: 10.0.0.1}, {value: 10.0.0.2}", "False/UnsupportedAddress", False),
        ("{type: example.net/own, value: one}", "False/UnsupportedAddress", False),
        ("{value: 10.0.0.1}, {type: Hostname, value: edge}", "False/UnsupportedAddress", True),
    ],
)
def test_a_gateway_of_own_services_names_them_by_hostname(addresses: str, accepted: str, has_listeners: bool) -> None:
    more = f"{LETS_IN}, addresses: [{addresses}]"
    found = told(HTTP, more=more, beside=(worlds.listener_set("own", "infra", "[{name: a, port: 1, protocol: HTTP}]"),))
    assert found[""][0] == f"Accepted={accepted}"
    assert found["own"] == [f"Accepted={accepted}"]
    assert bool(found["http"]) == bool(found["a"]) == has_listeners


def test_parameters_are_in_a_config_map() -> None:
    parameters = "infrastructure: {parametersRef: {group: '', kind: Secret, name: cert}}"
    assert told(HTTP, more=parameters)[""][0] == "Accepted=False/InvalidParameters"


@pytest.mark.parametrize(
    ("kinds", "resolved"),
    [
        ("HTTPRoute", "True/ResolvedRefs"),
        ("UDPRoute", "False/InvalidRouteKinds"),
        ("HTTPRoute HTTPRoute", "False/InvalidRouteKinds"),
    ],
)
def test_kinds_of_routes_that_a_listener_does_not_take_make_it_no_less_valid(kinds: str, resolved: str) -> None:
    named = ", ".join(f"{{kind: {each}}}" for each in kinds.split())
    found = told(f"{{name: http, port: 80, protocol: HTTP, allowedRoutes: {{kinds: [{named}]}}}}")
    assert f"ResolvedRefs={resolved}" in found["http"]
    assert found[""][0] == "Accepted=True/Accepted"


def test_wrong_kinds_are_said_in_place_of_a_certificate_that_is_missing() -> None:
    found = told(https("tls", "gone", more=", allowedRoutes: {kinds: [{kind: TLSRoute}]}"))
    assert "ResolvedRefs=False/InvalidRouteKinds" in found["tls"]
    assert found[""][0] == "Accepted=False/ListenersNotValid"


TWO = "[{name: one, port: 80, protocol: HTTP}, {name: two, port: 80, protocol: HTTP}]"


@pytest.mark.parametrize(
    ("parent", "accepted"),
    [
        ("{name: edge}", "Accepted=True/Accepted"),
        ("{name: edge, sectionName: one}", "Accepted=True/Accepted"),
        ("{name: edge, sectionName: two}", "Accepted=False/NoMatchingParent"),
        ("{name: more, kind: ListenerSet}", ""),
        ("{name: out, kind: ListenerSet}", ""),
    ],
)
def test_routes_have_listeners_for_parents_that_stand(parent: str, accepted: str) -> None:
    simulation = worlds.simulated(
        CLASS,
        worlds.gateway(of_class="istio", listeners=TWO, more="allowedListeners: {namespaces: {from: Same}}"),
        worlds.listener_set("more", "infra", "[{name: late, port: 80, protocol: HTTP}]"),
        worlds.listener_set("out", "pay", "[{name: out, port: 81, protocol: HTTP}]"),
        worlds.route("web", "infra", f"[{parent}]", more="rules: [{}]"),
    )
    ((told_of,),) = [each.parents for each in simulation.topology.routes]
    assert told_of.silent == (accepted == "")
    if accepted:
        assert accepted in worlds.conditions(told_of.conditions)


def test_the_listener_that_stands_serves() -> None:
    simulation = worlds.simulated(
        CLASS,
        worlds.gateway(of_class="istio", listeners=TWO),
        worlds.service("web", "infra"),
        worlds.route("web", "infra", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
    )
    trace = Tracer(simulation).trace(request({"host": "a.example", "path": "/"}))
    assert trace.listener is not None
    assert (trace.listener.node.section, set(map(str, trace.outcome.backends))) == ("one", {"Service infra/web"})
