"""Kuadrant acts on the hostnames of a route that lie within those of a listener, and on no others.

Predicted from kuadrant-operator v1.5.1, internal/policymachinery/utils.go, and asked of the operator itself
(tests/witness): a Gateway for `api.example.com` serves a route for `*.example.com`, and no policy acts on its requests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import lint
from tests.worlds import gateway_class, service, simulated, state

LOGIN = "rules: {authentication: {users: {jwt: {issuerUrl: 'https://id.example.com'}}}}"
LIMIT = "limits: {each: {rates: [{limit: 5, window: 10s}]}}"
KINDS = {"AuthPolicy": ("v1", LOGIN), "RateLimitPolicy": ("v1", LIMIT), "TokenRateLimitPolicy": ("v1alpha1", LIMIT)}
CLASS = gateway_class("istio", "istio.io/gateway-controller")


def gateway(*hostnames: str) -> str:
    listeners = ", ".join(
        f"{{name: l{number}, port: {80 + number}, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}"
        + (f", hostname: '{hostname}'}}" if hostname else "}")
        for number, hostname in enumerate(hostnames)
    )
    return worlds.gateway(listeners=f"[{listeners}]", of_class="istio")


def route(*hostnames: str, kind: str = "HTTPRoute", section: str = "") -> str:
    parent = "[{name: edge, namespace: infra" + (f", sectionName: {section}}}]" if section else "}]")
    names = ", ".join(f"'{hostname}'" for hostname in hostnames)
    rules = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
    return worlds.route(parents=parent, kind=kind, more=f"hostnames: [{names}], {rules}" if names else rules)


def policy(kind: str = "AuthPolicy", target: str = "HTTPRoute/checkout") -> str:
    version, settings = KINDS[kind]
    namespace = "infra" if target.startswith("Gateway") else "shop"
    return worlds.policy(f"kuadrant.io/{version}", kind, "own", target, settings, namespace, field="targetRef")


def acts(*manifests: str) -> bool:
    simulation = simulated(CLASS, service(), *manifests)
    return any(len(path) == 5 for group in simulation.groups for path in group.contexts())


@pytest.mark.parametrize(
    ("listeners", "hostnames", "acted_on"),
    [
        (["api.example.com"], ["*.example.com"], False),
        (["*.shop.example.com"], ["*.example.com"], False),
        (["api.example.com"], ["*.example.com", "api.example.com"], True),
        (["api.example.com"], ["api.example.com"], True),
        (["*.example.com"], ["*.example.com"], True),
        (["*.example.com"], ["a.b.example.com"], True),
        (["api.example.com"], [], True),
        ([""], ["*.example.com"], True),
        (["API.example.com"], ["api.example.com"], True),
        (["${HOST}"], ["*.example.com"], True),
        (["*.shop.MY_PLACEHOLDER_ROOT_DOMAIN"], ["web.shop.ROOT_DOMAIN"], True),
        (["*.example.com"], ["web.ROOT_DOMAIN"], True),
        (["*.REPLACE_ME"], ["web.example.com"], True),
    ],
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_hostnames_within_those_of_the_listener(
    listeners: list[str], hostnames: list[str], acted_on: bool, kind: str
) -> None:
    assert acts(gateway(*listeners), route(*hostnames), policy(kind)) == acted_on


@pytest.mark.parametrize("target", ["HTTPRoute/checkout", "Gateway/edge", "Gateway/edge#l0"])
def test_wherever_the_policy_is(target: str) -> None:
    assert not acts(gateway("api.example.com"), route("*.example.com"), policy(target=target))


def test_routes_for_grpc() -> None:
    login = policy(target="GRPCRoute/checkout")
    assert not acts(gateway("api.example.com"), route("*.example.com", kind="GRPCRoute"), login)
    assert acts(gateway("*.example.com"), route("*.example.com", kind="GRPCRoute"), login)


def test_the_filter_of_a_gateway_tells_requests_by_host() -> None:
    """What another listener of the Gateway acts on for the same hosts, is acted on at this one."""
    both = gateway("api.example.com", "*.example.com")
    assert acts(both, route("*.example.com"), policy())
    assert not acts(both, route("*.example.com", section="l0"), policy())


def test_it_is_told_where_it_does_nothing(tmp_path: Path) -> None:
    found = lint(tmp_path, CLASS, service(), gateway("api.example.com"), route("*.example.com"), policy())
    (finding,) = (each for each in found if each.rule == "GWP106")
    assert finding.message == "AuthPolicy shop/own has no effect on HTTPRoute shop/checkout at Listener infra/edge#l0"
    assert finding.help == ("fix: name api.example.com among the hostnames of HTTPRoute shop/checkout",)


def test_a_policy_that_acts_elsewhere_is_in_force(tmp_path: Path) -> None:
    other = route("www.example.com").replace("name: checkout, namespace: shop", "name: other, namespace: shop")
    world = (
        CLASS,
        service(),
        gateway("api.example.com", "www.example.com"),
        route("*.example.com", section="l0"),
        other,
    )
    login = policy(target="Gateway/edge")
    assert state(simulated(*world, login), "own").verdict == "Enforced"
    assert [each.rule for each in lint(tmp_path, *world, login) if each.rule == "GWP106"] == ["GWP106"]
