"""The topology of one environment: how Gateways, listeners, routes, rules and backends connect, and their statuses.

`build(world)` returns a `Topology`. Policies are unknown here.
"""

from __future__ import annotations

from policylint.model.kinds import BACKEND_KINDS
from policylint.topology.build import build
from policylint.topology.graph import Topology, Vertex, whole
from policylint.topology.state import (
    BackendState,
    Candidate,
    Condition,
    Delegation,
    Detached,
    GatewayState,
    ListenerSetState,
    ListenerState,
    ParentState,
    ReferenceState,
    RouteState,
)

__all__ = [
    "BACKEND_KINDS",
    "BackendState",
    "Candidate",
    "Condition",
    "Delegation",
    "Detached",
    "GatewayState",
    "ListenerSetState",
    "ListenerState",
    "ParentState",
    "ReferenceState",
    "RouteState",
    "Topology",
    "Vertex",
    "build",
    "whole",
]
