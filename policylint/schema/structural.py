"""Convert a CRD's `openAPIV3Schema` to plain JSON Schema, without prose, as the API server applies it.

Structural schemas differ from JSON Schema in what they leave out (Kubernetes, «Custom Resources: structural schemas,
pruning, defaulting»): fields that are not listed are unknown unless `x-kubernetes-preserve-unknown-fields` says
otherwise; a required field with a default is never missing; `nullable` and int-or-string are types. Defaults and rules
in CEL stay as they are: the checker of manifests reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from policylint.cel.formats import OF_SCHEMAS
from policylint.model import mapping
from policylint.schema.checker import KEYS, Checker
from policylint.schema.rules import RULES

_NATURAL = "a whole number from 0"
_NUMBER = "a number"
_TEXT = "a text"
_FLAG = "true or false"
_LIST = "a list"
_SCHEMA = "a schema"
_SCHEMAS = "a list of schemas"
_FIELDS = "schemas by field"
KEPT = {
    "enum": _LIST,
    "maxItems": _NATURAL,
    "maxLength": _NATURAL,
    "maxProperties": _NATURAL,
    "maximum": _NUMBER,
    "minItems": _NATURAL,
    "minLength": _NATURAL,
    "minProperties": _NATURAL,
    "minimum": _NUMBER,
    "multipleOf": _NUMBER,
    "pattern": _TEXT,
    "uniqueItems": _FLAG,
}
"""Keywords that mean the same in JSON Schema, with what they take."""
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_JUNCTIONS = ("allOf", "anyOf", "oneOf")
_OF_NUMBERS = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}
"""The least and the largest number of a format."""
_OPEN = "x-kubernetes-preserve-unknown-fields"


class MalformedSchemaError(ValueError):
    """A keyword has a value that the API server does not take, so that it refuses the CRD."""


def structural(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a whole object.

    Its metadata and status accept anything: every kind has the same metadata, and the API server drops the status.
    What is returned is sound: every keyword has a value of its kind, whatever the manifest held.

    Raises:
        MalformedSchemaError: the API server would not take it for a schema.
    """
    converted_schema = converted(schema)
    properties = converted_schema.setdefault("properties", {})
    for name in ("apiVersion", "kind", "metadata", "status"):
        properties[name] = {}
    if not _is_set(schema, _OPEN):
        converted_schema["additionalProperties"] = False
    converted_schema["required"] = [
        name for name in converted_schema.get("required", ()) if name not in properties or properties[name]
    ]
    if not converted_schema["required"]:
        del converted_schema["required"]
    return converted_schema


def converted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return one node, converted with everything below it.

    Raises:
        MalformedSchemaError: as `structural`.
    """
    result: dict[str, Any] = _values(schema, schema)
    kind = _type(schema)
    if _is_set(schema, "x-kubernetes-int-or-string"):
        result.pop("anyOf", None)
        result["type"] = ["integer", "string"]
    elif kind:
        result["type"] = kind
    if _is_set(schema, "nullable") and "type" in result:
        types = result["type"] if isinstance(result["type"], list) else [result["type"]]
        result["type"] = [*types, "null"]
        if "enum" in result:
            result["enum"] = [*result["enum"], None]
    if schema.get("default") is not None:
        result["default"] = schema["default"]
    _format(schema, kind, result)
    if rules := _read(schema, RULES, _SCHEMAS):
        result[RULES] = rules
    items = _read(schema, "items", _SCHEMA)
    if items is not None:
        # A list that is open keeps what its items hold: pkg/apiserver/schema/pruning/algorithm.go, skipPrune.
        result["items"] = converted({**items, _OPEN: True} if kind == "array" and _is_set(schema, _OPEN) else items)
    if kind == "array":
        _distinct(schema, result)
    if kind == "object":
        _object(schema, result)
    return result


def _format(schema: Mapping[str, Any], kind: str, result: dict[str, Any]) -> None:
    """Set the format of a text that is judged, or the bounds of a whole number's."""
    name = schema.get("format")
    if kind == "integer" and name in _OF_NUMBERS:
        for bound, number in zip(("minimum", "maximum"), _OF_NUMBERS[name], strict=True):
            if not result.keys() & {bound, f"exclusive{bound.capitalize()}"}:
                result[bound] = number
    elif kind in ("", "string") and name in OF_SCHEMAS:
        result["format"] = name


def _distinct(schema: Mapping[str, Any], result: dict[str, Any]) -> None:
    """Set what tells two entries of a list apart: all that is in them, or keys."""
    how, keys = schema.get("x-kubernetes-list-type"), schema.get(KEYS)
    if how == "set":
        result["uniqueItems"] = True
    elif how == "map" and isinstance(keys, list) and all(isinstance(name, str) for name in keys):
        result[KEYS] = keys


