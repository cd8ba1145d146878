"""The environments of a tree: which objects land in one cluster together, and what about them was not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policylint.documents import Problem
from policylint.load.facts import is_kustomization_path
from policylint.load.objects import is_kustomization_file, patch_files
from policylint.load.reading import Loaded
from policylint.model import GATEWAY_GROUP, UNKNOWN_NAMESPACE, Resource, ResourceKey
from policylint.model.keys import CLUSTER_SCOPED
from policylint.model.words import count
from policylint.model.world import Note
from policylint.render.argo.applications import Argo
from policylint.render.flux.deployment import Cluster, Deployed
from policylint.render.flux.helm_releases import released
from policylint.render.flux.roots import cluster_roots, is_live
from policylint.render.journal import Gap, Journal
from policylint.render.kustomize.build import Kustomizer, manifests_of
from policylint.render.kustomize.external import external
from policylint.render.overlays import overlays
from policylint.render.provenance import Manifest
from policylint.render.tree import Tree, join
from policylint.render.unresolved import unresolved
from policylint.sources import Source

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts
    from policylint.render.shared import Shared


class Environment(NamedTuple):
    """One cluster's objects.

    Args:
        resources: in the order in which they are deployed.
        gaps: what may put more objects into it.
        notes: GWP911 and GWP912.
        not_rendered: sentences for the coverage line.
        orphans: objects of Gateway API and of policies in files that nothing deploys in any environment.
        problems: what is wrong with files that something deploys.
    """

    name: str
    resources: list[Resource]
    gaps: list[Gap]
    notes: list[Note]
    not_rendered: tuple[str, ...]
    orphans: dict[ResourceKey, Resource]
    problems: list[Problem]


def environments(
    source: Source,
    loaded: Loaded,
    cluster_scoped: frozenset[tuple[str, str]],
    policy_groups: frozenset[str],
    stated: Mapping[str, Sequence[str]] | None = None,
    programs: bool = False,
    helm: bool = False,
    shared: Shared | None = None,
) -> list[Environment]:
    """The environments of what was read, sorted by name; none where nothing says what is deployed where.

    Args:
        cluster_scoped: kinds without a namespace beside the well-known ones.
        policy_groups: groups whose objects are worth naming when nothing deploys them.
        stated: environments that the user names, with the directories at which each begins; then there are no others.
        programs: whether the user's own kustomize may do what the built-in one does not cover.
        helm: whether the user's own helm may render charts that lie in the tree.
        shared: what another tree of the same run takes part in.
    """
    tree = Tree(source, loaded, cluster_scoped, shared)
    unread = frozenset((each.api_version.rpartition("/")[0], each.kind) for each in loaded.unread)
    own = external(tree) if programs else None
    charts = _charts(tree) if helm else None
    kustomizer = Kustomizer(tree, cluster_scoped, unread, own, charts)
    patches = patch_files(loaded.documents)
    deployed = _stated(tree, kustomizer, stated) if stated else _deployed(tree, kustomizer, charts, patches)
    if not deployed:
        return []
    reached = set().union(*(each.reached for each in deployed.values()))
    orphans = _orphans(tree, reached, cluster_scoped, policy_groups, patches)
    groups = policy_groups | {GATEWAY_GROUP}
    problems, unread_orphans = _problems(tree, loaded.problems, reached, patches)
    return [
        _environment(name, each, tree, charts, cluster_scoped, orphans, problems, unread_orphans, groups)
        for name, each in sorted(deployed.items())
    ]


def _charts(tree: Tree) -> Charts:
    from policylint.render.helm.charts import Charts

    return Charts(tree)


def _deployed(
    tree: Tree, kustomizer: Kustomizer, charts: Charts | None, patches: frozenset[str]
) -> dict[str, Deployed]:
    """What lands where, by the first style that the tree follows: Flux, Argo CD, kustomize overlays, nothing but
    charts."""
    roots = cluster_roots(tree)
    if roots:
        return {
            root.name: Cluster(tree, kustomizer, root.prefix).deploy(root.directories, root.syncs) for root in roots
        }
    found = Argo(tree, kustomizer, charts).deploy() or overlays(tree, kustomizer, patches)
    if found or charts is None:
        return found
    from policylint.render.helm.lone_charts import lone_charts

    return lone_charts(tree, charts, patches)


def _stated(tree: Tree, kustomizer: Kustomizer, stated: Mapping[str, Sequence[str]]) -> dict[str, Deployed]:
    """The environments that the configuration names."""
    return {
        name: Cluster(tree, kustomizer, tree.base).deploy([root for each in roots for root in _root(tree, each)])
        for name, roots in stated.items()
    }


def _root(tree: Tree, path: str) -> list[str]:
    """The directory that the configuration names, as seen from the top or from the directory the user gave."""
    candidates = (join("", path), join(tree.base, path))
    return [each for each in candidates if each is not None and tree.is_directory(each)][:1]


def _problems(
    tree: Tree, problems: Iterable[Problem], reached: set[str], patches: frozenset[str]
) -> tuple[list[Problem], int]:
    """The problems of files that something deploys, and how many other files cannot be read."""
    kept: list[Problem] = []
    others: set[str] = set()
    for each in problems:
        path = tree.path_of(each.file)
        if path in reached or each.file in patches or is_kustomization_path(path):
            kept.append(each)
        elif each.code != "duplicate-key":
            others.add(each.file)
    return kept, len(others)


def _environment(
    name: str,
    deployed: Deployed,
    tree: Tree,
    charts: Charts | None,
    cluster_scoped: frozenset[tuple[str, str]],
    orphans: dict[ResourceKey, Resource],
    problems: list[Problem],
    unread_orphans: int,
    groups: frozenset[str],
) -> Environment:
    made, known, unknown = released(deployed.manifests, tree, deployed.journal, charts)
    absent = charts is not None and not charts.available
    sentences = [
        *_sentences(deployed.journal.notes, "not rendered: helm is not installed" if absent else "not rendered")
    ]
    if unknown:
        sentences.insert(0, f"{count(unknown, 'HelmRelease')} of {known + unknown} not rendered")
    if unread_orphans:
        sentences.append(f"{count(unread_orphans, 'file')} that nothing deploys and that cannot be read")
    resources = list(placed([*deployed.manifests, *made], cluster_scoped))
    notes = [*deployed.journal.notes, *unresolved(resources, groups)]
    return Environment(name, resources, deployed.journal.gaps, notes, tuple(sentences), orphans, problems)


def without_repeats(resources: Iterable[Resource]) -> Iterator[Resource]:
    """Resources but for those that come from the same place as an earlier one of the same identity: two ways to one
    file are no mistake."""
    seen: dict[ResourceKey, Resource] = {}
    for each in resources:
        earlier = seen.setdefault(each.key, each)
        if earlier is each or earlier.document is not each.document or earlier.root != each.root:
            yield each


def placed(manifests: Iterable[Manifest], cluster_scoped: frozenset[tuple[str, str]]) -> Iterator[Resource]:
    """The resources that manifests are, `default` where they name no namespace."""
    without = CLUSTER_SCOPED | cluster_scoped
    for each in manifests:
        name = each.name or each.generate_name
        if each.kind and each.api_version and name:
            namespace = "" if (each.group, each.kind) in without else each.namespace or "default"
            key = ResourceKey(each.group, each.kind, namespace, name)
            trace = each.trace
            sources = trace if trace.children else None
            yield Resource(key, each.version, each.body, trace.document, trace.pointer, sources)


def _orphans(
    tree: Tree,
    reached: set[str],
    cluster_scoped: frozenset[tuple[str, str]],
    policy_groups: frozenset[str],
    patches: frozenset[str],
) -> dict[ResourceKey, Resource]:
    """Objects in files that nothing deploys; their namespace is known only where they say it."""
    found: dict[ResourceKey, Resource] = {}
    groups = policy_groups | {GATEWAY_GROUP}
    for path, document in tree.all_documents():
        if (
            path in reached
            or document.file in patches
            or not is_live(tree.below_base(path))
            or is_kustomization_file(document)
        ):
            continue
        held = manifests_of([document])
        made, _, _ = released(held, tree, Journal())  # routes that only values speak of can be orphans, too
        for manifest in [*held, *made]:
            if manifest.group not in groups:
                continue
            for resource in placed([manifest], cluster_scoped):
                key = resource.key
                if key.namespace and (not manifest.namespace or manifest in made):
                    key = key._replace(namespace=f"{UNKNOWN_NAMESPACE}{path.rpartition('/')[0]}")
                    resource = Resource(
                        key, resource.version, resource.body, resource.document, resource.root, resource.sources
                    )
                found.setdefault(key, resource)
    return found


_WORDS = {
    "missing-file": ("file that is not there", "files that are not there"),
    "missing-path": ("path that is not there", "paths that are not there"),
    "remote-base": ("remote base", ""),
    "chart": ("chart", ""),
    "not-covered": ("kustomization not fully covered", "kustomizations not fully covered"),
    "outside": ("path out of the tree", "paths out of the tree"),
}
"""Code of a note → one of them, and several where that takes more than an s."""


def _sentences(notes: Iterable[Note], of_charts: str) -> Iterator[str]:
    numbers = Counter(note.code for note in notes)
    for code, nouns in _WORDS.items():
        if numbers[code]:
            counted = count(numbers[code], *nouns)
            yield f"{counted} {of_charts}" if code == "chart" else counted
