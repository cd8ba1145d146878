"""What is wrong with an object that its schema refuses: errors by jsonschema's names, turned into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import is_symbolic
from policylint.namedtuple import NamedTuple
from policylint.schema.checker import without_nulls
from policylint.schema.plain import NotPlainError, errors

MOST = 20
"""Faults of one object that are told."""
_ARTICLES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "a mapping",
    "array": "a list",
    "null": "nothing",
}


class Fault(NamedTuple):
    """One thing that is wrong.

    Args:
        code: `unknown-field`, or the keyword of JSON Schema that is not met.
        pointer: of the value, for an unknown field of that field.
        wanted: the names that are allowed: of fields for an unknown field, of types, of values for an enum.
        says: what is wrong, to follow the object's name: `sets `.
        label: what stands under the caret.
        value: the value at the pointer.
    """

    code: str
    pointer: Pointer
    wanted: tuple[str, ...]
    says: str
    label: str
    value: Any = None


def explain(schema: Mapping[str, Any], value: Any) -> list[Fault]:
    """What is wrong with a value, in reading order; what a variable may still put right is left out."""
    found: dict[Pointer, Fault] = {}  # one per place: an empty name is too short, and matches no pattern either
    for error in _errors(schema, without_nulls(value, schema)):
        for fault in _faults(error):
            if fault.pointer not in found or found[fault.pointer].code == "pattern":
                found[fault.pointer] = fault
    return sorted(found.values(), key=lambda each: [(isinstance(step, str), step) for step in each.pointer])[:MOST]


def _errors(schema: Mapping[str, Any], value: Any) -> list[Any]:
    """What is wrong in the names of jsonschema, which is asked where the fault is not plain to see."""
    try:
        return list(errors(schema, value))
    except NotPlainError:
        import jsonschema

        return list(jsonschema.Draft202012Validator(_prepared(schema)).iter_errors(value))


_PREPARED: dict[int, tuple[Mapping[str, Any], Any]] = {}


def _prepared(schema: Mapping[str, Any]) -> Any:
    """`readable`, once for every schema; the schema is kept beside it, so that its id stays its own."""
    known = _PREPARED.get(id(schema))
    if known is None:
        known = _PREPARED[id(schema)] = (schema, readable(schema))
    return known[1]


def readable(schema: Any) -> Any:
    """The schema without patterns that Python cannot read."""
    if isinstance(schema, list):
        return [readable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: readable(each) for name, each in schema.items() if name != "pattern" or not _is_foreign(each)}


def _is_foreign(pattern: Any) -> bool:
    import re

    if not isinstance(pattern, str):
        return False  # a field of that name
    try:
        re.compile(pattern)
    except re.error:
        return True
    return False


def _faults(error: Any) -> Iterator[Fault]:
    """The faults behind one error of jsonschema."""
    keyword, wanted, value = error.validator, error.validator_value, error.instance
    pointer: Pointer = tuple(error.absolute_path)
    where = place(pointer)
    if keyword == "additionalProperties":
        known = tuple(error.schema.get("properties", ()))
        for name in value:
            if name not in known and not is_symbolic(name):
                field = (*pointer, name)
                yield Fault("unknown-field", field, known, f"sets {place(field)}, which is no field", "", value[name])
        return
    if keyword == "required":
        for name in wanted:
            if name not in value:
                field = (*pointer, name)
                yield Fault("required", field, (), f"lacks {place(field)}", f"`{name}` is required")
        return
    if _holds_variable(value, deep=keyword in ("allOf", "anyOf", "oneOf", "not", "uniqueItems")):
        return
    if keyword == "type":
        types = tuple(wanted) if isinstance(wanted, list) else (wanted,)
        named = " or ".join(_ARTICLES[each] for each in types if each != "null" or len(types) == 1)
        label = f"this is {_kind_of(value)}, {named} is wanted"
        yield Fault("type", pointer, types, f"has {_kind_of(value)} in {where}, which takes {named}", label, value)
    elif keyword == "enum":
        names = tuple(str(each) for each in wanted if each is not None)
        yield Fault("enum", pointer, names, f"has {_shown(value)} in {where}, which takes other values", "", value)
    elif keyword == "pattern":
        label = f"does not match {wanted}" if len(wanted) <= 80 else "does not have the form that is wanted"
        yield Fault("pattern", pointer, (), f"has {_shown(value)} in {where}, which has another form", label, value)
    elif keyword in _LIMITS:
        says, label = _LIMITS[keyword]
        yield Fault(keyword, pointer, (), f"has {says} in {where}", label.format(wanted), value)
    else:
        yield Fault(keyword, pointer, (), f"breaks a condition on {where}", _condition(keyword, wanted), value)


_LIMITS = {
    "minLength": ("too short a text", "at least {} characters are wanted"),
    "maxLength": ("too long a text", "at most {} characters are allowed"),
    "minItems": ("too few entries", "at least {} are wanted"),
    "maxItems": ("too many entries", "at most {} are allowed"),
    "minProperties": ("too few fields", "at least {} are wanted"),
    "maxProperties": ("too many fields", "at most {} are allowed"),
    "minimum": ("too small a number", "at least {} is wanted"),
    "maximum": ("too large a number", "at most {} is allowed"),
    "exclusiveMinimum": ("too small a number", "more than {} is wanted"),
    "exclusiveMaximum": ("too large a number", "less than {} is wanted"),
    "multipleOf": ("an odd number", "a multiple of {} is wanted"),
    "uniqueItems": ("an entry twice", "every entry may stand here once"),
}


def _condition(keyword: str, branches: Any) -> str:
    """`exactly one of rules, selector is wanted` where the branches are about required fields."""
    if isinstance(branches, list) and all(isinstance(each, dict) and each.keys() == {"required"} for each in branches):
        names = ", ".join("+".join(each["required"]) for each in branches)
        how = {"oneOf": "exactly one", "anyOf": "at least one", "allOf": "each"}[keyword]
        return f"{how} of {names} is wanted"
    return "its fields do not go together"


def place(pointer: Pointer) -> str:
    """`spec.rules[0].matches`; the object itself has no path."""
    text = ""
    for step in pointer:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the object"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "string", int: "integer", float: "number", dict: "object", list: "array", type(None): "null"}
    return _ARTICLES[names.get(type(value), "object")]


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return _kind_of(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text if len(text) <= 40 else text[:37] + "…"}"'


def _holds_variable(value: Any, *, deep: bool) -> bool:
    if isinstance(value, str):
        return is_symbolic(value)
    if deep and isinstance(value, (dict, list)):
        return any(_holds_variable(each, deep=True) for each in (value.values() if isinstance(value, dict) else value))
    return False
