"""Parents of another repository: contexts lead through them, and nothing is claimed of what stands on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import worlds
from tests.diff.history import commit, run

JWT = "jwt: {providers: [{name: id, issuer: https://id, remoteJWKS: {uri: https://id/jwks}}]}"
LISTENERS = "[{name: https, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
CLASS = worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
GATEWAY = worlds.gateway(listeners=LISTENERS, of_class="envoy")
PARENTS = {
    "Gateway": "[{name: edge, namespace: infra, sectionName: https}]",
    "Gateway without section": "[{name: edge, namespace: infra}]",
    "ListenerSet": "[{group: gateway.networking.k8s.io, kind: ListenerSet, name: team, namespace: infra}]",
    "Service": "[{group: '', kind: Service, name: other, namespace: infra, port: 80}]",
}


def shop(parents: str = PARENTS["Gateway"]) -> str:
    rule = "hostnames: [shop.example], rules: [{backendRefs: [{name: checkout, port: 80}]}]"
    return "---".join((worlds.route(parents=parents, more=rule), worlds.service()))


def login(target: str = "HTTPRoute/checkout", namespace: str = "shop", name: str = "login") -> str:
    return worlds.policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", name, target, JWT, namespace)


def repository(directory: Path, **files: str) -> Path:
    commit(directory, {f"apps/{name}.yaml": text for name, text in files.items()})
    return directory


@pytest.mark.parametrize("parents", PARENTS.values(), ids=PARENTS)
@pytest.mark.parametrize("sight", ["seen", "unseen", "assumed"])
def test_a_lost_login_is_an_error_wherever_the_parent_is(tmp_path: Path, sight: str, parents: str) -> None:
    tree = {"shop": shop(parents), "login": login()}
    if sight == "seen":
        there = worlds.listener_set("team", "infra", LISTENERS)
        more = "allowedListeners: {namespaces: {from: All}}"
        gateway = worlds.gateway(listeners=LISTENERS, of_class="envoy", more=more)
        tree["infra"] = "---".join((CLASS, gateway, there, worlds.service("other", "infra")))
    if sight == "assumed":
        assumed = "assume: [Gateway infra/edge, ListenerSet infra/team, Service infra/other]\n"
        commit(tmp_path, {".policylint.yaml": assumed})
    repository(tmp_path, **tree)
    commit(tmp_path, {"apps/login.yaml": None})
    code, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD", "-o", "json")
    report = json.loads(out)
    assert code == 1
    assert {finding["rule"] for finding in report["findings"] if finding["state"] == "new"} == {"GWP302"}
    assert report["changes"]


@pytest.mark.parametrize("parents", PARENTS.values(), ids=PARENTS)
def test_what_hangs_on_an_unseen_parent_is_unknown(tmp_path: Path, parents: str) -> None:
    repository(tmp_path, shop=shop(parents), login=login())
    (environment,) = json.loads(run(tmp_path, "simulate", "-o", "json")[1])["environments"]
    assert environment["name"] == "default"
    (row,) = json.loads(run(tmp_path, "list", "routes", "-o", "json")[1])["routes"]
    assert row["status"] == "Unknown"
    assert row["acting"] == ["SecurityPolicy shop/login"]
    (policy,) = json.loads(run(tmp_path, "list", "policies", "-o", "json")[1])["policies"]
    assert (policy["verdict"], policy["routes"]) == ("Enforced", 1)
    code, out, _ = run(tmp_path, "lint", "--show-unknown", "-o", "json")
    findings = [
        (finding["rule"], finding["severity"], finding["confidence"]) for finding in json.loads(out)["findings"]
    ]
    assert (code, findings) == (0, [("GWP401", "note", "unknown")])


def test_every_command_speaks_of_the_gateway_elsewhere(tmp_path: Path) -> None:
    repository(tmp_path, shop=shop(), login=login())
    assert "1 policy on 1 route, 0 gateways and 1 elsewhere" in run(tmp_path, "lint")[1]
    assert json.loads(run(tmp_path, "lint", "-o", "json")[1])["coverage"]["elsewhere"] == ["Gateway infra/edge"]
    (gateway,) = json.loads(run(tmp_path, "list", "gateways", "-o", "json")[1])["gateways"]
    assert (gateway["gateway"], gateway["status"], gateway["policies"]) == ("Gateway infra/edge", "Unknown", None)
    explained = run(tmp_path, "explain", "HTTPRoute/shop/checkout")[1]
    assert "Gateway infra/edge > listener https > HTTPRoute shop/checkout" in explained
    assert "NoMatchingParent" not in explained
    assert "no policy here acts on it; what policies elsewhere do" in run(tmp_path, "explain", "Gateway/infra/edge")[1]
    traced = run(tmp_path, "trace", "GET", "http://shop.example/")[1]
    assert "jwt required" in traced
    assert "Gateway infra/edge was not seen" in traced
    assert "unknown: Gateway infra/edge was not seen" in run(tmp_path, "trace", "GET", "http://other.example/")[1]
    graph = run(tmp_path, "graph")[1]
    assert "Gateway infra/edge (unknown)" in graph
    assert "not found" not in graph


def test_policies_on_an_unseen_gateway_act_on_its_routes_and_are_not_judged(tmp_path: Path) -> None:
    simulation = worlds.opened(tmp_path, shop(), login("Gateway/edge#https", "infra"))
    assert worlds.verdicts(simulation) == {"login": "Unknown"}
    (group,) = simulation.groups
    assert [str(key) for key in group.routes()] == ["HTTPRoute shop/checkout"]


def test_a_deleted_login_of_an_unseen_gateway_is_an_error(tmp_path: Path) -> None:
    repository(tmp_path, shop=shop(), infra=login("Gateway/edge", "infra"))
    assert "jwt required" in run(tmp_path, "trace", "GET", "http://shop.example/")[1]
    commit(tmp_path, {"apps/infra.yaml": None})
    assert run(tmp_path, "diff", "HEAD~1..HEAD")[0] == 1


def test_a_route_below_a_seen_and_an_unseen_gateway_has_both_ways(tmp_path: Path) -> None:
    parents = "[{name: edge, namespace: infra}, {name: internal, namespace: platform}]"
    simulation = worlds.opened(
        tmp_path, CLASS, GATEWAY, shop(parents), login("Gateway/edge", "infra"), login(name="own")
    )
    (own,) = [group for group in simulation.groups if len(group.effective.stack) == 1]
    assert [str(path[0]) for path in own.contexts()] == ["Gateway platform/internal"]


@pytest.mark.parametrize(
    ("tree", "parents", "certain"),
    [
        ((), "[{name: edge, namespace: infra}]", False),
        ((GATEWAY,), "[{name: edge, namespace: platform}]", False),
        ((GATEWAY,), "[{name: egde, namespace: infra}]", True),
        ((GATEWAY,), "[{name: edge}]", True),
    ],
    ids=["no Gateway in the tree", "a namespace that nothing deploys", "a typo", "no namespace"],
)
def test_only_what_has_its_place_here_is_missing(
    tmp_path: Path, tree: tuple[str, ...], parents: str, certain: bool
) -> None:
    simulation = worlds.opened(tmp_path, *tree, shop(parents))
    (route,) = simulation.topology.routes
    (parent,) = route.parents
    status = ("False", "NoMatchingParent") if certain else ("Unknown", "Pending")
    assert (parent.conditions[0].status, parent.conditions[0].reason) == status
