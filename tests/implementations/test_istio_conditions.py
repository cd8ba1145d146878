"""The statuses that istiod writes (docs/design/implementations/istio.md §1 and §8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import ResourceKey
from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests.implementations.test_istio import (
    AMBIENT,
    USES,
    WAYPOINT,
    deployment,
    gateway,
    policy,
    service,
    simulated,
    state,
    to,
)
from tests.worlds import conditions, gateway_class, manifest, route
from tests.worlds import policy as policy_of

CLASS = gateway_class("istio", "istio.io/gateway-controller")


def flat(found: Simulation, name: str = "one") -> list[str]:
    return conditions(state(found, name).conditions)


def per_ancestor(found: Simulation, name: str) -> list[str]:
    return [
        f"{each.ancestor.key.path}{'#' + each.ancestor.section if each.ancestor.section else ''} {condition}"
        for each in state(found, name).ancestors
        for condition in conditions(each.conditions)
    ]


def test_several_targets_make_one_condition() -> None:
    bound = "{kind: Service, name: cart}"
    for refs, wanted in [
        (bound, "WaypointAccepted=True/Accepted"),
        (f"{bound}, {{kind: Service, name: nobody}}", "WaypointAccepted=True/PartiallyInvalid"),
        ("{kind: Service, name: nobody}", "WaypointAccepted=False/TargetNotFound"),
        ("{kind: Service, name: nobody}, {kind: Service, name: none}", "WaypointAccepted=False/Invalid"),
    ]:
        one = policy("AuthorizationPolicy", "one", f"targetRefs: [{refs}]")
        found = simulated(USES, WAYPOINT, service(), one)
        assert flat(found) == [wanted]
    message = state(found, "one").conditions[0].message
    assert message == "Invalid targetRefs: Service:foo/nobody, Service:foo/none"


def test_an_ingress_gateway_enforces_what_the_condition_denies() -> None:
    found = simulated(AMBIENT, gateway(), policy("AuthorizationPolicy", "one", to("Gateway", "edge")))
    assert flat(found) == ["WaypointAccepted=False/TargetNotFound"]
    assert state(found, "one").verdict == "Enforced"


def test_a_class_must_be_the_waypoints() -> None:
    target = to("GatewayClass", "istio")
    found = simulated(WAYPOINT, CLASS, policy("AuthorizationPolicy", "one", target, "istio-system"))
    assert flat(found) == ["WaypointAccepted=False/Invalid"]


@pytest.mark.parametrize(
    ("spec", "condition"),
    [
        ("", "True/Accepted"),
        (
            "rules: [{from: [{source: {namespaces: [a]}}], when: [{key: source.ip, values: [10.0.0.1]}]}]",
            "True/Accepted",
        ),
        ("rules: [{to: [{operation: {paths: [/a], ports: ['80']}}]}]", "True/UnsupportedValue"),
        ("rules: [{when: [{key: 'request.headers[a]', values: [b]}]}]", "True/UnsupportedValue"),
        ("action: AUDIT, rules: [{}]", "False/UnsupportedValue"),
        ("action: CUSTOM, provider: {name: x}, rules: [{}]", "False/UnsupportedValue"),
    ],
)
def test_without_targets_ztunnel_reports(spec: str, condition: str) -> None:
    assert flat(simulated(AMBIENT, deployment(), policy("AuthorizationPolicy", "one", spec))) == [
        f"ZtunnelAccepted={condition}"
    ]


def test_without_ambient_mode_nothing_is_reported() -> None:
    assert flat(simulated(deployment(), policy("AuthorizationPolicy", "one"))) == []


# §8 Gateway API's policies on backends.


def backend_tls(name: str, refs: str, validation: str = "wellKnownCACertificates: System", more: str = "") -> str:
    spec = f"spec: {{targetRefs: [{refs}], validation: {{hostname: a.b, {validation}}}}}"
    return manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, "foo", spec, more=more)


CART = "{group: '', kind: Service, name: cart}"
GONE = "{group: '', kind: Service, name: gone}"
ENTRY = manifest(
    "networking.istio.io/v1",
    "ServiceEntry",
    "ext",
    "foo",
    "spec: {hosts: [ext.example.com, '*.wild.example.com'], ports: [{name: tls, number: 443}]}",
)


def test_the_fault_of_one_target_stays_on_all_that_follow() -> None:
    """The quirk of BackendTLSPolicyCollection: conditions are cloned shallowly."""
    found = simulated(CLASS, service(), backend_tls("one", f"{GONE}, {CART}"))
    assert per_ancestor(found, "one") == [
        "foo/gone Accepted=False/TargetNotFound",
        "foo/gone ResolvedRefs=True/ResolvedRefs",
        "foo/cart Accepted=False/TargetNotFound",
        "foo/cart ResolvedRefs=True/ResolvedRefs",
    ]


def test_a_port_of_a_service_entry_is_a_section() -> None:
    refs = "{group: networking.istio.io, kind: ServiceEntry, name: ext, sectionName: %s}"
    found = simulated(CLASS, ENTRY, backend_tls("good", refs % "tls"), backend_tls("bad", refs % "nope"))
    assert per_ancestor(found, "good")[0] == "foo/ext#tls Accepted=True/Accepted"
    assert per_ancestor(found, "bad")[0] == "foo/ext#nope Accepted=False/TargetNotFound"


@pytest.mark.parametrize(
    ("validation", "wanted"),
    [
        ("wellKnownCACertificates: Mine", ["Accepted=False/Invalid", "ResolvedRefs=True/ResolvedRefs"]),
        (
            "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]",
            ["Accepted=False/NoValidCACertificate", "ResolvedRefs=False/InvalidCACertificateRef"],
        ),
        (
            "caCertificateRefs: [{group: '', kind: Secret, name: gone}]",
            ["Accepted=False/NoValidCACertificate", "ResolvedRefs=False/InvalidCACertificateRef"],
        ),
        (
            "caCertificateRefs: [{group: '', kind: Service, name: cart}]",
            ["Accepted=False/NoValidCACertificate", "ResolvedRefs=False/InvalidKind"],
        ),
        (
            "caCertificateRefs: [{group: example.net, kind: Bundle, name: gone}]",
            ["Accepted=False/NoValidCACertificate", "ResolvedRefs=False/InvalidKind"],
        ),
    ],
)
def test_a_ca_that_is_not_valid(validation: str, wanted: list[str]) -> None:
    found = simulated(CLASS, service(), backend_tls("one", CART, validation))
    assert per_ancestor(found, "one") == [f"foo/cart {each}" for each in wanted]


@pytest.mark.parametrize("lacking", ["old", "young"])
def test_a_policy_without_a_ca_has_its_service_all_the_same(lacking: str) -> None:
    """btlsIsConflicted asks neither which of them is valid; nothing gets to a Service whose policy has no CA."""
    no_ca = "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]"
    spec = "spec: {{targetRefs: [{}], validation: {{hostname: a.b, {}}}}}"
    kind = "gateway.networking.k8s.io/v1", "BackendTLSPolicy"
    policies = [
        manifest(
            *kind, name, "foo", spec.format(CART, no_ca if name == lacking else "wellKnownCACertificates: System"), age
        )
        for name, age in (("old", "2026-01-01T00:00:00Z"), ("young", "2026-01-02T00:00:00Z"))
    ]
    found = simulated(CLASS, service(), *policies)
    accepted = "False/NoValidCACertificate" if lacking == "old" else "True/Accepted"
    assert per_ancestor(found, "old")[0] == f"foo/cart Accepted={accepted}"
    assert per_ancestor(found, "young")[0] == "foo/cart Accepted=False/Conflicted"


@pytest.mark.parametrize(
    ("data", "valid"),
    [("ca.crt: x", True), ("cacert: x", True), ("ca.crt: ''", False), ("tls.crt: x", False), ("", False)],
)
def test_a_config_map_with_a_ca(data: str, valid: bool) -> None:
    """ExtractRoot takes either key, and no empty one."""
    authority = f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: ca, namespace: foo}}, data: {{{data}}}}}"
    policy_ = backend_tls("one", CART, "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]")
    found = simulated(CLASS, service(), authority, policy_)
    wanted = "True/ResolvedRefs" if valid else "False/InvalidCACertificateRef"
    assert f"foo/cart ResolvedRefs={wanted}" in per_ancestor(found, "one")


def test_a_tree_without_config_maps_gets_them_from_elsewhere(tmp_path: Path) -> None:
    """trust-manager and the like write them; a file that is named is taken for all there is."""
    one = backend_tls("one", CART, "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]")
    (tmp_path / "all.yaml").write_text("---".join((CLASS, service(), one)))
    said = [
        next(iter(open_workspace([str(path)]).simulations[0].policies.values())).verdict
        for path in (tmp_path, tmp_path / "all.yaml")
    ]
    assert said == ["Enforced", "Invalid"]


@pytest.mark.parametrize("value", ["true", "True", "TRUE"])
def test_an_annotation_takes_a_policy_out(value: str) -> None:
    ignored = backend_tls("a", CART, more=f"annotations: {{istio.io/ignore-policy-attachment: '{value}'}}")
    found = simulated(
        CLASS, gateway(namespace="foo"), service(), routed("{name: edge}"), ignored, backend_tls("b", CART)
    )
    assert per_ancestor(found, "a") == ["foo/cart Accepted=False/IgnoredByIstio"]
    assert per_ancestor(found, "b")[0] == "foo/cart Accepted=True/Accepted"
    assert not found.policies[ResourceKey("gateway.networking.k8s.io", "BackendTLSPolicy", "foo", "a")].groups


def test_an_annotation_takes_a_traffic_policy_out() -> None:
    spec = f"spec: {{targetRefs: [{CART}], retryConstraint: {{budget: {{percent: 20}}}}}}"
    more = "annotations: {istio.io/ignore-policy-attachment: 'True'}"
    kind = "gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy"
    found = simulated(CLASS, service(), manifest(*kind, "a", "foo", spec, more=more))
    assert per_ancestor(found, "a") == ["foo/cart Accepted=False/IgnoredByIstio"]


@pytest.mark.parametrize(("named", "verdict"), [("cart", "Enforced"), ("gone", "TargetNotFound")])
def test_a_service_import_is_the_service_of_that_name(named: str, verdict: str) -> None:
    target = f"{{group: multicluster.x-k8s.io, kind: ServiceImport, name: {named}}}"
    found = simulated(CLASS, service(), backend_tls("one", target))
    state = found.policies[ResourceKey("gateway.networking.k8s.io", "BackendTLSPolicy", "foo", "one")]
    assert state.verdict == verdict


TO_CART = "backendRefs: [{name: cart, port: 80}]"


def routed(parent: str, rule: str = TO_CART, namespace: str = "foo", more: str = "") -> str:
    """A route with one parent and one rule."""
    return route("r", namespace, f"[{parent}]", more=f"rules: [{{{rule}}}]{more}")


def test_gateways_that_route_to_the_backend_are_ancestors_whether_granted_or_not() -> None:
    found = simulated(
        CLASS,
        gateway(namespace="bar"),
        service(),
        routed("{name: edge}", "backendRefs: [{name: cart, namespace: foo, port: 80}]", "bar"),
        backend_tls("one", CART),
    )
    ancestors = [(str(each.ancestor), each.controller) for each in state(found, "one").ancestors]
    assert ancestors == [
        ("Service foo/cart", "istio.io/mesh-controller"),
        ("Gateway bar/edge", "istio.io/gateway-controller"),
    ]


@pytest.mark.parametrize(
    ("parent", "rule", "refs", "named"),
    [
        ("{name: edge}", TO_CART, CART, True),
        ("{name: edge, sectionName: nope}", TO_CART, CART, True),
        ("{name: edge, port: 81}", TO_CART, CART, True),
        ("{name: gone}", TO_CART, CART, True),
        ("{name: gone, kind: ListenerSet}", TO_CART, CART, False),
        (
            "{name: edge}",
            "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: cart, port: 80}}}]",
            CART,
            False,
        ),
        ("{name: edge}", "backendRefs: [{name: gone, port: 80}]", GONE, False),
        (
            "{name: edge}",
            TO_CART,
            "{group: '', kind: Service, name: cart, sectionName: nope}",
            False,
        ),
    ],
)
def test_gateways_that_routes_name_are_ancestors_even_where_they_do_not_attach(
    parent: str, rule: str, refs: str, named: bool
) -> None:
    """extractAncestorBackends reads parentRefs and the backendRefs of rules; a target with a fault leads nowhere."""
    found = simulated(CLASS, gateway(), service(), routed(parent, rule), backend_tls("one", refs))
    ancestors = [str(each.ancestor) for each in state(found, "one").ancestors]
    assert any(each in ancestors for each in ("Gateway foo/edge", "Gateway foo/gone")) is named


def test_traffic_policies_of_one_service_add_up_the_oldest_first() -> None:
    traffic = policy_of(
        "gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy", "%s", "Service/cart", "%s", "foo"
    )
    session, retry = "sessionPersistence: {sessionName: %s}", "retryConstraint: {budget: {percent: %d}}"
    older = traffic % ("a", f"{session % 'a'}, {retry % 1}")
    found = simulated(CLASS, service(), older, traffic % ("b", retry % 2), traffic % ("c", session % "c"))
    (group,) = found.groups
    assert group.effective.spec == {"retryConstraint": {"budget": {"percent": 1}}}  # the session is not supported
    assert state(found, "b").verdict == "Overridden"
    assert [each.name for each in state(found, "b").by] == ["a"]
    assert per_ancestor(found, "b") == ["foo/cart Accepted=True/Accepted"]
    unread = state(found, "c")
    assert unread.verdict == "NoEffect"
    assert unread.idle is not None
    assert "does not support sessionPersistence" in unread.idle.why
    assert per_ancestor(found, "c") == ["foo/cart Accepted=True/Accepted"]


# Route parents.


AWAY = """apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackend
metadata: {name: away, namespace: foo}
spec: {type: ExternalHostname, externalHostname: {hostname: away.example.net}, port: {port: 443}}
"""


@pytest.mark.parametrize(
    ("backends", "wanted"),
    [
        ("{name: cart, port: 80}", "True/ResolvedRefs"),
        ("{name: gone, port: 80}, {name: x, kind: Bucket}", "False/InvalidKind"),
        ("{name: x, kind: Bucket}, {name: gone, port: 80}", "False/BackendNotFound"),  # the last one is said
        ("{name: gone, port: 80, weight: 0}, {name: cart, port: 80}", "True/ResolvedRefs"),
        ("{name: cart}", "False/InvalidDestination"),
        ("{name: cart.foo, port: 80}, {name: gone, port: 80}", "False/InvalidDestination"),
        ("{group: networking.istio.io, kind: ServiceEntry, name: ext, port: 443}", "False/InvalidKind"),
        ("{group: multicluster.x-k8s.io, kind: ServiceImport, name: cart, port: 80}", "True/ResolvedRefs"),
        ("{group: multicluster.x-k8s.io, kind: ServiceImport, name: gone, port: 80}", "False/BackendNotFound"),
        ("{group: gateway.networking.x-k8s.io, kind: XBackend, name: away}", "True/ResolvedRefs"),
        ("{group: gateway.networking.x-k8s.io, kind: XBackend, name: away, port: 443}", "True/ResolvedRefs"),
        ("{group: gateway.networking.x-k8s.io, kind: XBackend, name: away, port: 80}", "False/BackendNotFound"),
        ("{group: gateway.networking.x-k8s.io, kind: XBackend, name: gone}", "False/BackendNotFound"),
        ("{group: networking.istio.io, kind: Hostname, name: away.example.net, port: 443}", "True/ResolvedRefs"),
        ("{group: networking.istio.io, kind: Hostname, name: ext.example.com, port: 443}", "True/ResolvedRefs"),
        ("{group: networking.istio.io, kind: Hostname, name: a.wild.example.com, port: 443}", "True/ResolvedRefs"),
        (
            "{group: networking.istio.io, kind: Hostname, name: cart.foo.svc.cluster.local, port: 80}",
            "True/ResolvedRefs",
        ),
        ("{group: networking.istio.io, kind: Hostname, name: other.example.com, port: 443}", "False/BackendNotFound"),
    ],
)
@pytest.mark.parametrize("parent", ["{name: edge}", "{kind: Service, group: '', name: cart}"])
def test_resolved_refs_of_routes(parent: str, backends: str, wanted: str) -> None:
    found = simulated(CLASS, gateway(), service(), ENTRY, AWAY, routed(parent, f"backendRefs: [{backends}]"))
    assert f"ResolvedRefs={wanted}" in conditions(found.topology.routes[0].parents[0].conditions)


SIDES = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: sides, namespace: infra}
spec:
  gatewayClassName: istio
  listeners:
  - {name: home, port: 80, protocol: HTTP, hostname: '*.home.example.com'}
  - {name: open, port: 80, protocol: HTTP, hostname: '*.open.example.com', allowedRoutes: {namespaces: {from: All}}}
  - name: grpc
    port: 80
    protocol: HTTP
    hostname: '*.grpc.example.com'
    allowedRoutes: {namespaces: {from: All}, kinds: [{kind: GRPCRoute}]}
"""


