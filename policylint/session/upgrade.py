"""An upgrade: the same objects judged by the release in use and by another one, and what requests meet in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from policylint.catalog.releases import (
    CHANNELS,
    STANDARD,
    ReleasedProduct,
    Version,
    channel,
    kinds,
    names,
    parsed,
    product,
    shown,
)
from policylint.compare import pair_sides
from policylint.compare.contexts import changed_contexts
from policylint.compare.releases import judged_otherwise
from policylint.compare.requests import request_changes
from policylint.errors import UsageError
from policylint.model import GATEWAY_GROUP, SEVERITIES, text
from policylint.render.controllers import by_themselves, in_force, settings
from policylint.render.in_use import InUse, in_use
from policylint.simulation import simulate
from policylint.upgrade import Consequence, Move, Upgrade
from policylint.upgrade.changes import Looking
from policylint.upgrade.schemas import consequences

if TYPE_CHECKING:
    from policylint.compare.requests import RequestChange, RequestChanges
    from policylint.simulation import Simulation
    from policylint.workspace import Workspace


def releases(written: Iterable[str]) -> dict[str, Version]:
    """Return the releases that `NAME=VERSION` names.

    Raises:
        UsageError: one is no such text, or names no product or release that is known.
    """
    split = ((whole, *whole.partition("=")[::2]) for whole in written)
    return dict(parsed(name, said, whole) for whole, name, said in split)


def channels(written: Iterable[str]) -> dict[str, str]:
    """Return the channels that `NAME=VERSION-CHANNEL` names, by product.

    Raises:
        UsageError: a product has none.
    """
    split = ((whole, *whole.partition("=")[::2]) for whole in written)
    found = {name: channel(name, said, whole) for whole, name, said in split}
    return {name: each for name, each in found.items() if each}


def newest(workspace: Workspace, stated: Mapping[str, Version]) -> dict[str, Version]:
    """Return the newest release of every product of which a workspace has something and whose release is known, but for
    those that are stated to have it."""
    known = set()
    for simulation in workspace.simulations:
        for name in names():
            about = product(name)
            if name in stated:
                has_newer = stated[name] < about.newest
            else:
                has_newer = any(use.is_one for use in in_use(about, simulation.world, workspace.kustomizations))
            if has_newer and _is_there(about, simulation):
                known.add(name)
    return {name: product(name).newest for name in names() if name in known}


def run_upgrade(
    workspace: Workspace,
    targets: Mapping[str, Version],
    stated: Mapping[str, Version],
    lap: Callable[[str], object] = str,
    to_channels: Mapping[str, str] = {},
) -> Upgrade:
    """Judge the objects of a workspace by the releases in use, and by others.

    Args:
        targets: the releases to go to, by product.
        stated: the releases in use, as far as the command or the configuration says them.
        to_channels: the channels to go to, by product; those in use where none is named.

    Raises:
        UsageError: a release to go to is not after the one in use.
    """
    moves: list[Move] = []
    already: list[tuple[str, InUse]] = []
    found: dict[Consequence, list[str]] = {}
    requests = []
    for simulation in workspace.simulations:
        own, known = _moves(simulation, workspace, targets, stated, already, to_channels)
        moves += own
        if not own:
            continue
        for move in own:
            looking = Looking(move.product, simulation, [*move.uses], workspace.files, workspace.source_lines)
            after = {name: release for name, release in known.items() if name not in targets} | dict(targets)
            for consequence in consequences(looking, move.start, move.end, after, move.channels):
                found.setdefault(consequence, []).append(simulation.world.name)
        lap("judge both releases")
        requests.append((simulation.world.name, _requests(simulation, workspace, own, known)))
        lap("compare requests")
    present = {move.product.name for move in moves}
    return Upgrade(
        tuple(moves),
        tuple(
            sorted(
                (consequence._replace(environments=tuple(sorted(set(where)))) for consequence, where in found.items()),
                key=_order,
            )
        ),
        tuple(requests),
        tuple(name for name in targets if name not in present and name not in dict(already)),
        tuple(dict.fromkeys(already)),
    )


def _order(consequence: Consequence) -> tuple[object, ...]:
    severity = SEVERITIES.index(consequence.severity)
    return severity, consequence.file, consequence.line, consequence.product, consequence.release, consequence.change


def _moves(
    simulation: Simulation,
    workspace: Workspace,
    targets: Mapping[str, Version],
    stated: Mapping[str, Version],
    already: list[tuple[str, InUse]],
    to_channels: Mapping[str, str],
) -> tuple[list[Move], dict[str, Version]]:
    """Return what moves in an environment, and the releases that are in use there as far as they are known.

    Args:
        already: takes the products that are there already, with what says so.
    """
    moves: list[Move] = []
    known = dict(stated)
    for name in names():
        about = product(name)
        said = in_use(about, simulation.world, workspace.kustomizations)
        uses = [] if name in stated else [use for use in said if use.is_one]
        if uses:
            known[name] = uses[0].release
        if name not in targets or not (said or _is_there(about, simulation)):
            continue
        end = targets[name]
        earlier = [release for release in about.releases if release < end]
        start = known.get(name) or max(earlier, default=end)
        start = max((release for release in about.releases if release <= start), default=min(about.releases))
        own = CHANNELS[f"{name}{STANDARD}" not in simulation.catalog.releases]
        between = (own, to_channels[name]) if name in to_channels else None
        if start == end and between is not None and between[0] != between[1]:
            start = end
        elif start >= end and uses:
            already.append((name, uses[0]))
            continue
        elif start >= end:
            raise UsageError(f"release {shown(end)} of {about.title} is not after {shown(start)}, the one in use")
        ground = "stated" if name in stated else "read" if uses else "assumed"
        moves.append(Move(simulation.world.name, about, start, end, ground, tuple(uses or said), between))
    return moves, known


def _is_there(about: ReleasedProduct, simulation: Simulation) -> bool:
    """Tell whether an environment has an object of a product's kinds, or a class of its controller."""
    controllers = (
        simulation.catalog.implementation_of_controller(text(each.spec.get("controllerName")))
        for each in simulation.world.of_kind(GATEWAY_GROUP, "GatewayClass")
    )
    own = (kind for kind, (name, _) in kinds().items() if name == about.name)
    return about.name in controllers or any(simulation.world.of_kind(*kind) for kind in own)


