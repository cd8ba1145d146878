"""The policies that reach each proxy: one context per workload, Gateway, or Service behind a waypoint.

Source: docs/design/implementations/istio.md §0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from policylint.implementations.istio import labels, ztunnel
from policylint.implementations.istio.mesh import Mesh, Proxy, is_own
from policylint.model import Node, PolicyKind, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.paths import ListedPaths
from policylint.policy.results import Attachment, Effective, Group
from policylint.topology import whole

_PER_SERVICE = frozenset(
    {labels.AUTHORIZATION, labels.REQUEST_AUTHENTICATION, labels.TELEMETRY, labels.TRAFFIC_EXTENSION, labels.WASM}
)
_AT_ZTUNNEL = frozenset({labels.AUTHORIZATION, labels.PEER_AUTHENTICATION})
_WIDE_AT_WAYPOINTS = frozenset({labels.PROXY_CONFIG, labels.TELEMETRY})
"""Kinds whose policies for a namespace or the mesh reach waypoints too (§4); the others leave those to ztunnel."""
_OWN_NAMESPACE_FIRST = frozenset({labels.REQUEST_AUTHENTICATION, labels.TRAFFIC_EXTENSION, labels.WASM})
"""Kinds that look into the proxy's namespace before the root one (§2, §5)."""

Compose = Callable[[PolicyKind, tuple[Attachment, ...], tuple[str, ...]], Effective]
"""A merge: of a kind, the policies of a context in the order in which Istio looks at them, and its modes."""

_Stack = tuple[tuple[tuple[ResourceKey, str], ...], tuple[str, ...]]
"""The key of contexts with one result: their policies with the kinds of their nodes, and the modes."""


class ProxyContext(NamedTuple):
    """One context: a proxy, for a waypoint with one of the services behind it."""

    proxy: Proxy
    service: Resource | None = None

    @property
    def path(self) -> tuple[Node, ...]:
        return (self.proxy.node,) if self.service is None else (self.proxy.node, whole(self.service.key))

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Return the proxy's namespace, and the service's where it is another one."""
        own = self.proxy.namespace
        if self.service is None or self.service.key.namespace == own:
            return (own,)
        return (own, self.service.key.namespace)

    @property
    def modes(self) -> tuple[str, ...]:
        """Return the proxy's sides of requests: Gateways are CLIENT, waypoints SERVER, others both (telemetry.go)."""
        if self.proxy.waypoint:
            return ("SERVER",)
        return ("CLIENT",) if self.proxy.gateway or self.proxy.router else ("CLIENT", "SERVER")


def proxy_contexts(mesh: Mesh, kind: PolicyKind) -> Iterator[ProxyContext]:
    """Yield the contexts of a kind; PeerAuthentication has none at Gateways, which have listeners of their own."""
    for proxy in mesh.proxies:
        if proxy.ambient and kind.kind not in _AT_ZTUNNEL:
            continue
        if (proxy.gateway or proxy.router or proxy.place is not None) and kind.kind == labels.PEER_AUTHENTICATION:
            continue
        per_service = proxy.services if kind.kind in _PER_SERVICE else ()
        yield from (ProxyContext(proxy, service) for service in per_service)
        if not per_service or proxy.serves_pods:
            yield ProxyContext(proxy)


