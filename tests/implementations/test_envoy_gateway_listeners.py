"""What Envoy Gateway writes on listeners, Gateways and ListenerSets, and what a listener then serves.

Found by tests/witness; source: docs/design/implementations/envoy-gateway.md §11.
"""

from __future__ import annotations

import json

import pytest

from policylint.report.simulate.status import stanzas
from policylint.simulation import Simulation
from policylint.trace import Tracer, request
from tests import worlds
from tests.implementations.worlds_envoy_gateway import CLASS
from tests.witness.envoy_gateway_worlds import CERTIFICATE, PRIVATE_KEY
from tests.worlds import conditions, gateway, grant, listener_set, route, service, simulated

EVERYWHERE = "namespaces: {from: All}"
BOTH = f"[{{name: both, port: 80, protocol: HTTP, allowedRoutes: {{{EVERYWHERE}, kinds: [{{kind: HTTPRoute}}, %s]}}}}]"
SECURE = "[{name: both, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert, namespace: keys}]}, %s}]"
CERT = worlds.manifest("v1", "Secret", "cert", "keys", "data: {}")
RULES = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"


def of(*manifests: str) -> Simulation:
    return simulated(CLASS, *manifests, route(more=RULES), service())


def told(simulation: Simulation) -> list[str]:
    """The conditions of the only listener of the only Gateway."""
    (state,) = simulation.topology.gateways
    return conditions(state.listeners[0].conditions)


def answer(simulation: Simulation, scheme: str = "http") -> str:
    outcome = Tracer(simulation).trace(request({"scheme": scheme, "host": "shop.example"})).outcome
    return "refused" if outcome.refused else str(outcome.status or "reaches")


@pytest.mark.parametrize(("kind", "said"), [("TCPRoute", "refused"), ("GRPCRoute", "reaches")])
def test_a_listener_that_names_a_kind_it_does_not_take_serves_no_other_either(kind: str, said: str) -> None:
    simulation = of(gateway(listeners=BOTH % f"{{kind: {kind}}}"))
    assert answer(simulation) == said
    refused = ["ResolvedRefs=False/InvalidRouteKinds"]
    assert told(simulation) == (
        refused if said == "refused" else ["Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"]
    )


def test_another_controller_serves_the_kinds_that_the_listener_takes() -> None:
    simulation = simulated(
        worlds.gateway_class(), gateway(listeners=BOTH % "{kind: TCPRoute}"), route(more=RULES), service()
    )
    assert answer(simulation) == "reaches"


def test_a_certificate_that_no_grant_gives_is_worse_than_a_broken_one() -> None:
    listeners = SECURE % f"allowedRoutes: {{{EVERYWHERE}}}"
    assert told(of(gateway(listeners=listeners), CERT)) == ["ResolvedRefs=False/RefNotPermitted"]
    given = grant(
        "keys", f"{{group: {worlds.GATEWAY_API}, kind: Gateway, namespace: infra}}", "{group: '', kind: Secret}"
    )
    broken = told(of(gateway(listeners=listeners), CERT, given))
    assert broken == ["Accepted=True/Accepted", "ResolvedRefs=False/InvalidCertificateRef"]


def test_a_gateway_that_is_refused_has_no_listeners_in_its_status() -> None:
    simulation = of(gateway(more="addresses: [{type: example.net/own, value: one}]"))
    (status,) = (each["status"] for each in stanzas(simulation) if each["kind"] == "Gateway")
    assert list(status) == ["conditions"]
    assert not [each for each in stanzas(simulation) if each["kind"] == "HTTPRoute"]


def test_routes_have_no_entry_for_a_parent_that_nobody_serves() -> None:
    parents = "[{name: edge, namespace: infra}, {name: gone, namespace: infra}]"
    simulation = simulated(CLASS, gateway(), route(parents=parents, more=RULES), service())
    (status,) = (each["status"] for each in stanzas(simulation) if each["kind"] == "HTTPRoute")
    assert [each["parentRef"]["name"] for each in status["parents"]] == ["edge"]


@pytest.mark.parametrize(("admits", "listeners"), [("All", 1), ("None", 0)])
def test_a_listener_set_that_is_not_let_in_has_no_listeners_in_its_status(admits: str, listeners: int) -> None:
    more = f"allowedListeners: {{namespaces: {{from: {admits}}}}}"
    simulation = of(gateway(more=more), listener_set("more", "shop", "[{name: own, port: 90, protocol: HTTP}]"))
    (status,) = (each["status"] for each in stanzas(simulation) if each["kind"] == "ListenerSet")
    assert len(status.get("listeners", ())) == listeners


