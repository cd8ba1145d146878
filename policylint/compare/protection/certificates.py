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
from policylint.simulation.certificates import CertificateDemand, CertificateDemands
from policylint.topology import whole


def certificates_dropped(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield a cause per holder of a demand, with the listeners that are open now."""
    before, after = CertificateDemands(sides.before), CertificateDemands(sides.after)
    causes: dict[object, Cause] = {}
    for gateway in sides.after.topology.gateways:
        was = sides.before.topology.gateway(sides.pairing.was(gateway.gateway.key))
        if was is None or was.gateway.body is gateway.gateway.body:
            continue
        former = {sides.pairing.node(listener.node): listener for listener in was.listeners}
        for listener in gateway.listeners:
            demands = before.at(was, former[listener.node]) if listener.node in former else []
            own = [demand for demand in demands if not _is_known(sides.before, demand)]
            if own and listener.protocol == "HTTPS" and not after.at(gateway, listener):
                demand = own[0]
                cause = causes.setdefault((demand.holder, demand.pointer), _cause(sides, demand))
                yield cause, "", (whole(gateway.gateway.key), listener.node)


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
