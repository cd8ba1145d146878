"""Ports of pods in Servers.

Source: linkerd2 policy-controller/k8s/index/src/inbound/index.rs, select_ports, and workload.rs,
pod_tcp_ports_by_name: a name is that of a container's port, a number that on which the pod takes connections.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.generic.workload_ports import WorkloadPort
from policylint.model import World, is_symbolic, mapping

_SERVER = ("policy.linkerd.io", "Server")
_OF_PROXY = "linkerd-"
"""How the ports of the proxy are called, which is added to the pods later."""


def workload_ports(world: World) -> Iterator[WorkloadPort]:
    for server in world.of_kind(*_SERVER):
        port, selector = server.spec.get("port"), mapping(server.spec.get("podSelector"))
        if not isinstance(port, int | str) or is_symbolic(port) or str(port).startswith(_OF_PROXY):
            continue
        yield WorkloadPort(server, ("spec", "port"), port, "is for", selector)
