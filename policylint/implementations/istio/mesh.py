"""The proxies of a mesh as manifests show them: pod templates, Gateways deployed automatically, waypoints.

A proxy is a workload, namespace and labels (docs/design/implementations/istio.md §0). Offline there are no Pods; what
makes them is read instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.annotation import own_settings
from policylint.implementations.istio.labels import (
    DATAPLANE_MODE,
    GATEWAY,
    GATEWAY_CLASS,
    GATEWAY_CLASS_NAME,
    GATEWAY_NAME,
    INJECT,
    INJECTION,
    MANAGED,
    MESH_CONTROLLER,
    OWN_CLASSES,
    REVISION,
)
from policylint.implementations.istio.waypoints import Waypoints
from policylint.model import Node, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment
from policylint.topology import whole

_TEMPLATES = (
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("argoproj.io", "Rollout"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("networking.istio.io", "WorkloadEntry"),
    ("networking.istio.io", "WorkloadGroup"),
)
_OWNERS = frozenset({kind for _, kind in _TEMPLATES} | {"Gateway"})


class Proxy(NamedTuple):
    """One proxy, or the ztunnel of one workload.

    Args:
        node: the object that makes it.
        labels: of its pods.
        gateway: name of the Gateway it is deployed for, "" for sidecars.
        waypoint: whether it is one.
        ambient: the workload has no sidecar, its node's ztunnel enforces what can be enforced there.
        assumed: nobody in the tree says whose class the Gateway is of: only policies that name it count.
        services: what is bound to a waypoint.
        own: what the workload sets itself, None without anything.
    """

    node: Node
    labels: Mapping[str, Any]
    gateway: str = ""
    waypoint: bool = False
    ambient: bool = False
    assumed: bool = False
    services: tuple[Resource, ...] = ()
    own: Attachment | None = None

    @property
    def namespace(self) -> str:
        return self.node.key.namespace

    @property
    def gateway_node(self) -> Node:
        """The Gateway it is deployed for; itself where there is none."""
        if not self.gateway:
            return self.node
        return whole(ResourceKey(*GATEWAY, self.namespace, self.gateway))


class Mesh:
    """Every proxy of a world.

    Attributes:
        proxies: by kind, namespace and name: workloads first, then Gateways.
        waypoints: which objects are bound to which waypoint.
        inhabited: the namespaces in which workloads were seen, in the mesh or not.
        ambient: whether anything in the world says that ambient mode is in use.
    """

    __slots__ = ("ambient", "by_namespace", "inhabited", "proxies", "waypoints")

    def __init__(self, world: World) -> None:
        classes = {each.key.name: text(each.spec.get("controllerName")) for each in world.of_kind(*GATEWAY_CLASS)}
        gateways = [(each, _controller(each, classes)) for each in world.of_kind(*GATEWAY)]
        self.waypoints = Waypoints(world, {each.key: each for each, name in gateways if name == MESH_CONTROLLER})
        workloads = list(_workloads(world))
        self.inhabited = frozenset(each.key.namespace for each in workloads)
        self.proxies = [proxy for each in workloads for proxy in _sidecar(each, world)]
        for gateway, controller in gateways:
            if controller.startswith("istio.io/") or not controller:
                self.proxies += _gateway(gateway, controller, self.waypoints)
        self.by_namespace: dict[str, list[Proxy]] = {}
        for each in self.proxies:
            self.by_namespace.setdefault(each.namespace, []).append(each)
        self.ambient = bool(self.waypoints.bound) or any(
            text(each.labels.get(DATAPLANE_MODE)) == "ambient" for each in world.of_kind("", "Namespace")
        )


def _controller(gateway: Resource, classes: Mapping[str, str]) -> str:
    """The controllerName of a Gateway's class; "" where nobody says it, "?" for a class that is not Istio's."""
    name = text(gateway.spec.get("gatewayClassName"))
    known = classes.get(name) or OWN_CLASSES.get(name, "")
    if known or not classes or is_symbolic(name):
        return known
    return "?"


def _gateway(gateway: Resource, controller: str, waypoints: Waypoints) -> Iterator[Proxy]:
    """The Deployment that istiod makes for a Gateway, unless `addresses` points to one that is there already."""
    if not _is_managed(gateway):
        return
    waypoint = controller == MESH_CONTROLLER
    infrastructure = mapping(gateway.spec.get("infrastructure"))
    labels = {
        **(mapping(infrastructure.get("labels")) if infrastructure else gateway.labels),
        GATEWAY_NAME: gateway.key.name,
        GATEWAY_CLASS_NAME: text(gateway.spec.get("gatewayClassName")),
        MANAGED: (controller or "istio.io/gateway-controller").replace("/", "-"),
    }
    yield Proxy(
        whole(gateway.key),
        labels,
        gateway=gateway.key.name,
        waypoint=waypoint,
        assumed=not controller,
        services=tuple(waypoints.bound.get(gateway.key, ())) if waypoint else (),
    )


def _is_managed(gateway: Resource) -> bool:
    """IsManaged (gateway/conversion.go): no address, or one that is only the IP the Service shall get."""
    addresses = sequence(gateway.spec.get("addresses"))
    if len(addresses) > 1:
        return False
    return all(text(mapping(each).get("type"), "IPAddress") == "IPAddress" for each in addresses)


def _workloads(world: World) -> Iterator[Resource]:
    """What makes pods; Pods, ReplicaSets and Jobs that something else made stand for nothing new."""
    for kind in _TEMPLATES:
        for each in world.of_kind(*kind):
            owners = sequence(each.metadata.get("ownerReferences"))
            if not any(mapping(owner).get("kind") in _OWNERS for owner in owners):
                yield each


def pod_place(workload: Resource) -> Pointer:
    """Where the pods that a workload makes are described."""
    match workload.key.kind:
        case "Pod":
            return ()
        case "CronJob":
            return ("spec", "jobTemplate", "spec", "template")
        case _:
            return ("spec", "template")


def _pod(workload: Resource) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Metadata and spec of the pods, or of the machines that WorkloadEntry and WorkloadGroup stand for."""
    if workload.key.kind == "WorkloadEntry":
        return {"labels": {**mapping(workload.spec.get("labels")), **workload.labels}}, {}
    body: Mapping[str, Any] = workload.body
    for step in pod_place(workload):
        body = mapping(body.get(str(step)))
    if workload.key.kind == "WorkloadGroup":
        own = mapping(mapping(workload.spec.get("metadata")).get("labels"))
        return {"labels": {**mapping(body.get("labels")), **own}}, {}
    return mapping(body.get("metadata")), mapping(body.get("spec"))


