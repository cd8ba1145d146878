"""The status.ancestors of one policy in the making, with the controller's habits.

Source: docs/design/implementations/envoy-gateway.md §3 and §8.
"""

from __future__ import annotations

from policylint.model import Node
from policylint.policy.results import Ancestor
from policylint.topology import Condition

MOST_ANCESTORS = 16
AGGREGATED = Condition(
    "Aggregated",
    "True",
    "Aggregated",
    f"Ancestors have been truncated because the number of policy ancestors exceeds {MOST_ANCESTORS}.",
)
ACCEPTED = Condition("Accepted", "True", "Accepted", "Policy has been accepted.")


Place = tuple[Node, int | None]
"""An ancestor, and the port that a parentRef names besides."""


class PolicyStatus:
    """The conditions per ancestor, in the order in which the controller sets them."""

    def __init__(self) -> None:
        self.entries: dict[Place, dict[str, Condition]] = {}
        self.controllers: dict[Place, str] = {}

    def set(self, ancestor: Place, controller: str, condition: Condition) -> None:
        """Set one condition; it replaces an earlier one of its type.

        With more than 17 entries the last of them goes at once, and may come back later without what it had (§8).
        """
        known = ancestor in self.entries
        self.entries.setdefault(ancestor, {})[condition.type] = condition
        self.controllers[ancestor] = controller
        if not known and len(self.entries) > MOST_ANCESTORS + 1:
            for node in self._sorted()[MOST_ANCESTORS + 1 :]:
                del self.entries[node]

    def accept(self, ancestor: Place, controller: str) -> None:
        """Set Accepted=True, unless a verdict is there already."""
        if "Accepted" not in self.entries.get(ancestor, {}):
            self.set(ancestor, controller, ACCEPTED)

    def ancestors(self) -> tuple[Ancestor, ...]:
        """Return the finished list: at most 16, the last of them saying that there are more."""
        nodes = list(self.entries)
        if len(nodes) > MOST_ANCESTORS:
            nodes = self._sorted()[:MOST_ANCESTORS]
            self.entries[nodes[-1]][AGGREGATED.type] = AGGREGATED
        return tuple(
            Ancestor(place[0], self.controllers[place], tuple(self.entries[place].values()), place[1])
            for place in nodes
        )

    def _sorted(self) -> list[Place]:
        """Sort refused ones first, then overridden ones, then the rest, each by namespace and name."""
        return sorted(self.entries, key=self._rank)

    def _rank(self, place: Place) -> tuple[int, str, str, str]:
        conditions, (node, _) = self.entries[place], place
        accepted = conditions.get("Accepted")
        if accepted is not None and accepted.status == "False":
            rank = 0
        else:
            rank = 1 if "Overridden" in conditions else 2
        return (rank, node.key.namespace, node.key.name, node.section)
