"""The states of Gateways, ListenerSets and routes: their statuses and everything a linter points at.

Plain immutable values. `resolution` and `granted` are three-valued: the unknown counts as present for conditions,
but is marked, so that nothing certain is said of it (docs/design/architecture.md §3).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from policylint.documents import Pointer
from policylint.model import Node, Resolution, Resource, ResourceKey
from policylint.namedtuple import NamedTuple

Status = Literal["True", "False", "Unknown"]


class Condition(NamedTuple):
    """One condition as a controller that follows the spec writes it."""

    type: str
    status: Status
    reason: str
    message: str = ""


def rejection(conditions: Iterable[Condition]) -> Condition | None:
    """Return the Accepted condition that is not True, None if there is none."""
    return next((each for each in conditions if each.type == "Accepted" and each.status != "True"), None)


ReferenceRole = Literal["certificate", "ca", "client-certificate", "parameters"]
BackendRole = Literal["backend", "RequestMirror", "ExternalAuth"]


class ReferenceState(NamedTuple):
    """A reference of a Gateway or ListenerSet to a Secret, ConfigMap or parameters.

    Args:
        role: certificate (of a listener), ca (client validation), client-certificate (towards backends), parameters.
        holder, pointer: the object that holds the reference, and where in it.
        granted: whether a ReferenceGrant allows it; True inside one namespace, None where that is unknown.
        reason: the reason of the condition it fails, "" when nothing is wrong.
    """

    role: ReferenceRole
    holder: Resource
    pointer: Pointer
    wanted: ResourceKey
    resolution: Resolution
    granted: bool | None = True
    reason: str = ""
    message: str = ""


class ListenerState(NamedTuple):
    """A listener of a Gateway or ListenerSet.

    Args:
        holder, pointer: the object that declares it, and where in it.
        gateway: the Gateway that serves it; None where a ListenerSet's is missing.
        port: None where it is not a number (a variable).
        supported_kinds: route kinds it takes, by `allowedRoutes.kinds` and protocol.
        references: its certificates and the CAs of its client validation.
        conflict: HostnameConflict, ProtocolConflict or "".
        conflicts_with: other listeners it is not distinct from (at most eight).
    """

    name: str
    node: Node
    holder: Resource
    pointer: Pointer
    gateway: ResourceKey | None
    protocol: str
    port: int | None
    hostname: str
    supported_kinds: tuple[str, ...]
    attached_routes: int
    conditions: tuple[Condition, ...]
    references: tuple[ReferenceState, ...] = ()
    conflict: str = ""
    conflicts_with: tuple[Node, ...] = ()


class GatewayState(NamedTuple):
    """A Gateway: its class, conditions and listeners.

    Args:
        class_key, class_resolution: the GatewayClass it names, at ("spec", "gatewayClassName").
        controller: the class's controllerName, "" where it is unknown.
        references: the client certificate towards backends and the infrastructure parameters.
        served_by: the implementation behind a door whose class was not seen, as far as its objects tell.
    """

    gateway: Resource
    class_key: ResourceKey
    class_resolution: Resolution
    controller: str
    conditions: tuple[Condition, ...]
    listeners: tuple[ListenerState, ...]
    attached_listener_sets: int
    references: tuple[ReferenceState, ...] = ()
    served_by: str = ""


class ListenerSetState(NamedTuple):
    """A ListenerSet (or the older XListenerSet): the Gateway it names, and whether that admits it.

    Args:
        parent, resolution: the Gateway it names, at ("spec", "parentRef").
        allowed: whether the Gateway's allowedListeners admit it; None where the namespace's labels are unknown.
    """

    listener_set: Resource
    parent: ResourceKey
    resolution: Resolution
    allowed: bool | None
    controller: str
    conditions: tuple[Condition, ...]
    listeners: tuple[ListenerState, ...]


class Candidate(NamedTuple):
    """One listener that a parentRef selects, and whether the route attaches to it.

    Args:
        failure: "" when the route is attached, else NotAllowedByListeners, NoMatchingListenerHostname or RouteConflict.
        message: why, in words.
        holder, pointer: the field of the listener that refuses (`allowedRoutes/kinds`, `…/namespaces`, `hostname`).
        hostnames: the intersection of the route's and the listener's; ("",) is every host.
        unknown: why the answer is not certain, "" when it is.
        rival: the route of the other kind that has the hostname already.
    """

    node: Node
    holder: Resource
    pointer: Pointer
    failure: str = ""
    message: str = ""
    hostnames: tuple[str, ...] = ()
    unknown: str = ""
    rival: ResourceKey | None = None


class ParentState(NamedTuple):
    """One parentRef of a route.

    Args:
        number, pointer: its index, and where it stands: ("spec", "parentRefs", 0); default Gateways come last, at
            ("spec", "useDefaultGateways").
        wanted, section, port: the parent it names, defaults filled in.
        text: `Gateway infra/edge#https`, as in reports.
        resolution: of the parent object; `section_found` of what sectionName and port select in it.
        mesh: the parent is no Gateway (a Service): the route stands at the top of its own paths.
        candidates: the listeners it selects.
        gateway: the Gateway that serves them.
        unseen: what it names of a Gateway or ListenerSet that was not seen: contexts lead through it all the same.
        serves: whether the controller serves the route although it writes that it does not accept it.
        silent: whether no controller writes an entry for it in the status of the route.
    """

    number: int
    pointer: Pointer
    wanted: ResourceKey
    section: str
    port: int | None
    text: str
    resolution: Resolution
    section_found: bool | None
    mesh: bool
    candidates: tuple[Candidate, ...]
    gateway: ResourceKey | None
    controller: str
    conditions: tuple[Condition, ...]
    unseen: Node | None = None
    serves: bool = False
    silent: bool = False

    @property
    def is_default(self) -> bool:
        """Whether no parentRef names it: it is a default Gateway, and the route is for those."""
        return self.pointer[1] != "parentRefs"

    @property
    def attached(self) -> tuple[Node, ...]:
        """The listeners the route is attached to."""
        return tuple(candidate.node for candidate in self.candidates if not candidate.failure)

    @property
    def accepted(self) -> bool:
        """Whether the controller serves the route."""
        return self.serves or any(
            condition.type == "Accepted" and condition.status == "True" for condition in self.conditions
        )


class BackendState(NamedTuple):
    """One backendRef of a route's rule, or of a filter that sends requests elsewhere (a mirror, an authorizer).

    Args:
        role: backend, or the filter's type.
        rule: index of the rule.
        port_found: whether the object has that port; None without a port, or where that is unknown.
        section: the named port it leads to, None where the port has no name.
        granted: as in ReferenceState.
        reason: InvalidKind, RefNotPermitted, BackendNotFound, what its controller says, or "" (a missing port fails
            no condition).
        status: of all requests to it, where the controller takes the reference and has no endpoints for it; None else.
        open_port: whether a variable stands for its port.
    """

    role: BackendRole
    pointer: Pointer
    rule: int
    wanted: ResourceKey
    port: int | None
    resolution: Resolution
    port_found: bool | None
    section: Node | None
    granted: bool | None
    reason: str = ""
    message: str = ""
    status: int | None = None
    open_port: bool = False


class RouteState(NamedTuple):
    """A route with all its parents and backends."""

    route: Resource
    hostnames: tuple[str, ...]
    parents: tuple[ParentState, ...]
    backends: tuple[BackendState, ...]

    @property
    def attached(self) -> frozenset[Node]:
        """The listeners that the route is attached to."""
        return frozenset(node for parent in self.parents for node in parent.attached)


class Delegation(NamedTuple):
    """A rule of one route that delegates to another route."""

    parent: ResourceKey
    rule: int
    pointer: Pointer
    child: ResourceKey


class Detached(NamedTuple):
    """A route or ListenerSet that is attached to nothing, and why; if `unknown`, it becomes a root of its own."""

    unknown: bool
    reason: str
