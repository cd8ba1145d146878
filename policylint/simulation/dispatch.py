"""Dispatch to implementations in one environment: who reports on a Gateway's routes, who evaluates a kind.

Several controllers may serve one cluster. Each works on the Gateways of its own classes and writes its own entries of a
policy's status, whatever the others do (GEP-713 «Policy status»: one entry per ancestor and controller).
"""

from __future__ import annotations

from policylint.catalog.kinds import CORE, Catalog
from policylint.implementations import implementation
from policylint.model import GATEWAY_GROUP, PolicyKind, ResourceKey, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Ancestor, Group, OrderDependence, PolicyState
from policylint.simulation.meshes import Meshes
from policylint.topology import GatewayState, ParentState, Topology
from policylint.topology.ancestry import gateways_above, implementation_of


class Evaluation(NamedTuple):
    """The result of one implementation for all policies of a kind.

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
        controllers = [text(gateway_class.spec.get("controllerName")) for gateway_class in classes]
        names = {catalog.implementation_of_controller(controller) for controller in controllers}
        self._known = sorted(name for name in names if name is not None)
        self._only = CORE
        if not self._known:
            kinds = filter(None, (catalog.get(*kind) for kind in topology.world.kinds()))
            # policies of a mesh do not tell who serves Gateways
            present = {each.implementation for each in kinds if each.may_target(GATEWAY_GROUP, "HTTPRoute")} - {CORE}
            if len(present) == 1:
                self._only = present.pop()

    def of_gateway(self, gateway: GatewayState) -> str:
        """Return the implementation that serves a Gateway, by its controller or else by the name of its class."""
        return implementation_of(gateway, self._catalog) or CORE

    def writer(self, parent: ParentState) -> str:
        """Return the implementation that reports on a parent: that of its Gateway, or the only mesh."""
        gateway = None if parent.gateway is None else self._topology.gateway(parent.gateway)
        if gateway is not None:
            return self.of_gateway(gateway)
        if not parent.mesh:
            return CORE
        present = {*self._known, *map(self.of_gateway, self._topology.gateways)}
        present |= {mesh.name for mesh in Meshes(self._topology.world, self._catalog, self._topology).all}
        meshes = [name for name in sorted(present) if implementation(name).is_mesh]
        return meshes[0] if len(meshes) == 1 else CORE

    def evaluators(self, kind: PolicyKind) -> list[str]:
        """Return the evaluators of a kind: its own implementation; for core kinds those of Gateways and classes there.

        Where no class tells, it is the only implementation with kinds there (docs/design/interfaces.md). The spec's own
        view comes last: it holds for what nobody else serves.
        """
        if kind.implementation != CORE:
            return [kind.implementation]
        names = {*map(self._evaluator, self._topology.gateways), *map(_of_core_kinds, self._known)}
        return sorted(names, key=lambda name: (name == CORE, name)) or [_of_core_kinds(self._only)]

    def join(self, evaluations: list[Evaluation]) -> Evaluation:
        """Make one evaluation of several: for each policy take that of the implementation whose Gateways lead to its
        targets, with the ancestors that every implementation writes on the Gateways that it serves.

        What no Gateway leads to is a mesh's to evaluate where there is one that serves such a target.
        """
        first = evaluations[0]
        if len(evaluations) == 1:
            return first
        by_evaluator = {
            evaluation.evaluator: {state.key: state for state in evaluation.states} for evaluation in evaluations
        }
        chosen = {
            state.key: self._evaluator_of({evaluator: states[state.key] for evaluator, states in by_evaluator.items()})
            for state in first.states
        }
        states = []
        for key, evaluator in chosen.items():
            state = by_evaluator[evaluator][key]
            state.ancestors = tuple(
                ancestor
                for writer, written in by_evaluator.items()
                for ancestor in written[key].ancestors
                if self._is_served(ancestor, writer)
            )
            states.append(state)
        groups: list[Group] = []
        dependent: list[OrderDependence] = []
        for evaluator, _, its_groups, its_dependent in evaluations:
            groups += [group for group in its_groups if chosen[group.effective.stack[-1].key] == evaluator]
            dependent += [order for order in its_dependent if chosen[order.winner] == evaluator]
        return Evaluation(first.evaluator, states, groups, dependent)

    def _evaluator(self, gateway: GatewayState) -> str:
        """Return the implementation that evaluates core kinds at a Gateway."""
        name = self.of_gateway(gateway)
        return _of_core_kinds(self._only if name == CORE else name)

    def _evaluator_of(self, states: dict[str, PolicyState]) -> str:
        """Return the evaluator whose state of one policy counts, of those of all evaluators."""
        first = next(iter(states.values()))
        above = {key for target in first.targets for key in gateways_above(self._topology, target.key)}
        served = {self._evaluator(gateway) for key in above if (gateway := self._topology.gateway(key)) is not None}
        if served:
            return next(name for name in states if name in served)
        meshes = [name for name, state in states.items() if implementation(name).is_mesh and not _refuses(state)]
        gateways = [name for name in states if not implementation(name).is_mesh]
        return (*meshes, *gateways, *states)[0]

    def _is_served(self, ancestor: Ancestor, evaluator: str) -> bool:
        """Tell whether an evaluator reports on an ancestor; all do on one without a class, or that is no Gateway."""
        gateway = self._topology.gateway(self._gateway_of(ancestor.ancestor.key))
        return gateway is None or gateway.class_resolution.missing or self._evaluator(gateway) == evaluator

    def _gateway_of(self, key: ResourceKey) -> ResourceKey:
        listener_set = self._topology.listener_set(key)
        return key if listener_set is None else listener_set.parent


def _refuses(state: PolicyState) -> bool:
    """Tell whether an implementation serves no such target."""
    return bool(state.targets) and all(target.problem == "kind-not-allowed" for target in state.targets)


def _of_core_kinds(name: str) -> str:
    return name if implementation(name).judges_core_kinds else CORE
