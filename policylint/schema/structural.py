"""Convert a CRD's `openAPIV3Schema` to plain JSON Schema, without prose, as the API server applies it.

Structural schemas differ from JSON Schema in what they leave out (Kubernetes, «Custom Resources: structural schemas,
pruning, defaulting»): fields that are not listed are unknown unless `x-kubernetes-preserve-unknown-fields` says
otherwise; a required field with a default is never missing; `nullable` and int-or-string are types. Rules in CEL are
left out: nothing here evaluates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import mapping
from policylint.schema.checker import Checker

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


def structural(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a whole object.

    Its metadata and status accept anything: every kind has the same metadata, and the API server drops the status.
    """
    converted_schema = converted(schema)
    properties = converted_schema.setdefault("properties", {})
    for name in ("apiVersion", "kind", "metadata", "status"):
        properties[name] = {}
    if schema.get(_OPEN) is not True:
        converted_schema["additionalProperties"] = False
    converted_schema["required"] = [
        name for name in converted_schema.get("required", ()) if name not in properties or properties[name]
    ]
    if not converted_schema["required"]:
        del converted_schema["required"]
    return converted_schema


def converted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return one node, converted with everything below it."""
    result: dict[str, Any] = _values(schema, schema)
    if schema.get("x-kubernetes-int-or-string") is True:
        result.pop("anyOf", None)
        result["type"] = ["integer", "string"]
    elif "type" in schema:
        result["type"] = schema["type"]
    if schema.get("nullable") is True and "type" in result:
        types = result["type"] if isinstance(result["type"], list) else [result["type"]]
        result["type"] = [*types, "null"]
        if "enum" in result:
            result["enum"] = [*result["enum"], None]
    if isinstance(schema.get("items"), Mapping):
        result["items"] = converted(schema["items"])
    if schema.get("type") == "object":
        _object(schema, result)
    return result


def _object(schema: Mapping[str, Any], result: dict[str, Any]) -> None:
    """Set the fields of an object schema in `result`, and whether it accepts others."""
    properties = {name: converted(inner) for name, inner in (schema.get("properties") or {}).items()}
    if schema.get("x-kubernetes-embedded-resource") is True:
        properties = {**{name: {} for name in ("apiVersion", "kind", "metadata")}, **properties}
    if properties:
        result["properties"] = properties
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        result["additionalProperties"] = converted(extra)
    elif extra is not True and schema.get(_OPEN) is not True:
        result["additionalProperties"] = False
    defaulted = {name for name, inner in (schema.get("properties") or {}).items() if "default" in inner}
    if "required" in result:
        result["required"] = [name for name in result["required"] if name not in defaulted]
        if not result["required"]:
            del result["required"]


def _values(schema: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords about values: the only ones below allOf, anyOf, oneOf and not, which declare no fields."""
    result: dict[str, Any] = {name: schema[name] for name in KEPT if name in schema}
    if not isinstance(result.get("pattern", ""), str):
        del result["pattern"]
    for name, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if schema.get(exclusive) is True and name in result:  # draft 4, as OpenAPI 3.0 has it
            result[exclusive] = result.pop(name)
    if schema.get("required"):
        result["required"] = list(schema["required"])
    for name in _JUNCTIONS:
        if schema.get(name):
            result[name] = [_branch(branch, declared) for branch in schema[name]]
    if isinstance(schema.get("not"), Mapping):
        result["not"] = _branch(schema["not"], declared)
    return result


def _branch(schema: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return one branch of a junction, as it judges an object whose defaults are filled in.

    The API server does that first. So a field with a default is never missing, and one that is not written must have
    been written where the branch refuses the default.

    Args:
        declared: the node that declares the fields of the same value, with their defaults.
    """
    result = _values(schema, declared)
    if "type" in schema:
        result["type"] = schema["type"]
    known = mapping(declared.get("properties"))
    if schema.get("properties"):
        result["properties"] = {
            name: _branch(inner, mapping(known.get(name))) for name, inner in schema["properties"].items()
        }
    if isinstance(schema.get("items"), Mapping):
        result["items"] = _branch(schema["items"], mapping(declared.get("items")))
    if isinstance(schema.get("additionalProperties"), Mapping):
        result["additionalProperties"] = _branch(schema["additionalProperties"], {})
    defaults = {name: inner["default"] for name, inner in known.items() if "default" in mapping(inner)}
    required = [name for name in result.pop("required", ()) if name not in defaults]
    for name, condition in result.get("properties", {}).items():
        if name in defaults and not Checker(condition).is_valid(defaults[name]):
            required.append(name)
    if required:
        result["required"] = required
    return result
