"""A token that no provider of a policy takes, by its issuer: from `--claim`, or from the JWT in Authorization."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.cli.bearer import claims_in
from tests.worlds import gateway, gateway_class, policy, route, service

PROVIDER = "providers: [{name: idp, issuer: 'https://id.example.org', %s}]"
TO_WEB = "rules: [{backendRefs: [{name: web, port: 80}]}]"
OF_ENVOY = ("SecurityPolicy", "gateway.envoyproxy.io", "jwt: {%s%s}")
OF_AGENTGATEWAY = ("AgentgatewayPolicy", "agentgateway.dev", "traffic: {jwtAuthentication: {%s%s}}")
CONTROLLERS = {
    "SecurityPolicy": "gateway.envoyproxy.io/gatewayclass-controller",
    "AgentgatewayPolicy": "agentgateway.dev/agentgateway",
}


def token(payload: Any) -> str:
    parts = (json.dumps({"alg": "RS256"}), json.dumps(payload), "signature")
    return ".".join(urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)


def traced(folder: Path, which: tuple[str, str, str], more: str, *arguments: str) -> str:
    kind, group, form = which
    keys = "remoteJWKS: {uri: 'https://id.example.org/k'}" if group.startswith("gateway") else "jwks: {inline: '{}'}"
    objects = (
        gateway_class(controller=CONTROLLERS[kind]),
        gateway(),
        route("shop", more=TO_WEB),
        service("web"),
        policy(f"{group}/v1alpha1", kind, "login", "HTTPRoute/shop", form % (PROVIDER % keys, more), "shop"),
    )
    (folder / "all.yaml").write_text("---".join(objects), encoding="utf-8")
    result = CliRunner().invoke(main, ["trace", "GET", "http://a.example/", *arguments, str(folder / "all.yaml")])
    return next(line for line in result.stdout.splitlines() if line.startswith("Result: "))


@pytest.mark.parametrize(
    ("which", "more"),
    [(OF_ENVOY, ""), (OF_ENVOY, ", optional: true"), (OF_AGENTGATEWAY, ""), (OF_AGENTGATEWAY, ", mode: Optional")],
)
def test_a_token_of_another_issuer_is_refused(tmp_path: Path, which: tuple[str, str, str], more: str) -> None:
    for said in (["--claim", "iss=other"], ["-H", f"Authorization: Bearer {token({'iss': 'other'})}"]):
        assert traced(tmp_path, which, more, *said) == (
            f"Result: 401: denied by {which[0]} shop/login: it takes no tokens of other."
        )
    for said in (["--claim", "iss=https://id.example.org"], ["--claim", "groups=a"], ["-H", "Authorization: Bearer x"]):
        assert "401" not in traced(tmp_path, which, more, *said)


def test_a_mode_that_lets_everything_pass_refuses_nothing(tmp_path: Path) -> None:
    assert "401" not in traced(tmp_path, OF_AGENTGATEWAY, ", mode: Permissive", "--claim", "iss=other")


def test_what_a_token_says() -> None:
    stated = token({"iss": "a", "aud": ["b", "c"], "admin": True, "exp": 5, "realm": {"roles": ["x"]}})
    assert claims_in(["x: y", f"authorization: bearer {stated}"]) == ("iss=a", "aud=b", "aud=c", "admin=true", "exp=5")


@pytest.mark.parametrize("value", ["Bearer x", "Bearer a.b.c", "Basic a.b.c", f"Bearer {token([])}", "Bearer ..", ""])
def test_what_is_no_token_says_nothing(value: str) -> None:
    assert claims_in([f"Authorization: {value}"]) == ()
