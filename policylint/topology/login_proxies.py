"""Backends that are proxies which ask for a login themselves: nothing here says so but their names."""

from __future__ import annotations

from policylint.catalog.login_proxies import is_login_proxy
from policylint.load.images import image_of
from policylint.model import Resource, ResourceKey, World, mapping, sequence
from policylint.topology.workloads import pod_template, workloads_selected


def is_proxy(world: World, key: ResourceKey) -> bool:
    """Tell whether a backend is such a proxy, by its own name or by what its pods run."""
    if is_login_proxy(key.name):
        return True
    service = world.get(key)
    if service is None or key.kind != "Service":
        return False
    return any(is_login_proxy(_program(workload)) for workload in workloads_selected(world, service))


def _program(workload: Resource) -> str:
    """Return what the pods of a workload run, the path of its image, where they have one container; else ""."""
    containers = sequence(mapping(pod_template(workload).get("spec")).get("containers"))
    return image_of(mapping(containers[0]))[0] if len(containers) == 1 else ""
