"""Several implementations in one environment: each judges what its own Gateways serve, and nobody else's."""

from __future__ import annotations

import pytest

from policylint.simulation import Simulation
from tests.worlds import conditions, gateway, gateway_class, manifest, policy, route, service, simulated, state

ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
ISTIO = "istio.io/gateway-controller"
UNKNOWN = "example.net/gateway-controller"
RULES = "rules: [{backendRefs: [{name: NAME, port: 80}]}]"


def tls(name: str, backend: str) -> str:
    validation = f"validation: {{wellKnownCACertificates: System, hostname: {backend}.example}}"
    return policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, f"Service/{backend}", validation, "shop")


def shop(cls: str, controller: str = "") -> tuple[str, ...]:
    """A Gateway of a class, and behind it a route to a Service of the same name with a BackendTLSPolicy."""
    return (
        gateway_class(cls, controller) if controller else "",
        gateway(cls, of_class=cls),
        route(cls, parents=f"[{{name: {cls}, namespace: infra, sectionName: http}}]", more=RULES.replace("NAME", cls)),
        service(cls),
        tls(cls, cls),
    )


def said(found: Simulation, name: str) -> tuple[str, list[str]]:
    """Verdict and ancestors of a BackendTLSPolicy."""
    lines = [
        f"{each.ancestor.key.kind} {each.ancestor.key.name}#{each.ancestor.section} by {each.controller}: "
        f"{' '.join(sorted(conditions(each.conditions)))}"
        for each in state(found, name).ancestors
    ]
    return state(found, name).verdict, sorted(lines)


@pytest.mark.parametrize(
    ("controller", "other"), [(ENVOY, UNKNOWN), (UNKNOWN, ENVOY), (ISTIO, UNKNOWN), (ENVOY, "kgateway.dev/kgateway")]
)
def test_what_stands_behind_one_class_does_not_hang_on_another_class(controller: str, other: str) -> None:
    alone = said(simulated(*shop("one", controller)), "one")
    assert alone[1], "the controller says nothing to compare"
    assert said(simulated(*shop("one", controller), *shop("other", other)), "one") == alone


@pytest.mark.parametrize(
    "of_a_mesh",
    [
        manifest("security.istio.io/v1", "PeerAuthentication", "unrelated", "elsewhere", "spec: {}"),
        manifest("policy.linkerd.io/v1alpha1", "HTTPLocalRateLimitPolicy", "unrelated", "elsewhere", "spec: {}"),
    ],
)
def test_a_policy_of_a_mesh_does_not_tell_who_serves_a_gateway_of_an_unknown_class(of_a_mesh: str) -> None:
    """Envoy Gateway's kind alone tells it: its CA has to be one, so that the policy is refused."""
    no_ca = "validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}], hostname: one.example}"
    refused = policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "one", "Service/one", no_ca, "shop")
    own = policy("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "o", "HTTPRoute/one", "retry: {}", "shop")
    there = (*shop("one")[:-1], refused, own, manifest("v1", "ConfigMap", "ca", "shop", "data: {other: x}"))
    alone = said(simulated(*there), "one")
    assert said(simulated(*there, of_a_mesh), "one") == alone
    assert alone != said(simulated(*there[:-2], there[-1]), "one"), "or nothing told who serves it"


def test_every_controller_reports_on_its_own_gateways_in_its_own_words() -> None:
    found = simulated(*shop("envoy", ENVOY), *shop("free", UNKNOWN))
    accepted = "Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs"
    assert said(found, "envoy") == ("Enforced", [f"Gateway envoy#http by {ENVOY}: {accepted}"])
    assert said(found, "free") == ("Enforced", [f"Gateway free# by {UNKNOWN}: {accepted}"])


def test_a_backend_behind_two_controllers_hears_from_both() -> None:
    both = route("both", parents="[{name: envoy, namespace: infra}, {name: free, namespace: infra}]")
    both = both.replace("}]}", "}], " + RULES.replace("NAME", "envoy") + "}")
    _, lines = said(simulated(*shop("envoy", ENVOY), *shop("free", UNKNOWN), both), "envoy")
    assert {line.partition(" by ")[2].partition(":")[0] for line in lines} == {ENVOY, UNKNOWN}


def test_what_no_gateway_leads_to_is_judged_by_the_mesh() -> None:
    """Envoy Gateway does not act on it, istiod does, for sidecars; but only on what it serves."""
    far = tls("far", "far").replace("group: '', kind: Service", "group: gateway.envoyproxy.io, kind: Backend")
    found = simulated(*shop("envoy", ENVOY), gateway_class("istio", ISTIO), service("lone"), tls("lone", "lone"), far)
    assert said(found, "lone")[1] == [
        "Service lone# by istio.io/mesh-controller: Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs"
    ]
    assert said(found, "far")[0] == "TargetNotFound"


def test_effective_policies_of_several_judges_are_there_once() -> None:
    found = simulated(*shop("envoy", ENVOY), *shop("free", UNKNOWN))
    assert sorted(each.name for group in found.groups for each in group.effective.sources) == ["envoy", "free"]


@pytest.mark.parametrize("cls", ["istio", "kgateway"])
def test_a_class_that_its_controller_makes_need_not_be_in_the_tree(cls: str) -> None:
    """Also where the tree holds classes of others: istiod and kgateway write theirs at their start."""
    gateways = {each.gateway.key.name: each for each in simulated(*shop(cls), *shop("envoy", ENVOY)).topology.gateways}
    assert gateways[cls].class_resolution.unknown
    assert "Accepted=True/Accepted" in conditions(gateways[cls].conditions)


def test_a_class_that_nobody_makes_is_missing_where_others_are_in_the_tree() -> None:
    gateways = {
        each.gateway.key.name: each for each in simulated(*shop("inhouse"), *shop("x", ENVOY)).topology.gateways
    }
    assert gateways["inhouse"].class_resolution.missing


def test_envoy_gateway_leaves_a_gateway_of_another_controllers_own_class_alone() -> None:
    origins = "cors: {allowOrigins: ['https://shop.example']}"
    on_istio = policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "cors", "Gateway/istio", origins, "infra")
    found = simulated(*shop("istio"), gateway_class("envoy", ENVOY), on_istio)
    cors = next(state for key, state in found.policies.items() if key.kind == "SecurityPolicy")
    assert (cors.groups, cors.ancestors) == ([], ())