OPEN = f"allowedRoutes: {{{EVERYWHERE}}}"
WIDE = f"{{name: wide, port: 80, protocol: HTTP, hostname: '*.example', {OPEN}}}"
PARENTS = "[{name: edge, namespace: infra, sectionName: wide}]"


@pytest.mark.parametrize(
    ("other", "parents", "answers"),
    [
        (f"{{name: own, port: 80, protocol: HTTP, hostname: shop.example, {OPEN}}}", PARENTS, "404 reaches"),
        (
            f"{{name: own, port: 80, protocol: HTTP, hostname: shop.example, {OPEN}}}",
            "[{name: edge, namespace: infra}]",
            "reaches reaches",
        ),
        (f"{{name: own, port: 81, protocol: HTTP, hostname: shop.example, {OPEN}}}", PARENTS, "reaches reaches"),
        (f"{{name: own, port: 80, protocol: HTTP, hostname: pay.example, {OPEN}}}", PARENTS, "reaches reaches"),
        (f"{{name: own, port: 80, protocol: HTTP, {OPEN}}}", PARENTS, "reaches reaches"),
    ],
)
def test_a_hostname_that_a_listener_names_is_served_there_alone(other: str, parents: str, answers: str) -> None:
    body = route(parents=parents, more=f"hostnames: [shop.example, www.example], {RULES}")
    simulation = simulated(CLASS, gateway(listeners=f"[{WIDE}, {other}]"), body, service())
    tracer = Tracer(simulation)
    given = [tracer.trace(request({"host": host, "port": 80})).outcome for host in ("shop.example", "www.example")]
    assert " ".join(str(each.status or "reaches") for each in given) == answers


def test_a_tcp_route_serves_nothing_beside_a_tls_route() -> None:
    secure = f"[{{name: tls, port: 443, protocol: TLS, tls: {{certificateRefs: [{{name: cert}}]}}, {OPEN}}}]"
    plain = route("plain", kind="TCPRoute", more=RULES)
    named = route("named", kind="TLSRoute", more=f"hostnames: [shop.example], {RULES}")
    asked = request({"scheme": "tls", "sni": "www.example", "port": 443})
    at = (CLASS, gateway(listeners=secure), plain, service())
    assert Tracer(simulated(*at)).trace(asked).outcome.backends
    assert Tracer(simulated(*at, named)).trace(asked).outcome.refused


def test_a_listener_that_has_lost_its_hostname_takes_it_from_no_other() -> None:
    web = f"{{name: web, port: 80, protocol: HTTP, hostname: shop.example, {OPEN}}}"
    late = f"[{web}, {{name: late, port: 81, protocol: HTTP}}]"
    both = gateway(listeners=f"[{web}]", more=f"allowedListeners: {{{EVERYWHERE}}}"), listener_set("more", "shop", late)
    own = route(more=f"hostnames: [shop.example], {RULES}")
    assert answer(simulated(CLASS, *both, own, service())) == "reaches"


HTTPS = "{name: both, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}%s}"
PEM = json.dumps({"tls.crt": CERTIFICATE, "tls.key": PRIVATE_KEY})
TLS_DATA = f"type: kubernetes.io/tls\nstringData: {PEM}"
OWN_CERT = worlds.manifest("v1", "Secret", "cert", "infra", TLS_DATA)
CA = worlds.manifest("v1", "ConfigMap", "ca", "infra", f"data: {json.dumps({'ca.crt': CERTIFICATE})}")


def test_a_listener_without_settings_for_its_tls_serves_nothing_and_is_in_no_way() -> None:
    plain = "{name: plain, port: 443, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}"
    simulation = of(gateway(listeners=f"[{HTTPS % ''}, {plain}]"))
    assert told(simulation) == ["ResolvedRefs=True/ResolvedRefs"]
    (state,) = simulation.topology.gateways
    assert conditions(state.listeners[1].conditions) == ["Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"]
    assert answer(of(gateway(listeners=f"[{HTTPS % ''}]")), "https") == "refused"


@pytest.mark.parametrize(
    ("others", "resolved", "said"),
    [
        ("", "True/ResolvedRefs", "reaches"),
        (", {name: gone}", "False/PartiallyInvalidCertificateRef", "reaches"),
        (", {name: cert, namespace: keys}", "False/PartiallyInvalidCertificateRef", "reaches"),
    ],
)
def test_of_several_certificates_those_that_can_be_used_are_served(others: str, resolved: str, said: str) -> None:
    listeners = f"[{HTTPS % f', tls: {{certificateRefs: [{{name: cert}}{others}]}}'}]"
    simulation = of(gateway(listeners=listeners), OWN_CERT, CERT)
    assert told(simulation) == ["Accepted=True/Accepted", f"ResolvedRefs={resolved}"]
    assert answer(simulation, "https") == said


