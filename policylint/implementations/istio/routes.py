"""Route parents as istiod reports them where it says more than the spec.

Source: docs/design/implementations/istio.md §8, end; gateway/conditions.go.
"""

from __future__ import annotations

from policylint.implementations.istio.labels import SERVICE, SERVICE_ENTRY
from policylint.model import ResourceKey, World, is_symbolic, mapping, sequence
from policylint.topology import BackendState, Candidate, Condition, ParentState, RouteState, Topology
from policylint.topology.hostnames import narrowed
from policylint.topology.routes import HOSTNAME_KINDS, hostnames

_HOSTNAME = ("networking.istio.io", "Hostname")
_NOT_ALLOWED = "NotAllowedByListeners"
_NO_HOSTNAME = "NoMatchingListenerHostname"


def conditions(route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
    """The topology's conditions with Istio's reasons: which listener refused, and what became of the backends."""
    return tuple(
        _accepted(each, route, parent, topology) if each.type == "Accepted" else _resolved(each, route, topology)
        for each in parent.conditions
    )


def _accepted(said: Condition, route: RouteState, parent: ParentState, topology: Topology) -> Condition:
    """Istio asks a listener for the hostname first, then for namespace and kind (referenceAllowed).

    Of what the listeners say, that one does not allow the route is told before hostnames (createRouteStatus). Of a
    Service or ServiceEntry it asks only that it is there, whatever port the route names.
    """
    if parent.mesh and parent.resolution.found and said.reason == "NoMatchingParent":
        return Condition("Accepted", "True", "Accepted")
    if said.status != "False" or said.reason not in (_NOT_ALLOWED, _NO_HOSTNAME):
        return said
    refusing = [each for each in parent.candidates if each.failure == _NOT_ALLOWED and _shares(each, route, topology)]
    if refusing:
        return Condition("Accepted", "False", _NOT_ALLOWED, refusing[0].message)
    if said.reason == _NO_HOSTNAME:
        return said
    return Condition("Accepted", "False", _NO_HOSTNAME, f"no listener of {parent.text} serves a hostname of the route")


def _shares(candidate: Candidate, route: RouteState, topology: Topology) -> bool:
    """Whether a listener and a route have a host in common, or may have."""
    listener = topology.listener(candidate.node)
    if listener is None or route.route.key.kind not in HOSTNAME_KINDS:
        return True
    names = hostnames(route.route)
    return any(map(is_symbolic, (listener.hostname, *names))) or bool(narrowed(listener.hostname, names))


def _resolved(said: Condition, route: RouteState, topology: Topology) -> Condition:
    """ResolvedRefs: hosts are looked up, an unknown kind comes first, and before it a filter that Istio has not."""
    if said.type != "ResolvedRefs":
        return said
    if _extends(route):
        return Condition("ResolvedRefs", "False", "InvalidFilter", "Istio supports no filter of type ExtensionRef")
    faults = (_fault(each, topology.world) for each in route.backends)
    failing = [(reason, message) for reason, message in faults if reason]
    if not failing:
        return said
    reason, message = next((each for each in failing if each[0] == "InvalidKind"), failing[0])
    return Condition("ResolvedRefs", "False", reason, message)


def _extends(route: RouteState) -> bool:
    """Whether a rule has an ExtensionRef; no part of the route is served then (convertHTTPRoute)."""
    rules = map(mapping, sequence(route.route.spec.get("rules")))
    filters = [each for rule in rules for each in sequence(rule.get("filters"))]
    return any(mapping(each).get("type") == "ExtensionRef" for each in filters)


def _fault(backend: BackendState, world: World) -> tuple[str, str]:
    wanted = backend.wanted
    if backend.reason or (wanted.group, wanted.kind) != _HOSTNAME or is_symbolic(wanted.name):
        return backend.reason, backend.message
    if _is_known(wanted.name, world) or world.unseen.reason(ResourceKey(*SERVICE_ENTRY, wanted.namespace, "")):
        return "", ""
    return "BackendNotFound", f"backend({wanted.name}) not found"


def _is_known(host: str, world: World) -> bool:
    """Whether a Service or ServiceEntry has this host; the cluster's domain is stated nowhere, so any will do."""
    name, _, rest = host.partition(".")
    namespace, _, domain = rest.partition(".")
    if domain.startswith("svc") and world.get(ResourceKey(*SERVICE, namespace, name)) is not None:
        return True
    return any(
        host == each or (isinstance(each, str) and each.startswith("*.") and host.endswith(each[1:]))
        for entry in world.of_kind(*SERVICE_ENTRY)
        for each in sequence(entry.spec.get("hosts"))
    )