def _requests(
    simulation: Simulation, workspace: Workspace, moves: list[Move], known: Mapping[str, Version]
) -> RequestChanges | None:
    """Return what requests meet otherwise in the releases to come, by simulating the same world twice."""
    start = {**known, **{move.product.name: move.start for move in moves}}
    end = {**known, **{move.product.name: move.end for move in moves}}
    start, end = ({name: _nearest(name, release) for name, release in each.items()} for each in (start, end))
    for name, release in simulation.catalog.releases.items():
        if name.endswith(STANDARD):
            start[name] = end[name] = release
    for move in moves:
        if move.channels is not None:
            end.pop(f"{move.product.name}{STANDARD}", None)
            end |= {f"{move.product.name}{STANDARD}": move.end} if move.channels[1] == CHANNELS[0] else {}
    before, after = (
        simulate(simulation.world, simulation.catalog.of_releases(each, _settings(simulation, workspace, each)))
        for each in (start, end)
    )
    (pair,) = pair_sides([before], [after])
    changed = judged_otherwise(before, after, pair.pairing)
    if not changed:
        return None
    contexts = changed_contexts(before, after, pair.pairing).changes
    return request_changes(pair, contexts, changed, whole=not (before.cut or after.cut))


def _settings(
    simulation: Simulation, workspace: Workspace, releases: Mapping[str, Version]
) -> dict[str, dict[str, object]]:
    """Return the settings of controllers, as their configurations in the tree state them for releases."""
    found = {}
    for name, release in releases.items():
        if name.endswith(STANDARD):
            continue
        about = product(name)
        beside = by_themselves(about, workspace.files, workspace.source_lines)
        stated = [*((each, False) for each in beside), *in_force(about, simulation.world)]
        if said := settings(about, release, stated, simulation.catalog.known_settings(name)):
            found[name] = said
    return found


def _nearest(name: str, release: Version) -> Version:
    """Return the last release with known schemas up to one."""
    known = product(name).releases
    return max((each for each in known if each <= release), default=min(known))


_OPENING = ("opened", "less-asked")


def what_is_needed(upgrade: Upgrade) -> Upgrade:
    """Return only what must be done first, and the requests that come to be asked less."""
    return upgrade._replace(
        consequences=tuple(each for each in upgrade.consequences if each.needed),
        requests=tuple(
            (name, requests and requests._replace(changes=(*filter(_is_opening, requests.changes),)))
            for name, requests in upgrade.requests
        ),
    )


def reaches(upgrade: Upgrade, threshold: str) -> bool:
    """Tell whether anything is at or above a severity: requests that are asked less are errors, others warnings."""
    if threshold == "never":
        return False
    found: set[str] = {each.severity for each in upgrade.consequences}
    changes = [change for _, requests in upgrade.requests if requests is not None for change in requests.changes]
    found |= {"error" if _is_opening(change) else "warning" for change in changes}
    return not found.isdisjoint(SEVERITIES[: SEVERITIES.index(threshold) + 1])


def _is_opening(change: RequestChange) -> bool:
    return change.change in _OPENING
