"""allowedRoutes.namespaces and allowedListeners.namespaces, three-valued."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.model import UNKNOWN_NAMESPACE
from policylint.topology.namespaces import NAME_LABEL, admits
from tests.worlds import labelled, world

TIER_WEB: dict[str, Any] = {"matchLabels": {"tier": "web"}}


@pytest.mark.parametrize(
    ("rule", "namespace", "allowed"),
    [
        ({}, "infra", True),
        ({}, "shop", False),
        ({}, UNKNOWN_NAMESPACE, None),
        ({"from": "All"}, "shop", True),
        ({"from": "None"}, "infra", False),
        ({"from": "Nonsense"}, "infra", False),
        ({"from": "${FROM}"}, "shop", None),
        ({"from": "Selector"}, "shop", False),
        ({"from": "Selector", "selector": {}}, "shop", True),
        ({"from": "Selector", "selector": TIER_WEB}, "shop", True),
        ({"from": "Selector", "selector": TIER_WEB}, "db", False),
        ({"from": "Selector", "selector": TIER_WEB}, "unseen", None),
        ({"from": "Selector", "selector": TIER_WEB}, UNKNOWN_NAMESPACE, None),
        ({"from": "Selector", "selector": {"matchLabels": {NAME_LABEL: "unseen"}}}, "unseen", True),
        ({"from": "Selector", "selector": {"matchLabels": {NAME_LABEL: "shop"}}}, "unseen", False),
        ({"from": "Selector", "selector": {"matchLabels": {NAME_LABEL: "unseen", "tier": "web"}}}, "unseen", None),
        (
            {
                "from": "Selector",
                "selector": {"matchExpressions": [{"key": NAME_LABEL, "operator": "In", "values": ["unseen"]}]},
            },
            "unseen",
            True,
        ),
    ],
)
def test_a_gateway_of_infra_lets_a_namespace_in(rule: dict[str, Any], namespace: str, allowed: bool | None) -> None:
    objects = world(labelled("shop", "{tier: web}"), labelled("db", "{tier: db}"))
    assert admits(objects, rule, "Same", "infra", namespace).allowed is allowed


def test_a_refusal_says_which_label_is_missing() -> None:
    objects = world(labelled("db", "{tier: db}"))
    refusal = admits(objects, {"from": "Selector", "selector": TIER_WEB}, "Same", "infra", "db")
    assert refusal.message == "namespace db lacks tier=web (is tier=db)"
