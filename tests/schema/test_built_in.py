# ruff: noqa: E501 - worlds on one line each
"""What every API server refuses of kinds of Kubernetes itself: findings, and no part in anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.topology.workloads import services_selecting, workloads_selected
from tests.worlds import gateway, gateway_class, manifest, opened, route, service, simulated

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


def pods(*containers: str, volumes: str = "[]") -> str:
    spec = f"{{containers: [{', '.join(containers)}], volumes: {volumes}}}"
    template = f"{{metadata: {{labels: {{app: a}}}}, spec: {spec}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: a}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", "checkout", "shop", body)


def ingress(path: str, backend: str = "service: {name: checkout, port: {number: 80}}") -> str:
    paths = f"[{{{path}, backend: {{{backend}}}}}]"
    body = f"spec: {{rules: [{{host: a.example.com, http: {{paths: {paths}}}}}]}}"
    return manifest("networking.k8s.io/v1", "Ingress", "web", "shop", body)


def of_class(parameters: str) -> str:
    body = f"spec: {{controller: example.net/c, parameters: {{kind: P, name: p, {parameters}}}}}"
    return manifest("networking.k8s.io/v1", "IngressClass", "c", body=body)


SHAPES = [
    (service(ports="[{port: 80}, {port: 81, name: b}]"), ("spec", "ports", 0)),
    (service(ports="[{port: 80, name: b}, {port: 81, name: b}]"), ("spec", "ports", 1, "name")),
    (service(ports="[{port: 80, name: a}, {port: 80, name: b}]"), ("spec", "ports", 1, "port")),
    (service(ports="[{port: 53, name: a}, {port: 53, name: b, protocol: UDP}]"), None),
    (service(ports="[{port: 80, nodePort: 30080}]"), ("spec", "ports", 0, "nodePort")),
    (service(ports="[{port: 80, nodePort: 30080}]", more="type: NodePort"), None),
    (service(ports="[{port: 80, nodePort: 30080}]", more="type: '${TYPE}'"), None),
    (service(ports="[]", more="type: ExternalName"), ("spec", "type")),
    (ingress("path: shop, pathType: Prefix"), ("spec", "rules", 0, "http", "paths", 0, "path")),
    (ingress("path: shop, pathType: ImplementationSpecific"), ("spec", "rules", 0, "http", "paths", 0, "path")),
    (ingress("pathType: ImplementationSpecific"), None),
    (ingress("path: '${BASE}', pathType: Prefix"), None),
    (ingress("path: /shop"), ("spec", "rules", 0, "http", "paths", 0)),
    (ingress("path: /, pathType: Exact", ""), ("spec", "rules", 0, "http", "paths", 0, "backend")),
    (ingress("path: /, pathType: Exact", "service: {name: a}"), ("spec", "rules", 0, "http", "paths", 0, "backend", "service")),
    (ingress("path: /, pathType: Exact", "resource: {kind: Bucket, name: a}"), None),
    (of_class("scope: Namespace"), ("spec", "parameters")),
    (of_class("scope: Namespace, namespace: shop"), None),
    (of_class("scope: Cluster, namespace: shop"), ("spec", "parameters", "namespace")),
    (pods("{name: a, image: a}", "{name: a, image: b}"), ("spec", "template", "spec", "containers", 1, "name")),
    (pods("{name: a, image: a, ports: [{name: metrics-and-more, containerPort: 1}]}"), ("spec", "template", "spec", "containers", 0, "ports", 0, "name")),
    (pods("{name: a, image: a, ports: [{name: b, containerPort: 1}, {name: b, containerPort: 2}]}"), ("spec", "template", "spec", "containers", 0, "ports", 1, "name")),
    (pods("{name: a, image: a, ports: [{name: b, containerPort: 1}]}", "{name: c, image: a, ports: [{name: b, containerPort: 1}]}"), None),
    (pods("{name: a, image: a}", volumes="[{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]"), ("spec", "template", "spec", "volumes", 1, "name")),
    (service(more="type: Nodeport"), ("spec", "type")),
    (service(more="type: ''"), None),
    (service(more="externalTrafficPolicy: local, type: LoadBalancer"), ("spec", "externalTrafficPolicy")),
    (service(more="externalTrafficPolicy: Local, type: LoadBalancer"), None),
    (service(more="externalTrafficPolicy: Local"), ("spec", "externalTrafficPolicy")),
    (service(more="externalTrafficPolicy: Local, externalIPs: [192.0.2.1]"), None),
    (service(more="externalTrafficPolicy: Local, type: '${TYPE}'"), None),
    (service(more="sessionAffinity: Cookie"), ("spec", "sessionAffinity")),
    (service(more="ipFamilyPolicy: Dual"), ("spec", "ipFamilyPolicy")),
    (service(more="internalTrafficPolicy: Node"), ("spec", "internalTrafficPolicy")),
    (service(more="clusterIP: None, type: LoadBalancer"), ("spec", "clusterIP")),
    (service(more="clusterIP: None, type: NodePort"), ("spec", "clusterIP")),
    (service(more="clusterIP: None"), None),
    (service(ports="[{port: 80, protocol: HTTP}]"), ("spec", "ports", 0, "protocol")),
    (service(ports="[{port: 80, protocol: SCTP}]"), None),
    (service(ports="[{port: 80, protocol: '${PROTOCOL}'}]"), None),
    (service(ports="[{port: 80, nodePort: 70000}]", more="type: NodePort"), ("spec", "ports", 0, "nodePort")),
    (service(ports="[{port: 80, targetPort: 70000}]"), ("spec", "ports", 0, "targetPort")),
    (service(ports="[{port: 80, targetPort: http_main}]"), ("spec", "ports", 0, "targetPort")),
    (service(ports="[{port: 80, targetPort: HTTP}]"), ("spec", "ports", 0, "targetPort")),
    (service(ports="[{port: PORT, targetPort: PORT}]"), None),  # to be replaced
    (service(ports="[{port: NODE_PORT, targetPort: web}]"), None),
    (service(ports="[{port: 80, targetPort: '8080'}]"), ("spec", "ports", 0, "targetPort")),
    (service(ports="[{port: 80, targetPort: metrics-and-more}]"), ("spec", "ports", 0, "targetPort")),
    (service(ports="[{port: 80, targetPort: web-8080}]"), None),
    (service(ports="[{port: 80, targetPort: '${PORT}'}]"), None),
    (ingress("path: /, pathType: prefix"), ("spec", "rules", 0, "http", "paths", 0, "pathType")),
    (ingress("path: /a//b, pathType: Prefix"), ("spec", "rules", 0, "http", "paths", 0, "path")),
    (ingress("path: /a/.., pathType: Exact"), ("spec", "rules", 0, "http", "paths", 0, "path")),
    (ingress("path: /a%2Fb, pathType: Prefix"), ("spec", "rules", 0, "http", "paths", 0, "path")),
    (ingress("path: /a..b/.c, pathType: Prefix"), None),
    (ingress("path: /a//b, pathType: ImplementationSpecific"), None),
    *(
        (ingress("path: /, pathType: Exact").replace("a.example.com", host), place and ("spec", "rules", 0, "host"))
        for host, place in [("'a.example.com:443'", True), ("10.0.0.1", True), ("A.example.com", True), ("'*'", True), ("'*.example.com'", None), ("'${HOST}'", None), ("a.DOMAIN", None)]
    ),
    (pods("{name: a, image: a, imagePullPolicy: Sometimes}"), ("spec", "template", "spec", "containers", 0, "imagePullPolicy")),
    (pods("{name: a, image: a, ports: [{containerPort: 70000}]}"), ("spec", "template", "spec", "containers", 0, "ports", 0, "containerPort")),
    (pods("{name: a, image: a, ports: [{containerPort: 80, hostPort: 0, protocol: UDP}]}"), None),
    (pods("{name: a, image: a, ports: [{containerPort: PORT}]}"), None),
    (pods("{name: a, image: a, ports: [{containerPort: eighty}]}"), ("spec", "template", "spec", "containers", 0, "ports", 0, "containerPort")),
    (pods("{name: a, image: a, ports: [{containerPort: 80, protocol: http}]}"), ("spec", "template", "spec", "containers", 0, "ports", 0, "protocol")),
    (pods("{name: a, image: a, livenessProbe: {httpGet: {port: 80}, tcpSocket: {port: 80}}}"), ("spec", "template", "spec", "containers", 0, "livenessProbe")),
    (pods("{name: a, image: a, readinessProbe: {httpGet: {port: 80}, tcpSocket: null}}"), None),
]  # fmt: skip


@pytest.mark.parametrize(("written", "place"), SHAPES, ids=[str(number) for number in range(len(SHAPES))])
def test_shapes_that_no_api_server_takes(written: str, place: tuple[str | int, ...] | None) -> None:
    found = list(run(simulated(CLASS, gateway(), written), select={"GWP501"}))
    assert [each.location.pointer for each in found] == ([] if place is None else [place])


def definition(*versions: str) -> str:
    keeping = "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}"
    listed = ", ".join(
        f"{{name: {name}, {served}{keeping}}}" for name, _, served in (each.partition(" ") for each in versions)
    )
    names = "names: {plural: securitypolicies, kind: SecurityPolicy}"
    spec = f"spec: {{group: gateway.envoyproxy.io, scope: Namespaced, {names}, versions: [{listed}]}}"
    return manifest(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", "securitypolicies.gateway.envoyproxy.io", body=spec
    )


@pytest.mark.parametrize(
    ("definitions", "takes"),
    [
        ([definition("v1alpha1 storage: true, ")], True),
        ([definition("v1 storage: true, ")], False),
        ([definition("v1alpha1 served: false, ", "v1 storage: true, ")], False),
        ([definition("v1alpha1 storage: true, ", "v1 storage: false, ")], True),
        ([definition("v1 storage: true, "), definition("v1alpha1 storage: true, ")], True),
        ([definition("'${VERSION}' storage: true, ")], True),
        ([definition()], True),
    ],
)
def test_a_version_that_the_crd_of_the_tree_does_not_have(definitions: list[str], takes: bool, tmp_path: Path) -> None:
    """Whether it is left out or not served, the API server takes no object of it, and it does not act."""
    spec = "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], cors: {allowOrigins: ['*']}}"
    written = manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "origins", "infra", spec)
    simulation = opened(tmp_path, CLASS, gateway(), *definitions, written)
    found = [each for each in run(simulation, select={"GWP501"}) if each.resources[0].kind == "SecurityPolicy"]
    assert [each.location.pointer for each in found] == ([] if takes else [("apiVersion",)])
    (state,) = simulation.policies.values()
    assert (state.verdict == "Invalid") != takes


@pytest.mark.parametrize(
    ("kind", "field", "expected"),
    [
        ("ConfigMap", "stringData", 0),
        ("ConfigMap", "data", 1),
        ("Secret", "stringData", 1),
        ("Secret", "binaryData", 0),
    ],
)
def test_texts_are_wanted_in_fields_that_there_are(kind: str, field: str, expected: int) -> None:
    """Of a field that a kind does not have nobody asks what it holds."""
    stored = manifest("v1", kind, "settings", "shop", f"{field}: {{ALLOW: true}}")
    assert len(list(run(simulated(CLASS, gateway(), stored), select={"GWP501", "GWP505"}))) == expected
