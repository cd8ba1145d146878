"""agentgateway: one policy kind in three blocks, locks, and a status per Gateway.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from policylint.implementations.agentgateway import authorization, backend_tls, calls, listeners, routes
from policylint.implementations.agentgateway.expressions import invalid_expressions
from policylint.implementations.agentgateway.merging import EARLY, LISTENER_SETS, is_passed_over, locks, merged
from policylint.implementations.agentgateway.never import never_holding
from policylint.implementations.agentgateway.places import Gateways, with_section
from policylint.implementations.agentgateway.references import GRANTS, faults
from policylint.implementations.generic import Attachments, Implementation, controller_above
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World, mapping
from policylint.policy import verdict
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.declared import Reading
from policylint.policy.folding import Stack
from policylint.policy.own_fields import OwnFields, with_own_fields
from policylint.policy.results import Ancestor, Declared, Effective, FaultyPart, Group, Idle, PolicyState, Target
from policylint.topology import (
    Condition,
    GatewayState,
    ListenerSetState,
    ParentState,
    RouteState,
    Topology,
    whole,
)
from policylint.topology.ancestry import foreign_gateway
from policylint.topology.grants import Grants

if TYPE_CHECKING:
    from policylint.catalog.kinds import Catalog

UNTRANSLATED = "untranslated"
"""The code of policies of which nothing is left once what is wrong is left out."""
SUMMARY = Node(ResourceKey("agentgateway.dev", "", "agentgateway.dev", "StatusSummary"))
"""The ancestor under which a policy is written that attaches to nothing."""

_OWN_FIELDS: OwnFields = {
    "cors": ("traffic", "cors"),
    "externalAuth": ("traffic", "extAuth"),
    "requestHeaderModifier": ("traffic", "headerModifiers", "request"),
    "responseHeaderModifier": ("traffic", "headerModifiers", "response"),
    "retry": ("traffic", "retry"),
    "timeouts": ("traffic", "timeouts"),
}
"""Fields of rules that come after all policies of their route, and replace them whole unless locked (route_inlines)."""


class Agentgateway(Implementation):
    """AgentgatewayPolicy."""

    name = "agentgateway"
    preflights = 200, False
    ends_above = True
    judges_core_kinds = True

    def __init__(self) -> None:
        self._gateways: Gateways | None = None

    def without_use(self, state: PolicyState, topology: Topology) -> Iterable[FaultyPart]:  # noqa: ARG002
        """Return the expressions of rules that hold for no request."""
        return never_holding(state)

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve references and selectors of the policy's namespace, with the sections of backends."""
        targets = super().targets(policy, kind, topology, grants)
        if kind.implementation != self.name:
            return targets
        return tuple(with_section(policy, target, topology) for target in targets)

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:  # noqa: ARG002
        return state if state.class_resolution.missing else listeners.of_gateway(state, topology)

    def with_conditions_of_set(
        self,
        state: ListenerSetState,
        topology: Topology,
        catalog: Catalog,  # noqa: ARG002
    ) -> ListenerSetState:
        return listeners.of_set(state, topology)

    def reports_on(self, route: RouteState, parent: ParentState, topology: Topology) -> bool:
        return super().reports_on(route, parent, topology) and listeners.has_parents(parent, topology)

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """Return the topology's conditions with the controller's reasons."""
        return routes.conditions(route, parent, topology)

    def withheld(self, topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
        """Return the hostnames of routes of which the controller makes nothing."""
        return {**super().withheld(topology), **routes.stopped(topology)}

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse a policy of which nothing translates: a delay is left out that is no duration and no expression."""
        reading = super().validate(policy, kind, declared, world)
        if kind.implementation != self.name:
            return reading if reading.code else backend_tls.validate(policy, world)
        traffic = mapping(policy.spec.get("traffic"))
        alone = set(traffic) - {"phase"} == {"delay"} and not {"frontend", "backend"}.intersection(policy.spec)
        if not reading.code and alone:
            for pointer, why in invalid_expressions(traffic["delay"], ("spec", "traffic", "delay")):
                return Reading(code=UNTRANSLATED, reason=why, pointer=pointer)
        return reading

    def merge(self, stack: Stack) -> Effective:
        """Merge field by field, the most specific first, but for locks."""
        return merged(stack) if stack.kind.implementation == self.name else super().merge(stack)

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return one group per stack, and one per rule whose own fields replace settings of policies."""
        if kind.implementation != self.name:
            return super().groups(kind, kept, topology)
        kept = {node: [each for each in policies if not is_passed_over(each)] for node, policies in kept.items()}
        kept = {node: policies for node, policies in kept.items() if policies}
        locking = {attachment.key for attachments in kept.values() for attachment in attachments if locks(attachment)}
        groups = with_own_fields(super().groups(kind, kept, topology), _OWN_FIELDS, topology, locking)
        groups = [tools for group in groups for tools in calls.at_tools(group, topology.world)]
        return [calls.with_failures(group, topology.world, self._granted) for group in groups]

    def of_http(self, kind: PolicyKind) -> Collection[str]:  # noqa: ARG002
        """Return the settings that no connection without HTTP can have: all of `traffic`, before routing and after."""
        return "traffic", EARLY

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:  # noqa: ARG002
        """Return what the rules before routing answer, then those after it, and then the policy itself."""
        return (*authorization.decisions(spec, message), *calls.direct_response(spec))

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set the generic verdicts: the controller has no Overridden condition for what is replaced further down."""
        self._gateways = Gateways(topology, states)
        for state in states:
            verdict.judge(state)
            if state.verdict == "Overridden" and not state.by:  # what it calls is not there
                state.verdict = "NoEffect"
            sets = [target for target in state.targets if target.nodes and target.key.kind in LISTENER_SETS]
            if state.verdict == "NoEffect" and sets and not {"frontend", "traffic"}.intersection(state.policy.spec):
                why = "what `backend` sets on a ListenerSet, the proxy does not look up"
                state.idle = Idle(sets[0], why, "target the Gateway, or its routes")

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """Return one per Gateway that leads to a target; what attaches to nothing is summed up under one name."""
        if state.kind.implementation != self.name:
            return backend_tls.ancestors(state, topology)
        if state.invalid_code not in ("", UNTRANSLATED) or self._gateways is None:
            return ()
        controllers: dict[ResourceKey, str] = {}
        problems = []
        for target in state.targets:
            if target.problem:
                problems.append(f"Policy is not attached: {target.detail}")
            for node in target.nodes:
                gateways = self._gateways.of(node.key)
                if not gateways:
                    problems.append(f"Policy is not attached: {node.key} is not attached to any Gateway")
                for gateway in gateways:  # of another controller's nothing is said (policy_target_owner.go)
                    at = topology.gateway(gateway)
                    unserved = at is not None and at.class_resolution.missing
                    if not unserved and not foreign_gateway(topology, gateway, self.name, self.catalog):
                        controllers[gateway] = controller_above(topology, gateway)
        if not state.invalid_code:
            state.faults = tuple(faults(state.policy, topology.world, self._granted))
        conditions = self._conditions(state)
        ancestors = [Ancestor(whole(key), controllers[key], conditions) for key in sorted(controllers)]
        if problems:
            pending = Condition("Attached", "False", "Pending", "\n".join(problems))
            summary = (*(condition for condition in conditions if condition.type != "Attached"), pending)
            ancestors.append(Ancestor(SUMMARY, next(iter(controllers.values()), ""), summary))
        return tuple(ancestors)

    @property
    def _granted(self) -> bool:
        """Whether backends of other namespaces need a ReferenceGrant."""
        return self.settings.get("backendRefGrantMode") == GRANTS

    def _conditions(self, state: PolicyState) -> tuple[Condition, ...]:
        if state.invalid_code:
            unattached = Condition("Attached", "False", "Pending", "Policy is not attached due to invalid status")
            return (Condition("Accepted", "False", "Invalid", state.invalid), unattached)
        if state.faults:
            messages = "\n".join(fault.message for fault in state.faults)
            return (Condition("Accepted", "True", "PartiallyValid", messages),)
        return (
            Condition("Accepted", "True", "Valid", "Policy accepted"),
            Condition("Attached", "True", "Attached", "Attached to all targets"),
        )
