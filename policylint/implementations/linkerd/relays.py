"""Workloads in ingress mode: their proxy sends each request where its header `l5d-dst-override` says.

Source: linkerd.io/2/tasks/using-ingress, «Ingress mode»: the ingress must be configured to remove that header, else it
is an open relay to endpoints of the cluster and outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.relays import OpenRelay
from policylint.implementations.linkerd.admission import INJECT, stated
from policylint.model import World
from policylint.topology.workloads import WORKLOADS

_HEADER = "l5d-dst-override"
_INGRESS = "ingress"
_FIX = f"write `{INJECT}: enabled`, or have each route set or remove the header"


def open_relays(world: World) -> Iterator[OpenRelay]:
    """Yield the workloads in ingress mode where nothing in sight sets the header, or takes it off."""
    for kind in WORKLOADS:
        for workload in world.of_kind(*kind):
            owner, mode = stated(INJECT, workload, world)
            if mode == _INGRESS and owner is not None and not world.once(_names_header):
                in_pods: Pointer = ("spec", "template", "metadata", "annotations", INJECT)
                own: Pointer = ("metadata", "annotations", INJECT)
                is_template = owner is workload and workload.key.kind != "Pod"
                yield OpenRelay(workload, _HEADER, owner, in_pods if is_template else own, _FIX)


def _names_header(world: World) -> bool:
    return any(_holds(resource.body) for resource in world.resources.values())


def _holds(value: Any) -> bool:
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            stack += [*one, *one.values()]
        elif isinstance(one, list):
            stack += one
        elif isinstance(one, str) and _HEADER in one.lower():
            return True
    return False
