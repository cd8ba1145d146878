"""Environments of a tree that only kustomize arranges: top-level kustomizations that exclude each other are clusters.

Two kustomizations that make the same object are two answers to one question, so they are two environments, named by
their directories. Those that have nothing in common are deployed side by side, but for those of an environment by their
path (`clusters/east/app`): they go with the others of that one. Manifests outside of all kustomizations
are applied everywhere, but for those that exclude each other: each of these (variants.py) is one more environment.

The same holds for what another deployer of the tree leaves over (left_over.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from policylint.load.objects import is_kustomization_file
from policylint.model import ResourceKey, text
from policylint.model.keys import UNKNOWN_NAMESPACE
from policylint.namedtuple import NamedTuple
from policylint.render.by_hand import applied
from policylint.render.fleet import bundles
from policylint.render.flux.deployment import BY_HAND, Build, Deployed, is_kustomization
from policylint.render.flux.roots import cluster_name
from policylint.render.kustomize.build import Built, Kustomizer
from policylint.render.kustomize.refusals import is_hollow
from policylint.render.lessons import lessons
from policylint.render.live import ENVIRONMENT_MARKERS, ENVIRONMENTS
from policylint.render.provenance import Manifest, entries, identity, manifests_of
from policylint.render.tree import Tree, directories_above, join
from policylint.render.variants import variants

_STEPS = 10
"""What it costs to put an object into an environment."""
MOST_LESSONS = 50
"""Environments that a lesson makes with those of the tree; where there would be more, each stands by itself."""
_MOST_RIVALS = 1_000
"""Kustomizations that exclude others of which is asked which do not exclude each other."""
_Key = tuple[str, str, str, str]
IsSubject = Callable[[str, str], bool]


def overlays(
    tree: Tree,
    kustomizer: Kustomizer,
    patches: frozenset[str],
    is_subject: IsSubject | None,
    elsewhere: Collection[str] = (),
) -> dict[str, Deployed]:
    """Return what the top-level kustomizations deploy, by environment; nothing if there are none.

    Args:
        patches: files, as shown, that hold patches and are no objects.
        is_subject: which objects in two directories make variants of these (`variants`); None for none.
        elsewhere: files and directories that something else deploys; where there are some, other files are deployed
            whether or not there is a kustomization.
    """
    built: dict[str, Built] = {}
    of_fleet = bundles(tree)
    patching = frozenset[str]().union(*(bundle.patching for bundle in of_fleet))
    roots, taken_elsewhere = tops(tree)
    for directory in roots:
        if directory in patching or directory in elsewhere or tree.kustomization_file(directory) in elsewhere:
            continue
        with tree.budget.bounded("this kustomization", tree.kustomization(directory)[1]):  # type: ignore[index]
            output = kustomizer.build(directory)
        if not elsewhere or not output.reached.issubset(elsewhere):
            built[directory] = output
    if not built and not elsewhere:
        return {}
    taken = set(elsewhere).union(*(output.reached for output in built.values()))
    plain_manifests = [
        (path, manifest, identity(manifest)) for path, manifest in plain(tree, patches) if path not in taken
    ]
    tried = lessons([*(f"{directory}/" for directory in built), *(path for path, _, _ in plain_manifests)])
    apart = set().union(*tried.values())
    written = [(path, _key_of(key)) for path, _, key in plain_manifests if path not in apart] if is_subject else []
    alternatives = variants(written, is_subject).files if is_subject else {}
    tried.update(alternatives)
    apart.update(*alternatives.values())
    everywhere = _Part([], [entry for entry in plain_manifests if entry[0] not in apart])
    lasting = {directory: output for directory, output in built.items() if f"{directory}/" not in apart}
    groups, are_pieces = (
        _grouped(lasting, kustomizer.cluster_scoped, taken_elsewhere) if lasting or everywhere.plain else ({}, False)
    )
    environments = {
        name: _deployed(tree, name, built, [everywhere._replace(directories=directories)])._replace(
            alternative_of=name if alternatives else "", is_piece=are_pieces
        )
        for name, directories in groups.items()
    }
    if len(tried) * len(groups) > MOST_LESSONS:
        groups = {}
    for bundle in of_fleet if environments else ():
        if bundle.chart and tree.is_live(bundle.file):
            for deployed in environments.values():
                deployed.journal.gap(
                    f"{tree.shown(bundle.file)} installs a chart, which may create it", bundle.namespace
                )
    for lesson, paths in tried.items():
        own = _Part(
            [directory for directory in built if f"{directory}/" in paths],
            [entry for entry in plain_manifests if entry[0] in paths],
        )
        for name, directories in groups.items() or [("", [])]:
            known_as = f"{name}/{lesson}" if len(groups) > 1 else lesson
            of_group = (name or "default") if alternatives else ""
            parts = [own, everywhere._replace(directories=directories)] if groups else [own]
            environments[known_as] = _deployed(tree, known_as, built, parts)._replace(alternative_of=of_group)
    return environments


class _Part(NamedTuple):
    """What is deployed together.

    Args:
        directories: of top-level kustomizations.
        plain: objects that no kustomization takes in, with their paths and identities.
    """

    directories: list[str]
    plain: list[tuple[str, Manifest, _Key]]


def _deployed(tree: Tree, name: str, built: Mapping[str, Built], parts: Sequence[_Part]) -> Deployed:
    """Return an environment of some parts; an object of an earlier part takes the place of one of a later part."""
    deployed = Deployed.empty()
    place = next((built[directory].place for part in parts for directory in part.directories), None)
    place = place or next(manifest.origin for part in parts for _, manifest, _ in part.plain)
    with tree.placing.bounded(f"environment {name}", place):
        known: set[_Key] = set()
        for part in parts:
            before = frozenset(known)
            for directory in part.directories:
                output = built[directory]
                tree.placing.spend(_STEPS * len(output.manifests) + len(output.reached) + output.journal.size)
                copies = [
                    manifest.copy() for manifest in output.manifests if not before or identity(manifest) not in before
                ]
                deployed.manifests.extend(copies)
                failures = output.journal.failures
                deployed.builds.append(Build(BY_HAND, directory, failures, output.reached, copies))
                deployed.journal.add(output.journal)
                deployed.reach(directory, output.reached)
            known.update(identity(manifest) for manifest in deployed.manifests)
            alone: dict[_Key, Manifest] = {}
            for path, manifest, key in part.plain:
                tree.placing.spend(_STEPS)
                deployed.reached.add(path)
                if key not in known:  # rendered bundles repeat what is written elsewhere
                    known.add(key)
                    alone[key] = manifest.copy()
                elif key in alone and manifest.body != alone[key].body:
                    alone[key].leave_open(f"{manifest.file} has another version of it")
            deployed.manifests.extend(alone.values())
    return deployed


def tops(tree: Tree) -> tuple[list[str], set[str]]:
    """Return the directories whose kustomization no other one takes in, components left out, sorted; and those of them
    that another one takes in all the same.

    What Flux calls a Kustomization is an object, though its file may have the name that kustomize looks for: where
    nobody builds its directory, it is applied as it is. Nobody builds an empty one: it keeps a place.

    An example or a test does not count, unless it puts together several that would be tops otherwise: then it shows how
    they are meant to be installed. What a script applies by itself is a top, whoever takes it in elsewhere.
    """
    takes: dict[str, set[str]] = {}
    candidates = []
    for directory in tree.kustomizations():
        kustomization = tree.kustomization(directory)
        if kustomization is None or is_kustomization(kustomization[0]):
            continue
        entered = takes[directory] = set()
        for field in ("resources", "bases", "components"):
            for entry, _ in entries(*kustomization, field):
                path = join(directory, text(entry)) if text(entry) else None
                if path is not None and path != directory:
                    entered.add(path)
        if kustomization[0].get("kind") != "Component" and not is_hollow(kustomization[0]):
            candidates.append(directory)
    live = {directory for directory in takes if tree.is_live(f"{directory}/")}
    taken = set().union(*(takes[directory] for directory in live))
    by_hand = taken.intersection(candidates)
    if by_hand:
        by_hand &= applied(tree).keys()
        taken -= by_hand
    live_tops = [directory for directory in candidates if directory in live and directory not in taken]
    composers = {
        directory
        for directory in candidates
        if directory not in live and len(takes[directory].intersection(live_tops)) > 1
    }
    taken = set().union(*(takes[directory] for directory in composers))
    return sorted({*live_tops, *composers} - taken), by_hand


def _grouped(
    built: dict[str, Built], cluster_scoped: frozenset[tuple[str, str]], taken_elsewhere: Collection[str]
) -> tuple[dict[str, list[str]], bool]:
    """Return the top-level directories of each environment, and whether these are but pieces of environments: of those
    that rival others, each with what lies beside it, where their names do not say what is deployed together.

    Args:
        taken_elsewhere: those that scripts build by themselves, though others take them in.
    """
    makers: dict[_Key, list[str]] = defaultdict(list)
    rivals: set[str] = set()
    against: dict[str, set[str]] = defaultdict(set)
    is_within = False  # whether two of one group are rivals
    for directory, output in built.items():
        for key in {identity(manifest) for manifest in output.manifests}:
            if key[:2] not in cluster_scoped:
                makers[key].append(directory)
    names = {directory: _name(directory) for directory in built}
    for directories in makers.values():
        if len(directories) > 1:
            rivals.update(directories)
            for directory in directories:
                against[directory].update(directories)
            is_within = is_within or len({names[directory] for directory in directories}) < len(directories)
    for directory, output in built.items():
        for taken in output.reached.intersection(taken_elsewhere):
            if taken != directory and taken in built:
                rivals.update((directory, taken))
                against[directory].update((directory, taken))
                against[taken].update((directory, taken))
    if not rivals:
        return {"default": sorted(built)}, False
    anywhere: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for (group, kind, _, name), directories in makers.items():
        anywhere[group, kind, name].update(directories)
    for (group, kind, namespace, name), directories in makers.items():
        for directory in directories if not namespace else ():  # `kubectl apply -n` says where it lands
            against[directory] |= anywhere[group, kind, name]
    rivals |= _alternatives(built, rivals)
    groups: dict[str, list[str]] = defaultdict(list)
    for directory in sorted(rivals):
        groups[names[directory]].append(directory)
    if is_within:
        groups = {directory or "default": [directory] for directory in sorted(rivals)}
    shared = [directory for directory in sorted(built) if directory not in rivals]
    stated = {directory: _stated(directory) for directory in built}
    of_rivals = {stated[directory] for directory in rivals} - {""}
    known: set[frozenset[str]] = set()
    found: dict[str, list[str]] = {}
    for name, directories in sorted(groups.items()):
        if len(rivals) <= _MOST_RIVALS:
            directories = [*directories, *_neighbours(directories, rivals, against)]
        if (together := frozenset(directories)) not in known:
            known.add(together)
            own = {stated[directory] for directory in directories}
            beside = [each for each in shared if stated[each] in own or stated[each] not in of_rivals]
            found[name] = [*directories, *beside]
    return found, is_within


def _neighbours(group: Collection[str], rivals: Iterable[str], against: Mapping[str, Collection[str]]) -> list[str]:
    """Return what is deployed beside a group: the nearest ones, as far as they exclude neither it nor each other. What
    is called as an environment is stands beside what is called so, too.

    Args:
        against: what each directory excludes, itself among it.
    """
    own = set(group)
    first = next(iter(group)).split("/")
    levels: dict[int, set[str]] = defaultdict(set)
    for directory in rivals:
        steps = directory.split("/")
        depth = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, steps, strict=False)))
        is_marked = bool(depth) and steps[depth - 1] in ENVIRONMENT_MARKERS
        is_of_another = is_marked or not ENVIRONMENTS.isdisjoint({*steps[depth:], *first[depth:]})
        is_apart = not own.isdisjoint(against[directory]) or any(directory in against[each] for each in own)
        if directory not in own and not is_apart and not is_of_another:
            levels[depth].add(directory)
    nearest = levels[max(levels)] if levels else set()
    return sorted(each for each in nearest if len(nearest.intersection(against[each])) < 2)


def _alternatives(built: Mapping[str, Built], rivals: Collection[str]) -> set[str]:
    """Return the kustomizations beside rivals, among the overlays of one directory, that vary what those vary: only
    their namespace keeps them from making the same objects."""
    varied: dict[str, set[str]] = defaultdict(set)
    for directory in rivals:
        varied[directory.rpartition("/")[0]] |= built[directory].reached
    return {
        directory
        for directory, output in built.items()
        if (above := directory.rpartition("/")[0]).rpartition("/")[2] in ENVIRONMENT_MARKERS
        and not varied.get(above, set()).isdisjoint(output.reached)
    }


def _stated(directory: str) -> str:
    """Return the environment that a directory is one of, as its path says; "" where it says none."""
    steps = directory.split("/")
    marker = next((marker for marker in ENVIRONMENT_MARKERS if marker in steps[:-1]), None)
    return "" if marker is None else steps[steps.index(marker) + 1]


def _name(directory: str) -> str:
    steps = directory.split("/")
    if stated := _stated(directory):
        return stated
    return cluster_name(directory) if steps[-1] in ("app", "base", "manifests") else steps[-1] or "default"


def _key_of(identity: _Key) -> ResourceKey:
    """Return the key of an object, whose namespace may be anybody's to say."""
    group, kind, namespace, name = identity
    return ResourceKey(group, kind, namespace or UNKNOWN_NAMESPACE, name)


def plain(tree: Tree, patches: frozenset[str]) -> list[tuple[str, Manifest]]:
    """Return the objects in files that lie in no directory with a kustomization, with their paths."""
    arranged = {
        directory
        for directory in tree.kustomizations()
        if (known := tree.kustomization(directory)) is None or not is_kustomization(known[0])
    }
    objects = []
    for path, document in tree.all_documents():
        if document.file in patches or is_kustomization_file(document) or not tree.is_live(path):
            continue
        if arranged.isdisjoint(directories_above(path)):
            objects += [(path, manifest) for manifest in manifests_of([document]) if manifest.group or manifest.kind]
    return objects
