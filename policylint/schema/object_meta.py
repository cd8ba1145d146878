"""What every API server refuses of `metadata`, whatever the kind and the release: ObjectMeta is one type for all kinds.

Source: Kubernetes, apiextensions-apiserver pkg/apiserver/schema/objectmeta/coerce.go (metadata that does not unmarshal
is an error, and a null is no value), apimachinery pkg/apis/meta/v1/types.go, and pkg/api/validation/objectmeta.go
(ValidateObjectMetaAccessor: namespaces, keys and values of labels, keys of annotations, owners, finalizers).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from policylint.cel.formats import OF_CEL
from policylint.cel.nodes import Fuel
from policylint.documents import Pointer
from policylint.model import Resource, is_symbolic, mapping
from policylint.model.kinds import OPENSHIFT_ROUTE
from policylint.schema.known import ManifestChecker
from policylint.schema.names import misnamed, stands_for_another

if TYPE_CHECKING:
    from policylint.schema.explain import Violation

AT: Final[Pointer] = ("metadata",)
_TEXT: Final = {"type": "string"}
_NEEDED: Final = {"type": "string", "minLength": 1}
_LABEL: Final = {"type": "string", "maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"}
_OWNER: Final = ("apiVersion", "kind", "name", "uid")
TEXTS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": _TEXT}
"""The schema of a mapping whose values are texts."""
OBJECT_META: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "creationTimestamp", "resourceVersion", "selfLink", "uid"), _TEXT),
        "namespace": {"type": "string", "maxLength": 63, "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"},
        "generation": {"type": "integer"},
        "labels": {"type": "object", "additionalProperties": _LABEL},
        "annotations": TEXTS,
        "finalizers": {"type": "array", "items": _NEEDED},
        "ownerReferences": {
            "type": "array",
            "items": {"type": "object", "required": list(_OWNER), "properties": dict.fromkeys(_OWNER, _NEEDED)},
        },
    },
}
"""The schema of ObjectMeta; what keys may be is `_of_keys`."""
_SCHEMA: Final[Mapping[str, Any]] = {"type": "object", "properties": {"metadata": OBJECT_META}}
_PATHS: Final = ("rbac.authorization.k8s.io", "apiregistration.k8s.io")
"""Groups whose names are segments of paths."""
_OTHERS: Final = OPENSHIFT_ROUTE[0].removeprefix("route")
"""The end of groups of API servers of their own, some of which take other names."""


def refused_metadata(resource: Resource, loses_labels: bool) -> Violation | None:
    """Return for what an API server refuses the metadata of an object, None where nothing is seen.

    Args:
        loses_labels: whether Flux may write the object: it sets two labels by a client that takes all for none where
            one is no text, so that the others are lost, and nothing is refused.
    """
    metadata = resource.metadata
    if not checker_of_metadata().is_valid({"metadata": metadata}):
        from policylint.schema.explain import explain

        for violation in explain(_SCHEMA, {"metadata": metadata}):
            is_lost = loses_labels and violation.pointer[1:2] == ("labels",) and violation.code == "type"
            is_unused = violation.pointer[1:] == ("namespace",) and not resource.key.namespace
            if not (is_lost or (is_unused and violation.code != "type")):
                return violation
    group = resource.key.group
    if group not in _PATHS and not group.endswith(_OTHERS) and (found := misnamed(resource)) is not None:
        return found
    return _of_keys(metadata)


@lru_cache(maxsize=1)
def checker_of_metadata() -> ManifestChecker:
    """Return the checker of objects that looks at nothing but their metadata."""
    return ManifestChecker(_SCHEMA, Fuel())


def _of_keys(metadata: Mapping[str, Any]) -> Violation | None:
    """Return what is wrong with a key of labels or annotations, which are qualified names in the case they like."""
    for name in ("labels", "annotations"):
        for key in mapping(metadata.get(name)):
            if not _is_key(key if name == "labels" else key.lower()):
                from policylint.schema.explain import Violation

                says, label = f'has the key "{key}" in metadata.{name}', "a name is wanted, behind a domain and a slash"
                return Violation("name", (*AT, name, key), (), f"{says}, which no API server takes", label, key)
    return None


@lru_cache(maxsize=4_096)
def _is_key(value: str) -> bool:
    return OF_CEL["qualifiedName"](value) or is_symbolic(value) or "{{" in value or stands_for_another(value)
