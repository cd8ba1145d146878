"""The winner's side: what each policy takes from others, by the losses that the others are told.

GEP-713 has conditions for a policy that loses (Overridden, PartiallyEnforced), and none for the one that prevails.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation


class Taken(NamedTuple):
    """What one policy takes from another one.

    Args:
        loser: the other one.
        settings: its top-level settings that give way somewhere, sorted; none for a policy refused as a whole.
        whole: whether nothing of the other one takes effect anywhere, because of this policy alone.
    """

    loser: ResourceKey
    settings: tuple[str, ...]
    whole: bool

    def __str__(self) -> str:
        named = ", ".join(filter(None, self.settings))
        return f"all of {self.loser}" if self.whole or not named else f"{named} of {self.loser}"


@lru_cache(maxsize=1)
def taken(simulation: Simulation) -> dict[ResourceKey, tuple[Taken, ...]]:
    """Return what each policy that prevails over others takes from each of them; cached for the latest simulation."""
    lost: dict[ResourceKey, dict[ResourceKey, set[str]]] = defaultdict(lambda: defaultdict(set))
    for state in simulation.policies.values():
        for refusal in state.refused:
            lost[refusal.by][state.key].update()
        for group in state.groups:
            for loss in group.effective.lost_by(state.key):
                for winner in loss.by:
                    lost[winner][state.key].add(str(loss.pointer[0]) if loss.pointer else "")
    return {
        winner: tuple(
            Taken(loser, tuple(sorted(settings)), _is_alone(simulation, winner, loser))
            for loser, settings in sorted(of_losers.items())
            if loser != winner
        )
        for winner, of_losers in lost.items()
    }


def _is_alone(simulation: Simulation, winner: ResourceKey, loser: ResourceKey) -> bool:
    """Return whether a policy is without effect because of one other."""
    state = simulation.policies[loser]
    return state.verdict in ("Overridden", "Conflicted") and state.by == (winner,)
