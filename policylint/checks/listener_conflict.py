"""GWP407: listeners that cannot be told apart, or protocols that cannot share a port."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import listeners
from policylint.model import Finding, Node, Related
from policylint.model.words import listing
from policylint.simulation import Simulation
from policylint.topology import ListenerState

RULE = "GWP407"


def check(simulation: Simulation) -> Iterator[Finding]:
    states = {listener.node: listener for listener in listeners(simulation.topology)}
    for listener in states.values():
        before = [node for node in listener.conflicts_with if _precedes(states.get(node), listener)]
        if listener.conflict and before:  # the first of the listeners in conflict is named in the others' findings
            yield _finding(listener, before, states)


def _precedes(rival: ListenerState | None, listener: ListenerState) -> bool:
    if rival is None or rival.holder.key != listener.holder.key:
        return True
    return str(rival.pointer[-1]).zfill(6) < str(listener.pointer[-1]).zfill(6)


def _finding(listener: ListenerState, before: list[Node], states: dict[Node, ListenerState]) -> Finding:
    if listener.conflict == "HostnameConflict":
        field = "hostname"
        label = f"port {listener.port} already has {listener.hostname or 'every host'}"
    else:
        field = "protocol"
        label = f"port {listener.port} already has another protocol"
    related = tuple(
        Related(f"{node} has it", at(states[node].holder, states[node].pointer, field, "port", "name"))
        for node in before[:3]
        if node in states
    )
    return Finding(
        RULE,
        "error",
        f"{listener.node} conflicts with {listing(before, most=3)}",
        at(listener.holder, listener.pointer, field, "port", "name"),
        resources=(listener.holder.key,),
        label=label,
        related=related,
        field=path(listener.pointer),
    )
