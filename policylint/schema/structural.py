"""A CRD's `openAPIV3Schema` as plain JSON Schema, without prose, as the API server applies it.

Structural schemas differ from JSON Schema in what they leave out (Kubernetes, «Custom Resources: structural schemas,
pruning, defaulting»): fields that are not listed are unknown unless `x-kubernetes-preserve-unknown-fields` says
otherwise; a required field with a default is never missing; `nullable` and int-or-string are types. Rules in CEL are
left out: nothing here evaluates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEPT = (
    "enum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "uniqueItems",
)
"""Keywords that mean the same in JSON Schema."""
_JUNCTIONS = ("allOf", "anyOf", "oneOf")
_OPEN = "x-kubernetes-preserve-unknown-fields"
_FOREIGN = ("\\p", "\\P", "\\z", "\\Q", "[[:", "(?s", "(?U")
"""What RE2 reads and Python does not, or reads otherwise: such patterns are left out."""


def structural(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a whole object. Its metadata and status are not looked at: every kind has the one, and the API
    server drops the other."""
    found = converted(schema)
    properties = found.setdefault("properties", {})
    for name in ("apiVersion", "kind", "metadata", "status"):
        properties[name] = {}
    if schema.get(_OPEN) is not True:
        found["additionalProperties"] = False
    found["required"] = [each for each in found.get("required", ()) if each not in properties or properties[each]]
    if not found["required"]:
        del found["required"]
    return found


def converted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """One node with all below it."""
    found: dict[str, Any] = _values(schema)
    if schema.get("x-kubernetes-int-or-string") is True:
        found.pop("anyOf", None)
        found["type"] = ["integer", "string"]
    elif "type" in schema:
        found["type"] = schema["type"]
    if schema.get("nullable") is True and "type" in found:
        types = found["type"] if isinstance(found["type"], list) else [found["type"]]
        found["type"] = [*types, "null"]
        if "enum" in found:
            found["enum"] = [*found["enum"], None]
    if isinstance(schema.get("items"), Mapping):
        found["items"] = converted(schema["items"])
    if schema.get("type") == "object":
        _object(schema, found)
    return found


def _object(schema: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Which fields there are, and whether others are kept."""
    properties = {name: converted(each) for name, each in (schema.get("properties") or {}).items()}
    if schema.get("x-kubernetes-embedded-resource") is True:
        properties = {**{name: {} for name in ("apiVersion", "kind", "metadata")}, **properties}
    if properties:
        found["properties"] = properties
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        found["additionalProperties"] = converted(extra)
    elif extra is not True and schema.get(_OPEN) is not True:
        found["additionalProperties"] = False
    defaulted = {name for name, each in (schema.get("properties") or {}).items() if "default" in each}
    if "required" in found:
        found["required"] = [each for each in found["required"] if each not in defaulted]
        if not found["required"]:
            del found["required"]


def _values(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of values. Below allOf, anyOf, oneOf and not there is nothing else: they name no fields."""
    found: dict[str, Any] = {name: schema[name] for name in KEPT if name in schema}
    if any(each in found.get("pattern", "") for each in _FOREIGN):
        del found["pattern"]
    for name, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) is True and name in found:  # draft 4, as OpenAPI 3.0 has it
            found[exclusive] = found.pop(name)
    if schema.get("required"):
        found["required"] = list(schema["required"])
    for name in _JUNCTIONS:
        if schema.get(name):
            found[name] = [_branch(each) for each in schema[name]]
    if isinstance(schema.get("not"), Mapping):
        found["not"] = _branch(schema["not"])
    return found


def _branch(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = _values(schema)
    if "type" in schema:
        found["type"] = schema["type"]
    if schema.get("properties"):
        found["properties"] = {name: _branch(each) for name, each in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        found["items"] = _branch(schema["items"])
    if isinstance(schema.get("additionalProperties"), Mapping):
        found["additionalProperties"] = _branch(schema["additionalProperties"])
    return found
