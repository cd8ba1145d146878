"""GWP525: fields with a default that Argo CD shows as a difference, because lists are compared as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from policylint.model import Finding, Resource, World, mapping, sequence, text
from policylint.model.fix import Change, Fix
from policylint.model.words import listing
from policylint.schema.defaults import DefaultedField, left_out
from policylint.schema.known import Schemas
from policylint.simulation import Simulation

RULE = "GWP525"
_OPTIONS = "argocd.argoproj.io/compare-options"


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    applications = world.of_kind("argoproj.io", "Application")
    if not applications:
        return
    schemas = Schemas(world.definitions, world.is_deployed)
    deploying = _deploying(applications, world)
    for resource in world.resources.values():
        known = schemas.of(resource) if "." in resource.key.group else ()
        if not known:
            continue
        missing = [each for each in left_out(known[0].schema, resource.body) if each.listed]
        application = _of(resource.document.file, deploying) if missing else None
        if application is not None and not _ignores(application, resource):
            yield _finding(resource, missing, application)


def _deploying(applications: Iterable[Resource], world: World) -> dict[str, Resource]:
    """Return the directories of this tree that Applications deploy, each with the first one that does."""
    found: dict[str, Resource] = {}
    for application in applications:
        file = application.document.file
        entry = next((each for each in _ends(file) if each in world.entries), "")
        sources = [mapping(application.spec.get("source")), *map(mapping, sequence(application.spec.get("sources")))]
        for source in sources if entry else ():
            directory = text(source.get("path")).strip("./")
            if directory and directory in world.entries[entry]:
                found.setdefault(file.removesuffix(entry) + directory, application)
    return found


def _ends(path: str) -> Iterator[str]:
    """Yield what is left of a path behind each of its slashes, the longest first."""
    while path:
        path = path.partition("/")[2]
        yield path


def _of(file: str, deploying: Mapping[str, Resource]) -> Resource | None:
    """Return what deploys the innermost of the directories of a file that anything does."""
    while file:
        file = file.rpartition("/")[0]
        if file in deploying:
            return deploying[file]
    return None


def _ignores(application: Resource, resource: Resource) -> bool:
    """Return whether somebody told Argo CD not to look at such differences."""
    if "ServerSideDiff=true" in text(application.annotations.get(_OPTIONS)):
        return True
    group, kind = resource.key.group, resource.key.kind
    entries = map(mapping, sequence(application.spec.get("ignoreDifferences")))
    return any(each.get("group") in (group, "*") and each.get("kind") in (kind, "*") for each in entries)


def _finding(resource: Resource, missing: list[DefaultedField], application: Resource) -> Finding:
    first = missing[0]
    here = [each for each in missing if each.pointer == first.pointer]
    changes = tuple(
        Change("entry", resource.location(*each.pointer), each.field, json.dumps(each.value))
        for each in reversed(missing)
    )
    fields = listing(sorted({each.field for each in missing}))
    return Finding(
        RULE,
        "note",
        f"{resource.key} leaves out {fields} in lists, which the API server fills in: Argo CD shows it as OutOfSync",
        resource.location(*first.pointer),
        resources=(resource.key, application.key),
        label=f"in the cluster it has {', '.join(f'{each.field}: {json.dumps(each.value)}' for each in here)} as well",
        help=(
            (
                "fix: write them out (--fix), or set `argocd.argoproj.io/compare-options: ServerSideDiff=true` on "
                f"{application.key}"
            ),
        ),
        confidence="assumed",
        ground="Argo CD may be told elsewhere to ask the API server",
        fixes=(Fix(f"write out {fields}", changes),),
    )
