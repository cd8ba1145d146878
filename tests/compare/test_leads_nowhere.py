"""What a change of a Service does to who was turned away at its pods: what nobody knows is no loss that was seen.

kubernetes.io, «Services without selectors»: others write their endpoints, and these stay when a selector goes.
"""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.contract.test_contract import disagreements_of
from tests.worlds import manifest, service, simulated

MESHES = {
    "istio": "labels: {istio-injection: enabled}",
    "linkerd": "annotations: {linkerd.io/inject: enabled}",
    "cilium": "labels: {a: b}",
}
AT_PODS = {
    "istio": manifest(
        "security.istio.io/v1", "AuthorizationPolicy", "p", "shop",
        "spec: {selector: {matchLabels: {app: till}}, action: DENY, rules: [{}]}"),
    "linkerd": manifest(
        "policy.linkerd.io/v1beta3", "Server", "p", "shop",
        "spec: {podSelector: {matchLabels: {app: till}}, port: 8080}"),
    "cilium": manifest(
        "cilium.io/v2", "CiliumNetworkPolicy", "p", "shop",
        "spec: {endpointSelector: {matchLabels: {app: till}}, ingress: [{fromEntities: [all], toPorts: [{"
        "ports: [{port: '8080', protocol: TCP}], rules: {http: [{path: /nothing}]}}]}]}"),
}  # fmt: skip
SLICE = (
    "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
    "metadata: {name: till-1, namespace: shop, labels: {kubernetes.io/service-name: till}}\n"
    "addressType: IPv4\nendpoints: [{addresses: [198.51.100.7]}]\nports: [{name: http, port: 8080}]"
)
EDGE = (
    manifest("gateway.networking.k8s.io/v1", "GatewayClass", "eg", "",
             "spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}"),
    manifest("gateway.networking.k8s.io/v1", "Gateway", "edge", "shop",
             "spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}"),
    manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "till", "shop",
             "spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: till, port: 80}]}]}"),
)  # fmt: skip


def workload(name: str) -> str:
    template = f"{{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c}}]}}}}"
    return manifest(
        "apps/v1",
        "Deployment",
        name,
        "shop",
        f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {template}}}",
    )


def world(mesh: str, leads: str, *more: str) -> tuple[str, ...]:
    till = service("till", ports="[{name: http, port: 80, targetPort: 8080}]", more=leads)
    space = manifest("v1", "Namespace", "shop", more=MESHES[mesh])
    return space, till, workload("till"), workload("other"), *EDGE, *more


