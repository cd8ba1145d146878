"""Whether a listener and a route have a host in common, for controllers that ask for hosts before all else."""

from __future__ import annotations

from policylint.model import is_symbolic
from policylint.topology import Candidate, RouteState, Topology
from policylint.topology.hostnames import narrowed
from policylint.topology.routes import HOSTNAME_KINDS, hostnames


def shares_host(candidate: Candidate, route: RouteState, topology: Topology) -> bool:
    """Tell whether a listener and a route have a host in common, or may have."""
    listener = topology.listener(candidate.node)
    if listener is None or route.route.key.kind not in HOSTNAME_KINDS:
        return True
    names = hostnames(route.route)
    return any(map(is_symbolic, (listener.hostname, *names))) or bool(narrowed(listener.hostname, names))
