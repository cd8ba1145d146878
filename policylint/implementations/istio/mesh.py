"""The proxies of a mesh as manifests show them: pod templates, Gateways deployed automatically, waypoints.

A proxy is a workload, namespace and labels (docs/design/implementations/istio.md §0). Offline there are no Pods; what
makes them is read instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from policylint.documents import Pointer, read
from policylint.implementations.istio import labels
from policylint.implementations.istio.labels import DEFAULT_REVISION
from policylint.implementations.istio.own_gateways import served_by, unseen_gateways
from policylint.implementations.istio.waypoints import Waypoints
from policylint.model import Node, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.selectors import Labelled
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, Declared, Target
from policylint.topology import whole
from policylint.topology.workloads import machine_labels, pod_template

if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint

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

_GATEWAY = "gateway"
_NEVER_INJECTED = frozenset({"kube-system", "kube-public", "kube-node-lease", "local-path-storage"})
"""Namespaces that the injector leaves alone whatever their labels say (IgnoredNamespaces, pkg/kube/inject)."""

_WANTED = frozenset({"", "true", "yes", "y", "on"})
"""What the annotation of a pod says where it does not refuse a sidecar (injectRequired)."""

_CONFIG_FIELDS = {"concurrency": "concurrency", "image": "image", "proxyMetadata": "environmentVariables"}
"""Fields of the mesh's ProxyConfig that the resource has too, under the names it gives them."""


class Proxy(NamedTuple):
    """One proxy, or the ztunnel of one workload.

    Args:
        node: the object that makes it.
        labels: of its pods.
        gateway: name of the Gateway it is deployed for, "" for sidecars.
        waypoint: whether it is one.
        ambient: the workload has no sidecar, its node's ztunnel enforces what can be enforced there.
        sure: whether manifests say that it is there; otherwise nothing says whether the workload is in the mesh.
        assumed: the class of the Gateway is not in the tree: only policies that name it count.
        root: the root namespace of its istiod where that is not the mesh's.
        services: the Services and ServiceEntries bound to a waypoint.
        serves_pods: whether requests to the addresses of workloads pass a waypoint.
        annotations: of the pods that a sidecar is injected into, or whose connections a ztunnel takes.
        own: the workload's own settings, None without any.
        revision: of its control plane, or the tag that its labels name.
        place: the namespace of pods that no manifest shows, "" where it is not known; None for those of `node`.
        router: whether its pods are a gateway by themselves: no sidecar, and nothing but what a Gateway has it open.
    """

    node: Node
    labels: Mapping[str, Any]
    gateway: str = ""
    waypoint: bool = False
    ambient: bool = False
    sure: bool = True
    assumed: bool = False
    root: str = ""
    services: tuple[Resource, ...] = ()
    serves_pods: bool = False
    annotations: Mapping[str, Any] = {}
    own: Attachment | None = None
    revision: str = DEFAULT_REVISION
    place: str | None = None
    router: bool = False

    @property
    def namespace(self) -> str:
        return self.node.key.namespace if self.place is None else self.place

    def is_within(self, home: str, root: str) -> bool:
        """Tell whether policies of a namespace hold for it: its own one, or the root, which is `root` for the mesh."""
        return home in (self.namespace, self.root or root)

    @property
    def gateway_node(self) -> Node:
        """Return the Gateway it is deployed for; itself where there is none."""
        if not self.gateway:
            return self.node
        return whole(ResourceKey(*labels.GATEWAY, self.namespace, self.gateway))


_LABELS: Callable[[Proxy], Mapping[str, Any]] = attrgetter("labels")


