"""A policy kind of which neither catalog, configuration nor CRD says anything, recognised by the shape of its objects.

In a GitOps repository the CRD often is elsewhere. What such a kind may target and how its policies merge is not known:
its targets are looked up, and nothing else is said of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from policylint.catalog.naming import meant
from policylint.model.policy_kind import DEFAULT_REFERENCES, UNLIMITED, Merge, PolicyKind, TargetKind
from policylint.model.resource import Resource, mapping, sequence, text

_ANYTHING = (TargetKind("*", "*", sections=True),)


def declared(group: str, kind: str, crds: Iterable[Resource]) -> bool:
    """Return whether a CRD of the input says what the kind is."""
    specs = (crd.spec for crd in crds)
    return any(spec.get("group") == group and mapping(spec.get("names")).get("kind") == kind for spec in specs)


def kind_of_objects(group: str, kind: str, objects: Iterable[Resource]) -> PolicyKind | None:
    """Return a kind whose objects name targets by kind and name; None where none of them does, and for a kind that is
    one slip away from another (GWP506): no controller reads it."""
    if meant(group, kind) is not None or not any(map(names_targets, objects)):
        return None
    return PolicyKind(
        group=group,
        kind=kind,
        implementation="",
        policy_class="Inherited",
        merge=Merge("atomic-defaults", {}),
        targets=_ANYTHING,
        references=DEFAULT_REFERENCES,
        cross_namespace="yes",
        max_targets=UNLIMITED,
        status="none",
        origin="shape",
        notes="Its CRD is not in the input: it is recognised by its targets, and not evaluated.",
    )


def names_targets(resource: Resource) -> bool:
    """Return whether an object names a target: of the others nobody knows whether they are policies."""
    spec = resource.spec
    references = [mapping(entry) for entry in (spec.get("targetRef"), *sequence(spec.get("targetRefs")))]
    return any(text(reference.get("kind")) and text(reference.get("name")) for reference in references)
