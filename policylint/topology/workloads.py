"""Match Services to the workloads whose Pods they select: how a workload is reached (Service spec.selector)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from policylint.model import GATEWAY_GROUP, Resource, World, integer, mapping, sequence, text
from policylint.model.kinds import MACHINE, SERVER
from policylint.model.kinds import WORKLOADS as WORKLOADS
from policylint.model.selectors import Labelled, matches

Labels = tuple[tuple[str, str], ...]
"""Labels of pods by which some of those behind a Service are meant; () for all of them."""
_HASH = "pod-template-hash"
_OF_PEOPLE = ("app.kubernetes.io", "helm.sh")
"""Prefixes of labels that people write."""


def is_workload(group: str, kind: str) -> bool:
    """Return whether objects of a kind run Pods."""
    return (group, kind) in WORKLOADS


def pod_template(workload: Resource) -> Mapping[str, Any]:
    """Return the pod template of a workload, with `metadata` and `spec`; a Pod is its own."""
    if workload.key.kind == "Pod":
        return workload.body
    spec = workload.spec
    if workload.key.kind == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    return mapping(spec.get("template"))


def pod_spec(workload: Resource) -> Mapping[str, Any]:
    """Return the spec of a workload's Pods."""
    return mapping(pod_template(workload).get("spec"))


def service_account(workload: Resource) -> str:
    """Return the name of the ServiceAccount that a workload's Pods have."""
    spec = pod_spec(workload)
    return text(spec.get("serviceAccountName")) or text(spec.get("serviceAccount")) or "default"


def servers_selecting(world: World, workload: Resource) -> list[Resource]:
    """Return the Servers (ports of pods) that select a workload's Pods, sorted."""
    labels = pod_labels(workload)
    servers = world.in_namespace(*SERVER, workload.key.namespace)
    selectors = ((server, server.spec.get("podSelector")) for server in servers)
    return [server for server, selector in selectors if isinstance(selector, dict) and matches(selector, labels)]


def workloads_at(world: World, server: Resource) -> tuple[Resource, ...]:
    """Return the workloads whose Pods a Server selects."""
    selector = server.spec.get("podSelector")
    return by_pod_labels(world, server.key.namespace).matching(selector) if isinstance(selector, dict) else ()


def server_routes(world: World, server: Resource) -> list[Resource]:
    """Return the HTTPRoutes whose parent is a Server, sorted."""
    kinds = ((SERVER[0], "HTTPRoute"), (GATEWAY_GROUP, "HTTPRoute"))
    routes = (route for kind in kinds for route in world.in_namespace(*kind, server.key.namespace))
    wanted = ("Server", server.key.name)

    def parents(route: Resource) -> Iterator[tuple[Any, Any]]:
        return ((each.get("kind"), each.get("name")) for each in map(mapping, sequence(route.spec.get("parentRefs"))))

    return [route for route in routes if wanted in parents(route)]


def pod_labels(workload: Resource) -> Mapping[str, Any]:
    """Return the labels of the Pods that a workload makes."""
    return mapping(mapping(pod_template(workload).get("metadata")).get("labels"))


def is_written_later(label: str, templates: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether pods may get a label that none of some templates shows when they start.

    Whoever owns a prefix may write it: a mesh those of what it injects, the scheduler where pods run.
    """
    prefix, slash, _ = label.partition("/")
    owned = bool(slash) and prefix not in _OF_PEOPLE
    return (owned or label == _HASH) and not any(label in labels for labels in templates)


def running(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the containers of a pod that go on running, sidecars (`restartPolicy: Always`) among them: their ports are
    those of the pod (kubernetes/kubernetes pkg/api/v1/pod/util.go, FindPort)."""
    containers = [*map(mapping, sequence(spec.get("containers")))]
    if begun := spec.get("initContainers"):
        containers += (each for each in map(mapping, sequence(begun)) if each.get("restartPolicy") == "Always")
    return containers


def container_ports(workload: Resource) -> list[tuple[str, str]] | None:
    """Return the named ports of the Pods that a workload makes, with their protocols; None without any container."""
    spec = mapping(pod_template(workload).get("spec"))
    ports = [mapping(port) for container in running(spec) for port in sequence(container.get("ports"))]
    named = [(text(port.get("name")), text(port.get("protocol"), "TCP")) for port in ports if text(port.get("name"))]
    return named if sequence(spec.get("containers")) else None


def container_port(workload: Resource, port: object) -> int | None:
    """Return the number of a port of a workload's Pods that is given by number or name, None where none has it."""
    if (number := integer(port)) is not None:
        return number
    of_pod = [mapping(entry) for container in running(pod_spec(workload)) for entry in sequence(container.get("ports"))]
    return next((integer(entry.get("containerPort")) for entry in of_pod if entry.get("name") == port), None)


def services_selecting(world: World, workload: Resource) -> list[Resource]:
    """Return the Services that select a workload's Pods, the one with the most demanding selector first."""
    labels = pod_labels(workload)
    services = [each for each in world.in_namespace("", "Service", workload.key.namespace) if _selects(each, labels)]
    services.sort(key=lambda service: (service.key.name != workload.key.name, service.key))
    return sorted(services, key=lambda service: len(mapping(service.spec.get("selector"))), reverse=True)


def by_pod_labels(world: World, namespace: str) -> Labelled[Resource]:
    """Return the workloads of a namespace, to be selected by the labels of their Pods."""
    return world.once(_by_pod_labels)(namespace)


def _by_pod_labels(world: World) -> Callable[[str], Labelled[Resource]]:
    return cache(lambda name: Labelled((one for of in WORKLOADS for one in world.in_namespace(*of, name)), pod_labels))


def workloads_selected(world: World, service: Resource) -> list[Resource]:
    """Return the workloads whose Pods a Service selects."""
    selector = mapping(service.spec.get("selector"))
    return [*by_pod_labels(world, service.key.namespace).matching({"matchLabels": selector})] if selector else []


def servers_behind(world: World, service: Resource) -> list[Resource]:
    """Return what answers at a Service: the workloads whose Pods it selects, and the WorkloadEntries with its labels.

    Source: istio.io/docs/reference/config/networking/workload-entry; PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES is on.
    """
    machines = world.in_namespace(*MACHINE, service.key.namespace)
    selected = [machine for machine in machines if _selects(service, machine_labels(machine))]
    return [*workloads_selected(world, service), *selected]


def machine_labels(machine: Resource) -> Mapping[str, Any]:
    """Return the labels of a WorkloadEntry, its own before those of its spec."""
    return {**mapping(machine.spec.get("labels")), **machine.labels}


def is_meant(workload: Resource, labels: Labels) -> bool:
    """Return whether the pods of a workload, or a machine, have all of some labels."""
    own = labels_at(workload)
    return all(own.get(name) == value for name, value in labels)


def labels_at(workload: Resource) -> Mapping[str, Any]:
    """Return the labels of the pods of a workload, or of a machine."""
    return machine_labels(workload) if workload.key[:2] == MACHINE else pod_labels(workload)


def _selects(service: Resource, labels: Mapping[str, Any]) -> bool:
    selector = mapping(service.spec.get("selector"))
    return bool(selector) and all(labels.get(name) == value for name, value in selector.items())
