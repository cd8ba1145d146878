"""Filters that name objects: some answer by themselves, and one that is missing is never skipped.

Predicted from HTTPRouteFilter.ExtensionRef of Gateway API, api/v1alpha1/httproutefilter_types.go of Envoy Gateway and
the directresponse plugin of kgateway.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.simulation import Simulation
from policylint.trace import Outcome, Tracer, request
from tests import worlds

CONTROLLERS = {
    "envoy-gateway": "gateway.envoyproxy.io/gatewayclass-controller",
    "kgateway": "kgateway.dev/kgateway",
    "nginx": "gateway.nginx.org/nginx-gateway-controller",
}
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
DIRECT = "{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: DirectResponse, name: answer}}"
FILTER = "{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: answer}}"
BASIC = "{type: Basic, basic: {realm: r, secretRef: {name: users}}}"
LOGIN = "{type: ExtensionRef, extensionRef: {group: gateway.nginx.org, kind: AuthenticationFilter, name: login}}"
REDIRECT = "{type: RequestRedirect, requestRedirect: {hostname: other.example}}"


def world(controller: str, rule: str, *more: str) -> tuple[str, ...]:
    return (
        worlds.gateway_class("edge", CONTROLLERS[controller]),
        worlds.gateway(of_class="edge"),
        worlds.route(more=f"rules: [{{{rule}}}]"),
        worlds.service(),
        *more,
    )


def direct(status: int, name: str = "answer") -> str:
    return worlds.manifest(
        "gateway.kgateway.dev/v1alpha1", "DirectResponse", name, "shop", f"spec: {{status: {status}}}"
    )


def filtering(spec: str) -> str:
    return worlds.manifest("gateway.envoyproxy.io/v1alpha1", "HTTPRouteFilter", "answer", "shop", f"spec: {{{spec}}}")


def ended(simulation: Simulation) -> Outcome:
    return Tracer(simulation).trace(request({"host": "shop.example"})).outcome


ANSWERS = {
    "Envoy Gateway, a status": (
        world("envoy-gateway", f"filters: [{FILTER}]", filtering("directResponse: {statusCode: 503}")),
        503,
    ),
    "Envoy Gateway, without a status": (
        world("envoy-gateway", f"filters: [{FILTER}]", filtering("directResponse: {body: {type: Inline, inline: x}}")),
        200,
    ),
    "Envoy Gateway, before the backends": (
        world("envoy-gateway", f"filters: [{FILTER}], {BACKENDS}", filtering("directResponse: {statusCode: 451}")),
        451,
    ),
    "Envoy Gateway, a filter of another sort": (
        world(
            "envoy-gateway", f"filters: [{FILTER}], {BACKENDS}", filtering("urlRewrite: {hostname: {type: Backend}}")
        ),
        None,
    ),
    "Envoy Gateway, missing": (world("envoy-gateway", f"filters: [{FILTER}], {BACKENDS}"), 500),
    "kgateway, a status": (world("kgateway", f"filters: [{DIRECT}]", direct(403)), 403),
    "kgateway, beside backends": (world("kgateway", f"filters: [{DIRECT}], {BACKENDS}", direct(403)), 500),
    "kgateway, beside a redirect": (world("kgateway", f"filters: [{REDIRECT}, {DIRECT}]", direct(403)), 500),
    "kgateway, missing": (world("kgateway", f"filters: [{DIRECT}]"), 500),
    "NGINX Gateway Fabric, missing": (world("nginx", f"filters: [{LOGIN}], {BACKENDS}"), 500),
}


@pytest.mark.parametrize(("manifests", "status"), ANSWERS.values(), ids=list(ANSWERS))
def test_what_a_filter_answers(manifests: tuple[str, ...], status: int | None) -> None:
    outcome = ended(worlds.simulated(*manifests))
    assert outcome.status == status
    assert bool(outcome.backends) == (status is None)


def test_a_filter_of_a_backend_that_is_missing_fails_its_share() -> None:
    backends = (
        f"backendRefs: [{{name: checkout, port: 80, filters: [{LOGIN}]}}, {{name: checkout, port: 80, weight: 3}}]"
    )
    assert ended(worlds.simulated(*world("nginx", backends))).failing == 0.25


@pytest.mark.parametrize(
    ("deployed", "said"),
    [
        ("login", []),
        ("other", [("error", "certain", "names missing AuthenticationFilter shop/login")]),
        ("", [("note", "unknown", "names AuthenticationFilter shop/login, which is not among these manifests")]),
    ],
)
def test_a_filter_is_there_or_missing_or_elsewhere(
    deployed: str, said: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    login = worlds.manifest("gateway.nginx.org/v1alpha1", "AuthenticationFilter", deployed, "shop", f"spec: {BASIC}")
    manifests = world("nginx", f"filters: [{LOGIN}], {BACKENDS}", *([login] if deployed else []))
    (tmp_path / "world.yaml").write_text("---".join(manifests))
    found = [finding for finding in policylint.lint(tmp_path).findings if finding.rule == "GWP406"]
    subject = "HTTPRoute shop/checkout has a filter that "
    assert [(each.severity, each.confidence, each.message.removeprefix(subject)) for each in found] == said
