"""Finds what is wrong with a value where a look at single fields is enough: most faults are a misspelt field.

jsonschema explains those that are conditions on several fields (`anyOf`, `not`…): it costs 50 ms and 5 MB to import,
which a repository with one unknown field need not pay. tests/schema/test_plain.py holds the two to the same errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from policylint.documents import Pointer
from policylint.namedtuple import NamedTuple
from policylint.schema.checker import Checker

_SILENT: Final = frozenset(
    {"title", "description", "default", "example", "examples", "format", "$schema", "$id", "$comment"}
)
_SIZES: Final[dict[str, tuple[type, Callable[[Any, Any], bool]]]] = {
    "minLength": (str, lambda value, bound: len(value) >= bound),
    "maxLength": (str, lambda value, bound: len(value) <= bound),
    "minItems": (list, lambda value, bound: len(value) >= bound),
    "maxItems": (list, lambda value, bound: len(value) <= bound),
    "minProperties": (dict, lambda value, bound: len(value) >= bound),
    "maxProperties": (dict, lambda value, bound: len(value) <= bound),
}


class Error(NamedTuple):
    """One error, by the names that jsonschema's errors have."""

    validator: str
    validator_value: Any
    instance: Any
    absolute_path: Pointer
    schema: Mapping[str, Any]


class NotPlainError(Exception):
    """The schema or the fault needs jsonschema."""


def errors(schema: Mapping[str, Any], value: Any, path: Pointer = ()) -> Iterator[Error]:
    """The errors of a value, as jsonschema would report them.

    Args:
        schema: plain JSON Schema, as `structural` makes it.
        value: without the nulls that are none (`without_nulls`).

    Raises:
        NotPlainError: a condition on several fields is broken, or the schema has a keyword that is not known here.
    """
    for keyword, wanted in schema.items():
        if keyword == "properties":
            if isinstance(value, dict):
                for name, inner in wanted.items():
                    if name in value:
                        yield from errors(inner, value[name], (*path, name))
        elif keyword == "additionalProperties":
            yield from _additional(schema, wanted, value, path)
        elif keyword == "items":
            if isinstance(value, list):
                for at, each in enumerate(value):
                    yield from errors(wanted, each, (*path, at))
        elif keyword == "required":
            if isinstance(value, dict):
                for name in wanted:
                    if name not in value:
                        yield Error(keyword, wanted, value, path, schema)
        elif keyword in ("anyOf", "oneOf", "allOf", "not", "uniqueItems"):
            if not Checker({keyword: wanted}).is_valid(value):
                raise NotPlainError(keyword)
        elif keyword not in _SILENT and not keyword.startswith("x-") and _breaks(keyword, wanted, value):
            yield Error(keyword, wanted, value, path, schema)


def _additional(schema: Mapping[str, Any], wanted: Any, value: Any, path: Pointer) -> Iterator[Error]:
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    more = [name for name in value if name not in known]
    if isinstance(wanted, dict):
        for name in more:
            yield from errors(wanted, value[name], (*path, name))
    elif more and not wanted:
        yield Error("additionalProperties", wanted, value, path, schema)


def _breaks(keyword: str, wanted: Any, value: Any) -> bool:
    """Whether a value breaks a keyword that looks at nothing but the value itself."""
    if keyword == "type":
        # The checker says null is no value where it is not wanted; here it stands where a value must.
        return not Checker({"type": wanted}).is_valid(value)
    if keyword == "enum":
        return not Checker({"enum": wanted}).is_valid(value)
    if keyword in _SIZES:
        kind, holds = _SIZES[keyword]
        return isinstance(value, kind) and not holds(value, wanted)
    if keyword == "pattern":
        return isinstance(value, str) and not Checker({"pattern": wanted}).is_valid(value)
    if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        return not Checker({keyword: wanted}).is_valid(value)
    raise NotPlainError(keyword)
