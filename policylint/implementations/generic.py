"""The protocol of implementations, and what every one does unless its own module says otherwise (GEP-713)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.model import Node, PolicyKind, Resource, World
from policylint.policy import order, overlap, strategies, target_conditions, targets, verdict
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import Ancestor, Attachment, Declared, Effective, Group, PolicyState, Refusal, Target
from policylint.policy.target_conditions import TargetCondition
from policylint.topology import Condition, ParentState, RouteState, Topology
from policylint.topology.grants import Grants


class Implementation:
    """How one implementation judges its policies, stage by stage in this order; modules override what is peculiar.

    Attributes:
        name: the implementation's name in the catalog.
        judges_core_kinds: whether it has its own way with Gateway API's policies (BackendTLSPolicy) where it is the
            only
            implementation with kinds in the environment.
        is_mesh: whether it reports on routes whose parent is a Service.
        settings: of the controller, by the names of the catalog; what is not in it has its default.
    """

    name = "generic"
    judges_core_kinds = False
    is_mesh = False
    settings: Mapping[str, Any] = {}

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:
        """What an instance wants to know before anything else; it judges one kind of one environment. By default
        nothing."""

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """The declared references, resolved to nodes."""
        return targets.targets(policy, kind, topology, grants)

    def validate(
        self,
        policy: Resource,  # noqa: ARG002 - for modules that override this
        kind: PolicyKind,
        declared: tuple[Declared, ...],
        world: World,  # noqa: ARG002
    ) -> Reading:
        """What is refused beyond the pattern's own rules; by default a spec without any required field."""
        if kind.required and not any(each.proper.get(name) for each in declared for name in kind.required):
            names = " or ".join(f"`{name}`" for name in kind.required)
            return Reading(code="required", reason=f"{kind.kind} sets none of {names}", pointer=("spec",))
        return Reading()

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:  # noqa: ARG002
        """What is refused for where the policy stands, once references and spec are valid; by default nothing."""
        return Reading()

    def claims(
        self, kind: PolicyKind, attached: dict[Node, list[Attachment]]
    ) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
        """Who keeps a node where policies compete for it; by default the kind's conflict rule."""
        if kind.conflict == "overlapping-fields":
            return overlap.overlap_claims(kind, attached)
        return order.claims(kind, attached)

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """The effective policies of a kind; by default one per stack of policies over the topology's contexts."""
        return Effects(topology, kind, kept, self.merge).groups()

    def merge(self, stack: Stack) -> Effective:
        """The effective policy of a stack; by default the kind's merge strategy."""
        return strategies.merge(stack)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:  # noqa: ARG002
        """Set verdict and `by` of every policy of one kind; by default from what survives where."""
        for state in states:
            verdict.judge(state)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:  # noqa: ARG002
        """The status.ancestors that the controller writes; the generic implementation writes none."""
        return ()

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """The conditions of kinds with one flat status; by default whether it is accepted, in the reasons that the
        catalog lists, and nothing where it lists none that fits."""
        if state.kind.status != "conditions" or state.kind.origin != "catalog":
            return ()
        return tuple(_accepted(state))

    def stanza(self, state: PolicyState) -> Mapping[str, Any]:  # noqa: ARG002
        """The status of controllers whose status has a shape of its own; by default none."""
        return {}

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:  # noqa: ARG002
        """The conditions that the controller writes on what the policies of one kind target; by default one per object
        and kind where the catalog names a `targetCondition`."""
        return list(target_conditions.of_targets(states))

    def route_conditions(
        self,
        route: RouteState,  # noqa: ARG002 - for modules that override this
        parent: ParentState,
        topology: Topology,  # noqa: ARG002
    ) -> tuple[Condition, ...]:
        """The conditions of one parentRef of a route of which the implementation's controller writes the status.

        By default those that the spec asks for, as the topology has them.
        """
        return parent.conditions


_REFUSED = ("Conflicted", "Invalid", "TargetNotFound")
"""Verdicts with which a policy is not accepted; most controllers call the reasons so too."""


def _accepted(state: PolicyState) -> Iterator[Condition]:
    """`Accepted`, or what the kind has instead (GKE: `Attached`)."""
    if state.verdict == "Unknown":
        return
    for name in ("Accepted", "Attached"):
        reasons = state.kind.conditions.get(name, ())
        if state.verdict not in _REFUSED:
            if name in reasons:
                yield Condition(name, "True", name)
            continue
        reason = next((each for each in (state.verdict, f"Not{name}") if each in reasons), "")
        if reason:
            why = state.invalid or next((each.detail for each in state.targets if each.problem), "")
            yield Condition(name, "False", reason, why)
