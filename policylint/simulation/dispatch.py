"""Which implementation serves what in one environment: who reports on a Gateway's routes, who evaluates a kind.

Several controllers may serve one cluster. Each works on the Gateways of its own classes and writes its own entries of a
policy's status, whatever the others do (GEP-713 «Policy status»: one entry per ancestor and controller).
"""

from __future__ import annotations

from policylint.catalog.kinds import Catalog
from policylint.implementations import implementation
from policylint.model import GATEWAY_GROUP, PolicyKind, ResourceKey, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Ancestor, Group, OrderDependence, PolicyState
from policylint.topology import GatewayState, ParentState, Topology
from policylint.topology.ancestry import gateways_above

CORE = "gateway-api"
"""The catalog's implementation of Gateway API's own kinds; it stands for controllers that nobody knows, too."""


class Evaluation(NamedTuple):
    """What one implementation makes of all policies of a kind.

    Args:
        evaluator: the name of the implementation.
    """

    evaluator: str
    states: list[PolicyState]
    groups: list[Group]
    dependent: list[OrderDependence]


class Dispatch:
    """Tell which implementation serves a Gateway, evaluates a kind and reports on a parent, in one environment."""

    __slots__ = ("_catalog", "_known", "_only", "_topology")

    def __init__(self, topology: Topology, catalog: Catalog) -> None:
        self._topology = topology
        self._catalog = catalog
        classes = topology.world.of_kind(GATEWAY_GROUP, "GatewayClass")
        serving = {catalog.implementation_of_controller(text(each.spec.get("controllerName"))) for each in classes}
        self._known = sorted(each for each in serving if each is not None)
        self._only = CORE
        if not self._known:
            kinds = (catalog.get(*each) for each in topology.world.kinds())
            present = {each.implementation for each in kinds if each is not None} - {CORE}
            if len(present) == 1:
                self._only = present.pop()

    def of_gateway(self, gateway: GatewayState) -> str:
        """Return the implementation that serves a Gateway, by its controller or else by the name of its class."""
        if gateway.controller:
            return self._catalog.implementation_of_controller(gateway.controller) or CORE
        return self._catalog.implementation_of_class(gateway.class_key.name) or CORE

    def writer(self, parent: ParentState) -> str:
        """Return the implementation that reports on a parent: that of its Gateway, or the only mesh."""
        gateway = None if parent.gateway is None else self._topology.gateway(parent.gateway)
        if gateway is not None:
            return self.of_gateway(gateway)
        if not parent.mesh:
            return CORE
        present = {CORE, *self._known, *map(self.of_gateway, self._topology.gateways)}
        kinds = (self._catalog.get(*each) for each in self._topology.world.kinds())
        present |= {each.implementation for each in kinds if each is not None}
        meshes = [each for each in sorted(present) if implementation(each).is_mesh]
        return meshes[0] if len(meshes) == 1 else CORE

    def evaluators(self, kind: PolicyKind) -> list[str]:
        """Return who evaluates a kind: its own implementation; for core kinds those of the Gateways and classes there.

        Where no class tells, it is the only implementation with kinds there (docs/design/interfaces.md). The spec's own
        view comes last: it holds for what nobody else serves.
        """
        if kind.implementation != CORE:
            return [kind.implementation]
        found = {self._evaluator(each) for each in self._topology.gateways} | set(map(_of_core_kinds, self._known))
        return sorted(found, key=lambda each: (each == CORE, each)) or [_of_core_kinds(self._only)]

    def joined(self, evaluations: list[Evaluation]) -> Evaluation:
        """Make one evaluation of several: for each policy take that of the implementation whose Gateways lead to its
        targets, with the ancestors that every implementation writes on the Gateways that it serves.

        What no Gateway leads to is a mesh's to evaluate where there is one that serves such a target.
        """
        first = evaluations[0]
        if len(evaluations) == 1:
            return first
        by_evaluator = {each.evaluator: {state.key: state for state in each.states} for each in evaluations}
        chosen = {
            state.key: self._evaluator_of({evaluator: states[state.key] for evaluator, states in by_evaluator.items()})
            for state in first.states
        }
        states = []
        for key, evaluator in chosen.items():
            state = by_evaluator[evaluator][key]
            state.ancestors = tuple(
                ancestor
                for each in evaluations
                for ancestor in by_evaluator[each.evaluator][key].ancestors
                if self._is_served(ancestor, each.evaluator)
            )
            states.append(state)
        return Evaluation(
            first.evaluator,
            states,
            [
                group
                for each in evaluations
                for group in each.groups
                if chosen[group.effective.stack[-1].key] == each.evaluator
            ],
            [order for each in evaluations for order in each.dependent if chosen[order.winner] == each.evaluator],
        )

    def _evaluator(self, gateway: GatewayState) -> str:
        """Return the implementation that evaluates core kinds at a Gateway."""
        found = self.of_gateway(gateway)
        return _of_core_kinds(self._only if found == CORE else found)

    def _evaluator_of(self, states: dict[str, PolicyState]) -> str:
        """Return the evaluator whose state of one policy counts, of those of all evaluators."""
        first = next(iter(states.values()))
        above = {key for target in first.targets for key in gateways_above(self._topology, target.key)}
        served = {self._evaluator(gateway) for key in above if (gateway := self._topology.gateway(key)) is not None}
        if served:
            return next(each for each in states if each in served)
        meshes = [each for each in states if implementation(each).is_mesh and not _refuses(states[each])]
        others = [each for each in states if not implementation(each).is_mesh]
        return (*meshes, *others, *states)[0]

    def _is_served(self, ancestor: Ancestor, evaluator: str) -> bool:
        """Tell whether an evaluator reports on an ancestor; all do on what is neither Gateway nor ListenerSet."""
        gateway = self._topology.gateway(self._gateway_of(ancestor.ancestor.key))
        return gateway is None or self._evaluator(gateway) == evaluator

    def _gateway_of(self, key: ResourceKey) -> ResourceKey:
        listener_set = self._topology.listener_set(key)
        return key if listener_set is None else listener_set.parent


def _refuses(state: PolicyState) -> bool:
    """Whether an implementation serves no such target."""
    return bool(state.targets) and all(each.problem == "kind-not-allowed" for each in state.targets)


def _of_core_kinds(name: str) -> str:
    return name if implementation(name).judges_core_kinds else CORE
