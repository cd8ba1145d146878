"""Backends that are proxies which ask for a login themselves: nothing here says so but their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.login_proxies import is_login_proxy
from policylint.load.images import image_of
from policylint.model import Resource, ResourceKey, World, integer, mapping, sequence, text
from policylint.patterns import Pattern
from policylint.topology.workloads import pod_spec, running, workloads_selected

_NUMBER = Pattern(r"\d+")


def is_proxy(world: World, key: ResourceKey, port: int | None = None) -> bool:
    """Tell whether a backend is such a proxy, by its own name or by what its pods run at that port of it."""
    if is_login_proxy(key.name):
        return True
    service = world.get(key)
    if service is None or key.kind != "Service":
        return False
    pods = workloads_selected(world, service)
    return any(is_login_proxy(image_of(_program(pod, _target(service, port)))[0]) for pod in pods)


def _target(service: Resource, port: int | None) -> object:
    """Return the port of the pods that a port of a Service leads to, by number or name; without one its only one."""
    listed = [mapping(each) for each in sequence(service.spec.get("ports"))]
    meant = [each for each in listed if port is None or each.get("port") == port]
    return (meant[0].get("targetPort") or meant[0].get("port")) if len(meant) == 1 or (meant and port) else None


def _program(workload: Resource, target: object) -> Mapping[str, Any]:
    """Return the container of a workload's pods that serves a port: its only one, the one that has the port, or that is
    told of it, or the only one that names none."""
    containers = running(pod_spec(workload))
    if len(containers) == 1:
        return containers[0]
    has = [each for each in containers if target is not None and target in _ports(each)]
    told = [each for each in containers if str(target) in _told(each)]
    silent = [each for each in containers if not sequence(each.get("ports"))]
    found = next((some for some in (has, told, silent) if some), [])
    return found[0] if target is not None and len(found) == 1 else {}


def _ports(container: Mapping[str, Any]) -> set[object]:
    listed = [mapping(each) for each in sequence(container.get("ports"))]
    return {*(integer(each.get("containerPort")) for each in listed), *(text(each.get("name")) for each in listed)}


def _told(container: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers in what a container is told: its command, its arguments and its variables."""
    variables = (mapping(each).get("value") for each in sequence(container.get("env")))
    for words in (*sequence(container.get("command")), *sequence(container.get("args")), *variables):
        if isinstance(words, str):
            yield from (found[0] for found in _NUMBER.finditer(words))
