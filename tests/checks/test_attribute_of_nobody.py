"""GWP319: expressions of limits that read what no AuthPolicy exposes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import lint, rules
from tests.worlds import gateway, gateway_class, route, service

ROUTE = route(more="rules: [{name: main, backendRefs: [{name: checkout, port: 80}]}]")
WORLD = (gateway_class("istio", "istio.io/gateway-controller"), gateway(of_class="istio"), ROUTE, service())
EXPOSED = "identity: {json: {properties: {userid: {expression: auth.identity.sub}}}}"


def kuadrant(kind: str, name: str, target: str, settings: str) -> str:
    version = "v1alpha1" if kind == "TokenRateLimitPolicy" else "v1"
    namespace = "infra" if target.startswith("Gateway") else "shop"
    return worlds.policy(f"kuadrant.io/{version}", kind, name, target, settings, namespace, field="targetRef")


def login(filters: str = "", target: str = "HTTPRoute/checkout") -> str:
    response = f", response: {{success: {{filters: {{{filters}}}}}}}" if filters else ""
    jwt = "{jwt: {issuerUrl: 'https://id.example.com'}}"
    return kuadrant("AuthPolicy", "login", target, f"rules: {{authentication: {{users: {jwt}}}{response}}}")


def limit(reads: str, kind: str = "RateLimitPolicy", target: str = "HTTPRoute/checkout", wrapper: str = "") -> str:
    limits = f"limits: {{each: {{rates: [{{limit: 5, window: 10s}}], {reads}}}}}"
    return kuadrant(kind, "limit", target, f"{wrapper}: {{{limits}}}" if wrapper else limits)


def is_told(tmp_path: Path, *policies: str) -> bool:
    return "GWP319" in rules(lint(tmp_path, *WORLD, *policies))


COUNTS = "counters: [{expression: auth.identity.userid}]"


@pytest.mark.parametrize("kind", ["RateLimitPolicy", "TokenRateLimitPolicy"])
@pytest.mark.parametrize(
    "reads",
    [
        COUNTS,
        "when: [{predicate: 'auth.identity.userid == \"joe\"'}]",
        'when: [{predicate: \'auth.identity["userid"] == "joe"\'}]',
        'when: [{predicate: \'auth.identity.groups.split(",").exists(each, each == "free")\'}]',
    ],
)
def test_an_attribute_that_is_not_exposed_is_told(tmp_path: Path, kind: str, reads: str) -> None:
    assert is_told(tmp_path, login(), limit(reads, kind))


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (EXPOSED, False),
        ("identity: {json: {properties: {name: {expression: auth.identity.sub}}}}", True),
        ("user: {json: {properties: {userid: {expression: auth.identity.sub}}}}", True),
        ("identity: {plain: {expression: auth.identity}}", False),
    ],
)
def test_the_name_and_the_field_count(tmp_path: Path, filters: str, told: bool) -> None:
    assert is_told(tmp_path, login(filters), limit(COUNTS)) == told


@pytest.mark.parametrize(
    "reads",
    [
        "counters: [{expression: request.host}]",
        "when: [{predicate: 'has(auth.identity) && auth.identity.userid == \"joe\"'}]",
        'when: [{predicate: \'request.path == "/" || auth.identity.userid == "joe"\'}]',
    ],
)
def test_what_asks_first_or_reads_the_request_is_not(tmp_path: Path, reads: str) -> None:
    assert not is_told(tmp_path, login(), limit(reads))


def test_the_place_that_is_told_is_the_same_however_limits_are_ordered(tmp_path: Path) -> None:
    several = [f"{name}: {{rates: [{{limit: 5, window: 10s}}], {COUNTS}}}" for name in ("free", "gold")]
    told = set()
    for order in (several, several[::-1]):
        policy = kuadrant("RateLimitPolicy", "limit", "HTTPRoute/checkout", f"limits: {{{', '.join(order)}}}")
        found = [finding for finding in lint(tmp_path, *WORLD, login(), policy) if finding.rule == "GWP319"]
        told.add(tuple(finding.message for finding in found))
    assert len(told) == 1
    assert "spec.limits.free." in next(iter(told))[0]


@pytest.mark.parametrize(
    ("policies", "told"),
    [
        ((login(), limit(COUNTS, target="Gateway/edge")), True),
        ((login(target="Gateway/edge"), limit(COUNTS)), True),
        ((login(), limit(COUNTS, target="Gateway/edge", wrapper="overrides")), True),
        ((login(EXPOSED, target="Gateway/edge"), limit(COUNTS)), False),
    ],
)
def test_policies_meet_wherever_they_are_attached(tmp_path: Path, policies: tuple[str, ...], told: bool) -> None:
    assert is_told(tmp_path, *policies) == told


@pytest.mark.parametrize("target", ["HTTPRoute/checkout", "Gateway/edge"])
def test_without_a_login_there_is_nothing_to_read(tmp_path: Path, target: str) -> None:
    (finding,) = (each for each in lint(tmp_path, *WORLD, limit(COUNTS, target=target)) if each.rule == "GWP319")
    assert "no AuthPolicy acts on HTTPRoute shop/checkout" in finding.message
    assert finding.confidence == "assumed"


def test_what_the_login_of_the_same_gateway_exposes_is_meant_for_routes_that_keep_it(tmp_path: Path) -> None:
    own, whole = login(), login(EXPOSED, target="Gateway/edge").replace("name: login", "name: wide")
    assert not is_told(tmp_path, own, whole, limit(COUNTS, target="Gateway/edge"))
    assert is_told(tmp_path, own, whole, limit(COUNTS))


def test_a_login_elsewhere_is_none(tmp_path: Path) -> None:
    other = ROUTE.replace("name: checkout,", "name: other,", 1)
    assert is_told(tmp_path, other, login(EXPOSED, target="HTTPRoute/other"), limit(COUNTS))


def test_a_login_may_come_from_what_is_not_seen(tmp_path: Path) -> None:
    chart = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: logins, namespace: shop}
spec: {chart: {spec: {chart: logins, sourceRef: {kind: HelmRepository, name: ours}}}}
"""
    assert not is_told(tmp_path, limit(COUNTS), chart)


def test_an_extension_may_add_attributes(tmp_path: Path) -> None:
    plan = kuadrant("AuthPolicy", "plan", "HTTPRoute/checkout", "plans: []").replace(
        "kuadrant.io/v1", "extensions.kuadrant.io/v1alpha1"
    )
    assert not is_told(tmp_path, login(), limit(COUNTS), plan.replace("AuthPolicy", "PlanPolicy"))
