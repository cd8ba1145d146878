"""ReferenceGrants: the references across namespaces that they permit (GEP-709; every served version)."""

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
    """Return the namespace to look grants up by; all unknown namespaces count as one."""
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
            (text(reference.get("group")), text(reference.get("kind")), text(reference.get("name")))
            for reference in map(mapping, sequence(grant.spec.get("to")))
        ]
        for trusted in map(mapping, sequence(grant.spec.get("from"))):
            place = (_place(grant.key.namespace), text(trusted.get("group")), text(trusted.get("kind")))
            self._by_place[place].append((text(trusted.get("namespace")), targets))

    def allows(self, referrer: ResourceKey, target: ResourceKey) -> bool | None:
        """Return whether `referrer` may name `target`: always in its own namespace, else if a grant there says so.

        None where it is unknown: a namespace is unknown, or a chart that was not rendered may hold the grant.
        """
        if not target.namespace:
            return True
        same = same_namespace(referrer.namespace, target.namespace)
        if same or same is None:
            return same
        uncertain = self._world.movable
        for namespace in (target.namespace, UNKNOWN_NAMESPACE):
            for trusted, targets in self._by_place.get((namespace, referrer.group, referrer.kind), ()):
                trusts = same_namespace(trusted, referrer.namespace)
                if trusts is False or not trusted:
                    continue
                for group, kind, name in targets:
                    if (group, kind) != (target.group, target.kind) or (
                        name and name != target.name and not is_symbolic(name)
                    ):
                        continue
                    # A grant whose namespace or name is unknown may apply, or may not.
                    if trusts and namespace != UNKNOWN_NAMESPACE and not is_symbolic(name):
                        return True
                    uncertain = True
        if uncertain:
            return None
        unseen = self._world.unseen.reason(ResourceKey(GATEWAY_GROUP, "ReferenceGrant", target.namespace, ""))
        return None if unseen else False
