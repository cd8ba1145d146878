"""What may put objects into an environment that no manifest shows: charts, operators, other repositories, templates."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.documents import Unread
from policylint.model import GATEWAY_GROUP, Resource, Unseen, mapping, sequence, text
from policylint.model.words import count

_BUILT_IN_SUFFIX = ".k8s.io"
_BUILT_IN = frozenset({"", "apps", "batch", "autoscaling", "policy", "extensions"})
_FLUX = "toolkit.fluxcd.io"
_BACKENDS = frozenset(
    {
        ("multicluster.x-k8s.io", "ServiceImport"),
        ("net.gke.io", "ServiceImport"),
        ("inference.networking.k8s.io", "InferencePool"),
        ("inference.networking.x-k8s.io", "InferencePool"),
    }
)
"""What routes name in place of a Service: their controllers make nothing of it that anybody names."""
_PLACING = frozenset({"argoproj.io", "kustomize.config.k8s.io", "fluxcd.controlplane.io", "helm.cattle.io"})


def unseen(
    objects: Iterable[Resource], unread: Iterable[Unread], templates: list[str], known_groups: frozenset[str]
) -> tuple[Unseen, tuple[str, ...]]:
    """The generators of one environment, and one sentence each for the coverage line.

    Source: docs/design/field-notes.md §1, needs 1, 6, 23.

    Args:
        objects: all resources that were read.
        unread: documents that were not parsed: those of groups that are neither built in nor policies are operators'
            work.
        templates: files whose templates were not rendered.
        known_groups: groups of the catalog, whose objects make nothing.
    """
    found = Unseen()
    releases: list[str] = []
    applications: list[str] = []
    making: dict[tuple[str, str], bool] = {}
    for each in objects:
        kind, group = each.key.kind, each.key.group
        is_making = making.get((group, kind))
        if is_making is None:
            is_making = making[group, kind] = _makes(group, kind) or _is_operated(group, kind, known_groups)
        if not is_making:
            continue
        if kind == "HelmRelease" or (kind == "HelmChart" and group == "helm.cattle.io"):
            place = text(each.spec.get("targetNamespace")) or each.key.namespace
            found.add(f"{each.key} may create it; its chart is not rendered", place)
            releases.append(str(each.key))
        elif group == "argoproj.io" and kind in ("Application", "ApplicationSet"):
            place = text(mapping(each.spec.get("destination")).get("namespace")) if kind == "Application" else ""
            found.add(f"{each.key} may deploy it from another source", place or None)
            applications.append(str(each.key))
        elif group == "kustomize.config.k8s.io":
            _kustomization(each, found)
        elif kind in ("ResourceSet", "FluxInstance") or (kind.endswith("Repository") and group.endswith(_FLUX)):
            found.add(f"{each.key} may bring it from another repository", None)
        elif _is_operated(group, kind, known_groups):
            found.add(f"the operator of {kind} may create it", None, gateway_api=False)
    for document in unread:
        group = document.api_version.rpartition("/")[0]
        if _is_operated(group, document.kind, known_groups):
            found.add(f"the operator of {document.kind} may create it", None, gateway_api=False)
    if templates:
        found.add(f"{templates[0]} is a template that was not rendered", None)
    sentences = []
    if releases:
        sentences.append(count(len(releases), "HelmRelease"))
    if applications:
        sentences.append(count(len(applications), "Argo CD Application"))
    if templates:
        sentences.append(count(len(templates), "template file"))
    return found, tuple(f"{each} not rendered" for each in sentences)


def _makes(group: str, kind: str) -> bool:
    """Whether objects of a kind are looked at one by one."""
    if group in ("argoproj.io", "kustomize.config.k8s.io") or kind in ("HelmRelease", "ResourceSet", "FluxInstance"):
        return True
    return (kind == "HelmChart" and group == "helm.cattle.io") or (
        kind.endswith("Repository") and group.endswith(_FLUX)
    )


def operated(
    found: Unseen, objects: Iterable[Resource], unread: Iterable[Unread], known_groups: frozenset[str]
) -> None:
    """Add what operators may make of the objects of one environment: Services and Secrets, never routes."""
    kinds = {(each.key.group, each.key.kind) for each in objects}
    kinds |= {(each.api_version.rpartition("/")[0], each.kind) for each in unread}
    for group, kind in sorted(kinds):
        if group not in _PLACING and _is_operated(group, kind, known_groups):
            found.add(f"the operator of {kind} may create it", None, gateway_api=False)


def _kustomization(each: Resource, found: Unseen) -> None:
    if each.body.get("helmCharts") or each.body.get("helmChartInflationGenerator"):
        found.add(f"the charts of {each.document.file} are not rendered", text(each.body.get("namespace")) or None)
    for resource in sequence(each.body.get("resources")):
        if isinstance(resource, str) and ("://" in resource or resource.startswith(("github.com/", "git@"))):
            found.add(
                f"{each.document.file} takes a remote base that was not seen", text(each.body.get("namespace")) or None
            )
    if each.body.get("namePrefix") or each.body.get("nameSuffix") or each.body.get("replacements"):
        found.add(f"{each.document.file} changes names", None)


def _is_operated(group: str, kind: str, known_groups: frozenset[str]) -> bool:
    """Whether objects of a kind are the input of some operator, which may make Services and Secrets of them."""
    if (
        (group, kind) in _BACKENDS
        or group in _BUILT_IN
        or group in known_groups
        or group == GATEWAY_GROUP
        or group.endswith(_FLUX)
    ):
        return False
    return not (group.endswith(_BUILT_IN_SUFFIX) and group.count(".") <= 2)
