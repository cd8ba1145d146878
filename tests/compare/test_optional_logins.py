"""A login that need not be met goes: how bad it is follows from whom it turned away."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.compare import compare, removed_protections
from policylint.model import Finding
from tests import worlds
from tests.checks.linting import SERVICE, policy, route
from tests.compare.test_compare import sides
from tests.compare.test_weakening import WORLD, jwt, of, security
from tests.compare.test_weakening_kinds import agent, auth, gloo, traffic

ISSUERS = "providers: [{issuer: a, jwks: {inline: '{}'}}]"
CALLED = "{backendRef: {name: a, port: 80}, grpc: {}}"
API_KEY = "apiKeyAuth: {extractFrom: [{headers: [x]}], credentialRefs: [{name: keys}]}"
ISTIO = (
    worlds.gateway_class("any", "istio.io/gateway-controller"), worlds.gateway(),
    worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"), worlds.service(),
)  # fmt: skip
EDGE = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
TOKENS = worlds.manifest(
    "security.istio.io/v1", "RequestAuthentication", "login", "infra",
    f"spec: {{{EDGE}, jwtRules: [{{issuer: a}}]}}",
)  # fmt: skip
KGATEWAY = (WORLD[0].replace("envoy", "kgateway"), *WORLD[1:])
KEYS = "keys: {apiKey: {selector: {matchLabels: {app: shop}}}}"


def tokens(mode: str) -> str:
    return agent(f"traffic: {{jwtAuthentication: {{mode: {mode}, {ISSUERS}}}}}")


def through(extension: str) -> tuple[str, ...]:
    """kgateway's login, whose mode stands in another object."""
    spec = f"jwt: {{{extension}providers: []}}"
    idp = of("gateway.kgateway.dev", "GatewayExtension", spec, name="idp")
    return (idp, traffic("jwtAuth: {extensionRef: {name: idp}}"))


def options(validation: str) -> str:
    return gloo("VirtualHostOption", f"jwt: {{{validation}, providers: {{a: {{issuer: x}}}}}}")


GONE: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "agentgateway, strict": (WORLD, (tokens("Strict"),), "error"),
    "agentgateway, optional": (WORLD, (tokens("Optional"),), "warning"),
    "agentgateway, permissive": (WORLD, (tokens("Permissive"),), "note"),
    "agentgateway, optional beside a condition": (
        WORLD, (agent(f"traffic: {{extAuth: {{conditional: [{{condition: a, policy: {CALLED}}}]}}}}"),), "error"),
    "Envoy Gateway, strict": (WORLD, (security(jwt()),), "error"),
    "Envoy Gateway, optional": (WORLD, (security(jwt("optional: true")),), "warning"),
    "Envoy Gateway, whatever comes": (WORLD, (security(jwt("failOpen: true")),), "note"),
    "Envoy Gateway, optional beside a key": (
        WORLD, (security(jwt("optional: true") + "\n  " + API_KEY),), "error"),
    "kgateway, strict": (KGATEWAY, through(""), "error"),
    "kgateway, optional": (KGATEWAY, through("validationMode: AllowMissing, "), "warning"),
    "Gloo, strict": (WORLD, (options("validationPolicy: REQUIRE_VALID"),), "error"),
    "Gloo, optional": (WORLD, (options("validationPolicy: ALLOW_MISSING"),), "warning"),
    "Gloo, whatever comes": (WORLD, (options("validationPolicy: ALLOW_MISSING_OR_FAILED"),), "note"),
    "Gloo, whatever comes, in its older words": (WORLD, (options("allowMissingOrFailedJwt: true"),), "note"),
    "Kuadrant, on a condition": (
        WORLD, (auth(f"rules: {{authentication: {{{KEYS}}}}}\n  when: [{{predicate: auth.a}}]"),), "error"),
    "Kuadrant, beside anybody": (
        WORLD, (auth(f"rules: {{authentication: {{{KEYS}, any: {{anonymous: {{}}}}}}}}"),), "note"),
    "Istio, tokens alone": (ISTIO, (TOKENS,), "warning"),
}  # fmt: skip


def told(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[Finding]:
    pair = sides(tmp_path, before, after)
    return removed_protections([pair], compare([pair]))


@pytest.mark.parametrize("name", GONE)
def test_what_went_with_a_login_decides_how_bad_it_is(name: str, tmp_path: Path) -> None:
    world, policies, severity = GONE[name]
    found = told(tmp_path, (*world, *policies), world)
    assert {each.severity for each in found} == {severity}, [each.message for each in found]


LESS = "validationMode: AllowMissing, "
BESIDE = "jwtAuth: {extensionRef: {name: idp}}\n  apiKeyAuth: {secretRef: {name: keys}}"


@pytest.mark.parametrize(("spec", "severity"), [("", "error"), (BESIDE, "warning")])
def test_an_object_that_a_policy_names_asks_for_less(spec: str, severity: str, tmp_path: Path) -> None:
    """It is as bad as in the policy itself: an error where nothing else on the way asks."""
    secret = worlds.manifest("v1", "Secret", "keys", "shop", "stringData: {a: b}")
    policies = (traffic(spec), secret) if spec else through("")[1:]
    before, after = ((*KGATEWAY, through(mode)[0], *policies) for mode in ("", LESS))
    (finding,) = told(tmp_path, before, after)
    assert (finding.rule, finding.severity) == ("GWP304", severity), finding.message


CHANGED = {
    "a login that goes while an optional one stays": (
        security(jwt("optional: true") + "\n  " + API_KEY),
        security(jwt("optional: true")),
        "error",
        "apiKeyAuth of SecurityPolicy shop/login is gone, jwt alone asks, and only optionally",
    ),
    "an optional login that refuses nobody any more": (
        tokens("Optional"),
        tokens("Permissive"),
        "warning",
        "goes from Optional to Permissive, invalid credentials are let through (it was optional)",
    ),
    "a strict one that does": (tokens("Strict"), tokens("Permissive"), "error", "goes from Strict to Permissive"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_login_that_asks_for_less(name: str, tmp_path: Path) -> None:
    before, after, severity, says = CHANGED[name]
    (finding,) = told(tmp_path, (*WORLD, before), (*WORLD, after))
    assert (finding.severity, says in finding.message) == (severity, True), finding.message


@pytest.mark.parametrize(
    ("mode", "severity"), [("", "error"), ("optional: true", "warning"), ("failOpen: true", "note")]
)
def test_a_route_that_loses_an_optional_login_of_its_gateway(mode: str, severity: str, tmp_path: Path) -> None:
    edge = policy("SecurityPolicy", "edge", "kind: Gateway, name: edge", jwt(mode), namespace="infra")
    simulation = worlds.opened(
        tmp_path, WORLD[0], route(), SERVICE, edge, security("cors: {allowOrigins: ['https://a.example']}")
    )
    assert [each.severity for each in run(simulation) if each.rule == "GWP201"] == [severity]
