"""GWP602: two cluster policies of one tier and priority that disagree on the same connections."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, Related
from policylint.model.words import leading
from policylint.network.selecting import numbers_of
from policylint.network.status import Overlap
from policylint.simulation import Simulation

RULE = "GWP602"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    by_pair: dict[tuple[int, int], list[Overlap]] = {}
    for overlap in network.statuses.overlaps:
        by_pair.setdefault((overlap.first, overlap.second), []).append(overlap)
    for (first, second), overlaps in sorted(by_pair.items()):
        telling = [overlap for overlap in overlaps if not overlap.harmless]
        shown = (telling or overlaps)[0]
        one, other = network.policies[first], network.policies[second]
        universe = network.universe
        ends = [universe.endpoints[number] for number in numbers_of(shown.subjects)]
        way = "to" if shown.direction == "ingress" else "from"
        where = f"{universe.ports.words(shown.ports)} {way} {leading((str(end.key) for end in ends), 2)}"
        yield Finding(
            RULE,
            "error" if telling else "note",
            f"{one.key} and {other.key} have priority {one.priority} and disagree about connections on {where}",
            other.resource.location("spec", "priority"),
            resources=(other.key, one.key),
            label="either may come first: the implementation chooses"
            if telling
            else "either may come first; the outcome is the same",
            related=(Related("the same priority", one.resource.location("spec", "priority")),),
            help=("fix: give one of them another priority",),
        )
