"""GWP528 weights-fought-over: weights in Git that a controller of releases writes in the cluster.

Source: argo-rollouts docs, features/traffic-management/istio, «Integrating with GitOps»; argo-rollouts#3854;
docs.flagger.app, «How it works» (what a Canary makes); fluxcd.io, Kustomization, «Controlling the apply behavior».
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.applications import (
    deployer_of,
    deploying_applications,
    deploying_kustomizations,
    is_ignored,
    is_left_alone,
)
from policylint.doors.weights import makes_routes, manager_of, weighed_by
from policylint.model import Finding, Related, Resource, mapping
from policylint.simulation import Simulation

RULE = "GWP528"


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    argo, flux = deploying_applications(world), deploying_kustomizations(world)
    for key, writer in weighed_by(world).items() if argo or flux else ():
        route = world.get(key)
        if route is None:
            continue
        application, kustomization = deployer_of(route, argo), deployer_of(route, flux)
        if application is not None and not is_ignored(application, route):
            yield _finding(route, writer, application)
        elif application is None and kustomization is not None and not is_left_alone(route):
            yield _by_flux(route, writer, kustomization)


def _by_flux(route: Resource, writer: Resource, kustomization: Resource) -> Finding:
    leave = "annotate it with `kustomize.toolkit.fluxcd.io/ssa: IfNotPresent`"
    return Finding(
        RULE,
        "warning",
        f"{kustomization.key} takes back the weights that {writer.key} gives to {route.key}",
        route.name_location,
        resources=(route.key, writer.key, kustomization.key),
        label="during a release these are not those of the file: Flux writes them back each time that it reconciles",
        related=(Related("writes the weights", writer.name_location),),
        help=(f"fix: {_without_it(route, writer) or leave}",),
        confidence="assumed",
        ground="Flux may be told elsewhere to leave fields to others",
    )


def _without_it(route: Resource, writer: Resource) -> str:
    """Return what to do about a route that its writer makes by itself; "" of others."""
    return f"take {route.key} out of Git, {writer.key} makes it" if makes_routes(writer) else ""


def _finding(route: Resource, writer: Resource, application: Resource) -> Finding:
    automated = mapping(mapping(application.spec.get("syncPolicy")).get("automated"))
    heals = automated.get("selfHeal") is True and automated.get("enabled") is not False
    key, manager = route.key, manager_of(writer)
    does = "shows them as OutOfSync, and each sync writes them back"
    does = "writes them back as soon as they change" if heals else does
    entry = f"{{group: {key.group}, kind: {key.kind}, name: {key.name}, managedFieldsManagers: [{manager}]}}"
    return Finding(
        RULE,
        "warning" if heals else "note",
        f"{application.key} takes back the weights that {writer.key} gives to {route.key}",
        route.name_location,
        resources=(route.key, writer.key, application.key),
        label=f"during a release these are not those of the file: the Application {does}",
        related=(Related("writes the weights", writer.name_location),),
        help=(
            f"fix: {_without_it(route, writer) or f'add `{entry}` to `ignoreDifferences`'}",
            "note: Git changes no field that is another manager's and ignored so",
        ),
        confidence="assumed",
        ground="argocd-cm may leave them out for all Applications",
    )
