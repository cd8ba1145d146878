"""What rules about Open Cluster Management share: names that nothing bears, and how sure a tree makes an answer."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.routing import grade
from policylint.checks.kit.suggestions import Nearby
from policylint.clusters.bindings import NamedReference, resolve
from policylint.model import Confidence, Finding, Related, Resource, World


def grounds(world: World, ground: str) -> tuple[Confidence, str]:
    """Return how sure it is that there is nothing else, and what that rests on: trees may leave it to another."""
    return ("assumed", ground) if world.partial else ("certain", "")


def dangling(
    rule: str, world: World, nearby: Nearby, holder: Resource, reference: NamedReference, effect: str
) -> Iterator[Finding]:
    """Yield the finding on a name that no object in its namespace bears; without the object nobody says anything.

    Args:
        effect: what comes of it.
    """
    key, resolution = reference.key, resolve(world, reference.key)
    if resolution.found or not key.name:
        return
    severity, confidence = grade(resolution.unknown)
    orphan = world.orphan(key)
    ground = ""
    if resolution.missing and world.partial and not nearby.is_shown(key):
        confidence, ground = grounds(world, "no file has anything like it, and another repository may")
    yield Finding(
        rule,
        severity,
        f"{holder.key} names "
        + (f"{key}, which is not among these manifests" if resolution.unknown else f"missing {key}"),
        holder.location(*reference.pointer),
        resources=(holder.key, key),
        label=resolution.reason if resolution.unknown else nearby.describe(key),
        related=() if orphan is None else (Related("not deployed", orphan.name_location),),
        help=() if resolution.unknown else (f"note: {effect}",),
        confidence=confidence,
        ground=ground,
        field=path(reference.pointer),
    )
