"""Matches of VirtualServices by claims: they see what a RequestAuthentication at the Gateway has checked, no header.

Predicted from istio/istio pilot/pkg/networking/core/route/route.go, translateMetadataMatch.
"""

from __future__ import annotations

import pytest

from tests.doors.asking import answer
from tests.doors.test_istio import SHOP, by, gateway, pods, policy, virtual
from tests.worlds import service, simulated

CLAIM = "headers: {'@request.auth.claims.group': {exact: admin}}"
WITHOUT = "withoutHeaders: {'@request.auth.claims[group]': {exact: admin}}"
BOTH = "headers: {'@request.auth.claims.group': {exact: admin}, x-a: {exact: b}}"
EITHER = f"{CLAIM}}}, {{uri: {{prefix: /next}}"
CHECKED = policy("{selector: {matchLabels: {istio: ingressgateway}}, jwtRules: [{issuer: a}]}", "RequestAuthentication")
ELSEWHERE = policy("{jwtRules: [{issuer: a}]}", "RequestAuthentication", "shop")
HEADERS = ("@request.auth.claims.group: admin", "x-a: b")


@pytest.mark.parametrize(
    ("condition", "policies", "expected"),
    [
        (CLAIM, (), "web"),
        (CLAIM, (ELSEWHERE,), "web"),
        (CLAIM, (CHECKED,), "not known"),
        (BOTH, (), "web"),
        (BOTH, (CHECKED,), "not known"),
        (WITHOUT, (), "next"),
        (WITHOUT, (CHECKED,), "not known"),
        (f"{WITHOUT}, uri: {{prefix: /other}}", (), "web"),
        (EITHER, (), "web"),
        ("headers: {x-a: {exact: b}}", (CHECKED,), "next"),
    ],
)
def test_claims_at_gateways(condition: str, policies: tuple[str, ...], expected: str) -> None:
    services = [service("web"), service("next")]
    world = simulated(*services, gateway(), pods(), virtual(by(condition)), *policies)
    assert answer(world, f"{SHOP}/", headers=HEADERS)[0] == expected
