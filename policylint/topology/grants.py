"""ReferenceGrants: who may refer to what in another namespace (GEP-709; every served version)."""

from __future__ import annotations

from collections import defaultdict

from policylint.model import (
    GATEWAY_GROUP,
    UNKNOWN_NAMESPACE,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.topology.references import same_namespace

KINDS = ("ReferenceGrant", "ReferencePolicy")
"""ReferencePolicy is what v1alpha2 called it before v0.5."""

_From = tuple[str, str, str]


def _place(namespace: str) -> str:
    """All namespaces that nothing states are one place to look in."""
    return UNKNOWN_NAMESPACE if namespace[:1] == UNKNOWN_NAMESPACE else namespace


class Grants:
    """All ReferenceGrants of a world, by the namespace they are in and the kind that they trust."""

    __slots__ = ("_by_place", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        # (namespace of the grant, group and kind of the referrer) -> (trusted namespace, what it may name)
        self._by_place: dict[_From, list[tuple[str, list[_From]]]] = defaultdict(list)
        for kind in KINDS:
            for grant in world.of_kind(GATEWAY_GROUP, kind):
                self._add(grant)

    def _add(self, grant: Resource) -> None:
        targets = [
            (text(each.get("group")), text(each.get("kind")), text(each.get("name")))
            for each in map(mapping, sequence(grant.spec.get("to")))
        ]
        for each in map(mapping, sequence(grant.spec.get("from"))):
            place = (_place(grant.key.namespace), text(each.get("group")), text(each.get("kind")))
            self._by_place[place].append((text(each.get("namespace")), targets))

    def allows(self, referrer: ResourceKey, wanted: ResourceKey) -> bool | None:
        """Whether `referrer` may name `wanted`: always in its own namespace, else when a grant there says so.

        None where it cannot be known: a namespace is not known, or a chart that was not rendered may hold the grant.
        """
        if not wanted.namespace:
            return True
        near = same_namespace(referrer.namespace, wanted.namespace)
        if near or near is None:
            return near
        maybe = self._world.movable
        for namespace in (wanted.namespace, UNKNOWN_NAMESPACE):
            for trusted, targets in self._by_place.get((namespace, referrer.group, referrer.kind), ()):
                trusts = same_namespace(trusted, referrer.namespace)
                if trusts is False or not trusted:
                    continue
                for group, kind, name in targets:
                    if (group, kind) != (wanted.group, wanted.kind) or (
                        name and name != wanted.name and not is_symbolic(name)
                    ):
                        continue
                    if trusts and namespace != UNKNOWN_NAMESPACE and not is_symbolic(name):
                        return True
                    maybe = True
        if maybe:
            return None
        unseen = self._world.unseen.reason(ResourceKey(GATEWAY_GROUP, "ReferenceGrant", wanted.namespace, ""))
        return None if unseen else False
