"""What one side of a change has is at home in the tree: where the other side lacks it, no other repository has it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from copy import copy

from policylint.compare.pairing import Sides
from policylint.doors import with_doors
from policylint.doors.annotations import unseen
from policylint.model import ResourceKey, World
from policylint.model.resolution import Resolution
from policylint.policy.content import content_references
from policylint.simulation import Simulation, simulate
from policylint.simulation.serving import served

Unknown = Callable[[Simulation], Iterator[ResourceKey]]
"""Which references of a side nothing is known of."""


def at_home(sides: Sides) -> Sides:
    """Return both sides, each certain to lack what only the other one has and what policies of it name."""
    return _settled(sides, _named)


def requests_at_home(sides: Sides) -> Sides:
    """Return both sides, each certain to lack the backends and filters of its routes that only the other one has.

    What neither has is missing on both or on none, whoever names it: that hangs on what else is here, and no change of
    it makes it come. Whose workloads one side alone shows is an unseen client on both: who comes or goes is not let in
    or kept out by that.
    """
    sides = _with_clients_of_both(_settled(sides, _led_through))
    before, after = (dict(_decisive(side)) for side in sides[:2])
    return sides._replace(before=_doubting(sides.before, before, after), after=_doubting(sides.after, after, before))


def _with_clients_of_both(sides: Sides) -> Sides:
    if not any(with_doors(side).meshes.routing for side in sides[:2]):
        return sides
    accounts = [side.clients.by_account.keys() for side in sides[:2]]
    apart = accounts[0] ^ accounts[1]
    return sides._replace(before=_unseen(sides.before, apart), after=_unseen(sides.after, apart)) if apart else sides


def _unseen(side: Simulation, accounts: Collection[str]) -> Simulation:
    """Return a side on which the workloads of some accounts are no clients."""
    found = copy(side)
    found.unseen_accounts = accounts
    found.kept_clients = found.kept_doors = found.kept_tracer = None
    return found


_Named = tuple[str, ResourceKey]


def _decisive(side: Simulation) -> Iterator[tuple[_Named, Resolution]]:
    """Yield what routes and doors lead requests from and to, and what else on their way names."""
    side = with_doors(side)
    for state in side.topology.routes:
        yield from ((("parent", parent.wanted), parent.resolution) for parent in state.parents)
        yield from ((("backend", backend.wanted), backend.resolution) for backend in state.backends)
    yield from ((("object", each.wanted), each.resolution) for each in side.bindings)
    for _, listener in served(side.topology):
        yield from ((("listener", each.wanted), each.resolution) for each in listener.references)
    for resource in list(side.world.resources.values()):
        named = content_references(resource, side.world)
        yield from ((("content", each.wanted), side.world.resolve(each.wanted)) for each in named)


def _doubting(side: Simulation, own: Mapping[_Named, Resolution], others: Mapping[_Named, Resolution]) -> Simulation:
    """Return a side on which nothing is missing that may be there for all that the other side shows."""
    missing = (named for named, found in own.items() if found.missing and named in others and others[named].unknown)
    doubts = {named[1]: others[named].reason for named in missing}
    return simulate(side.world.doubting(doubts), side.catalog) if doubts else side


def _settled(sides: Sides, unknown: Unknown) -> Sides:
    pairing = sides.pairing
    before = _lacking(sides.before, pairing.new, sides.after.world, unknown)
    after = _lacking(sides.after, pairing.gone, sides.before.world, unknown)
    return Sides(before, after, pairing)


def _lacking(side: Simulation, others: AbstractSet[ResourceKey], other: World, unknown: Unknown) -> Simulation:
    """Return a side that knows what it lacks, computed anew where a reference leads there.

    What may make an object on this side, and did not where the object stood, keeps it unknown: it was moved there.
    """
    if not others:
        return side
    world = side.world
    absent = {
        key
        for key in unknown(side)
        if key in others
        and world.lacking({key}).resolve_inner(key).missing
        and world.unseen.reason(key) == other.unseen.reason(key)
    }
    return simulate(world.lacking(world.absent | absent), side.catalog) if absent else side


def _led_through(side: Simulation) -> Iterator[ResourceKey]:
    """Yield what routes and doors send requests to, or through, of which nothing is known; and the sets of listeners at
    which they come in, which are made for their routes. A Gateway may serve others, and stay elsewhere."""
    side = with_doors(side)
    parents = (each for state in side.topology.routes for each in state.parents if each.resolution.unknown)
    yield from (each.wanted for each in parents if each.wanted.kind.endswith("ListenerSet"))
    yield from (each.wanted for state in side.topology.routes for each in state.backends if each.resolution.unknown)
    yield from (each.wanted for each in side.bindings if each.resolution.unknown)
    yield from unseen(side.world)


def _named(side: Simulation) -> Iterator[ResourceKey]:
    """Yield what policies and other objects name of which nothing is known."""
    for resource in list(side.world.resources.values()):
        for reference in content_references(resource, side.world):
            if reference.resolution.unknown:
                yield reference.wanted
