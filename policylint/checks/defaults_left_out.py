"""GWP525: fields with a default that Argo CD shows as a difference, because lists are compared as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

from policylint.checks.kit.applications import deployer_of, deploying_applications, is_ignored
from policylint.model import Finding, Resource, text
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
    schemas = Schemas(world.definitions, world.is_deployed_with)
    deploying = deploying_applications(world)
    for resource in world.resources.values():
        known = schemas.of(resource) if "." in resource.key.group else ()
        if not known:
            continue
        missing = [each for each in left_out(known[0].schema, resource.body) if each.listed]
        application = deployer_of(resource, deploying) if missing else None
        if application is not None and not _ignores(application, resource):
            yield _finding(resource, missing, application)


def _ignores(application: Resource, resource: Resource) -> bool:
    """Return whether somebody told Argo CD not to look at such differences."""
    return "ServerSideDiff=true" in text(application.annotations.get(_OPTIONS)) or is_ignored(application, resource)


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
