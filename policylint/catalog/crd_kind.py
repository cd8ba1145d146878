"""A policy kind from a CustomResourceDefinition of the input: by its schema, and by its objects where that is open.

What makes a CRD a policy kind, and what is assumed of it, is docs/design/decisions/0004-kinds-are-data.md; the numbers
below are those of docs/design/semantics.md §1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from policylint.catalog.crd_shape import SpecShape
from policylint.catalog.crd_targets import target_kinds
from policylint.model.policy_kind import Merge, PolicyClass, PolicyKind, TargetKind
from policylint.model.resource import Resource, mapping, sequence, text, texts
from policylint.patterns import Pattern

POLICY_LABEL = "gateway.networking.k8s.io/policy"

_ANYTHING = (TargetKind("*", "*", sections=True),)
_VERSION = Pattern(r"v([0-9]{1,18})(?:(alpha|beta)([0-9]{1,18}))?$")


def kind_of_crd(
    crd: Resource, objects: Iterable[Resource], *, base: PolicyKind | None = None, semantics: str = "gep-713"
) -> PolicyKind | None:
    """Return the policy kind that a CRD declares, None where it declares none.

    Args:
        crd: the CustomResourceDefinition.
        objects: the objects of the kind in the input.
        base: the catalog's `*` entry for the group; its merging and targets hold where the CRD says nothing else.
        semantics: `gep-713`, or `gep-713-2023` (each scalar by itself, defaults beside overrides).
    """
    if base is not None and base.policy_class == "Other":
        return None
    names = mapping(crd.spec.get("names"))
    group, kind = text(crd.spec.get("group")), text(names.get("kind"))
    shape = SpecShape(crd, [instance.spec for instance in objects])
    label = next((str(value) for name, value in crd.labels.items() if name.lower() == POLICY_LABEL), None)
    if label is None and not (kind.endswith("Policy") and shape.names_targets()):
        return None
    targets = target_kinds(shape.spec) or (base.targets if base is not None else _ANYTHING)
    policy_class = _class(label, targets, shape, base)
    merge = _merge(policy_class, shape, base, semantics)
    served, deprecated = _versions(crd.spec)
    direct = policy_class == "Direct"
    return PolicyKind(
        group=group,
        kind=kind,
        implementation=base.implementation if base is not None else "",
        policy_class=policy_class,
        merge=merge,
        targets=targets,
        references=shape.references(),
        plural=text(names.get("plural")),
        versions=served,
        deprecated_versions=deprecated,
        cluster_scoped=crd.spec.get("scope") == "Cluster",
        label=label or "",
        cross_namespace=_cross_namespace(shape, semantics),
        selects_across_namespaces=shape.in_reference("namespaces"),
        max_targets=shape.max_targets(),
        conflict=_conflict(direct, base, semantics),
        shadowed_by_section=direct,
        effective_at=base.effective_at if base is not None else "",
        synthetic_rule_names=base is not None and base.synthetic_rule_names,
        any_case=base is not None and base.any_case,
        settings=shape.settings(merge.wrappers),
        status=shape.status(),
        bound_by="none" if policy_class == "Other" else "reference",
        origin="crd",
        source=f"CustomResourceDefinition {crd.key.name} in {crd.document.file}",
        notes=_notes(label),
    )


def _class(
    label: str | None, targets: tuple[TargetKind, ...], shape: SpecShape, base: PolicyKind | None
) -> PolicyClass:
    """Return the class of the label (16), else the one that follows from how many kinds may be targeted (24, 27, 28).

    A label on a kind whose closed schema names no targets marks parameters, or a kind that annotations bind.
    """
    if not shape.references():
        return "Other"
    match (label or "").lower():
        case "direct" | "true":
            return "Direct"
        case "inherited":
            return "Inherited"
    if label is not None:
        return "Inherited"
    if base is not None:
        return base.policy_class
    declared = {(target.group, target.kind) for target in targets if target.kind != "*"}
    return "Inherited" if len(declared or shape.targeted()) > 1 else "Direct"


def _cross_namespace(shape: SpecShape, semantics: str) -> Literal["no", "grant", "clients"]:
    """Return whether another namespace may be named (13, 14): in the edition of 2023 for traffic from one's own."""
    if not (shape.open or shape.in_reference("namespace")):
        return "no"
    return "clients" if semantics == "gep-713-2023" else "grant"


def _conflict(direct: bool, base: PolicyKind | None, semantics: str) -> str:
    """Return who keeps a target: in the edition of 2023 a policy on a section keeps the object's off all of it."""
    if direct:
        return "section-first" if semantics == "gep-713-2023" else "same-target"
    return base.conflict if base is not None else "none"


def _merge(policy_class: PolicyClass, shape: SpecShape, base: PolicyKind | None, semantics: str) -> Merge:
    """Return how policies of the kind combine."""
    if policy_class != "Inherited":
        return Merge("none", shape.wrappers(), lists={})
    if base is not None and base.merge.strategy != "none":
        return base.merge
    if semantics == "gep-713-2023" or shape.singular():
        return Merge("field", shape.wrappers(), both=True, maps=shape.maps())
    directive = shape.directive()
    ignore = (directive.field,) if directive is not None else ()
    return Merge("atomic-defaults", shape.wrappers(), directive, ignore=ignore)


def _notes(label: str | None) -> str:
    """Return a sentence about a label that does not name the class."""
    if label is None:
        return "The CRD carries no policy label; its class follows from the kinds it may target."
    if label.lower() == "true":
        return "The label's value `true` is of 2023; it is read as Direct, as gwctl reads it."
    if label.lower() not in ("direct", "inherited"):
        return f"The label's value {label!r} names no class; Inherited is assumed."
    return ""


def _versions(spec: Mapping[str, Any]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the served versions, newest first, and old version → what to use instead."""
    versions = [mapping(entry) for entry in sequence(spec.get("versions"))]
    if not versions:
        return tuple(texts([spec.get("version")])), {}
    served = sorted(
        texts([version.get("name") for version in versions if version.get("served") is not False]),
        key=_age,
        reverse=True,
    )
    superseded = [
        version for version in versions if version.get("served") is False or version.get("deprecated") is True
    ]
    newest = next((name for name in served if name not in {text(version.get("name")) for version in superseded}), "")
    instead = f"{text(spec.get('group'))}/{newest}" if newest else ""
    return tuple(served), {text(version.get("name")): instead for version in superseded}


def _age(version: str) -> tuple[int, int, int, str]:
    """Return Kubernetes' version priority: general availability, then beta, then alpha, each by number."""
    match = _VERSION.match(version)
    if match is None:
        return -1, 0, 0, version
    major, stage, minor = match.groups()
    return {None: 2, "beta": 1, "alpha": 0}[stage], int(major), int(minor or 0), version
