"""The one environment of a tree of Helm charts in which nothing says what is installed: each chart once, with its own
values, as `helm install NAME DIRECTORY` would do it, beside the manifests that lie outside of them."""

from __future__ import annotations

from policylint.render.flux.deployment import Deployed
from policylint.render.flux.roots import is_below, is_live
from policylint.render.helm.charts import Charts, Installation, installed
from policylint.render.journal import Journal
from policylint.render.overlays import plain
from policylint.render.tree import Tree

NAMESPACE = "default"


def lone_charts(tree: Tree, charts: Charts, patches: frozenset[str]) -> dict[str, Deployed]:
    """What the charts and the plain manifests of a tree make; nothing where there is no chart.

    Args:
        patches: files, as shown, that hold patches and are no objects.
    """
    found = [each for each in charts.alone() if is_live(f"{tree.below_base(each)}/")]
    if not found:
        return {}
    deployed = Deployed([], Journal(), set())
    for directory in found:
        deployed.reached.update(tree.files_below(directory))
        about = tree.values(f"{directory}/Chart.yaml" if directory else "Chart.yaml")[0][1]
        name = directory.rpartition("/")[2] or "release"
        made = charts.objects(Installation(directory, name, NAMESPACE, (), about), deployed.journal)
        if made is None:
            deployed.journal.gap(f"chart {directory or '.'} may create it")
            continue
        installed(made, NAMESPACE, tree.cluster_scoped)
        deployed.manifests.extend(made)
    for path, manifest in plain(tree, patches):
        if not any(is_below(path, each) for each in found):
            deployed.reached.add(path)
            deployed.manifests.append(manifest)
    return {"default": deployed}
