"""Lists of addresses at controllers of Ingresses that believe what clients write of their own.

Source: schemas/doors.yaml, `addresses`.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.doors import contour
from policylint.doors.addresses import SETTING, believed
from policylint.doors.annotations import served
from policylint.doors.extensions import guards_of
from policylint.doors.named import entries
from policylint.doors.vendors import Vendor
from policylint.implementations.generic.forged import ForgedRule
from policylint.model import Location, Resource, ResourceKey, World, mapping, text
from policylint.policy.client_addresses import EVERYONE, LOGIN, PAST_PROXIES, Believed, Trust, trusts_everyone


def forgeable(world: World) -> Iterator[ForgedRule]:
    """Yield the lists of Ingresses, and of HTTPProxies, that go by addresses which clients write."""
    yield from contour.forgeable(world)
    for ingress, vendor, certain in served(world):
        listed = listed_at(world, ingress, vendor) if certain and vendor.addresses else None
        guard = believed(world, vendor, ingress) if listed is not None else None
        if guard is None or listed is None:
            continue
        stated = mapping(guard.spec.get(SETTING))
        field, header = text(stated.get("field")), text(stated.get("header"))
        if "unseen" in stated or ("networks" in stated and trusts_everyone(stated["networks"]) is None):
            continue
        is_sure = not header and stated.get("recursive") is True
        past = PAST_PROXIES.replace("the Gateway", vendor.name).replace("X-Forwarded-For", header or "X-Forwarded-For")
        why = EVERYONE if is_sure else past
        fix = f"trust only the addresses of the proxies in front (`{field}`), {LOGIN}"
        place = guard.places.get((SETTING,)) or ("metadata", "annotations", f"{vendor.prefix}{field}")
        at = guard.holder.location(*place) if "networks" in stated else ingress.location(*place, key=True)
        trust = Trust((field,), why, certain=is_sure, fix=fix)
        yield ForgedRule(Believed(guard.holder, at, trust), listed[1], listed[0], ingress)


def listed_at(world: World, ingress: Resource, vendor: Vendor) -> tuple[Resource, Location] | None:
    """Return what holds the list of addresses of an Ingress, and where; None without one."""
    for name, about in vendor.reads.items():
        if mapping(about).get("at") in ("allow", "deny") and vendor.value(ingress, name):
            return ingress, ingress.location("metadata", "annotations", f"{vendor.prefix}{name}", key=True)
    about = vendor.extensions
    for each in entries(vendor.value(ingress, text(about.get("annotation")))) if about.get("reads") else ():
        kinds = ((text(about.get("kind")), ingress.key.namespace), (text(about.get("clusterKind")), ""))
        for kind, namespace in kinds:
            named = world.get(ResourceKey(text(about.get("group")), kind, namespace, each))
            for guard in guards_of(named, about) if named is not None else ():
                if named is not None and (place := guard.places.get(("allow",)) or guard.places.get(("deny",))):
                    return named, named.location(*place)
    return None
