"""Attachment of routes: which listeners a parentRef selects, which of them let the route in, and why not.

docs/design/request-precedence.md §3, tested in its order: selected (name, port), allowed (kind, namespace), hostnames.
"""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    Resolution,
    Resource,
    World,
    is_symbolic,
    mapping,
    sequence,
)
from policylint.topology.backends import SERVICE, ports
from policylint.topology.gateways import Holder, Holders
from policylint.topology.hostnames import EVERY, narrowed
from policylint.topology.listeners import Listener
from policylint.topology.namespaces import Admission, admits
from policylint.topology.references import Target, is_listener_set, parent_target, resolve
from policylint.topology.routes import HOSTNAME_KINDS, hostnames
from policylint.topology.state import Candidate


class Claim:
    """A parentRef on its way to a ParentState: what it names and which listeners it selects.

    Attributes:
        section_found: whether sectionName and port select anything in the parent; None where that is not known.
        mesh: the parent is a Service or another object that is no Gateway.
        holder: the Gateway or ListenerSet, None for other parents.
    """

    __slots__ = ("candidates", "holder", "mesh", "number", "pointer", "resolution", "section_found", "target")

    def __init__(self, number: int, target: Target, resolution: Resolution) -> None:
        self.number = number
        self.pointer: Pointer = ("spec", "parentRefs", number)
        self.target = target
        self.resolution = resolution
        self.section_found: bool | None = None
        self.mesh = False
        self.holder: Holder | None = None
        self.candidates: list[Candidate] = []

    @property
    def text(self) -> str:
        """`Gateway infra/edge#https`, as reports print a parent."""
        return f"{self.target.key}#{self.target.section}" if self.target.section else str(self.target.key)


class Parents:
    """Attaches the routes of one world to its Gateways, ListenerSets and Services."""

    __slots__ = ("_admissions", "_holders", "_world")

    def __init__(self, world: World, holders: Holders) -> None:
        self._world = world
        self._holders = holders
        self._admissions: dict[tuple[object, str], Admission] = {}

    def claims(self, route: Resource) -> list[Claim]:
        """One claim per parentRef, in the order in which they are written."""
        names = hostnames(route)
        return [self._claim(route, names, index, wanted) for index, wanted in route.once(_wanted)]

    def _claim(self, route: Resource, names: tuple[str, ...], index: int, wanted: Target) -> Claim:
        claim = Claim(index, wanted, resolve(self._world, wanted.key))
        claim.holder = self._holders.by_key.get(wanted.key)
        if claim.holder is not None:
            self._select(claim, claim.holder, route, names)
        elif not _is_gateway(wanted) and (wanted.key.group, wanted.key.kind) != (GATEWAY_GROUP, "HTTPRoute"):
            claim.mesh = not claim.resolution.missing
            claim.section_found = _has_port(claim.resolution.resource, wanted)
        return claim

    def _select(self, claim: Claim, holder: Holder, route: Resource, names: tuple[str, ...]) -> None:
        section, port = claim.target.section, claim.target.port
        if is_symbolic(section):
            return
        if section:
            found = holder.listeners.get(section)
            selected = [found] if found is not None and found.name else []
        else:
            selected = list(holder.listeners.values())
        if port is not None:
            selected = [each for each in selected if each.port in (port, None)]
        claim.section_found = bool(selected)
        claim.candidates = [self._try(listener, holder, route, names) for listener in selected]
        if port is not None:
            for number, listener in enumerate(selected):
                if listener.port is None and not claim.candidates[number].failure:
                    unknown = f"the port of {listener.node} is not known"
                    claim.candidates[number] = claim.candidates[number]._replace(unknown=unknown)

    def _try(self, listener: Listener, holder: Holder, route: Resource, names: tuple[str, ...]) -> Candidate:
        """Whether one listener lets the route in: served, kind, namespace, hostname."""
        where = listener.pointer
        if holder.refused:
            return Candidate(
                listener.node, listener.holder, ("spec", "parentRef"), "NotAllowedByListeners", holder.refused
            )
        if route.key.kind not in listener.kinds:
            kinds = mapping(listener.value.get("allowedRoutes")).get("kinds")
            place = (*where, "allowedRoutes", "kinds") if kinds else (*where, "protocol")
            what = ", ".join(listener.kinds) or "no kind of route"
            message = f"{listener.node} takes {what}, not {route.key.kind}"
            return Candidate(listener.node, listener.holder, place, "NotAllowedByListeners", message)
        admission = self._admits(listener, route.key.namespace)
        if admission.allowed is False:
            place = _written(listener, "allowedRoutes", "namespaces")
            message = f"{listener.node} {admission.message}"
            return Candidate(listener.node, listener.holder, place, "NotAllowedByListeners", message)
        unknown = holder.unknown or (admission.message if admission.allowed is None else "")
        if route.key.kind not in HOSTNAME_KINDS:
            return Candidate(listener.node, listener.holder, where, hostnames=(EVERY,), unknown=unknown)
        common = narrowed(listener.hostname, names)
        if common:
            return Candidate(listener.node, listener.holder, where, hostnames=common, unknown=unknown)
        if is_symbolic(listener.hostname) or any(map(is_symbolic, names)):
            unknown = unknown or "a hostname holds a variable that nothing in the tree fills in"
            open_names = names if is_symbolic(listener.hostname) else tuple(filter(is_symbolic, names))
            return Candidate(listener.node, listener.holder, where, hostnames=open_names, unknown=unknown)
        message = f"{listener.node} serves {listener.hostname}"
        return Candidate(listener.node, listener.holder, (*where, "hostname"), "NoMatchingListenerHostname", message)

    def _admits(self, listener: Listener, namespace: str) -> Admission:
        """`allowedRoutes.namespaces`, default Same; judged once per listener and namespace."""
        place = (listener.node, namespace)
        found = self._admissions.get(place)
        if found is None:
            home = listener.holder.key.namespace
            found = admits(self._world, listener.allowed_namespaces, "Same", home, namespace)
            self._admissions[place] = found
        return found


def _wanted(route: Resource) -> list[tuple[int, Target]]:
    """What the parentRefs of a route name, by their numbers."""
    return [
        (index, parent_target(reference, route.key.namespace))
        for index, reference in enumerate(sequence(route.spec.get("parentRefs")))
        if isinstance(reference, dict)
    ]


def _is_gateway(wanted: Target) -> bool:
    key = wanted.key
    return (key.group, key.kind) == (GATEWAY_GROUP, "Gateway") or is_listener_set(key.group, key.kind)


def _has_port(service: Resource | None, wanted: Target) -> bool | None:
    """Whether a mesh parent has the port that port and sectionName ask for (ParentReference.Port)."""
    if wanted.port is None and not wanted.section:
        return True
    if service is None or (service.key.group, service.key.kind) != SERVICE or is_symbolic(wanted.section):
        return None
    return any(
        each.number in (wanted.port, None) or wanted.port is None
        for each in ports(service)
        if not wanted.section or each.name == wanted.section
    )


def _written(listener: Listener, *path: str) -> Pointer:
    """The pointer of a field of a listener, shortened to what is written: defaults have no place of their own."""
    value: object = listener.value
    pointer = listener.pointer
    for step in path:
        value = mapping(value).get(step)
        if value is None:
            break
        pointer = (*pointer, step)
    return pointer
