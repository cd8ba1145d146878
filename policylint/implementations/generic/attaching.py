"""What policies are attached to: their targets, what is refused of them, and which of several keeps its place."""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.implementations.generic.base import Behaviour
from policylint.model import Node, PolicyKind, Resolution, Resource, World
from policylint.policy import order, targets
from policylint.policy.declared import Reading
from policylint.policy.results import (
    Attachment,
    Declared,
    PolicyState,
    Refusal,
    Target,
    TargetProblem,
)
from policylint.topology import Topology
from policylint.topology.grants import Grants

Attachments = dict[Node, list[Attachment]]
"""The attachments of one kind, by node."""


class Attaching(Behaviour):
    """How policies of a kind are read and attached, stage by stage in this order.

    Attributes:
        judges_core_kinds: whether it evaluates Gateway API's policies (BackendTLSPolicy) in its own way where it is the
            only implementation with kinds in the environment.
    """

    judges_core_kinds = False

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve the declared references to nodes."""
        return targets.targets(policy, kind, topology, grants)

    def validate(
        self,
        policy: Resource,
        kind: PolicyKind,
        declared: tuple[Declared, ...],
        world: World,  # noqa: ARG002 - for modules that override this
    ) -> Reading:
        """Return what is refused beyond the pattern's own rules; by default a spec without any required field, and what
        the catalog states as refused."""
        if kind.required and not any(spec.proper.get(name) for spec in declared for name in kind.required):
            names = " or ".join(f"`{name}`" for name in kind.required)
            return Reading(code="required", reason=f"{kind.kind} sets none of {names}", pointer=("spec",))
        if kind.refuses:
            from policylint.implementations.generic.refusals import refusals

            return next(refusals(kind, policy.spec), Reading())
        return Reading()

    def is_trial(self, policy: Resource) -> bool:  # noqa: ARG002
        """Return whether a policy is only tried out, and decides nothing."""
        return False

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:  # noqa: ARG002
        """Return what is refused because of the targets, once references and spec are valid; by default nothing."""
        return Reading()

    def answers_with_errors(self, state: PolicyState) -> bool:  # noqa: ARG002
        """Return whether an invalid policy keeps its place, and every request there is answered with an error."""
        return False

    def acts_without(self, state: PolicyState, topology: Topology) -> tuple[Pointer, ...]:  # noqa: ARG002
        """Return the parts without which the rest of an invalid policy acts; none where nothing of it does."""
        return ()

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Return the attachments that keep their nodes, by the kind's conflict rule, and those refused."""
        if kind.conflict == "overlapping-fields":
            from policylint.policy.overlap import overlap_claims

            return overlap_claims(kind, attached)
        return order.claims(kind, attached)


def resolved_to(target: Target, *nodes: Node, reason: str = "", resource: Resource | None = None) -> Target:
    """Return a target that resolves to some nodes, whatever was wrong with it."""
    return target._replace(nodes=nodes, resolution=Resolution("found", reason, resource), problem="", detail="")


def unresolved(target: Target, problem: TargetProblem, detail: str) -> Target:
    """Return a target that resolves to nothing, and why."""
    return target._replace(nodes=(), resolution=Resolution("missing", detail), problem=problem, detail=detail)
