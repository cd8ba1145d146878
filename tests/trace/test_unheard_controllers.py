"""A GatewayClass that names a controller out of the catalog: another product, or a known one under a name of its own.

Predicted from: Gateway API, GatewayClassSpec.controllerName («the name of the controller that is managing Gateways of
this class»); Envoy Gateway, EnvoyGateway.gateway.controllerName (any name can be configured). So nobody can tell
whether the policies of a product act there: what they ask is not known, neither *required* nor *none*.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare.ends import ends_changed
from policylint.reach import all_ways, asked
from policylint.trace import Requirements, Tracer, request
from tests import worlds
from tests.checks.linting import lint
from tests.compare.test_compare import sides
from tests.compare.test_requests import requests

OWN = "example.com/other"
TARGET = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]"
REMOTE = "[{name: a, issuer: 'https://id.example.com', remoteJWKS: {uri: 'https://id.example.com/keys'}}]"
NGINX = "{group: gateway.nginx.org, kind: AuthenticationFilter, name: login}"


def policy(group: str, kind: str, spec: str, version: str = "v1alpha1") -> str:
    return worlds.manifest(f"{group}/{version}", kind, "login", "shop", f"spec: {{{spec}}}")


POLICIES = {
    "gateway.envoyproxy.io/gatewayclass-controller": policy(
        "gateway.envoyproxy.io", "SecurityPolicy", f"{TARGET}, jwt: {{providers: {REMOTE}}}"
    ),
    "kgateway.dev/kgateway": policy(
        "gateway.kgateway.dev",
        "TrafficPolicy",
        f"{TARGET}, basicAuth: {{users: ['a:{{SHA}}C+7Hteo/D9vJXQ3UfzxbwnXaijM=']}}",
    ),
    "gateway.nginx.org/nginx-gateway-controller": policy(
        "gateway.nginx.org", "AuthenticationFilter", "type: Basic, basic: {secretRef: {name: users}, realm: x}"
    ),
}


def world(controller: str, policy: str, filters: str = "") -> tuple[str, ...]:
    rule = f"{{{filters}backendRefs: [{{name: app, port: 80}}]}}"
    return (
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.service("app"),
        worlds.route("shop", more=f"rules: [{rule}]"),
        policy,
    )


def filters(controller: str) -> str:
    return f"filters: [{{type: ExtensionRef, extensionRef: {NGINX}}}], " if "nginx" in controller else ""


@pytest.mark.parametrize("controller", POLICIES)
def test_a_login_is_not_known_there(tmp_path: Path, controller: str) -> None:
    manifests = world(OWN, POLICIES[controller], filters(controller))
    simulation = worlds.opened(tmp_path, *manifests)
    requirements = Requirements(Tracer(simulation))
    states = {asked(requirements, way, "authentication").state for way in all_ways(simulation)}
    assert states == {"unknown"}
    (twin := tmp_path / "twin").mkdir()
    known = worlds.opened(twin, *world(controller, POLICIES[controller], filters(controller)))
    own = Requirements(Tracer(known))
    assert {asked(own, way, "authentication").state for way in all_ways(known)} == {"asked"}


@pytest.mark.parametrize("controller", POLICIES)
def test_a_change_to_it_is_not_known(tmp_path: Path, controller: str) -> None:
    before, after = (world(name, POLICIES[controller], filters(controller)) for name in (controller, OWN))
    found = requests(sides(tmp_path, before, after))
    assert found.changes == ()
    assert all(OWN in str(each) for each in found.unknown) and found.unknown


@pytest.mark.parametrize(
    ("of_class", "severity", "who"),
    [("edge", "error", OWN), ("other", "warning", "the controller of class other (not in this repository)")],
)
def test_a_change_to_it_is_told(tmp_path: Path, of_class: str, severity: str, who: str) -> None:
    name = next(iter(POLICIES))
    before = world(name, POLICIES[name])
    after = (worlds.gateway_class("edge", OWN), worlds.gateway(of_class=of_class), *before[2:])
    (told,) = ends_changed(sides(tmp_path, before, after))
    message = (
        f"Gateway infra/edge is now served by {who} instead of {name}: SecurityPolicy shop/login may not be read there"
    )
    assert (told.severity, told.message) == (severity, message)


def test_who_is_turned_away_may_get_in_there(tmp_path: Path) -> None:
    denies = policy("gateway.envoyproxy.io", "SecurityPolicy", f"{TARGET}, authorization: {{defaultAction: Deny}}")
    trace = Tracer(worlds.opened(tmp_path, *world(OWN, denies))).trace(request({"host": "shop.example.com"}))
    assert trace.outcome.backends
    assert [each.decision.why for each in trace.judged] == [f"whether {OWN} reads it"]


def test_lint_says_so_on_request(tmp_path: Path) -> None:
    found = [each for each in lint(tmp_path, *world(OWN, POLICIES[next(iter(POLICIES))])) if each.rule == "GWP108"]
    assert [each.confidence for each in found] == ["unknown"]


@pytest.mark.parametrize(
    ("controller", "meant"),
    [
        ("gateway.envoyproxy.io/gatewayclass-contoller", "gateway.envoyproxy.io/gatewayclass-controller"),
        ("gateway.envoyproxy.oi/gatewayclass-controller", "gateway.envoyproxy.io/gatewayclass-controller"),
        ("kgateway.dev/kgatewy", "kgateway.dev/kgateway"),
        ("istio.io/gateway-controler", "istio.io/gateway-controller"),
        ("gateway.nginx.org/nginx-gateway-controllers", ""),  # a second one of this product
        ("gateway.envoyproxy.io/gatewayclass-controller2", ""),
        ("gateway.k8s.aws/nlb", ""),  # `alb` is near, and both are names
        (OWN, ""),
    ],
)
def test_a_slip_in_the_name_is_told(tmp_path: Path, controller: str, meant: str) -> None:
    found = lint(tmp_path, *world(controller, POLICIES["gateway.envoyproxy.io/gatewayclass-controller"]))
    told = [each for each in found if each.rule == "GWP409"]
    assert [each.label for each in told] == ([f"{meant} was probably meant"] if meant else [])
    assert all(each.confidence == "assumed" for each in told)
