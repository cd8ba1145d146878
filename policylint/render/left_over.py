"""What the deployer of a tree leaves to others: where that is the larger part of it, it is deployed somehow, too.

A cluster's repository has a few applications that are switched off: nothing deploys them, and that is said. A project's
has one Application that tries it out, beside all that its Makefile and its users apply: there Argo CD is one of those
who use the tree, and what it does not take in is arranged as if it were not there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from policylint.load.objects import is_kustomization_file
from policylint.model.kinds import WAYS_IN
from policylint.render.flux.deployment import Deployed
from policylint.render.flux.unbuilt import Unbuilt
from policylint.render.kustomize.build import Kustomizer
from policylint.render.overlays import IsSubject, overlays
from policylint.render.provenance import Manifest, identity, manifests_of
from policylint.render.tree import Tree

MAKERS = frozenset(
    {
        *(("argoproj.io", kind) for kind in ("Application", "ApplicationSet")),
        *(("fluxcd.controlplane.io", "ResourceSet"), ("kustomize.toolkit.fluxcd.io", "Kustomization")),
        *(("helm.toolkit.fluxcd.io", "HelmRelease"), ("helm.cattle.io", "HelmChart")),
    }
)
"""Kinds of objects that stand for all that a directory, a chart or another source makes."""


def left_over(
    tree: Tree,
    clusters: dict[str, Deployed],
    kustomizer: Kustomizer,
    patches: frozenset[str],
    groups: frozenset[str],
    is_subject: IsSubject | None,
    unbuilt: Unbuilt,
) -> dict[str, Deployed]:
    """Return clusters with the environments of what they leave over, where that is more than they take in.

    What lands in the one cluster of a tree is part of each of these environments, unless both make the same object:
    then they exclude each other.

    Args:
        clusters: what Flux or Argo CD deploys.
        patches: files, as shown, that hold patches and are no objects.
        groups: Gateway API's and those of policies.
        is_subject: see `overlays`.
        unbuilt: those of the clusters that were not built, which are where it hangs on them.
    """
    reached = frozenset[str]().union(*(deployed.reached for deployed in clusters.values()))
    switched = tuple(
        f"{entry}/" for deployed in clusters.values() for entry in deployed.entries if _is_parted(entry, tree)
    )
    objects = list(_remaining(tree, reached, patches, switched)) if clusters else []
    if not any(each.group in groups for each in objects):
        return dict(clusters)
    if _is_less(objects, clusters, groups) or (unbuilt.build(clusters) and _is_less(objects, clusters, groups)):
        return dict(clusters)
    others = overlays(tree, kustomizer, patches, is_subject, reached)
    if len(clusters) == 1 and others:
        (cluster,) = clusters.values()
        made = set(map(identity, cluster.manifests))
        if all(made.isdisjoint(map(identity, deployed.manifests)) for deployed in others.values()):
            for deployed in others.values():
                deployed.add(cluster)
            return others if len(others) > 1 else dict.fromkeys(clusters, *others.values())
    left = {name: each._replace(is_left=True) for name, each in others.items()}
    return {**clusters, **{f"{name}-beside" if name in clusters else name: each for name, each in left.items()}}


def _is_less(objects: Iterable[Manifest], clusters: Mapping[str, Deployed], groups: frozenset[str]) -> bool:
    """Return whether clusters take in as much as they leave, or may."""
    taken_in = [each for deployed in clusters.values() for each in deployed.manifests]
    is_more = len(_counted(objects, groups)) > len(_counted(taken_in, groups))
    return not is_more or any(map(_may_take_in, clusters.values()))


def _is_parted(entry: str, tree: Tree) -> bool:
    """Return whether a deployment begins at a directory below the top: what lies in it and is not taken in is switched
    off, as a line of a kustomization that is commented out."""
    return bool(entry) and tree.is_directory(entry)


def _remaining(
    tree: Tree, reached: Collection[str], patches: frozenset[str], switched: tuple[str, ...]
) -> Iterator[Manifest]:
    """Yield the objects in files that nothing deploys, but for what is switched off below some directories."""
    for path, document in tree.all_documents():
        is_patch = document.file in patches or is_kustomization_file(document) or path.startswith(switched)
        if path not in reached and not is_patch and tree.is_live(path):
            yield from manifests_of([document])


def _counted(objects: Iterable[Manifest], groups: frozenset[str]) -> set[object]:
    """Return the identities of what is to be checked: policies, routes, other ways in, and what makes some."""
    return {
        identity(each)
        for each in objects
        if each.group in groups or (each.group, each.kind) in WAYS_IN or (each.group, each.kind) in MAKERS
    }


def _may_take_in(cluster: Deployed) -> bool:
    """Return whether a cluster may have more of the tree than was seen: of a source that was not found, of a set of
    which nothing came, of a build that fails."""
    unseen = any(not gap.namespace and gap.key is None and gap.gateway_api for gap in cluster.journal.gaps)
    return unseen or any(build.failures for build in cluster.builds)
