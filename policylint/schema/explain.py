"""Describe in words why a schema refuses an object; errors carry jsonschema's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from policylint.cel.nodes import Fuel
from policylint.documents import Pointer
from policylint.model import is_symbolic
from policylint.model.keys import is_no_host_yet
from policylint.model.resource import dotted
from policylint.namedtuple import NamedTuple
from policylint.schema.checker import KEYS, has_form, is_of_format, second_of, without_nulls
from policylint.schema.misplaced import belonging
from policylint.schema.names import filled_in, is_bracketed_to_replace, is_word_to_replace, stands_for_another
from policylint.schema.plain import NotPlainError, errors
from policylint.schema.rules import broken_rules

MOST = 20
"""The most violations that are reported for one object."""
_ARTICLES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "a mapping",
    "array": "a list",
    "null": "nothing",
}


class Violation(NamedTuple):
    """One violation of a schema.

    Args:
        code: `unknown-field`, or the keyword of JSON Schema that is not satisfied.
        pointer: of the value; for an unknown field, of that field.
        wanted: the allowed names: of fields for an unknown field, of types, of values for an enum; the message of the
            CRD for a rule.
        says: what is wrong, to follow the object's name: `sets `.
        label: the text under the caret.
        value: the value at the pointer.
        reads: of a rule, the fields of the value that it reads by name.
        belongs: of an unknown field, the place that the indentation missed; () where none has such a field.
    """

    code: str
    pointer: Pointer
    wanted: tuple[str, ...]
    says: str
    label: str
    value: Any = None
    reads: frozenset[str] = frozenset()
    belongs: Pointer = ()


def explain(schema: Mapping[str, Any], value: Any, fuel: Fuel | None = None) -> list[Violation]:
    """Return at most MOST violations of a value, in reading order, without those that a variable may yet resolve.

    Rules in CEL are looked at where everything else is right, as the API server does, and where `fuel` is given. It
    drops unknown fields first; what a rule says of a value that has one is left out: the field may be misspelt.
    """
    first_at: dict[Pointer, Violation] = {}  # one per place: an empty name is too short, and matches no pattern either
    for error in _errors(schema, without_nulls(value, schema)):
        if error.validator == "maxProperties" and _fits_pruned(error):
            continue
        for violation in _violations(error):
            if violation.code == "unknown-field":
                violation = violation._replace(belongs=belonging(schema, value, violation.pointer))
            if violation.pointer not in first_at or first_at[violation.pointer].code == "pattern":
                first_at[violation.pointer] = violation
    if fuel is not None and all(violation.code == "unknown-field" for violation in first_at.values()):
        undecided = frozenset(pointer[:-1] for pointer in first_at)
        for pointer, message, broken, reads in broken_rules(schema, value, fuel, undecided):
            says = f"breaks a rule on {place(pointer)}: {message}{_repeated(message, broken)}"
            first_at.setdefault(pointer, Violation("rule", pointer, (message,), says, "", broken, reads))
    return sorted(
        first_at.values(), key=lambda violation: [(isinstance(step, str), step) for step in violation.pointer]
    )[:MOST]


def _repeated(message: str, entries: Any) -> str:
    """Return what of a list that breaks a rule about uniqueness is there more than once; "" where the rule is another.

    The message names the fields: "Combination of port, protocol and hostname must be unique for each listener".
    """
    words = message.casefold().replace(",", " ").split()
    if "unique" not in words or "when" in words or not isinstance(entries, list):
        return ""
    counts = Counter(
        tuple(
            (name, value)
            for name, value in entry.items()
            if name.casefold() in words and not isinstance(value, (dict, list))
        )
        for entry in entries
        if isinstance(entry, dict)
    )
    values, times = counts.most_common(1)[0] if counts else ((), 0)
    said = ", ".join(f"{name} {value}" for name, value in values)
    return f" ({said} is there {'twice' if times == 2 else f'{times} times'})" if said and times > 1 else ""


def _fits_pruned(error: Any) -> bool:
    """Tell whether a mapping has too many fields only as long as those are there that the API server drops."""
    kept = [name for name in error.instance if name in error.schema.get("properties", ())]
    return error.schema.get("additionalProperties") is False and len(kept) <= error.validator_value


def _errors(schema: Mapping[str, Any], value: Any) -> list[Any]:
    """Return the errors in jsonschema's names, by jsonschema itself where single fields do not tell."""
    try:
        return list(errors(schema, value))
    except NotPlainError:
        return list(validator()(schema).iter_errors(value))


