"""What many ask of an environment is worked out once, or only where anything hangs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.checks import policy_without_controller
from policylint.model import Node, ResourceKey
from policylint.simulation import Simulation
from policylint.simulation.acting import ActingIndex
from policylint.workspace import open_workspace
from tests.checks.linting import GATEWAY, SERVICE, policy, route

IN_A_MESH = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}\n"


def environment(tmp_path: Path, *documents: str) -> Simulation:
    file = tmp_path / "world.yaml"
    file.write_text("---\n".join(documents), encoding="utf-8")
    return open_workspace([str(file)]).simulations[0]


@pytest.mark.parametrize("protocol", ["HTTP", "HTTPS"])  # of a listener for TLS without any
def test_what_stands_before_backends_is_asked_where_a_gateway_is_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    gateway = GATEWAY.replace("protocol: HTTP", f"protocol: {protocol}").replace("envoy", "istio")
    simulation = environment(tmp_path, IN_A_MESH, gateway, route(), SERVICE)
    assert simulation.meshes.all
    asked: list[ResourceKey] = []
    beyond = ActingIndex.beyond

    def counted(self: ActingIndex, key: ResourceKey, *about: Any, **named: Any) -> tuple[Node, ...]:
        asked.append(key)
        return beyond(self, key, *about, **named)

    monkeypatch.setattr(ActingIndex, "beyond", counted)
    shut = {node.key.kind for node in simulation.acting.closed.nodes}
    assert (shut, bool(asked)) == (({"Gateway", "GatewayClass"}, True) if protocol == "HTTPS" else (set(), False))


def test_what_a_target_is_reached_through_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    login = policy("SecurityPolicy", "login", "kind: HTTPRoute, name: checkout", "basicAuth: {users: {name: users}}")
    simulation = environment(tmp_path, GATEWAY, route(), SERVICE, login)
    asked: list[Node] = []
    serving = policy_without_controller.serving
    monkeypatch.setattr(
        policy_without_controller, "serving", lambda topology, node: asked.append(node) or serving(topology, node)
    )
    assert not list(policy_without_controller.check(simulation))
    assert [str(node) for node in asked] == ["HTTPRoute shop/checkout"]
