"""GWP214 and GWP312 beyond the examples of their pages."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds
from tests.worlds import gateway, gateway_class, route, service, simulated

EG = gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller")
RULES = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {client-secret: x}\n"


def security(name: str, target: str, spec: str) -> str:
    return worlds.policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", name, target, spec, "shop")


def oidc(more: str = "", client: str = "web") -> str:
    return f"oidc: {{provider: {{issuer: 'https://id'}}, clientID: {client}, clientSecret: {{name: s}}{more}}}"


def said(rule: str, *manifests: str) -> list[str]:
    return [finding.message for finding in run(simulated(EG, *manifests), select={rule})]


@pytest.mark.parametrize(
    ("hosts", "first", "second", "told"),
    [
        (("a.test", "a.test"), oidc(), oidc(), True),
        (("a.test", "b.test"), oidc(), oidc(), False),
        (("a.test", "b.test"), oidc(", cookieDomain: test"), oidc(", cookieDomain: test"), True),
        (("a.test", "a.test"), oidc(), oidc(client="other"), False),
        (("a.test", "a.test"), *(2 * [oidc(", cookieNames: {idToken: i, accessToken: a}")]), False),
    ],
)
def test_logins_that_browsers_keep_apart(hosts: tuple[str, str], first: str, second: str, told: bool) -> None:
    parents = "[{name: edge}]"
    one = route("one", parents=parents, more=f"hostnames: [{hosts[0]}], {RULES}")
    other = route("other", parents=parents, more=f"hostnames: [{hosts[1]}], {RULES}")
    policies = security("a", "HTTPRoute/one", first), security("b", "HTTPRoute/other", second)
    found = said("GWP312", gateway(namespace="shop"), one, other, service(), SECRET, *policies)
    assert [message.startswith("oidc of SecurityPolicy shop/b is a login of its own") for message in found] == told * [
        True
    ]


MCP = "parentRefs: [{name: edge}], backendRefs: [{name: tool, port: 443}]"
MERGED = "securityPolicy: {mergeType: StrategicMerge, apiKeyAuth: {credentialRefs: []}}"


@pytest.mark.parametrize(
    ("target", "spec", "made", "told"),
    [
        ("Gateway/edge", "authorization: {defaultAction: Deny}", "securityPolicy: {apiKeyAuth: {}}", True),
        ("Gateway/edge", "basicAuth: {users: {name: s}}", "securityPolicy: {oauth: {issuer: 'https://id'}}", True),
        ("Gateway/edge#http", "authorization: {defaultAction: Deny}", "securityPolicy: {apiKeyAuth: {}}", True),
        ("Gateway/other", "authorization: {defaultAction: Deny}", "securityPolicy: {apiKeyAuth: {}}", False),
        ("Gateway/edge", "cors: {allowOrigins: ['*']}", "securityPolicy: {apiKeyAuth: {}}", False),
        ("Gateway/edge", "authorization: {defaultAction: Deny}", MERGED, False),
        ("Gateway/edge", "authorization: {defaultAction: Deny}", "path: /mcp", False),
    ],
)
@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
def test_what_a_generated_policy_takes_away(version: str, target: str, spec: str, made: str, told: bool) -> None:
    maker = worlds.manifest(
        f"aigateway.envoyproxy.io/{version}", "MCPRoute", "tools", "shop", f"spec: {{{MCP}, {made}}}"
    )
    gateways = gateway(namespace="shop"), gateway("other", namespace="shop")
    assert bool(said("GWP214", *gateways, maker, security("own", target, spec))) is told
