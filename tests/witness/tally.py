"""What was compared of many worlds, by sort of difference."""

from __future__ import annotations

from collections import Counter, defaultdict

from tests.witness.facts import Difference, Facts, differences
from tests.witness.grammar import Manifest


class Tally:
    """What was compared so far, and the first world of each sort of difference."""

    def __init__(self) -> None:
        self.worlds = self.facts = self.wrong = 0
        self.times: Counter[str] = Counter()
        self.where: defaultdict[str, set[str]] = defaultdict(set)
        self.first: dict[str, tuple[str, list[Manifest], Difference]] = {}

    def add(self, name: str, objects: list[Manifest], real: Facts, ours: Facts) -> None:
        self.worlds += 1
        self.facts += len(real)
        for each in differences(real, ours):
            self.wrong += 1
            self.times[each.sort] += 1
            self.where[each.sort].add(name)
            self.first.setdefault(each.sort, (name, objects, each))

    @property
    def share(self) -> float:
        """The percentage of facts that are the same."""
        return 100 - 100 * self.wrong / max(self.facts, 1)

    def __str__(self) -> str:
        lines = []
        for sort, times in self.times.most_common():
            name, _, example = self.first[sort]
            lines.append(f"{times:5} in {len(self.where[sort]):4}  {sort}\n{'':15}{name}: {example.fact}")
        return "\n".join(
            [*lines, f"{self.worlds} worlds, {self.facts} facts, {self.wrong} differ ({self.share:.2f} %)"]
        )