def told(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Return the findings with severity, and what is not known."""
    sides = simulated(*before), simulated(*after)
    assert list(disagreements_of(*sides)) == []
    paired = pair_sides([sides[0]], [sides[1]])
    found = compare(paired)
    findings = {f"{each.rule} {each.severity}" for each in removed_protections(paired, found)}
    assert found[0].requests is not None
    return findings - {"GWP325 warning"}, {why for why, _ in found[0].requests.unknown}


SELECTS, NOWHERE = "selector: {app: till}", "what Service shop/till leads to, which selects no pods"


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("leads", ["selector: {}", "type: ClusterIP"])
def test_what_a_service_without_a_selector_leads_to_is_not_known(mesh: str, leads: str) -> None:
    sides = world(mesh, SELECTS, AT_PODS[mesh]), world(mesh, leads, AT_PODS[mesh])
    findings, unknown = told(*sides)
    assert findings == set()
    assert NOWHERE in unknown
    assert told(*reversed(sides))[0] == set()


@pytest.mark.parametrize("mesh", ["istio", "linkerd"])
@pytest.mark.parametrize("leads", ["selector: {app: other}", "selector: {app: gone}"])
def test_other_pods_let_in_who_was_turned_away_by_whichever_way(mesh: str, leads: str) -> None:
    """No policy is about the pods to which the Service leads now: at the Gateway as inside."""
    findings, unknown = told(world(mesh, SELECTS, AT_PODS[mesh]), world(mesh, leads, AT_PODS[mesh]))
    assert findings == {"GWP304 error"}
    assert unknown == set()


@pytest.mark.parametrize("mesh", ["istio", "linkerd"])
def test_addresses_in_the_tree_are_known(mesh: str) -> None:
    before, after = world(mesh, SELECTS, AT_PODS[mesh]), world(mesh, "selector: {}", AT_PODS[mesh], SLICE)
    findings, unknown = told(before, after)
    assert findings == {"GWP304 error"}
    assert unknown == set()


def test_what_a_gateway_refuses_hangs_on_no_service() -> None:
    """A Service whose pods nobody knows was there before, and it is the Gateway that lets more in."""
    policy = manifest(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "p", "shop",
        "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: till}], "
        "authorization: {defaultAction: Deny, rules: []}}",
    )  # fmt: skip
    findings, unknown = told(world("istio", "selector: {}", policy), world("istio", "selector: {}"))
    assert any(each.endswith("error") for each in findings)
    assert unknown == set()


WIDE = {
    "istio": manifest("security.istio.io/v1", "AuthorizationPolicy", "p", "shop", "spec: {}"),
    "linkerd": manifest("policy.linkerd.io/v1beta3", "Server", "p", "shop", "spec: {podSelector: {}, port: 8080}"),
}


@pytest.mark.parametrize("mesh", WIDE)
@pytest.mark.parametrize(
    ("leads", "more", "is_open"),
    [
        ("selector: {app: till}", (), None),
        ("selector: {app: unseen}", (), True),
        ("selector: {}", (), True),
        ("selector: {}", (SLICE,), False),
        ("type: ExternalName, externalName: till.example.com", (), False),
    ],
    ids=["seen", "unseen", "no selector", "addresses", "a name"],
)
def test_policies_for_all_pods_may_be_about_those_that_were_not_seen(
    mesh: str, leads: str, more: tuple[str, ...], is_open: bool | None
) -> None:
    tracer = Tracer(simulated(*world(mesh, leads, WIDE[mesh], *more)))
    trace = tracer.trace(from_url("GET", "http://till.shop/", client="unmeshed", service="Service/shop/till"))
    answers = [each.decision.answer for each in trace.admissions]
    assert answers == (["denied"] if is_open is None else ["depends"] if is_open else [])


@pytest.mark.parametrize(
    ("mesh", "policy"),
    [
        ("istio", AT_PODS["istio"]),
        ("linkerd", AT_PODS["linkerd"]),
        ("linkerd", WIDE["linkerd"].replace("port: 8080", "port: 8080, accessPolicy: audit")),
    ],
)
def test_policies_for_some_pods_are_about_what_selects_them(mesh: str, policy: str) -> None:
    for leads in ("selector: {}", "selector: {app: gone}"):
        tracer = Tracer(simulated(*world(mesh, leads, policy)))
        trace = tracer.trace(from_url("GET", "http://till.shop/", client="unmeshed", service="Service/shop/till"))
        assert (leads, [each.decision.answer for each in trace.admissions]) == (leads, [])


@pytest.mark.parametrize(("policy", "depends"), [("deny", True), ("all-authenticated", True), ("audit", False)])
def test_the_default_policy_of_a_namespace_is_that_of_pods_that_were_not_seen(policy: str, *, depends: bool) -> None:
    space = f"annotations: {{linkerd.io/inject: enabled, config.linkerd.io/default-inbound-policy: {policy}}}"
    manifests = world("linkerd", "selector: {app: gone}")[1:]
    tracer = Tracer(simulated(manifest("v1", "Namespace", "shop", more=space), *manifests))
    trace = tracer.trace(from_url("GET", "http://till.shop/", client="unmeshed", service="Service/shop/till"))
    assert [each.decision.answer for each in trace.admissions] == (["depends"] if depends else [])
