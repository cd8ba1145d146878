"""What deploys an object of this tree, an Application of Argo CD or a Kustomization of Flux, and whether it is told to
leave it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from policylint.model import Resource, World, mapping, sequence, text


def deploying_applications(world: World) -> Mapping[str, Resource]:
    """Return the directories of this tree that Applications deploy, each with the first one that does."""
    found: dict[str, Resource] = {}
    for application in world.of_kind("argoproj.io", "Application"):
        file, entry = _entry(application, world)
        sources = [mapping(application.spec.get("source")), *map(mapping, sequence(application.spec.get("sources")))]
        for source in sources if entry else ():
            stated = text(source.get("path"))
            directory = stated.strip("./")
            if stated and directory in world.entries[entry]:
                found.setdefault((file.removesuffix(entry) + directory).rstrip("/"), application)
    return found


def deploying_kustomizations(world: World) -> Mapping[str, Resource]:
    """Return the directories of this tree that Kustomizations of Flux deploy, each with the first one that does."""
    found: dict[str, Resource] = {}
    for kustomization in world.of_kind("kustomize.toolkit.fluxcd.io", "Kustomization"):
        file, entry = _entry(kustomization, world)
        directory = text(kustomization.spec.get("path")).removeprefix("./").strip("/")
        if entry and directory and directory in world.entries[entry] and kustomization.spec.get("suspend") is not True:
            found.setdefault(file.removesuffix(entry) + directory, kustomization)
    return found


def is_left_alone(resource: Resource) -> bool:
    """Return whether Flux is told to leave an object as it is, once it is there.

    Source: fluxcd.io, Kustomization, «Controlling the apply behavior of resources».
    """
    behaviour = text(resource.annotations.get("kustomize.toolkit.fluxcd.io/ssa")).lower()
    disabled = resource.annotations.get("kustomize.toolkit.fluxcd.io/reconcile") == "disabled"
    return disabled or behaviour in ("ignore", "ifnotpresent")


def _entry(deployer: Resource, world: World) -> tuple[str, str]:
    """Return the file of what deploys something, and it as the entries of the environment have it, "" for none."""
    file = deployer.document.file
    return file, next((each for each in _ends(file) if each in world.entries), "")


def _ends(path: str) -> Iterator[str]:
    """Yield a path, and what is left of it behind each of its slashes, the longest first."""
    while path:
        yield path
        path = path.partition("/")[2]


def deployer_of(resource: Resource, deploying: Mapping[str, Resource]) -> Resource | None:
    """Return what deploys the innermost of the directories of an object's file that anything does."""
    file = resource.document.file
    while file:
        file = file.rpartition("/")[0]
        if file in deploying:
            return deploying[file]
    return None


def is_ignored(application: Resource, resource: Resource) -> bool:
    """Return whether an Application is told not to look at some differences of an object."""
    key = resource.key
    parts = (("group", key.group), ("kind", key.kind))
    named = (("namespace", key.namespace), ("name", key.name))
    return any(
        all(fnmatchcase(value, text(entry.get(field))) for field, value in parts)
        and all(fnmatchcase(value, text(entry.get(field)) or "*") for field, value in named)
        for entry in map(mapping, sequence(application.spec.get("ignoreDifferences")))
    )
