"""NGINX Gateway Fabric: overlap of routes and fields, NGINX's inheritance, Programmed.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.
"""

from __future__ import annotations

from policylint.catalog.kinds import Catalog
from policylint.implementations.generic import Implementation
from policylint.implementations.nginx_gateway_fabric.inheritance import inherit
from policylint.implementations.nginx_gateway_fabric.proxy import gateways_without
from policylint.implementations.nginx_gateway_fabric.references import broken
from policylint.implementations.nginx_gateway_fabric.routes import OVERLAP, Overlaps
from policylint.implementations.nginx_gateway_fabric.status import LIMIT_REACHED, NOT_SET, Status, room
from policylint.implementations.nginx_gateway_fabric.values import fault
from policylint.model import GATEWAY_GROUP, Node, PolicyKind, Resolution, Resource, ResourceKey, World
from policylint.policy import strategies, targets, verdict
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import Ancestor, Attachment, Declared, Effective, Group, PolicyState, Refusal, Target
from policylint.policy.target_conditions import TargetCondition
from policylint.topology import Condition, Topology, whole
from policylint.topology.ancestry import ancestors, foreign
from policylint.topology.grants import Grants


class NginxGatewayFabric(Implementation):
    """ClientSettings-, ProxySettings-, Observability-, UpstreamSettings-, RateLimit-, Snippets-, WAFPolicy and more."""

    name = "nginx-gateway-fabric"

    def __init__(self) -> None:
        self._of_topology: tuple[Topology, Overlaps] | None = None
        self._catalog: Catalog | None = None

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:  # noqa: ARG002
        """The catalog says which Gateways are another controller's."""
        self._catalog = catalog

    def _overlaps(self, topology: Topology) -> Overlaps:
        if self._of_topology is None or self._of_topology[0] is not topology:
            self._of_topology = topology, Overlaps(topology)
        return self._of_topology[1]

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """References stay in the policy's namespace; a Service that no attached route names is as good as absent."""
        found = targets.targets(policy, kind, topology, grants)
        return tuple(_reached(target, topology) for target in found)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Sizes, durations and rates must be such as NGINX reads; the rest is the CRD's own required fields."""
        reading = super().validate(policy, kind, declared, world)
        return reading if reading.code else fault(kind, declared)

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:
        """No other route may share a location with a targeted one; telemetry or WAF must be on (§1.2, §1.5), and
        what is called must be there."""
        mixed = _mixed(state)
        if mixed:
            return Reading(code="mixed-targets", reason=mixed, pointer=("spec", "targetRefs"))
        rivals = self._overlaps(topology).of(state)
        if rivals:
            reason = f"{', '.join(map(str, rivals))} shares Gateway, hostname, port and path with a targeted route"
            return Reading(code=OVERLAP, reason=reason)
        feature, gateways, lacking = gateways_without(state, topology)
        if gateways and len(gateways) == len(lacking):
            reason = f"{feature} is not switched on in the NginxProxy of {', '.join(map(str, lacking))}"
            return Reading(code=NOT_SET, reason=reason)
        return broken(state, topology)

    def claims(
        self, kind: PolicyKind, attached: dict[Node, list[Attachment]]
    ) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
        """A policy is not attached to what its status has no room for (§1.6)."""
        kept, refused = super().claims(kind, attached)
        return {node: [each for each in of if not _beyond(each)] for node, of in kept.items()}, refused

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:
        """As everywhere; and on targets that a policy has no room to report on, that it is not applied there."""
        found = super().target_conditions(states, topology)
        for state in states:
            nodes = [node for target in state.targets for node in target.nodes if node.key.kind != "Service"]
            found += [TargetCondition(node, LIMIT_REACHED, (state.key,)) for node in nodes[room(state.policy) :]]
        return found

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """Per route rule; a Gateway without routes is configured as well (the server context)."""
        return Effects(topology, kind, kept, self.merge, ends_above=True).groups()

    def merge(self, stack: Stack) -> Effective:
        """Per directive, the lowest NGINX context that has it (§1.4); whole policies for the atomic kinds."""
        if stack.kind.merge.strategy.startswith("atomic") or stack.kind.merge.strategy == "none":
            return strategies.merge(stack)
        return inherit(stack)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """As everywhere; what a route replaces still stands in the Gateway's own context, so it is never Overridden."""
        for state in states:
            verdict.judge(state)
            if state.invalid_code == OVERLAP:
                state.by = self._overlaps(topology).of(state)
            usable = not state.invalid_code and not state.refused
            if usable and Status(state, topology).reaches_nothing():
                state.verdict = "TargetNotFound"
            elif state.verdict == "Overridden":
                state.verdict = "PartiallyEnforced"

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """The target itself, for a Service the Gateways that lead to it (§1.6)."""
        if state.kind.status != "ancestors":
            return ()
        found = Status(state, topology).ancestors()
        if self._catalog is None:
            return found
        return tuple(each for each in found if not foreign(topology, each.ancestor.key, self.name, self._catalog))

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:
        """ExternalLoadBalancer has one flat status."""
        if state.kind.status != "conditions":
            return ()
        return Status(state, topology).flat()


def _beyond(attachment: Attachment) -> bool:
    """Whether a target comes after those that the status of its policy has room for."""
    index = attachment.target.pointer[-1]
    return (index if isinstance(index, int) else 0) >= room(attachment.policy)


def _mixed(state: PolicyState) -> str:
    """These kinds target Gateways or routes, never both; a WAFPolicy has targets of one kind only (the CRDs' CEL)."""
    if state.kind.kind not in ("ProxySettingsPolicy", "RateLimitPolicy", "WAFPolicy"):
        return ""
    kinds = {target.key.kind for target in state.targets}
    if "Gateway" in kinds and len(kinds) > 1:
        return f"{state.kind.kind} targets Gateways or routes, not both"
    return f"{state.kind.kind} targets objects of one kind" if state.kind.kind == "WAFPolicy" and len(kinds) > 1 else ""


def _reached(target: Target, topology: Topology) -> Target:
    if not target.nodes or target.key.kind != "Service" or _served(target.key, topology):
        return target
    unseen = topology.world.unseen.reason(ResourceKey(GATEWAY_GROUP, "HTTPRoute", target.key.namespace, ""))
    if unseen:
        return target._replace(nodes=(), resolution=Resolution("unknown", unseen))
    detail = f"no attached route refers to {target.key}"
    return target._replace(nodes=(), resolution=Resolution("missing", detail), problem="not-found", detail=detail)


def _served(service: ResourceKey, topology: Topology) -> bool:
    """Whether a Gateway leads to a Service; a route whose parents were not seen may lead to one."""
    for node in ancestors(topology, [whole(service)]):
        if node.role == "Gateway":
            return True
        states = (topology.detached.get(vertex) for vertex in topology.vertices_of(node))
        if any(state is not None and state.unknown for state in states):
            return True
    return False
