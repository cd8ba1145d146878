"""The releases by which an environment is judged: those that the configuration states, else those that its tree names.

A tree names a release where everything in it that does names the same one, and no range. What it says is evidence, and
no proof: nothing that rests on it alone is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.catalog.former import former_kinds
from policylint.catalog.kinds import Catalog
from policylint.catalog.releases import (
    OLDER,
    STANDARD,
    ReleasedProduct,
    Version,
    about,
    kinds,
    names,
    shown,
    stated,
    version,
)
from policylint.model import GATEWAY_GROUP, Location, Spot, World, mapping, sequence, text, texts
from policylint.model.words import listing
from policylint.render.in_use import InUse, Naming, in_use
from policylint.simulation import Simulation

ByHand = Callable[[], Iterable[tuple[str, str, str]]]
"""Yields script, chart and version of what scripts of a tree install."""


def judged(
    world: World,
    catalog: Catalog,
    written: Mapping[str, str],
    kustomizations: Iterable[Naming],
    by_hand: ByHand,
    home: str = "",
) -> Catalog:
    """Return a catalog for the releases that are in use in an environment, as far as they are known.

    Args:
        written: the releases of the configuration, by product.
        kustomizations: those of the tree that may name releases.
        by_hand: what scripts install, of files that no deployer applies.
        home: the directory that the environment is, with a slash at its end; "" where it is no one directory.

    Raises:
        UsageError: the configuration names a product or release that is not known.
    """
    releases: dict[str, Version] = stated(written)
    told: dict[str, str] = {}
    settings: dict[str, dict[str, Any]] = {}
    contradicted: dict[str, str] = {}
    others: dict[str, Version] = {}
    for product in present(world, catalog):
        uses = in_use(product, world, kustomizations) or _of_scripts(product, by_hand, home)
        if product.name in releases:
            other = next((use for use in uses if use.is_one and use.release != releases[product.name]), None)
            if other is not None:
                contradicted[product.name] = f"but {other.said} says {shown(other.release)}"
        elif uses and _is_one(uses) and uses[0].release in product.releases:
            releases[product.name] = uses[0].release
            told[product.name] = uses[0].said
            if all(use.is_standard for use in uses) and not _is_bundled(product, world, kustomizations):
                releases[f"{product.name}{STANDARD}"] = uses[0].release
        elif uses and all(use.is_one for use in uses):
            others[product.name] = max(use.release for use in uses)
            oldest = min(product.with_schemas, default=None)
            if product.controllers and oldest is not None and others[product.name] < oldest:
                releases[product.name], told[product.name] = oldest, uses[0].said + OLDER
        elif not uses and (brought := _bundled(product, world, kustomizations, by_hand, home)) is not None:
            others[product.name] = brought
        elif not uses and (unpacked := _unpacked(texts(product.found.get("unpacked")), by_hand, home)):
            others[product.name] = max(unpacked)
        if product.configuration and (said := _settings(product, world, catalog, releases.get(product.name))):
            settings[product.name] = said
    for former in former_kinds(world.kinds()).values():
        if former.told and (stated_there := _unpacked(former.told, by_hand, home)):
            others[former.reader] = max(stated_there)
    is_told = releases or others or settings
    return catalog.of_releases(releases, settings, told, contradicted, others) if is_told else catalog


def _of_scripts(product: ReleasedProduct, by_hand: ByHand, home: str) -> list[InUse]:
    """Return the releases of the charts of a product that scripts install: those near an environment, if there are."""
    names = {text(name) for field in ("charts", "repositories") for name in sequence(product.found.get(field))}
    brings = mapping(product.found.get("commands"))
    found = [
        InUse(
            release,
            f"{chart if '/' in chart or chart in brings else f'chart {chart}'} {stated} of {script}",
            Location(Spot(script)),
            stated,
        )
        for script, chart, named in (by_hand() if names else ())
        if chart in names or chart in brings
        if (release := version(stated := named or text(brings[chart]))) is not None and any(release)
    ]
    near = {use: _nearness(use.location.file, home) for use in found}
    return [use for use in found if near[use] == max(near.values())]


def _unpacked(words: Collection[str], by_hand: ByHand, home: str) -> list[Version]:
    """Return the releases that scripts state after some words: archives, variables, options; those near an environment.

    They tell what is read still, and nothing is judged by them.
    """
    found = [
        (_nearness(script, home), release)
        for script, name, stated in (by_hand() if words else ())
        if name in words and (release := version(stated)) is not None and any(release)
    ]
    nearest = max((near for near, _ in found), default=0)
    return [release for near, release in found if near == nearest]


def _nearness(script: str, home: str) -> int:
    """Return how many letters a script's directory has in common with another one, -1 if neither is in the other."""
    place = script[: script.rfind("/") + 1]
    return min(len(place), len(home)) if home.startswith(place) or place.startswith(home) else -1


