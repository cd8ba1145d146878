"""GWP502: an API version that is superseded or no longer served, or a field that another one replaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.load.objects import objects_of
from policylint.model import GATEWAY_GROUP, Finding, Resource, mapping, sequence, text, value_at
from policylint.model.policy_kind import Reference
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.catalog.former import FormerKind
    from policylint.checks.kit.versions import Superseded
    from policylint.model.fix import Fix

RULE = "GWP502"
_LONG_SERVED = ("GRPCRoute", "Gateway", "GatewayClass", "HTTPRoute", "ReferenceGrant")
"""Kinds whose newer version has been served for years."""


def check(simulation: Simulation) -> Iterator[Finding]:
    from policylint.checks.kit.versions import SUPERSEDED, Superseded

    unserved = {finding.resources[0]: finding for finding in _unserved(simulation)}
    yield from unserved.values()
    for kind, versions in SUPERSEDED.items():
        for resource in simulation.world.of_kind(*kind):
            old = versions.get(resource.version)
            if old is not None and resource.key not in unserved and not _is_too_new(simulation, resource, old):
                yield _version(resource, old)
    for state in simulation.policies.values():
        instead = state.kind.deprecated_versions.get(state.policy.version)
        if instead is not None:
            name, _, version = instead.rpartition(" of ")  # `ListenerPolicy of gateway.kgateway.dev/v1alpha1`
            newer = Superseded(version, name)
            if not _is_too_new(simulation, state.policy, newer):
                yield _version(state.policy, newer)
        yield from _fields(state, simulation)
    yield from _former(simulation)


def _former(simulation: Simulation) -> Iterator[Finding]:
    """Yield the objects of kinds that their controllers read no more."""
    from policylint.catalog.former import former_kinds

    for key, former in sorted(former_kinds(simulation.world.kinds()).items()):
        for resource in () if _is_still_read(simulation, key, former) else simulation.world.of_kind(*key):
            if resource.provisional:
                continue
            yield Finding(
                RULE,
                "warning",
                f"{resource.key} does nothing: {former.reader} reads no {key[1]} of {key[0]} since {former.since}",
                resource.location("kind"),
                resources=(resource.key,),
                label=f"read today: {former.instead}",
                help=(f"fix: write {former.instead} in its place",),
                confidence="assumed",
                ground="the release in use may be older",
                field="kind",
            )


def _is_still_read(simulation: Simulation, kind: tuple[str, str], former: FormerKind) -> bool:
    """Return whether the release in use reads a kind: its number says so, or else the CRD that comes with it."""
    from policylint.catalog.releases import about, names, version

    catalog, since = simulation.catalog, version(former.since)
    for name, release in {**catalog.releases, **catalog.other_releases}.items():
        if since is not None and former.reader in (name, about(name).title if name in names() else ""):
            return release < since
    return bool(simulation.world.definitions(*kind))


def _unserved(simulation: Simulation) -> Iterator[Finding]:
    """Yield objects that the release in use serves in no such version, where no CRD of the tree says what is served."""
    catalog, world = simulation.catalog, simulation.world
    if not catalog.releases:
        return
    from policylint.catalog.releases import about, kinds, shown
    from policylint.schema.released import is_standard, served

    present = {*world.kinds()}
    for (group, kind), (name, _) in kinds().items():
        is_known = (group, kind) in present and name not in catalog.other_releases
        release = catalog.releases.get(name) if is_known else None
        if release is None or release not in about(name).with_schemas or world.definitions(group, kind):
            continue
        standard = is_standard(name, catalog.releases)
        title = f"{about(name).title} {shown(release)}{' (standard channel)' if standard else ''}"
        listed = served(group, kind, standard=standard).get(release, {})
        because = catalog.told.get(name, "")
        for resource in world.of_kind(group, kind):
            if resource.version not in listed and not resource.provisional:
                instead = f"`apiVersion: {group}/{next(iter(listed))}`" if listed else ""
                yield Finding(
                    RULE,
                    "error",
                    f"{resource.key} uses {resource.api_version}, which {title} does not serve",
                    resource.location("apiVersion"),
                    resources=(resource.key,),
                    label=f"{title} has {', '.join(listed) or f'no {kind}'}",
                    help=(f"fix: write {instead}, or upgrade first" if instead else "fix: upgrade first",),
                    confidence="assumed" if because else "certain",
                    ground=f"{because} names the release" if because else "",
                    field="apiVersion",
                )


def _is_too_new(simulation: Simulation, resource: Resource, old: Superseded) -> bool:
    """Tell whether what would be written instead is not served: by the CRD in the tree, or by the release in use."""
    group, _, version = old.instead.rpartition("/")
    kind = old.kind or resource.key.kind
    definitions = simulation.world.definitions(group, kind)
    if definitions:
        return not any(version in _served(each.value) for each in definitions)
    catalog = simulation.catalog
    if not catalog.releases and not catalog.other_releases:
        return False
    from policylint.catalog.releases import about, product_of
    from policylint.schema.released import served

    product = product_of(group, kind)
    release = catalog.other_releases.get(product) or catalog.releases.get(product)
    if release is None:
        return False
    schemas = served(group, kind)
    if release in about(product).with_schemas:
        return version not in schemas.get(release, ())
    return bool(schemas) and release < min(about(product).releases)


def _served(document: object) -> set[str]:
    """Return the versions that CRDs serve, all of a document together."""
    return {
        text(each.get("name"))
        for body, _ in objects_of(document)
        for each in map(mapping, sequence(mapping(body.get("spec")).get("versions")))
        if each.get("served") is not False
    }


def _version(resource: Resource, old: Superseded) -> Finding:
    fixes = _write_newer(resource, old)
    fields = f", and rewrite its spec: {old.kind} has other fields" if old.kind and not fixes else ""
    if old.kind and old.instead == resource.api_version:
        return Finding(
            RULE,
            old.severity,
            f"{resource.key} is of a kind that {old.kind} replaces",
            resource.location("kind"),
            resources=(resource.key,),
            label=f"use {old.kind}",
            help=(f"fix: write `kind: {old.kind}`{fields}",),
            field="kind",
            fixes=fixes,
        )
    gone = f", which Gateway API {old.gone} removed" if old.gone else ", which is superseded"
    instead = f"`apiVersion: {old.instead}`" if old.instead else "a newer version"
    kind = f" and `kind: {old.kind}`" if old.kind else ""
    return Finding(
        RULE,
        old.severity,
        f"{resource.key} uses {resource.api_version}{gone}",
        resource.location("apiVersion"),
        resources=(resource.key,),
        label=f"use {old.instead}{f', {old.kind}' if old.kind else ''}" if old.instead else "no longer served",
        help=(f"fix: write {instead}{kind}{fields}",),
        field="apiVersion",
        fixes=fixes,
    )


def _write_newer(resource: Resource, old: Superseded) -> tuple[Fix, ...]:
    """Return the fix that writes the newer version of a Gateway API kind; other kinds change fields between versions.

    Safe where every release in use has the newer version; else the cluster needs a late one.
    """
    from policylint.checks.kit.versions import X_GROUP
    from policylint.model.fix import Change, Fix

    if not old.instead or resource.key.group not in (GATEWAY_GROUP, X_GROUP):
        return ()
    changes = [Change("set", resource.location("apiVersion"), resource.api_version, old.instead)]
    if old.kind:
        changes.append(Change("set", resource.location("kind"), resource.key.kind, old.kind))
    safe = resource.key.kind in _LONG_SERVED and not old.kind
    return (Fix(f"write `apiVersion: {old.instead}`", tuple(changes), safe),)


def _write_list(state: PolicyState, reference: Reference, steps: list[str]) -> tuple[Fix, ...]:
    from policylint.checks.kit.fixes import into_list

    if reference.form != "ref" or not reference.deprecated.endswith("s") or len(steps) != 1:
        return ()
    return into_list(state.policy.location("spec", *steps, key=True), steps[0], reference.deprecated)


def _lacks(simulation: Simulation, policy: Resource, path: str) -> bool:
    """Tell whether the release in use has no field of a kind yet, as far as its schemas are there."""
    catalog, (group, kind) = simulation.catalog, policy.key[:2]
    releases = {**catalog.releases, **catalog.other_releases}
    if not releases:
        return False
    from policylint.schema.released import as_released, is_before_all

    at = tuple(step for field in ("spec", *path.split(".")) for step in ("properties", field))
    known = as_released(group, kind, policy.version, releases) or ()
    return is_before_all(group, kind, releases) or bool(known and all(value_at(e.schema, at) is None for e in known))


def _fields(state: PolicyState, simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each reference in a form that the kind has replaced."""
    for reference in state.kind.references:
        if not reference.deprecated:
            continue
        value: object = state.policy.spec
        steps = reference.path.split(".")
        for step in steps:
            value = mapping(value).get(step)
        if (
            value is None
            or state.invalid_code == "both-forms"
            or _lacks(simulation, state.policy, reference.deprecated)
        ):
            continue
        yield Finding(
            RULE,
            "warning",
            f"{state.key} uses {reference.path}, which {reference.deprecated} replaces",
            state.policy.location("spec", *steps, key=True),
            resources=(state.key,),
            label=f"use {reference.deprecated}",
            help=(f"fix: write `{reference.deprecated}:`, a list",) if reference.deprecated.endswith("s") else (),
            field=f"spec.{reference.path}",
            fixes=_write_list(state, reference, steps),
        )
