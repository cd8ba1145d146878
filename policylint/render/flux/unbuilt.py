"""The clusters of a large repository that nobody asks about: what they deploy is known, and none of it is built.

They are built after all where something about the others hangs on what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from policylint.render.flux.deployment import Cluster, Deployed
from policylint.render.flux.roots import ClusterRoot
from policylint.render.kustomize.build import Kustomizer
from policylint.render.kustomize.skimming import NotSkimmedError, Skimmer
from policylint.render.stops import is_reached
from policylint.render.tree import Tree

HasPart = Callable[[Mapping[str, Collection[str]], Iterable[str]], bool]
"""Tells whether anybody asks about an environment, by where its deployments begin, with what each of them deploys, and
by the files, as shown, in which its objects may be written."""


class Unbuilt:
    """Those of a tree.

    Args:
        has_part: None where all clusters are asked about.
    """

    def __init__(self, has_part: HasPart | None) -> None:
        self._has_part = has_part
        self._makers: dict[str, Callable[[], Deployed]] = {}
        self._skimmers: dict[Tree, Skimmer] = {}

    def deployed(self, tree: Tree, kustomizer: Kustomizer, root: ClusterRoot) -> Deployed:
        """Return what a cluster deploys: without most of its objects where nobody asks about it."""

        def whole() -> Deployed:
            return Cluster(tree, kustomizer, root.prefix, root.name).deploy(root.directories, root.syncs)

        if self._has_part is None or root.syncs:
            return whole()
        cluster = Cluster(tree, kustomizer, root.prefix, root.name, skimmer=self._skimmer)
        try:
            found = cluster.deploy(root.directories, root.syncs)
        except NotSkimmedError:
            return whole()
        if not cluster.skimmed:
            return found
        files = {tree.shown(path) for path in cluster.skimmed | found.reached if not tree.is_directory(path)}
        if self._has_part(found.entries, files | {manifest.file for manifest in found.manifests}):
            return whole()
        self._makers[root.name] = whole
        return found

    def _skimmer(self, tree: Tree) -> Skimmer:
        if tree not in self._skimmers:
            self._skimmers[tree] = Skimmer(tree, tree.budget)
        return self._skimmers[tree]

    def maker(self, name: str) -> Callable[[], Deployed] | None:
        """Return what builds a cluster; None for one that was built."""
        return self._makers.get(name)

    def settle(self, clusters: dict[str, Deployed], unreadable: Iterable[str]) -> None:
        """Build all clusters where a build of the others fails: what is said of that names every build that does.

        Args:
            unreadable: the paths of files that are no YAML.
        """
        builds = [build for name, each in clusters.items() if name not in self._makers for build in each.builds]
        paths = list(unreadable) if self._makers else []
        if any(build.failures or any(is_reached(path, build.reached) for path in paths) for build in builds):
            self.build(clusters)

    def build(self, clusters: dict[str, Deployed]) -> bool:
        """Build all clusters; return whether any was not yet."""
        made = {name: maker() for name, maker in self._makers.items()}
        clusters.update(made)
        self._makers.clear()
        return bool(made)
