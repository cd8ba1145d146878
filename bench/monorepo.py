"""Write a seeded repository as platform teams keep them: many clusters, each with overlays over the bases of its team.

usage: python bench/monorepo.py DIRECTORY [--files 25000] [--seed 713]

Every team has a cluster for each stage, synced by Flux, which deploys the team's platform and the overlays of its
applications; every application is a base with an overlay for each stage. The same count and seed give the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from string import Template

from corpus import APPS_PER_NAMESPACE, NAMES
from manifests import FILES, GATEWAY_CLASS, App, namespace, team_platform

STAGES = ("production", "staging")
NAMESPACES_PER_TEAM = 6
SYNC = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref: {branch: main}
  url: ssh://git@git.example.com/platform/fleet
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./clusters/$cluster
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
"""
DEPLOYED = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: $name
  namespace: flux-system
spec:
  interval: 10m
  path: ./$path
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
"""
KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
$resources"""
PATCHES = "patches:\n  - path: replicas.yaml\n"
REPLICAS = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $name
  namespace: $namespace
spec:
  replicas: $replicas
"""


def kustomization(*resources: str) -> str:
    """Return a kustomization of some resources."""
    return Template(KUSTOMIZATION).substitute(resources="".join(f"  - {each}\n" for each in resources))


def files(random: Random) -> Iterator[tuple[str, list[str]]]:
    """Yield (path, documents) without end, team by team."""
    yield "platform/gateway-class.yaml", [GATEWAY_CLASS]
    for number in count():
        yield from team_files(f"team-{number:03}", number, random)


def team_files(team: str, number: int, random: Random) -> Iterator[tuple[str, list[str]]]:
    """Yield the files of one team: its clusters, its platform, and then its namespaces of applications."""
    spaces = [f"space-{number * NAMESPACES_PER_TEAM + each:04}" for each in range(NAMESPACES_PER_TEAM)]
    for stage in STAGES:
        cluster = f"{team}-{stage}"
        yield f"clusters/{cluster}/flux-system/sync.yaml", [Template(SYNC).substitute(cluster=cluster)]
        for name, path in (("platform", f"platform/{team}"), ("apps", f"teams/{team}/{stage}")):
            yield f"clusters/{cluster}/{name}.yaml", [Template(DEPLOYED).substitute(name=name, path=path)]
        yield f"teams/{team}/{stage}/kustomization.yaml", [kustomization(*(f"../{each}/{stage}" for each in spaces))]
    yield f"platform/{team}/gateway.yaml", team_platform(team)
    yield f"platform/{team}/kustomization.yaml", [kustomization("../gateway-class.yaml", "gateway.yaml")]
    for space in spaces:
        names = [f"{name}-{space[-4:]}" for name in random.sample(NAMES, APPS_PER_NAMESPACE)]
        yield f"teams/{team}/{space}/namespace.yaml", namespace(space, team)
        for stage in STAGES:
            overlays = (f"../{name}/overlays/{stage}" for name in names)
            yield f"teams/{team}/{space}/{stage}/kustomization.yaml", [kustomization("../namespace.yaml", *overlays)]
        for position, name in enumerate(names):
            yield from app_files(App(name, space, team, names[position - 1], random))


def app_files(app: App) -> Iterator[tuple[str, list[str]]]:
    """Yield the base of an application and its overlays."""
    place = f"teams/{app.team}/{app.namespace}/{app.name}"
    for file, documents_of in FILES.items():
        yield f"{place}/base/{file}", documents_of(app)
    yield f"{place}/base/kustomization.yaml", [kustomization(*FILES)]
    for stage in STAGES:
        yield f"{place}/overlays/{stage}/kustomization.yaml", [kustomization("../../base") + PATCHES]
        replicas = app.fill(REPLICAS, replicas=app.random.randrange(2, 9))
        yield f"{place}/overlays/{stage}/replicas.yaml", [replicas]


def write_monorepo(directory: Path, number: int = 25_000, seed: int = 713) -> Path:
    """Write the first files of such a repository and return the directory of its first application."""
    part = directory
    for file, contents in islice(files(Random(seed)), number):
        path = directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\n" + "---\n".join(contents), encoding="utf-8", newline="\n")
        if path.name == "route.yaml" and part == directory:
            part = path.parent.parent
    return part


def main() -> None:
    """Write a repository and name one application."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=25_000)
    parser.add_argument("--seed", type=int, default=713)
    arguments = parser.parse_args()
    print(write_monorepo(arguments.directory, arguments.files, arguments.seed))


if __name__ == "__main__":
    main()
