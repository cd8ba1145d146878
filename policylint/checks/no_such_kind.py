"""GWP506: a kind or version that no API server has, since it is misspelt."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.naming import Meant, meant
from policylint.model import Finding, Resource, is_symbolic
from policylint.model.fix import Change, Fix
from policylint.simulation import Simulation

RULE = "GWP506"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each object of a kind that is one slip away from one that there is, and for each policy of a
    version that no known release serves."""
    world, catalog = simulation.world, simulation.catalog
    broken = {each.resource.key for each in simulation.broken}
    for group, kind in world.kinds():
        known = catalog.get(group, kind) if catalog.describes(group, kind) else None
        if known is not None:
            served = {*known.versions, *known.deprecated_versions}
            for policy in world.of_kind(group, kind):
                is_open = served and not world.definitions(group, kind) and policy.key not in broken
                if is_open and not (policy.provisional or policy.version in served or is_symbolic(policy.version)):
                    yield _version(policy, sorted(known.versions))
        elif not world.definitions(group, kind) and (right := meant(group, kind)) is not None:
            yield from (_kind(each, right) for each in world.of_kind(group, kind) if not each.provisional)


def _kind(resource: Resource, right: Meant) -> Finding:
    key = resource.key
    if right.group == key.group:
        field, old, new, label = "kind", key.kind, right.kind, f"the kind is {right.kind}"
    else:
        field, old, new = "apiVersion", resource.api_version, f"{right.group}/{resource.version}"
        label = f"{right.kind} is a kind of {right.group}"
    fix = Fix(f"write `{field}: {new}`", (Change("set", resource.location(field), old, new),), safe=right.certain)
    return Finding(
        RULE,
        "error",
        f"{key} is of a kind that {key.group} does not have: no API server takes it",
        resource.location(field),
        resources=(key,),
        label=label,
        help=(f"fix: {fix.title}",),
        confidence="certain" if right.certain else "assumed",
        ground="" if right.certain else f"the cluster may have a CRD for {key.kind} of {key.group}",
        field=field,
        fixes=(fix,),
    )


def _version(policy: Resource, served: list[str]) -> Finding:
    listed = ", ".join(served)
    return Finding(
        RULE,
        "note",
        f"{policy.key} is of version {policy.version}, which no known release of {policy.key.group} serves",
        policy.location("apiVersion"),
        resources=(policy.key,),
        label=f"known: {listed}",
        confidence="unknown",
        ground="a later release may serve it",
        field="apiVersion",
    )
