"""GWP304 for what deploys this tree: from then on another revision is applied, or another repository, and not this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import RULE
from policylint.documents import Pointer
from policylint.model import Finding, Resource, World, is_symbolic, mapping, sequence, text, value_at
from policylint.model.words import count
from policylint.network.kinds import KINDS as NETWORK_POLICIES

_APPLICATION = ("argoproj.io", "Application")
_KUSTOMIZATION = ("kustomize.toolkit.fluxcd.io", "Kustomization")
_INSTANCE = ("fluxcd.controlplane.io", "FluxInstance")
_SOURCES = "source.toolkit.fluxcd.io"
_DEFAULT = "the default branch"
_USUAL = frozenset({"", "HEAD", "main", "master"})
_SAID = ("commit", "digest", "tag", "semver", "name", "branch")
"""What says which revision a source of Flux takes, the first one of them."""
Taken = tuple[str, str]
"""Repository and revision."""


def revisions_moved(sides: Sides) -> Iterator[Finding]:
    """Yield one finding for each Application or source from which other contents are applied than before, though this
    tree is what was looked at."""
    before, after = sides.before.world, sides.after.world
    judged = max(
        len(side.policies) + sum(1 for kind in NETWORK_POLICIES for _ in side.world.of_kind(*kind))
        for side in (sides.before, sides.after)
    )
    if not judged:
        return
    known = {resource.key: taken for resource, taken in _taken(before)}
    for resource, now in _taken(after, charts=True):
        for place, new in now.items():
            former = known.get(resource.key, {}).get(place)
            if former is None or _is_same(former, new) or any(map(is_symbolic, (*former, *new))):
                continue
            part = 1 if _repository(former[0]) == _repository(new[0]) else 0
            was, instead = former[part] or _DEFAULT, new[part] or _DEFAULT
            yield Finding(
                RULE,
                "warning",
                f"{resource.key} now deploys {instead} instead of {was}: its policies may differ from these",
                resource.location(*place),
                resources=(resource.key,),
                label=f"{count(judged, 'policy', 'policies')} judged as written in this tree",
                help=("fix: compare with what that revision has (`policylint diff`)",),
                confidence="assumed",
                ground="the other revision was not read",
                field=".".join(map(str, place)),
                environments=(after.name,),
            )


def _taken(world: World, *, charts: bool = False) -> Iterator[tuple[Resource, Mapping[Pointer, Taken]]]:
    """Yield what deploys directories of this tree, each with what it takes, by its place in the object.

    Args:
        charts: whether those of Applications count that take a published chart, which is in no tree.
    """
    for application in world.of_kind(*_APPLICATION):
        if charts or _deploys_here(application, world):
            places: list[Pointer] = [("spec", "source")]
            places += [("spec", "sources", index) for index in range(len(sequence(application.spec.get("sources"))))]
            sources = {place: mapping(value_at(application.body, place)) for place in places}
            yield (
                application,
                {
                    place: (text(source.get("repoURL")), text(source.get("targetRevision")))
                    for place, source in sources.items()
                    if (source.get("chart") and charts) or (source.get("path") and not source.get("chart"))
                },
            )
    for instance in world.of_kind(*_INSTANCE):
        sync = mapping(instance.spec.get("sync"))
        yield instance, {("spec", "sync"): (text(sync.get("url")), text(sync.get("ref")).removeprefix("refs/heads/"))}
    named = {
        (
            text(reference.get("kind")),
            text(reference.get("namespace")) or owner.key.namespace,
            text(reference.get("name")),
        )
        for owner in world.of_kind(*_KUSTOMIZATION)
        if _deploys_here(owner, world)
        for reference in [mapping(owner.spec.get("sourceRef"))]
    }
    for source in world.resources.values():
        if source.key.group == _SOURCES and (source.key.kind, source.key.namespace, source.key.name) in named:
            reference: Any = mapping(source.spec.get("ref"))
            revision = next((f"{field} {reference[field]}" for field in _SAID if reference.get(field)), "")
            yield source, {("spec",): (text(source.spec.get("url")), revision)}


def _deploys_here(owner: Resource, world: World) -> bool:
    return any(owner.document.file.endswith(entry) for entry in world.entries if entry)


def _is_same(former: Taken, new: Taken) -> bool:
    is_same_revision = former[1] == new[1] or {former[1], new[1]} <= _USUAL
    return is_same_revision and _repository(former[0]) == _repository(new[0])


def _repository(address: str) -> tuple[str, ...]:
    """Return owner and name of a repository: it may be reached by other ways, and be mirrored."""
    steps = address.lower().rstrip("/").removesuffix(".git").replace(":", "/").split("/")
    return tuple(steps[-2:])
