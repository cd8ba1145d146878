"""Settings that only HTTP has do nothing where a route passes connections on: they neither count there nor are lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from tests.worlds import gateway, gateway_class, manifest, opened, route, service

LISTENERS = "[{name: tcp, port: 5432, protocol: TCP}, {name: http, port: 80, protocol: HTTP}]"
TO_EDGE = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
TO_STREAM = "targetRefs: [{group: gateway.networking.k8s.io, kind: TCPRoute, name: db}]"
CIDRS = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
JWT = "jwt: {providers: [{name: id, remoteJWKS: {uri: 'https://id/keys'}}]}"
CORS = "cors: {allowOrigins: ['https://a.dev']}"
USERS = 'users: ["a:{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc="]'
EG = "gateway.envoyproxy.io/gatewayclass-controller"
KGATEWAY, AGENTGATEWAY = "kgateway.dev/kgateway", "agentgateway.dev/agentgateway"


def on_edge(controller: str, settings: str, name: str = "edge", to: str = TO_EDGE) -> str:
    version, kind = {
        EG: ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy"),
        KGATEWAY: ("gateway.kgateway.dev/v1alpha1", "TrafficPolicy"),
        AGENTGATEWAY: ("agentgateway.dev/v1alpha1", "AgentgatewayPolicy"),
    }[controller]
    return manifest(version, kind, name, "infra", f"spec: {{{to}, {settings}}}")


def world(controller: str, *policies: str) -> tuple[str, ...]:
    backend = "rules: [{backendRefs: [{name: web, port: 80}]}]"
    return (
        gateway_class("any", controller),
        gateway(listeners=LISTENERS),
        route("db", "infra", "[{name: edge, sectionName: tcp}]", "TCPRoute", backend),
        route("web", "infra", "[{name: edge, sectionName: http}]", more=backend),
        service("web", "infra"),
        *policies,
    )


@pytest.mark.parametrize(
    ("controller", "settings", "of_http", "of_connections"),
    [
        (EG, JWT, {"jwt"}, None),
        (
            EG,
            f"{JWT}, cors: {{allowOrigins: ['https://a.dev']}}, {CIDRS}",
            {"jwt", "cors", "authorization"},
            "authorization",
        ),
        (KGATEWAY, f"basicAuth: {{{USERS}}}", {"basicAuth"}, None),
        (AGENTGATEWAY, f"traffic: {{basicAuthentication: {{{USERS}}}}}", {"traffic"}, None),
    ],
)
def test_a_gateways_login(
    tmp_path: Path, controller: str, settings: str, of_http: set[str], of_connections: str | None
) -> None:
    manifests = world(controller, on_edge(controller, settings))
    simulation = opened(tmp_path, *manifests)
    found = {node.key.kind: set(group.effective.spec) for group in simulation.groups for node in group.nodes}
    assert found["HTTPRoute"] == of_http
    assert found.get("TCPRoute") == ({of_connections} if of_connections else None)
    assert {state.verdict for state in simulation.policies.values()} == {"Enforced"}
    world_file = str(tmp_path / "world.yaml")
    asked = CliRunner().invoke(main, ["reach", world_file, "--without", "authentication"]).stdout
    assert "1 of 2 ways to a backend lacks authentication" in asked
    assert "required" not in CliRunner().invoke(main, ["trace", "GET", "tcp://x:5432", world_file]).stdout


def test_what_a_policy_of_a_tcp_route_replaces(tmp_path: Path) -> None:
    """The allow-list is lost, the token is not: no connection was ever asked for one."""
    own = CIDRS.replace("10.0.0.0/8", "192.0.2.0/24")
    manifests = world(EG, on_edge(EG, f"{JWT}, {CIDRS}"), on_edge(EG, own, "own", TO_STREAM))
    simulation = opened(tmp_path, *manifests)
    (group,) = (group for group in simulation.groups if any(node.key.kind == "TCPRoute" for node in group.nodes))
    assert {lost.pointer[0] for lost in group.effective.lost} == {"authorization"}
    edge = next(state for state in simulation.policies.values() if state.key.name == "edge")
    assert edge.verdict == "PartiallyEnforced"
