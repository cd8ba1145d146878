"""Charts of the tree that no deployer installs: as scripts, a helmfile or Skaffold do, else with their own values.

Where nothing says who installs one, with which values and where, what comes of it holds as far as seen, as
`helm install NAME DIRECTORY` would have it: in `default` unless it says another namespace. Only where a chart has
templates of Gateway API or of policies is anything rendered, as the rest is not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from policylint.documents.written import written
from policylint.model import Resource, mapping, text
from policylint.model.world import Note
from policylint.namedtuple import NamedTuple
from policylint.render.flux.helm_releases import WrittenRelease, written_releases
from policylint.render.helm.asked import ChartRequest, asked
from policylint.render.helm.charts import Charts, Installation
from policylint.render.helm.value_places import TemplateLine
from policylint.render.journal import Gap, Journal
from policylint.render.provenance import Manifest, fill_in_namespace, resources_of
from policylint.render.tree import Tree, inside

MOST = 200
"""Charts that are rendered: a tree of more is a collection of charts for others, of which one takes some."""
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
        makes: the kinds of which it has templates; None where these do not say it in plain text.
        holds: what it is made of, below the root and as shown.
        notes: templates and charts that are not rendered, or not any more.
        is_asked: whether something says with which values it is installed.
        seen: the HelmRelease that does, and its source (`WrittenRelease.seen`).
        gaps: what may be made beside what was rendered, where a release installs it.
    """

    directory: str
    name: str
    resources: list[Resource]
    paths: dict[str, str]
    why: str
    makes: frozenset[tuple[str, str]] | None
    holds: set[str]
    notes: tuple[Note, ...] = ()
    is_asked: bool = False
    seen: frozenset[tuple[str, str, str]] = frozenset()
    gaps: tuple[Gap, ...] = ()


def lone_charts(
    tree: Tree, groups: Collection[str], *, by_program: bool, deployed: Collection[str] = ()
) -> list[LoneChart]:
    """Return the charts of a tree in which no deployer says what is installed, with what they make: of the values of
    the releases that stand here, else of their own.

    Args:
        groups: of policies and of Gateway API.
        by_program: whether the user's own helm may do it.
        deployed: paths of what something deploys: a chart with one of these in it is not alone, and releases that it
            leaves out are not applied.
    """
    charts = Charts(tree, by_program=by_program)
    alone = [directory for directory in charts.alone() if tree.is_live(f"{directory}/")]
    alone = [each for each in alone if each not in deployed and not _holds(each, deployed)]
    released = {} if deployed else written_releases(tree, charts)
    of_releases = [
        _of_release(tree, directory, release) for directory, releases in released.items() for release in releases
    ]
    alone = [each for each in alone if each not in released]
    return [*of_releases, *_of_own_values(tree, charts, alone, groups)]


def _of_release(tree: Tree, directory: str, release: WrittenRelease) -> LoneChart:
    resources = _resources(tree, release.objects)
    paths, holds = _paths(directory, resources), _made_of(tree, directory)
    told = (tuple(release.journal.notes), True, release.seen, tuple(release.journal.gaps))
    return LoneChart(directory, directory, resources, paths, "", frozenset(), holds, *told)


def _of_own_values(tree: Tree, charts: Charts, alone: Sequence[str], groups: Collection[str]) -> list[LoneChart]:
    """Return what charts make that a script or the like installs, or nothing at all."""
    if len(alone) > MOST:
        why = f"it is one of {len(alone)} that nothing installs"
        return [LoneChart(each, each, [], {}, why, frozenset(), set()) for each in alone]
    written_in = {directory: kinds_written(tree, directory) for directory in alone}
    wanted = frozenset(groups) - _BUILT_IN
    if not any(group in wanted for kinds in written_in.values() for group, _ in kinds):
        return []
    known = asked(tree)
    return [
        _rendered(tree, charts, directory, written_in[directory], ask, known.by.get(directory, ""))
        for directory in alone
        for ask in known.requests.get(directory, [])[:MOST] or (None,)
    ]


def _holds(directory: str, paths: Collection[str]) -> bool:
    start = inside(directory, "")
    return any(path.startswith(start) for path in paths)


def kinds_written(tree: Tree, directory: str) -> set[tuple[str, str]]:
    """Return the kinds of what the templates of a chart make, as far as they say it in plain text; group "?" where they
    do not."""
    start = inside(directory, "templates/")
    texts = (tree.read(path) for path in tree.files_below(directory) if path.startswith(start))
    documents = (each for text in texts if text for each in written(text.decode("utf-8", "replace")))
    return {("?" if each.group is None else each.group, kind) for each in documents for kind in each.kinds}


def _rendered(
    tree: Tree, charts: Charts, directory: str, kinds: set[tuple[str, str]], ask: ChartRequest | None, by: str
) -> LoneChart:
    """Return what a chart makes of the values that it is asked for with, else of its own, whatever `by` gives it."""
    value, about = tree.values(inside(directory, "Chart.yaml"))[0]
    name = directory or text(mapping(value).get("name"))
    release = directory.rpartition("/")[2] or name
    holds = _made_of(tree, directory)
    makes = None if any(group == "?" for group, _ in kinds) else frozenset(kinds)
    journal = Journal()
    installation = Installation(directory, release, "default", (), about, open=True)
    if ask is not None:
        installation = Installation(directory, ask.name, ask.namespace, ask.layers, about, ask.settings)
    manifests = charts.objects(installation, journal)
    if manifests is None:
        return LoneChart(directory, name, [], {}, journal.notes[0].message, makes, holds, _told(journal))
    if ask is not None:
        fill_in_namespace(manifests, ask.namespace, tree.cluster_scoped, about)
    resources = _resources(tree, manifests)
    for resource in resources:
        if ask is None and isinstance(resource.document, TemplateLine):
            resource.document = resource.document._replace(chart=name, by=tree.shown(by) if by else "")
    paths = _paths(directory, resources)
    return LoneChart(directory, name, resources, paths, "", makes, holds, _told(journal), ask is not None)


def _resources(tree: Tree, manifests: Sequence[Manifest]) -> list[Resource]:
    return [resource for manifest in manifests for resource in resources_of(manifest, tree.cluster_scoped)]


def _made_of(tree: Tree, directory: str) -> set[str]:
    below = [inside(directory, each) for each in ("templates", "charts", "values.yaml", "Chart.yaml")]
    return {*below, *map(tree.shown, below)}


def _paths(directory: str, resources: Sequence[Resource]) -> dict[str, str]:
    files = {resource.document.file for resource in resources}
    return {file: inside(directory, file.rpartition("/")[2]) for file in files}


def _told(journal: Journal) -> tuple[Note, ...]:
    """Return the notes but that of a chart which is not rendered: that is the usual case, and a sentence says so."""
    return tuple(note for note in journal.notes if note.code != "chart")
