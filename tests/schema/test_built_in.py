"""What every API server refuses of kinds of Kubernetes itself: findings, and no part in anything."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.topology.workloads import services_selecting, workloads_selected
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

CLASS = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
ROUTE = route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
SERVICE = service(more="selector: {app: checkout}")


def workload(kind: str, selector: str, pods: str, more: str = "", group: str = "apps") -> str:
    template = f"{{metadata: {{labels: {{app: {pods}}}}}, spec: {{{more}containers: [{{name: a, image: a}}]}}}}"
    body = (
        f"selector: {{matchLabels: {{app: {selector}}}}}, template: {template}" if selector else f"template: {template}"
    )
    if kind == "CronJob":
        body = f"schedule: '@daily', jobTemplate: {{spec: {{{body}}}}}"
    return manifest(f"{group}/v1", kind, "checkout", "shop", f"spec: {{{body}}}")


@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"])
@pytest.mark.parametrize(("selector", "pods"), [("checkout", "checkout"), ("checkout", "other"), ("other", "checkout")])
def test_a_workload_selects_its_own_pods(kind: str, selector: str, pods: str) -> None:
    simulation = simulated(CLASS, gateway(), ROUTE, SERVICE, workload(kind, selector, pods))
    said = [each.message for each in run(simulation, select={"GWP501"})]
    is_right = selector == pods
    assert ["has a selector that does not fit" in each for each in said] == ([] if is_right else [True])
    accepted = simulation.topology.world
    (web,) = accepted.of_kind("", "Service")
    assert bool(workloads_selected(accepted, web)) == is_right


@pytest.mark.parametrize(
    ("kind", "group", "policy", "refused"),
    [
        ("Job", "batch", "", ""),
        ("Job", "batch", "restartPolicy: Always, ", "restarts its pods"),
        ("Job", "batch", "restartPolicy: Never, ", ""),
        ("CronJob", "batch", "restartPolicy: Always, ", "restarts its pods"),
        ("CronJob", "batch", "restartPolicy: OnFailure, ", ""),
        ("Deployment", "apps", "restartPolicy: Never, ", "restarts its pods"),
        ("Deployment", "apps", "restartPolicy: ${RESTART}, ", ""),
    ],
)
def test_who_restarts_pods(kind: str, group: str, policy: str, refused: str) -> None:
    written = workload(kind, "" if group == "batch" else "checkout", "checkout", policy, group)
    said = [each.message for each in run(simulated(CLASS, gateway(), ROUTE, SERVICE, written), select={"GWP501"})]
    assert [refused in each for each in said] == ([True] if refused else [])


@pytest.mark.parametrize(
    ("ports", "refused"),
    [("[{name: http}]", True), ("[{port: 0}]", True), ("[{port: 70000}]", True), ("[{port: 80}]", False)],
)
def test_ports_of_a_service_have_numbers(ports: str, refused: bool) -> None:
    simulation = simulated(
        CLASS, gateway(), ROUTE, service(ports=ports, more="selector: {app: a}"), workload("Deployment", "a", "a")
    )
    assert bool(list(run(simulation, select={"GWP501"}))) == refused
    (deployment,) = simulation.world.of_kind("apps", "Deployment")
    assert bool(services_selecting(simulation.topology.world, deployment)) != refused