class Mesh:
    """The proxies of a world.

    Attributes:
        proxies: by kind, namespace and name: workloads first, then Gateways.
        waypoints: the waypoints and the objects bound to them.
        inhabited: the namespaces in which workloads were seen, in the mesh or not.
        ambient: whether anything in the world says that ambient mode is in use.
    """

    __slots__ = (
        "_labelled",
        "_made",
        "_meant",
        "_unseen",
        "ambient",
        "by_namespace",
        "inhabited",
        "proxies",
        "waypoints",
    )

    def __init__(self, world: World) -> None:
        classes = world.of_kind(*labels.GATEWAY_CLASS)
        names = {gateway_class.key.name: text(gateway_class.spec.get("controllerName")) for gateway_class in classes}
        gateways = [(gateway, _controller(gateway, names)) for gateway in world.of_kind(*labels.GATEWAY)]
        self.waypoints = Waypoints(
            world,
            {each.key: each for each, name in gateways if name == labels.MESH_CONTROLLER},
            {each.key for each, name in gateways if not labels.is_istio(name)},
        )
        workloads = list(_workloads(world))
        self.waypoints.bind_workloads((workload, mapping(_pod(workload)[0].get("labels"))) for workload in workloads)
        self.inhabited = frozenset(workload.key.namespace for workload in workloads)
        self.proxies = [proxy for workload in workloads for proxy in _sidecar(workload, world)]
        for gateway, controller in gateways:
            if labels.is_istio(controller) or not controller:
                around = world.namespace_labels(gateway.key.namespace) or {}
                self.proxies += _gateway(gateway, controller, self.waypoints, around)
        self._unseen = {
            gateway.key: Proxy(whole(gateway.key), mapping(gateway.spec.get("selector")), place=namespace)
            for gateway, namespace in unseen_gateways(world)
        }
        self.proxies += self._unseen.values()
        self.by_namespace: dict[str, list[Proxy]] = {}
        self._made: dict[tuple[str, ResourceKey], Proxy] = {}
        self._meant: dict[tuple[str, ResourceKey], Proxy] = {}
        for proxy in self.proxies:
            self.by_namespace.setdefault(proxy.namespace, []).append(proxy)
            self._made.setdefault((proxy.namespace, proxy.node.key), proxy)
            for key in (proxy.node.key, proxy.gateway_node.key):
                self._meant.setdefault((proxy.namespace, key), proxy)
        self._labelled: dict[str | None, Labelled[Proxy]] = {}
        modes = (namespace.labels.get(labels.DATAPLANE_MODE) for namespace in world.of_kind("", "Namespace"))
        self.ambient = bool(self.waypoints.bound) or "ambient" in map(text, modes)

    def proxy(self, key: ResourceKey) -> Proxy | None:
        """Return the proxy that an object makes, or the ztunnel of a workload."""
        if key in self._unseen:
            return self._unseen[key]
        return self._made.get((key.namespace, key))

    def meant(self, key: ResourceKey) -> Proxy | None:
        """Return the proxy that an object makes, or that is deployed for it where it is a Gateway."""
        return self._meant.get((key.namespace, key))

    def selected(self, selector: Mapping[str, Any], namespace: str | None = None) -> tuple[Proxy, ...]:
        """Return the proxies with the labels asked for, waypoints and assumed ones too; without a namespace of all."""
        labelled = self._labelled.get(namespace)
        if labelled is None:
            proxies = self.proxies if namespace is None else self.by_namespace.get(namespace, ())
            labelled = self._labelled[namespace] = Labelled(proxies, _LABELS)
        return labelled.matching(selector)


def _controller(gateway: Resource, classes: Mapping[str, str]) -> str:
    """Return the controllerName of a Gateway's class; "" where it is not known, "?" for a class that is not Istio's."""
    name = text(gateway.spec.get("gatewayClassName"))
    known = classes.get(name) or labels.OWN_CLASSES.get(name, "")
    if known or not classes or is_symbolic(name):
        return known
    return "?"


def _gateway(gateway: Resource, controller: str, waypoints: Waypoints, around: Mapping[str, Any]) -> Iterator[Proxy]:
    """Yield the Deployment that istiod makes for a Gateway, unless `addresses` points to an existing one.

    Args:
        around: the labels of its namespace.
    """
    if not _is_managed(gateway):
        return
    waypoint = controller in (labels.MESH_CONTROLLER, labels.EAST_WEST_CONTROLLER)
    openshift = labels.is_openshift(controller)
    infrastructure = mapping(gateway.spec.get("infrastructure"))
    pod_labels = {
        **(mapping(infrastructure.get("labels")) if infrastructure else gateway.labels),
        labels.GATEWAY_NAME: gateway.key.name,
        labels.GATEWAY_CLASS_NAME: text(gateway.spec.get("gatewayClassName")),
        labels.MANAGED: (labels.GATEWAY_CONTROLLER if openshift or not controller else controller).replace("/", "-"),
    }
    yield Proxy(
        whole(gateway.key),
        pod_labels,
        gateway=gateway.key.name,
        waypoint=waypoint,
        assumed=not controller,
        root=labels.OPENSHIFT_ROOT if openshift else "",
        services=tuple(waypoints.bound.get(gateway.key, ())) if waypoint else (),
        serves_pods=gateway.key in waypoints.of_workloads.values(),
        revision=_revision(gateway.labels, around),
    )


def _is_managed(gateway: Resource) -> bool:
    """Tell whether a Gateway has no address, or only the IP for its Service (IsManaged, gateway/conversion.go)."""
    addresses = sequence(gateway.spec.get("addresses"))
    if len(addresses) > 1:
        return False
    return all(text(mapping(each).get("type"), "IPAddress") == "IPAddress" for each in addresses)


