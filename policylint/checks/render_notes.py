"""GWP911, GWP912, GWP914, GWP915: what rendering and simulation noted on their input."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.budget import CUT_OFF
from policylint.checks.kit.locations import path
from policylint.implementations.generic import walk
from policylint.model import Finding, Resource, ResourceKey, Severity, World, is_symbolic, mapping, sequence, text
from policylint.render.journal import LOST, NEARLY
from policylint.simulation import Simulation

_READ_AS_WRITTEN = ("healthChecks", "healthCheckExprs", "dependsOn", "path", "sourceRef", "serviceAccountName")
"""Fields of a Kustomization that say how it is built and judged, and are no part of what it builds."""
_KINDS = (("kustomize.toolkit.fluxcd.io", "Kustomization"), ("helm.toolkit.fluxcd.io", "HelmRelease"))


def not_rendered(simulation: Simulation) -> Iterator[Finding]:
    """Report a kustomization, chart or template whose output was not seen, or not whole."""
    return _noted("GWP911", simulation, "note")


def unresolved_variable(simulation: Simulation) -> Iterator[Finding]:
    """Report a `${VARIABLE}` that nothing in the tree fills in, so that what holds it is not known."""
    yield from _noted("GWP912", simulation, "note")
    yield from _of_its_own(simulation.world)


def _of_its_own(world: World) -> Iterator[Finding]:
    """Yield variables in a Kustomization of Flux that its own `postBuild` sets: that fills in what it builds, and not
    the Kustomization itself (fluxcd.io, «Post build variable substitution»)."""
    for resource in world.of_kind(*_KINDS[0]):
        stated = mapping(mapping(resource.spec.get("postBuild")).get("substitute"))
        own = [name for name, value in stated.items() if not _is_passed_on(name, value, resource)]
        for field in _READ_AS_WRITTEN if own else ():
            for pointer, value in walk(resource.spec.get(field), ("spec", field)):
                name = next((name for name in own if f"${{{name}}}" in text(value)), "")
                if name:
                    yield Finding(
                        "GWP912",
                        "warning",
                        f"{path(pointer)} of {resource.key} holds ${{{name}}}, which its postBuild does not fill in",
                        resource.location(*pointer),
                        resources=(resource.key,),
                        label="postBuild is for what it builds: the Kustomization itself is taken as it is",
                        help=(
                            "fix: write the value, or have the Kustomization that applies this one set the variable",
                        ),
                        confidence="assumed",
                        ground="whatever applies it may fill it in",
                        field=path(pointer),
                    )


def _is_passed_on(name: str, value: object, resource: Resource) -> bool:
    """Return whether a Kustomization has a variable from whatever applies it, which fills it in everywhere."""
    return any(f"${{{name}" in each for each in (text(value), resource.key.namespace, resource.key.name))


def build_fails(simulation: Simulation) -> Iterator[Finding]:
    """Report a kustomization that certainly cannot be built, so that nothing of it is applied."""
    yield from _noted("GWP914", simulation, "error")
    yield from _waiting(simulation.world)
    yield from _without_values(simulation.world)


def _without_values(world: World) -> Iterator[Finding]:
    """Yield the releases that Flux cannot make, as they take values from an object that is in another namespace.

    Source: fluxcd/pkg chartutil/values.go: such a reference has no namespace (fluxcd/helm-controller#313).
    """
    for release in world.of_kind(*_KINDS[1]):
        for number, entry in enumerate(map(mapping, sequence(release.spec.get("valuesFrom")))):
            wanted = ResourceKey("", text(entry.get("kind")), release.key.namespace, text(entry.get("name")))
            there = [each.key for each in world.of_kind("", "ConfigMap") if each.key.name == wanted.name]
            asked = wanted.kind == "ConfigMap" and entry.get("optional") is not True
            if there and asked and world.get(wanted) is None and not world.elsewhere(wanted):
                yield Finding(
                    "GWP914",
                    "warning",
                    f"Flux cannot apply {release.key}: valuesFrom names {wanted}, which does not exist",
                    release.location("spec", "valuesFrom", number),
                    resources=(release.key, there[0]),
                    label=f"{there[0]} is in another namespace, where it is not looked for",
                    help=(f"fix: put it into namespace {release.key.namespace}",),
                    confidence="assumed",
                    ground=f"something outside of this tree may make {wanted}",
                    field=f"valuesFrom[{number}]",
                )


def _waiting(world: World) -> Iterator[Finding]:
    """Yield what Flux never applies, as it waits for an object of another kind than it looks for."""
    for kind, other in (_KINDS, _KINDS[::-1]):
        for resource in world.of_kind(*kind):
            for number, entry in enumerate(map(mapping, sequence(resource.spec.get("dependsOn")))):
                home = text(entry.get("namespace")) or resource.key.namespace
                wanted = ResourceKey(*kind, home, text(entry.get("name")))
                meant = ResourceKey(*other, home, wanted.name)
                if world.get(wanted) is None and world.get(meant) is not None and not is_symbolic(wanted.path):
                    yield Finding(
                        "GWP914",
                        "error",
                        f"Flux never applies {resource.key}: it depends on {wanted}, which does not exist",
                        resource.location("spec", "dependsOn", number),
                        resources=(resource.key, meant),
                        label=f"{meant} is of another kind, for which it cannot wait",
                        help=(f"fix: name the {kind[1]} that deploys {meant}",),
                        field=f"dependsOn[{number}]",
                    )


def patch_selects_nothing(simulation: Simulation) -> Iterator[Finding]:
    """Report a patch for an object that its kustomization does not hold: it changes nothing, and nobody says so."""
    return _noted("GWP915", simulation, "note")


def _noted(rule: str, simulation: Simulation, usual: Severity) -> Iterator[Finding]:
    """Yield the findings of one rule: one per place and cause."""
    for note in simulation.world.notes:
        if note.rule == rule:
            severity: Severity = "warning" if note.code in (CUT_OFF, LOST, NEARLY) and usual != "error" else usual
            yield Finding(rule, severity, note.message, note.location, help=note.help, field=note.code)
    for note in simulation.cut:
        if note.rule == rule:
            yield Finding(rule, "warning", note.message, note.location, field=note.code)
