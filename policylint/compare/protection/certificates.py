"""GWP304 for listeners: their clients needed a certificate, and need none any more.

What the catalog says of a policy's own setting is `settings`' to report.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path, value_at
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, WeakenedWay
from policylint.model import Location, Resource
from policylint.model.resource import deepest_written
from policylint.simulation import Simulation
from policylint.simulation.certificates import CertificateDemand, CertificateDemands, served
from policylint.topology import whole


def certificates_dropped(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield a cause per holder of a demand, with the listeners that are open now."""
    before, after = CertificateDemands(sides.before), CertificateDemands(sides.after)
    pairs = served(sides.before.topology)
    former = {sides.pairing.node(listener.node): (gateway, listener) for gateway, listener in pairs}
    causes: dict[object, Cause] = {}
    for gateway, listener in served(sides.after.topology):
        was = former.get(listener.node)
        if was is None or listener.protocol != "HTTPS":
            continue
        if was[0].gateway.body is gateway.gateway.body and was[1].holder.body is listener.holder.body:
            continue
        own = [demand for demand in before.at(*was) if not _is_known(sides.before, demand)]
        if own and not after.at(gateway, listener):
            demand = own[0]
            cause = causes.setdefault((demand.holder, demand.pointer), _cause(sides, demand))
            yield cause, "", tuple(dict.fromkeys((whole(gateway.gateway.key), whole(listener.node.key), listener.node)))


def _is_known(side: Simulation, demand: CertificateDemand) -> bool:
    """Return whether the catalog says what weakens the setting."""
    kind = side.catalog.get(*demand.holder[:2])
    return kind is not None and any(weak.path == ".".join(map(str, demand.pointer)) for weak in kind.weaker)


def _cause(sides: Sides, demand: CertificateDemand) -> Cause:
    key = sides.pairing.key(demand.holder)
    holder = sides.after.world.get(key)
    stands = holder is not None and value_at(holder.body, demand.pointer)
    return Cause(
        path(demand.pointer),
        "no longer demands one" if stands else "is gone",
        "nobody asks for a client certificate",
        (key,),
        location=None if holder is None else _place(holder, demand),
        before=demand.location,
        fix=f"keep `{path(demand.pointer)}`, or demand certificates in a policy",
    )


def _place(holder: Resource, demand: CertificateDemand) -> Location:
    pointer = deepest_written(holder.body, demand.pointer)
    return holder.location(*pointer, key=bool(pointer) and isinstance(pointer[-1], str))
