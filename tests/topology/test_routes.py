"""Rules and their names, and what in a route no controller accepts (docs/design/request-precedence.md §7)."""

from __future__ import annotations

import pytest

from policylint.topology.routes import rules
from tests.worlds import conditions, gateway, resources, route, topology

GOOD = "{matches: [{path: {type: PathPrefix, value: /}}]}"
BOTH = "{filters: [{type: URLRewrite}, {type: RequestRedirect}]}"


@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"])
def test_unnamed_rules_are_counted_from_one(kind: str) -> None:
    found = rules(resources(route(kind=kind, more="rules: [{}, {name: pay}, null, {name: 3}]"))[0])
    assert [(str(each.node), each.synthetic) for each in found] == [
        (f"{kind}Rule shop/checkout#rule-1", True),
        (f"{kind}Rule shop/checkout#pay", False),
        (f"{kind}Rule shop/checkout#rule-4", True),
    ]


def test_a_rule_that_is_named_like_one_without_a_name_is_another_one() -> None:
    found = rules(resources(route(more="rules: [{}, {name: rule-1}, {name: rule-4}, {}]"))[0])
    assert [each.node.section for each in found] == [
        "rule-1 without a name",
        "rule-1",
        "rule-4",
        "rule-4 without a name",
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (f"[{GOOD}]", ["Accepted=True/Accepted"]),
        (f"[{GOOD}, {BOTH}]", ["Accepted=False/IncompatibleFilters"]),
        ("[{filters: [{type: Nonsense}]}]", ["Accepted=False/UnsupportedValue"]),
        (
            f"[{GOOD}, {{filters: [{{type: Nonsense}}]}}]",
            ["Accepted=True/Accepted", "PartiallyInvalid=True/UnsupportedValue"],
        ),
        ("[{matches: [{path: {type: Glob, value: /}}]}]", ["Accepted=False/UnsupportedValue"]),
        ("[{filters: [{type: 'example.com/Custom'}]}]", ["Accepted=True/Accepted"]),
        ("[{filters: [{type: '${FILTER}'}]}]", ["Accepted=True/Accepted"]),
        ("[{filters: null, matches: 3}, null]", ["Accepted=True/Accepted"]),
    ],
)
def test_rules_that_nobody_can_program(written: str, expected: list[str]) -> None:
    found = topology(gateway(), route(more=f"rules: {written}")).routes[0]
    said = [each for each in conditions(found.parents[0].conditions) if not each.startswith("ResolvedRefs")]
    assert said == expected
