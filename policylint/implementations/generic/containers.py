"""The containers of a world, of which arguments, variables and images say how a controller is started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.model import Resource, World, mapping, sequence
from policylint.topology.workloads import pod_spec

Started = tuple[Resource, Mapping[str, Any]]
"""A workload, and a container of it."""
RUNNING = (("apps", "Deployment"), ("apps", "DaemonSet"))
"""The kinds of workloads that controllers are run by."""


def containers(world: World, kinds: Iterable[tuple[str, str]] = RUNNING) -> Iterator[Started]:
    """Yield the containers of workloads of some kinds, each with its workload."""
    for kind in kinds:
        for workload in world.of_kind(*kind):
            for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
                yield workload, container
