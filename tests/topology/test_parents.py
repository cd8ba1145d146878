"""Attachment of routes: selected, allowed, hostnames (docs/design/request-precedence.md §3), and why not."""

from __future__ import annotations

import pytest

from policylint.model import GATEWAY_GROUP, UNKNOWN_NAMESPACE, ResourceKey, Unseen
from policylint.topology import whole
from tests.worlds import conditions, gateway, labelled, listener_set, route, service, topology

LISTENERS = """[
  {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}},
  {name: other, port: 81, protocol: HTTP, hostname: '*.example.com', allowedRoutes: {namespaces: {from: All}}},
  {name: same, port: 82, protocol: HTTP},
  {name: tls, port: 443, protocol: TLS, hostname: a.example.com, tls: {mode: Passthrough},
   allowedRoutes: {namespaces: {from: All}}},
  {name: web, port: 83, protocol: HTTP,
   allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {tier: web}}}}}]"""
EDGE = "name: edge, namespace: infra"


@pytest.mark.parametrize(
    ("parent", "hostnames", "attached", "reason"),
    [
        (f"{{{EDGE}}}", "[]", ["http", "other", "web"], "Accepted"),
        (f"{{{EDGE}, sectionName: http}}", "[]", ["http"], "Accepted"),
        (f"{{{EDGE}, port: 81}}", "[]", ["other"], "Accepted"),
        (f"{{{EDGE}, sectionName: other, port: 81}}", "[]", ["other"], "Accepted"),
        (f"{{{EDGE}, sectionName: http, port: 81}}", "[]", [], "NoMatchingParent"),
        (f"{{{EDGE}, sectionName: htttp}}", "[]", [], "NoMatchingParent"),
        (f"{{{EDGE}, port: 8080}}", "[]", [], "NoMatchingParent"),
        (f"{{{EDGE}, sectionName: same}}", "[]", [], "NotAllowedByListeners"),
        (f"{{{EDGE}, sectionName: tls}}", "[]", [], "NotAllowedByListeners"),
        (f"{{{EDGE}, sectionName: other}}", "[x.com, '*.y.com']", [], "NoMatchingListenerHostname"),
        (f"{{{EDGE}, sectionName: other}}", "[x.com, a.example.com]", ["other"], "Accepted"),
        (f"{{{EDGE}, sectionName: other}}", "['${DOMAIN}']", ["other"], "Accepted"),
        ("{name: egde, namespace: infra}", "[]", [], "NoMatchingParent"),
        ("{name: edge}", "[]", [], "NoMatchingParent"),
        (f"{{{EDGE}, kind: Gatway}}", "[]", [], "NoMatchingParent"),
        (f"{{{EDGE}, group: networking.istio.io}}", "[]", [], "NoMatchingParent"),
        ("{}", "[]", [], "NoMatchingParent"),
    ],
)
def test_a_parent_ref(parent: str, hostnames: str, attached: list[str], reason: str) -> None:
    found = topology(
        gateway(listeners=LISTENERS),
        labelled("shop", "{tier: web}"),
        route(parents=f"[{parent}]", more=f"hostnames: {hostnames}"),
    )
    state = found.routes[0].parents[0]
    assert [each.section for each in state.attached] == attached
    assert conditions(state.conditions)[0] == f"Accepted={reason == 'Accepted'}/{reason}"
    assert state.accepted is (reason == "Accepted")


@pytest.mark.parametrize(
    ("section", "pointer", "failure"),
    [
        ("same", ("spec", "listeners", 2), "NotAllowedByListeners"),
        ("tls", ("spec", "listeners", 3, "protocol"), "NotAllowedByListeners"),
        ("other", ("spec", "listeners", 1, "hostname"), "NoMatchingListenerHostname"),
        ("web", ("spec", "listeners", 4, "allowedRoutes", "namespaces"), "NotAllowedByListeners"),
    ],
)
def test_a_refusal_points_at_what_refuses(section: str, pointer: tuple[object, ...], failure: str) -> None:
    found = topology(
        gateway(listeners=LISTENERS),
        labelled("shop", "{tier: db}"),
        route(parents=f"[{{{EDGE}, sectionName: {section}}}]", more="hostnames: [x.com]"),
    )
    candidate = found.routes[0].parents[0].candidates[0]
    assert (candidate.failure, candidate.pointer) == (failure, pointer)
    assert candidate.holder.key.name == "edge"
    assert candidate.message


