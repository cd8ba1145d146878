"""Route parents as istiod reports them where it says more than the spec.

Source: docs/design/implementations/istio.md §8, end; gateway/conditions.go.
"""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.implementations.istio.labels import SERVICE, SERVICE_ENTRY
from policylint.model import ResourceKey, World, is_symbolic, mapping, sequence
from policylint.topology import BackendState, Candidate, Condition, ParentState, RouteState, Topology
from policylint.topology.hostnames import narrowed
from policylint.topology.routes import HOSTNAME_KINDS, hostnames

_HOSTNAME = ("networking.istio.io", "Hostname")
_NOT_ALLOWED = "NotAllowedByListeners"
_NO_HOSTNAME = "NoMatchingListenerHostname"


def conditions(route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
    """Return the topology's conditions with Istio's reasons: the listener that refused, and the backends."""
    return tuple(
        _accepted(each, route, parent, topology) if each.type == "Accepted" else _resolved(each, route)
        for each in parent.conditions
    )


def _accepted(condition: Condition, route: RouteState, parent: ParentState, topology: Topology) -> Condition:
    """Return Accepted: Istio asks a listener for the hostname, then for namespace and kind (referenceAllowed).

    It reports a listener that does not allow the route before hostnames (createRouteStatus). A Service or ServiceEntry
    only has to be there, whatever port the route names.
    """
    if parent.mesh and parent.resolution.found and condition.reason == "NoMatchingParent":
        return Condition("Accepted", "True", "Accepted")
    if condition.status != "False" or condition.reason not in (_NOT_ALLOWED, _NO_HOSTNAME):
        return condition
    refusing = [each for each in parent.candidates if each.failure == _NOT_ALLOWED and _shares(each, route, topology)]
    if refusing:
        return Condition("Accepted", "False", _NOT_ALLOWED, refusing[0].message)
    if condition.reason == _NO_HOSTNAME:
        return condition
    return Condition("Accepted", "False", _NO_HOSTNAME, f"no listener of {parent.text} serves a hostname of the route")


def _shares(candidate: Candidate, route: RouteState, topology: Topology) -> bool:
    """Tell whether a listener and a route have a host in common, or may have."""
    listener = topology.listener(candidate.node)
    if listener is None or route.route.key.kind not in HOSTNAME_KINDS:
        return True
    names = hostnames(route.route)
    return any(map(is_symbolic, (listener.hostname, *names))) or bool(narrowed(listener.hostname, names))


def _resolved(condition: Condition, route: RouteState) -> Condition:
    """Return ResolvedRefs: an ExtensionRef filter comes first, then an unknown kind; hosts are looked up."""
    if condition.type != "ResolvedRefs":
        return condition
    if _extends(route):
        return Condition("ResolvedRefs", "False", "InvalidFilter", "Istio supports no filter of type ExtensionRef")
    failing = [(backend.reason, backend.message) for backend in route.backends if backend.reason]
    if not failing:
        return condition
    reason, message = next((fault for fault in failing if fault[0] == "InvalidKind"), failing[0])
    return Condition("ResolvedRefs", "False", reason, message)


def _extends(route: RouteState) -> bool:
    """Tell whether a rule has an ExtensionRef; no part of the route is served then (convertHTTPRoute)."""
    rules = map(mapping, sequence(route.route.spec.get("rules")))
    filters = (mapping(each) for rule in rules for each in sequence(rule.get("filters")))
    return any(route_filter.get("type") == "ExtensionRef" for route_filter in filters)


def backend_faults(route: RouteState, topology: Topology) -> dict[Pointer, tuple[str, str]]:
    """Return the backends of a route that are hosts which nobody has (buildDestination)."""
    unknown = (backend for backend in route.backends if not backend.reason and _is_unknown(backend, topology.world))
    return {each.pointer: ("BackendNotFound", f"backend({each.wanted.name}) not found") for each in unknown}


def _is_unknown(backend: BackendState, world: World) -> bool:
    key = backend.wanted
    if (key.group, key.kind) != _HOSTNAME or is_symbolic(key.name) or _is_known(key.name, world):
        return False
    return not world.unseen.reason(ResourceKey(*SERVICE_ENTRY, key.namespace, ""))


def _is_known(host: str, world: World) -> bool:
    """Tell whether a Service or ServiceEntry has this host, with any cluster domain, as none is stated anywhere."""
    name, _, rest = host.partition(".")
    namespace, _, domain = rest.partition(".")
    if domain.startswith("svc") and world.get(ResourceKey(*SERVICE, namespace, name)) is not None:
        return True
    return any(
        host == known or (isinstance(known, str) and known.startswith("*.") and host.endswith(known[1:]))
        for entry in world.of_kind(*SERVICE_ENTRY)
        for known in sequence(entry.spec.get("hosts"))
    )
