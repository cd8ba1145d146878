"""The status that NGINX Gateway Fabric writes: ancestors and conditions.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.6; status/prepare_requests.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policylint.implementations.generic import controller_above
from policylint.implementations.nginx_gateway_fabric.attachment import is_useless
from policylint.implementations.nginx_gateway_fabric.listeners import CONTROLLERS, refusal
from policylint.implementations.nginx_gateway_fabric.proxy import lacking
from policylint.implementations.nginx_gateway_fabric.references import NOT_PERMITTED
from policylint.implementations.nginx_gateway_fabric.routes import OVERLAP
from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.policy.results import Ancestor, PolicyState
from policylint.topology import Condition, Topology, whole
from policylint.topology.ancestry import gateways_above

NOT_SET = "nginx-proxy-not-set"
"""The invalid_code of a policy that needs something switched on that no Gateway has."""
MAX_ANCESTORS = 16
LIMIT_REACHED = Condition(
    "Accepted",
    "False",
    "AncestorLimitReached",
    "Policies cannot be applied because the ancestor status list has reached the maximum size",
)
"""The condition of a target on which a policy has no place left to report."""
_REASONS = {OVERLAP: "TargetConflict", NOT_SET: "NginxProxyConfigNotSet", NOT_PERMITTED: "RefNotPermitted"}
"""Reasons of a policy that is not accepted, by its invalid_code; otherwise `Invalid`."""
_ACCEPTED = Condition("Accepted", "True", "Accepted", "The Policy is accepted")
_PROGRAMMED = Condition("Programmed", "True", "Programmed", "Policy is programmed in the data plane")
_INVALID_TARGET = Condition("Accepted", "False", "TargetNotFound", "The TargetRef is invalid")


def room(policy: Resource) -> int:
    """Return how many ancestors a policy may still get; those of other controllers count too (§1.6)."""
    entries = map(mapping, sequence(mapping(policy.body.get("status")).get("ancestors")))
    others = sum(not text(entry.get("controllerName")).startswith(CONTROLLERS) for entry in entries)
    return max(0, MAX_ANCESTORS - others)


class Status:
    """The status of one policy, for each of its targets; `services` are those that routes name, with the Gateways."""

    def __init__(
        self, state: PolicyState, topology: Topology, services: Mapping[ResourceKey, tuple[ResourceKey, ...]]
    ) -> None:
        self.state = state
        self.topology = topology
        self._services = services

    def ancestors(self) -> tuple[Ancestor, ...]:
        """Return the ancestors, sorted; none for a policy without any existing target (§1.1)."""
        nodes = [node for target in self.state.targets for node in target.nodes]
        keys = {key for node in nodes for key in self._places(node.key) if self._owned(key)}
        return tuple(map(self._ancestor, sorted(keys)[: room(self.state.policy)]))

    def flat(self) -> tuple[Condition, ...]:
        """Return the Accepted of an ExternalLoadBalancer; a missing Gateway makes it Invalid."""
        return (self._accepted() or Condition("Accepted", "False", "Invalid", self._first_problem() or "invalid"),)

    def _places(self, target: ResourceKey) -> Sequence[ResourceKey]:
        return self._services.get(target, ()) if target.kind == "Service" else [target]

    def _ancestor(self, key: ResourceKey) -> Ancestor:
        gateways = gateways_above(self.topology, key)
        accepted = self._accepted() or _ACCEPTED
        if accepted is _ACCEPTED and self._unattachable(key):
            accepted = _INVALID_TARGET
        elif accepted is _ACCEPTED and lacking(gateways, self.state.kind.kind, self.topology, key):
            accepted = Condition("Accepted", "False", "NginxProxyConfigNotSet", "the NginxProxy lacks what it needs")
        conditions = [accepted]
        if "ResolvedRefs" in self.state.kind.conditions:
            conditions.append(Condition("ResolvedRefs", "True", "ResolvedRefs"))
        if "Programmed" in self.state.kind.conditions:
            conditions.append(_programmed(accepted))
        return Ancestor(whole(key), controller_above(self.topology, key), tuple(conditions))

    def _accepted(self) -> Condition | None:
        """Return the verdict on the policy as such; None when only the flat status has something to say."""
        state = self.state
        if state.invalid_code:
            return Condition("Accepted", "False", _REASONS.get(state.invalid_code, "Invalid"), state.invalid)
        if state.refused:
            return Condition("Accepted", "False", "Conflicted", f"Conflicts with another {state.kind.kind}")
        return None if self._first_problem() and state.kind.status == "conditions" else _ACCEPTED

    def _first_problem(self) -> str:
        return next((target.detail for target in self.state.targets if target.problem), "")

    def _owned(self, key: ResourceKey) -> bool:
        """Tell whether the controller has the object at all (§1.1)."""
        return is_owned(key, self.topology)

    def reaches_nothing(self) -> bool:
        """Tell whether all targets are there and none of them can take a policy."""
        nodes = [node.key for target in self.state.targets for node in target.nodes]
        return bool(nodes) and all(self._unattachable(key) or not self._owned(key) for key in nodes)

    def _unattachable(self, key: ResourceKey) -> bool:
        """Tell whether no rule of a route can be used or it names no parent, or a Gateway has an address that is no IP.

        A route that no listener takes is attachable, and a Gateway is valid without its NginxProxy (validateGateway).
        """
        route = self.topology.route(key)
        if route is not None:
            return not route.parents or is_useless(route.route, self.topology)
        gateway = self.topology.gateway(key)
        return gateway is not None and refusal(gateway) is not None


def is_owned(key: ResourceKey, topology: Topology) -> bool:
    """Tell whether the controller has a target: the class of a Gateway, of a route some parent is, or may be, there."""
    gateway = topology.gateway(key)
    if gateway is not None:
        return not gateway.class_resolution.missing
    route = topology.route(key)
    if route is None or not route.parents:
        return True
    above = (None if each.gateway is None else topology.gateway(each.gateway) for each in route.parents)
    return any(
        not parent.resolution.missing and not parent.mesh and (state is None or not state.class_resolution.missing)
        for parent, state in zip(route.parents, above, strict=True)
    )


def _programmed(accepted: Condition) -> Condition:
    if accepted.status == "True":
        return _PROGRAMMED
    reason = "Overridden" if accepted.reason == "Conflicted" else "Reconciling"
    return Condition("Programmed", "False", reason, accepted.message)
