"""The environments of a tree: the objects that land in one cluster together, and what about them was not seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from policylint.budget import Budget, Cut
from policylint.documents import Document, Pointer, Problem
from policylint.documents.problem import YAML_SYNTAX
from policylint.load.facts import is_kustomization_path
from policylint.load.objects import is_kustomization_file, patch_files
from policylint.load.reading import Loaded
from policylint.model import GATEWAY_GROUP, UNKNOWN_NAMESPACE, Resource, ResourceKey, Spot
from policylint.model.words import count, leading
from policylint.model.world import Note
from policylint.patterns import Pattern
from policylint.render.argo.applications import Argo, is_application
from policylint.render.argo.namespaces import created
from policylint.render.by_hand import ACTS, applied
from policylint.render.compared import compared
from policylint.render.flux.deployment import Cluster, Deployed
from policylint.render.flux.helm_releases import released
from policylint.render.flux.roots import cluster_roots, outermost
from policylint.render.flux.unbuilt import HasPart, Unbuilt
from policylint.render.helm.k3s import installed as installed_by_k3s
from policylint.render.journal import WITHOUT_HELM, Gap, Journal
from policylint.render.kustomize.build import Kustomizer
from policylint.render.kustomize.external import external
from policylint.render.left_over import left_over
from policylint.render.overlays import overlays
from policylint.render.provenance import Manifest, Provenance, manifests_of, resources_of
from policylint.render.stops import Stops, lacking, stops
from policylint.render.tree import Tree, directories_above, join
from policylint.sources import Source

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts
    from policylint.render.shared import Shared

UNRESOLVED = "GWP912"
_FOR_AN_OBJECT = 100
"""Steps of work that it costs to judge an object in an environment, beside what its values cost."""
_BY_REFERENCE = frozenset({"ConfigMap", "CustomResourceDefinition"})
"""Kinds whose content is not looked through once for each environment, however long it is: dashboards, schemas."""
_VARIABLE = Pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


class Environment(NamedTuple):
    """One cluster's objects.

    Args:
        resources: in the order in which they are deployed.
        gaps: what may put more objects into it.
        notes: GWP911 and GWP912.
        not_rendered: sentences for the coverage line.
        orphans: Services, objects of Gateway API and of policies in files that nothing deploys in any environment.
        roots: directories, as shown, at which another deployment could begin, and which no environment deploys.
        problems: what is wrong with files that something deploys.
        stopping: files, as shown, that this environment deploys and that are no YAML → what that takes away: the
            whole build fails.
        entries: where its deployments begin, and what each of them deploys (`Deployed.entries`).
        alternative_of, is_piece, is_left: see `Deployed`.
        charts: the directories of the charts that something installs in some environment.
        by_deployer: whether Flux, Argo CD or the configuration alone say what is deployed.
        unbuilt: returns its objects, where nobody asks about it and it was not built; None where they are here.
    """

    name: str
    resources: list[Resource]
    gaps: list[Gap]
    notes: list[Note]
    not_rendered: tuple[str, ...]
    orphans: dict[ResourceKey, Resource]
    roots: tuple[str, ...]
    problems: list[Problem]
    stopping: dict[str, tuple[str, ...]]
    entries: Mapping[str, Collection[str]]
    alternative_of: str
    is_piece: bool
    charts: frozenset[str] = frozenset()
    by_deployer: bool = False
    unbuilt: Callable[[], list[Resource]] | None = None
    is_left: bool = False

    def objects(self) -> list[Resource]:
        """Return its objects, also where it was not built."""
        return self.resources if self.unbuilt is None else self.unbuilt()


def environments(
    source: Source,
    loaded: Loaded,
    cluster_scoped: frozenset[tuple[str, str]],
    policy_groups: frozenset[str],
    stated: Mapping[str, Sequence[str]] | None = None,
    programs: bool = False,
    helm: bool = False,
    shared: Shared | None = None,
    budget: Budget | None = None,
    rendered: str = "",
    alternatives: bool = True,
    leftovers: bool = True,
    has_part: HasPart | None = None,
) -> list[Environment]:
    """Return the environments of what was read, sorted by name; none where nothing says what is deployed where.

    Where the budget was exhausted, all of them are incomplete, and say so.

    Args:
        budget: the work that all of it may cost; None for what suits the tree.
        cluster_scoped: kinds without a namespace beside the well-known ones.
        policy_groups: groups whose objects are worth naming when nothing deploys them.
        stated: environments that the user names, with the directories at which each begins; then there are no others.
        programs: whether the user's own kustomize may do what the built-in one does not cover.
        helm: whether the user's own helm may render charts that lie in the tree, and those that nothing installs count.
        shared: the share of another tree of the same run.
        rendered: the directory of charts that were rendered before; "" for none.
        alternatives: whether plain directories that write the same objects exclude each other.
        leftovers: whether what Flux or Argo CD leave over is arranged as if they were not there, where it is more.
        has_part: which clusters are asked about; the others are only built where what these are hangs on it.
    """
    tree = Tree(source, loaded, cluster_scoped, shared, budget, rendered)
    unread = frozenset((document.api_version.rpartition("/")[0], document.kind) for document in loaded.unread)
    own = external(tree) if programs else None
    charts = None
    if helm or tree.charts():
        from policylint.render.helm.charts import Charts

        charts = Charts(tree, by_program=helm)
    kustomizer = Kustomizer(tree, cluster_scoped, unread, own, charts)
    patches = patch_files(loaded.documents) | compared(source, loaded)
    groups = policy_groups | {GATEWAY_GROUP}
    unbuilt = Unbuilt(None if programs or helm or rendered or charts is not None else has_part)
    clusters, others, by_deployer = (
        (_stated(tree, kustomizer, stated), set(), True)
        if stated
        else _deployed(
            *(tree, kustomizer, charts, patches, groups, unbuilt),
            (tree.path_of(problem.file) for problem in loaded.problems if problem.code == YAML_SYNTAX),
            alternatives=alternatives,
            leftovers=leftovers,
        )
    )
    if not clusters:
        tree.budget.cut = tree.budget.cut or tree.placing.cut
        return []
    reached = set().union(*(deployed.reached for deployed in clusters.values()))
    orphans = _orphans(tree, reached, groups, patches)
    by_hand = list(_by_hand(tree, orphans.values()))
    problems, unreadable_orphans = _problems(tree, loaded.problems, reached, patches)
    left_out = _left_out(tree, reached, groups)
    roots = _other_roots(tree, reached, others, [resource for key, resource in orphans.items() if key.group])
    if unreadable_orphans:
        left_out = [f"{count(unreadable_orphans, 'file')} that nothing deploys and that cannot be read", *left_out]
    unreadable = {tree.path_of(problem.file): problem.file for problem in problems if problem.code == YAML_SYNTAX}
    absent = lacking(tree, clusters.values())
    stopped = stops(clusters, absent, unreadable, groups)
    known = []
    for name, deployed in sorted(clusters.items()):
        elsewhere = reached - deployed.reached
        met = [problem for problem in problems if tree.path_of(problem.file) not in elsewhere]
        about = (tree, charts, orphans, roots, met, left_out, groups)
        environment = _environment(name, deployed, *about, stopped[name], by_hand)
        maker = unbuilt.maker(name)
        if maker is not None:
            environment = environment._replace(unbuilt=cache(partial(_objects_of, name, maker, about)))
        known.append(environment)
    known = [each._replace(by_deployer=by_deployer) for each in _with_alternatives(known)]
    cut = tree.budget.cut = tree.budget.cut or tree.placing.cut
    return known if cut is None else [_incomplete(environment, cut) for environment in known]


def _with_alternatives(known: Sequence[Environment]) -> Iterator[Environment]:
    """Yield environments, those that are alternatives, or pieces, with what others have: nothing that these have is
    missing. What a deployer leaves to others lacks nothing that its clusters have, or may have."""
    of_all: dict[str, dict[ResourceKey, Resource]] = defaultdict(dict)
    of_which = [environment.alternative_of or ("/" if environment.is_piece else "") for environment in known]
    for of, environment in zip(of_which, known, strict=True):
        if of:
            of_all[of].update((resource.key, resource) for resource in environment.resources)
    deployed = [environment for environment in known if not environment.is_left]
    for of, environment in zip(of_which, known, strict=True):
        own = {resource.key for resource in environment.resources} if of else set()
        elsewhere = [
            Gap(f"{resource.document.file} has it, which is an alternative to these", key=key)
            for key, resource in of_all.get(of, {}).items()
            if key not in own and not ACTS.search(key.kind)  # a policy of another one acts on nothing here
        ]
        if environment.is_left:
            elsewhere += (gap for each in deployed for gap in each.gaps)
            elsewhere += (
                Gap(f"{each.name} has it, and these may be applied there, too", key=resource.key)
                for each in deployed
                for resource in each.objects()
                if not ACTS.search(resource.key.kind)
            )
        yield environment._replace(gaps=[*environment.gaps, *elsewhere])


def _incomplete(environment: Environment, cut: Cut) -> Environment:
    """Return an environment of a tree whose rendering was cut off: there may be more, and each object may be another
    one by then."""
    journal = Journal()
    journal.cut_off(cut)
    return environment._replace(
        resources=[resource.replaced(provisional="rendering was cut off") for resource in environment.resources],
        gaps=[*environment.gaps, *journal.gaps],
        notes=[*journal.notes, *environment.notes],
        not_rendered=("not rendered whole: cut off", *environment.not_rendered),
    )


def _deployed(
    tree: Tree,
    kustomizer: Kustomizer,
    charts: Charts | None,
    patches: frozenset[str],
    groups: frozenset[str],
    unbuilt: Unbuilt,
    unreadable: Iterable[str],
    *,
    alternatives: bool,
    leftovers: bool,
) -> tuple[dict[str, Deployed], set[str], bool]:
    """Return what lands where, by the first style that the tree follows: Flux, Argo CD, kustomize overlays; other
    directories at which Flux or Argo CD may begin; and whether these two alone say what is deployed. What they leave
    over is beside it."""

    def is_subject(group: str, kind: str) -> bool:
        return group in groups or (group, kind) == ("", "Service")

    evidence = is_subject if alternatives else None
    roots, others = cluster_roots(tree, kustomizer)
    if roots:
        others.update(path.rpartition("/")[0] for path, document in tree.all_documents() if _is_application(document))
        clusters = {root.name: unbuilt.deployed(tree, kustomizer, root) for root in roots}
        unbuilt.settle(clusters, unreadable)
    else:
        clusters = Argo(tree, kustomizer, charts).deploy()
    if not clusters:
        return overlays(tree, kustomizer, patches, evidence), others, False
    if not leftovers:
        return clusters, others, True
    arranged = left_over(tree, clusters, kustomizer, patches, groups, evidence, unbuilt)
    is_alone = arranged.keys() == clusters.keys() and all(arranged[name] is clusters[name] for name in clusters)
    return arranged, others, is_alone


def _is_application(document: Document) -> bool:
    return isinstance(document.value, dict) and is_application(Manifest(document.value, Provenance(document)))


def _stated(tree: Tree, kustomizer: Kustomizer, stated: Mapping[str, Sequence[str]]) -> dict[str, Deployed]:
    """Return the environments that the configuration names."""
    return {
        name: Cluster(tree, kustomizer, tree.base, name).deploy([root for path in paths for root in _root(tree, path)])
        for name, paths in stated.items()
    }


def _root(tree: Tree, path: str) -> list[str]:
    """Return the directory that the configuration names, as seen from the top or from the directory the user gave."""
    candidates = (join("", path), join(tree.base, path))
    return [directory for directory in candidates if directory is not None and tree.is_directory(directory)][:1]


def _other_roots(
    tree: Tree, reached: Collection[str], others: Collection[str], orphans: Sequence[Resource]
) -> tuple[str, ...]:
    """Return the directories, as shown, at which a deployment could begin that no environment has: those of Flux, and
    of the top-level kustomizations each that leads to an object which nothing deploys.

    Args:
        others: those of Flux that are taken for no cluster.
        orphans: objects that are worth naming.
    """
    roots = set(others)
    for path in {tree.path_of(orphan.document.file) for orphan in orphans}:
        with tree.placing.bounded("what takes this file in", Provenance(Spot(tree.shown(path)))):
            roots |= outermost(path, tree.takers, tree.placing) - {path}
    deployed = {directory for path in reached for directory in directories_above(f"{path}/")} if roots else set()
    roots = {root for root in roots - deployed if tree.is_live(f"{root}/") and not _is_component(tree, root)}
    return tuple(tree.shown(root) for root in sorted(roots) if roots.isdisjoint(directories_above(root)))


def _is_component(tree: Tree, directory: str) -> bool:
    kustomization = tree.kustomization(directory)
    return kustomization is not None and kustomization[0].get("kind") == "Component"


def _problems(
    tree: Tree, problems: Iterable[Problem], reached: set[str], patches: frozenset[str]
) -> tuple[list[Problem], int]:
    """Return the problems of files that something deploys, and how many other files cannot be read."""
    kept: list[Problem] = []
    others: set[str] = set()
    for problem in problems:
        path = tree.path_of(problem.file)
        if path in reached or problem.file in patches or is_kustomization_path(path):
            kept.append(problem)
        elif problem.code != "duplicate-key":
            others.add(problem.file)
    return kept, len(others)


def _environment(
    name: str,
    deployed: Deployed,
    tree: Tree,
    charts: Charts | None,
    orphans: dict[ResourceKey, Resource],
    roots: tuple[str, ...],
    problems: list[Problem],
    left_out: Sequence[str],
    groups: frozenset[str],
    stopped: Stops,
    by_hand: Sequence[Gap],
) -> Environment:
    made, known, unknown = released(deployed.manifests, tree, deployed.journal, charts, name)
    for of_chart in installed_by_k3s(deployed.manifests, tree, deployed.journal):
        made += of_chart
        unknown += 1
    asked = charts is not None and charts.by_program
    lacks_helm = asked and any(note.code == "chart" and WITHOUT_HELM in note.message for note in deployed.journal.notes)
    notes = [*stopped.notes, *(note for note in deployed.journal.notes if note not in stopped.causes)]
    sentences = [*_sentences(notes, "not rendered: helm is not installed" if lacks_helm else "not rendered")]
    if unknown:
        sentences.insert(0, f"{count(unknown, 'HelmRelease')} of {known + unknown} not rendered")
    sentences += [*tree.rendered_problems, *left_out]
    resources: list[Resource] = []
    manifests = [*deployed.manifests, *made]
    place = manifests[0].origin if manifests else Provenance(Spot(name))
    with tree.placing.bounded(f"environment {name}", place) as at:
        for manifest in manifests:
            at.place = manifest.origin
            tree.placing.spend(_FOR_AN_OBJECT + (0 if manifest.kind in _BY_REFERENCE else 2 * manifest.weight))
            resources += resources_of(manifest, tree.cluster_scoped)
    namespaces = {key.name for key in (*(each.key for each in resources), *orphans) if key[:2] == ("", "Namespace")}
    for manifest in created(manifests, namespaces):
        resources += resources_of(manifest, tree.cluster_scoped)
    notes += _unresolved(resources, groups)
    return Environment(
        name,
        resources,
        [*deployed.journal.gaps, *by_hand],
        notes,
        tuple(sentences),
        orphans,
        roots,
        problems,
        stopped.files,
        deployed.entries,
        deployed.alternative_of,
        deployed.is_piece,
        frozenset() if charts is None else charts.installed,
        is_left=deployed.is_left,
    )


def _objects_of(
    name: str, maker: Callable[[], Deployed], about: tuple[Any, Any, Any, Any, Any, Any, Any]
) -> list[Resource]:
    """Return the objects of a cluster that is built late."""
    return _environment(name, maker(), *about, Stops([], (), {}), ()).resources


def without_repeats(resources: Iterable[Resource]) -> Iterator[Resource]:
    """Yield resources but for those that come from the same place as an earlier one of the same identity: two ways to
    one file are no mistake."""
    seen: dict[ResourceKey, Resource] = {}
    for resource in resources:
        earlier = seen.setdefault(resource.key, resource)
        if earlier is resource or earlier.document is not resource.document or earlier.root != resource.root:
            yield resource


def _left_out(tree: Tree, reached: set[str], groups: frozenset[str]) -> list[str]:
    """Return what to say of files with objects of some groups that are taken for examples and that nothing deploys."""
    files: dict[str, set[str]] = defaultdict(set)
    for path, document in tree.all_documents():
        example = None if path in reached else tree.example(path)
        if example is not None and any(manifest.group in groups for manifest in manifests_of([document])):
            files[example].add(path)
    if not files:
        return []
    places = leading([f"{example}/" for example in sorted(files)], 3)
    return [f"{count(sum(map(len, files.values())), 'file')} in {places}, which nothing deploys"]


def _orphans(
    tree: Tree, reached: set[str], groups: frozenset[str], patches: frozenset[str]
) -> dict[ResourceKey, Resource]:
    """Return the objects in files that nothing deploys; their namespace is known only where they say it."""
    orphans: dict[ResourceKey, Resource] = {}
    for path, document in tree.all_documents():
        if path in reached or document.file in patches or not tree.is_live(path) or is_kustomization_file(document):
            continue
        manifests = manifests_of([document])
        made, _, _ = released(manifests, tree, Journal())  # routes that only values speak of can be orphans, too
        for manifest in (*manifests, *made):
            is_kept = manifest.group in groups or (manifest.group, manifest.kind) == ("", "Service")
            for resource in resources_of(manifest, tree.cluster_scoped) if is_kept else ():
                if resource.key.namespace and (not manifest.namespace or manifest in made):
                    namespace = f"{UNKNOWN_NAMESPACE}{path.rpartition('/')[0]}"
                    key = resource.key._replace(namespace=namespace)
                    resource = resource.replaced(key=key)
                orphans.setdefault(resource.key, resource)
    return orphans


def _by_hand(tree: Tree, orphans: Collection[Resource]) -> Iterator[Gap]:
    """Yield the objects that no deployer takes in and that a script of the tree applies."""
    scripts = applied(tree) if orphans else {}
    for orphan in orphans if scripts else ():
        path = tree.path_of(orphan.document.file)
        script = next((scripts[place] for place in (path, *directories_above(path)) if place in scripts), "")
        if script:
            yield Gap(f"{tree.shown(script)} applies {orphan.document.file}", key=orphan.key)


def _unresolved(resources: Iterable[Resource], groups: frozenset[str]) -> Iterator[Note]:
    """Yield one note for each variable that nothing in the tree fills in, at its first place in objects of some groups.

    Args:
        groups: Gateway API's and those of policies; elsewhere a variable changes nothing that is checked.
    """
    seen: set[str] = set()
    for resource in resources:
        for pointer, written in _texts(resource.body, ()) if resource.key.group in groups else ():
            for name in _VARIABLE.findall(written):
                if name not in seen:
                    seen.add(name)
                    message = f"${{{name}}} is not defined in this repository; its text is used as is"
                    yield Note(UNRESOLVED, "unresolved-variable", message, resource.location(*pointer))


def _texts(value: dict[str, Any] | list[Any], pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the texts with a variable in them, and their pointers."""
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, (dict, list)):
            yield from _texts(inner, (*pointer, step))
        elif isinstance(inner, str) and "${" in inner:
            yield (*pointer, step), inner


_NOUNS = {
    "missing-file": ("missing file", "missing files"),
    "missing-path": ("missing path", "missing paths"),
    "remote-base": ("remote base", ""),
    "chart": ("chart", ""),
    "template": ("template of a chart", "templates of charts"),
    "not-covered": ("kustomization not fully covered", "kustomizations not fully covered"),
    "outside": ("path out of the tree", "paths out of the tree"),
    "own-values": (
        "installation of a chart of Applications: it is taken with its own values",
        "installations of charts of Applications: they are taken with their own values",
    ),
}
"""Code of a note → one of them, and several where that takes more than an s."""


def _sentences(notes: Iterable[Note], state_of_charts: str) -> Iterator[str]:
    numbers = Counter(note.code for note in notes)
    for code, nouns in _NOUNS.items():
        if numbers[code]:
            counted = count(numbers[code], *nouns)
            yield f"{counted} {state_of_charts}" if code in ("chart", "template") else counted
