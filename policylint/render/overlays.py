"""Environments of a tree that only kustomize arranges: top-level kustomizations that exclude each other are clusters.

Two kustomizations that make the same object are two answers to one question, so they are two environments, named by
their directories. Those that have nothing in common are deployed side by side. Manifests outside of all kustomizations
are applied everywhere.
"""

from __future__ import annotations

from collections import defaultdict

from policylint.load.objects import is_kustomization_file
from policylint.model import sequence, text
from policylint.model.keys import CLUSTER_SCOPED
from policylint.render.flux.deployment import Deployed
from policylint.render.flux.roots import ENVIRONMENT_MARKERS, cluster_name, is_live
from policylint.render.journal import Journal
from policylint.render.kustomize.build import Built, Kustomizer, manifests_of
from policylint.render.provenance import Manifest
from policylint.render.tree import Tree, join

_Key = tuple[str, str, str, str]


def overlays(tree: Tree, kustomizer: Kustomizer, patches: frozenset[str]) -> dict[str, Deployed]:
    """What the top-level kustomizations deploy, by environment; nothing if there are none.

    Args:
        patches: files, as shown, that hold patches and are no objects.
    """
    built = {directory: kustomizer.build(directory) for directory in tops(tree)}
    if not built:
        return {}
    groups = _grouped(built, kustomizer.cluster_scoped)
    rest = plain(tree, patches)
    found = {}
    for name, directories in groups.items():
        deployed = Deployed([], Journal(), set())
        for directory in directories:
            deployed.manifests.extend(each.copy() for each in built[directory].manifests)
            deployed.journal.add(built[directory].journal)
            deployed.reached.update(built[directory].reached)
        known = {_key(each) for each in deployed.manifests}
        for path, manifest in rest:
            deployed.reached.add(path)
            if _key(manifest) not in known:  # rendered bundles repeat what is written elsewhere
                known.add(_key(manifest))
                deployed.manifests.append(manifest.copy())
        found[name] = deployed
    return found


def tops(tree: Tree) -> list[str]:
    """Directories whose kustomization no other one takes in, components left out, sorted."""
    taken: set[str] = set()
    found = []
    for directory in tree.kustomizations():
        kustomization = tree.kustomization(directory)
        if kustomization is None:
            continue
        body, _ = kustomization
        for field in ("resources", "bases", "components"):
            paths = (join(directory, text(entry)) for entry in sequence(body.get(field)) if text(entry))
            taken.update(path for path in paths if path is not None and path != directory)
        if body.get("kind") != "Component" and is_live(f"{tree.below_base(directory)}/"):
            found.append(directory)
    return [each for each in found if each not in taken]


def _grouped(built: dict[str, Built], cluster_scoped: frozenset[tuple[str, str]]) -> dict[str, list[str]]:
    """Environment → top-level directories."""
    makers: dict[_Key, list[str]] = defaultdict(list)
    for directory, each in built.items():
        for key in {_key(manifest) for manifest in each.manifests}:
            if (key[0], key[1]) not in CLUSTER_SCOPED | cluster_scoped:
                makers[key].append(directory)
    rivals: dict[str, set[str]] = defaultdict(set)
    for directories in makers.values():
        if len(directories) > 1:
            for directory in directories:
                rivals[directory].update(directories)
    if not rivals:
        return {"default": sorted(built)}
    groups: dict[str, list[str]] = defaultdict(list)
    for directory in sorted(rivals):
        groups[_name(directory)].append(directory)
    clashing = any(
        set(directories) & (rivals[each] - {each}) for directories in groups.values() for each in directories
    )
    if clashing:
        groups = defaultdict(list, {directory or "default": [directory] for directory in sorted(rivals)})
    shared = [directory for directory in sorted(built) if directory not in rivals]
    return {name: [*directories, *shared] for name, directories in sorted(groups.items())}


def _name(directory: str) -> str:
    steps = directory.split("/")
    for marker in ENVIRONMENT_MARKERS:
        if marker in steps[:-1]:
            return steps[steps.index(marker) + 1]
    return cluster_name(directory) if steps[-1] in ("app", "base", "manifests") else steps[-1] or "default"


def _key(manifest: Manifest) -> _Key:
    return manifest.group, manifest.kind, manifest.namespace, manifest.name


def plain(tree: Tree, patches: frozenset[str]) -> list[tuple[str, Manifest]]:
    """Objects in files that lie in no directory with a kustomization, with their paths."""
    arranged = set(tree.kustomizations())
    found = []
    for path, document in tree.all_documents():
        if document.file in patches or is_kustomization_file(document) or not is_live(tree.below_base(path)):
            continue
        steps = path.split("/")[:-1]
        if any("/".join(steps[:depth]) in arranged for depth in range(len(steps) + 1)):
            continue
        found += [(path, manifest) for manifest in manifests_of([document]) if manifest.group or manifest.kind]
    return found