@pytest.mark.parametrize(
    ("protocol", "authorities", "listener", "of_gateway"),
    [
        ("HTTPS", "ca", "Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs", "True/ResolvedRefs"),
        (
            "HTTPS",
            "ca gone",
            "Accepted=False/NoValidCACertificate ResolvedRefs=False/InvalidCACertificateRef",
            "False/InvalidParameters",
        ),
        ("TLS", "ca gone", "Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs", "False/InvalidParameters"),
    ],
)
def test_each_ca_must_be_usable_and_only_https_asks_for_them(
    protocol: str, authorities: str, listener: str, of_gateway: str
) -> None:
    references = ", ".join(f"{{group: '', kind: ConfigMap, name: {name}}}" for name in authorities.split())
    mode = "AllowInsecureFallback"
    validation = f"tls: {{frontend: {{default: {{validation: {{mode: {mode}, caCertificateRefs: [{references}]}}}}}}}}"
    listeners = f"[{HTTPS % ', tls: {certificateRefs: [{name: cert}]}'}]".replace("HTTPS", protocol)
    simulation = of(gateway(listeners=listeners, more=validation), OWN_CERT, CA)
    assert told(simulation) == listener.split()
    (state,) = simulation.topology.gateways
    by_type = {each.type: f"{each.status}/{each.reason}" for each in state.conditions}
    assert by_type["ResolvedRefs"] == of_gateway
    assert ("InsecureFrontendValidationMode" in by_type) is (of_gateway == "True/ResolvedRefs")


@pytest.mark.parametrize(
    ("reference", "merge", "accepted"),
    [
        ("{group: gateway.envoyproxy.io, kind: EnvoyProxy, name: own}", "false", True),
        ("{group: gateway.envoyproxy.io, kind: EnvoyProxy, name: own}", "true", False),
        ("{group: gateway.envoyproxy.io, kind: EnvoyProxy, name: gone}", "false", False),
        ("{group: '', kind: ConfigMap, name: ca}", "false", False),
    ],
)
def test_a_gateway_names_an_envoy_proxy_that_is_there_and_none_where_its_class_shares_one(
    reference: str, merge: str, accepted: bool
) -> None:
    """internal/provider/kubernetes/controller.go, processGatewayParamsRef."""
    proxies = (
        worlds.manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", name, "infra", f"spec: {{{spec}}}")
        for name, spec in (("own", "concurrency: 2"), ("shared", f"mergeGateways: {merge}"))
    )
    parameters = "{group: gateway.envoyproxy.io, kind: EnvoyProxy, name: shared, namespace: infra}"
    of_class = CLASS.replace("spec: {", f"spec: {{parametersRef: {parameters}, ")
    assert "parametersRef" in of_class
    named = gateway(more=f"infrastructure: {{parametersRef: {reference}}}")
    simulation = simulated(of_class, *proxies, CA, named, route(more=RULES), service())
    (state,) = simulation.topology.gateways
    assert conditions(state.conditions) == [
        "Accepted=True/Accepted" if accepted else "Accepted=False/InvalidParameters"
    ]
    assert answer(simulation) == ("reaches" if accepted else "refused")


def test_a_protocol_of_somebody_else_is_no_protocol_here() -> None:
    listeners = "[{name: both, port: 80, protocol: example.net/own, allowedRoutes: {namespaces: {from: All}}}]"
    simulation = of(gateway(listeners=listeners))
    assert told(simulation) == ["Accepted=False/UnsupportedProtocol", "ResolvedRefs=True/ResolvedRefs"]
    assert conditions(simulation.topology.routes[0].parents[0].conditions)[0] == "Accepted=False/NotAllowedByListeners"


def test_a_listener_set_does_not_hang_on_the_listeners_of_its_gateway() -> None:
    """internal/gatewayapi/listenerset.go: only a Gateway that is refused itself has it refused."""
    missing = (
        "tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]}}}}"
    )
    listeners = f"[{HTTPS % ', tls: {certificateRefs: [{name: cert}]}'}]"
    admits = "allowedListeners: {namespaces: {from: All}}"
    apart = listener_set("more", "shop", "[{name: own, port: 81, protocol: HTTP}]")
    simulation = of(gateway(listeners=listeners, more=f"{missing}, {admits}"), apart, OWN_CERT)
    (state,) = simulation.topology.listener_sets
    assert conditions(state.conditions) == ["Accepted=True/Accepted"]
    assert conditions(simulation.topology.gateways[0].conditions)[0] == "Accepted=False/ListenersNotValid"
