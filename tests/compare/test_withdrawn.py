"""GWP325 for ReferenceGrants that go while another one may be in what was not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import pair_sides
from policylint.compare.withdrawn import grants_withdrawn
from policylint.model import Finding
from tests.worlds import gateway, gateway_class, opened, policy, route, service

LISTENER = "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: edge, namespace: id}]}}"
EDGE = (
    gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway(namespace="shop", listeners=f"[{LISTENER}]", of_class="envoy"),
    route(
        "shop",
        parents="[{name: edge}]",
        more="rules: [{backendRefs: [{name: shop, namespace: id, port: 80}]}]",
    ),
    policy(
        "gateway.envoyproxy.io/v1alpha1",
        "SecurityPolicy",
        "login",
        "HTTPRoute/shop",
        "extAuth: {http: {backendRefs: [{name: authz, namespace: id, port: 80}]}}",
        "shop",
    ),
)
NOT_RENDERED = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: more, namespace: id}
spec: {chart: {spec: {chart: more, sourceRef: {kind: HelmRepository, name: charts}}}}
"""
SEEN = service("shop", "id")


def grant(group: str, kind: str, to: str, name: str = "a", namespace: str = "shop") -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {{name: {name}, namespace: id}}
spec: {{from: [{{group: {group}, kind: {kind}, namespace: {namespace}}}], to: [{{group: "", kind: {to}}}]}}
"""


POLICIES = ("gateway.envoyproxy.io", "SecurityPolicy", "Service")
ROUTES = ("gateway.networking.k8s.io", "HTTPRoute", "Service")
GATEWAYS = ("gateway.networking.k8s.io", "Gateway", "Secret")


def found(tmp_path: Path, before: list[str], after: list[str]) -> list[Finding]:
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        simulations.append(opened(tmp_path / side, *EDGE, *manifests))
    (pair,) = pair_sides(simulations[:1], simulations[1:])
    return list(grants_withdrawn(pair))


@pytest.mark.parametrize(
    ("permits", "said"),
    [
        (POLICIES, "lets SecurityPolicy shop/login name Service id/authz any longer"),
        (ROUTES, "lets HTTPRoute shop/shop name Service id/shop any longer"),
        (GATEWAYS, "lets Gateway shop/edge name Secret id/edge any longer"),
    ],
)
def test_what_it_let_be_named_is_said_where_another_one_may_be(
    tmp_path: Path, permits: tuple[str, str, str], said: str
) -> None:
    for after in ([], [grant(*permits, namespace="shopp")]):
        (finding,) = found(tmp_path, [grant(*permits), NOT_RENDERED], [*after, NOT_RENDERED])
        assert said in finding.message
        assert (finding.severity, finding.confidence) == ("warning", "assumed")
        assert "HelmRelease id/more" in finding.ground


@pytest.mark.parametrize("permits", [POLICIES, ROUTES, GATEWAYS])
def test_silent_where_nothing_is_lost_or_others_say_so(tmp_path: Path, permits: tuple[str, str, str]) -> None:
    there = grant(*permits)
    renamed = grant(*permits, name="b")
    assert found(tmp_path, [there, NOT_RENDERED], [renamed, NOT_RENDERED]) == []
    assert found(tmp_path, [there, there.replace("name: a", "name: b"), NOT_RENDERED], [renamed, NOT_RENDERED]) == []
    assert found(tmp_path, [NOT_RENDERED], [there, NOT_RENDERED]) == []
    assert found(tmp_path, [there, SEEN], [SEEN]) == []  # refused for certain: GWP111 and GWP405
