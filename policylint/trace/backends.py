"""The backends of a rule: shares by weight, why some cannot be used, TLS towards them.

Source: docs/design/request-precedence.md §6 and §9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policylint.doors import is_door
from policylint.implementations import implementation
from policylint.implementations.generic import sessions
from policylint.implementations.generic.sessions import BackendSession
from policylint.model import (
    Node,
    Resource,
    ResourceKey,
    World,
    integer,
    mapping,
    sequence,
    text,
    value_at,
)
from policylint.model.kinds import SERVICE, TLS_POLICY
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology import BackendState, RouteState, whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.backends import is_delegation, labels_of
from policylint.topology.extensions import extensions_of
from policylint.topology.status import is_passthrough
from policylint.trace.result import Share, Trace


class Tls(NamedTuple):
    """TLS towards a backend: the server name requested, or why there can be no session, and the policy that has it."""

    sni: str = ""
    problem: str = ""
    by: ResourceKey | None = None


class BackendTls:
    """How proxies connect to backends: by policies, by the node they target, the oldest first, which has it; else as
    their controllers have it."""

    __slots__ = ("_by_node", "_known", "_simulation")

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._known: dict[object, BackendSession | None] = {}
        self._by_node: dict[Node, list[PolicyState]] = defaultdict(list)
        policies = sorted(simulation.policies.values(), key=lambda state: state.policy.age)
        for state in sorted(policies, key=lambda state: (state.kind.group, state.kind.kind) != TLS_POLICY):
            # Without declared settings it is one that the API server refuses: no controller ever sees it.
            at = text(state.kind.secures.get("at"))
            if at and state.declared and value_at(state.policy.spec, tuple(at.split("."))) is not None:
                for node in (node for target in state.targets for node in target.nodes):
                    self._by_node[node].append(state)

    def connected(self, trace: Trace, callers: Sequence[Resource]) -> Trace:
        """Return a trace with how its backends are connected to.

        Args:
            callers: the workloads that it may be sent by; none for requests at Gateways, and where that is not known.
        """
        working = [each for each in trace.outcome.shares if each.share and not each.problem]
        if not working:
            return trace
        by_backend: dict[tuple[ResourceKey, int | None], BackendSession | None] = {}
        for each in working:
            session = self._agreed(trace, each, callers)
            same = by_backend.setdefault((each.key, each.port), session) == session
            by_backend[each.key, each.port] = session if same else None
        secured = any(each is not None and each.state != "plain" for each in by_backend.values())
        return trace._replace(sessions=by_backend, backend_tls=secured)

    def _agreed(self, trace: Trace, share: Share, callers: Sequence[Resource]) -> BackendSession | None:
        """Return how a backend is connected to, whichever of some workloads does it; None where they differ."""
        first, *others = [self._session(trace, share, caller) for caller in callers or (None,)]
        return first if all(each == first for each in others) else None

    def _session(self, trace: Trace, share: Share, caller: Resource | None) -> BackendSession | None:
        if trace.listener is not None and is_passthrough(trace.listener):
            return BackendSession("encrypted", "of the client, passed on as it is")
        return self.session(share, share.route or trace.route, trace.gateway, caller)

    def session(
        self, share: Share, route: Resource | None, gateway: ResourceKey | None, caller: Resource | None = None
    ) -> BackendSession | None:
        """Return how a backend is connected to from a Gateway, or by a workload; None where that is not known."""
        place = gateway or (caller and caller.key), share.key, share.port, route and route.key, share.pointer
        if place not in self._known:
            self._known[place] = self._found(share, route, gateway, caller)
        return self._known[place]

    def _found(
        self, share: Share, route: Resource | None, gateway: ResourceKey | None, caller: Resource | None
    ) -> BackendSession | None:
        world, catalog = self._simulation.world, self._simulation.catalog
        if gateway is not None and is_door(gateway):
            from policylint.doors.sessions import session

            return None if route is None else session(world, gateway, route, share.pointer, share.key, share.port)
        policy = self._policy(share)
        stated = None if policy is None else sessions.stated(policy.kind.secures, policy.policy)
        if gateway is None:
            meshes = self._simulation.meshes.all if caller is not None else ()
            said = (mesh.session(share.key, share.port, caller, world, stated, share.labels) for mesh in meshes)
            return next(filter(None, said), stated)
        state = self._simulation.topology.gateway(gateway)
        name = None if state is None else implementation_of(state, catalog)
        if state is None or not name:
            return stated
        behaviour = implementation(name, catalog.settings(name))
        if route is not None and route.key.kind in behaviour.without_tls:
            return BackendSession("plain")
        return behaviour.session(share.key, share.port, state.gateway, world, stated, share.labels)

    def of(self, share: Share) -> Tls | None:
        """Return the TLS settings of a port's policy, else of the whole Service's; None where no policy applies."""
        state = self._policy(share)
        problem = "" if state is None else _unaccepted(state)
        if state is None or problem:
            return None if state is None else Tls(problem=f"{state.key} is not accepted: {problem}")
        name = tuple(text(state.kind.secures.get("name")).split("."))
        return Tls(text(value_at(state.policy.spec, name)), by=state.key)

    def _policy(self, share: Share) -> PolicyState | None:
        for node in (share.section, whole(share.key)) if self._by_node else ():
            states = self._by_node.get(node, []) if node is not None else []
            meant = (state for state in states if _means(state, node, share.port))
            state = next((s for s in meant if not any(node == lost.attachment.node for lost in s.refused)), None)
            # what the controller of another kind does with one that it does not accept is its own
            if state is not None and ((state.kind.group, state.kind.kind) == TLS_POLICY or not _unaccepted(state)):
                return state
        return None


def _means(state: PolicyState, node: Node | None, port: int | None) -> bool:
    """Return whether a policy means a backend as it is named: a section of an object without nodes for its ports (Envoy
    Gateway's Backend) is the number of the port that the reference names."""
    return any(
        node in target.nodes and (not target.section or node.section != "" or target.section == str(port))
        for target in state.targets
        if node is not None
    )


def shares(
    world: World, named: Iterable[tuple[Resource, BackendState]], own: Resource, tls: BackendTls | None = None
) -> list[Share]:
    """Return what a rule of a route, and others that share its requests, name as backends, each with its share.

    Source: HTTPRouteRule.BackendRefs.
    """
    backend_shares = []
    for route, backend in named:
        if backend.role == "backend" and not is_delegation(backend.wanted):
            stated = mapping(value_at(route.body, backend.pointer)).get("weight", 1)
            weight = max(integer(stated) or 0, 0)
            fault = problem(backend) or _filter_problem(world, route, backend)
            by = route if route.key != own.key else None
            share = Share(backend.wanted, backend.port, weight, 0.0, backend.pointer, backend.section, fault, by)
            share = share._replace(labels=labels_of(route, backend.pointer))
            if fault and backend.status is not None:
                share = share._replace(status=backend.status)
            backend_shares.append(share if share.problem or tls is None else _secured(share, tls))
    total = sum(share.weight for share in backend_shares)
    return [share._replace(share=share.weight / total) if total else share for share in backend_shares]


def taken_for_granted(route: RouteState | None, working: Iterable[Share]) -> Iterator[str]:
    """Yield what an answer takes for granted of its backends: that they are there, and may be named."""
    places = {share.pointer for share in working if share.route is None}
    for backend in route.backends if route is not None else ():
        if backend.pointer in places and backend.resolution.unknown:
            yield f"{backend.wanted} is taken to be there: {backend.resolution.reason}"
        elif backend.pointer in places and backend.granted is None:
            yield f"a ReferenceGrant for {backend.wanted} is taken to be there: none was seen"


def problem(backend: BackendState) -> str:
    """Return why a backendRef cannot be used, "" when it can or when that is unknown."""
    if backend.reason or backend.status is not None:
        return backend.message or backend.reason
    if backend.granted is False:
        return f"no ReferenceGrant lets the route name {backend.wanted}"
    if backend.resolution.missing:
        return backend.resolution.reason
    if backend.port is None and backend.wanted[:2] == SERVICE and not backend.open_port:
        return f"{backend.wanted} is named without a port"
    return backend.message if backend.port_found is False else ""


def _filter_problem(world: World, route: Resource, backend: BackendState) -> str:
    """Return which extension that the filters of a backendRef name is missing, "" for none."""
    place = (*backend.pointer, "filters")
    named = extensions_of(world, route, value_at(route.body, place), place)
    missing = next((extension.wanted for extension in named if extension.resolution.missing), None)
    return "" if missing is None else f"a filter names {missing}, which is missing"


def mirrors(route: RouteState, pointers: Iterable[tuple[Any, ...]]) -> list[BackendState]:
    """Return the usable backends of RequestMirror filters; the others receive nothing."""
    mirrored = set(pointers)
    if not mirrored:
        return []
    return [backend for backend in route.backends if backend.pointer in mirrored and not problem(backend)]


def filters_of(own: Resource, share: Share) -> list[Any]:
    """Return the filters of one backendRef."""
    return sequence(mapping(value_at((share.route or own).body, share.pointer)).get("filters"))


def _secured(share: Share, tls: BackendTls) -> Share:
    session = tls.of(share)
    return share._replace(problem=session.problem) if session is not None and session.problem else share


def _unaccepted(state: PolicyState) -> str:
    if state.invalid_code:
        return state.invalid
    for ancestor in state.ancestors:
        for condition in ancestor.conditions:
            if condition.type == "Accepted" and condition.status == "False" and condition.reason != "Conflicted":
                return condition.message or condition.reason
    return ""
