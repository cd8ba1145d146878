"""What the build of a directory reads, told without building it: enough of a cluster that nobody asks about.

Only where nothing of it decides what else is deployed. Where that is not plain to see, the directory is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.budget import Budget
from policylint.documents import Document
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.render.tree import Tree, join

_READ = frozenset({"resources", "bases", "components", "patches", "patchesStrategicMerge", "patchesJson6902"})
_PLAIN = _READ | {
    *("apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "labels", "commonLabels"),
    *("commonAnnotations", "images", "replicas", "buildMetadata", "sortOptions", "generatorOptions"),
    *("configMapGenerator", "secretGenerator"),
}
"""Fields of kustomizations of which only those that name files and directories say what is read."""
_GENERATORS = ("configMapGenerator", "secretGenerator")
_DEPLOYING = "fluxcd"
"""What the groups of objects have in their names that make Flux deploy, or fetch, something else."""
_RELEASE = ("helm.toolkit.fluxcd.io", "HelmRelease")
_APART = frozenset({("source.toolkit.fluxcd.io", kind) for kind in ("HelmChart", "HelmRepository")})
"""Kinds of Flux that no Kustomization deploys from."""
_TELLING = ("notification.toolkit.fluxcd.io", "image.toolkit.fluxcd.io")
"""Its groups that deploy nothing."""
_FOR_A_KUSTOMIZATION = 20
_MOST_LEVELS = 40


class NotSkimmedError(Exception):
    """What a build reads is not plain to see, or decides what else is deployed."""


class Skimmed(NamedTuple):
    """What a build reads.

    Args:
        paths: the files and directories, as `Built.reached` has them.
        beside: further files in which its objects may be written.
        maps: whether there are ConfigMaps, which may hold variables for what else is deployed.
    """

    paths: frozenset[str]
    beside: frozenset[str]
    maps: bool


class Skimmer:
    """Tells what builds in a tree read, each directory once."""

    def __init__(self, tree: Tree, budget: Budget) -> None:
        self._tree, self._budget = tree, budget
        self._known: dict[str, Skimmed | None] = {}

    def of(self, directory: str, body: Mapping[str, Any], above: tuple[str, ...] = ()) -> Skimmed:
        """Return what a kustomization reads.

        Raises:
            NotSkimmedError: it has to be built, which tells.
        """
        self._budget.spend(_FOR_A_KUSTOMIZATION)
        if not body.keys() <= _PLAIN or directory in above or len(above) > _MOST_LEVELS:
            raise NotSkimmedError
        paths, beside = {directory}, {self._tree.kustomization_file(directory) or ""}
        maps = any(body.get(field) for field in _GENERATORS)
        for field in _READ & body.keys():
            for entry in sequence(body[field]):
                if field.startswith("patches"):
                    beside.add(self._patch(directory, entry))
                    continue
                path = join(directory, text(entry))
                if path is None or not entry:
                    raise NotSkimmedError
                if field == "components" or self._tree.is_directory(path):
                    inner = self._below(path, (*above, directory))
                    paths |= inner.paths
                    beside |= inner.beside
                    maps = maps or inner.maps
                else:
                    maps = self._file(path) or maps
                    paths.add(path)
        return Skimmed(frozenset(paths), frozenset(beside), maps)

    def _below(self, directory: str, above: tuple[str, ...]) -> Skimmed:
        if directory not in self._known:
            kustomization = self._tree.kustomization(directory)
            self._known[directory] = None
            if kustomization is not None:
                self._known[directory] = self.of(directory, kustomization[0], above)
        known = self._known[directory]
        if known is None:
            raise NotSkimmedError
        return known

    def _file(self, path: str) -> bool:
        """Return whether a file with objects holds a ConfigMap."""
        documents = self._tree.documents(path)
        if documents is None:
            raise NotSkimmedError
        maps = [document for document in documents if _is_map(document)]
        return bool(maps)

    def _patch(self, directory: str, entry: Any) -> str:
        """Return the file that holds a patch, "" for one that stands in the kustomization."""
        if isinstance(entry, str):
            entry = {"patch" if "\n" in entry or entry.lstrip().startswith("{") else "path": entry}
        if not isinstance(entry, dict) or _DEPLOYING in text(entry.get("patch")):
            raise NotSkimmedError
        path = text(entry.get("path"))
        if not path:
            return ""
        file = join(directory, path)
        documents = None if file is None else self._tree.documents(file)
        if file is None or not documents:
            raise NotSkimmedError
        for document in documents:
            if not isinstance(document.value, dict) or _DEPLOYING in text(document.value.get("apiVersion")):
                raise NotSkimmedError
        return file


def _is_map(document: Document) -> bool:
    """Return whether a document is a ConfigMap.

    Raises:
        NotSkimmedError: it may make something else be deployed, or hold several objects.
    """
    value = document.value
    if value is None:
        return False
    body = mapping(value)
    kind, version = text(body.get("kind")), text(body.get("apiVersion"))
    if not kind or kind.endswith("List") or "$" in kind + version or "items" in body:
        raise NotSkimmedError
    group = version.rpartition("/")[0]
    # The values of a release may be objects that are written where they come from.
    is_release = (group, kind) == _RELEASE and "valuesFrom" not in mapping(body.get("spec"))
    if _DEPLOYING in group and (group, kind) not in _APART and group not in _TELLING and not is_release:
        raise NotSkimmedError
    return kind == "ConfigMap"
