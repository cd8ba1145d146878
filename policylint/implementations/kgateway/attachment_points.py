"""The points where kgateway merges policies and reports on them: route configs, virtual hosts, routes, backends.

translator/irtranslator/{gateway,route}.go. A listener with TLS has a filter chain and so a route config of its own, in
which policies of its section stand before those of the whole Gateway; listeners without share the route config of their
port, which holds the Gateway's policies, and a section is a virtual host in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from policylint.implementations.kgateway.listeners import Fates, sets_of
from policylint.implementations.kgateway.merging import Level, fold, priority, ranked, ranked_once, rule_lists
from policylint.implementations.kgateway.routes import translates
from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment
from policylint.topology import Topology, whole
from policylint.topology.delegation import without_cycles
from policylint.topology.extensions import extensions
from policylint.topology.routes import rules
from policylint.topology.state import Delegation, ListenerState

Kept = Mapping[Node, list[Attachment]]
TLS_PROTOCOLS = ("HTTPS", "TLS")


class AttachmentPoint(NamedTuple):
    """One merge, and the ancestor on which it is reported."""

    ancestor: Node
    levels: tuple[Level, ...]

    @property
    def attachments(self) -> list[Attachment]:
        """Return the policies of all levels."""
        return [attachment for level in self.levels for attachment in level.attachments]


class MergeOutcome(NamedTuple):
    """The fate of one policy in one merge: Attached, Merged or Overridden, and by whom."""

    policy: ResourceKey
    ancestor: Node
    word: str
    by: frozenset[ResourceKey] = frozenset()


def outcomes(kind: str, points: Iterable[AttachmentPoint], joined: Set[str] = frozenset()) -> Iterator[MergeOutcome]:
    """Yield how each policy fares at each point (ir.MergeOrigins).

    Attached: it is among the origins of every field; Merged: of some; Overridden: of none.
    """
    for point in points:
        if not point.attachments:
            continue
        result = fold(kind, point.levels, joined)
        origins = {field: result.holders(field) for field in result.fields}
        for policy in (attachment.key for attachment in point.attachments):
            holding = sum(policy in holders for holders in origins.values())
            if holding == len(origins):
                yield MergeOutcome(policy, point.ancestor, "Attached")
            elif holding:
                yield MergeOutcome(policy, point.ancestor, "Merged")
            else:
                yield MergeOutcome(policy, point.ancestor, "Overridden", result.beaters(policy))


class AttachmentPoints:
    """The merges of one kind of policy in one topology."""

    def __init__(self, topology: Topology, kept: Kept, fates: Fates) -> None:
        self.topology = topology
        self.fates = fates
        self.kept = kept
        self.children: dict[tuple[ResourceKey, int], list[Delegation]] = {}
        for delegation in without_cycles(topology.delegations):
            self.children.setdefault((delegation.parent, delegation.rule), []).append(delegation)

    def all(self) -> Iterator[AttachmentPoint]:
        """Yield the points of Gateways, of routes, and of all other targets."""
        yield from self._gateways()
        yield from self._routes()
        yield from self._alone()

    def _of(self, node: Node) -> list[Attachment]:
        return self.kept.get(node, [])

    def _gateways(self) -> Iterator[AttachmentPoint]:
        for gateway in (each for each in self.topology.gateways if not each.class_resolution.missing):
            whole_gateway = ranked(self._of(whole(gateway.gateway.key)))
            fates = self.fates.of(gateway)
            sets = sets_of(gateway, self.topology)
            holders = [(gateway.listeners, ranked())]
            holders += [(each.listeners, ranked(self._of(whole(each.listener_set.key)))) for each in sets]
            shared: set[int | None] = set()
            """The ports of listeners without TLS, where the first one is reported on for all."""
            for listeners, of_set in holders:
                for listener in (each for each in listeners if fates[each.node].stands):
                    own = ranked(self._of(listener.node), of_set)
                    yield from self._listener(listener, own, () if listener.port in shared else whole_gateway)
                    if listener.protocol not in TLS_PROTOCOLS:
                        shared.add(listener.port)

    def _listener(
        self, listener: ListenerState, own: tuple[Attachment, ...], gateway: tuple[Attachment, ...]
    ) -> Iterator[AttachmentPoint]:
        ancestor = whole(listener.holder.key)
        if listener.protocol in TLS_PROTOCOLS:
            yield AttachmentPoint(ancestor, (Level(ranked_once(own, gateway)),))
            return
        yield AttachmentPoint(ancestor, (Level(gateway),))
        if self.fates.attached[listener.node]:  # without routes there is no virtual host
            yield AttachmentPoint(ancestor, (Level(own),))

    def _routes(self) -> Iterator[AttachmentPoint]:
        named = {node.key for node in self.kept}
        handing_on = {route for route, _ in self.children}
        for state in self.topology.routes:
            if state.route.key not in named and state.route.key not in handing_on:
                continue
            served = (each for each in state.parents if translates(each, state, self.fates, self.topology, served=True))
            parents = [Node(each.wanted, each.section, each.wanted.kind) for each in served]
            if not parents:
                continue
            for levels in self._chains(state.route.key, ()):
                if any(level.attachments for level in levels):
                    yield from (AttachmentPoint(parent, levels) for parent in parents)

    def _chains(self, route: ResourceKey, above: tuple[Level, ...]) -> Iterator[tuple[Level, ...]]:
        """Yield the levels for each rule at the end of a chain of delegations, the most specific first."""
        state = self.topology.route(route)
        if state is None:
            return
        for rule in rules(state.route):
            filters, own = rule_lists(self._of(rule.node))
            level = Level(ranked(filters, own, self._of(whole(route))), priority(state.route))
            levels = (level, *above)
            delegations = self.children.get((route, rule.number), [])
            for delegation in delegations:
                yield from self._chains(delegation.child, levels)
            if not delegations:
                yield levels

    def _alone(self) -> Iterator[AttachmentPoint]:
        """Yield the points of backends, which report on themselves."""
        for node, attachments in self.kept.items():
            if not node.key.kind.endswith("Route") and node.key.kind not in ("Gateway", "ListenerSet", "XListenerSet"):
                yield AttachmentPoint(whole(node.key), (Level(ranked(attachments)),))


def named_by_backends(topology: Topology) -> Mapping[ResourceKey, Set[Node]]:
    """Return the policies that filters of backendRefs name, with the parents of the routes: they are accepted there,
    and nobody says that they are attached (irtranslator/route.go, runBackendPolicies).
    """
    named: dict[ResourceKey, set[Node]] = {}
    for state in topology.routes:
        for extension in extensions(topology.world, state.route):
            if "backendRefs" in extension.pointer:
                parents = (Node(each.wanted, each.section, each.wanted.kind) for each in state.parents if each.attached)
                named.setdefault(extension.wanted, set()).update(parents)
    return named
