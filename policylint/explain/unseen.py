"""What policies that were not seen to may act on an object all the same: `explain`, `list` and the graph page ask here,
with the question that `trace` and `reach` ask of logins."""

from __future__ import annotations

from policylint.explain.contexts import nodes_of
from policylint.model import Node, PolicyKind
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.simulation.acting import leads_down
from policylint.topology.ancestry import ancestors
from policylint.topology.graph import walk
from policylint.trace.unseen import UnseenPolicies

_Kinds = frozenset[tuple[str, str]]


class UnseenWords(NamedTuple):
    """What was not seen, in words.

    Args:
        may: `HelmRelease shop/shop, whose values speak of securityPolicy, may bring one`; "" where nothing says
            that a policy acts that was not seen.
        ground: what might bring one in principle: `1 chart not rendered`; "" where nothing can.
    """

    may: str = ""
    ground: str = ""

    @property
    def remark(self) -> str:
        """The end of the sentence that no policy acts."""
        return f"; {self.may}" if self.may else f" ({self.ground})" if self.ground else ""


class UnseenActing:
    """What may act on the objects of an environment without having been seen to."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._of_kinds: dict[_Kinds, UnseenPolicies] = {}

    def on(self, node: Node) -> UnseenWords:
        """Return what may act on a node: on a Gateway from its level and above, on a route at all that it leads to."""
        topology = self._simulation.topology
        nodes = nodes_of(self._simulation, node)
        above = {each.key for each in (*nodes, *ancestors(topology, nodes))}
        if elsewhere := [key for key in topology.unseen if key in above]:
            return UnseenWords(f"what policies elsewhere do to {listing(elsewhere)} is not known")
        passed = set(above)
        if not leads_down(node):
            below = walk(topology.children, (vertex for each in nodes for vertex in topology.vertices_of(each)))
            passed.update(each.key for vertex in below for each in topology.vertices[vertex].nodes)
        if (route := topology.route(node.key)) is not None:
            passed.update(backend.wanted for backend in route.backends)  # those that were not seen among them
        found = self._policies(frozenset(key[:2] for key in passed)).on(sorted(passed))
        if found.who:
            return UnseenWords(f"{found.who} may: {found.why}" if found.why else f"{found.who} may bring one")
        return UnseenWords(ground=found.ground or found.of_others)

    def _policies(self, kinds: _Kinds) -> UnseenPolicies:
        if kinds not in self._of_kinds:

            def acts(kind: PolicyKind) -> bool:
                selects = any("selector" in reference.form for reference in kind.references)
                on_these = selects or any(kind.may_target(*each) for each in kinds)
                return on_these and (kind.policy_class != "Other" or bool(kind.settings.asking))

            self._of_kinds[kinds] = UnseenPolicies(self._simulation, acts)
        return self._of_kinds[kinds]
