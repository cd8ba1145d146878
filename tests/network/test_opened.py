"""GWP621: connections that a change opens between pods that were there before, and how bad that is."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.compare.connections import connection_changes, isolation_removed
from policylint.compare.opened import connections_opened
from policylint.compare.pairing import Sides
from policylint.model import Finding
from tests.network.test_changes import sides
from tests.network.test_semantics import CLIENT, pod, policy
from tests.network.worlds import manifest, random_world

Body = dict[str, Any]
WEB = {"matchLabels": {"app": "web"}}
PORT, ALL = [{"port": 8080}], [{"port": 1, "endPort": 65535}]
UNLABELLED = {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}
TEAM, AWAY = ({"namespaceSelector": {"matchLabels": {"team": name}}} for name in ("shop", "away"))


def namespaces(**teams: str) -> list[Body]:
    return [manifest("v1", "Namespace", name, labels={"team": team}) for name, team in teams.items()]


PODS = [*namespaces(shop="shop", away="away"), pod("web"), pod("client"), pod("far", "away")]


def opened(pair: Sides) -> list[Finding]:
    return list(connections_opened(pair, connection_changes(pair)))


def told(before: list[Body], after: list[Body]) -> list[str]:
    return [finding.severity for finding in opened(sides([*PODS, *before], [*PODS, *after]))]


def way_in(service: str, controller: str = "example.com/any") -> list[Body]:
    """A Gateway, with a route to a Service that selects pods by its name."""
    listener = {"name": "a", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    parent, backend = {"name": "edge", "namespace": "infra"}, {"name": service, "port": 80}
    specs: dict[tuple[str, str, str, str], Body] = {
        ("GATEWAY", "GatewayClass", "any", ""): {"controllerName": controller},
        ("GATEWAY", "Gateway", "edge", "infra"): {"gatewayClassName": "any", "listeners": [listener]},
        ("v1", "Service", service, "shop"): {"selector": {"app": service}, "ports": [{"port": 80, "targetPort": 8080}]},
        ("GATEWAY", "HTTPRoute", service, "shop"): {"parentRefs": [parent], "rules": [{"backendRefs": [backend]}]},
    }
    version = "gateway.networking.k8s.io/v1"
    return [
        manifest(named.replace("GATEWAY", version), *identity, spec=spec) for (named, *identity), spec in specs.items()
    ]


def web(*rules: Body) -> Body:
    return policy(podSelector=WEB, policyTypes=["Ingress"], ingress=list(rules))


def guard(*rules: Body) -> Body:
    return policy(
        "guard", "ClusterNetworkPolicy", tier="Admin", priority=1, subject={"namespaces": {}}, ingress=list(rules)
    )


OTHERS = {"action": "Deny", "from": [{"namespaces": {"matchLabels": {"team": "away"}}}]}
EVERYBODY = {"action": "Accept", "from": [{"namespaces": {}}]}
OPEN = policy("all", podSelector={}, ingress=[{}])
NEAR = {"podSelector": CLIENT}
ONLY_CLIENT = web({"from": [NEAR], "ports": PORT})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(ONLY_CLIENT, web({"from": [NEAR]}), id="ports-dropped"),
        pytest.param(ONLY_CLIENT, web({"from": [NEAR], "ports": ALL}), id="every-port"),
        pytest.param(ONLY_CLIENT, web({"from": [{"namespaceSelector": {}}], "ports": PORT}), id="every-namespace"),
        pytest.param(
            ONLY_CLIENT,
            web({"from": [{"namespaceSelector": UNLABELLED}], "ports": PORT}),
            id="all-without-a-label",
        ),
        pytest.param(guard(OTHERS, EVERYBODY), guard(EVERYBODY, OTHERS), id="deny-comes-later"),
        pytest.param(guard(OTHERS), guard({**OTHERS, "action": "Pass"}), id="deny-passes"),
        pytest.param(
            policy(podSelector={}, policyTypes=["Egress"]),
            policy(podSelector=CLIENT, policyTypes=["Egress"]),
            id="egress-no-longer-closed",
        ),
    ],
)
def test_who_was_kept_out_and_is_not_named_is_an_error(before: Body, after: Body) -> None:
    assert told([before], [after]) == ["error"]
    assert told([after], [before]) == [], "the reverse only closes"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            ONLY_CLIENT,
            web({"from": [NEAR, AWAY], "ports": PORT}),
            id="peer",
        ),
        pytest.param(ONLY_CLIENT, web({"from": [NEAR], "ports": [*PORT, {"port": 9090}]}), id="port"),
        pytest.param(
            policy(podSelector=CLIENT, policyTypes=["Egress"]),
            policy(podSelector=CLIENT, policyTypes=["Egress"], egress=[{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]),
            id="egress-by-an-entry",
        ),
    ],
)
def test_whom_a_new_entry_names_is_a_warning(before: Body, after: Body) -> None:
    assert told([before], [after]) == ["warning"]
    assert told([after], [before]) == []


def test_whom_a_new_label_names_is_a_warning() -> None:
    entry = web({"from": [TEAM], "ports": PORT})
    rest = [pod("web"), pod("far", "away"), entry]
    pair = sides([*namespaces(shop="shop", away="away"), *rest], [*namespaces(shop="shop", away="shop"), *rest])
    (finding,) = opened(pair)
    assert finding.severity == "warning"
    why = "NetworkPolicy shop/web selects them by labels that are new"
    assert finding.message == f"Pod away/far can connect to Pod shop/web on TCP 8080 now: {why}"


def test_a_port_that_moves_under_its_name_is_a_warning() -> None:
    entry, moved = web({"ports": [{"port": "http"}]}), pod("web")
    moved["spec"]["containers"][0]["ports"][0]["containerPort"] = 9090
    (finding,) = opened(sides([pod("web"), pod("client"), entry], [moved, pod("client"), entry]))
    assert (finding.severity, "by its name" in finding.message) == ("warning", True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([ONLY_CLIENT], [policy("other", **ONLY_CLIENT["spec"])], id="renamed"),
        pytest.param([web({"from": [TEAM, NEAR]})], [web({"from": [NEAR, TEAM]})], id="order"),
        pytest.param(
            [web({"from": [NEAR], "ports": [{"port": 80}, {"port": 81}]})],
            [web(*({"from": [NEAR], "ports": [{"port": port}]} for port in (80, 81)))],
            id="split",
        ),
        pytest.param([policy(podSelector={})], [policy(podSelector={}), pod("new")], id="workload-added"),
        pytest.param([policy(podSelector={}), pod("old")], [policy(podSelector={})], id="workload-removed"),
        pytest.param([ONLY_CLIENT, OPEN], [OPEN], id="moot"),
    ],
)
def test_refactorings_and_new_workloads_are_silent(before: list[Body], after: list[Body]) -> None:
    assert told(before, after) == []
    assert told(after, before) == []


def test_what_anybody_outside_reaches_is_said_once() -> None:
    pair = sides([*PODS, policy(podSelector=WEB, policyTypes=["Ingress"])], PODS)
    assert [finding.rule for finding in (*isolation_removed(pair), *opened(pair))] == ["GWP620"]


def test_every_opened_connection_is_in_a_finding_and_no_other_change_is() -> None:
    found = 0
    for seed in range(60):
        (before, _), (after, _) = random_world(seed), random_world(seed)
        for old, new in ((before, after[:-1]), (after[:-1], before)):
            pair = sides(old, new)
            is_opened = any(each.targets and each.change in ("opened", "widened") for each in connection_changes(pair))
            assert is_opened == bool([*opened(pair), *isolation_removed(pair)]), seed
            found += is_opened
    assert found > 20


def test_a_workload_that_moves_to_another_namespace_keeps_its_place_among_the_ends() -> None:
    """The namespace has another default: nothing closes the pods there."""
    closed, elsewhere = policy(podSelector={}), policy(podSelector={}, namespace="away")
    before = [*namespaces(shop="shop", away="away"), pod("web"), pod("far", "away")]
    after = [*namespaces(shop="shop", away="away"), pod("web", "away"), pod("far", "away")]
    pair = sides([*before, closed], [*after, closed])
    assert [finding.rule for finding in (*isolation_removed(pair), *opened(pair))] == ["GWP620"]
    kept = sides([*before, closed], [*after, elsewhere])
    assert [*isolation_removed(kept), *opened(kept)] == []


CONTROLLERS = (
    "gateway.envoyproxy.io/gatewayclass-controller",  # whose proxies run in a namespace of its own, or with the Gateway
    "kgateway.dev/kgateway",
    "istio.io/gateway-controller",
    "traefik.io/gateway-controller",
)


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_a_gateway_is_an_end_wherever_its_proxies_may_run_as_well(controller: str) -> None:
    """Of proxies that may be in several places the last one took the place of the likeliest, and nothing was told."""
    gateway = way_in("web", controller)
    closed, passed = (guard({"action": action, "from": [{"namespaces": {}}]}) for action in ("Deny", "Pass"))
    pair = sides([*PODS, *gateway, closed], [*PODS, *gateway, passed])
    assert "Gateway infra/edge (proxies)" in {name for each in connection_changes(pair) for name in each.sources}
    assert "error" in {finding.severity for finding in opened(pair)}


@pytest.mark.parametrize(
    ("selector", "confidence"),
    [(WEB, "certain"), ({}, "certain"), ("${PODS}", "assumed"), ({"matchLabels": "${OF}"}, "assumed")],
)
def test_what_a_variable_selected_may_have_been_isolated(selector: Any, confidence: str) -> None:
    pair = sides([*PODS, policy(podSelector=selector, policyTypes=["Ingress"])], PODS)
    assert {finding.confidence for finding in isolation_removed(pair)} == {confidence}
