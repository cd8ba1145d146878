"""GWP325 for routes that lead past a proxy which asked for a login."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import pair_sides
from policylint.compare.bypassed import logins_bypassed
from tests import worlds
from tests.worlds import ENVOY_EDGE, manifest, opened, policy, service

EDGE = (
    ENVOY_EDGE,
    service("front", more="selector: {app: front}"),
    manifest(
        "apps/v1",
        "Deployment",
        "front",
        "shop",
        "spec: {selector: {matchLabels: {app: front}}, template: {metadata: {labels: {app: front}}, spec: {"
        "containers: [{name: c, image: 'quay.io/oauth2-proxy/oauth2-proxy:v7.6.0'}]}}}",
    ),
)
LOGIN = policy(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "login",
    "HTTPRoute/shop",
    "jwt: {providers: [{name: a, remoteJWKS: {uri: https://id.example/jwks}}]}",
    "shop",
)


def route(*backends: str) -> str:
    rules = ", ".join(
        f"{{matches: [{{path: {{value: /{number}}}}}], backendRefs: [{{name: {name}, port: 80}}]}}"
        for number, name in enumerate(backends)
    )
    return worlds.route("shop", parents="[{name: edge}]", more=f"rules: [{rules}]")


def said(tmp_path: Path, before: list[str], after: list[str]) -> list[str]:
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        simulations.append(opened(tmp_path / side, *EDGE, *manifests))
    (pair,) = pair_sides(simulations[:1], simulations[1:])
    return [f"{each.severity} {each.confidence} {each.message}" for each in logins_bypassed(pair)]


@pytest.mark.parametrize("proxy", ["oauth2-proxy", "ak-outpost-shop", "team-oauth2-proxy", "front"])
@pytest.mark.parametrize("after", [["shop"], ["PROXY", "shop"]], ids=["all", "some"])
def test_what_no_proxy_asks_any_longer(tmp_path: Path, proxy: str, after: list[str]) -> None:
    """By its own name, or by the image of its pods; for all requests, or for those of a new rule."""
    led = [route(*(each.replace("PROXY", proxy) for each in after))]
    past = f"leads past Service shop/{proxy}, which asked for a login, to Service shop/shop"
    assert said(tmp_path, [route(proxy)], led) == [f"error assumed HTTPRoute shop/shop {past}"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([route("oauth2-proxy")], [route("front")]),  # another one asks
        ([route("oauth2-proxy")], [route("shop"), LOGIN]),  # a policy asks
        ([route("oauth2-proxy", "shop")], [route("shop")]),  # some led past it before
        ([route("shop")], [route("oauth2-proxy")]),
        ([route("oauth2-proxyfoo")], [route("shop")]),
        ([route("oauth2-proxy")], []),
    ],
)
def test_silent_where_something_asks_or_nothing_asked(tmp_path: Path, before: list[str], after: list[str]) -> None:
    assert said(tmp_path, before, after) == []
