"""GWP407: listeners that cannot be told apart, or protocols that cannot share a port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import listeners
from policylint.model import Finding, Node, Related
from policylint.model.words import listing

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import ListenerState

RULE = "GWP407"


def check(world: Simulation) -> Iterator[Finding]:
    states = {each.node: each for each in listeners(world.topology)}
    for listener in states.values():
        before = [each for each in listener.conflicts_with if _precedes(states.get(each), listener)]
        if listener.conflict and before:  # of listeners in conflict the first one is spoken of by the others
            yield _finding(listener, before, states)


def _precedes(one: ListenerState | None, other: ListenerState) -> bool:
    if one is None or one.holder.key != other.holder.key:
        return True
    return str(one.pointer[-1]).zfill(6) < str(other.pointer[-1]).zfill(6)


def _finding(listener: ListenerState, before: list[Node], states: dict[Node, ListenerState]) -> Finding:
    if listener.conflict == "HostnameConflict":
        field = "hostname"
        label = f"port {listener.port} has {listener.hostname or 'every host'} already"
    else:
        field = "protocol"
        label = f"port {listener.port} has another protocol already"
    related = tuple(
        Related(f"{each} has it", at(states[each].holder, states[each].pointer, field, "port", "name"))
        for each in before[:3]
        if each in states
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
