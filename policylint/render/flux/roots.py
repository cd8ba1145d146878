"""The roots of Flux clusters: FluxInstances, `flux bootstrap`, or Kustomizations that no other one deploys."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from policylint.budget import Budget
from policylint.load.objects import objects_of
from policylint.model import Spot, is_symbolic, mapping, text
from policylint.model.keys import VARIABLES
from policylint.namedtuple import NamedTuple
from policylint.render.flux.deployment import BOOTSTRAPPED, GROUP, Cluster, Sync, is_kustomization
from policylint.render.flux.sources import GROUP as SOURCES
from policylint.render.flux.substitution import substitute
from policylint.render.kustomize.build import Kustomizer
from policylint.render.live import ENVIRONMENT_MARKERS
from policylint.render.provenance import Manifest, Provenance, manifests_of
from policylint.render.tree import Tree, directories_above, join

_GENERIC = frozenset(
    {"cluster", "clusters", "flux", "flux-system", "kubernetes", "k8s", "config", "base", "apps", "app", "manifests"}
    | {"deploy", "gitops", "infra", "sync", "bootstrap", "instance", "components"}
)
_NOWHERE = "${"
"""The directory of a Kustomization whose path holds a variable."""
_MARKS = frozenset({"clusters", "cluster", "flux", "flux-system"})
_SOURCES = frozenset({"GitRepository", "OCIRepository", "Bucket"})


class ClusterRoot(NamedTuple):
    """One cluster: its name, the directories Flux syncs first, where its artifact begins in the tree, and what
    FluxInstances say of the first directories."""

    name: str
    directories: tuple[str, ...]
    prefix: str
    syncs: Mapping[str, Sync]


class _Candidate(NamedTuple):
    """A Flux Kustomization: the file it stands in, the directory it deploys, where its artifact begins, kind and name
    of that, and its own namespace and name."""

    file: str
    path: str
    prefix: str
    source: tuple[str, str]
    key: tuple[str, str]


def live_manifests(tree: Tree, is_wanted: Callable[[Any], bool]) -> Iterator[tuple[str, Manifest]]:
    """Yield the objects of documents that hold a wanted one, in files that may be deployed, with their paths."""
    for path, document in tree.all_documents():
        if any(is_wanted(body) for body, _ in objects_of(document.value)) and tree.is_live(path):
            for manifest in manifests_of([document]):
                yield path, manifest


def cluster_roots(tree: Tree, kustomizer: Kustomizer) -> tuple[list[ClusterRoot], set[str]]:
    """Return the clusters of a tree, sorted by name, none if nothing in it is Flux's; and the directories of Flux that
    no other one takes in and that are taken for no cluster."""
    syncs = dict(_synced(tree))
    candidates = list(_kustomizations(tree))
    moved = _moved(candidates, tree)
    left = {home: start[0] for home, start in moved.items()}
    candidates = [each for each in candidates if not _is_left(each.file, left)]
    starts, unmarked = _uncovered(candidates, tree)
    others = {directory for directory, _ in unmarked}
    selves = {candidate.path for candidate in candidates if _deploys_itself(candidate, tree)}
    own = set(syncs) or {start for start in starts if start[0] in selves}
    if own or moved:
        others.update(directory for directory, _ in starts)
        synced = {directory for directory, _ in own}
        beside = {start for start in starts if _is_beside(start[0], synced, selves)}
        starts = {start for start in beside if start[0] in selves or not _syncs_another(start[0], syncs, tree)} | own
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for directory, prefix in starts:
        groups[cluster_name(tree.below_base(directory)), prefix].add(directory)
    for home, (directory, prefix) in moved.items():
        groups[cluster_name(tree.below_base(home)), prefix].add(directory)
    groups = _with_shared(_separated(groups, candidates, tree, kustomizer), candidates, tree)
    names: Counter[str] = Counter()
    roots = []
    for (name, prefix), directories in sorted(groups.items()):
        names[name] += 1
        inner = {path for path in directories if path and not directories.isdisjoint(directories_above(path))}
        outer = sorted(directories - inner)
        unique = name if names[name] == 1 else f"{name}-{names[name]}"
        own_syncs = {directory: syncs[directory, prefix] for directory in outer if (directory, prefix) in syncs}
        roots.append(ClusterRoot(unique, tuple(outer), prefix, own_syncs))
    return roots, others


def _deploys_itself(candidate: _Candidate, tree: Tree) -> bool:
    """Return whether a Kustomization lies in what it deploys, where no kustomization from elsewhere takes it in: that
    one applies it, and it may be left out of what it deploys."""
    file, path = candidate.file, candidate.path
    return is_below(file, path) and all(is_below(f"{each}/", path) for each in tree.takers.get(file, ()))


def _moved(candidates: Collection[_Candidate], tree: Tree) -> dict[str, tuple[str, str]]:
    """Return what is synced instead of the directories that `flux bootstrap` was told to sync, by these: its own
    Kustomization, in `flux-system/gotk-sync.yaml` there, has another path by now."""
    found = {}
    for file, path, prefix, *_ in candidates:
        home = file.removesuffix(f"/{BOOTSTRAPPED}")
        if home != file and not is_below(file, path) and tree.is_directory(path):
            found[home] = (path, prefix)
    return found


def _separated(
    groups: Mapping[tuple[str, str], set[str]], candidates: Collection[_Candidate], tree: Tree, kustomizer: Kustomizer
) -> dict[tuple[str, str], set[str]]:
    """Return the directories of clusters, by name and prefix, those apart that Kustomizations of one name sync, each
    the directory that holds it: no cluster has two of them.

    Where the path holds a variable, as that of a base does, the directory is built: each cluster patches it.
    """
    syncing = {each.path: each.key for each in candidates if _deploys_itself(each, tree)}
    is_patched = any(each.path == _NOWHERE for each in candidates)
    found: dict[tuple[str, str], set[str]] = {}
    for (name, prefix), directories in groups.items():
        by_key: dict[tuple[str, str], set[str]] = defaultdict(set)
        cluster = Cluster(tree, kustomizer, prefix, name)
        for directory in sorted(directories) if len(directories) > 1 else ():
            key = syncing.get(directory)
            if key is None and is_patched and (owner := cluster.synced_by(directory)) is not None:
                key = owner.namespace, owner.name
            if key is not None:
                by_key[key].add(directory)
        apart = max(by_key.values(), key=len, default=set())
        if len(apart) < 2:
            apart = set()
        found.update({(f"{name}-{each.rpartition('/')[2]}", prefix): {each} for each in sorted(apart)})
        if directories - apart:
            found[name, prefix] = directories - apart
    return found


def _with_shared(
    groups: Mapping[tuple[str, str], set[str]], candidates: Collection[_Candidate], tree: Tree
) -> dict[tuple[str, str], set[str]]:
    """Return the directories of clusters, by name and prefix, with those that several of them have in common: what
    syncs itself from a source that another one makes is on the cluster of that one, which is none by itself."""
    synced = {directory for directories in groups.values() for directory in directories}
    asking = {each.path: each.source for each in candidates if each.path in synced and _deploys_itself(each, tree)}
    made: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path, manifest in (
        live_manifests(tree, lambda body: str(body.get("kind")) in _SOURCES) if len(asking) > 1 else ()
    ):
        if manifest.kind in _SOURCES:
            made[manifest.kind, manifest.name].update(synced.intersection(directories_above(path)))
    shared = {}
    for directory, source in asking.items():
        makers = made.get(source, set())
        if directory not in makers and len(makers) == 1:
            shared[directory] = next(iter(makers))
    taken = {*shared.values()} - shared.keys()
    return {
        key: directories | {shared[each] for each in directories if shared.get(each) in taken}
        for key, directories in groups.items()
        if not directories <= taken
    }


def _syncs_another(directory: str, syncs: Mapping[tuple[str, str], Sync], tree: Tree) -> bool:
    """Return whether a directory holds a FluxInstance that syncs another one: it is no cluster by itself."""
    files = ((path, tree.path_of(sync.place.document.file)) for (path, _), sync in syncs.items())
    return any(
        is_below(file, directory) and path != directory and not is_below(path, directory) for path, file in files
    )


def _is_left(file: str, left: Mapping[str, str]) -> bool:
    """Return whether a file lies in a directory that is synced no more, and in none that is instead."""
    return any(is_below(file, home) and not is_below(file, path) for home, path in left.items())


def cluster_name(directory: str) -> str:
    """Return what people call the cluster whose root is at a path: the last step that says something."""
    steps = [step for step in directory.split("/") if step]
    for marker in ENVIRONMENT_MARKERS:
        if marker in steps[:-1] and steps[steps.index(marker) + 1] not in _GENERIC:
            return steps[steps.index(marker) + 1]
    return next((step for step in reversed(steps) if step not in _GENERIC), "cluster")


def is_below(path: str, directory: str) -> bool:
    """Return whether a file or directory lies in a directory."""
    return path != directory and (not directory or path.startswith(f"{directory}/"))


def _is_beside(directory: str, synced: Collection[str], selves: Collection[str]) -> bool:
    """Tell whether a directory is that of another cluster beside those that are certainly synced: it lies where they
    lie, and syncs itself, or is one of the directories called as clusters are, or one where several of them lie."""
    above = directory.rpartition("/")[0]
    places = [other.rpartition("/")[0] for other in synced]
    if directory in synced or above not in places:
        return False
    return directory in selves or above.rpartition("/")[2] in ENVIRONMENT_MARKERS or places.count(above) > 1


def _synced(tree: Tree) -> Iterator[tuple[tuple[str, str], Sync]]:
    """Yield the directories that FluxInstances sync, as objects or as values of their chart, with what they say of
    them."""
    for path, manifest in live_manifests(tree, _may_hold_instance):
        instance, place = _instance(manifest)
        sync = mapping(instance.get("sync"))
        written = text(sync.get("path"))
        if is_symbolic(written):
            stated = [tree.placed(path, value) for value in _stated(tree, written)]
            for fitting in [found for found in stated if found is not None] or _fitting(tree, path, written):
                yield fitting, _sync(instance, sync, place)
            continue
        directory = tree.placed(path, written) if written else None
        if written and not written.strip("./"):
            directory = _whole_artifact(tree, path, text(sync.get("kind")))
        if directory is not None:
            yield directory, _sync(instance, sync, place)


def _sync(instance: Any, sync: Any, place: Provenance) -> Sync:
    made = _sync_kustomization(sync, place.child("sync")), _sync_source(sync, place.child("sync"))
    return Sync(*made, mapping(instance.get("kustomize")), place.child("kustomize"))


def _stated(tree: Tree, path: str) -> list[str]:
    """Return what a path with variables becomes by the ConfigMaps of the tree, of which each cluster has its own."""
    stated = set()
    for _, manifest in live_manifests(tree, lambda body: body.get("kind") == "ConfigMap"):
        data = mapping(manifest.body.get("data")) if manifest.kind == "ConfigMap" else {}
        if any(f"${{{name}" in path for name in data):
            stated.add(substitute(path, {str(name): text(value) for name, value in data.items()}, tree.budget))
    return sorted(each for each in stated if each and not is_symbolic(each))


def _fitting(tree: Tree, file: str, path: str) -> list[tuple[str, str]]:
    """Return the directories that a path with variables may mean, with the prefix that they are below: one for each
    cluster that fills them in; none where the path states nothing else."""
    if not VARIABLES.sub("", path).strip("./"):
        return []
    for prefix in directories_above(file):
        directory = join(prefix, path.lstrip("/"))
        fitting = tree.fitting(directory) if directory else []
        if fitting:
            return [(place, prefix) for place, _ in fitting]
    return []


def _whole_artifact(tree: Tree, file: str, kind: str) -> tuple[str, str] | None:
    """Return the directory that a FluxInstance in a file syncs with the path `.`: all of a GitRepository; of an OCI
    artifact, which may hold a part of the repository, the first directory on the way to the file that has a
    kustomization, else the first one; None where the file lies at the top."""
    if kind == "GitRepository":
        return tree.base, tree.base
    above = [directory for directory in directories_above(file) if directory and is_below(f"{directory}/", tree.base)]
    arranged = (directory for directory in above if tree.kustomization_file(directory) is not None)
    directory = next(arranged, above[0] if above else None)
    return None if directory is None else (directory, directory)


def _may_hold_instance(body: Any) -> bool:
    return body.get("kind") in ("FluxInstance", "HelmRelease") or "instance" in body


def _instance(manifest: Manifest) -> tuple[Any, Provenance]:
    """Return the spec of a FluxInstance that an object is, or holds as values for the chart that makes one."""
    if manifest.kind == "FluxInstance":
        return manifest.spec, manifest.origin.child("spec")
    if "instance" in manifest.body:
        return mapping(manifest.body["instance"]), manifest.origin.child("instance")
    values = mapping(manifest.spec.get("values")) if manifest.kind == "HelmRelease" else {}
    return mapping(values.get("instance")), manifest.origin.at("spec", "values", "instance")


def _sync_kustomization(sync: Any, place: Provenance) -> Manifest:
    """Return the Kustomization that the Flux Operator makes of `sync`, each value where the instance says it."""
    name = text(sync.get("name")) or "flux-system"
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": "flux-system"},
        "spec": {
            "path": sync["path"],
            "prune": True,
            "sourceRef": {"kind": text(sync.get("kind"), "GitRepository"), "name": name},
        },
    }
    spec = place.with_children({"path": place.child("path")})
    return Manifest(body, place.with_children({"spec": spec}))


def _sync_source(sync: Any, place: Provenance) -> Manifest:
    """Return the source that the Flux Operator makes of `sync`."""
    reference = {"tag" if sync.get("kind") == "OCIRepository" else "name": sync.get("ref")}
    body = {
        "apiVersion": f"{SOURCES}/v1",
        "kind": text(sync.get("kind"), "GitRepository"),
        "metadata": {"name": text(sync.get("name")) or "flux-system", "namespace": "flux-system"},
        "spec": {"url": text(sync.get("url")), "ref": reference},
    }
    return Manifest(body, place)


def _kustomizations(tree: Tree) -> Iterator[_Candidate]:
    for path, manifest in live_manifests(tree, is_kustomization):
        if is_kustomization(manifest.body) and manifest.spec.get("sourceRef") and manifest.metadata.get("name"):
            written = text(manifest.spec.get("path"))
            reference = mapping(manifest.spec["sourceRef"])
            source = (text(reference.get("kind")), text(reference.get("name")))
            directory = (
                (_NOWHERE, "")
                if source[0] == "ExternalArtifact" or is_symbolic(written)
                else tree.placed(path, written)
            )
            if directory is not None:
                yield _Candidate(path, *directory, source, (manifest.namespace, manifest.name))


def outermost(path: str, takers: Mapping[str, Collection[str]], budget: Budget) -> set[str]:
    """Return the directories of the kustomizations that take a file or directory in, by way of others, and that none
    does; the path itself where none takes it in.

    Raises:
        ExhaustedError: there are more ways than the budget allows to follow.
    """
    tops, seen, pending = set(), {path}, [path]
    while pending:
        place = pending.pop()
        above = takers.get(place, ())
        budget.spend(5 + len(above))
        if not above:
            tops.add(place)
        pending += [taker for taker in above if taker not in seen]
        seen.update(above)
    return tops or {path}


def _uncovered(candidates: list[_Candidate], tree: Tree) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return the directories of Kustomizations that no other one's path takes in; where other kustomizations take such
    a directory in, as overlays do with a base, those. Where some are called as clusters are, the rest comes apart, but
    for what syncs itself: somebody applied it for that."""
    roots: set[tuple[str, str]] = set()
    marked: set[tuple[str, str]] = set()
    paths = {candidate.path for candidate in candidates}
    chosen = {path.rpartition("/")[0] for path in tree.takers if path.endswith((".yaml", ".yml"))}
    for candidate in candidates:
        file, own_path, prefix, *_ = candidate
        deploys_itself = _deploys_itself(candidate, tree)
        others = (path for path in directories_above(file) if path in paths and path != own_path)
        if any(not (deploys_itself and is_below(path, own_path)) for path in others):
            continue
        places = {own_path} if deploys_itself else set()
        if not deploys_itself:
            with tree.budget.bounded("what takes this Kustomization in", Provenance(Spot(tree.shown(file)))):
                directory = file.rpartition("/")[0]
                if file not in tree.takers and directory in chosen and tree.kustomization_file(directory) is None:
                    continue  # those who take in the files beside it leave it out
                places = outermost(file if file in tree.takers else directory, tree.takers, tree.budget)
        roots.update((place, prefix) for place in places)
        if deploys_itself or _MARKS & set(file.split("/")[:-1]):
            marked.update((place, prefix) for place in places)
    return (marked, roots - marked) if marked else (roots, set())
