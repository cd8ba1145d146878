"""What attached policies make of each other, and of one request: effective policies, their order, their answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.catalog.kinds import Catalog
from policylint.catalog.shipped_file import Phase
from policylint.documents import Pointer
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import (
    Attachment,
    Effective,
    Group,
)
from policylint.topology import Topology, ancestry

if TYPE_CHECKING:
    from policylint.implementations.generic.detecting import Detection
    from policylint.implementations.generic.stops import Stop
    from policylint.policy.authorizing import Decision, RequestFacts
    from policylint.policy.client_addresses import Trust
from policylint.implementations.generic.attaching import Attachments
from policylint.implementations.generic.base import Behaviour


class Evaluating(Behaviour):
    """How policies of a kind act together.

    Attributes:
        ends_above: whether a path that ends above the level of the kind is a context too (see `Effects`).
    """

    ends_above = False

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return the effective policies of a kind, by default one per stack of policies over all contexts."""
        if kind.cross_namespace == "clients":
            return self._groups_of_clients(kind, kept, topology)
        return self.effects(kind, kept, topology).groups()

    def of_http(self, kind: PolicyKind) -> Collection[str]:
        """Return the settings of a kind that no connection without HTTP can have; by default every login."""
        return kind.settings.authentication

    def _groups_of_clients(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return the groups of a kind whose policies on other namespaces are for traffic from their own alone.

        Traffic comes from the namespace of the Gateway, or of the route of a mesh, that it passes first (GEP-713 of
        2023, «Policy TargetRef API»).
        """
        everything = (attachment for attached in kept.values() for attachment in attached)
        clients = {attachment.policy.key.namespace for attachment in everything if _is_of_client(attachment)}
        groups: list[Group] = []
        for namespace in (None, *sorted(clients)):
            acting = {
                node: [
                    attachment
                    for attachment in attached
                    if not _is_of_client(attachment) or attachment.policy.key.namespace == namespace
                ]
                for node, attached in kept.items()
            }
            elsewhere = frozenset(
                vertex
                for vertex, key in ancestry.origins(topology)
                if (key.namespace in clients if namespace is None else key.namespace != namespace)
            )
            unread = ancestry.unread(topology, kind, self.catalog) | elsewhere
            effects = Effects(topology, kind, acting, self.merge, ends_above=self.ends_above, unread=unread)
            groups += effects.groups(alone=namespace is None)
        return groups

    def effects(
        self, kind: PolicyKind, kept: Attachments, topology: Topology, idle: frozenset[tuple[Node, Node]] = frozenset()
    ) -> Effects:
        """Return what computes the groups: over contexts whose controllers read the kind, and along `idle` no edge."""
        unread = ancestry.unread(topology, kind, self.catalog)
        return Effects(topology, kind, kept, self.merge, ends_above=self.ends_above, idle=idle, unread=unread)

    def merge(self, stack: Stack) -> Effective:
        """Return the effective policy of a stack; by default by the kind's merge strategy."""
        from policylint.policy.strategies import merge

        return merge(stack)

    def in_words(self, policy: Resource) -> str:  # noqa: ARG002
        """Return what a policy as a whole does to requests, where its fields alone do not say so; else ""."""
        return ""

    def phases(
        self,
        kind: PolicyKind,
        spec: Mapping[str, Any],
        gateway: ResourceKey | None,
        topology: Topology,
        catalog: Catalog,
    ) -> Mapping[str, int]:
        """Return the fields of an effective spec that act at a known place of the order, with their places.

        By default as the catalog says; `begin` is not called before it.

        Args:
            gateway: on the way to which they act, None for traffic through none.
        """
        return placed(kind, spec, self.order(gateway, topology, catalog))

    def order(
        self,
        gateway: ResourceKey | None,  # noqa: ARG002 - for modules that override this
        topology: Topology,  # noqa: ARG002
        catalog: Catalog,
    ) -> Sequence[Phase]:
        """Return the order in which settings act at a Gateway."""
        return catalog.order(self.name)

    def client_certificates(self, kind: PolicyKind, spec: Mapping[str, Any]) -> tuple[Pointer, bool]:  # noqa: ARG002
        """Return where an effective spec asks a listener's clients for certificates, () where it does not, and whether
        those without one are turned away."""
        return (), False

    def forgeable_address(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Trust | None:  # noqa: ARG002
        """Return why clients of a listener may say which address they have; None, the default, where they may not."""
        return None

    def detection(self, gateway: Resource, kind: PolicyKind | None, spec: Mapping[str, Any]) -> Detection | None:  # noqa: ARG002
        """Return where a Gateway, or a policy on its listener, says that clients' addresses are to be looked for.

        Args:
            kind: of an effective policy that a request meets, with its spec; None for the Gateway itself.
        """
        return None

    def address_rule(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Pointer:  # noqa: ARG002
        """Return where an effective spec decides by the client's address alone; by default ()."""
        return ()

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:  # noqa: ARG002
        """Return what an effective spec answers one request; by default nothing is decided."""
        return ()

    def stops(self, groups: Iterable[Group], topology: Topology, catalog: Catalog) -> Iterable[Stop]:  # noqa: ARG002
        """Return the settings of effective policies for which listeners get no new configuration; by default none."""
        return ()

    def gives_way(self, kind: PolicyKind, path: str, beside: Iterable[Effective]) -> bool:  # noqa: ARG002
        """Return whether a setting does not act on a request because of policies of other kinds that it meets.

        By default it acts.

        Args:
            path: of the setting below the spec proper, dotted.
            beside: what else the request meets, of all kinds.
        """
        return False

    def concerning(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what of an effective spec is about one request; by default all of it.

        What is left out has conditions that do not hold; conditions that do are left out, too.
        """
        return spec

    def written_out(
        self,
        kind: PolicyKind,  # noqa: ARG002
        effective: Effective,  # noqa: ARG002
        spec: Mapping[str, Any],
        world: World,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return what of an effective spec is about one request, with the code that it names in its place."""
        return spec


def placed(kind: PolicyKind, spec: Mapping[str, Any], order: Sequence[Phase]) -> dict[str, int]:
    """Return the fields of a spec that an order names, with their places in it."""
    places = {setting: place for place, phase in enumerate(order) for setting in phase.settings}
    named = ((field, places.get(f"{kind.kind}.{field}", places.get(f"{kind.kind}.*"))) for field in spec)
    return {field: place for field, place in named if place is not None}


def walk(value: Any, pointer: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    """Yield a value and everything inside it, each before its content, with pointers that continue `pointer`."""
    yield pointer, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from walk(inner, (*pointer, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*pointer, index))


def _is_of_client(attachment: Attachment) -> bool:
    """Return whether a policy is attached to an object of another namespace."""
    home, namespace = attachment.policy.key.namespace, attachment.node.key.namespace
    return bool(home and namespace) and home != namespace
