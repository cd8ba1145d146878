"""Network policies of which a variable stands for a part: what they let through is not known there, and certain in the
rest; what a change makes of it is told with `perhaps`, in the rows and in the findings alike."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.compare.connections import connection_changes, isolation_removed
from policylint.compare.opened import connections_opened
from tests.network.test_changes import pairs, sides
from tests.network.test_opened import way_in
from tests.network.test_semantics import pod, policy

Body = dict[str, Any]
PODS = [pod("web"), pod("client")]
X = "${X}"


def closing(selector: Any, kind: str = "NetworkPolicy") -> Body:
    """A policy that lets nobody in to what it selects, in the words of its kind."""
    if kind == "NetworkPolicy":
        return policy(podSelector=selector, policyTypes=["Ingress"])
    if kind in ("CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"):
        return policy("web", kind, endpointSelector=selector, ingress=[{}])
    deny = {"tier": "Admin", "priority": 1, "ingress": [{"action": "Deny", "from": [{"namespaces": {}}]}]}
    return policy("web", kind, subject={"pods": {"namespaceSelector": {}, "podSelector": selector}}, **deny)


SELECTORS = [
    pytest.param(X, id="selector"),
    pytest.param({"matchLabels": X}, id="labels"),
    pytest.param({"matchLabels": {"app": X}}, id="value"),
    pytest.param({"matchExpressions": X}, id="expressions"),
    pytest.param({"matchExpressions": [X]}, id="an-expression"),
    pytest.param({"matchExpressions": [{"key": X, "operator": "Exists"}]}, id="key"),
    pytest.param({"matchExpressions": [{"key": "app", "operator": X, "values": ["web"]}]}, id="operator"),
    pytest.param({"matchExpressions": [{"key": "app", "operator": "In", "values": X}]}, id="values"),
]
KINDS = ["NetworkPolicy", "CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy", "ClusterNetworkPolicy"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", SELECTORS)
def test_a_variable_in_a_selector_leaves_open_whom_it_selects(selector: Any, kind: str) -> None:
    gone = sides([*PODS, closing(selector, kind)], PODS)
    rows = {row for row in pairs(connection_changes(gone)) if row[:2] == ("Pod shop/client", "Pod shop/web")}
    assert rows == {("Pod shop/client", "Pod shop/web", "perhaps all", "all")}
    assert {row.ground for row in connection_changes(gone)} == {"whether they were kept apart before is not known"}
    findings = [*isolation_removed(gone), *connections_opened(gone, connection_changes(gone))]
    assert {(each.severity, each.confidence) for each in findings} == {("error", "assumed")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", SELECTORS)
def test_who_is_closed_for_certain_no_more_is_told(selector: Any, kind: str) -> None:
    pair = sides([*PODS, closing({}, kind)], [*PODS, closing(selector, kind)])
    rows = {row for row in pairs(connection_changes(pair)) if row[:2] == ("Pod shop/client", "Pod shop/web")}
    assert rows == {("Pod shop/client", "Pod shop/web", "none", "perhaps all")}
    findings = [*isolation_removed(pair), *connections_opened(pair, connection_changes(pair))]
    assert {(each.severity, each.confidence) for each in findings} == {("warning", "assumed")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", SELECTORS)
def test_what_may_be_closed_is_told_too(selector: Any, kind: str) -> None:
    pair = sides(PODS, [*PODS, closing(selector, kind)])
    changes = connection_changes(pair)
    assert {change.change for change in changes} == {"closed"}
    assert ("Pod shop/client", "Pod shop/web", "all", "perhaps all") in pairs(changes)
    assert list(connections_opened(pair, changes)) == list(isolation_removed(pair)) == []


@pytest.mark.parametrize(
    ("peer", "outside"),
    [({"podSelector": X}, "none"), ({"namespaceSelector": X}, "none"), ({"ipBlock": {"cidr": X}}, "perhaps all")],
)
def test_a_variable_in_a_peer_means_what_such_peers_can_mean(peer: Body, outside: str) -> None:
    closed = closing({})
    lets_in = policy(podSelector={}, policyTypes=["Ingress"], ingress=[{"from": [peer]}])
    found = pairs(connection_changes(sides([*PODS, closed], [*PODS, lets_in])))
    assert ("Pod shop/client", "Pod shop/web", "none", "perhaps all") in found
    assert {after for source, _, _, after in found if source.startswith("0.0.0.0")} <= {outside} - {"none"}


def test_whom_an_entry_names_and_who_may_be_meant_before_is_in_the_rows_alone() -> None:
    """`name: shop` may be a label of the namespace: an entry that names it by one that it has opens nothing."""
    vague, named = (
        policy(
            podSelector={},
            policyTypes=["Ingress"],
            ingress=[{"from": [{"namespaceSelector": {"matchLabels": {key: "shop"}}}], "ports": [{"port": 8080}]}],
        )
        for key in ("name", "kubernetes.io/metadata.name")
    )
    pair = sides([*PODS, vague], [*PODS, named], partial=True)
    changes = connection_changes(pair)
    assert ("Pod shop/client", "Pod shop/web", "perhaps TCP 8080", "TCP 8080") in pairs(changes)
    assert list(connections_opened(pair, changes)) == []


@pytest.mark.parametrize("types", [X, [X], ["Ingress", X]])
def test_a_variable_for_a_direction_leaves_both_open(types: Any) -> None:
    pair = sides([*PODS, policy(podSelector={}, policyTypes=types)], PODS)
    assert {row[2] for row in pairs(connection_changes(pair))} == {"perhaps all"}
    assert {finding.confidence for finding in isolation_removed(pair)} == {"assumed"}


def test_a_direction_that_no_variable_is_about_is_certain() -> None:
    """`policyTypes` closes one direction: what leaves the pods is open before and after, whomever it selects."""
    pair = sides([*PODS, closing(X)], [*PODS, closing({})])
    outward = {row for row in pairs(connection_changes(pair)) if row[1].startswith("0.0.0.0")}
    assert outward == set()


def test_pods_whose_labels_nobody_knows_count_where_it_is_certain_alone() -> None:
    """A Service says one label of pods that no manifest has: whether they carry another one is no news."""
    seen = [*way_in("api"), *PODS]
    of_tier = policy(podSelector={"matchLabels": {"app": "api", "tier": "db"}}, policyTypes=["Ingress"])
    of_app = policy(podSelector={"matchLabels": {"app": "api"}}, policyTypes=["Ingress"])
    perhaps, certain = (sides([*seen, each], seen, partial=True) for each in (of_tier, of_app))
    assert list(isolation_removed(perhaps)) == []
    assert connection_changes(perhaps) == ()
    assert [finding.severity for finding in isolation_removed(certain)] == ["error"]


@pytest.mark.parametrize("ports", [[X], X, [{"port": 8080}, X]])
def test_a_variable_for_ports_keeps_the_peers_of_the_rule(ports: Any) -> None:
    """Whatever the ports are, nobody but the rule's peers gets in: to drop them closes and opens nothing else."""
    peers = [{"podSelector": {"matchLabels": {"app": "client"}}}]
    unsaid, every = (
        policy(podSelector={}, policyTypes=["Ingress"], ingress=[{"from": peers, **written}])
        for written in ({"ports": ports}, {})
    )
    changes = connection_changes(sides([*PODS, unsaid], [*PODS, every]))
    assert not [row for row in pairs(changes) if row[0] != "Pod shop/client"]