@pytest.mark.parametrize(
    ("section", "host", "wanted"),
    [
        ("home", "a.home.example.com", "False/NotAllowedByListeners"),
        ("home", "a.example.org", "False/NoMatchingListenerHostname"),  # asked before the namespace
        ("grpc", "a.grpc.example.com", "False/NotAllowedByListeners"),
        ("grpc", "a.example.org", "False/NoMatchingListenerHostname"),  # and before the kind
        ("", "a.open.example.com", "True/Accepted"),
        ("", "a.home.example.com", "False/NotAllowedByListeners"),  # told before the hostnames of the others
        ("", "a.example.org", "False/NoMatchingListenerHostname"),
        ("nope", "a.open.example.com", "False/NoMatchingParent"),
    ],
)
def test_a_listener_is_asked_for_the_hostname_first(section: str, host: str, wanted: str) -> None:
    """referenceAllowed: hostname, namespace, kind; createRouteStatus: NotAllowed before NoMatchingListenerHostname."""
    named = f", sectionName: {section}" if section else ""
    asking = routed(f"{{name: sides, namespace: infra{named}}}", more=f", hostnames: [{host}]")
    found = simulated(CLASS, SIDES, service(), asking)
    assert f"Accepted={wanted}" in conditions(found.topology.routes[0].parents[0].conditions)


