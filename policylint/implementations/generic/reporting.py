"""What the controller writes on policies, routes, Gateways and targets: verdicts and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policylint.catalog.kinds import Catalog
from policylint.model import Resource, ResourceKey
from policylint.policy import verdict
from policylint.policy.results import (
    Ancestor,
    FaultyPart,
    PolicyState,
)
from policylint.topology import (
    Condition,
    GatewayState,
    ListenerSetState,
    ParentState,
    RouteState,
    Topology,
)
from policylint.topology.ancestry import gateways_above
from policylint.topology.status import RESOLVED, resolved

if TYPE_CHECKING:
    from policylint.policy.target_conditions import TargetCondition
from policylint.implementations.generic.base import Behaviour


class Reporting(Behaviour):
    """How the state of objects is reported.

    Attributes:
        is_mesh: whether it reports on routes whose parent is a Service.
        gateways_tell_of_listeners: whether ResolvedRefs of a Gateway hangs on its listeners.
    """

    is_mesh = False
    gateways_tell_of_listeners = True

    def judge(self, states: list[PolicyState], topology: Topology) -> None:  # noqa: ARG002
        """Set verdict and `by` of every policy of one kind; by default from what survives where."""
        for state in states:
            verdict.judge(state)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:  # noqa: ARG002
        """Return the status.ancestors that the controller writes; by default none."""
        return ()

    def without_use(self, state: PolicyState, topology: Topology) -> Iterable[FaultyPart]:  # noqa: ARG002
        """Return the settings of an accepted policy that nothing it targets takes, and why; by default none."""
        return ()

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return the conditions of kinds with one flat status.

        By default whether the policy is accepted, for the reasons that the catalog lists; nothing where none fits.
        """
        if state.kind.status != "conditions" or state.kind.origin != "catalog":
            return ()
        return tuple(_accepted(state))

    def stanza(self, state: PolicyState) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the status of controllers whose status has a shape of its own; by default an empty one."""
        return {}

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:  # noqa: ARG002
        """Return the conditions that the controller writes on the targets of all policies of one kind.

        By default one per object and kind where the catalog names a `targetCondition`.
        """
        from policylint.policy.target_conditions import of_targets

        return list(of_targets(states))

    def refuses(self, route: Resource) -> str:  # noqa: ARG002
        """Return why the controller accepts a route at none of its Gateways, by its content; "" where it does.

        `begin` is not called before it.
        """
        return ""

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return the conditions that the controller writes on one parentRef of a route.

        By default the topology's, but for what it refuses. `begin` is not called before it.
        """
        conditions = parent.conditions
        if self.names_core:  # and so takes backends that Gateway API does not
            conditions = _with(resolved(route.backends), conditions)
        why = self.refuses(route.route)
        if not why or not parent.accepted:
            return conditions
        return _with(Condition("Accepted", "False", "UnsupportedValue", why), conditions)

    def reports_on(self, route: RouteState, parent: ParentState, topology: Topology) -> bool:  # noqa: ARG002
        """Return whether the controller writes an entry for a parent in the status of a route.

        There is none for a parent that is not there, nor for a Gateway without a class, nor where the controller says
        nothing of any listener. Gateways and ListenerSets are as `with_conditions` has them.
        """
        gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
        holder = topology.listener_set(parent.wanted) or topology.gateway(parent.wanted)
        if holder is not None and holder.listeners and not any(each.conditions for each in holder.listeners):
            return False
        if gateway is None:
            return parent.mesh or parent.resolution.unknown
        return not gateway.class_resolution.missing

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:  # noqa: ARG002
        """Return a Gateway with the conditions that the controller writes on it and its listeners.

        By default the topology's. `begin` is not called before it.
        """
        unsaid = () if self.gateways_tell_of_listeners else ("ListenersNotResolved",)
        if not any(condition.reason in unsaid for condition in state.conditions):
            return state
        return state._replace(
            conditions=tuple(RESOLVED if each.reason in unsaid else each for each in state.conditions)
        )

    def with_conditions_of_set(
        self,
        state: ListenerSetState,
        topology: Topology,  # noqa: ARG002
        catalog: Catalog,  # noqa: ARG002
    ) -> ListenerSetState:
        """Return a ListenerSet with the conditions that the controller writes on it and its listeners, as above."""
        return state


def controller_above(topology: Topology, key: ResourceKey) -> str:
    """Return the controllerName of the first Gateway that leads to an object, "" where it is not known."""
    gateways = (topology.gateway(gateway) for gateway in gateways_above(topology, key))
    return next((gateway.controller for gateway in gateways if gateway is not None), "")


def fault_of(state: PolicyState) -> str:
    """Return why a policy is invalid or what is wrong with the first of its targets, "" where nothing is."""
    return state.invalid or next((target.detail for target in state.targets if target.problem), "")


_REFUSED = ("Conflicted", "Invalid", "TargetNotFound")
"""Verdicts with which a policy is not accepted; most controllers call the reasons so too."""


def _accepted(state: PolicyState) -> Iterator[Condition]:
    """Yield `Accepted`, or what the kind has instead (GKE: `Attached`)."""
    if state.verdict == "Unknown":
        return
    for name in ("Accepted", "Attached"):
        reasons = state.kind.conditions.get(name, ())
        if state.verdict not in _REFUSED:
            if name in reasons:
                yield Condition(name, "True", name)
            continue
        words = (state.invalid_code, state.verdict, f"Not{name}")
        reason = next((word for word in words if word in reasons), "")
        if reason:
            yield Condition(name, "False", reason, fault_of(state))


def _with(condition: Condition, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return conditions, that of one type in place of theirs."""
    return tuple(condition if each.type == condition.type else each for each in conditions)
