"""The containers of a world, of which arguments, variables and images say how a controller is started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policylint.load.images import image_of
from policylint.model import Resource, World, mapping, sequence, texts
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


def arguments(container: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a container is started with, as names and values of arguments: `--name=value`."""
    written = (*texts(container.get("command")), *texts(container.get("args")))
    pairs = (each.lstrip("-").partition("=") for each in written if each.startswith("-"))
    return [(name, value) for name, _, value in pairs]


def runs(container: Mapping[str, Any], images: Iterable[str]) -> bool:
    """Return whether a container runs one of some images, named by patterns and without a tag or digest."""
    return any(fnmatchcase(image_of(container)[0], pattern) for pattern in images)
