"""Which Services select the Pods of which workloads: how a workload is reached (Service spec.selector)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import Resource, World, mapping

WORKLOADS = (
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("", "Pod"),
    ("argoproj.io", "Rollout"),
)
"""Kinds (group, kind) that make Pods, and Pods themselves."""


def is_workload(group: str, kind: str) -> bool:
    """Whether objects of a kind run Pods."""
    return (group, kind) in WORKLOADS


def pod_labels(workload: Resource) -> Mapping[str, Any]:
    """The labels of the Pods that a workload makes."""
    if workload.key.kind == "Pod":
        return workload.labels
    spec = workload.spec
    if workload.key.kind == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    return mapping(mapping(mapping(spec.get("template")).get("metadata")).get("labels"))


def selecting(world: World, workload: Resource) -> list[Resource]:
    """The Services that select a workload's Pods, the one with the most demanding selector first."""
    labels = pod_labels(workload)
    found = [each for each in world.in_namespace("", "Service", workload.key.namespace) if _selects(each, labels)]
    return sorted(found, key=lambda each: (-len(_selector(each)), each.key.name != workload.key.name, each.key))


def selected(world: World, service: Resource) -> list[Resource]:
    """The workloads whose Pods a Service selects."""
    namespace = service.key.namespace
    return [
        workload
        for kind in WORKLOADS
        for workload in world.in_namespace(*kind, namespace)
        if _selects(service, pod_labels(workload))
    ]


def _selector(service: Resource) -> Mapping[str, Any]:
    return mapping(service.spec.get("selector"))


def _selects(service: Resource, labels: Mapping[str, Any]) -> bool:
    wanted = _selector(service)
    return bool(wanted) and all(labels.get(name) == value for name, value in wanted.items())