def _is_bundled(product: ReleasedProduct, world: World, kustomizations: Iterable[Naming]) -> bool:
    """Tell whether the chart of another product that something installs brings CRDs of this one, of either channel."""
    others = (each for name in names() if (each := about(name)).found.get("bundles") == product.name)
    return any(in_use(other, world, kustomizations) for other in others)


def _bundled(
    product: ReleasedProduct, world: World, kustomizations: Iterable[Naming], by_hand: ByHand, home: str
) -> Version | None:
    """Return the newest release of a product that the charts of others bring which something installs."""
    brought = [
        version(text(mapping(other.found.get("bundled")).get(shown(use.release))))
        for other in (about(name) for name in names())
        if other.found.get("bundles") == product.name
        for use in in_use(other, world, kustomizations) or _of_scripts(other, by_hand, home)
        if use.is_one
    ]
    return max(filter(None, brought), default=None)


def _is_one(uses: Sequence[InUse]) -> bool:
    return all(use.is_one and use.release == uses[0].release for use in uses)


def present(world: World, catalog: Catalog) -> Iterator[ReleasedProduct]:
    """Yield the products of whose kinds an environment has objects, of former ones, too, and those that serve its
    GatewayClasses."""
    own = {*world.kinds()}
    found = {name for kind, (name, _) in kinds().items() if kind in own}
    if former := {each.reader for each in former_kinds(own).values()}:
        found |= {name for name in names() if about(name).title in former}
    for each in world.of_kind(GATEWAY_GROUP, "GatewayClass"):
        found.add(catalog.implementation_of_controller(text(each.spec.get("controllerName"))) or "")
    return (about(name) for name in names() if name in found)


def _settings(product: ReleasedProduct, world: World, catalog: Catalog, release: Version | None) -> dict[str, Any]:
    """Return the settings of a controller as its configurations state them; where the release is known, and none of
    these is whole, what they might state are its defaults of no release, since what is not seen may say otherwise."""
    from policylint.render.controllers import are_values_seen, in_force, settings

    known, found = catalog.known_settings(product.name), list(in_force(product, world))
    is_seen = are_values_seen(product, world) or any(is_whole for _, is_whole in found)
    is_open = release is not None and not is_seen
    switches = {text(mapping(each).get("name")) for each in sequence(product.configuration.get("settings"))}
    unseen = {name: setting.default for name, setting in known.items() if name in switches} if is_open else {}
    return unseen | settings(product, release, found, known)


def in_words(simulations: Sequence[Simulation], when: str = "") -> tuple[str, ...]:
    """Return the releases by which environments are judged, with what says that they are in use, each once, and where
    not in all environments.

    A product of which an environment has no object judges nothing there.

    Args:
        when: follows the release.
    """
    found: dict[str, list[str]] = {}
    for simulation in simulations:
        catalog = simulation.catalog
        for product in present(simulation.world, catalog) if catalog.releases or catalog.other_releases else ():
            other_release = catalog.other_releases.get(product.name)
            if product.controllers and other_release is not None and other_release < min(product.releases):
                older = f"{shown(other_release)}, which the tree names, is older than all that are known"
                judging = catalog.releases.get(product.name, product.newest)
                found.setdefault(f"{product.title} {shown(judging)}{when} ({older})", []).append(simulation.world.name)
            elif product.name in catalog.releases:
                because = catalog.told.get(product.name) or "as stated"
                if other := catalog.contradicted.get(product.name):
                    because = f"{because}, {other}"
                said = f"{product.title} {shown(catalog.releases[product.name])}{when} ({because})"
                found.setdefault(said, []).append(simulation.world.name)
    return tuple(
        said if len(where) == len(simulations) else f"{said} in {listing(sorted(where), most=4)}"
        for said, where in found.items()
    )
