"""The level of the hierarchy that a vertex stands on, in the words of the catalog's `effectiveAt`."""

from __future__ import annotations

from collections.abc import Sequence

from policylint.model import ROUTE_KINDS, Node


def level(nodes: Sequence[Node]) -> str:
    """Return gatewayclass, gateway, listener, route, rule, service, port or workload.

    A vertex with a port counts as its service: the nodes of one vertex begin with the whole object.
    """
    node = nodes[0]
    if node.section:
        if node.role.endswith("Rule"):
            return "rule"
        return "port" if node.role == "ServicePort" else "listener"
    match node.key.kind:
        case "GatewayClass":
            return "gatewayclass"
        case "Gateway":
            return "gateway"
        case "Service" | "ServiceImport" | "Backend":
            return "service"
        case kind if kind in ROUTE_KINDS:
            return "route"
        case _:
            return "workload"
