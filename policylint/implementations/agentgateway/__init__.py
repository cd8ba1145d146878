"""agentgateway: one policy kind in three blocks, locks, and a status per Gateway.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4.
"""

from __future__ import annotations

from policylint.catalog.kinds import Catalog
from policylint.implementations.agentgateway.merging import merged
from policylint.implementations.agentgateway.places import Gateways, with_section
from policylint.implementations.agentgateway.references import GRANTS, faults
from policylint.implementations.generic import Implementation
from policylint.model import Node, PolicyKind, Resource, ResourceKey
from policylint.policy import targets, verdict
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import Ancestor, Attachment, Effective, Group, PolicyState, Target
from policylint.topology import Condition, Topology, whole
from policylint.topology.ancestry import foreign_gateway
from policylint.topology.grants import Grants

SUMMARY = Node(ResourceKey("agentgateway.dev", "", "agentgateway.dev", "StatusSummary"))
"""The ancestor under which a policy is written that attaches to nothing."""


class Agentgateway(Implementation):
    """AgentgatewayPolicy."""

    name = "agentgateway"

    def __init__(self) -> None:
        self._gateways: Gateways | None = None
        self._catalog: Catalog | None = None

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:  # noqa: ARG002
        """The catalog says which Gateways are another controller's."""
        self._catalog = catalog

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """References and selectors of the policy's namespace, with the sections of backends."""
        found = targets.targets(policy, kind, topology, grants)
        return tuple(with_section(policy, target, topology) for target in found)

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """Per path down to the backend."""
        return Effects(topology, kind, kept, self.merge, ends_above=True).groups()

    def merge(self, stack: Stack) -> Effective:
        """Field by field, the most specific first, but for locks."""
        return merged(stack)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """The controller knows no Overridden condition: the verdict alone says what is replaced further down."""
        self._gateways = Gateways(topology, states)
        for state in states:
            verdict.judge(state)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """One per Gateway that leads to a target; what attaches to nothing is summed up under one name."""
        if state.invalid_code or self._gateways is None:
            return ()
        controllers: dict[ResourceKey, str] = {}
        problems = []
        for target in state.targets:
            if target.problem:
                problems.append(f"Policy is not attached: {target.detail}")
            for node in target.nodes:
                found_gateways = self._gateways.of(node.key)
                gateways = [each for each in found_gateways if not self._foreign(each, topology)]
                if found_gateways and not gateways:
                    continue  # all of them are another controller's: nothing is said (policy_target_owner.go)
                controllers.update((each, _controller(topology, each)) for each in gateways)
                if not gateways:
                    problems.append(f"Policy is not attached: {node.key} is not attached to any Gateway")
        conditions = self._conditions(state, topology)
        found = [Ancestor(whole(key), controllers[key], conditions) for key in sorted(controllers)]
        if problems:
            pending = Condition("Attached", "False", "Pending", "\n".join(problems))
            summary = (*(each for each in conditions if each.type != "Attached"), pending)
            found.append(Ancestor(SUMMARY, next(iter(controllers.values()), ""), summary))
        return tuple(found)

    def _conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:
        found = faults(state.policy, topology.world, self.settings.get("backendRefGrantMode") == GRANTS)
        if found:
            reason = "\n".join(message for _, message in found)
            return (Condition("Accepted", "True", "PartiallyValid", reason),)
        return (
            Condition("Accepted", "True", "Valid", "Policy accepted"),
            Condition("Attached", "True", "Attached", "Attached to all targets"),
        )

    def _foreign(self, gateway: ResourceKey, topology: Topology) -> bool:
        return self._catalog is not None and foreign_gateway(topology, gateway, self.name, self._catalog)


def _controller(topology: Topology, gateway: ResourceKey) -> str:
    state = topology.gateway(gateway)
    return "" if state is None else state.controller
