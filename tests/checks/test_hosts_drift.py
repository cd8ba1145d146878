"""GWP317 and GWP318 beyond the examples of their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, lint, policy
from tests.worlds import gateway_class

ISTIO = gateway_class("envoy", "istio.io/gateway-controller")
TOKEN = "from: [{source: {notRequestPrincipals: ['*']}}]"
TARGET = "{group: gateway.networking.k8s.io, kind: Gateway, name: edge}"


def route(host: str, path: str = "/", method: str = "") -> str:
    match = f"{{path: {{value: {path}}}{method and f', method: {method}'}}}"
    rule = f"{{matches: [{match}], backendRefs: [{{name: checkout, port: 8080}}]}}"
    return worlds.route(host.partition(".")[0].replace("*", "any"), more=f"hostnames: ['{host}'], rules: [{rule}]")


def istio(*hosts: str, action: str = "DENY", paths: str = "") -> str:
    both = ", ".join(f"'{host}', '{host}:*'" for host in hosts)
    where = f"to: [{{operation: {{hosts: [{both}]{paths and f', paths: [{paths}]'}}}}}]"
    spec = f"spec: {{targetRefs: [{TARGET}], action: {action}, rules: [{{{TOKEN}, {where}}}]}}"
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "guard", "infra", spec)


def kuadrant(*hosts: str) -> str:
    predicate = " || ".join(f'request.host == "{host}"' for host in hosts)
    jwt = "rules: {authentication: {a: {jwt: {issuerUrl: 'https://id.example.org'}}}}"
    spec = f"spec: {{targetRef: {TARGET}, when: [{{predicate: '{predicate}'}}], {jwt}}}"
    return worlds.manifest("kuadrant.io/v1", "AuthPolicy", "guard", "infra", spec)


def drift(directory: Path, *manifests: str) -> list[str]:
    found = lint(directory, ISTIO, GATEWAY, SERVICE, *manifests)
    return [each.message for each in found if each.rule == "GWP318"]


A, B, C = (route(f"{name}.example.com") for name in "abc")
LEFT_OUT = "AuthorizationPolicy infra/guard guards a.example.com and b.example.com, but not c.example.com"


@pytest.mark.parametrize(
    ("guard", "third", "told"),
    [
        (istio("a.example.com", "b.example.com"), C, [LEFT_OUT]),
        (istio("a.example.com", "*.example.com", "b.example.com"), C, []),
        (istio("a.example.com", "b.example.com"), route("c.example.net"), []),
        (istio("a.example.com"), C, []),
        (istio("a.example.com", "b.example.com", action="ALLOW"), C, []),
        (
            istio("a.example.com", "b.example.com", "c.example.com", "d.example.com"),
            C,
            ["AuthorizationPolicy infra/guard names host d.example.com, which no route of Gateway infra/edge has"],
        ),
        (istio("a.example.com", "b.example.com", "d.example.com"), route("*.example.com"), []),
    ],
)
def test_hosts_of_a_policy_and_of_the_routes(tmp_path: Path, guard: str, third: str, told: list[str]) -> None:
    assert drift(tmp_path, A, B, third, guard) == told


@pytest.mark.parametrize(("paths", "told"), [("'/orders/*'", False), ("'/gone/*'", True), ("'/shop'", False)])
def test_paths_of_a_policy_and_of_the_routes(tmp_path: Path, paths: str, told: bool) -> None:
    shops = [route(f"{name}.example.com", path) for name, path in (("a", "/shop"), ("b", "/orders/open"))]
    found = drift(tmp_path, *shops, istio("a.example.com", "b.example.com", paths=paths))
    assert bool(found) == told


def test_conditions_of_another_implementation(tmp_path: Path) -> None:
    found = drift(tmp_path, A, B, C, kuadrant("a.example.com", "b.example.com", "d.example.com"))
    assert sorted(found) == [
        "AuthPolicy infra/guard guards a.example.com and b.example.com, but not c.example.com",
        "AuthPolicy infra/guard names host d.example.com, which no route of Gateway infra/edge has",
    ]


@pytest.mark.parametrize(
    ("controller", "settings"),
    [
        ("kgateway.dev/kgateway", "gateway.kgateway.dev/v1alpha1 TrafficPolicy cors"),
        ("agentgateway.dev/agentgateway", "agentgateway.dev/v1alpha1 AgentgatewayPolicy traffic.cors"),
        ("gateway.envoyproxy.io/gatewayclass-controller", "gateway.envoyproxy.io/v1alpha1 SecurityPolicy cors"),
    ],
)
@pytest.mark.parametrize(("methods", "told"), [(("POST",), True), (("POST", "OPTIONS"), False), (("",), False)])
def test_preflights_of_every_kind_that_answers_them(
    tmp_path: Path, controller: str, settings: str, methods: tuple[str, ...], told: bool
) -> None:
    api, kind, field = settings.split()
    cors = "cors: {allowOrigins: ['https://www.example.org'], allowMethods: [POST]}"
    written = f"traffic: {{{cors}}}" if "." in field else cors
    made = policy(kind, "cors", "kind: HTTPRoute, name: a", written).replace("gateway.envoyproxy.io/v1alpha1", api)
    match = ", ".join(f"{{path: {{value: /}}{method and f', method: {method}'}}}" for method in methods)
    rule = f"{{matches: [{match}], backendRefs: [{{name: checkout, port: 8080}}]}}"
    served = worlds.route("a", more=f"hostnames: [a.example.com], rules: [{rule}]")
    found = lint(tmp_path, gateway_class("envoy", controller), GATEWAY, SERVICE, served, made)
    assert ("GWP317" in {each.rule for each in found}) == told


def test_a_preflight_that_another_route_takes(tmp_path: Path) -> None:
    cors = "cors: {allowOrigins: ['https://www.example.org'], allowMethods: [POST]}"
    made = policy("SecurityPolicy", "cors", "kind: HTTPRoute, name: a", cors)
    eg = gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
    other = worlds.route("z", more="hostnames: [a.example.com], rules: [{backendRefs: [{name: checkout, port: 8080}]}]")
    found = lint(tmp_path, eg, GATEWAY, SERVICE, route("a.example.com", "/x", "POST"), other, made)
    assert "GWP317" not in {each.rule for each in found}


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("shop.exmaple.com", True),  # two letters changed places
        ("shop.exampl.com", True),
        ("shop.examplee.com", True),
        ("shop.exsmple.com", True),
        ("shop.example.com", False),
        ("shap.example.com", False),  # short labels differ by a letter on purpose
        ("shop.sample.com", False),
        ("shop.exmaple.org", False),
        ("exmaple.com", False),
    ],
)
def test_a_host_that_is_one_of_the_routes_but_for_a_letter(tmp_path: Path, named: str, told: bool) -> None:
    what = f"AuthorizationPolicy infra/guard names host {named}, which no route of Gateway infra/edge has"
    assert drift(tmp_path, route("shop.example.com"), istio(named)) == ([what] if told else [])
