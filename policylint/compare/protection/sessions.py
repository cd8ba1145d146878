"""GWP304: proxies connect to a backend in the clear, or without verifying its certificate, and did better before.

Whatever says so: a policy, the backend itself, the port of a Service, an annotation, a field of a door's object. What
the words of the catalog tell of the same object is not told again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, Path, WeakenedWay
from policylint.compare.protection.extensions import nearest
from policylint.doors import with_doors
from policylint.implementations.generic.sessions import RANKS, BackendSession
from policylint.model import Location, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.topology import BackendState, RouteState, whole
from policylint.topology.routes import rules
from policylint.trace.backends import BackendTls
from policylint.trace.result import Share

_ABOUT_TLS = re.compile(
    r"protocol|scheme|termination|mode$|(^|\.)(tls|validation)$|ssl-services|server-ssl", re.IGNORECASE
)
_ABOUT_CERTIFICATES = re.compile(
    r"tls|ssl|validation|verif|protocol|scheme|certificate|authorit|transport", re.IGNORECASE
)
_READ = "what is sent there can be read and changed on the way"
_TAKEN = "whoever answers there is taken for it"
_LOST: Mapping[str, tuple[str, str]] = {
    "plain": ("is gone", _READ),
    "unverified": ("no longer verifies the certificate", _TAKEN),
    "encrypted": ("may no longer verify the certificate", "only the controller's own settings say whether it does"),
}
"""What becomes of TLS to a backend, by what is left of it, and what that means."""


class _Side(NamedTuple):
    simulation: Simulation
    tls: BackendTls

    def found(self, route: RouteState) -> Iterator[tuple[BackendState, ResourceKey, BackendSession]]:
        """Yield the backends of a route, with each Gateway that sends requests there and how."""
        gateways = dict.fromkeys(parent.gateway for parent in route.parents if parent.gateway is not None)
        for backend in route.backends:
            if backend.role == "backend" and not backend.reason:
                share = Share(backend.wanted, backend.port, 1, 1.0, backend.pointer, backend.section)
                for gateway in gateways:
                    session = self.tls.session(share, route.route, gateway)
                    if session is not None and gateway is not None:
                        yield backend, gateway, session


class SessionPair(NamedTuple):
    """How a rule of a route connects to a backend, before and after.

    Args:
        way: the route, and its rule.
    """

    backend: ResourceKey
    port: int | None
    was: BackendSession
    now: BackendSession
    way: Path

    @property
    def is_worse(self) -> bool:
        return RANKS.index(self.now.state) < RANKS.index(self.was.state)


def sessions_compared(sides: Sides) -> list[SessionPair]:
    """Return how backends that were not called in the clear are connected to on both sides."""
    before, after = (_Side(each, BackendTls(each)) for each in map(with_doors, (sides.before, sides.after)))
    now_by_route = {state.route.key: state for state in after.simulation.topology.routes}
    pairs = []
    for route in before.simulation.topology.routes:
        better = [each for each in before.found(route) if each[2].state != "plain"]
        now = now_by_route.get(sides.pairing.key(route.route.key)) if better else None
        left = [] if now is None else list(after.found(now))
        for backend, gateway, was in better if now is not None else ():
            place = sides.pairing.key(backend.wanted), backend.port, sides.pairing.key(gateway)
            same = [each for each in left if (each[0].wanted, each[0].port, each[1]) == place]
            same = [each for each in same if each[0].rule == backend.rule] or same
            if same and now is not None:
                rule = next((each.node for each in rules(now.route) if each.number == same[0][0].rule), None)
                way = (whole(now.route.key), *(() if rule is None else (rule,)))
                pairs.append(SessionPair(place[0], place[1], was, same[0][2], way))
    return pairs


def replaced(pairs: Iterable[SessionPair]) -> set[ResourceKey]:
    """Return the objects in whose place something else has backends connected to at least as well."""
    worse: dict[ResourceKey, bool] = {}
    for each in pairs:
        if each.was.by is not None:
            is_other = each.now.by is None or each.now.by.key != each.was.by.key
            worse[each.was.by.key] = worse.get(each.was.by.key, False) or each.is_worse or not is_other
    return {key for key, is_worse in worse.items() if not is_worse}


def sessions_weakened(sides: Sides, pairs: Iterable[SessionPair], told: Collection[Cause]) -> Iterator[WeakenedWay]:
    """Yield what connects to backends worse than before, with the rules of the routes to these.

    Args:
        told: what the words of the catalog say of the change.
    """
    causes: dict[tuple[object, ...], Cause] = {}
    for pair in pairs:
        if not pair.is_worse:
            continue
        words = _ABOUT_TLS if pair.now.state == "plain" else _ABOUT_CERTIFICATES
        own = {owner for cause in told if words.search(cause.field) for owner in cause.owners}
        route = pair.way[0].key
        saying = [sides.pairing.key(each.by.key) for each in (pair.now, pair.was) if each.by is not None]
        if own.isdisjoint(saying):
            owner = next((each for each in (*saying, route) if _is_changed(sides, each)), route)
            key = pair.backend, pair.port, pair.was.state, pair.now.state, owner
            if key not in causes:
                causes[key] = _cause(sides, pair.backend, pair.was, pair.now, owner)
            yield causes[key], "", pair.way


def _is_changed(sides: Sides, key: ResourceKey) -> bool:
    was, now = sides.before.world.get(sides.pairing.was(key)), sides.after.world.get(key)
    return was is None or now is None or was.body != now.body


def _cause(sides: Sides, backend: ResourceKey, was: BackendSession, now: BackendSession, owner: ResourceKey) -> Cause:
    change, says = _LOST[now.state]
    former = None if was.by is None else was.by.location(*was.pointer)
    verified = f", verified {was.against}" if was.state == "verified" else ""
    return Cause(
        "TLS" if owner == backend else f"TLS to {backend}",
        change,
        says,
        (owner,),
        location=_still(sides, was, now, owner),
        before=former,
        fix=f"keep TLS to {backend}{verified}",
        severity="note" if "encrypted" in (now.state, was.state) else "warning",
    )


def _still(sides: Sides, was: BackendSession, now: BackendSession, owner: ResourceKey) -> Location | None:
    """Return where it is said now: by the object that says so, else at the one that the change is about."""
    if now.by is not None and now.by.key == owner:
        return now.by.location(*now.pointer)
    left = sides.after.world.get(owner)
    if left is None or was.by is None or was.by.key != sides.pairing.was(owner):
        return None if left is None else left.name_location
    return nearest(left, was.pointer)
