"""What a CustomResourceDefinition has to be called for the API server to take it."""

from __future__ import annotations

from policylint.model.keys import is_symbolic
from policylint.model.resource import Resource, mapping


def wanted_name(definition: Resource) -> str:
    """Return what a CRD has to be called for what it defines, "" where it is called so, or may be.

    Source: kubernetes/apiextensions-apiserver, pkg/apis/apiextensions/validation, ValidateCustomResourceDefinition.
    """
    name, plural = definition.key.name, mapping(definition.spec.get("names")).get("plural")
    wanted = f"{plural}.{definition.spec.get('group')}"
    is_open = not isinstance(plural, str) or "group" not in definition.spec or "{{" in name + wanted
    return "" if wanted == name or is_open or is_symbolic(name) or is_symbolic(wanted) else wanted
