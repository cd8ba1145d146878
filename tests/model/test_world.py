"""Three answers: what is there, what is missing, and what these files cannot tell."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.model import Resource, ResourceKey, Spot, Unseen, World

GATEWAY = "gateway.networking.k8s.io"


def resource(group: str, kind: str, namespace: str, name: str, **body: Any) -> Resource:
    return Resource(
        ResourceKey(group, kind, namespace, name), "v1", {"metadata": {"name": name}, **body}, Spot("f.yaml")
    )


def test_found_beats_everything() -> None:
    there = resource("", "Service", "shop", "cart")
    assert World("w", [there]).resolve(there.key).resource is there


def test_missing_is_said_only_where_nothing_unseen_can_have_made_it() -> None:
    key = ResourceKey("", "Service", "shop", "cart")
    assert World("w", []).resolve(key).missing


@pytest.mark.parametrize(
    ("namespace", "gateway_api", "kind", "state"),
    [
        ("shop", True, "Service", "unknown"),
        ("other", True, "Service", "missing"),
        (None, True, "HTTPRoute", "unknown"),
        ("shop", False, "HTTPRoute", "missing"),
        ("shop", False, "Service", "unknown"),
    ],
)
def test_a_chart_may_make_anything_in_its_namespace_an_operator_no_routes(
    namespace: str | None, gateway_api: bool, kind: str, state: str
) -> None:
    unseen = Unseen()
    unseen.add("a chart", namespace, gateway_api=gateway_api)
    group = GATEWAY if kind == "HTTPRoute" else ""
    assert World("w", [], unseen=unseen).resolve(ResourceKey(group, kind, "shop", "x")).state == state


@pytest.mark.parametrize("name", ["${APP}", "{{ .Release.Name }}", "<your-app>"])
def test_a_name_with_a_variable_is_never_missing(name: str) -> None:
    assert World("w", []).resolve(ResourceKey("", "Service", "shop", name)).unknown


def test_a_class_is_unknown_where_no_class_is_in_the_tree_at_all() -> None:
    key = ResourceKey(GATEWAY, "GatewayClass", "", "envoy")
    assert World("w", []).resolve(key).unknown
    assert World("w", [resource(GATEWAY, "GatewayClass", "", "istio")]).resolve(key).missing


def test_what_kustomizations_may_still_move_is_unknown() -> None:
    there = resource(GATEWAY, "HTTPRoute", "?apps/shop", "cart")
    world = World("w", [there], movable=True)
    assert world.resolve(ResourceKey(GATEWAY, "HTTPRoute", "shop", "cart")).unknown
    assert str(there.key) == "HTTPRoute ?/cart"


def test_the_later_of_two_objects_with_one_identity_counts() -> None:
    first, second = resource("", "Service", "a", "s", spec=1), resource("", "Service", "a", "s", spec=2)
    world = World("w", [first, second])
    assert world.get(first.key) is second
    assert world.duplicates == [(first, second)]


def test_every_namespace_carries_its_name_as_a_label() -> None:
    world = World("w", [resource("", "Namespace", "", "shop")])
    assert world.namespace_labels("shop") == {"kubernetes.io/metadata.name": "shop"}
    assert world.namespace_labels("other") is None


def test_a_world_without_an_object_does_not_have_its_file() -> None:
    there = resource("", "Service", "shop", "cart")
    world = World("w", [there])
    assert world.files == {"f.yaml"}
    assert world.without(there.key).files == frozenset()


def test_policies_alone_do_not_make_a_namespace_one_of_the_tree() -> None:
    gateway = ResourceKey(GATEWAY, "Gateway", "llm", "edge")
    others = [resource(GATEWAY, "Gateway", "infra", "other"), resource("kuadrant.io", "AuthPolicy", "llm", "login")]
    assert World("w", [*others, resource("", "Secret", "llm", "key")]).elsewhere(gateway)
    for inhabiting in (
        resource("", "Service", "llm", "web"),
        resource("", "Namespace", "", "llm"),
        resource(GATEWAY, "HTTPRoute", "llm", "web"),
    ):
        assert not World("w", [*others, inhabiting]).elsewhere(gateway)
    assert not World("w", [*others, resource(GATEWAY, "Gateway", "infra", "edge")]).elsewhere(gateway)


def test_of_what_operators_make_the_first_name_in_the_namespace_is_said() -> None:
    unseen, asked = Unseen(), []
    for namespace, name in (("shop", "b"), ("other", "0"), ("shop", "a"), ("shop", "z")):
        unseen.add_made(ResourceKey("policies.example", "Login", namespace, name), f"made for {name}")
    unseen.add_made(ResourceKey("", "Secret", "shop", "0"), "made, too")

    def concerns(group: str, kind: str) -> bool:
        asked.append(kind)
        return group == "policies.example"

    met = [ResourceKey("", "Service", "shop", "cart")]
    assert unseen.acting(concerns, met, list).named == "Login shop/a (made for a)"
    assert sorted(asked) == ["Login", "Login", "Login", "Secret"]  # nothing of other namespaces
    assert unseen.acting(lambda *_: False, met, list).named == ""
