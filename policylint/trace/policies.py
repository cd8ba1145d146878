"""Find the effective policies of the contexts that a request passes. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.model import Node, ResourceKey
from policylint.policy.level import level
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace.result import Met, Share

_ORDER = ("gatewayclass", "gateway", "listener", "route", "rule", "service", "port", "workload")


class Policies:
    """The groups of an environment, by the nodes of their contexts."""

    __slots__ = ("_by_node", "_groups")

    def __init__(self, simulation: Simulation) -> None:
        self._by_node: dict[Node, list[int]] = {}
        self._groups = simulation.groups
        for number, group in enumerate(simulation.groups):
            for node in group.nodes:
                self._by_node.setdefault(node, []).append(number)

    def met(self, path: Sequence[Node], shares: Iterable[Share]) -> tuple[Met, ...]:
        """Return the policies on a path, down to its rule and on to its backends, in the order in which they act.

        An empty path is traffic that goes straight to a backend.
        """
        backends: dict[ResourceKey | None, tuple[Node, ...]] = {}
        for share in shares:
            backend_nodes: tuple[Node, ...] = (whole(share.key),)
            backends.setdefault(share.key, backend_nodes if share.section is None else (*backend_nodes, share.section))
        if not backends:
            backends[None] = ()
        on_path: dict[int, set[ResourceKey | None]] = {}
        for key, nodes in backends.items():
            for number in self._on(tuple(path), nodes):
                on_path.setdefault(number, set()).add(key)
        met = []
        for number, keys in on_path.items():
            group = self._groups[number]
            if group.effective.owners or group.effective.lost:
                met += [Met(group)] if len(keys) == len(backends) else [Met(group, key) for key in keys]
        return tuple(sorted(met, key=_order))

    def _on(self, path: tuple[Node, ...], nodes: tuple[Node, ...]) -> list[int]:
        """Return the groups with a context that the request passes as a whole."""
        allowed = {*path, *nodes}
        for node in (*path, *nodes):
            if node.key.namespace:
                allowed.add(whole(ResourceKey("", "Namespace", "", node.key.namespace)))
        touched = sorted({number for node in allowed for number in self._by_node.get(node, ())})
        passed = [number for number in touched if self._leads_through(self._groups[number], allowed)]
        if not path and not passed:
            # A backend that routes lead to has no context of its own: what is attached to it applies all the same.
            passed = [
                number
                for number in touched
                if all(attachment.node in allowed for attachment in self._groups[number].effective.stack)
            ]
        return passed

    def _leads_through(self, group: Group, allowed: set[Node]) -> bool:
        return any(allowed.issuperset(context) for context in group.contexts())


def _order(met: Met) -> tuple[int, int, str, ResourceKey]:
    """Return a sort key: kinds acting at the connection, those that protect, the others; by the first one's level."""
    group = met.group
    first = min((_level(attachment.node) for attachment in group.effective.stack), default=0)
    protects = 0 if group.kind.settings.security else 1
    return (protects, first, group.kind.kind, met.backend or ResourceKey("", "", "", ""))


def _level(node: Node) -> int:
    name = level((node,))
    return _ORDER.index(name) if name in _ORDER and node.key.kind != "Namespace" else 0