def _sidecar(workload: Resource, world: World) -> Iterator[Proxy]:
    """The sidecar, the gateway or the ztunnel of a workload; nothing where labels keep it out of the mesh.

    A workload that no label speaks of is taken to be in the mesh: revisions and webhooks may put it there.
    """
    metadata, spec = _pod(workload)
    labels = mapping(metadata.get("labels"))
    node = whole(workload.key)
    if GATEWAY_NAME in labels:
        waypoint = text(labels.get(MANAGED)) == MESH_CONTROLLER.replace("/", "-")
        yield Proxy(node, labels, gateway=text(labels[GATEWAY_NAME]), waypoint=waypoint)
        return
    around = world.namespace_labels(workload.key.namespace) or {}
    inject = text(labels.get(INJECT)) or text(mapping(metadata.get("annotations")).get(INJECT))
    mode = text(labels.get(DATAPLANE_MODE)) or text(around.get(DATAPLANE_MODE))
    refused = inject == "false" or spec.get("hostNetwork") is True
    asked = inject == "true" or REVISION in labels or around.get(INJECTION) == "enabled"
    asked = asked or (REVISION in around and INJECTION not in around)
    if mode == "ambient" and (refused or not asked):
        yield Proxy(node, labels, ambient=True)
    elif not refused and (asked or around.get(INJECTION) != "disabled"):
        yield Proxy(node, labels, own=own_settings(workload, metadata, (*pod_place(workload), "metadata")))