def test_the_failure_that_came_furthest_names_the_reason() -> None:
    found = topology(gateway(listeners=LISTENERS), route(kind="TLSRoute", more="hostnames: [b.example.com]"))
    state = found.routes[0].parents[0]
    assert {each.failure for each in state.candidates} == {"NotAllowedByListeners", "NoMatchingListenerHostname"}
    assert conditions(state.conditions)[0] == "Accepted=False/NoMatchingListenerHostname"


def test_hostnames_meet_per_listener() -> None:
    found = topology(gateway(listeners=LISTENERS), route(more="hostnames: [a.example.com, b.org]"))
    hosts = {each.node.section: each.hostnames for each in found.routes[0].parents[0].candidates if not each.failure}
    assert hosts["http"] == ("a.example.com", "b.org")
    assert hosts["other"] == ("a.example.com",)


def test_labels_that_are_not_known_attach_but_are_marked() -> None:
    found = topology(gateway(listeners=LISTENERS), route(parents=f"[{{{EDGE}, sectionName: web}}]"))
    candidate = found.routes[0].parents[0].candidates[0]
    assert not candidate.failure
    assert candidate.unknown == "no Namespace shop is in the tree, so its labels are not known"


def test_whether_a_parent_that_may_come_from_a_chart_accepts_the_route_is_unknown() -> None:
    unseen = Unseen()
    unseen.add("HelmRelease infra/gateways is not rendered", "infra")
    state = topology(route(), unseen=unseen).routes[0].parents[0]
    assert state.resolution.unknown
    assert conditions(state.conditions) == ["Accepted=Unknown/Pending", "ResolvedRefs=True/ResolvedRefs"]


def test_a_listener_whose_port_is_a_variable_may_have_the_port() -> None:
    listeners = "[{name: http, port: '${PORT}', protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    found = topology(gateway(listeners=listeners), route(parents=f"[{{{EDGE}, port: 8080}}]"))
    candidate = found.routes[0].parents[0].candidates[0]
    assert (candidate.failure, candidate.unknown) == ("", "the port of Listener infra/edge#http is not known")


def test_a_namespace_that_is_not_known_neither_allows_nor_refuses() -> None:
    found = topology(gateway(listeners=LISTENERS), route(namespace=f"'{UNKNOWN_NAMESPACE}'"))
    same = next(each for each in found.routes[0].parents[0].candidates if each.node.section == "same")
    assert not same.failure
    assert same.unknown


def test_a_gateway_that_the_configuration_says_exists_has_unknown_listeners() -> None:
    edge = ResourceKey(GATEWAY_GROUP, "Gateway", "infra", "edge")
    state = topology(route(parents=f"[{{{EDGE}, sectionName: https}}]"), assumed=[edge]).routes[0].parents[0]
    assert state.resolution.found
    assert state.section_found is None
    assert state.accepted


@pytest.mark.parametrize(
    ("scope", "asks", "parents", "attached"),
    [
        ("defaultScope: All", "useDefaultGateways: All", "", ["Gateway infra/edge"]),
        (
            "defaultScope: All",
            "useDefaultGateways: All",
            f"[{{{EDGE}, sectionName: http}}]",
            ["Gateway infra/edge#http"],
        ),
        ("defaultScope: None", "useDefaultGateways: All", "", []),
        ("defaultScope: All", "useDefaultGateways: None", "", []),
        ("defaultScope: All", "", "", []),
    ],
)
def test_a_default_gateway_takes_routes_that_ask_for_one(
    scope: str, asks: str, parents: str, attached: list[str]
) -> None:
    """GEP-3793."""
    found = topology(gateway(listeners=LISTENERS, more=scope), route(parents=parents, more=asks))
    (state,) = found.routes
    assert [parent.text for parent in state.parents if parent.accepted] == attached
    default = [candidate for parent in state.parents if parent.is_default for candidate in parent.candidates]
    assert all(candidate.failure or candidate.unknown for candidate in default)
    detached = found.detached.get(found.vertices_of(whole(state.route.key))[0])
    assert (detached is None) is bool(attached)
    assert detached is None or detached.unknown is (asks == "useDefaultGateways: All")


