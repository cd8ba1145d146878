"""ReferenceGrants: who may name what in another namespace (GEP-709)."""

from __future__ import annotations

import pytest

from policylint.model import GATEWAY_GROUP, UNKNOWN_NAMESPACE, ResourceKey, Unseen
from policylint.topology.grants import Grants
from tests.worlds import grant, world

ROUTE = ResourceKey(GATEWAY_GROUP, "HTTPRoute", "shop", "checkout")
BACKEND = ResourceKey("", "Service", "pay", "cards")
FROM_SHOP = "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}"
SERVICES = "{group: '', kind: Service}"


@pytest.mark.parametrize(
    ("manifest", "allowed"),
    [
        ("", False),
        (grant("pay", FROM_SHOP, SERVICES), True),
        (grant("pay", FROM_SHOP, SERVICES, version="v1"), True),
        (grant("pay", FROM_SHOP, SERVICES, version="v1alpha2"), True),
        (grant("pay", FROM_SHOP, SERVICES, version="v1alpha2", kind="ReferencePolicy"), True),
        (grant("pay", FROM_SHOP, "{kind: Service}"), True),
        (grant("pay", FROM_SHOP, "{group: '', kind: Service, name: cards}"), True),
        (grant("pay", FROM_SHOP, "{group: '', kind: Service, name: other}"), False),
        (grant("pay", FROM_SHOP, "{group: '', kind: Secret}"), False),
        (grant("pay", "{group: gateway.networking.k8s.io, kind: GRPCRoute, namespace: shop}", SERVICES), False),
        (grant("pay", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: elsewhere}", SERVICES), False),
        (grant("pay", "{kind: HTTPRoute, namespace: shop}", SERVICES), False),
        (grant("elsewhere", FROM_SHOP, SERVICES), False),
        (grant(f"'{UNKNOWN_NAMESPACE}'", FROM_SHOP, SERVICES), None),
        (grant("pay", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: '${NS}'}", SERVICES), None),
        (grant("pay", FROM_SHOP, "{group: '', kind: Service, name: '${SVC}'}"), None),
        (grant("pay", "null, 3", "null"), False),
    ],
)
def test_a_route_of_shop_names_a_service_of_pay(manifest: str, allowed: bool | None) -> None:
    assert Grants(world(manifest)).allows(ROUTE, BACKEND) is allowed


def test_inside_one_namespace_no_grant_is_needed() -> None:
    assert Grants(world("")).allows(ROUTE, BACKEND._replace(namespace="shop")) is True


def test_a_namespace_that_is_not_known_leaves_it_open() -> None:
    assert Grants(world("")).allows(ROUTE._replace(namespace=UNKNOWN_NAMESPACE), BACKEND) is None


def test_a_chart_that_was_not_rendered_may_hold_the_grant() -> None:
    unseen = Unseen()
    unseen.add("HelmRelease pay/cards is not rendered", "pay")
    assert Grants(world("", unseen=unseen)).allows(ROUTE, BACKEND) is None
