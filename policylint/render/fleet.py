"""Rancher Fleet's bundles: what `fleet.yaml` says of charts, and of the kustomizations that patch what they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.tree import Tree, inside, join


class Bundle(NamedTuple):
    """A directory that Fleet deploys.

    Args:
        file: its fleet.yaml.
        chart: what it installs, "" for plain manifests.
        namespace: where that lands, "" where another one than this file says so.
        patching: the directories whose kustomizations change what the bundle makes: they need no resources.
    """

    file: str
    chart: str
    namespace: str
    patching: frozenset[str]


def bundles(tree: Tree) -> list[Bundle]:
    """Return the bundles of a tree, with all that targets of theirs set otherwise.

    Source: rancher/fleet, reference of fleet.yaml: `kustomize.dir` names a directory below the bundle; where the bundle
    has a chart or manifests, what they make is the input of the kustomization.
    """
    found = []
    for path in tree.all_files("fleet.yaml"):
        directory, _, name = path.rpartition("/")
        for value, _ in tree.values(path) if name == "fleet.yaml" else ():
            options = [mapping(value), *map(mapping, sequence(mapping(value).get("targetCustomizations")))]
            charts = [chart for option in options if (chart := text(mapping(option.get("helm")).get("chart")))]
            if not charts and tree.read(inside(directory, "Chart.yaml")) is not None:
                charts = ["."]
            places = ("namespace", "defaultNamespace", "targetNamespace")
            namespace = next((written for place in places if (written := text(mapping(value).get(place)))), "")
            found.append(
                Bundle(path, next(iter(charts), ""), namespace, frozenset(_patching(tree, directory, options)))
            )
    return found


def _patching(tree: Tree, directory: str, options: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for option in options:
        named = text(mapping(option.get("kustomize")).get("dir"))
        place = join(directory, named) if named else None
        kustomization = None if place is None else tree.kustomization(place)
        if place is not None and kustomization is not None and not _has_input(kustomization[0]):
            yield place


def _has_input(kustomization: Mapping[str, Any]) -> bool:
    """Return whether a kustomization takes in or makes anything by itself."""
    made = ("resources", "bases", "components", "helmCharts", "configMapGenerator", "secretGenerator", "generators")
    return any(kustomization.get(field) for field in made)