class ProxyContexts:
    """The contexts of one kind, grouped by the policies that reach them.

    Args:
        kept: attachments by node: workloads and Gateways, Services and ServiceEntries, the waypoints' GatewayClass, and
            namespaces.
        root: the root namespace.
        open_gateways: whether Gateways take policies of their namespace and of the mesh as sidecars do.
    """

    def __init__(
        self, mesh: Mesh, kind: PolicyKind, kept: Mapping[Node, list[Attachment]], root: str, open_gateways: bool
    ) -> None:
        self.open_gateways = open_gateways
        self.mesh = mesh
        self.kind = kind
        self.kept = kept
        self.root = root

    def groups(self, compose: Compose) -> list[Group]:
        """Return one group per stack of policies, sorted by its first context."""
        stacks: dict[_Stack, tuple[tuple[Attachment, ...], list[ProxyContext]]] = {}
        per_mode = self.kind.kind == labels.TELEMETRY
        for context in proxy_contexts(self.mesh, self.kind):
            stack = tuple(self._stack(context))
            if stack and self.kind.kind == labels.PROXY_CONFIG and context.proxy.own is not None:
                stack = (*stack, context.proxy.own)
            if stack:
                key = (tuple((each.key, each.node.key.kind) for each in stack), context.modes if per_mode else ())
                stacks.setdefault(key, (stack, []))[1].append(context)
        groups = [
            self._group(compose(self.kind, stack, modes), stack, contexts)
            for (_, modes), (stack, contexts) in stacks.items()
        ]
        return sorted(groups, key=lambda group: next(group.contexts()))

    def _stack(self, context: ProxyContext) -> Iterator[Attachment]:
        """Return the policies that reach a context, each once, in the order in which Istio looks at them."""
        reaching = {each.key: each for each in self._reaching(context) if self._acts(each, context)}
        return iter(sorted(reaching.values(), key=lambda each: (self._rank(each, context), *each.policy.age)))

    def _reaching(self, context: ProxyContext) -> Iterator[Attachment]:
        """Yield attachments from the least to the most specific node; a policy that comes twice is the latter's."""
        proxy = context.proxy
        closed = proxy.waypoint or (bool(proxy.gateway) and not self.open_gateways)
        if not proxy.assumed and (not closed or self.kind.kind in _WIDE_AT_WAYPOINTS):
            for namespace in dict.fromkeys((proxy.root or self.root, *context.namespaces)):
                yield from self.kept.get(labels.namespace_node(namespace), ())
        if proxy.waypoint:
            waypoints = whole(ResourceKey(*labels.GATEWAY_CLASS, "", labels.WAYPOINT_CLASS))
            yield from (each for each in self.kept.get(waypoints, ()) if each.key.namespace == self.root)
        for node in dict.fromkeys((proxy.gateway_node, proxy.node)):
            yield from self.kept.get(node, ())
        if context.service is not None:
            yield from self.kept.get(whole(context.service.key), ())

    def _acts(self, attachment: Attachment, context: ProxyContext) -> bool:
        """Tell whether an attached policy takes part after all."""
        policy = attachment.policy
        if self.kind.kind == labels.AUTHORIZATION:
            if context.proxy.ambient:
                return ztunnel.support(policy).enforced
            return not labels.is_dry_run(policy)
        if self.kind.kind == labels.PEER_AUTHENTICATION:
            return policy.key.namespace != self.root or labels.is_wide(policy)
        if self.kind.kind == labels.TELEMETRY and not labels.is_wide(policy):
            # Only those of the service's namespace, or the proxy's without a service, are looked at (§4, «Gaps»).
            return policy.key.namespace == context.namespaces[-1]
        return True

    def _rank(self, attachment: Attachment, context: ProxyContext) -> tuple[int, int]:
        """Rank wide before attached where the kind inherits, then by namespace in the kind's order."""
        namespace = attachment.key.namespace
        root = context.proxy.root or self.root
        order = (root, *context.namespaces)
        if self.kind.kind in _OWN_NAMESPACE_FIRST:
            order = (context.proxy.namespace, root, *context.namespaces)
        by_namespace = order.index(namespace) if namespace in order else len(order)
        if self.kind.kind in (labels.PEER_AUTHENTICATION, labels.PROXY_CONFIG, labels.TELEMETRY):
            return (int(not labels.is_wide(attachment.policy)), by_namespace)
        return (0, by_namespace)

    def _group(self, effective: Effective, stack: tuple[Attachment, ...], contexts: list[ProxyContext]) -> Group:
        policies = [attachment for attachment in stack if not is_own(attachment)]
        everybody = frozenset(policy.key for policy in policies)
        above = frozenset(policy.key for policy in policies if policy.node.key.kind not in ("Service", "ServiceEntry"))
        nodes: dict[Node, frozenset[ResourceKey]] = {}
        for policy in policies:
            if policy.node.key.kind in ("Namespace", "GatewayClass"):
                nodes[policy.node] = nodes.get(policy.node, frozenset()) | {policy.key}
        for context in contexts:
            nodes[context.path[0]] = everybody if context.service is None else above
            nodes[context.path[-1]] = everybody
        paths = ListedPaths(sorted(context.path for context in contexts))
        return Group(self.kind, effective, paths, nodes)
