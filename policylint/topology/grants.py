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
from policylint.model.kinds import group_of
from policylint.topology.references import same_namespace

KINDS = ("ReferenceGrant", "ReferencePolicy")
"""ReferencePolicy is what v1alpha2 called it before v0.5."""

MOST_ENTRIES = 64
"""Entries of `from` and of `to` that are read; the API server takes 16 of each."""
_Place = tuple[str, ...]
"""Namespace of the grant, group and kind of the referrer, group and kind of what it names."""


def _place(namespace: str) -> str:
    """Return the namespace to look grants up by; all unknown namespaces count as one."""
    return UNKNOWN_NAMESPACE if namespace[:1] == UNKNOWN_NAMESPACE else namespace


def _has(names: set[str] | None, name: str) -> bool:
    return names is not None and ("" in names or name in names)


class _Trust:
    """What grants of one namespace let one kind name of another: by trusted namespace the names, "" for every one.

    Attributes:
        certain: by namespace that is known.
        possible: of a grant that may apply: its namespace or the name holds a variable. "" in place of the former.
    """

    __slots__ = ("certain", "possible")

    def __init__(self) -> None:
        self.certain: dict[str, set[str]] = {}
        self.possible: dict[str, set[str]] = {}

    def add(self, trusted: str, name: str) -> None:
        known = not is_symbolic(trusted) and trusted[:1] != UNKNOWN_NAMESPACE
        if known and not is_symbolic(name):
            self.certain.setdefault(trusted, set()).add(name)
        else:
            self.possible.setdefault(trusted if known else "", set()).add("" if is_symbolic(name) else name)

    def covers(self, namespace: str, name: str) -> bool | None:
        """Return whether an object of a known namespace may name this one; None where that is possible."""
        if _has(self.certain.get(namespace), name):
            return True
        return None if _has(self.possible.get(namespace), name) or _has(self.possible.get(""), name) else False


class Grants:
    """All ReferenceGrants of a world, by their namespace, the kind that they trust and the kind that it may name."""

    __slots__ = ("_by_place", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_place: dict[_Place, _Trust] = defaultdict(_Trust)
        for kind in KINDS:
            for grant in world.of_kind(GATEWAY_GROUP, kind):
                self._add(grant)

    def _add(self, grant: Resource) -> None:
        place = _place(grant.key.namespace)
        for trusted in map(mapping, sequence(grant.spec.get("from"))[:MOST_ENTRIES]):
            namespace = text(trusted.get("namespace"))
            for reference in map(mapping, sequence(grant.spec.get("to"))[:MOST_ENTRIES]) if namespace else ():
                kinds = [text(entry.get(field)) for entry in (trusted, reference) for field in ("group", "kind")]
                self._by_place[(place, *kinds)].add(namespace, text(reference.get("name")))
                if (meant := group_of(kinds[2])) != kinds[2]:  # some controllers take the word for it
                    self._by_place[(place, *kinds[:2], meant, kinds[3])].add(UNKNOWN_NAMESPACE, "")

    def allows(self, referrer: ResourceKey, target: ResourceKey) -> bool | None:
        """Return whether `referrer` may name `target`: always in its own namespace, else if a grant there says so.

        None where it is unknown: a namespace is unknown or comes from elsewhere, or a chart that was not rendered may
        hold the grant.
        """
        if not target.namespace:
            return True
        same = same_namespace(referrer.namespace, target.namespace)
        if same or same is None:
            return same
        uncertain = self._world.movable
        for namespace in (target.namespace, UNKNOWN_NAMESPACE):
            trust = self._by_place.get((namespace, *referrer[:2], *target[:2]))
            covered = False if trust is None else trust.covers(referrer.namespace, target.name)
            # A grant whose namespace is unknown may apply, or may not.
            if covered and namespace != UNKNOWN_NAMESPACE:
                return True
            uncertain = uncertain or covered is not False
        if uncertain or (self._world.partial and not self._world.deploys(target.namespace)):
            return None  # grants are where that namespace comes from
        unseen = self._world.unseen.reason(ResourceKey(GATEWAY_GROUP, "ReferenceGrant", target.namespace, ""))
        return None if unseen else False
