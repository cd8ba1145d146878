"""What is weaker where a field is left out, or has another name than the catalog had for it: values by default count.

Predicted from kgateway's CRD (tokensPerFill: 1 by default), istio/api networking/v1/destination_rule.proto (DISABLE is
the first mode of ClientTLSSettings, so that of one without), GKE's CRD of GCPAuthzPolicy (`rules`, ALLOW by default)
and the CRD of ListenerRuleConfiguration (onUnauthenticatedRequest: authenticate by default).
"""

from __future__ import annotations

from typing import Any

import pytest

from policylint.catalog.directions import directed
from policylint.catalog.kinds import load_catalog
from policylint.catalog.weakenings import common_weaknesses
from policylint.compare import compare, pair_sides, removed_protections
from policylint.compare.protection.spec import weakenings
from tests.worlds import gateway, gateway_class, route, service, simulated

BUCKET, LISTS = "rateLimit.local.tokenBucket", "rules.0.to.operations.0"


def nested(path: str, value: Any) -> dict[str, Any]:
    for step in reversed(path.split(".")):
        value = [value] if step == "0" else {step: value}
    assert isinstance(value, dict)
    return value


def told(kind: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    group, _, name = kind.partition("/")
    known = load_catalog().get(group, name)
    own = () if known is None else known.weaker
    meant = [*own, *common_weaknesses(name, before, after, known)]
    return [f"{each.weak.path} {each.change}" for each in weakenings(meant, before, after)]


AUTHZ, RULES = "networking.gke.io/GCPAuthzPolicy", "networking.istio.io/DestinationRule"
MATCH = f"{LISTS}.paths.0"


@pytest.mark.parametrize(
    ("kind", "before", "after", "expected"),
    [
        (
            "gateway.kgateway.dev/TrafficPolicy",
            nested(BUCKET, {"maxTokens": 5, "fillInterval": "60s"}),
            nested(BUCKET, {"maxTokens": 5, "fillInterval": "1s"}),
            [f"{BUCKET} goes from 1 per 60s to 1 per 1s"],
        ),
        (
            "gateway.kgateway.dev/TrafficPolicy",
            nested(BUCKET, {"maxTokens": 5, "fillInterval": "60s"}),
            nested(BUCKET, {"maxTokens": 5, "fillInterval": "60s", "tokensPerFill": 1}),
            [],
        ),
        (
            RULES,
            nested("trafficPolicy.tls", {"mode": "MUTUAL", "sni": "a"}),
            nested("trafficPolicy.tls", {"sni": "a"}),
            ["to DISABLE"],
        ),
        (AUTHZ, nested(f"{LISTS}.methods", ["GET"]), nested(f"{LISTS}.methods", ["GET", "PUT"]), ["gains PUT"]),
        (AUTHZ, nested(f"{LISTS}.methods", ["GET", "PUT"]), nested(f"{LISTS}.methods", ["GET"]), []),
        (
            AUTHZ,
            {"action": "DENY", **nested(f"{LISTS}.methods", ["GET", "PUT"])},
            {"action": "DENY", **nested(f"{LISTS}.methods", ["GET"])},
            ["loses PUT"],
        ),
        (
            AUTHZ,
            nested(MATCH, {"type": "Exact", "value": "/a"}),
            nested(MATCH, {"type": "Prefix", "value": "/a"}),
            ["to"],
        ),
        (AUTHZ, nested(MATCH, {"type": "Prefix", "value": "/a"}), nested(MATCH, {"type": "Exact", "value": "/a"}), []),
        (
            "gateway.k8s.aws/ListenerRuleConfiguration",
            nested("actions.0.authenticateOIDCConfig", {"issuer": "a"}),
            nested("actions.0.authenticateOIDCConfig", {"issuer": "a", "onUnauthenticatedRequest": "allow"}),
            ["to allow"],
        ),
    ],
)
def test_what_is_left_out_is_what_holds_by_default(
    kind: str, before: dict[str, Any], after: dict[str, Any], expected: list[str]
) -> None:
    found = told(kind, before, after)
    assert len(found) == len(expected)
    assert all(each in found[number] for number, each in enumerate(expected))


EDGE = (gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"), gateway(), service())
CORS = "rules: [{backendRefs: [{name: checkout, port: 80}], filters: [{type: CORS, cors: {%s}}]}]"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("allowOrigins: ['https://a.example']", "allowOrigins: ['https://a.example', '*']", "gains *"),
        ("allowOrigins: ['https://a.example', '*']", "allowOrigins: ['https://a.example']", ""),
        ("allowMethods: [GET]", "allowMethods: [GET, PUT]", "gains PUT"),
        ("allowHeaders: [x-a]", "allowHeaders: [x-a, x-b]", "gains x-b"),
        ("allowMethods: [GET]", "allowMethods: [GET], allowCredentials: true", "goes from false to true"),
    ],
)
def test_what_a_filter_lets_scripts_of_other_sites_do(before: str, after: str, expected: str) -> None:
    was, now = ([simulated(*EDGE, route(more=CORS % said))] for said in (before, after))
    sides = pair_sides(was, now)
    found = removed_protections(sides, compare(sides), {"GWP304"})
    assert [(each.severity, expected in each.message) for each in found] == [("note", True)] * bool(expected)


def test_headers_of_scripts_are_nobody_who_is_let_in() -> None:
    """In objects that nobody evaluates a list of what is allowed says who is let in; one of headers does not."""
    assert [
        each.says for each in directed("Door", {"allowHeaders": ["a"]}, {"allowHeaders": ["a", "b"]}) if each.list
    ] == []
    assert [each.says for each in directed("Door", {"allowed": ["a"]}, {"allowed": ["a", "b"]}) if each.list]


@pytest.mark.parametrize(
    ("path", "before", "after", "severity"),
    [
        ("tls.maxVersion", "1.3", "1.2", "note"),
        ("servers.0.tls.maxProtocolVersion", "TLSV1_3", "TLSV1_1", "warning"),
        ("backend.ai.promptGuard.request.0.regex.builtins", ["Ssn", "Email"], ["Ssn"], "warning"),
        ("backend.ai.promptGuard.request.0.regex.matches", ["a", "b"], ["a"], "note"),
    ],
)
def test_a_later_word_does_not_soften_an_earlier_one(path: str, before: Any, after: Any, severity: str) -> None:
    was, now = nested(path, before), nested(path, after)
    assert [each.weak.severity for each in weakenings(common_weaknesses("Door", was, now), was, now)] == [severity]
