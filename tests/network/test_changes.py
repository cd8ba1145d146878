"""What a change opens and closes: a world against itself differs in nothing, swapped sides mirror each other."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.compare import pair_sides
from policylint.compare.connections import ConnectionChange, connection_changes, isolation_removed
from policylint.compare.pairing import Sides
from policylint.explain.network import of_workload
from policylint.network.connections import connections
from policylint.simulation import simulate
from tests.network.test_semantics import CLIENT, pod, policy
from tests.network.worlds import manifest, random_world, world

MIRRORED = {"opened": "closed", "closed": "opened"}


def sides(before: list[dict[str, Any]], after: list[dict[str, Any]], **facts: Any) -> Sides:
    catalog = load_catalog()
    (pair,) = pair_sides(*([simulate(world(side, **facts), catalog)] for side in (before, after)))
    return pair


def pairs(changes: tuple[ConnectionChange, ...]) -> set[tuple[str, str, str, str]]:
    return {
        (source, target, change.before, change.after)
        for change in changes
        for source in change.sources
        for target in change.targets or ("",)
    }


def test_a_deleted_policy_opens_what_it_kept_apart() -> None:
    pods = [pod("web"), pod("client"), pod("other")]
    rule = {"from": [{"podSelector": CLIENT}], "ports": [{"port": 8080}]}
    closed = policy(podSelector={"matchLabels": {"app": "web"}}, ingress=[rule])
    pair = sides([*pods, closed], pods)
    changes = connection_changes(pair)
    assert {(change.change, change.because, change.by) for change in changes} == {
        ("opened", "policy", (pair.before.network.policies[0].key,)),
        ("widened", "policy", (pair.before.network.policies[0].key,)),
    }
    assert changes[0].exposed
    assert ("Pod shop/client", "Pod shop/web", "TCP 8080", "all") in pairs(changes)
    (finding,) = isolation_removed(pair)
    assert finding.message.startswith("Pod shop/web is no longer isolated")
    assert list(isolation_removed(sides(pods, [*pods, closed]))) == []


def test_a_label_that_goes_is_the_cause() -> None:
    closed = policy(podSelector={"matchLabels": {"app": "web"}})
    bare = pod("web")
    bare["metadata"]["labels"] = {}
    changes = connection_changes(sides([pod("web"), pod("client"), closed], [bare, pod("client"), closed]))
    assert {change.because for change in changes} == {"labels"}


def test_a_new_workload_is_said_once() -> None:
    closed = policy(podSelector={})
    changes = connection_changes(sides([pod("web"), closed], [pod("web"), pod("client"), closed]))
    assert [(change.sources, change.targets, change.because) for change in changes] == [
        (("Pod shop/client",), (), "workload added")
    ]


def test_random_worlds_mirror_and_differ_from_themselves_in_nothing() -> None:
    for seed in range(40):
        (before, _), (after, _) = random_world(seed), random_world(seed)
        kept = after[: len(after) - 1]
        assert connection_changes(sides(before, after)) == ()
        there = pairs(connection_changes(sides(before, kept)))
        back = pairs(connection_changes(sides(kept, before)))
        assert {(source, target, after_, before_) for source, target, before_, after_ in there} == back


def _members(kind: str, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return manifest(version, kind, "web", "shop", spec={"template": template, **spec})


@pytest.mark.parametrize(
    ("workload", "several"),
    [
        (_members("StatefulSet", replicas=3), True),
        (_members("Deployment", replicas=2), True),
        (_members("ReplicaSet", replicas=2), True),
        (_members("DaemonSet"), True),
        (_members("StatefulSet", replicas=1), False),
        (_members("Deployment"), False),
        (_members("Deployment", replicas="2"), False),
        (_members("Job"), False),
        (pod("web"), False),
    ],
    ids=lambda given: given["kind"] + str(given["spec"].get("replicas", "")) if isinstance(given, dict) else "",
)
def test_a_policy_may_keep_the_pods_of_one_workload_from_each_other(workload: dict[str, Any], several: bool) -> None:
    web = {"matchLabels": {"app": "web"}}
    among = policy(podSelector=web, ingress=[{"from": [{"podSelector": web}]}])
    none = policy(podSelector=web, ingress=[])
    cut = connection_changes(sides([workload, among], [workload, none]))
    name = f"{workload['kind']} shop/web"
    assert pairs(cut) == ({(name, name, "all", "none")} if several else set())
    assert {change.change for change in connection_changes(sides([workload, none], [workload, among]))} == (
        {"opened"} if several else set()
    )
    listed = connections(simulate(world([workload, among]), load_catalog()).network)
    itself = [row for row in listed if row.sources & row.targets]
    assert bool(itself) is several
    simulation = simulate(world([workload, among]), load_catalog())
    facts = of_workload(simulation.network, simulation.network.numbers[name])
    assert any(fact.name == "reached by" and name in fact.words for fact in facts) is several
