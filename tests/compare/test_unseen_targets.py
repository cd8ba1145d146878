"""GWP304 for policies whose targets a chart makes that is not rendered: what is asked of these no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from policylint.model import Finding
from tests.worlds import opened

RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: grafana, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: more, sourceRef: {kind: HelmRepository, name: charts}}}}
"""
CLASS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""
LOGIN = "extAuth: {http: {backendRefs: [{name: authz, port: 80}]}}"
LISTED = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"


def policy(spec: str, target: str = "grafana-web", name: str = "login", kind: str = "SecurityPolicy") -> str:
    group, version = {
        "SecurityPolicy": ("gateway.envoyproxy.io", "v1alpha1"),
        "TrafficPolicy": ("gateway.kgateway.dev", "v1alpha1"),
        "AuthPolicy": ("kuadrant.io", "v1"),
    }[kind]
    one = f"{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {target}}}"
    targets = f"targetRef: {one}" if kind == "AuthPolicy" else f"targetRefs: [{one}]"
    return f"""
apiVersion: {group}/{version}
kind: {kind}
metadata: {{name: {name}, namespace: shop}}
spec:
  {targets}
  {spec}
"""


def found(tmp_path: Path, before: list[str], after: list[str]) -> list[Finding]:
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        simulations.append(opened(tmp_path / side, CLASS, *manifests))
    pairs = pair_sides(simulations[:1], simulations[1:])
    told = removed_protections(pairs, compare(pairs))
    return [each for each in told if "grafana-web" in str(each.resources[0])]


GONE = "HTTPRoute shop/grafana-web has no authentication in effect any more"


@pytest.mark.parametrize(
    ("before", "after", "severity", "said"),
    [
        ([policy(LOGIN)], [], "error", GONE),
        ([policy(LOGIN)], [policy(LOGIN, "grafana-wbe")], "error", GONE),
        ([policy(LOGIN)], [policy("cors: {allowOrigins: ['https://a.example']}")], "error", GONE),
        ([policy(f"{LOGIN}\n  {LISTED}")], [policy(LOGIN)], "error", "has no authorization in effect any more"),
        (
            [policy(LOGIN)],
            [policy(LOGIN.replace("extAuth: {", "extAuth: {failOpen: true, "))],
            "warning",
            "extAuth.failOpen of SecurityPolicy shop/login goes from false to true",
        ),
        (
            [policy(LISTED)],
            [policy(LISTED.replace("10.0.0.0/8", "10.0.0.0/8, 0.0.0.0/0"))],
            "warning",
            "clientCIDRs of SecurityPolicy shop/login",
        ),
        ([policy("extAuth: {extensionRef: {name: a}}", kind="TrafficPolicy")], [], "error", GONE),
        (
            [policy("defaults: {rules: {authentication: {a: {apiKey: {selector: {}}}}}}", kind="AuthPolicy")],
            [],
            "error",
            GONE,
        ),
    ],
)
def test_what_goes_is_a_loss_as_far_as_seen(
    tmp_path: Path, before: list[str], after: list[str], severity: str, said: str
) -> None:
    (finding,) = found(tmp_path, [RELEASE, *before], [RELEASE, *after])
    assert said in finding.message
    assert (finding.severity, finding.confidence) == (severity, "assumed")
    assert "HelmRelease shop/grafana" in finding.ground


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Another policy asks now, or asked and still does; the same one under another name, or written otherwise.
        ([RELEASE, policy(LOGIN)], [RELEASE, policy(LOGIN, name="other")]),
        ([RELEASE, policy(LOGIN), policy(LOGIN, name="other")], [RELEASE, policy(LOGIN, name="other")]),
        ([RELEASE, policy(LOGIN)], [RELEASE, policy(f"{LOGIN}\n  {LISTED}")]),
        # What makes the target goes, or changes, in the same change.
        ([RELEASE, policy(LOGIN)], []),
        ([RELEASE, policy(LOGIN)], [RELEASE.replace("1h", "2h")]),
        # Nothing here is named like what would make it: the policy aimed at nothing, most likely.
        ([RELEASE.replace("grafana", "plex"), policy(LOGIN)], [RELEASE.replace("grafana", "plex")]),
        # It asked for nothing.
        ([RELEASE, policy("cors: {allowOrigins: ['https://a.example']}")], [RELEASE]),
    ],
)
def test_silent_where_something_asks_or_nothing_is_there(tmp_path: Path, before: list[str], after: list[str]) -> None:
    assert found(tmp_path, before, after) == []
