"""Expressions of rules that hold for no request, by what attributes are: told by GWP526, and never held in `trace`.

Predicted from agentgateway's authorization_tests.rs and issue 3092, and from Envoy's list of attributes.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer
from tests.worlds import gateway, gateway_class, policy, route, service, simulated

TO_WEB = "rules: [{backendRefs: [{name: web, port: 80}]}]"


def rule(whose: str, action: str, *expressions: str) -> tuple[str, ...]:
    """Return a world in which a policy has one rule for a route."""
    stated = f"{{action: {action}, policy: {{matchExpressions: [{', '.join(map(repr, expressions))}]}}}}"
    kind, version, spec = "TrafficPolicy", "gateway.kgateway.dev/v1alpha1", f"rbac: {stated}"
    if whose == "agentgateway":
        kind, version, spec = "AgentgatewayPolicy", "agentgateway.dev/v1alpha1", f"traffic: {{authorization: {stated}}}"
    return (
        gateway_class(whose, f"{whose}.dev/{whose}"),
        gateway(of_class=whose),
        route("shop", more=TO_WEB),
        service("web"),
        policy(version, kind, "rules", "HTTPRoute/shop", spec, "shop"),
    )


@pytest.mark.parametrize(
    ("whose", "action", "expressions", "outcome", "end"),
    [
        ("agentgateway", "Require", ['source.address in ["10.0.0.0/8"]'], "every request is turned away", "403"),
        ("agentgateway", "Allow", ['source.address.startsWith("10.")'], "it lets no request in", "403"),
        (
            "agentgateway",
            "Deny",
            ['request.path == "/" && source.address == "10.0.0.1"'],
            "it denies no request",
            "web",
        ),
        ("kgateway", "Allow", ['source.address == "10.0.0.1"'], "it lets no request in", "403"),
        ("kgateway", "Deny", ['source.address in ["10.0.0.1", "10.0.0.2"]'], "it denies no request", "web"),
    ],
)
def test_what_never_holds_is_told(whose: str, action: str, expressions: list[str], outcome: str, end: str) -> None:
    objects = rule(whose, action, *expressions)
    (found,) = run(simulated(*objects), select={"GWP526"})
    assert found.message.endswith(f"holds for no request: {outcome}")
    assert answer(simulated(*objects), "http://a.example/", "10.0.0.1")[0] == end


@pytest.mark.parametrize(
    ("whose", "expression"),
    [
        ("agentgateway", 'cidr("10.0.0.0/8").containsIP(source.address)'),
        ("agentgateway", 'source.address == "10.0.0.1" || request.path == "/"'),
        ("agentgateway", '!(source.address == "10.0.0.1")'),
        ("kgateway", 'source.address.startsWith("10.")'),
        ("kgateway", 'source.address == "10.0.0.1:80"'),
        ("kgateway", 'request.path == "/"'),
    ],
)
def test_what_may_hold_is_not_told(whose: str, expression: str) -> None:
    assert list(run(simulated(*rule(whose, "Allow", expression)), select={"GWP526"})) == []