@lru_cache(maxsize=1)
def validator() -> Any:
    """Return jsonschema's class of validators, with patterns matched in linear time."""
    import jsonschema

    def pattern(_validator: Any, wanted: str, value: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
        if isinstance(value, str) and not has_form(value, wanted):
            yield jsonschema.ValidationError("does not match")

    def of_format(_validator: Any, wanted: str, value: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
        if isinstance(value, str) and not is_of_format(value, wanted):
            yield jsonschema.ValidationError("has another format")

    def keys(_validator: Any, _wanted: Any, value: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
        index = second_of(schema, value) if isinstance(value, list) else None
        if index is not None:
            yield jsonschema.ValidationError("is there twice", instance=value[index], path=(index,))

    validators: Any = jsonschema.validators
    own = {"format": of_format, KEYS: keys, "pattern": pattern}
    return validators.extend(jsonschema.Draft202012Validator, own)


def _violations(error: Any) -> Iterator[Violation]:
    """Yield the violations behind one error of jsonschema."""
    keyword, wanted, value = error.validator, error.validator_value, error.instance
    pointer: Pointer = tuple(error.absolute_path)
    path = place(pointer)
    if keyword == "additionalProperties":
        known = tuple(error.schema.get("properties", ()))
        for name in value:
            if name not in known and not is_symbolic(name):
                field = (*pointer, name)
                yield Violation(
                    "unknown-field", field, known, f"sets {place(field)}, which is no field", "", value[name]
                )
        return
    if keyword == "required":
        for name in wanted:
            if name not in value:
                field = (*pointer, name)
                yield Violation("required", field, (), f"lacks {place(field)}", f"`{name}` is required")
        return
    if _holds_variable(value, deep=keyword in ("allOf", "anyOf", "oneOf", "not", "uniqueItems", KEYS)):
        return
    if keyword == "type":
        types = tuple(wanted) if isinstance(wanted, list) else (wanted,)
        if "string" not in types and is_word_to_replace(value):
            return
        if types == ("string",) and is_bracketed_to_replace(value):
            return
        named = " or ".join(_ARTICLES[type_name] for type_name in types if type_name != "null" or len(types) == 1)
        label = f"this is {_kind_of(value)}, {named} is wanted"
        yield Violation("type", pointer, types, f"has {_kind_of(value)} in {path}, which takes {named}", label, value)
    elif keyword == "enum":
        names = tuple(str(allowed) for allowed in wanted if allowed not in (None, ""))
        yield Violation("enum", pointer, names, f"has {_quoted(value)} in {path}, which takes other values", "", value)
    elif keyword == "pattern":
        if stands_for_another(value) and has_form(filled_in(value), wanted):
            return
        if "host" in str(pointer[-2:]) and is_no_host_yet(value):
            return
        label = f"does not match {wanted}" if len(wanted) <= 80 else "does not have the form that is wanted"
        yield Violation("pattern", pointer, (), f"has {_quoted(value)} in {path}, which has another form", label, value)
    elif keyword == "format":
        if not stands_for_another(value):
            says = f"has {_quoted(value)} in {path}, which is no {_FORMATS[wanted]}"
            yield Violation("format", pointer, (), says, f"{_FORMATS[wanted]} is wanted", value)
    elif keyword == KEYS:
        named = " and ".join(f"`{name}`" for name in wanted)
        says = f"has two entries of one {' and '.join(wanted)} in {place(pointer[:-1])}"
        yield Violation(keyword, pointer, (), says, f"{named} tells the entries of this list apart", value)
    elif keyword in _EMPTY and not value:
        yield Violation(keyword, pointer, (), f"leaves {path} empty", _EMPTY[keyword], value)
    elif keyword in _LIMITS:
        says, label = _LIMITS[keyword]
        yield Violation(keyword, pointer, (), f"has {says} in {path}", label.format(wanted), value)
    else:
        yield Violation(keyword, pointer, (), f"breaks a condition on {path}", _condition(keyword, wanted), value)


_FORMATS = {
    "byte": "base64",
    "cidr": "CIDR",
    "date": "date",
    "date-time": "time as in 2026-01-01T00:00:00Z",
    "datetime": "time as in 2026-01-01T00:00:00Z",
    "duration": "duration",
    "ipv4": "address of IPv4",
    "ipv6": "address of IPv6",
    "uri": "URL",
    "uuid": "UUID",
}
_EMPTY = {"minLength": "a value is wanted", "minItems": "an entry is wanted", "minProperties": "a field is wanted"}
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
    """Return a condition in words: `exactly one of rules, selector is wanted` where the branches require fields."""
    if isinstance(branches, list) and all(
        isinstance(branch, dict) and branch.keys() == {"required"} for branch in branches
    ):
        names = ", ".join("+".join(branch["required"]) for branch in branches)
        how = {"oneOf": "exactly one", "anyOf": "at least one", "allOf": "each"}[keyword]
        return f"{how} of {names} is wanted"
    return "its fields do not go together"


def place(pointer: Pointer) -> str:
    """Return a pointer as text: `spec.rules[0].matches`; the object itself has no path."""
    return dotted(pointer) or "the object"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "string", int: "integer", float: "number", dict: "object", list: "array", type(None): "null"}
    return _ARTICLES[names.get(type(value), "object")]


def _quoted(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return _kind_of(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text if len(text) <= 40 else text[:37] + "…"}"'


def _holds_variable(value: Any, *, deep: bool) -> bool:
    if isinstance(value, str):
        return is_symbolic(value)
    if deep and isinstance(value, (dict, list)):
        entries = value.values() if isinstance(value, dict) else value
        return any(_holds_variable(inner, deep=True) for inner in entries)
    return False
