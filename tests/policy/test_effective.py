"""Contexts and effective policies: grouped by stack, equal to what spelling out every path gives."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policylint.model import Node, ResourceKey
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import Attachment
from policylint.policy.strategies import merge
from policylint.simulation import Simulation
from policylint.topology import Topology, whole
from tests.nightly import examples
from tests.policy.conftest import World, color


def effective(simulation: Simulation) -> dict[str, Any]:
    return {
        " > ".join(map(str, path)): dict(group.effective.spec)
        for group in simulation.groups
        for path in group.contexts()
    }


def test_a_context_runs_from_the_class_to_the_port_a_rule_uses(world: World) -> None:
    simulation = world(color("p", "Gateway/g#one", "color: red"))
    head = "GatewayClass c > Gateway default/g > Listener default/g#one > HTTPRoute default/r > HTTPRouteRule default/r"
    tail = "Service default/s > ServicePort default/s#http"
    assert effective(simulation) == {
        f"{head}#first > {tail}": {"color": "red"},
        f"{head}#rule-2 > {tail}": {"color": "red"},
    }


def test_contexts_that_share_a_stack_are_one_group(world: World) -> None:
    simulation = world(color("p", "Gateway/g", "color: red"))
    assert len(simulation.groups) == 1
    assert len(list(simulation.groups[0].contexts())) == 4


def test_a_direct_kind_ends_at_the_sections_of_its_target(world: World) -> None:
    simulation = world(color("p", "HTTPRoute/r", "color: red"), label="Direct")
    assert {path.rpartition(" > ")[2] for path in effective(simulation)} == {
        "HTTPRouteRule default/r#first",
        "HTTPRouteRule default/r#rule-2",
    }


def test_a_namespace_stands_above_the_highest_object_in_it_and_counts_once(world: World) -> None:
    simulation = world(color("p", "Namespace/default", "color: red"), topology=_with_namespace())
    paths = list(effective(simulation))
    assert paths and all(path.startswith("GatewayClass c > Namespace default > Gateway default/g") for path in paths)
    assert all(path.count("Namespace") == 1 for path in paths)


def test_a_service_that_no_route_uses_stands_alone(world: World) -> None:
    lonely = "apiVersion: v1\nkind: Service\nmetadata: {name: lonely, namespace: default}\nspec: {ports: [{port: 80}]}"
    lonely += "\n---\n"
    simulation = world(lonely + color("p", "Service/lonely", "color: red"))
    assert effective(simulation) == {"Service default/lonely": {"color": "red"}}


def test_affected_names_only_what_lies_at_or_below_the_target(world: World) -> None:
    simulation = world(color("route", "HTTPRoute/r", "color: red"))
    affected = {str(node): [key.name for key in keys] for node, keys in simulation.acting.affected().items()}
    assert affected["HTTPRoute default/r"] == affected["Service default/s"] == ["route"]
    assert "Gateway default/g" not in affected


TARGETS = [
    "Gateway/g",
    "Gateway/g#one",
    "Gateway/g#two",
    "HTTPRoute/r",
    "HTTPRoute/r#first",
    "Service/s",
    "Service/s#http",
]


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(TARGETS), st.sampled_from(["defaults", "overrides"])), min_size=1, max_size=5)
)
def test_the_walk_agrees_with_spelling_out_every_path(world: World, policies: list[tuple[str, str]]) -> None:
    """Every context that meets a policy has exactly the effective spec of a naive fold over its path."""
    manifests = "".join(
        color(f"p{n}", target, f"{mode}: {{strategy: patch, common: {n}, own{n}: true}}")
        for n, (target, mode) in enumerate(policies)
    )
    simulation = world(manifests)
    attached: dict[Node, list[Attachment]] = {}
    for state in simulation.policies.values():
        for target in state.targets:
            for node in target.nodes:
                attached.setdefault(node, []).append(Attachment(state.policy, node, target, state.declared))
    kind = next(iter(simulation.policies.values())).kind
    naive = {}
    for path in _paths(simulation.topology):
        stack = tuple(each for node in path for each in sorted(attached.get(node, ()), key=lambda a: a.key.path))
        if stack:
            naive[" > ".join(map(str, path))] = dict(merge(Stack(kind, stack)).spec)
    assert effective(simulation) == naive


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.sampled_from([*TARGETS, "Namespace/default"]), min_size=4, max_size=14),
    st.sets(st.integers(0, 30)),
)
def test_a_request_meets_the_policies_that_have_a_context_within_its_way(
    world: World, policies: list[str], missing: set[int]
) -> None:
    """Of many policies at one backend those elsewhere are not looked at, and none is lost by that."""
    colors = "".join(color(f"p{n}", target, f"defaults: {{c{n}: true}}") for n, target in enumerate(policies))
    simulation = world(colors, topology=_with_namespace())
    around = whole(ResourceKey("", "Namespace", "", "default"))
    contexts = [(number, path) for number, group in enumerate(simulation.groups) for path in group.contexts()]
    for group in simulation.groups:
        assert all(set(group.contexts.common()) <= set(path) for path in group.contexts())
    for way in _paths(simulation.topology):
        passed = tuple(node for place, node in enumerate(way) if place not in missing)
        within = {number for number, path in contexts if {*passed, around}.issuperset(path)}
        assert set(simulation.acting.along(passed, (), leads=True)) == within


def _paths(topology: Topology) -> list[tuple[Node, ...]]:
    found = []
    pending = [(root, topology.vertices[root].nodes) for root in topology.roots]
    while pending:
        vertex, path = pending.pop()
        if not topology.children[vertex]:
            found.append(path)
        pending.extend((child, (*path, *topology.vertices[child].nodes)) for child in topology.children[vertex])
    return found


def test_nothing_is_computed_for_kinds_without_policies(world: World) -> None:
    simulation = world("")
    assert simulation.groups == [] and simulation.policies == {}


def test_many_routes_under_one_policy_are_computed_once(world: World) -> None:
    """Work follows distinct stacks, not contexts: the merge runs once for 300 routes with two rules each."""
    routes = "".join(
        f"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r{n}, namespace: default}}\n"
        "spec: {parentRefs: [{name: g}], rules: "
        "[{backendRefs: [{name: s, port: 80}]}, {backendRefs: [{name: s, port: 80}]}]}\n---\n"
        for n in range(300)
    )
    simulation = world(routes + color("p", "Gateway/g", "color: red"))
    calls = []

    def counting(stack: Stack) -> Any:
        calls.append(stack)
        return merge(stack)

    state = next(iter(simulation.policies.values()))
    kept = {
        whole(target.key): [Attachment(state.policy, whole(target.key), target, state.declared)]
        for target in state.targets
    }
    groups = Effects(simulation.topology, state.kind, kept, counting).groups()
    assert len(calls) == len(groups) == 1
    assert len(groups[0].routes()) == 301


def _with_namespace() -> str:
    from tests.policy.conftest import TOPOLOGY

    return "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n---\n" + TOPOLOGY
