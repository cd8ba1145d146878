"""Which policies reach which proxy: one context per workload, Gateway, or Service behind a waypoint.

Source: docs/design/implementations/istio.md §0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from policylint.implementations.istio import ztunnel
from policylint.implementations.istio.annotation import is_own
from policylint.implementations.istio.labels import (
    AUTHORIZATION,
    GATEWAY_CLASS,
    PEER_AUTHENTICATION,
    PROXY_CONFIG,
    REQUEST_AUTHENTICATION,
    TELEMETRY,
    TRAFFIC_EXTENSION,
    WASM,
    WAYPOINT_CLASS,
    is_dry_run,
    is_wide,
    namespace_node,
)
from policylint.implementations.istio.mesh import Mesh, Proxy
from policylint.model import Node, PolicyKind, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.order import age
from policylint.policy.results import Attachment, Effective, Group
from policylint.topology import whole

_PER_SERVICE = frozenset({AUTHORIZATION, REQUEST_AUTHENTICATION, TELEMETRY, TRAFFIC_EXTENSION, WASM})
_AT_ZTUNNEL = frozenset({AUTHORIZATION, PEER_AUTHENTICATION})
_WIDE_AT_WAYPOINTS = frozenset({PROXY_CONFIG, TELEMETRY})
"""Kinds whose policies for a namespace or the mesh reach waypoints too (§4); the others leave those to ztunnel."""
_OWN_NAMESPACE_FIRST = frozenset({REQUEST_AUTHENTICATION, TRAFFIC_EXTENSION, WASM})
"""Kinds that look into the proxy's namespace before the root one (§2, §5)."""

Compose = Callable[[PolicyKind, tuple[Attachment, ...], tuple[str, ...]], Effective]
"""From the policies of a context, in the order in which Istio looks at them, and its modes to their result."""

_Stack = tuple[tuple[tuple[ResourceKey, str], ...], tuple[str, ...]]
"""What contexts with one result have in common: the policies, on what they stand, and the modes."""


