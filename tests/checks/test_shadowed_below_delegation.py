"""GWP408 of rules to which others delegate: what competes is all that one rule delegates to, and `reach` agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks.shadowed_route_match import check
from policylint.reach.ways import all_ways
from tests.reach.test_delegated import EDGE, delegating
from tests.worlds import opened, route

_TWICE = "{matches: [{path: {value: /team/a}}], backendRefs: [{name: app, port: 80}]}"
_OTHER = "{matches: [{path: {value: /team/b}}], backendRefs: [{name: app, port: 80}]}"
_LEAF = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf"
_DEEPER = f"{{matches: [{{path: {{value: /team}}}}], backendRefs: [{{{_LEAF}}}]}}"
_AGED = "creationTimestamp: 2026-01-0{}T00:00:00Z"


def child(name: str, *rules: str, day: int = 1) -> str:
    return route(name, parents="", more=f"rules: [{', '.join(rules)}]").replace(
        "{name:", f"{{{_AGED.format(day)}, name:", 1
    )


@pytest.mark.parametrize(
    ("manifests", "lost"),
    [
        ((delegating("one, namespace: shop"), child("one", _TWICE, _TWICE)), {"one#rule-2"}),
        ((delegating("one, namespace: shop"), child("one", _TWICE, _OTHER)), set()),
        ((delegating(), child("one", _TWICE), child("two", _OTHER, _TWICE, day=2)), {"two#rule-2"}),
        ((delegating("one, namespace: shop"), child("one", _DEEPER), child("leaf", _TWICE, _TWICE)), {"leaf#rule-2"}),
        (  # the younger one has a rule to itself that delegates to nothing else
            (
                delegating(),
                delegating("two, namespace: shop", name="own").replace("shop.example.com", "own.example.com"),
                child("one", _TWICE),
                child("two", _TWICE, day=2),
            ),
            set(),
        ),
    ],
)
def test_rules_below_one_delegation_compete(tmp_path: Path, manifests: tuple[str, ...], lost: set[str]) -> None:
    simulation = opened(tmp_path, *EDGE, *manifests)
    told = {finding.message.split()[1].removeprefix("shop/") for finding in check(simulation)}
    assert told == lost
    got = {
        f"{way.trace.route.key.name}#{way.trace.rule.section}"
        for way in all_ways(simulation)
        if way.trace.route is not None and way.trace.rule is not None
    }
    assert not got & lost
