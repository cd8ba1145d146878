"""Envoy Gateway: replacement or mergeType, whole-policy conflicts by scope, statuses per parentRef.

Source: docs/design/implementations/envoy-gateway.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.catalog.kinds import Catalog
from policylint.implementations.envoy_gateway import (
    backend_tls,
    feature_flags,
    merging,
    patches,
    route_policy_status,
    routes,
    selectors,
)
from policylint.implementations.envoy_gateway.claims import of_attachments, of_states
from policylint.implementations.envoy_gateway.client_traffic import ClientTraffic
from policylint.implementations.envoy_gateway.isolation import Isolation
from policylint.implementations.envoy_gateway.managed import GROUP, Fleet, order
from policylint.implementations.envoy_gateway.policy_status import Book
from policylint.implementations.generic import Implementation
from policylint.model import Node, PolicyKind, Resolution, Resource, ResourceKey, World
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.order import order_stated
from policylint.policy.results import (
    Ancestor,
    Attachment,
    Declared,
    Effective,
    Group,
    Idle,
    PolicyState,
    Refusal,
    Target,
)
from policylint.topology import Condition, ParentState, RouteState, Topology, whole
from policylint.topology.ancestry import foreign_gateway
from policylint.topology.grants import Grants


class EnvoyGateway(Implementation):
    """ClientTrafficPolicy, BackendTrafficPolicy, SecurityPolicy, EnvoyExtensionPolicy, EnvoyPatchPolicy, and
    BackendTLSPolicy.

    An instance judges one kind in one environment: `begin` looks at who is there to attach to, `judge` goes through
    all policies as the controller does and keeps what it writes.
    """

    name = "envoy-gateway"
    judges_core_kinds = True

    def __init__(self) -> None:
        self._books: Mapping[ResourceKey, Book] = {}
        self._isolated: tuple[Topology, Isolation] | None = None

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:  # noqa: ARG002
        """Keep who is there to attach to, and which Gateways are another implementation's."""
        self._topology = topology
        self._catalog = catalog
        self._fleet = Fleet(topology, catalog)

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """References and selectors; a Backend's section is a port number (§1, §7)."""
        if kind.group != GROUP:
            return tuple(_backend_port(each) for each in super().targets(policy, kind, topology, grants))
        return selectors.targets(policy, kind, topology, grants)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """mergeType only on routes, as the CRDs demand (§1); a BackendTLSPolicy needs a CA (§7)."""
        if kind.kind == "BackendTLSPolicy":
            reason, message = backend_tls.ca_fault(policy, world)
            if reason:
                return Reading(code="no-valid-ca", reason=message, pointer=("spec", "validation", "caCertificateRefs"))
        off = feature_flags.switched_off(policy, self.settings)
        return off if off.code else super().validate(policy, kind, declared, world)

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:
        """What hangs on the kind of the targets: mergeType is for policies of routes (§1)."""
        if state.kind.kind in route_policy_status.PLURALS and "mergeType" in state.policy.spec:
            for target in state.targets:
                if target.key.kind in ("Gateway", "ListenerSet"):
                    reason = f"mergeType on a policy that targets a {target.key.kind}: only those of routes merge"
                    return Reading(code="merge-type", reason=reason, pointer=("spec", "mergeType"))
        return super().validate_placement(state, topology)

    def claims(
        self, kind: PolicyKind, attached: dict[Node, list[Attachment]]
    ) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
        """The first policy keeps a scope, an exact one; what another implementation serves is nobody's (§2, §3)."""
        if kind.group != GROUP:
            return super().claims(kind, attached)
        kept: dict[Node, list[Attachment]] = {}
        refused: list[Refusal] = []
        for node in sorted(attached):
            if foreign_gateway(self._topology, node.key, self.name, self._catalog):
                continue
            if kind.kind == "EnvoyPatchPolicy":
                kept[node] = sorted(attached[node], key=lambda each: patches.priority(each.policy))
                continue
            first, *others = sorted(attached[node], key=lambda each: order(each.policy))
            kept[node] = [first]
            refused += [
                Refusal(each, first.key, order_stated(first.policy, each.policy))
                for each in others
                if each.key != first.key
            ]
        return kept, refused

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """Per path that requests take: a listener carries no hostname that another one on its port names (§2).

        A ClientTrafficPolicy that a shared port makes Invalid keeps its scope and does nothing (§3, §6).
        """
        if kind.group != GROUP:
            return super().groups(kind, kept, topology)
        if kind.kind == "ClientTrafficPolicy":
            claims = of_attachments(each for attachments in kept.values() for each in attachments)
            faults = ClientTraffic(self._fleet, claims).faults
            kept = {
                node: [each for each in attachments if (each.key, node) not in faults]
                for node, attachments in kept.items()
            }
        return Effects(topology, kind, kept, self.merge, idle=self._isolation(topology).idle()).groups()

    def merge(self, stack: Stack) -> Effective:
        """Replacement, mergeType, or on layer 4 field by field (§4, §5)."""
        if stack.kind.kind not in route_policy_status.PLURALS:
            return super().merge(stack)
        return merging.merge(stack, self._topology)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """The verdicts, and what the controller writes."""
        super().judge(states, topology)
        if not states:
            return
        for state in states:
            state.idle = self._idle(state, topology)
        match states[0].kind.kind:
            case "ClientTrafficPolicy":
                found = ClientTraffic(self._fleet, of_states(states))
                for state in states:
                    _judge_faults(state, found.faults)
                self._books = found.books
            case "EnvoyPatchPolicy":
                self._books = patches.books(self._fleet, states)
            case "BackendTLSPolicy":
                self._books = backend_tls.books(self._fleet, states)
            case kind if kind in route_policy_status.PLURALS:
                self._books = route_policy_status.books(self._fleet, states)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:  # noqa: ARG002
        """What `judge` found; nothing where the target is not there or not ours (§8)."""
        book = self._books.get(state.key)
        if book is None:
            return ()
        if state.invalid_code == feature_flags.OFF:
            return feature_flags.refused(book.ancestors(), state.kind.kind, state.invalid)
        return book.ancestors()

    def route_conditions(
        self,
        route: RouteState,
        parent: ParentState,
        topology: Topology,
    ) -> tuple[Condition, ...]:
        """Hostnames that other listeners own, and ports that a Service has not (§2)."""
        return routes.conditions(route, parent, self._isolation(topology), self.settings)

    def _idle(self, state: PolicyState, topology: Topology) -> Idle | None:
        """A policy of a listener whose routes have no hostname that is its own (§2)."""
        if state.verdict != "Accepted" or state.groups or state.kind.kind not in route_policy_status.PLURALS:
            return None
        for target in state.targets:
            for node in target.nodes:
                if any(listener == node for listener, _ in self._isolation(topology).idle()):
                    why = f"other listeners on the port have the hostnames of the routes attached to {node}"
                    fix = "name those listeners in targetRefs, or the whole Gateway"
                    return Idle(target, why, fix, unknown=bool(topology.world.unseen))
        return None

    def _isolation(self, topology: Topology) -> Isolation:
        if self._isolated is None or self._isolated[0] is not topology:
            self._isolated = topology, Isolation(topology)
        return self._isolated[1]


def _judge_faults(state: PolicyState, faults: Mapping[tuple[ResourceKey, Node], str]) -> None:
    """Invalid where every target is, PartiallyEnforced at most where some are."""
    nodes = [node for target in state.targets for node in target.nodes]
    messages = [faults[state.key, node] for node in nodes if (state.key, node) in faults]
    if not messages:
        return
    if len(messages) == len(nodes):
        state.verdict, state.by = "Invalid", ()
        state.invalid, state.invalid_code, state.invalid_pointer = messages[0], "shared-port", ("spec",)
    elif state.verdict == "Enforced":
        state.verdict = "PartiallyEnforced"


def _backend_port(target: Target) -> Target:
    """A section of a Backend is the number of a port: nothing that the topology has a node for."""
    if target.key.kind != "Backend" or target.problem != "section-not-found" or not target.section.isdigit():
        return target
    return target._replace(nodes=(whole(target.key),), problem="", detail="", resolution=Resolution("found"))
