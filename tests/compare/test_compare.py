"""Two states of a small world, and what a comparison says of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.compare import Sides, compare, compare_findings, pair_sides, removed_protections
from policylint.compare import contexts as contexts_module
from policylint.compare.change import EnvironmentChange
from policylint.compare.findings import changed_lines, finding_changes, on_changed_lines
from policylint.compare.pairing import Pairing
from policylint.model import Finding, Location, Node, Related, ResourceKey, Spot
from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, policy, route

WORLD = (GATEWAY, route(), SERVICE)
ROUTE_GROUP = "gateway.networking.k8s.io"
EDGE = "kind: Gateway, name: edge"
CHECKOUT = "kind: HTTPRoute, name: checkout"
JWT = "jwt: {providers: [{name: staff, issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com}}]}"
CORS = 'cors: {allowOrigins: ["https://www.example.com"]}'


def sides(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> Sides:
    simulations = []
    for name, documents in (("before", before), ("after", after)):
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        (place / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
        simulations.append(open_workspace([str(place)]).simulations)
    (found,) = pair_sides(*simulations)
    return found


def change(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> EnvironmentChange:
    (found,) = compare([sides(tmp_path, before, after)])
    return found


def removed(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[Finding]:
    pair = sides(tmp_path, before, after)
    return removed_protections([pair], compare([pair]))


def settings(found: EnvironmentChange) -> list[tuple[str, str, str]]:
    return [
        (str(subject.key), each.name, each.change)
        for subject in found.subjects
        for part in subject.parts
        for each in part.settings
        if each.change != "unchanged"
    ]


edge_jwt = policy("SecurityPolicy", "edge", EDGE, JWT, namespace="infra")


def test_a_setting_that_moves_to_another_policy_is_no_change_of_a_route(tmp_path: Path) -> None:
    limits = "timeout: {http: {requestTimeout: 5s}}"
    before = (*WORLD, policy("BackendTrafficPolicy", "edge", EDGE, limits, namespace="infra"))
    after = (*before, policy("BackendTrafficPolicy", "own", CHECKOUT, limits))
    found = change(tmp_path, before, after)
    assert settings(found) == []
    assert found.contexts
    assert {each.before.spec == each.after.spec for each in found.contexts if each.before and each.after} == {True}


def test_order_comments_and_labels_are_no_change(tmp_path: Path) -> None:
    labelled = route().replace("name: checkout, namespace: shop", "namespace: shop, labels: {team: a}, name: checkout")
    found = change(tmp_path, (*WORLD, edge_jwt), (edge_jwt, f"# who\n{labelled}", SERVICE, GATEWAY))
    assert found.is_empty


def test_encrypting_anew_is_no_change(tmp_path: Path) -> None:
    secret = """
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: infra}
stringData: {token: "ENC[AES256_GCM,data:%s]"}
sops: {lastmodified: "%s", mac: "ENC[AES256_GCM,data:%s]"}
"""
    using = edge_jwt.replace("remoteJWKS", "localJWKS")
    before = (*WORLD, using, secret % ("aaaa", "2026-01-01T00:00:00Z", "bbbb"))
    found = change(tmp_path, before, (*before[:-1], secret % ("cccc", "2026-02-02T00:00:00Z", "dddd")))
    assert found.is_empty


def test_rename_is_recognised_with_its_policies(tmp_path: Path) -> None:
    before = (*WORLD, policy("SecurityPolicy", "own", CHECKOUT, CORS))
    buy = route().replace("{name: checkout, namespace: shop}", "{name: buy, namespace: shop}", 1)
    after = (GATEWAY, buy, SERVICE, policy("SecurityPolicy", "browsers", "kind: HTTPRoute, name: buy", CORS))
    found = change(tmp_path, before, after)
    assert [(each.change, str(each.key), str(each.was)) for each in found.subjects] == [
        ("renamed", "HTTPRoute shop/buy", "HTTPRoute shop/checkout")
    ]
    assert (found.contexts, found.policies) == ((), ())
    assert {each.change for each in found.objects} == {"renamed"}


def test_another_policy_on_the_same_target_is_no_rename(tmp_path: Path) -> None:
    before = (*WORLD, policy("SecurityPolicy", "one", CHECKOUT, JWT))
    after = (*WORLD, policy("SecurityPolicy", "two", CHECKOUT, CORS))
    assert not Pairing(*sides(tmp_path, before, after)[:2]).renamed


def test_a_rule_put_in_front_renumbers_the_others(tmp_path: Path) -> None:
    old = route().replace(
        "  rules:\n", "  rules:\n    - matches: [{path: {value: /a}}]\n    - matches: [{path: {value: /b}}]\n"
    )
    new = old.replace(
        "    - matches: [{path: {value: /b}}]\n",
        "    - matches: [{path: {value: /new}}]\n    - matches: [{path: {value: /b}}]\n",
    )
    pairing = sides(tmp_path, (GATEWAY, old, SERVICE), (GATEWAY, new, SERVICE)).pairing
    key = ResourceKey(ROUTE_GROUP, "HTTPRoute", "shop", "checkout")

    def now(section: str) -> str:
        return pairing.node(Node(key, section, "HTTPRouteRule")).section

    assert [now(each) for each in ("rule-1", "rule-2", "all", "rule-4")] == ["rule-1", "rule-3", "all", "rule-5"]
    assert pairing.origin(Node(key, "rule-2", "HTTPRouteRule")).section == "rule-2 (new)"


edge_cors = policy("SecurityPolicy", "edge", EDGE, CORS, namespace="infra")
edge_basic = policy("SecurityPolicy", "edge", EDGE, "basicAuth: {users: {name: x}}", namespace="infra")
own_list = policy("SecurityPolicy", "own", CHECKOUT, "authorization: {defaultAction: Deny}")
own_retry = policy("BackendTrafficPolicy", "own", CHECKOUT, "retry: {numRetries: 1}")


@pytest.mark.parametrize(
    ("before", "after", "number"),
    [
        pytest.param(edge_jwt, "", 1, id="deleted"),
        pytest.param(edge_jwt, edge_cors, 1, id="taken-out"),
        pytest.param("", edge_jwt, 0, id="added"),
        pytest.param(
            edge_jwt, edge_jwt.replace("https://id.example.com}}", "https://id.example.com/keys}}"), 0, id="changed"
        ),
        pytest.param(edge_jwt, edge_basic, 0, id="another-authentication"),
        pytest.param(own_list, "", 1, id="allow-list"),
        pytest.param(own_retry, "", 0, id="no-protection"),
    ],
)
def test_removed_protections(tmp_path: Path, before: str, after: str, number: int) -> None:
    found = removed(tmp_path, (*WORLD, *filter(None, [before])), (*WORLD, *filter(None, [after])))
    assert [each.rule for each in found] == ["GWP302"] * number
    assert all(each.severity == "error" and each.resources[0].name == "checkout" for each in found)


def test_a_route_that_goes_loses_nothing(tmp_path: Path) -> None:
    assert removed(tmp_path, (*WORLD, edge_jwt), (GATEWAY, SERVICE, edge_jwt)) == []


def test_a_kind_of_another_implementation_takes_its_place(tmp_path: Path) -> None:
    kuadrant = """
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: edge, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  rules: {authentication: {staff: {jwt: {issuerUrl: https://id.example.com}}}}
"""
    assert removed(tmp_path, (*WORLD, edge_jwt), (*WORLD, kuadrant)) == []


def test_a_lost_selector_label_is_named(tmp_path: Path) -> None:
    selecting = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: web, namespace: shop}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {tier: web}}]
  jwt: {providers: [{name: staff, issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com}}]}
"""
    labelled = route().replace(
        "{name: checkout, namespace: shop}", "{name: checkout, namespace: shop, labels: {tier: web}}", 1
    )
    (found,) = removed(tmp_path, (GATEWAY, labelled, SERVICE, selecting), (*WORLD, selecting))
    assert "its selector no longer matches" in found.label
    (touched,) = change(tmp_path, (GATEWAY, labelled, SERVICE, selecting), (*WORLD, selecting)).objects
    assert (str(touched.key), touched.change) == ("HTTPRoute shop/checkout", "changed")


def test_new_is_younger_and_the_finding_says_so(tmp_path: Path) -> None:
    old = policy("SecurityPolicy", "z-old", CHECKOUT, JWT)
    new = policy("SecurityPolicy", "a-new", CHECKOUT, CORS)
    pair = sides(tmp_path, (*WORLD, old), (*WORLD, old, new))
    (found,) = compare([pair])
    assert settings(found) == []
    from policylint.checks import run

    said = compare_findings([pair], [found], run(pair.before), run(pair.after))
    (conflict,) = (each.finding for each in said if each.state == "new" and each.finding.rule == "GWP202")
    assert conflict.resources[0].name == "a-new"
    assert "note: shop/a-new is new in this change, so it is younger than shop/z-old, which stays" in conflict.help


def test_what_a_chart_brings_is_unknown(tmp_path: Path) -> None:
    release = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: plex, namespace: shop}
spec: {chart: {spec: {chart: plex, version: 1.0.0}}, values: {route: {main: {enabled: true}}}}
"""
    aimed = policy("BackendTrafficPolicy", "plex", "kind: HTTPRoute, name: plex", "retry: {numRetries: 1}")
    found = change(tmp_path, (*WORLD, release), (*WORLD, release.replace("1.0.0", "1.1.0"), aimed))
    assert [(each.change, str(each.key)) for each in found.unknown] == [
        ("unknown", "HTTPRoute shop/plex"),
        ("unknown", "HelmRelease shop/plex"),
    ]
    assert found.known == ()


def test_a_policy_on_one_gateway_of_two_meets_what_the_route_had_by_both(tmp_path: Path) -> None:
    """What the route's own policy came to by way of that Gateway was there before, though it still is by the other."""
    own = {"timeout": {"http": {"requestTimeout": "5s"}}}
    mine = policy("BackendTrafficPolicy", "mine", CHECKOUT, f"timeout: {own['timeout']}\n  mergeType: StrategicMerge")
    more = policy("BackendTrafficPolicy", "more", EDGE, 'timeout: {tcp: {connectTimeout: "1s"}}', namespace="infra")
    both = route(parent="name: edge, namespace: infra}, {name: side, namespace: infra")
    world = (GATEWAY, GATEWAY.replace("name: edge", "name: side"), SERVICE, both, mine)
    found = change(tmp_path, world, (*world, more))
    assert {str(each.path[0]) for each in found.contexts} == {"Gateway infra/edge"}
    assert all(each.before and each.before.spec == own for each in found.contexts)


def test_a_route_in_the_place_of_another_one_is_not_that_one(tmp_path: Path) -> None:
    """Both topologies have the same shape, so that vertices of the same number are different routes."""
    orders, service = (each.replace("namespace: shop", "namespace: pay") for each in (route("orders"), SERVICE))
    found = change(tmp_path, (*WORLD, edge_jwt), (GATEWAY, orders, service, edge_jwt))
    assert {each.standing for each in found.contexts} == {"gone", "new"}


def test_too_many_contexts_are_told_by_route(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts_module, "MOST_CONTEXTS", 1)
    found = change(tmp_path, (*WORLD, edge_jwt), WORLD)
    assert found.truncated
    assert settings(found) == [("HTTPRoute shop/checkout", "jwt", "removed")]


def finding(name: str, line: int, severity: str = "warning", field: str = "") -> Finding:
    key = ResourceKey("", "Service", "shop", name)
    place = Location(Spot("a.yaml", line))
    return Finding("GWP101", severity, f"{name} at {line}", place, (key,), field=field)  # type: ignore[arg-type]


def test_findings_are_matched_by_what_they_are_about() -> None:
    renamed = {ResourceKey("", "Service", "shop", "old"): ResourceKey("", "Service", "shop", "new")}
    before = [
        finding("a", 1),
        finding("old", 2),
        finding("gone", 3),
        finding("worse", 4, "note"),
        finding("a", 9, field="x"),
    ]
    after = [finding("a", 50), finding("new", 51), finding("worse", 4, "error"), finding("come", 5)]
    found = {
        (each.finding.resources[0].name, each.finding.field): each.state
        for each in finding_changes(before, after, renamed)
    }
    assert found == {
        ("a", ""): "unchanged",
        ("new", ""): "unchanged",
        ("worse", ""): "new",
        ("come", ""): "new",
        ("gone", ""): "fixed",
        ("a", "x"): "fixed",
    }


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_lines_that_are_not_new_were_there_in_this_order(before: list[str], after: list[str]) -> None:
    new = changed_lines(before, after)
    assert new <= set(range(1, len(after) + 1))
    rest = iter(before)
    assert all(line in rest for number, line in enumerate(after, 1) if number not in new)
    assert changed_lines(after, after) == frozenset()


def test_a_new_finding_stands_where_the_change_is() -> None:
    lines = changed_lines(["a", "b", "c"], ["a", "x", "c", "y"])
    assert lines == {2, 4}
    said = finding("a", 1)._replace(label="cause", related=(Related("here", Location(Spot("b.yaml", 9))),
                                                            Related("there", Location(Spot("a.yaml", 4)))))  # fmt: skip
    placed = on_changed_lines(said, lambda file: lines if file == "a.yaml" else frozenset())
    assert (placed.location.at()[0], placed.label) == (4, "there")
    assert [(each.message, each.location.at()[0]) for each in placed.related] == [("cause", 1), ("here", 9)]
    assert on_changed_lines(said, lambda _: frozenset()) == said


def test_lines_of_a_long_file_are_compared_between_those_that_it_has_once() -> None:
    before = [line for number in range(400) for line in (f"name: app-{number}", "kind: Service", "---")]
    after = [*before[:600], "kind: Service", "new: 1", *before[600:900], *before[903:], "name: last"]
    assert changed_lines(["other", *before, "end"], ["another", *after]) == {1, 602, 603, len(after) + 1}
