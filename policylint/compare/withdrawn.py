"""GWP325 for ReferenceGrants: what is named in another namespace, and is not known to be let any longer.

Where certainly no other grant lets it, the reference is refused on the side after, and GWP111 and GWP405 say so. Where
one may be in what was not seen, the grant that was there is the evidence that it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.routing import listeners
from policylint.compare.exchanged import holders
from policylint.compare.pairing import Sides
from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Finding, Resource, ResourceKey
from policylint.model.words import listing
from policylint.policy.content import content_references
from policylint.simulation import Simulation
from policylint.topology.grants import KINDS, Grants

RULE = "GWP325"
_Named = tuple[Resource, Pointer, ResourceKey]
"""What names something, where, and the object that it names."""


def grants_withdrawn(sides: Sides) -> Iterator[Finding]:
    """Yield a finding for each object that a grant let be named, and each kind and namespace that names it."""
    before, after, pairing = sides
    if not any(_is_changed(sides, grant) for kind in KINDS for grant in before.world.of_kind(GATEWAY_GROUP, kind)):
        return
    was, now = Grants(before.world), Grants(after.world)
    lost: dict[tuple[ResourceKey, str, str], list[_Named]] = {}
    for holder, pointer, wanted in _named(after):
        former = pairing.was(holder.key)
        if (
            former in before.world.resources
            and was.allows(former, pairing.was(wanted))
            and now.allows(holder.key, wanted) is None
        ):
            lost.setdefault((wanted, holder.key.kind, holder.key.namespace), []).append((holder, pointer, wanted))
    for (wanted, _, _), named in lost.items():
        yield _finding(after, wanted, named)


def _is_changed(sides: Sides, grant: Resource) -> bool:
    now = sides.after.world.get(sides.pairing.key(grant.key))
    return now is None or (now.body is not grant.body and now.spec != grant.spec)


def _named(side: Simulation) -> Iterator[_Named]:
    """Yield what routes, Gateways and policies name in other namespaces."""
    for route in side.topology.routes:
        yield from ((route.route, backend.pointer, backend.wanted) for backend in route.backends)
    for reference in (
        *(each for gateway in side.topology.gateways for each in gateway.references),
        *(each for listener in listeners(side.topology) for each in listener.references),
    ):
        yield reference.holder, reference.pointer, reference.wanted
    for holder, _ in holders(side):
        for content in content_references(holder, side.world):
            if content.wanted.namespace not in ("", holder.key.namespace):
                yield holder, content.pointer, content.wanted


def _finding(side: Simulation, wanted: ResourceKey, named: list[_Named]) -> Finding:
    keys = tuple(dict.fromkeys(holder.key for holder, _, _ in named))
    holder, pointer, _ = named[0]
    unseen = side.world.unseen.reason(ResourceKey(GATEWAY_GROUP, KINDS[0], wanted.namespace, ""))
    return Finding(
        RULE,
        "warning",
        f"no ReferenceGrant that was seen lets {listing(keys, most=3)} name {wanted} any longer",
        holder.location(*pointer),
        resources=(*keys[:1], wanted, *keys[1:20]),
        label="the grant that let it is gone, or names something else now",
        environments=(side.world.name,),
        confidence="assumed",
        ground=f"another grant may be in what was not seen ({unseen})" if unseen else "",
    )


__all__ = ["grants_withdrawn"]
