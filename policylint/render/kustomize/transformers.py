"""Transformers that a kustomization configures by itself (`transformers:`): those of namespaces, no others.

Source: kustomize, `api/internal/builtins/NamespaceTransformer.go`, `api/filters/namespace`. They run after all that the
kustomization's own fields do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.model import mapping, text
from policylint.namedtuple import NamedTuple
from policylint.render.kustomize.field_specs import FieldSpec, read
from policylint.render.provenance import Provenance

_COVERED = frozenset({"apiVersion", "kind", "metadata", "fieldSpecs", "unsetOnly", "setRoleBindingSubjects"})


class NamespaceMove(NamedTuple):
    """A namespace that a transformer gives to every object, written at `place`, and the fields in which it stands."""

    namespace: str
    place: Provenance
    fields: tuple[FieldSpec, ...]


def moves(configurations: Iterable[tuple[dict[str, Any], Provenance]]) -> list[NamespaceMove]:
    """Return what transformers of namespaces do, in their order; none where there is any other transformer."""
    found = []
    for body, origin in configurations:
        namespace = text(mapping(body.get("metadata")).get("namespace"))
        if not (
            (body.get("apiVersion"), body.get("kind")) == ("builtin", "NamespaceTransformer")
            and namespace
            and _COVERED.issuperset(body)
            and not body.get("unsetOnly")
            and body.get("setRoleBindingSubjects") in (None, "defaultOnly")
        ):
            return []
        found.append(NamespaceMove(namespace, origin.at("metadata", "namespace"), tuple(read(body.get("fieldSpecs")))))
    return found