def _object(schema: Mapping[str, Any], result: dict[str, Any]) -> None:
    """Set the fields of an object schema in `result`, and whether it accepts others."""
    fields = _read(schema, "properties", _FIELDS) or {}
    properties = {name: converted(inner) for name, inner in fields.items()}
    if _is_set(schema, "x-kubernetes-embedded-resource"):
        properties = {**{name: {} for name in ("apiVersion", "kind", "metadata")}, **properties}
    if properties:
        result["properties"] = properties
    extra = _extra(schema)
    if isinstance(extra, Mapping):
        result["additionalProperties"] = converted(extra)
    elif extra is not True and not _is_set(schema, _OPEN):
        result["additionalProperties"] = False
    defaulted = {name for name, inner in fields.items() if "default" in inner}
    if "required" in result:
        result["required"] = [name for name in result["required"] if name not in defaulted]
        if not result["required"]:
            del result["required"]


def _values(schema: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords about values: the only ones below allOf, anyOf, oneOf and not, which declare no fields."""
    result = {name: value for name, wanted in KEPT.items() if (value := _read(schema, name, wanted)) is not None}
    if not result.get("multipleOf", 1) > 0:
        raise MalformedSchemaError("multipleOf is not above 0")
    if result.get("enum") == []:  # the API server takes it for none
        del result["enum"]
    for name, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if _is_set(schema, exclusive) and name in result:  # draft 4, as OpenAPI 3.0 has it
            result[exclusive] = result.pop(name)
    if required := _read(schema, "required", _LIST):
        if not all(isinstance(name, str) for name in required):
            raise MalformedSchemaError("required lists something that is no name")
        result["required"] = list(required)
    for name in _JUNCTIONS:
        if branches := _read(schema, name, _SCHEMAS):
            result[name] = [_branch(branch, declared) for branch in branches]
    negated = _read(schema, "not", _SCHEMA)
    if negated is not None:
        result["not"] = _branch(negated, declared)
    return result


def _branch(schema: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return one branch of a junction, as it judges an object whose defaults are filled in.

    The API server does that first. So a field with a default is never missing, and one that is not written must have
    been written where the branch refuses the default.

    Args:
        declared: the node that declares the fields of the same value, with their defaults.
    """
    result = _values(schema, declared)
    kind = _type(schema)
    if kind:
        result["type"] = kind
    _format(schema, kind, result)
    known = mapping(declared.get("properties"))
    if fields := _read(schema, "properties", _FIELDS):
        result["properties"] = {name: _branch(inner, mapping(known.get(name))) for name, inner in fields.items()}
    items = _read(schema, "items", _SCHEMA)
    if items is not None:
        result["items"] = _branch(items, mapping(declared.get("items")))
    extra = _extra(schema)
    if isinstance(extra, Mapping):
        result["additionalProperties"] = _branch(extra, {})
    defaults = {name: inner["default"] for name, inner in known.items() if "default" in mapping(inner)}
    required = [name for name in result.pop("required", ()) if name not in defaults]
    for name, condition in result.get("properties", {}).items():
        if name in defaults and not Checker(condition).is_valid(defaults[name]):
            required.append(name)
    if required:
        result["required"] = required
    return result


def _read(schema: Mapping[str, Any], name: str, wanted: str) -> Any:
    """Return the value of a keyword, None where it is not set: a null is no value for the API server either.

    Raises:
        MalformedSchemaError: it is not what the keyword takes.
    """
    value = schema.get(name)
    if value is not None and not _FITS[wanted](value):
        raise MalformedSchemaError(f"{name} is not {wanted}")
    return value


def _is_set(schema: Mapping[str, Any], name: str) -> bool:
    return _read(schema, name, _FLAG) is True


def _type(schema: Mapping[str, Any]) -> str:
    kind: str = _read(schema, "type", _TEXT) or ""
    if kind and kind not in _TYPES:
        raise MalformedSchemaError(f"{kind!r} is no type")
    return kind


def _extra(schema: Mapping[str, Any]) -> Any:
    """Return `additionalProperties`: a schema, True, False or None."""
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, bool) else _read(schema, "additionalProperties", _SCHEMA)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


_FITS: dict[str, Callable[[Any], bool]] = {
    _NATURAL: lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    _NUMBER: _is_number,
    _TEXT: lambda value: isinstance(value, str),
    _FLAG: lambda value: isinstance(value, bool),
    _LIST: lambda value: isinstance(value, list),
    _SCHEMA: lambda value: isinstance(value, Mapping),
    _SCHEMAS: lambda value: isinstance(value, list) and all(isinstance(inner, Mapping) for inner in value),
    _FIELDS: lambda value: isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values()),
}
