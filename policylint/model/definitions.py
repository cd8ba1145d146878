"""What a CustomResourceDefinition has to be called for the API server to take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model.resource import mapping


def name_of_definition(spec: Mapping[str, Any]) -> str:
    """Return the name that a CRD must have for the kind that its spec defines, "" where that does not say it.

    Source: kubernetes/apiextensions-apiserver, pkg/apis/apiextensions/validation, ValidateCustomResourceDefinition.
    """
    plural, group = mapping(spec.get("names")).get("plural"), spec.get("group")
    return f"{plural}.{group}" if isinstance(plural, str) and isinstance(group, str) else ""
