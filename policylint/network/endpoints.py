"""The ends of connections: pods that no selector can tell apart, one per workload, and what stands in for unseen ones.

Labels, named ports and hostNetwork are the pod template's. A Pod with an owner stands for its owner; a workload with an
owner is left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from policylint.model import Resource, ResourceKey, World, integer, mapping, sequence, text
from policylint.model.kinds import WORKLOADS
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import OTHER_WORKLOADS
from policylint.network.ports import LAST, PROTOCOLS
from policylint.topology.workloads import pod_template, running

KINDS = (*WORKLOADS, *OTHER_WORKLOADS)
POD_ROLES = ("workload", "pods", "proxies")
"""The roles of ends that selectors of pods can select."""
_GROUPS = {kind: group for group, kind in KINDS}
_MADE = (("apps", "Deployment"), ("apps", "StatefulSet"), ("", "Pod"))
"""What unseen pods come from."""


class NamedPort(NamedTuple):
    """A container port with a name."""

    name: str
    protocol: str
    number: int


EndRole = Literal["workload", "pods", "proxies", "identity", "nodes", "api-server", "outside", "absent"]


class Endpoint(NamedTuple):
    """One end of connections.

    Args:
        role: workload; pods (not seen); proxies (of a Gateway); identity (of a Gateway without pods of its own); nodes;
            api-server; outside (an address or the name of a host, which has no number); absent (what only the other
            side of a comparison has).
        key: the object that it stands for: the workload, or the Gateway.
        namespace: of the pods; "" for what is no pod, and starting with `?` where it is not known.
        open: whether the pods may carry labels, and listen on ports, that nobody saw.
        host: whether the pods use their node's network.
        account: their service account, "" where it is not known.
        resource: the object that holds the pod template.
        alternative: whether another endpoint stands for the same proxies where they most likely are.
        owner: of an identity: whose it is.
    """

    role: EndRole
    key: ResourceKey
    namespace: str
    labels: Mapping[str, Any] = {}
    open: bool = False
    named: tuple[NamedPort, ...] = ()
    host: bool = False
    account: str = ""
    resource: Resource | None = None
    alternative: bool = False
    owner: str = ""

    @property
    def is_pod(self) -> bool:
        """Whether selectors of pods can select it."""
        return self.role in POD_ROLES

    @property
    def several(self) -> bool:
        """Whether it stands for more than one pod for certain, so that there are connections among them."""
        if self.role != "workload" or self.resource is None:
            return self.role == "pods"
        kind, replicas = self.resource.key.kind, self.resource.spec.get("replicas")
        return kind == "DaemonSet" or (type(replicas) is int and replicas > 1)

    @property
    def listed(self) -> frozenset[tuple[str, int]]:
        """The numbers of its container ports, with protocols: documentation, which no engine enforces."""
        if self.resource is None:
            return frozenset()
        spec = mapping(pod_template(self.resource).get("spec"))
        return frozenset((port.protocol, port.number) for port in _container_ports(spec))

    @property
    def suffix(self) -> str:
        """What its name has after the key's: ` (proxies)`, or whose identity it is."""
        return " (proxies)" if self.role == "proxies" else f" ({self.owner})" if self.owner else ""

    def __str__(self) -> str:
        return f"{self.key}{self.suffix}"


NODES = Endpoint("nodes", ResourceKey("", "", "", "the nodes"), "")
API_SERVER = Endpoint("api-server", ResourceKey("", "", "", "the API server"), "")


def workloads(world: World) -> list[Endpoint]:
    """Return one endpoint per workload, sorted by kind, namespace and name within the order of KINDS."""
    found: dict[ResourceKey, Endpoint] = {}
    for group, kind in KINDS:
        for resource in world.of_kind(group, kind):
            owner = _owner(world, resource) if "ownerReferences" in resource.metadata else None
            if owner is None:
                found[resource.key] = of_workload(resource, resource.key)
            elif kind == "Pod":
                found.setdefault(owner, of_workload(resource, owner))
    return list(found.values())


def stand_ins(world: World, namespaces: Iterable[str]) -> list[Endpoint]:
    """Return one endpoint for all unseen pods of each namespace in which there may be some."""
    return [
        Endpoint("pods", ResourceKey("", "Pods", namespace, "*"), namespace, open=True)
        for namespace in sorted(namespaces)
        if any(world.unseen.reason(ResourceKey(*kind, namespace, "")) for kind in _MADE)
    ]


def behind(service: ResourceKey, seen: Resource | None) -> Endpoint:
    """Return an endpoint for the unseen pods behind a Service: they carry at least the labels of its selector."""
    key = ResourceKey("", "Pods", service.namespace, service.name)
    selector = mapping(seen.spec.get("selector")) if seen is not None else {}
    labels = {name: value for name, value in selector.items() if isinstance(value, str)}
    return Endpoint("pods", key, service.namespace, labels, open=True)


def _owner(world: World, resource: Resource) -> ResourceKey | None:
    """Return the workload that controls an object, as far up as the world shows; None where none does."""
    owner: ResourceKey | None = None
    for _ in range(len(_GROUPS)):  # a chain is at most CronJob, Job, Pod; anything longer is a circle
        references = map(mapping, sequence(resource.metadata.get("ownerReferences")))
        kinds = ((text(reference.get("kind")), text(reference.get("name"))) for reference in references)
        above = next(((kind, name) for kind, name in kinds if kind in _GROUPS and kind != "Pod" and name), None)
        if above is None:
            return owner
        owner = ResourceKey(_GROUPS[above[0]], above[0], resource.key.namespace, above[1])
        seen = world.get(owner)
        if seen is None or seen is resource:
            return owner
        resource = seen
    return owner


def of_workload(resource: Resource, key: ResourceKey) -> Endpoint:
    """Return the end that the pods of a workload are, under the key of what they stand for."""
    template = pod_template(resource)
    spec = mapping(template.get("spec"))
    labels = mapping(mapping(template.get("metadata")).get("labels"))
    for value in labels.values():
        if type(value) is not str:
            labels = {name: value for name, value in labels.items() if isinstance(value, str)}
            break
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    return Endpoint(
        "workload",
        key,
        resource.key.namespace,
        labels,
        False,
        tuple(_container_ports(spec, named=True)),
        spec.get("hostNetwork") is True,
        account if isinstance(account, str) else "default",
        resource,
    )


def _container_ports(spec: Mapping[str, Any], *, named: bool = False) -> list[NamedPort]:
    """Return the ports of containers and of sidecars, or only those that have a name."""
    found: list[NamedPort] = []
    for container in running(spec):
        ports = container.get("ports")
        for port in ports if isinstance(ports, list) else ():
            if not isinstance(port, dict):
                continue
            name = text(port.get("name"))
            if named and not name:
                continue
            number, protocol = integer(port.get("containerPort")), port.get("protocol") or "TCP"
            if number is not None and 0 < number <= LAST and protocol in PROTOCOLS:
                found.append(NamedPort(name, protocol, number))
    return found
