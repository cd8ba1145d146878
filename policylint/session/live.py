"""A cluster as the user's kubectl prints it: read alone, beside files as their snapshot, or compared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.errors import AbsentError, UsageError
from policylint.model import mapping
from policylint.sources.kubectl import CLUSTER

if TYPE_CHECKING:
    from policylint.session.settings import Setup
    from policylint.sources.kubectl import Kubectl
    from policylint.workspace import Workspace

_DEPLOYING = ("fluxcd.io", "controlplane.io", "argoproj.io", "cattle.io", "config.k8s.io")
"""Ends of API groups whose objects have others deployed: in a cluster these are there, and nothing is unseen."""


def objects(setup: Setup, kubectl: Kubectl) -> bytes:
    """Return the objects of the cluster that policylint knows the kinds of, with the configured ones.

    Raises:
        UsageError: there is no such program.
        AbsentError: the cluster does not answer, or not with a list of objects.
    """
    from policylint.documents import read
    from policylint.model.kinds import READ_GROUPS
    from policylint.workspace import known_groups

    groups = frozenset(group for group in READ_GROUPS if not group.endswith(_DEPLOYING))
    data = kubectl.objects(groups | known_groups() | setup.assumptions.groups())
    reading = read(data, CLUSTER)
    if reading.problems:
        problem = reading.problems[0]
        raise AbsentError(f"what the cluster holds cannot be read: line {problem.line}: {problem.message}")
    if not any(mapping(document.value).get("kind") == "List" for document in reading.documents):
        raise AbsentError("what the cluster holds cannot be read: kubectl printed no list of objects")
    return data


def beside(setup: Setup, data: bytes) -> Setup:
    """Return the setup of a run over files with the cluster as the snapshot."""
    options = setup.options._replace(snapshot=CLUSTER)
    return setup._replace(options=options, files={**setup.files, CLUSTER: data})


def cluster(setup: Setup) -> Setup:
    """Return the setup of a run over the cluster alone: it is one environment, and nothing of it is rendered."""
    options = setup.options._replace(environments=(), render="off", snapshot=None)
    return setup._replace(options=options, settings=setup.settings._replace(snapshot="", environments=()))


def of_environment(live: Workspace, applied: Workspace) -> Workspace:
    """Return the workspace of a cluster with the name of the environment that is compared with it.

    Raises:
        UsageError: the files make several.
    """
    names = [simulation.world.name for simulation in applied.simulations]
    if len(names) > 1:
        raise UsageError(f"these files make several environments: name the one of this cluster, --env {names[0]}")
    for simulation in live.simulations if names else ():
        simulation.world.name = names[0]
    return live
