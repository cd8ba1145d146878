"""GWP528 weights-fought-over: weights in Git that a controller of releases writes in the cluster.

Source: argo-rollouts docs, features/traffic-management/istio, «Integrating with GitOps»; argo-rollouts#3854.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.applications import deployer_of, deploying_applications, is_ignored
from policylint.doors.weights import manager_of, weighed_by
from policylint.model import Finding, Related, Resource, mapping
from policylint.simulation import Simulation

RULE = "GWP528"


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    deploying = deploying_applications(world)
    for key, writer in weighed_by(world).items() if deploying else ():
        route = world.get(key)
        application = None if route is None else deployer_of(route, deploying)
        if route is not None and application is not None and not is_ignored(application, route):
            yield _finding(route, writer, application)


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
            f"fix: add `{entry}` to `ignoreDifferences`",
            "note: Git changes no field that is another manager's and ignored so",
        ),
        confidence="assumed",
        ground="argocd-cm may leave them out for all Applications",
    )
