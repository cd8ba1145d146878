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
from tests.worlds import gateway, gateway_class, manifest, policy, route, service

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


KEYS = 'jwks: {local: {inline: \'{"keys": [{"kty": "oct"}]}\'}}'
BESIDE = ", apiKey: {selector: {matchLabels: {app: shop}}}"


def result(folder: Path, claim: str, *objects: str) -> str:
    (folder / "all.yaml").write_text("---".join((route("shop", more=TO_WEB), service("web"), *objects)))
    asked = ["trace", "GET", "http://a.example/", "--claim", claim, str(folder / "all.yaml")]
    answer = CliRunner().invoke(main, asked).stdout
    return next(line for line in answer.splitlines() if line.startswith("Result: "))


@pytest.mark.parametrize("more", ["", ", forwardToken: true"])
def test_an_extension_of_kgateway_takes_tokens_of_its_issuers(tmp_path: Path, more: str) -> None:
    provider = f"{{name: idp, issuer: id, {KEYS}{more}}}"
    group = "gateway.kgateway.dev/v1alpha1"
    objects = (
        gateway_class(controller="kgateway.dev/kgateway"),
        gateway(),
        manifest(group, "GatewayExtension", "e", "shop", f"spec: {{jwt: {{providers: [{provider}]}}}}"),
        policy(group, "TrafficPolicy", "login", "HTTPRoute/shop", "jwtAuth: {extensionRef: {name: e}}", "shop"),
    )
    refused = "Result: 401: denied by TrafficPolicy shop/login: it takes no tokens of other."
    assert result(tmp_path, "iss=other", *objects) == refused
    assert "401" not in result(tmp_path, "iss=id", *objects)


def test_each_of_two_extensions_asks_by_itself(tmp_path: Path) -> None:
    """They are filters one after the other (trafficpolicy/jwt.go, handleJwt)."""
    group = "gateway.kgateway.dev/v1alpha1"
    spec = "spec: {jwt: {providers: [{name: idp, issuer: %s, %s}]}}"
    objects = (
        gateway_class(controller="kgateway.dev/kgateway"),
        gateway(namespace="shop"),
        *(manifest(group, "GatewayExtension", name, "shop", spec % (name, KEYS)) for name in ("one", "two")),
        policy(group, "TrafficPolicy", "above", "Gateway/edge", "jwtAuth: {extensionRef: {name: one}}", "shop"),
        policy(group, "TrafficPolicy", "own", "HTTPRoute/shop", "jwtAuth: {extensionRef: {name: two}}", "shop"),
        route("shop", parents="[{name: edge}]", more=TO_WEB),
        service("web"),
    )
    (tmp_path / "all.yaml").write_text("---".join(objects))
    for issuer, refused in (("one", "own"), ("two", "above")):
        asked = ["trace", "GET", "http://a.example/", "--claim", f"iss={issuer}", str(tmp_path / "all.yaml")]
        said = f"Result: 401: denied by TrafficPolicy shop/{refused}: it takes no tokens of {issuer}."
        assert said in CliRunner().invoke(main, asked).stdout


def test_contour_takes_tokens_of_its_issuers(tmp_path: Path) -> None:
    provider = "{name: corp, default: true, issuer: id, remoteJWKS: {uri: 'https://id.example/jwks'}}"
    tls = f"tls: {{secretName: cert}}, jwtProviders: [{provider}]"
    to_web = "routes: [{services: [{name: web, port: 80}]}]"
    spec = f"spec: {{virtualhost: {{fqdn: a.example, {tls}}}, {to_web}}}"
    objects = (manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", spec), service("web"))
    (tmp_path / "all.yaml").write_text("---".join(objects))
    for issuer, refused in (("id", False), ("other", True)):
        asked = ["trace", "GET", "https://a.example/", "--claim", f"iss={issuer}", str(tmp_path / "all.yaml")]
        said = "Result: 401: denied by HTTPProxy shop/web: it takes no tokens of other."
        assert (said in CliRunner().invoke(main, asked).stdout) is refused


@pytest.mark.parametrize(
    ("ways", "status"),
    [
        ("idp: {jwt: {issuerUrl: id}}", 401),
        ("idp: {jwt: {issuerUrl: id}}, two: {jwt: {issuerUrl: ids}}", 401),
        ("idp: {jwt: {issuerUrl: id}}, two: {jwt: {issuerUrl: other}}", None),
        (f"idp: {{jwt: {{issuerUrl: id}}}}, key: {{{BESIDE[2:]}}}", None),
        ("idp: {jwt: {issuerUrl: id}, when: [{predicate: request.method == 'GET'}]}", None),
        ("idp: {jwt: {jwksUrl: 'https://id.example/k'}}", None),
    ],
)
def test_kuadrant_takes_tokens_of_its_issuers(tmp_path: Path, ways: str, status: int | None) -> None:
    """Authorino verifies `iss`; a token that no provider takes lets nobody in, unless something else does."""
    target = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}"
    login = f"spec: {{{target}, rules: {{authentication: {{{ways}}}}}}}"
    objects = (
        gateway_class(controller="istio.io/gateway-controller"),
        gateway(),
        manifest("kuadrant.io/v1beta1", "Kuadrant", "kuadrant", "kuadrant-system", "spec: {}"),
        manifest("kuadrant.io/v1", "AuthPolicy", "login", "shop", login),
    )
    said = result(tmp_path, "iss=other", *objects)
    assert ("it takes no tokens of other" in said) is (status == 401)
