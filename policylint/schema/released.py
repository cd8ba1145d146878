"""Schemas of single releases (schemas/releases/), for whoever knows which release a cluster has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from policylint.catalog.releases import STANDARD, Version, kinds, product, product_of, shown, version
from policylint.cel.nodes import Fuel
from policylint.schema.known import GATEWAY_API, Known, ManifestChecker, read_shipped, shipped_schema

Releases = Mapping[str, Version]
"""Release by product, of those that are known."""
_GONE: dict[str, Any] = {}


@cache
def served(group: str, kind: str, *, standard: bool = False) -> Mapping[Version, Mapping[str, Any]]:
    """Return the schemas of a kind by release and version, of the versions that the release serves.

    A schema that is a text is that of the version it names.

    Args:
        standard: whether the channel with fewer kinds and fields is meant.
    """
    name, path = kinds().get((group, kind), ("", ""))
    if standard:
        path = path.replace(f"{os.sep}{name}{os.sep}", f"{os.sep}{name}{STANDARD}{os.sep}")
    if not os.path.isfile(path):  # noqa: PTH113 - as of all shipped data
        return {}
    with open(path, "rb") as file:  # noqa: PTH123 - as of all shipped data
        releases = read_shipped(file.read().decode())["releases"]
    return {numbers: schemas for tag, schemas in releases.items() if (numbers := version(tag))}


@lru_cache(maxsize=512)
def released_schema(group: str, kind: str, served_as: str, release: Version, *, standard: bool = False) -> Known | None:
    """Return the schema of a version of a kind in a release; None where the release serves no such version."""
    schemas = served(group, kind, standard=standard).get(release, _GONE)
    schema = schemas.get(served_as)
    if isinstance(schema, str):
        return released_schema(group, kind, schema, release, standard=standard)
    if schema is None:
        return None
    fuel = Fuel()
    origin = product(product_of(group, kind)).tag(release) + (" (standard channel)" if standard else "")
    return Known(schema, ManifestChecker(schema, fuel), fuel, release=origin, lasting=True, exact=True)


def is_standard(name: str, releases: Releases) -> bool:
    """Tell whether the channel of a product that has less is in use."""
    return f"{name}{STANDARD}" in releases


def _of_release(
    group: str, kind: str, served_as: str, release: Version, *, standard: bool = False
) -> tuple[Known, ...]:
    """Return the schema of a version of a kind in a release; of one whose schemas are not there those of the releases
    around it, the later one first: what all of them refuse, it does. One before all of them may have taken anything."""
    known = product(product_of(group, kind)).with_schemas
    later, earlier = (each for each in known if each > release), (each for each in known if each < release)
    around = (release,) if release in known else (min(later, default=None), max(earlier, default=None))
    if around[-1] is None:
        return ()
    found = (released_schema(group, kind, served_as, each, standard=standard) for each in around if each is not None)
    return tuple(each for each in found if each is not None)


def is_before_all(group: str, kind: str, releases: Releases) -> bool:
    """Tell whether the release in use is one before all whose schemas are there: those say nothing of it."""
    name = product_of(group, kind)
    known = product(name).with_schemas if name in releases else ()
    return bool(known) and releases[name] < min(known)


def as_released(group: str, kind: str, served_as: str, releases: Releases) -> tuple[Known, ...] | None:
    """Return the schemas of a version of a kind where the release is known; None where it is not.

    A version that the release does not serve has none: what others there are stands for it.
    """
    release = releases.get(product_of(group, kind))
    return (_of_release(group, kind, served_as, release) or None) if release is not None else None


def as_told(group: str, kind: str, served_as: str, releases: Releases, told: Mapping[str, str]) -> tuple[Known, ...]:
    """Return the schemas of a version of a kind in the release that something in the tree names; none where nothing
    does, or where the release does not serve the version.

    Nothing of it is certain: the CRDs of a cluster may be of another release than its controller.
    """
    name = product_of(group, kind)
    standard = is_standard(name, releases)
    known = _of_release(group, kind, served_as, releases[name], standard=standard) if name in told else ()
    newest = next(iter(shipped_schema(group, kind, served_as)), None) if known else None
    return tuple(
        each._replace(exact=False, lasting=group in GATEWAY_API, told=told[name], newest=newest) for each in known
    )


__all__ = ["Releases", "as_released", "as_told", "is_before_all", "is_standard", "released_schema", "served", "shown"]
