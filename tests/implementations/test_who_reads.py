"""A policy has effect only where the controller of the Gateway reads its kind, and every reader says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.trace import Tracer, request
from tests import worlds
from tests.diff.history import commit, run

CONTROLLERS = {
    "envoy": "gateway.envoyproxy.io/gatewayclass-controller",
    "istio": "istio.io/gateway-controller",
    "nginx": "gateway.nginx.org/nginx-gateway-controller",
    "cilium": "io.cilium/gateway-controller",
    "kgateway": "kgateway.dev/kgateway",
    "unheard-of": "example.net/controller",
}
JWT = "jwt: {providers: [{name: id, issuer: https://id, remoteJWKS: {uri: https://id/jwks}}]}"
KEY = "rules: {authentication: {key: {apiKey: {selector: {matchLabels: {app: shop}}}}}}"
POLICIES = {
    "SecurityPolicy": ("gateway.envoyproxy.io/v1alpha1", JWT),
    "AuthPolicy": ("kuadrant.io/v1", KEY),
    "ClientSettingsPolicy": ("gateway.nginx.org/v1alpha1", "body: {maxSize: 1m}"),
    "TrafficPolicy": ("gateway.kgateway.dev/v1alpha1", "cors: {allowOrigins: [https://a]}"),
}
READS = {
    "SecurityPolicy": {"envoy"},
    "AuthPolicy": {"envoy", "istio"},
    "ClientSettingsPolicy": {"nginx"},
    "TrafficPolicy": {"kgateway"},
}
SHOP = worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")


def way_in(*names: str) -> str:
    gateways = (worlds.gateway(name, of_class=name) for name in names)
    return "---".join((*(worlds.gateway_class(name, CONTROLLERS[name]) for name in names), *gateways))


def shop(*names: str) -> str:
    parents = ", ".join(f"{{name: {name}, namespace: infra}}" for name in names)
    more = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
    return "---".join((way_in(*names), worlds.route(parents=f"[{parents}]", more=more), worlds.service()))


def policy(kind: str, target: str = "HTTPRoute/checkout", namespace: str = "shop") -> str:
    api_version, spec = POLICIES[kind]
    return worlds.policy(api_version, kind, "own", target, spec, namespace, field=field(kind))


def field(kind: str) -> str:
    return "targetRef" if kind in ("AuthPolicy", "ClientSettingsPolicy") else "targetRefs"


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("served_by", CONTROLLERS)
@pytest.mark.parametrize("level", ["Gateway", "HTTPRoute"])
def test_a_policy_acts_where_its_controller_serves(kind: str, served_by: str, level: str) -> None:
    own = policy(kind) if level == "HTTPRoute" else policy(kind, f"Gateway/{served_by}", "infra")
    simulation = worlds.simulated(shop(served_by), own)
    acts = served_by in READS[kind] or served_by == "unheard-of"
    assert bool(simulation.groups) is acts
    assert worlds.verdicts(simulation) == {"own": "Enforced" if acts else "NoEffect"}
    assert bool(simulation.acting.affected()) is acts
    (traced,) = [Tracer(simulation).trace(request({"host": "shop.example", "path": "/"}))]
    assert bool(traced.policies) is acts


def test_one_way_is_protected_and_the_other_open(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("---".join((shop("envoy", "istio"), policy("SecurityPolicy"))))
    (finding,) = [finding for finding in policylint.lint(tmp_path).findings if finding.rule == "GWP108"]
    assert finding.severity == "warning"
    assert "Gateway infra/istio" in finding.message
    traced = {
        way: run(tmp_path, "trace", "--gateway", way, "GET", "http://shop.example/")[1] for way in ("envoy", "istio")
    }
    assert "jwt required" in traced["envoy"]
    assert "jwt" not in traced["istio"]
    (group,) = worlds.opened(tmp_path, shop("envoy", "istio"), policy("SecurityPolicy")).groups
    assert {str(path[1]) for path in group.contexts()} == {"Gateway infra/envoy"}
    explained = run(tmp_path, "explain", "HTTPRoute/shop/checkout")[1]
    assert "Gateway infra/istio" in explained


def test_a_policy_that_nobody_reads_is_explained(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("---".join((shop("cilium"), policy("SecurityPolicy"))))
    assert "do not read it" in run(tmp_path, "explain", "SecurityPolicy/shop/own")[1]
    assert "no policy acts on it" in run(tmp_path, "explain", "HTTPRoute/shop/checkout")[1]
    rules = [(finding.rule, finding.severity) for finding in policylint.lint(tmp_path).findings]
    assert rules == [("GWP108", "error")]


def test_a_gateway_that_changes_its_controller_loses_the_login(tmp_path: Path) -> None:
    both = (
        f"{worlds.gateway_class('envoy', CONTROLLERS['envoy'])}---{worlds.gateway_class('istio', CONTROLLERS['istio'])}"
    )
    rest = "---".join((both, SHOP, worlds.service(), policy("SecurityPolicy")))
    commit(tmp_path, {"rest.yaml": rest, "gateway.yaml": worlds.gateway(of_class="envoy")})
    commit(tmp_path, {"gateway.yaml": worlds.gateway(of_class="istio")})
    code, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD")
    assert code == 1
    assert "GWP302" in out