def test_a_default_gateway_that_would_not_take_a_route_refuses_nothing() -> None:
    closed = "[{name: http, port: 80, protocol: HTTP}]"
    found = topology(
        gateway(listeners=closed, more="defaultScope: All"), route(parents="", more="useDefaultGateways: All")
    )
    assert found.routes[0].parents == ()


def test_parents_print_with_their_section() -> None:
    found = topology(
        gateway(more="allowedListeners: {namespaces: {from: All}}"),
        listener_set("extra", "shop", "[{name: web, port: 81, protocol: HTTP}]"),
        route(parents=f"[{{{EDGE}, sectionName: http}}, {{kind: ListenerSet, name: extra, sectionName: web}}]"),
    )
    parents = found.routes[0].parents
    assert [each.text for each in parents] == ["Gateway infra/edge#http", "ListenerSet shop/extra#web"]
    assert [str(node) for each in parents for node in each.attached] == [
        "Listener infra/edge#http",
        "ListenerSet shop/extra#web",
    ]
    assert {each.gateway for each in parents} == {ResourceKey(GATEWAY_GROUP, "Gateway", "infra", "edge")}


def test_a_gateway_does_not_offer_the_listeners_of_its_listener_sets() -> None:
    found = topology(
        gateway(more="allowedListeners: {namespaces: {from: All}}"),
        listener_set("extra", "shop", "[{name: web, port: 81, protocol: HTTP}]"),
        route(parents=f"[{{{EDGE}, sectionName: web}}, {{kind: ListenerSet, name: extra, sectionName: http}}]"),
    )
    assert [each.conditions[0].reason for each in found.routes[0].parents] == ["NoMatchingParent"] * 2


def test_a_listener_set_that_its_gateway_refuses_takes_no_route() -> None:
    found = topology(
        gateway(),
        listener_set("extra", "shop", "[{name: web, port: 81, protocol: HTTP}]"),
        route(parents="[{kind: ListenerSet, name: extra}]"),
    )
    assert conditions(found.listener_sets[0].conditions) == ["Accepted=False/NotAllowed"]
    candidate = found.routes[0].parents[0].candidates[0]
    assert (candidate.failure, candidate.pointer) == ("NotAllowedByListeners", ("spec", "parentRef"))


@pytest.mark.parametrize(
    ("parent", "found", "accepted"),
    [
        ("{group: '', kind: Service, name: checkout}", True, True),
        ("{group: core, kind: Service, name: checkout, port: 80}", True, True),
        ("{group: '', kind: Service, name: checkout, port: 80}", True, True),
        ("{group: '', kind: Service, name: checkout, sectionName: http}", True, True),
        ("{group: '', kind: Service, name: checkout, port: 81}", False, False),
        ("{group: '', kind: Service, name: gone}", None, False),
    ],
)
def test_mesh_parents(parent: str, found: bool | None, accepted: bool) -> None:
    state = topology(service(), route(parents=f"[{parent}]")).routes[0].parents[0]
    assert state.accepted is accepted
    if found is not None:
        assert state.section_found is found


@pytest.mark.parametrize(
    ("parents", "count"),
    [("null", 0), ("{}", 0), ("''", 0), ("[null, 3]", 0), ("[{name: 3}]", 1), ("[{name: [], port: x}]", 1)],
)
def test_garbage_is_tolerated(parents: str, count: int) -> None:
    states = topology(gateway(), route(parents=parents)).routes[0].parents
    assert len(states) == count
    assert not any(each.accepted for each in states)
