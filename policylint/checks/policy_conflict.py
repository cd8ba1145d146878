"""GWP202: two policies of one kind claim one target, and the second one is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path, target_at, target_of
from policylint.model import Finding, Related, ResourceKey
from policylint.policy.results import PolicyState, Refusal

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP202"


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        folded: dict[object, list[Refusal]] = {}
        for refusal in state.refused:
            folded.setdefault((refusal.attachment.target.pointer, refusal.by), []).append(refusal)
        for refusals in folded.values():
            yield _finding(world, state, refusals)


def _finding(world: Simulation, state: PolicyState, refusals: list[Refusal]) -> Finding:
    first = refusals[0]
    winner = world.policies.get(first.by)
    node = first.attachment.node
    more = f" and {len(refusals) - 1} more" if len(refusals) > 1 else ""
    related = (Related(f"{first.by} claims it too", target_of(winner, node)),) if winner is not None else ()
    return Finding(
        RULE,
        "error",
        f"{state.key} conflicts with {first.by.path} on {node}{more}, and is refused",
        target_at(state.policy, first.attachment.target),
        resources=(state.key, node.key, first.by),
        label="only one policy of this kind may have it",
        related=related,
        help=tuple(_help(state, winner, first)),
        field=path(first.attachment.target.pointer),
    )


def _help(state: PolicyState, winner: PolicyState | None, refusal: Refusal) -> Iterator[str]:
    yield f"fix: merge the two policies into one, or let {state.key.name} target something else"
    if winner is None:
        return
    if not refusal.stated:
        yield f"note: {_order(state, winner.key, winner)}"
    else:
        yield f"note: {refusal.by.path} is older, so it stays"


def _order(state: PolicyState, winner: ResourceKey, other: PolicyState) -> str:
    """Why it is this one, and that it could be the other."""
    loser = state.key
    if state.policy.created and state.policy.created == other.policy.created:
        return f"both were created at {state.policy.created}, so {winner.path} wins by its name"
    return (
        "the manifests do not state which of the two is older; as equals "
        f"{winner.path} wins by its name, but were {loser.path} created first, it would win"
    )
