"""A change that makes requests answer 500: one error per cause, with the number of routes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, policy
from tests.diff.history import run

CLASS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""
ON_EDGE = "kind: Gateway, name: edge"
ONE = "{limit: {requests: 100, unit: Minute}}"
TWO = f"{ONE}, {{limit: {{requests: 5, unit: Second}}}}"
REASON = "is refused: a local rate limit has at most one rule without clientSelectors"


def route(name: str, section: str = "http") -> str:
    rules = f"hostnames: [{name}.example.com], rules: [{{backendRefs: [{{name: checkout, port: 8080}}]}}]"
    return worlds.route(name, more=rules).replace("{name: edge", f"{{sectionName: {section}, name: edge", 1)


def limits(rules: str, target: str = ON_EDGE, name: str = "limits", namespace: str = "infra") -> str:
    settings = f"rateLimit: {{type: Local, local: {{rules: [{rules}]}}}}"
    return policy("BackendTrafficPolicy", name, target, settings, namespace=namespace)


BASE = [CLASS, GATEWAY, SERVICE]
ROUTES = [route(name) for name in "abc"]


def compared(tmp_path: Path, before: list[str], after: list[str], *form: str) -> tuple[int, str]:
    for side, documents in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        (tmp_path / side / "world.yaml").write_text("---\n".join(documents), encoding="utf-8")
    sides = ("--rendered-before", "before", "--rendered-after", "after")
    code, out, _ = run(tmp_path, "diff", *sides, *form)
    return code, out


def new(tmp_path: Path, before: list[str], after: list[str]) -> list[dict[str, Any]]:
    """The new errors of a change."""
    document = json.loads(compared(tmp_path, before, after, "-o", "json-v1")[1])
    return [each for each in document["findings"] if (each["state"], each["severity"]) == ("new", "error")]


@pytest.mark.parametrize("before", [[limits(ONE)], []], ids=["changed", "added"])
def test_routes_that_were_served_fail(tmp_path: Path, before: list[str]) -> None:
    sides = [*BASE, *ROUTES, *before], [*BASE, *ROUTES, limits(TWO)]
    (finding,) = new(tmp_path, *sides)
    assert (finding["rule"], finding["message"]) == (
        "GWP111",
        f"all requests of 3 routes will answer 500: BackendTrafficPolicy infra/limits {REASON}",
    )
    code, text = compared(tmp_path, *sides)
    assert code == 1
    assert text.count("all requests will answer 500: BackendTrafficPolicy infra/limits is refused") == 1
    comment = compared(tmp_path, *sides, "-o", "markdown")[1]
    refused = f"500: BackendTrafficPolicy infra/limits {REASON.replace(': ', ' (')})"
    assert comment.splitlines()[1] == f"### \u26a0\ufe0f policylint: 3 hosts answer {refused}"
    (why,) = (line for line in comment.splitlines() if line.startswith("**Why** "))
    assert "infra/limits`" in why and "(error GWP111)" in why and "HTTPRoute" not in why
    assert "less protected" not in comment  # nobody gets in


def test_a_login_is_not_lost_where_nobody_gets_in(tmp_path: Path) -> None:
    provider = "{name: staff, issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com/keys}}"
    sides = [[*BASE, ROUTES[0],
              policy("SecurityPolicy", "login", ON_EDGE, f"jwt: {{providers: [{providers}]}}", namespace="infra")]
             for providers in (provider, f"{provider}, {provider}")]  # fmt: skip
    (finding,) = new(tmp_path, *sides)
    assert finding["rule"] == "GWP111"
    assert finding["message"].startswith("all requests of HTTPRoute shop/a will answer 500: ")


def test_what_failed_before_is_no_news(tmp_path: Path) -> None:
    world = [*BASE, *ROUTES, limits(TWO)]
    assert new(tmp_path, world, [*world, policy("BackendTrafficPolicy", "own", "kind: HTTPRoute, name: a",
                                                "retry: {numRetries: 2}")]) == []  # fmt: skip


def test_a_policy_that_was_refused_before_reaches_more(tmp_path: Path) -> None:
    own = policy("BackendTrafficPolicy", "own", "kind: HTTPRoute, name: a", "retry: {numRetries: 2}")
    world = [*BASE, *ROUTES, limits(TWO)]
    (finding,) = new(tmp_path, [*world, own], world)
    assert finding["message"] == (
        f"all requests of HTTPRoute shop/a will answer 500: BackendTrafficPolicy infra/limits {REASON}"
    )


def test_nothing_is_lost_where_nothing_was_served(tmp_path: Path) -> None:
    unattached, attached = route("d", section="none"), route("d")
    world = [*BASE, *ROUTES, limits(TWO)]
    assert new(tmp_path, [*world, unattached], [*world, attached]) == []
    assert new(tmp_path, world, [*world, attached]) == []


def test_on_some_ways_only(tmp_path: Path) -> None:
    inside = "{name: inside, port: 8081, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}"
    two = GATEWAY.replace("{name: admin, port: 8081, protocol: HTTP, hostname: admin.example.com}", inside)
    everywhere = route("a").replace("sectionName: http, ", "")
    world = [CLASS, two, SERVICE, everywhere]
    (finding,) = new(tmp_path, world, [*world, limits(TWO, f"{ON_EDGE}, sectionName: inside")])
    assert finding["message"].startswith("some requests of HTTPRoute shop/a will answer 500: ")
    assert new(tmp_path, [*world, limits(TWO, f"{ON_EDGE}, sectionName: inside")], [*world, limits(TWO)]) != []


def test_what_is_mended_is_said(tmp_path: Path) -> None:
    code, text = compared(tmp_path, [*BASE, *ROUTES, limits(TWO)], [*BASE, *ROUTES])
    assert code == 0
    assert "    ~ all requests are served again\n" in text
