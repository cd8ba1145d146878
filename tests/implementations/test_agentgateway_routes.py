"""What agentgateway makes of Gateways, ListenerSets, routes and BackendTLSPolicies, as its controller does."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace.request import request
from policylint.trace.tracing import Tracer
from tests import worlds

OURS = worlds.gateway_class("edge", "agentgateway.dev/agentgateway")
WORLD = (OURS, worlds.gateway(of_class="edge"), worlds.service("web", "shop"))
GOOD = "{matches: [{path: {value: /a}}], backendRefs: [{name: web, port: 80}]}"
UNKNOWN = "{type: ExtensionRef, extensionRef: {group: example.net, kind: Odd, name: x}}"
TWO = "{certificateRefs: [{name: one}, {name: two}]}"
MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: NAME, port: 80}}}"
REDIRECT = "{type: RequestRedirect, requestRedirect: {hostname: b.example}}"


def told(rules: str, kind: str = "HTTPRoute") -> tuple[int | None, str]:
    """Return the status of a request for `/a`, and ResolvedRefs of the route."""
    simulation = worlds.simulated(*WORLD, worlds.route("web", kind=kind, more=f"rules: [{rules}]"))
    outcome = Tracer(simulation).trace(request({"host": "x.test", "path": "/a"})).outcome
    ((parent,),) = [route.parents for route in simulation.topology.routes]
    (resolved,) = [each.reason for each in parent.conditions if each.type == "ResolvedRefs"]
    return outcome.status, resolved


@pytest.mark.parametrize(
    ("rule", "status", "reason"),
    [
        (f"{{filters: [{UNKNOWN}]}}", 404, "IncompatibleFilters"),
        (f"{{filters: [{REDIRECT}, {REDIRECT}]}}", 404, "IncompatibleFilters"),
        (f"{{filters: [{MIRROR}]}}".replace("NAME", "gone"), 404, "BackendNotFound"),
        (f"{{filters: [{MIRROR}]}}".replace("NAME", "web"), None, "ResolvedRefs"),
        ("{backendRefs: [{name: gone, port: 80}]}", None, "BackendNotFound"),
        ("{backendRefs: [{name: web.shop, port: 80}]}", 404, "BackendError"),
        (
            "{backendRefs: [{kind: ServiceImport, group: multicluster.x-k8s.io, name: web, port: 80}]}",
            None,
            "InvalidKind",
        ),
        ("{backendRefs: [{name: web, namespace: pay, port: 80}]}", None, "RefNotPermitted"),
        (f"{{backendRefs: [{{name: web, port: 80, filters: [{UNKNOWN}]}}]}}", 404, "BackendError"),
    ],
)
def test_one_rule_may_stop_the_whole_route(rule: str, status: int | None, reason: str) -> None:
    assert told(f"{GOOD}, {rule}") == (status, reason)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (f"{{filters: [{UNKNOWN}]}}", "IncompatibleFilters"),
        ("{backendRefs: [{name: web.shop, port: 80}]}", "BackendError"),
    ],
)
def test_lint_tells_what_stops_a_route(rule: str, reason: str) -> None:
    findings = run(worlds.simulated(*WORLD, worlds.route("web", more=f"rules: [{GOOD}, {rule}]")))
    assert [each.label for each in findings if each.rule == "GWP416"] == [
        f"its status will say ResolvedRefs False, {reason}"
    ]


@pytest.mark.parametrize(
    ("listeners", "accepted"),
    [
        ("[{name: a, port: 80, protocol: HTTP}, {name: b, port: 80, protocol: HTTP}]", "True/Accepted"),
        ("[{name: a, port: 80, protocol: HTTP}, {name: b, port: 53, protocol: UDP}]", "True/ListenersNotValid"),
        ("[{name: b, port: 53, protocol: UDP}]", "False/ListenersNotValid"),
        (
            "[{name: a, port: 80, protocol: HTTP}, {name: b, port: 443, protocol: HTTPS, tls: TWO}]",
            "True/ListenersNotValid",
        ),
    ],
)
def test_gateways(listeners: str, accepted: str) -> None:
    """Of listeners of one Gateway that are not distinct nothing is said; two certificates are one too many."""
    edge = worlds.gateway(of_class="edge", listeners=listeners.replace("TWO", TWO))
    (gateway,) = worlds.simulated(OURS, edge).topology.gateways
    assert worlds.conditions(gateway.conditions) == [f"Accepted={accepted}"]


def test_listeners_of_a_set_are_in_conflict_with_those_before_them() -> None:
    own = "allowedListeners: {namespaces: {from: All}}"
    spec = "spec: {parentRef: {name: edge}, listeners: [{name: b, port: 80, protocol: TCP}]}"
    edge = worlds.gateway(of_class="edge", listeners="[{name: a, port: 80, protocol: HTTP}]").rstrip()
    edge = edge[: edge.rindex("}")] + f", {own}}}"
    held = worlds.manifest("gateway.networking.k8s.io/v1", "ListenerSet", "more", "infra", spec)
    topology = worlds.simulated(OURS, edge, held).topology
    (state,) = topology.listener_sets
    assert "Conflicted=True/ProtocolConflict" in worlds.conditions(state.listeners[0].conditions)
    assert worlds.conditions(state.conditions) == ["Accepted=False/ListenersNotValid"]


def test_every_ca_has_to_be_a_config_map() -> None:
    def policy(*references: str) -> str:
        spec = "targetRefs: [{group: '', kind: Service, name: web}], validation: {hostname: a.example, "
        return worlds.manifest(
            *("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "shop"),
            f"spec: {{{spec}caCertificateRefs: [{', '.join(references)}]}}}}",
        )

    pem = '"-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\\n"'
    authority = worlds.manifest("v1", "ConfigMap", "ca", "shop", f"data: {{ca.crt: {pem}}}")
    there, secret = "{group: '', kind: ConfigMap, name: ca}", "{group: '', kind: Secret, name: ca}"
    for references, verdict in (((there,), "Enforced"), ((there, secret), "Invalid"), ((secret,), "Invalid")):
        route = worlds.route("web", more=f"rules: [{GOOD}]")
        (state,) = worlds.simulated(*WORLD, route, authority, policy(*references)).policies.values()
        assert state.verdict == verdict
