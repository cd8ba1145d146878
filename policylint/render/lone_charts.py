"""Charts of the tree that nothing in it installs, as `helm install NAME DIRECTORY` would: with their own values.

Who installs them, with which values and where, is not known: what comes of a chart holds as far as seen, in `default`
unless it says another namespace. Only where a chart has templates of Gateway API or of policies is anything rendered,
as the rest is not checked.
"""

from __future__ import annotations

from collections.abc import Collection

from policylint.model import GATEWAY_GROUP, Resource, mapping, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.helm.charts import Charts, Installation
from policylint.render.helm.value_places import TemplateLine
from policylint.render.journal import Journal
from policylint.render.provenance import resources_of
from policylint.render.tree import Tree, inside

MOST = 50
"""Charts that are rendered: a tree of more is a collection of charts for others, of which one takes some."""
_GROUP = Pattern(r"(?m)^[ \t]*apiVersion:[ \t]*[\"']?([\w.-]+)/")
_BUILT_IN = frozenset({"networking.k8s.io"})
"""Groups whose policies most charts have that have nothing else to be checked."""


class LoneChart(NamedTuple):
    """A chart that nothing installs.

    Args:
        directory: of the chart, below the root.
        name: its directory; at the top, what it calls itself.
        resources: what it makes; none where that is not known.
        paths: where its templates count as lying, below the root, by the file as shown: `templates/` says nothing.
        why: why it is not known what it makes; "" where it is.
        has_routes: whether it has templates of Gateway API.
        holds: what it is made of, below the root and as shown.
    """

    directory: str
    name: str
    resources: list[Resource]
    paths: dict[str, str]
    why: str
    has_routes: bool
    holds: set[str]


def lone_charts(tree: Tree, groups: Collection[str], *, by_program: bool) -> list[LoneChart]:
    """Return the charts of a tree in which nothing says what is installed, with what they make of their own values.

    Args:
        groups: of policies and of Gateway API.
        by_program: whether the user's own helm may do it.
    """
    charts = Charts(tree, by_program=by_program)
    alone = [directory for directory in charts.alone() if tree.is_live(f"{directory}/")]
    spoken = {directory: _groups(tree, directory) for directory in alone} if len(alone) <= MOST else {}
    if all(each.isdisjoint(frozenset(groups) - _BUILT_IN) for each in spoken.values()):
        return []
    return [_rendered(tree, charts, directory, GATEWAY_GROUP in spoken[directory]) for directory in alone]


def _groups(tree: Tree, directory: str) -> set[str]:
    """Return the API groups of what the templates of a chart make, as far as they say it in plain text."""
    start = inside(directory, "templates/")
    texts = (tree.read(path) for path in tree.files_below(directory) if path.startswith(start))
    return {group for text in texts if text for group in _GROUP.findall(text.decode("utf-8", "replace"))}


def _rendered(tree: Tree, charts: Charts, directory: str, has_routes: bool) -> LoneChart:
    value, about = tree.values(inside(directory, "Chart.yaml"))[0]
    name = directory or text(mapping(value).get("name"))
    release = directory.rpartition("/")[2] or name
    below = [inside(directory, each) for each in ("templates", "charts", "values.yaml", "Chart.yaml")]
    holds = {*below, *map(tree.shown, below)}
    journal = Journal()
    manifests = charts.objects(Installation(directory, release, "default", (), about), journal)
    if manifests is None:
        return LoneChart(directory, name, [], {}, journal.notes[0].message, has_routes, holds)
    resources = [resource for manifest in manifests for resource in resources_of(manifest, tree.cluster_scoped)]
    for resource in resources:
        if isinstance(resource.document, TemplateLine):
            resource.document = resource.document._replace(chart=name)
    files = {resource.document.file for resource in resources}
    paths = {file: inside(directory, file.rpartition("/")[2]) for file in files}
    return LoneChart(directory, name, resources, paths, "", has_routes, holds)
