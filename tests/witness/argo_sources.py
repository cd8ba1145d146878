"""What Argo CD applies of generated trees, by its own code, and what policylint takes for deployed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from policylint.model import ResourceKey
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.model.world import World
from policylint.workspace import open_workspace
from tests.witness.deployed import BUILD, by_deployer_alone, by_fact, judged, versions, written
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import links, texts

ABOUT = (
    "Argo CD's repo server and controller, as libraries: which files of an Application's sources are manifests, what"
    " they are built to (kustomize and helm are the real ones), where they land, and which hooks stay: every object,"
    " whole. What policylint says may exist unseen (charts, Jsonnet, plugins), and objects that it leaves open, are not"
    " counted."
)
CLUSTER = "in-cluster"
STOPPED = "Argo CD cannot apply"
"""Begins why objects of a build that fails are left open: the cluster keeps what it had, here nothing."""


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return a tree as the program reads it."""
    owners, scoped = files[0]["documents"], sorted(CLUSTER_SCOPED)
    return {"files": texts(files), "links": links(files), "owners": owners, "clusterScoped": scoped}


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says; `answer` as in `judged`."""
    with written(files) as place, by_deployer_alone():
        if _lacks_something(files):  # whether git does not have it, either
            for arguments in ("init", "-q"), ("add", "-A"):
                subprocess.run(["git", *arguments], cwd=place, check=True)
        found = open_workspace([place], strict=True).simulations
    (world,) = [each.world for each in found]
    if world.name != CLUSTER:  # no Application deploys anything of this tree
        return {}, {}
    owners = files[0]["documents"]
    held = [each for each in world.resources.values() if each.body not in owners]
    held = [each for each in held if not each.provisional.startswith(STOPPED)]
    claimed = by_fact(each.body for each in held)
    unknown = set(by_fact(each.body for each in held if each.provisional))
    unknown |= {fact for fact in real if fact != BUILD and fact not in claimed and _may_exist(fact, world)}
    return judged(real, claimed, unknown, answer, is_open=False)


def _lacks_something(files: Sequence[Manifest]) -> bool:
    """Return whether Applications or kustomizations may name what is not there."""
    held = texts(files)
    paths = {normpath(path) for text in held.values() for path in re.findall(r'"path": "([^"]+)"', text)}
    directories = {str(parent) for name in held for parent in PurePosixPath(name).parents}
    components = {"parts/none", *(() if "parts/prefix" in directories else ("parts/prefix",))}
    return bool(paths - directories) or any(name in text for text in held.values() for name in components)


def _may_exist(fact: str, world: World) -> bool:
    """Return whether policylint says that the object of a fact may be there unseen."""
    kind, api_version, place = fact.partition(" | ")[0].split(" ", 2)
    namespace, _, name = place.partition("/")
    return bool(world.unseen.reason(ResourceKey(api_version.rpartition("/")[0], kind, namespace, name)))


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    (release,) = versions("github.com/argoproj/argo-cd/v3", "argo").values()
    return {"title": "Argo CD's sources", "about": ABOUT, "versions": {"argo-cd": release}}
