"""Conditions and counts of Gateways and ListenerSets (docs/design/request-precedence.md §7 and §9)."""

from __future__ import annotations

import pytest

from tests.worlds import conditions, gateway, gateway_class, labelled, listener_set, route, topology

CLASS = gateway_class()
WEB = "[{name: web, port: 81, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"


@pytest.mark.parametrize(
    ("listeners", "expected"),
    [
        ("[{name: a, port: 80, protocol: HTTP}]", "Accepted=True/Accepted"),
        ("[{name: a, port: 80, protocol: INVALID}]", "Accepted=False/ListenersNotValid"),
        (
            "[{name: a, port: 80, protocol: HTTP}, {name: b, port: 1, protocol: INVALID}]",
            "Accepted=True/ListenersNotValid",
        ),
        ("[{name: a, port: 80, protocol: example.com/quic}]", "Accepted=True/Accepted"),
        ("[{name: a, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: No}]}}]", "Accepted=True/Accepted"),
        ("null", "Accepted=True/Accepted"),
    ],
)
def test_a_gateway_is_accepted_while_one_listener_is(listeners: str, expected: str) -> None:
    assert conditions(topology(gateway(listeners=listeners)).gateways[0].conditions)[0] == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            "infrastructure: {parametersRef: {group: invalid.io, kind: No, name: no}}",
            "Accepted=False/InvalidParameters",
        ),
        ("infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: own}}", "Accepted=True/Accepted"),
        ("infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: '${P}'}}", "Accepted=True/Accepted"),
        ("addresses: [{type: Nonsense, value: x}]", "Accepted=False/UnsupportedAddress"),
        ("addresses: [{value: 1.2.3.4}, {type: Hostname, value: a.b}]", "Accepted=True/Accepted"),
        ("addresses: 3, infrastructure: [], tls: null", "Accepted=True/Accepted"),
    ],
)
def test_parameters_and_addresses(more: str, expected: str) -> None:
    own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: infra}"
    assert conditions(topology(gateway(more=more), own).gateways[0].conditions)[0] == expected


def test_class_and_controller() -> None:
    other = CLASS.replace("name: any", "name: other")
    found = topology(CLASS, gateway(), route())
    assert found.gateways[0].controller == "example.net/controller"
    assert found.routes[0].parents[0].controller == "example.net/controller"
    assert topology(gateway()).gateways[0].class_resolution.unknown
    orphan = topology(other, gateway()).gateways[0]
    assert orphan.class_resolution.missing
    assert conditions(orphan.conditions) == ["Accepted=Unknown/Pending"]


def test_attached_routes_counts_each_route_once_per_listener() -> None:
    parents = "[{name: edge, namespace: infra}, {name: edge, namespace: infra, sectionName: http}]"
    found = topology(gateway(), route("a", parents=parents), route("b"), route("c", parents="[{name: gone}]"))
    assert found.gateways[0].listeners[0].attached_routes == 2


@pytest.mark.parametrize(
    ("allowed", "namespace", "expected", "count"),
    [
        ("", "infra", "Accepted=False/NotAllowed", 0),
        ("allowedListeners: {namespaces: {from: None}}", "infra", "Accepted=False/NotAllowed", 0),
        ("allowedListeners: {namespaces: {from: Same}}", "infra", "Accepted=True/Accepted", 1),
        ("allowedListeners: {namespaces: {from: Same}}", "shop", "Accepted=False/NotAllowed", 0),
        ("allowedListeners: {namespaces: {from: All}}", "shop", "Accepted=True/Accepted", 1),
        (
            "allowedListeners: {namespaces: {from: Selector, selector: {matchLabels: {tier: web}}}}",
            "shop",
            "Accepted=True/Accepted",
            1,
        ),
        (
            "allowedListeners: {namespaces: {from: Selector, selector: {matchLabels: {tier: web}}}}",
            "db",
            "Accepted=False/NotAllowed",
            0,
        ),
    ],
)
def test_who_may_add_listeners(allowed: str, namespace: str, expected: str, count: int) -> None:
    found = topology(
        gateway(more=allowed),
        labelled("shop", "{tier: web}"),
        labelled("db"),
        listener_set("extra", namespace, WEB),
    )
    assert conditions(found.listener_sets[0].conditions) == [expected]
    assert found.gateways[0].attached_listener_sets == count


def test_a_listener_set_needs_a_listener_that_is_valid_in_every_respect() -> None:
    broken = "{name: kinds, port: 82, protocol: HTTP, allowedRoutes: {kinds: [{kind: No}]}}"
    allowed = "allowedListeners: {namespaces: {from: All}}"
    sets = [listener_set("all", "a", f"[{broken}]"), listener_set("some", "b", f"[{broken}, {WEB[1:-1]}]")]
    found = topology(gateway(more=allowed), *sets)
    said = {each.listener_set.key.name: conditions(each.conditions) for each in found.listener_sets}
    assert said == {"all": ["Accepted=False/ListenersNotValid"], "some": ["Accepted=True/ListenersNotValid"]}
    assert found.gateways[0].attached_listener_sets == 1


def test_a_listener_set_of_a_gateway_that_is_not_accepted() -> None:
    more = "allowedListeners: {namespaces: {from: All}}, addresses: [{type: Nonsense}]"
    found = topology(gateway(more=more), listener_set("extra", "a", WEB))
    assert conditions(found.listener_sets[0].conditions) == ["Accepted=False/ParentNotAccepted"]


def test_the_older_listener_set_kind_counts_too() -> None:
    old = listener_set("extra", "a", WEB).replace(
        "gateway.networking.k8s.io/v1", "gateway.networking.x-k8s.io/v1alpha1"
    )
    more = "allowedListeners: {namespaces: {from: All}}"
    parents = "[{group: gateway.networking.x-k8s.io, kind: XListenerSet, name: extra, namespace: a}]"
    found = topology(gateway(more=more), old.replace("kind: ListenerSet", "kind: XListenerSet"), route(parents=parents))
    assert found.gateways[0].attached_listener_sets == 1
    assert [str(node) for node in found.routes[0].parents[0].attached] == ["XListenerSet a/extra#web"]
