"""lint, explain, trace and simulate read one Simulation: on every context of the fixture worlds they agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from policylint.explain.contexts import answers
from policylint.explain.explanation import explain
from policylint.explain.settings import settings
from policylint.explain.subject import Subject
from policylint.matches import path_of
from policylint.model import ResourceKey
from policylint.report.explain.radius import radius
from policylint.report.kit.identity import Names
from policylint.report.simulate.simulation_v1 import sections
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace import Request, Tracer
from policylint.workspace import Workspace, open_workspace

FIXTURES = Path(__file__).parents[2] / "fixtures"
WORLDS = sorted(each.name for each in FIXTURES.iterdir() if any(each.rglob("*.yaml")))


@pytest.fixture(scope="module", params=WORLDS)
def workspace(request: pytest.FixtureRequest, apart: Path) -> Workspace:
    return open_workspace([str(apart / "fixtures" / request.param)])


def contexts(workspace: Workspace) -> Iterator[tuple[Simulation, dict[str, Any]]]:
    """Every entry of `effective` as `simulate -o json` prints it, with its simulation."""
    effective = next(entries for name, entries in sections(workspace.simulations) if name == "effective")
    by_name = {each.world.name: each for each in workspace.simulations}
    for entry in effective:
        yield by_name.get(entry.get("environment", ""), workspace.simulations[0]), entry


def test_explain_says_of_every_context_what_simulate_says(workspace: Workspace) -> None:
    for simulation, entry in contexts(workspace):
        names = Names(simulation.world.resources)
        nodes = {names.node(node): node for group in simulation.groups for path in group.contexts() for node in path}
        path = [nodes[each] for each in entry["path"]]
        bare = [node for node in path if node.key.kind != "Namespace"] or path
        found = answers(simulation, [bare[-1]]).listed
        mine = [answer for answer in found if any(list(each[: len(bare)]) == bare for each in answer.paths)]
        assert mine, entry["path"]
        for answer in mine:
            of_kind = [g for g in answer.groups if names.kind(g.kind.group, g.kind.kind) == entry["kind"]]
            assert any(dict(group.effective.spec) == entry["spec"] for group in of_kind), entry["path"]


def test_settings_are_the_spec_and_the_losses(workspace: Workspace) -> None:
    for simulation in workspace.simulations:
        for group in simulation.groups:
            rows = settings(group)
            kept = [each for each in rows if each.state == "applies"]
            assert {each.pointer[0] for each in kept if each.pointer} == set(group.effective.spec)
            assert {each.policy for each in kept} == set(group.effective.sources)
            assert {each.policy for each in rows if each.state != "applies"} == {e.policy for e in group.effective.lost}
            for each in kept:
                if len(each.pointer) == 1:
                    assert each.value == group.effective.spec[each.pointer[0]]


def test_trace_meets_what_simulate_says(workspace: Workspace) -> None:
    """A request made for each rule: where that rule takes it, the policies are those of its contexts."""
    for simulation in workspace.simulations:
        tracer = Tracer(simulation)
        names = Names(simulation.world.resources)
        effective = [entry for other, entry in contexts(workspace) if other is simulation]
        for request in requests(simulation):
            trace = tracer.trace(request)
            if trace.rule is None or not trace.outcome.backends:
                continue
            path = names.path([*trace.path, *trace.beyond, *(whole(key) for key in trace.outcome.backends)])
            through = [each for each in effective if {*filter(counts, each["path"])} <= set(path)]
            met = {
                (names.kind(m.group.kind.group, m.group.kind.kind), repr(dict(m.group.effective.spec)))
                for m in trace.policies
                if m.group.effective.owners
            }
            assert met == {(each["kind"], repr(each["spec"])) for each in through}


def counts(node: str) -> bool:
    """Whether a node of a context is one that a trace's path names."""
    return not node.startswith(("Namespace ", "ServicePort "))


def requests(simulation: Simulation) -> Iterator[Request]:
    for state in simulation.topology.routes:
        hosts = [each.replace("*", "x") or "any.test" for each in state.hostnames]
        for parent in state.parents:
            for node in parent.attached:
                listener = simulation.topology.listener(node)
                assert listener is not None
                host = hosts[0] if hosts[0] != "any.test" else listener.hostname.replace("*", "x") or "any.test"
                for rule in state.route.spec.get("rules") or []:
                    match = (rule.get("matches") or [{}])[0]
                    headers = tuple((each["name"], each["value"]) for each in match.get("headers") or [])
                    yield Request(
                        scheme="https" if listener.protocol == "HTTPS" else "http",
                        method=match.get("method") or "GET",
                        host=host,
                        path=path_of(match)[1],
                        headers=headers,
                        port=listener.port,
                    )


def test_reach_is_what_affected_says(workspace: Workspace) -> None:
    for simulation in workspace.simulations:
        affected: dict[ResourceKey, set[ResourceKey]] = {}
        for node, keys in simulation.acting.affected().items():
            for key in keys:
                # What lies behind, such as the Services of a route, is affected and not acted on.
                if any(node in group.nodes for group in simulation.policies[key].groups):
                    affected.setdefault(key, set()).add(node.key)
        for key, state in simulation.policies.items():
            found = explain(Subject(simulation, key, whole(key)))
            assert found.reach is not None and found.state is state
            acting = {each.key for each in found.reach.objects if each.extent != "none"}
            assert affected.get(key, set()) <= acting


def test_lint_and_explain_tell_of_the_same_losses(workspace: Workspace) -> None:
    """Every setting that GWP201 reports as lost is shown as dropped on one of the routes."""
    for finding in workspace.findings({"GWP201"}):
        winner, _, loser = finding.resources
        for simulation in workspace.simulations:
            if simulation.world.name not in finding.environments:
                continue
            groups = [g for g in simulation.groups if {winner, loser} <= {each.key for each in g.effective.stack}]
            dropped = {
                each.field.partition(".")[0] for group in groups for each in settings(group)
                if each.state == "dropped" and each.policy == loser and winner in each.by
            }  # fmt: skip
            assert set(finding.field.split(",")) <= dropped


def test_without_a_policy_only_its_reach_changes(workspace: Workspace) -> None:
    for simulation in workspace.simulations:
        for key in simulation.policies:
            found = explain(Subject(simulation, key, whole(key)))
            assert found.reach is not None
            changed = set(radius(simulation, simulation.without(key), key).keys)
            assert changed <= {each.key for each in found.reach.objects if each.extent != "none"}


def test_a_world_without_an_object_is_another_one(workspace: Workspace) -> None:
    for simulation in workspace.simulations:
        for key in list(simulation.policies)[:2]:
            other = simulation.without(key)
            assert key not in other.policies and key in simulation.policies
            assert set(other.world.resources) == set(simulation.world.resources) - {key}
            assert other.world.of_kind(key.group, key.kind) == [
                each for each in simulation.world.of_kind(key.group, key.kind) if each.key != key
            ]


def test_there_are_worlds_to_agree_on() -> None:
    assert {"baker-parable", "envoy-gateway-shop", "kuadrant-platform", "own-policy"} <= set(WORLDS)