class Place(NamedTuple):
    """One context: a proxy, for a waypoint with one of the services behind it."""

    proxy: Proxy
    service: Resource | None = None

    @property
    def path(self) -> tuple[Node, ...]:
        return (self.proxy.node,) if self.service is None else (self.proxy.node, whole(self.service.key))

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The proxy's namespace, and the service's where it is another one."""
        own = self.proxy.namespace
        if self.service is None or self.service.key.namespace == own:
            return (own,)
        return (own, self.service.key.namespace)

    @property
    def modes(self) -> tuple[str, ...]:
        """On which side of requests the proxy stands (Gateways are CLIENT, waypoints SERVER: telemetry.go)."""
        if self.proxy.waypoint:
            return ("SERVER",)
        return ("CLIENT",) if self.proxy.gateway else ("CLIENT", "SERVER")


def places(mesh: Mesh, kind: PolicyKind) -> Iterator[Place]:
    """The contexts of a kind. PeerAuthentication is of no use to Gateways: they have listeners of their own."""
    for proxy in mesh.proxies:
        if proxy.ambient and kind.kind not in _AT_ZTUNNEL:
            continue
        if proxy.gateway and kind.kind == PEER_AUTHENTICATION:
            continue
        if proxy.services and kind.kind in _PER_SERVICE:
            yield from (Place(proxy, each) for each in proxy.services)
        else:
            yield Place(proxy)


class Contexts:
    """Groups the contexts of one kind by the policies that reach them.

    Args:
        kept: attachments by node: workloads and Gateways, Services and ServiceEntries, the waypoints' GatewayClass, and
            namespaces.
        root: the root namespace.
        open_gateways: whether Gateways take policies of their namespace and of the mesh as sidecars do.
    """

    def __init__(
        self,
        mesh: Mesh,
        kind: PolicyKind,
        kept: Mapping[Node, list[Attachment]],
        root: str,
        open_gateways: bool = True,
    ) -> None:
        self.open_gateways = open_gateways
        self.mesh = mesh
        self.kind = kind
        self.kept = kept
        self.root = root

    def groups(self, compose: Compose) -> list[Group]:
        """One group per stack of policies, sorted by its first context."""
        stacks: dict[_Stack, list[Place]] = {}
        attachments: dict[_Stack, tuple[Attachment, ...]] = {}
        per_mode = self.kind.kind == TELEMETRY
        for place in places(self.mesh, self.kind):
            stack = tuple(self._stack(place))
            if stack and self.kind.kind == PROXY_CONFIG and place.proxy.own is not None:
                stack = (*stack, place.proxy.own)
            if stack:
                key = (tuple((each.key, each.node.key.kind) for each in stack), place.modes if per_mode else ())
                stacks.setdefault(key, []).append(place)
                attachments.setdefault(key, stack)
        found = [
            self._group(compose(self.kind, attachments[key], key[1]), attachments[key], of_stack)
            for key, of_stack in stacks.items()
        ]
        return sorted(found, key=lambda group: next(group.contexts()))

    def _stack(self, place: Place) -> Iterator[Attachment]:
        """The policies that reach a context, each once, in the order in which Istio looks at them."""
        found = {each.key: each for each in self._reaching(place) if self._acts(each, place)}
        return iter(sorted(found.values(), key=lambda each: (self._rank(each, place), *age(each.policy))))

    def _reaching(self, place: Place) -> Iterator[Attachment]:
        """Attachments from the least to the most specific node; a policy that comes twice is the latter's."""
        proxy = place.proxy
        closed = proxy.waypoint or (bool(proxy.gateway) and not self.open_gateways)
        if not proxy.assumed and (not closed or self.kind.kind in _WIDE_AT_WAYPOINTS):
            for namespace in dict.fromkeys((self.root, *place.namespaces)):
                yield from self.kept.get(namespace_node(namespace), ())
        if proxy.waypoint:
            waypoints = whole(ResourceKey(*GATEWAY_CLASS, "", WAYPOINT_CLASS))
            yield from (each for each in self.kept.get(waypoints, ()) if each.key.namespace == self.root)
        for node in dict.fromkeys((proxy.gateway_node, proxy.node)):
            yield from self.kept.get(node, ())
        if place.service is not None:
            yield from self.kept.get(whole(place.service.key), ())

    def _acts(self, attachment: Attachment, place: Place) -> bool:
        """What of the attached policies takes part after all."""
        policy = attachment.policy
        if self.kind.kind == AUTHORIZATION:
            if place.proxy.ambient:
                return ztunnel.read(policy).enforced
            return not is_dry_run(policy)
        if self.kind.kind == PEER_AUTHENTICATION:
            return policy.key.namespace != self.root or is_wide(policy)
        if self.kind.kind == TELEMETRY and not is_wide(policy):
            # Only those of the service's namespace, or the proxy's without a service, are looked at (§4, «Gaps»).
            return policy.key.namespace == place.namespaces[-1]
        return True

    def _rank(self, attachment: Attachment, place: Place) -> tuple[int, int]:
        """Wide before attached where the kind inherits, then by namespace in the kind's order."""
        namespace = attachment.key.namespace
        order = (self.root, *place.namespaces)
        if self.kind.kind in _OWN_NAMESPACE_FIRST:
            order = (place.proxy.namespace, self.root, *place.namespaces)
        by_namespace = order.index(namespace) if namespace in order else len(order)
        if self.kind.kind in (PEER_AUTHENTICATION, PROXY_CONFIG, TELEMETRY):
            return (int(not is_wide(attachment.policy)), by_namespace)
        return (0, by_namespace)

    def _group(self, effective: Effective, stack: tuple[Attachment, ...], of_stack: list[Place]) -> Group:
        stack = tuple(each for each in stack if not is_own(each))
        everybody = frozenset(each.key for each in stack)
        above_services = frozenset(each.key for each in stack if each.node.key.kind not in ("Service", "ServiceEntry"))
        nodes: dict[Node, frozenset[ResourceKey]] = {}
        for each in stack:
            if each.node.key.kind in ("Namespace", "GatewayClass"):
                nodes[each.node] = nodes.get(each.node, frozenset()) | {each.key}
        for place in of_stack:
            nodes[place.path[0]] = everybody if place.service is None else above_services
            nodes[place.path[-1]] = everybody
        return Group(self.kind, effective, _Paths(tuple(sorted(place.path for place in of_stack))), nodes)


class _Paths:
    """The contexts of a group."""

    def __init__(self, paths: tuple[tuple[Node, ...], ...]) -> None:
        self.paths = paths

    def __call__(self) -> Iterator[tuple[Node, ...]]:
        return iter(self.paths)
