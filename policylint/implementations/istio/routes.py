"""Route parents as istiod reports them where it says more than the spec (istio.md §8, end; gateway/conditions.go)."""

from __future__ import annotations

from policylint.implementations.istio.words import SERVICE, SERVICE_ENTRY
from policylint.model import ResourceKey, World, is_symbolic, sequence
from policylint.topology import BackendState, Condition, ParentState, RouteState, Topology

_HOSTNAME = ("networking.istio.io", "Hostname")


def conditions(route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
    """The topology's conditions with Istio's ResolvedRefs: hosts are looked up, and an unknown kind comes first."""
    faults = (_fault(each, topology.world) for each in route.backends)
    failing = [(reason, message) for reason, message in faults if reason]
    if not failing:
        return parent.conditions
    reason, message = next((each for each in failing if each[0] == "InvalidKind"), failing[0])
    resolved = Condition("ResolvedRefs", "False", reason, message)
    return tuple(resolved if each.type == "ResolvedRefs" else each for each in parent.conditions)


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
