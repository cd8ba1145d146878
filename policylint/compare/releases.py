"""GWP326: what another release of a controller, or of CRDs, makes of objects that the change itself does not touch.

Each side is judged by the release that is in use there. What schemas show and what a policy of a release refuses, other
rules tell at the object; what a release does otherwise beyond that is data, as `policylint upgrade` reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from policylint.catalog.releases import Version, about, names, product, shown
from policylint.compare.change import FindingChange
from policylint.compare.pairing import Pairing, Sides
from policylint.model import Finding, Location, Related, ResourceKey
from policylint.model.resource import Spot
from policylint.namedtuple import NamedTuple
from policylint.render.in_use import InUse, Lines, Naming, in_use, may_tell
from policylint.simulation import Simulation
from policylint.simulation.ranking import unread_route
from policylint.simulation.serving import unserved_listeners
from policylint.topology.ancestry import implementation_of
from policylint.upgrade import Move

RULE = "GWP326"


class TreeText(NamedTuple):
    """What stands in the files of both sides, beside objects.

    Args:
        files, lines: the files of the side after, and what stands in them.
        kustomizations: of both sides, those that may name releases.
    """

    files: Collection[str] = ()
    lines: Lines = lambda _: ()
    kustomizations: tuple[Sequence[Naming], Sequence[Naming]] = ((), ())


NO_TEXT = TreeText()


def moves(sides: Sides, tree: TreeText) -> list[Move]:
    """Return the products of which something in an environment comes to name a newer release than it named before,
    whatever else there names others; what the configuration states is the same on both sides."""
    pairs = list(zip((sides.before, sides.after), tree.kustomizations, strict=True))
    if not all(listed or may_tell(side.world) for side, listed in pairs):
        return []
    found = []
    for name in names():
        catalog = sides.after.catalog
        if name in catalog.releases and name not in catalog.told:
            continue
        both = (in_use(about(name), side.world, listed) for side, listed in pairs)
        before, after = ([use for use in uses if use.is_one] for uses in both)
        newer = list(_newer(before, after))
        if newer:
            start, end = min(was for was, _ in newer), max(use.release for _, use in newer)
            uses = sorted((use for _, use in newer), key=lambda use: use.release, reverse=True)
            uses += [use for use in after if use not in uses]
            found.append(Move(sides.after.world.name, product(name), start, end, "read", tuple(uses)))
    return found


def _newer(before: Sequence[InUse], after: Sequence[InUse]) -> Iterator[tuple[Version, InUse]]:
    """Yield what names a newer release than before, with the one before: the same object, and of what came in place of
    others the newest. What comes beside others counts where it is newer than all of them."""
    stayed = {(use.by, use.release) for use in before} & {(use.by, use.release) for use in after}
    gone, come = ([use for use in side if (use.by, use.release) not in stayed] for side in (before, after))
    own = {use.by: use.release for use in gone}
    others = [use.release for use in gone if use.by not in {each.by for each in come}] or [
        each.release for each in before
    ]
    for use in come:
        was = own.get(use.by, max(others, default=use.release))
        if was < use.release:
            yield was, use


def judged_otherwise(before: Simulation, after: Simulation, pairing: Pairing) -> set[ResourceKey]:
    """Return the objects that two releases read otherwise, by their identity after: refused, stored without a field,
    with another verdict, or not read at all."""
    old = {pairing.key(each.resource.key): each.violations for each in before.broken}
    new = {each.resource.key: each.violations for each in after.broken}
    changed = {key for key in {*old, *new} if old.get(key) != new.get(key)}
    for key, state in after.policies.items():
        former = before.policies.get(pairing.was(key))
        if former is None or (former.verdict, former.invalid) != (state.verdict, state.invalid):
            changed.add(key)
    changed |= {key for was in before.policies if (key := pairing.key(was)) not in after.policies}
    return changed | {key for key, _ in _unread(before, pairing).items() ^ _unread(after, None).items()}


def _unread(side: Simulation, pairing: Pairing | None) -> dict[ResourceKey, bool]:
    """Return the Gateways and routes of which the release in use does not read all, by their identity after; or for
    which policies are not."""
    if not side.catalog.releases:
        return {}
    found = {node.key for node in unserved_listeners(side)}
    for gateway in side.topology.gateways:
        if side.catalog.unread(implementation_of(gateway, side.catalog), "tls.frontend"):
            found.add(gateway.gateway.key)
    above = {state.kind.implementation for state in side.policies.values()}
    for route in side.topology.routes:
        if any(side.catalog.unread(name, route.route.key.kind) for name in above):
            found.add(route.route.key)
        gateways = (parent.gateway and side.topology.gateway(parent.gateway) for parent in route.parents)
        if any(unread_route(side, route.route, gateway) for gateway in gateways):
            found.add(route.route.key)
    return {key if pairing is None else pairing.key(key): True for key in found}


def changes_of_releases(sides: Sides, tree: TreeText) -> Iterator[Finding]:
    """Yield a finding for each place of which a later release makes something else."""
    found = moves(sides, tree)
    if not found:
        return
    from policylint.upgrade.changes import Looking
    from policylint.upgrade.schemas import consequences

    world = sides.after.world
    known = dict(sides.after.catalog.releases) | {move.product.name: move.end for move in found}
    for move in found:
        whole = move.product
        looking = Looking(whole, sides.after, [*move.uses], tree.files, tree.lines)
        goes = f"{whole.title} goes from {shown(move.start)} to {shown(move.end)}"
        related = (Related(f"{goes} here", move.uses[0].location),)
        for change in consequences(looking, move.start, move.end, known):
            if change.file:
                yield Finding(
                    RULE,
                    "warning" if change.needed else "note",
                    f"{change.subject} {change.says} (from {whole.title} {shown(change.release)} on)",
                    Location(Spot(change.file, change.line)),
                    label=goes,
                    related=related,
                    help=(f"fix: {change.todo}",) if change.todo else (),
                    confidence="assumed",
                    ground=f"{move.uses[0].said} names the release",
                    field=f"{whole.name}.{change.change}:{change.pointer}",
                    environments=(world.name,),
                )


def not_told_beside(changes: Iterable[FindingChange]) -> list[FindingChange]:
    """Return findings with their states, without those that another new one says at the same place."""
    listed = list(changes)
    told = {_place(each) for each in listed if each.state == "new" and each.finding.rule != RULE and _is_shown(each)}
    return [each for each in listed if each.finding.rule != RULE or _place(each) not in told]


def _place(change: FindingChange) -> tuple[str, int]:
    return change.finding.location.file, change.finding.location.at()[0]


def _is_shown(change: FindingChange) -> bool:
    return change.finding.confidence != "unknown"