def _workloads(world: World) -> Iterator[Resource]:
    """Yield the makers of pods; Pods, ReplicaSets and Jobs that something else made add nothing."""
    for kind in _TEMPLATES:
        for workload in world.of_kind(*kind):
            owners = sequence(workload.metadata.get("ownerReferences"))
            if not any(text(mapping(owner).get("kind")) in _OWNERS for owner in owners):
                yield workload


def pod_place(workload: Resource) -> Pointer:
    """Return the pointer to the description of the pods that a workload makes."""
    match workload.key.kind:
        case "Pod":
            return ()
        case "CronJob":
            return ("spec", "jobTemplate", "spec", "template")
        case _:
            return ("spec", "template")


def _pod(workload: Resource) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return metadata and spec of the pods, or of the machines that WorkloadEntry and WorkloadGroup stand for."""
    if workload.key.kind == "WorkloadEntry":
        return {"labels": machine_labels(workload)}, {}
    body: Mapping[str, Any] = workload.body
    for step in pod_place(workload):
        body = mapping(body.get(str(step)))
    if workload.key.kind == "WorkloadGroup":
        own = mapping(mapping(workload.spec.get("metadata")).get("labels"))
        return {"labels": {**mapping(body.get("labels")), **own}}, {}
    return mapping(body.get("metadata")), mapping(body.get("spec"))


def _sidecar(workload: Resource, world: World) -> Iterator[Proxy]:
    """Yield the sidecar, the gateway or the ztunnel of a workload; nothing where labels keep it out of the mesh.

    Without any such label it may be in the mesh: labels of namespaces are often set by hand, as Istio's documentation
    does it («Installing the Sidecar»), and of revisions and their tags only those count whose control plane is seen.
    """
    metadata, spec = _pod(workload)
    pod_labels = mapping(metadata.get("labels"))
    node = whole(workload.key)
    if labels.GATEWAY_NAME in pod_labels:
        waypoint = text(pod_labels.get(labels.MANAGED)) == labels.MESH_CONTROLLER.replace("/", "-")
        yield Proxy(node, pod_labels, gateway=text(pod_labels[labels.GATEWAY_NAME]), waypoint=waypoint)
        return
    around = world.namespace_labels(workload.key.namespace) or {}
    annotations = mapping(metadata.get("annotations"))
    given = labels.injected(pod_labels, workload.key.name)
    if _is_router(spec):
        yield Proxy(node, given, annotations=annotations, revision=_revision(pod_labels, {}), router=True)
        return
    on_host, home = spec.get("hostNetwork") is True, workload.key.namespace
    place = membership(pod_labels, annotations, home, around, on_host=on_host, written=_is_written_out(spec))
    if place == "ambient":
        yield Proxy(node, pod_labels, ambient=True, annotations=annotations)
    elif place is not None:
        inject = _inject(pod_labels, annotations)
        revision = text(pod_labels.get(labels.REVISION)) or text(around.get(labels.REVISION))
        by_revision = bool(revision) and inject != "true" and around.get(labels.INJECTION) != "enabled"
        sure = place == "sidecar" and (not by_revision or _is_installed(revision, world))
        sure = sure or workload.key.kind in ("WorkloadEntry", "WorkloadGroup") or labels.INJECTED in annotations
        serves = bool(served_by(world, pod_labels))
        sure = sure or serves
        own = _own_settings(workload, metadata, (*pod_place(workload), "metadata"))
        named = _revision(pod_labels, around if by_revision else {})
        router = serves or is_gateway(workload)
        yield Proxy(node, given, sure=sure, annotations=annotations, own=own, revision=named, router=router)


def membership(
    own: Mapping[str, Any],
    annotations: Mapping[str, Any],
    namespace: str,
    around: Mapping[str, Any],
    *,
    on_host: bool,
    written: bool = False,
) -> Literal["ambient", "sidecar", "maybe"] | None:
    """Return how pods are in the mesh, by their labels and those around them; None where they are kept out of it.

    A sidecar that is there (`istioctl kube-inject` writes it down) or is injected keeps a ztunnel from capturing them.
    Source: the selectors in manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml, and
    injectRequired in pkg/kube/inject/inject.go; PodRedirectionEnabled and podHasSidecar in cni/pkg/util/podutil.go.
    """
    if labels.INJECTED in annotations:
        return "sidecar"
    inject, own_mode = _inject(own, annotations), text(own.get(labels.DATAPLANE_MODE))
    refused = inject == "false" or on_host or namespace in _NEVER_INJECTED or not _is_webhook_asked(around)
    enrolled = inject == "true" or labels.REVISION in own or labels.INJECTION in around or labels.REVISION in around
    captured = (own_mode or text(around.get(labels.DATAPLANE_MODE))) == "ambient" and not on_host
    if captured and (refused or not enrolled):
        return "ambient"
    if written:
        return "sidecar"
    if refused or (not enrolled and own_mode == "none"):
        return None
    return "sidecar" if enrolled else "maybe"


def membership_of(end: Endpoint, world: World) -> str | None:
    """Return how the pods at an end of connections are in the mesh; of those that were not seen their labels count."""
    if not end.is_pod:
        return None
    template = pod_template(end.resource) if end.resource is not None else {}
    annotations = mapping(mapping(template.get("metadata")).get("annotations"))
    around = world.namespace_labels(end.namespace) or {}
    written = _is_written_out(mapping(template.get("spec")))
    return membership(end.labels, annotations, end.namespace, around, on_host=end.host, written=written)


def _is_written_out(spec: Mapping[str, Any]) -> bool:
    """Tell whether pods have the container of a sidecar as they stand (FindSidecar in pkg/kube/inject/webhook.go)."""
    containers = (*sequence(spec.get("containers")), *sequence(spec.get("initContainers")))
    return any(text(mapping(each).get("name")) == labels.PROXY_CONTAINER for each in containers)


def _is_router(spec: Mapping[str, Any]) -> bool:
    """Tell whether pods are gateways by themselves, as installations write them out: nothing is injected into them."""
    containers = map(mapping, sequence(spec.get("containers")))
    return any({"proxy", "router"} <= {*texts(container.get("args"))} for container in containers)


def is_gateway(workload: Resource) -> bool:
    """Tell whether the pods of a workload are a gateway of Istio: written out as one, injected, or called one.

    Source: manifests/charts/gateway/templates/deployment.yaml, and gateway-injection-template.yaml of istio-control.
    """
    metadata, spec = _pod(workload)
    own, annotations = mapping(metadata.get("labels")), mapping(metadata.get("annotations"))
    injected = text(annotations.get("inject.istio.io/templates")).split(",")
    return _is_router(spec) or _GATEWAY in map(str.strip, injected) or _GATEWAY in text(own.get("istio"))


def _inject(own: Mapping[str, Any], annotations: Mapping[str, Any]) -> str:
    """Return what pods say of a sidecar. An annotation only keeps it out: what asks for one is looked for in labels."""
    stated = text(annotations.get(labels.INJECT))
    return text(own.get(labels.INJECT)) or ("" if stated in _WANTED else "false")


def _is_webhook_asked(around: Mapping[str, Any]) -> bool:
    """Tell whether the labels of a namespace leave pods to the injector: any other word keeps all of them from it."""
    return text(around.get(labels.INJECTION, "enabled")) == "enabled"


def may_inject(namespace: str, world: World) -> bool:
    """Tell whether pods of a namespace may be in the mesh, as far as its name and labels say."""
    around = world.namespace_labels(namespace) or {}
    ambient = text(around.get(labels.DATAPLANE_MODE)) == "ambient"
    return ambient or (namespace not in _NEVER_INJECTED and _is_webhook_asked(around))


def _revision(own: Mapping[str, Any], around: Mapping[str, Any]) -> str:
    """Return the revision that the labels of an object name, else those of its namespace."""
    named = text(own.get(labels.REVISION)) or text(around.get(labels.REVISION))
    return named or DEFAULT_REVISION


def _is_installed(revision: str, world: World) -> bool:
    """Tell whether the control plane of a revision is in the tree; every installation has the tag `default`."""
    if revision == "default":
        return True
    planes = (plane.labels for plane in world.of_kind("apps", "Deployment") if plane.labels.get("app") == "istiod")
    return any(text(own.get(labels.REVISION)) == revision for own in planes)


def _own_settings(workload: Resource, metadata: Mapping[str, Any], place: Pointer) -> Attachment | None:
    """Return a workload's settings as if they were a policy on it; None without any that a ProxyConfig has.

    They are an annotation of its pods, whose metadata is at `place`, and stand between the ProxyConfig of the namespace
    and the one that selects the workload (docs/design/implementations/istio.md §7).
    """
    written = mapping(metadata.get("annotations")).get(labels.PROXY_ANNOTATION)
    if not isinstance(written, str):
        return None
    documents = read(written.encode(), workload.document.file).documents
    config = mapping(documents[0].value) if documents else {}
    proper = {name: config[field] for field, name in _CONFIG_FIELDS.items() if config.get(field) is not None}
    if not proper:
        return None
    prefix = (*place, "annotations", labels.PROXY_ANNOTATION)
    target = Target(prefix, workload.key)
    return Attachment(workload, whole(workload.key), target, (Declared(proper, prefix, "defaults", "patch"),))


def is_own(attachment: Attachment) -> bool:
    """Tell whether an attachment is a workload's own settings, not a policy."""
    return attachment.key == attachment.node.key
