"""What the sidecar of a client sees of the mesh: the hosts that its Sidecar lets in, and what becomes of the others.

Source: pilot/pkg/model/push_context.go, getSidecarScope; sidecar.go, selectServices and needsPortMatch (1.28);
istio.io/docs/reference/config/networking/sidecar. To a Service that it does not see a sidecar passes connections as
they are, without mTLS, or, with REGISTRY_ONLY, none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.protocols import carries_connections
from policylint.model import Resource, World, integer, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import names_service
from policylint.model.selectors import matches
from policylint.model.ternary import some
from policylint.namedtuple import NamedTuple
from policylint.policy.order import order_stated

EXPORT_TO = "networking.istio.io/exportTo"
"""The annotation with which a Service says who sees it."""
_DOMAIN = "svc.cluster.local"
_SEVERAL = 2


class View(NamedTuple):
    """What a client sees of a Service.

    Args:
        seen: whether it does; None where that is not known.
        by: the Sidecar that says so; the Service where its own annotation does.
        pointer: of what says so in it.
    """

    seen: bool | None = True
    by: Resource | None = None
    pointer: Pointer = ()


class Sidecars:
    """The Sidecars of a world by namespace: those that select workloads first, then by age."""

    __slots__ = ("_by_namespace", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_namespace: dict[str, list[Resource]] = {}
        for sidecar in sorted(world.of_kind("networking.istio.io", "Sidecar"), key=lambda each: each.age):
            self._by_namespace.setdefault(sidecar.key.namespace, []).append(sidecar)
        for sidecars in self._by_namespace.values():
            sidecars.sort(key=lambda sidecar: sidecar.spec.get("workloadSelector") is None)

    def of(self, namespace: str, pod_labels: Mapping[str, Any] | None, root: str) -> tuple[Resource, ...]:
        """Return the Sidecar of a workload; several where nothing says which of them is the oldest, or its labels."""
        of_namespace = self._by_namespace.get(namespace, ())
        own = [each for each in of_namespace if pod_labels is None or _selects(each, pod_labels)]
        if not own and namespace != root:
            everywhere = self._by_namespace.get(root, ())
            own = [each for each in everywhere if each.spec.get("workloadSelector") is None]
        alike = [each for each in own if pod_labels is None or _is_alike(each, own[0])]
        return tuple(each for each in alike if each is own[0] or not order_stated(own[0], each))

    def view(
        self, service: Resource, port: int | None, namespace: str, pod_labels: Mapping[str, Any] | None, root: str
    ) -> View:
        """Return what the sidecar of a workload sees of a port of a Service."""
        shown = is_shown(service, namespace)
        if not shown:
            return View(shown, service, ("metadata", "annotations", EXPORT_TO))
        views = [_through(sidecar, service, port, namespace) for sidecar in self.of(namespace, pod_labels, root)]
        if not views or all(view.seen for view in views):
            return View()
        asked = (port, namespace, pod_labels, root)
        if len({view.seen for view in views}) > 1 or (views[0].seen is False and self._is_routed_to(service, *asked)):
            return views[0]._replace(seen=None)
        return views[0]

    def shows(
        self,
        route: Resource,
        hosts: Sequence[str],
        port: int | None,
        namespace: str,
        pod_labels: Mapping[str, Any] | None,
        root: str,
    ) -> bool | None:
        """Return whether the Sidecar of a workload lets a route in, a VirtualService or a route for a Service, which it
        does by any of its hosts."""
        told = {_imports(each, route, hosts, port, namespace) for each in self.of(namespace, pod_labels, root)}
        return next(iter(told or {True})) if len(told) < _SEVERAL else None

    def refuses_unknown(self, namespace: str, pod_labels: Mapping[str, Any] | None, root: str, mode: str) -> bool:
        """Tell whether the sidecar of a workload lets nothing out to hosts that it does not see.

        Args:
            mode: the mesh's own, for workloads whose Sidecar says nothing about it.
        """
        for sidecar in self.of(namespace, pod_labels, root)[:1]:
            policy = sidecar.spec.get("outboundTrafficPolicy")
            if isinstance(policy, dict):  # the first of the enum's values is the default
                mode = text(policy.get("mode"), "REGISTRY_ONLY")
        return mode == "REGISTRY_ONLY"

    def taken_as(self, port: int | None, namespace: str, pod_labels: Mapping[str, Any] | None, root: str) -> str | None:
        """Return as which protocol the sidecar of a workload takes a port of its pods, by the listeners (`ingress`) of
        its Sidecar; "" where the first bytes show it, as at ports that it does not list, None where Services say so.

        Source: pilot/pkg/networking/core/listener_inbound.go, buildInboundChainConfigs, buildInboundPassthroughChains.
        """
        own = next(iter(self.of(namespace, pod_labels, root)), None)
        listeners = [] if own is None else [mapping(each) for each in sequence(own.spec.get("ingress"))]
        ports = (mapping(each.get("port")) for each in listeners)
        said = next((text(each.get("protocol")) for each in ports if integer(each.get("number")) == port), "")
        return said if listeners else None

    def hears(self, port: int | None, namespace: str, pod_labels: Mapping[str, Any] | None, root: str) -> bool:
        """Tell whether a sidecar listens for requests at a port because of any Service that it sees."""
        return any(
            any(integer(mapping(each).get("port")) == port for each in sequence(service.spec.get("ports")))
            and not carries_connections(service, port)
            and self.view(service, port, namespace, pod_labels, root).seen
            for service in self._world.of_kind("", "Service")
        )

    def _is_routed_to(
        self,
        service: Resource,
        port: int | None,
        namespace: str,
        pod_labels: Mapping[str, Any] | None,
        root: str,
    ) -> bool:
        """Tell whether a VirtualService names a Service as a destination, which shows it to who sees the former, or one
        that is let in has its name, which is a host of its own then: at port 80, and at those of its other hosts."""
        for virtual in self._world.of_kind("networking.istio.io", "VirtualService"):
            home = virtual.key.namespace
            if any(names_service(host, home, service.key) for host in _destinations(virtual)):
                return True
            hosts = texts(virtual.spec.get("hosts"))
            named = any(names_service(host, home, service.key) for host in hosts)
            if named and self.shows(virtual, hosts, port, namespace, pod_labels, root) is not False:
                return True
        return False


def _destinations(virtual: Resource) -> Iterator[str]:
    for kind in ("http", "tcp", "tls"):
        for route in map(mapping, sequence(virtual.spec.get(kind))):
            for share in map(mapping, sequence(route.get("route"))):
                yield text(mapping(share.get("destination")).get("host"))


def _selects(sidecar: Resource, pod_labels: Mapping[str, Any]) -> bool:
    selector = sidecar.spec.get("workloadSelector")
    return selector is None or matches({"matchLabels": mapping(mapping(selector).get("labels"))}, pod_labels)


def _is_alike(sidecar: Resource, other: Resource) -> bool:
    """Tell whether neither of two Sidecars goes before the other for what it selects."""
    return (sidecar.spec.get("workloadSelector") is None) == (other.spec.get("workloadSelector") is None)


def is_shown(service: Resource, namespace: str) -> bool | None:
    """Return whether a Service is shown to a namespace by its annotation, None where a variable says so."""
    readers = [reader.strip() for reader in text(service.annotations.get(EXPORT_TO)).split(",")]
    if readers == [""] or "*" in readers:
        return True
    if "~" in readers:
        return False
    if namespace in readers or ("." in readers and namespace == service.key.namespace):
        return True
    return None if any(map(is_symbolic, readers)) else False


def _through(sidecar: Resource, service: Resource, port: int | None, namespace: str) -> View:
    """Return what one Sidecar shows of a port of a Service to the workloads of a namespace."""
    listeners = [mapping(listener) for listener in sequence(sidecar.spec.get("egress"))]
    if not listeners:
        return View()
    answer = some(_lists(listener, service, port, namespace) for listener in listeners)
    return View(answer, sidecar, ("spec", "egress"))


def _lists(listener: Mapping[str, Any], service: Resource, port: int | None, namespace: str) -> bool | None:
    """Return whether an egress listener has a port of a Service."""
    own = mapping(listener.get("port"))
    number = integer(own.get("number")) or 0
    if number and text(own.get("protocol")).upper() != "HTTP_PROXY" and port is not None and number != port:
        return False
    answer = some(_names(text(host), service, namespace) for host in sequence(listener.get("hosts")))
    return None if answer and number and port is None else answer


def _imports(sidecar: Resource, route: Resource, hosts: Sequence[str], port: int | None, namespace: str) -> bool | None:
    """Return whether the egress listener of a Sidecar for a port has a route: the first one that fits is asked
    (GetEgressListenerForRDS; SelectVirtualServices)."""
    for listener in map(mapping, sequence(sidecar.spec.get("egress"))):
        number = integer(mapping(listener.get("port")).get("number"))
        if number and port is None:
            return None
        if number in (None, 0, port):
            stated = map(text, sequence(listener.get("hosts")))
            return some(_imports_by(each, route.key.namespace, hosts, namespace) for each in stated)
    return not sequence(sidecar.spec.get("egress"))


def _imports_by(written: str, own: str, hosts: Sequence[str], namespace: str) -> bool | None:
    """Return whether a host of an egress listener lets in a route of a namespace; None for variables, and what is left
    out (`~shop/web`)."""
    home, slash, host = written.partition("/")
    if is_symbolic(written) or (home.startswith("~") and home != "~"):
        return None
    if not slash or home == "~" or (home not in ("*", own) and not (home == "." and namespace == own)):
        return False
    return any(_meet(host, in_full(each, own)) for each in hosts)


def in_full(host: str, home: str) -> str:
    """Return a host as Istio knows it: what has no dot is a Service of the namespace of the object."""
    return host.lower() if "." in host or host == "*" else f"{host.lower()}.{home}.svc.cluster.local"


def _meet(one: str, other: str) -> bool:
    """Tell whether two hosts, either of which may begin with a wildcard, have any in common (host.Name.Matches)."""
    if one.startswith("*") and other.startswith("*"):
        return one[1:].endswith(other[1:]) or other[1:].endswith(one[1:])
    wild, host = (one, other) if one.startswith("*") else (other, one)
    return host.endswith(wild[1:]) if wild.startswith("*") else host == wild


def _names(written: str, service: Resource, namespace: str) -> bool | None:
    """Return whether a host such as `shop/*`, `./web.infra.svc.cluster.local` or `*/*` is a Service."""
    home, slash, host = written.partition("/")
    if is_symbolic(written):
        return None
    if not slash or home == "~":
        return False
    if home not in ("*", service.key.namespace) and not (home == "." and namespace == service.key.namespace):
        return False
    full = f"{service.key.name}.{service.key.namespace}.{_DOMAIN}"
    return full.endswith(host[1:]) if host.startswith("*") else host == full
