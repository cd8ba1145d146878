"""What is drawn of a Simulation: boxes, lines, effects; surroundings, filters and folding."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.report.graph import GraphRequest, draw
from policylint.report.graph.model import Graph
from policylint.report.graph.view import folded, reduced, without_bare_rules
from policylint.report.simulate.simulation_v1 import sections
from tests.graph.worlds import FIXTURES, drawn, large, opened

ALL = sorted(path for path in FIXTURES.iterdir() if path.is_dir())


def lines(graph: Graph) -> set[tuple[str, str, str, str]]:
    return {
        (graph.nodes[each.start].label, each.effect, each.label, graph.nodes[each.end].label) for each in graph.edges
    }


def labels(graph: Graph) -> set[str]:
    return {each.label for each in graph.nodes}


def test_policies_are_drawn_with_what_becomes_of_them() -> None:
    found = lines(drawn(opened(FIXTURES / "envoy-gateway-shop")).graph)
    assert ("SecurityPolicy shop/checkout-cors", "effective", "cors", "HTTPRoute shop/checkout") in found
    assert ("SecurityPolicy infra/edge-jwt", "partial", "jwt in part", "Gateway infra/edge") in found
    assert ("EnvoyExtensionPolicy shop/headers", "dangling", "not found", "HTTPRoute shop/chekout") in found
    found = lines(drawn(opened(FIXTURES / "kuadrant-platform")).graph)
    assert ("RateLimitPolicy platform/fair-use", "overridden", "limits lost", "Gateway platform/external") in found


def test_a_target_that_may_come_from_elsewhere_is_not_dangling(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("""
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: cors, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: "${APP}"}]
  cors: {allowOrigins: ["https://shop.example.com"]}
""")
    found = lines(drawn(opened(tmp_path)).graph)
    assert found == {("SecurityPolicy shop/cors", "unknown", "not known", "HTTPRoute shop/${APP}")}


def test_for_a_route_its_chain_its_policies_and_what_reaches_it() -> None:
    graph = drawn(opened(FIXTURES / "envoy-gateway-shop"), "HTTPRoute/shop/checkout").graph
    assert "HTTPRoute shop/cart" not in labels(graph)
    assert "Gateway infra/edge" in labels(graph)
    assert [graph.nodes[each].label for each in graph.focus] == ["HTTPRoute shop/checkout"]
    found = lines(graph)
    here = "HTTPRoute shop/checkout"
    assert ("BackendTrafficPolicy infra/edge-limits", "effective", "reaches it: rateLimit", here) in found
    assert ("SecurityPolicy infra/edge-jwt", "overridden", "jwt lost", here) in found


def test_for_a_policy_what_it_names_and_its_rivals() -> None:
    graph = drawn(opened(FIXTURES / "envoy-gateway-shop"), "SecurityPolicy/infra/edge-jwt").graph
    policies = {each.label for each in graph.nodes if each.role == "policy"}
    assert policies == {"SecurityPolicy infra/edge-jwt", "SecurityPolicy shop/checkout-cors"}
    assert "HTTPRoute shop/cart" in labels(graph)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_the_verdict_of_a_policy_is_that_of_simulate_and_no_policy_is_left_out(path: Path) -> None:
    workspace = opened(path)
    drawing = drawn(workspace)
    told = {(each.environment, each.label): each.state for each in drawing.graph.nodes if each.role == "policy"}
    listed = [each for each in dict(sections(workspace.simulations))["policies"] if "tier" not in each]  # of networks
    only = workspace.simulations[0].world.name
    assert told == {(each.get("environment", only), each["policy"]): each["status"] for each in listed}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_a_line_that_says_overridden_or_effective_agrees_with_the_verdict(path: Path) -> None:
    graph = drawn(opened(path)).graph
    for edge in graph.edges:
        if edge.effect == "overridden":
            assert graph.nodes[edge.start].state in ("Overridden", "PartiallyEnforced")
        if edge.effect == "effective" and graph.nodes[edge.start].role == "policy":
            assert graph.nodes[edge.start].state in ("Enforced", "PartiallyEnforced")


def test_only_some_namespaces_or_kinds() -> None:
    workspace = opened(FIXTURES / "kuadrant-platform")
    found = labels(draw(workspace.simulations, GraphRequest(namespaces=["team-a"])).graph)
    assert {"HTTPRoute team-a/site", "Gateway platform/external"} <= found
    assert "HTTPRoute team-b/orders" not in found
    graph = draw(workspace.simulations, GraphRequest(kinds=["RateLimitPolicy"])).graph
    assert {"RateLimitPolicy team-b/orders", "Gateway platform/external"} <= labels(graph)
    assert {each.kind for each in graph.nodes if each.role == "policy"} == {"RateLimitPolicy"}


def test_rules_that_no_policy_names_are_part_of_their_route() -> None:
    graph = without_bare_rules(drawn(opened(FIXTURES / "kuadrant-platform")).graph)
    assert {each.label for each in graph.nodes if each.level == "rule"} == {"HTTPRouteRule team-b/orders#write"}


def test_look_alikes_fold_and_what_does_not_fit_is_said(tmp_path: Path) -> None:
    graph = without_bare_rules(drawn(large(tmp_path, 200)).graph)
    assert len(graph.nodes) > 400
    small = folded(graph)
    assert sum(each.many for each in small.nodes if each.kind == "HTTPRoute") == 200
    assert len(small.nodes) < 220
    least = reduced(graph, 20, 20)
    assert len(least.nodes) <= 20
    assert len(least.edges) <= 20
    assert any("folded" in each for each in least.left_out)
    assert any("too many" in each for each in least.left_out)
