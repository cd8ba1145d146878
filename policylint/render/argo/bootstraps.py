"""Charts of a tree that make Applications and that no Application deploys: the top of a tree of Applications.

Somebody installs such a chart by hand, once, as Argo CD cannot deploy what deploys it (argo-cd.readthedocs.io, «App of
apps»; «Bootstrapping»). Nothing in the tree says with which values: it is taken with its own, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from policylint.namedtuple import NamedTuple
from policylint.render.helm.charts import Charts, Installation
from policylint.render.journal import Journal
from policylint.render.lone_charts import kinds_written
from policylint.render.provenance import Manifest, fill_in_namespace
from policylint.render.tree import Tree, inside

_KINDS = frozenset({("argoproj.io", "Application"), ("argoproj.io", "ApplicationSet")})
_HOME = "argocd"
_MOST = 12
"""Charts that may be the top; of a collection of more, a cluster has some."""


class Bootstrap(NamedTuple):
    """A chart of Applications, and what it makes of its own values.

    Args:
        directory: of the chart, below the root.
    """

    directory: str
    made: list[Manifest]
    journal: Journal


def bootstraps(
    tree: Tree, charts: Charts, deployed: Collection[str], entered: Callable[[], Collection[str]]
) -> list[Bootstrap]:
    """Return the charts of Applications that no Application deploys.

    Args:
        deployed: the directories that Applications outside of charts deploy.
        entered: returns those that these and the Applications of their charts deploy, which takes a walk.
    """
    found = [
        directory
        for directory in charts.alone()
        if directory not in deployed and tree.is_live(f"{directory}/") and _makes_applications(tree, directory)
    ]
    if found:
        others = entered()
        found = [directory for directory in found if directory not in others]
    made = (_made(tree, charts, directory) for directory in found) if len(found) <= _MOST else ()
    return [each for each in made if each is not None]


def _makes_applications(tree: Tree, directory: str) -> bool:
    return not _KINDS.isdisjoint(kinds_written(tree, directory))


def _made(tree: Tree, charts: Charts, directory: str) -> Bootstrap | None:
    """Return what a chart makes; None where that is not known, or no Application is among it."""
    about = tree.values(inside(directory, "Chart.yaml"))
    journal = Journal()
    release = directory.rpartition("/")[2] or "bootstrap"
    made = (
        charts.objects(Installation(directory, release, _HOME, (), about[0][1], open=True), journal) if about else None
    )
    if not made:
        return None
    fill_in_namespace(made, _HOME, tree.cluster_scoped, about[0][1])
    why = f"nothing here installs chart {directory}: it is taken with its own values"
    journal.note(why, about[0][1], code="own-values")
    return Bootstrap(directory, made, journal)
