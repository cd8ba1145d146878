"""GWP304 for what deploys this tree: from then on another revision is applied, another repository or another directory,
and not this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import RULE
from policylint.documents import Pointer
from policylint.model import Finding, Resource, World, is_symbolic, mapping, sequence, text, value_at
from policylint.model.words import count, listing
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


def paths_moved(sides: Sides) -> Iterator[Finding]:
    """Yield one finding for each Application that takes in another directory than before, where Applications of the
    former one seem to be deployed still: nothing else brings them into the cluster, and Argo CD prunes them.

    Source: argoproj/argo-cd controller/sync.go: what is no longer in the source of an Application is pruned.
    """
    before, after = sides.before.world, sides.after.world
    known = {each.key: _paths(each) for each in before.of_kind(*_APPLICATION)}
    now = {each.key: _paths(each) for each in after.of_kind(*_APPLICATION)}
    for key, paths in now.items():
        for place, path in paths.items():
            was = known.get(key, {}).get(place, "")
            taken = [each for others in now.values() for each in others.values() if _is_inside(was, each)]
            if not was or was == path or taken or is_symbolic(was):
                continue
            lost = [
                each.key
                for kind in ("Application", "ApplicationSet")
                for each in after.of_kind(_APPLICATION[0], kind)
                if each.key != key and each.key in before.resources and f"/{was}/" in f"/{each.document.file}"
            ]
            resource = after.get(key)
            if lost and resource is not None:
                yield Finding(
                    RULE,
                    "warning",
                    f"{key} now takes in {path or 'the top'} instead of {was}: {listing(lost)} may be applied no more",
                    resource.location(*place, "path"),
                    resources=(key, *lost),
                    label="what its source no longer has is pruned",
                    help=(f"fix: let another Application take in {was}, if it is still meant to be deployed",),
                    confidence="assumed",
                    ground="people may have applied them by hand",
                    field=".".join(map(str, (*place, "path"))),
                    environments=(after.name,),
                )


def _paths(application: Resource) -> dict[Pointer, str]:
    """Return the directories that an Application takes in, by their places."""
    stated = {place: text(source.get("path")) for place, source in _sources(application).items()}
    return {place: path.removeprefix("./").strip("/") for place, path in stated.items() if path}


def _sources(application: Resource) -> dict[Pointer, Mapping[str, Any]]:
    """Return the sources of an Application, by their places."""
    places: list[Pointer] = [("spec", "source")]
    places += [("spec", "sources", index) for index in range(len(sequence(application.spec.get("sources"))))]
    return {place: mapping(value_at(application.body, place)) for place in places}


def _is_inside(path: str, directory: str) -> bool:
    """Return whether a directory is another one, or lies in it."""
    return f"{path}/".startswith(f"{directory}/") or directory in ("", ".")


def _taken(world: World, *, charts: bool = False) -> Iterator[tuple[Resource, Mapping[Pointer, Taken]]]:
    """Yield what deploys directories of this tree, each with what it takes, by its place in the object.

    Args:
        charts: whether those of Applications count that take a published chart, which is in no tree.
    """
    for application in world.of_kind(*_APPLICATION):
        if charts or _deploys_here(application, world):
            sources = _sources(application)
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
