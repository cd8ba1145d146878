"""Istio's ambient mode under network policies: between two captured pods they see port 15008, whatever is asked for.

Source: istio.io, «Ambient and Kubernetes NetworkPolicy»; what is in no mesh connects to captured pods as to any other.
"""

from __future__ import annotations

import pytest

from policylint.compare import pair_sides
from policylint.compare.connections import connection_changes
from policylint.model import ResourceKey
from policylint.network.connections import connections
from policylint.simulation import Simulation
from tests import worlds
from tests.worlds import simulated

AMBIENT, OUT, NOTHING = "istio.io/dataplane-mode: ambient", "istio-injection: disabled", ""
ON_8080, TUNNEL, DNS = "{protocol: TCP, port: 8080}", "{protocol: TCP, port: 15008}", "{protocol: UDP, port: 53}"


def namespace(name: str, labels: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n"


def pods(name: str, namespace: str, labels: str = "") -> str:
    own = f"{{app: {name}, {labels}}}"
    spec = f"selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {own}}}, spec: {{}}}}"
    return worlds.manifest("apps/v1", "Deployment", name, namespace, f"spec: {{{spec}}}")


def network_policy(*ports: str, direction: str = "ingress", namespace: str = "shop") -> str:
    spec = f"podSelector: {{}}, policyTypes: [{direction.title()}], {direction}: [{{ports: [{', '.join(ports)}]}}]"
    return worlds.manifest("networking.k8s.io/v1", "NetworkPolicy", direction, namespace, f"spec: {{{spec}}}")


def world(caller: str, called: str, *policies: str, own: str = "") -> Simulation:
    ends = pods("caller", "calls"), pods("web", "shop", own)
    return simulated(namespace("calls", caller), namespace("shop", called), *ends, *policies)


def verdict(simulation: Simulation, protocol: str = "TCP", port: int = 8080) -> str:
    hops = simulation.hops
    numbers = hops.network.numbers
    return hops.to_pod(numbers["Deployment calls/caller"], numbers["Deployment shop/web"], protocol, port).verdict


def listed(simulation: Simulation) -> bool:
    """Whether the connection is among all that are certainly allowed."""
    network = simulation.network
    source, target = (1 << network.numbers[name] for name in ("Deployment calls/caller", "Deployment shop/web"))
    asked = network.universe.ports.at("TCP", 8080)
    rows = connections(network)
    return any(row.certain and row.sources & source and row.targets & target and row.ports & asked for row in rows)


@pytest.mark.parametrize(
    ("caller", "called", "policies", "expected"),
    [
        (AMBIENT, AMBIENT, (network_policy(ON_8080),), "denied"),
        (AMBIENT, AMBIENT, (network_policy(TUNNEL),), "allowed"),
        (
            AMBIENT,
            AMBIENT,
            (network_policy(TUNNEL), network_policy(ON_8080, direction="egress", namespace="calls")),
            "denied",
        ),
        (
            AMBIENT,
            AMBIENT,
            (network_policy(TUNNEL), network_policy(TUNNEL, direction="egress", namespace="calls")),
            "allowed",
        ),
        (OUT, AMBIENT, (network_policy(ON_8080),), "allowed"),
        (OUT, AMBIENT, (network_policy(TUNNEL),), "denied"),
        (AMBIENT, OUT, (network_policy(ON_8080),), "allowed"),
        (AMBIENT, OUT, (network_policy(TUNNEL),), "denied"),
        (NOTHING, AMBIENT, (network_policy(ON_8080),), "unknown"),
        (NOTHING, AMBIENT, (network_policy(ON_8080, TUNNEL),), "allowed"),
    ],
)
def test_policies_see_the_tunnel_where_both_ends_are_captured(
    caller: str, called: str, policies: tuple[str, ...], expected: str
) -> None:
    simulation = world(caller, called, *policies)
    assert verdict(simulation) == expected
    assert expected == "unknown" or listed(simulation) is (expected == "allowed")


def test_a_pod_may_stay_out_and_other_protocols_do() -> None:
    assert verdict(world(AMBIENT, AMBIENT, network_policy(TUNNEL), own="istio.io/dataplane-mode: none")) == "denied"
    assert verdict(world(AMBIENT, AMBIENT, network_policy(DNS)), "UDP", 53) == "allowed"


@pytest.mark.parametrize(("before", "after", "change"), [(OUT, AMBIENT, "closed"), (AMBIENT, OUT, "opened")])
def test_a_label_that_moves_pods_into_the_mesh_cuts_connections(before: str, after: str, change: str) -> None:
    was, now = (world(AMBIENT, label, network_policy(ON_8080)) for label in (before, after))
    (pair,) = pair_sides([was], [now])
    (found,) = connection_changes(pair)
    assert (found.change, found.because, found.sources, found.targets) == (
        change,
        "mesh",
        ("Deployment calls/caller",),
        ("Deployment shop/web",),
    )
    assert found.by == (ResourceKey("networking.k8s.io", "NetworkPolicy", "shop", "ingress"),)
