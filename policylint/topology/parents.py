"""Attachment of routes: which listeners a parentRef selects, which of them admit the route, and why others do not.

docs/design/request-precedence.md §3, tested in its order: selected (name, port), allowed (kind, namespace), hostnames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    Node,
    Resolution,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
)
from policylint.model.kinds import SERVICE
from policylint.model.resource import deepest_written
from policylint.topology.gateways import Holder, Holders
from policylint.topology.graph import listener_node
from policylint.topology.hostnames import EVERY, narrowed
from policylint.topology.references import ReferenceTarget, is_parent, is_unseen, parent_target, resolve_parent
from policylint.topology.routes import HOSTNAME_KINDS, hostnames
from policylint.topology.service_ports import ports
from policylint.topology.state import Candidate

if TYPE_CHECKING:
    from policylint.topology.listeners import Listener
    from policylint.topology.namespaces import Admission

_DEFAULTS: Pointer = ("spec", "useDefaultGateways")
MOST_LISTENERS = 64
"""Listeners of one parent that a route is tried on: the API server takes no Gateway or ListenerSet with more."""


class ParentClaim:
    """A parentRef before it becomes a ParentState: the parent it names and the listeners it selects.

    Attributes:
        section_found: whether sectionName and port select anything in the parent; None where that is unknown.
        mesh: the parent is a Service or another object that is no Gateway.
        holder: the Gateway or ListenerSet, None for other parents.
        unseen: what it names of a Gateway or ListenerSet that was not seen.
    """

    __slots__ = ("candidates", "holder", "mesh", "number", "pointer", "resolution", "section_found", "target", "unseen")

    def __init__(self, number: int, target: ReferenceTarget, resolution: Resolution) -> None:
        self.number = number
        self.pointer: Pointer = ("spec", "parentRefs", number)
        self.target = target
        self.resolution = resolution
        self.section_found: bool | None = None
        self.mesh = False
        self.holder: Holder | None = None
        self.unseen: Node | None = None
        self.candidates: list[Candidate] = []

    @property
    def text(self) -> str:
        """The parent as reports print it: `Gateway infra/edge#https`."""
        return f"{self.target.key}#{self.target.section}" if self.target.section else str(self.target.key)


class Parents:
    """Attaches the routes of one world to its Gateways, ListenerSets and Services."""

    __slots__ = ("_admissions", "_defaults", "_holders", "_world")

    def __init__(self, world: World, holders: Holders) -> None:
        self._world = world
        self._holders = holders
        self._defaults = [holder for holder in holders.gateways if holder.resource.spec.get("defaultScope") == "All"]
        self._admissions: dict[tuple[object, str], Admission] = {}

    def claims(self, route: Resource) -> list[ParentClaim]:
        """Return one claim per parentRef, in written order, then one per default Gateway that would take the route."""
        names = hostnames(route)
        claims = [self._claim(route, names, index, reference) for index, reference in route.once(_parent_targets)]
        if not self._defaults or not asks_for_defaults(route):
            return claims
        named = {claim.target.key for claim in claims}
        others = (holder.resource.key for holder in self._defaults if holder.resource.key not in named)
        defaults = (self._default(route, names, len(claims) + at, key) for at, key in enumerate(others))
        return claims + [claim for claim in defaults if not all(candidate.failure for candidate in claim.candidates)]

    def _default(self, route: Resource, names: tuple[str, ...], index: int, gateway: ResourceKey) -> ParentClaim:
        """Return the claim to a default Gateway, of which it is not known whether its controller knows of any.

        Source: GEP-3793; the fields are experimental.
        """
        claim = self._claim(route, names, index, ReferenceTarget(gateway, "", None))
        claim.pointer = _DEFAULTS
        unknown = f"{gateway} has defaultScope All; whether its controller knows of that is not known"
        claim.candidates = [
            candidate if candidate.failure else candidate._replace(unknown=candidate.unknown or unknown)
            for candidate in claim.candidates
        ]
        return claim

    def _claim(self, route: Resource, names: tuple[str, ...], index: int, reference: ReferenceTarget) -> ParentClaim:
        claim = ParentClaim(index, reference, resolve_parent(self._world, reference.key))
        claim.holder = self._holders.by_key.get(reference.key)
        if claim.holder is not None:
            self._select(claim, claim.holder, route, names)
        elif is_parent(reference.key):
            if is_unseen(self._world, reference.key, claim.resolution):
                section = "" if is_symbolic(reference.section) else reference.section
                claim.unseen = listener_node(reference.key, section)
        elif (reference.key.group, reference.key.kind) != (GATEWAY_GROUP, "HTTPRoute"):
            claim.mesh = not claim.resolution.missing
            claim.section_found = _has_port(claim.resolution.resource, reference)
        return claim

    def _select(self, claim: ParentClaim, holder: Holder, route: Resource, names: tuple[str, ...]) -> None:
        section, port = claim.target.section, claim.target.port
        if is_symbolic(section):
            return
        if section:
            named_listener = holder.listeners.get(section)
            selected = [named_listener] if named_listener is not None and named_listener.name else []
        else:
            selected = list(holder.listeners.values())
        if port is not None:
            selected = [listener for listener in selected if listener.port in (port, None)]
        claim.section_found = bool(selected)
        selected, left_out = selected[:MOST_LISTENERS], selected[MOST_LISTENERS:]
        open_names = tuple(filter(is_symbolic, names))
        claim.candidates = [self._candidate(listener, holder, route, names, open_names) for listener in selected]
        if port is not None:
            for number, listener in enumerate(selected):
                if listener.port is None and not claim.candidates[number].failure:
                    unknown = f"the port of {listener.node} is not known"
                    claim.candidates[number] = claim.candidates[number]._replace(unknown=unknown)
        if left_out:
            first = left_out[0]
            unknown = f"{claim.target.key} has more than {MOST_LISTENERS} listeners, and the rest were left out"
            others = Candidate(first.node, first.holder, first.pointer, hostnames=names, unknown=unknown)
            claim.candidates.append(others)

    def _candidate(
        self, listener: Listener, holder: Holder, route: Resource, names: tuple[str, ...], open_names: tuple[str, ...]
    ) -> Candidate:
        """Return the candidate for one listener, tested in order: served, kind, namespace, hostname.

        Args:
            names, open_names: the hostnames of the route, and those of them that hold a variable.
        """
        pointer = listener.pointer
        if holder.refused:
            return Candidate(
                listener.node, listener.holder, ("spec", "parentRef"), "NotAllowedByListeners", holder.refused
            )
        if route.key.kind not in listener.kinds:
            kinds = mapping(listener.value.get("allowedRoutes")).get("kinds")
            place = (*pointer, "allowedRoutes", "kinds") if kinds else (*pointer, "protocol")
            taken = ", ".join(listener.kinds) or "no kind of route"
            message = f"{listener.node} takes {taken}, not {route.key.kind}"
            return Candidate(listener.node, listener.holder, place, "NotAllowedByListeners", message)
        admission = self._admits(listener, route.key.namespace)
        if admission.allowed is False:
            place = (*pointer, *deepest_written(listener.value, ("allowedRoutes", "namespaces")))
            message = f"{listener.node} {admission.message}"
            return Candidate(listener.node, listener.holder, place, "NotAllowedByListeners", message)
        unknown = holder.unknown or (admission.message if admission.allowed is None else "")
        if route.key.kind not in HOSTNAME_KINDS:
            return Candidate(listener.node, listener.holder, pointer, hostnames=(EVERY,), unknown=unknown)
        common = narrowed(listener.hostname, names)
        if common:
            return Candidate(listener.node, listener.holder, pointer, hostnames=common, unknown=unknown)
        if open_names or is_symbolic(listener.hostname):
            unknown = unknown or "a hostname holds a variable that nothing in the tree fills in"
            possible = names if is_symbolic(listener.hostname) else open_names
            return Candidate(listener.node, listener.holder, pointer, hostnames=possible, unknown=unknown)
        message = f"{listener.node} serves {listener.hostname}"
        return Candidate(listener.node, listener.holder, (*pointer, "hostname"), "NoMatchingListenerHostname", message)

    def _admits(self, listener: Listener, namespace: str) -> Admission:
        """Evaluate `allowedRoutes.namespaces`, default Same, once per listener and namespace."""
        place = (listener.node, namespace)
        if place not in self._admissions:
            from policylint.topology.namespaces import admits

            home = listener.holder.key.namespace
            self._admissions[place] = admits(self._world, listener.allowed_namespaces, "Same", home, namespace)
        return self._admissions[place]


def asks_for_defaults(route: Resource) -> bool:
    """Return whether a route is for default Gateways, too (CommonRouteSpec.UseDefaultGateways)."""
    return route.spec.get("useDefaultGateways") == "All"


def _parent_targets(route: Resource) -> list[tuple[int, ReferenceTarget]]:
    """Return the parents that a route's parentRefs name, with their indexes."""
    return [
        (index, parent_target(reference, route.key.namespace))
        for index, reference in enumerate(sequence(route.spec.get("parentRefs")))
        if isinstance(reference, dict)
    ]


def _has_port(service: Resource | None, reference: ReferenceTarget) -> bool | None:
    """Return whether a mesh parent has the port that port and sectionName ask for (ParentReference.Port)."""
    if reference.port is None and not reference.section:
        return True
    if service is None or (service.key.group, service.key.kind) != SERVICE or is_symbolic(reference.section):
        return None
    return any(
        port.number in (reference.port, None) or reference.port is None
        for port in ports(service)
        if not reference.section or port.name == reference.section
    )