@pytest.mark.parametrize(
    ("parent", "wanted"),
    [
        ("{kind: Service, group: '', name: cart, port: 80}", "True/Accepted"),
        ("{kind: Service, group: '', name: cart, port: 81}", "True/Accepted"),
        ("{kind: Service, group: '', name: gone}", "False/NoMatchingParent"),
        ("{kind: ServiceEntry, group: networking.istio.io, name: ext}", "True/Accepted"),
    ],
)
def test_of_a_service_as_parent_istio_asks_only_that_it_is_there(parent: str, wanted: str) -> None:
    found = simulated(CLASS, gateway(), service(), ENTRY, routed(parent))
    assert f"Accepted={wanted}" in conditions(found.topology.routes[0].parents[0].conditions)


def test_istio_has_no_filters_by_reference() -> None:
    """convertHTTPRoute: InvalidFilter, before all that is wrong with backends."""
    filters = "filters: [{type: ExtensionRef, extensionRef: {group: a.example.com, kind: Filter, name: f}}]"
    filtered = routed("{name: edge}", f"{filters}, backendRefs: [{{name: gone, port: 80}}]")
    found = simulated(CLASS, gateway(), service(), filtered)
    assert conditions(found.topology.routes[0].parents[0].conditions) == [
        "Accepted=True/Accepted",
        "ResolvedRefs=False/InvalidFilter",
    ]
