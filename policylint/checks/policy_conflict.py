"""GWP202: two policies of one kind claim one target, and the second one is refused."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path, target_at, target_of
from policylint.checks.kit.wording import and_more
from policylint.model import Finding, Related, Resource
from policylint.policy.results import PolicyState, Refusal
from policylint.simulation import Simulation

RULE = "GWP202"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        folded: dict[object, list[Refusal]] = {}
        for refusal in state.refused:
            folded.setdefault((refusal.attachment.target.pointer, refusal.by), []).append(refusal)
        for refusals in folded.values():
            yield _finding(simulation, state, refusals)


def _finding(simulation: Simulation, state: PolicyState, refusals: list[Refusal]) -> Finding:
    first = refusals[0]
    winner = simulation.policies.get(first.by)
    node = first.attachment.node
    is_known = state.kind.origin != "crd"  # many an implementation adds up what its policies of one target say
    verb, outcome = ("conflicts", "is") if is_known else ("may conflict", "may be")
    related = (Related(f"{first.by} targets it too", target_of(winner, node)),) if winner is not None else ()
    return Finding(
        RULE,
        "error" if is_known else "note",
        f"{state.key} {verb} with {first.by.path} on {node}{and_more(refusals)}, and {outcome} refused",
        target_at(state.policy, first.attachment.target),
        resources=(state.key, node.key, first.by),
        label="only one policy of this kind may target it" if is_known else "two policies of this kind target it",
        related=related,
        help=tuple(_help(state, winner, first)),
        field=path(first.attachment.target.pointer),
    )


def _help(state: PolicyState, winner: PolicyState | None, refusal: Refusal) -> Iterator[str]:
    yield f"fix: merge the two policies into one, or let {state.key.name} target something else"
    if winner is None:
        return
    if not refusal.stated:
        yield f"note: {_order(state.policy, winner.policy)}"
    else:
        yield f"note: {refusal.by.path} is older, so it takes precedence"


def _order(loser: Resource, winner: Resource) -> str:
    """Return why the winner is this one, and when it would be the other."""
    if loser.created and loser.created == winner.created:
        return f"both were created at {loser.created}, so {winner.key.path} wins by name"
    return (
        f"the manifests do not say which of the two is older: if {loser.key.path} was created first, it wins, "
        f"otherwise {winner.key.path} does"
    )
