"""Find the violations that single fields show: most of them are a misspelt field.

jsonschema explains those that are conditions on several fields (`anyOf`, `not`…): it costs 50 ms and 5 MB to import,
which a repository with one unknown field need not pay. tests/schema/test_plain.py holds both to the same errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policylint.documents import Pointer
from policylint.namedtuple import NamedTuple
from policylint.schema.checker import KEYS, Checker, second_of

_SILENT: Final = frozenset({"title", "description", "default", "example", "examples", "$schema", "$id", "$comment"})
_OF_VALUES: Final = frozenset(
    {"type", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}
    | {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
)
"""Keywords that concern a value alone."""


class Error(NamedTuple):
    """One error, with the attribute names of jsonschema's errors."""

    validator: str
    validator_value: Any
    instance: Any
    absolute_path: Pointer
    schema: Mapping[str, Any]


class NotPlainError(Exception):
    """The schema or the violation needs jsonschema."""


def errors(schema: Mapping[str, Any], value: Any, path: Pointer = ()) -> Iterator[Error]:
    """Yield the errors of a value, as jsonschema would report them.

    Args:
        schema: plain JSON Schema, as `structural` makes it.
        value: without the nulls that the API server removes (`without_nulls`).

    Raises:
        NotPlainError: a condition on several fields is broken, or the schema has a keyword that is unknown here.
    """
    for keyword, argument in schema.items():
        if keyword == "properties":
            if isinstance(value, dict):
                for name, inner in argument.items():
                    if name in value:
                        yield from errors(inner, value[name], (*path, name))
        elif keyword == "additionalProperties":
            yield from _additional(schema, argument, value, path)
        elif keyword == "items":
            if isinstance(value, list):
                for index, entry in enumerate(value):
                    yield from errors(argument, entry, (*path, index))
        elif keyword == "required":
            if isinstance(value, dict):
                for name in argument:
                    if name not in value:
                        yield Error(keyword, argument, value, path, schema)
        elif keyword in ("anyOf", "oneOf", "allOf", "not", "uniqueItems"):
            if not _of(keyword, argument).is_valid(value):
                raise NotPlainError(keyword)
        elif keyword == KEYS:
            second = second_of(schema, value) if isinstance(value, list) else None
            if second is not None:
                yield Error(keyword, argument, value[second], (*path, second), schema)
        elif keyword in _OF_VALUES:
            # The checker says null is no value where it is not wanted; here it stands where a value must.
            if not _of(keyword, argument).is_valid(value):
                yield Error(keyword, argument, value, path, schema)
        elif keyword not in _SILENT and not keyword.startswith("x-"):
            raise NotPlainError(keyword)


_CHECKERS: dict[tuple[str, int], tuple[Any, Checker]] = {}
_MOST_CHECKERS: Final = 500


def _of(keyword: str, argument: Any) -> Checker:
    """Return the checker of one keyword: a schema is asked of every object that breaks it."""
    known = _CHECKERS.get((keyword, id(argument)))
    if known is None:
        if len(_CHECKERS) >= _MOST_CHECKERS:
            _CHECKERS.clear()
        known = _CHECKERS[keyword, id(argument)] = (argument, Checker({keyword: argument}))  # kept: so is its id
    return known[1]


def _additional(schema: Mapping[str, Any], argument: Any, value: Any, path: Pointer) -> Iterator[Error]:
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    extra_names = [name for name in value if name not in known]
    if isinstance(argument, dict):
        for name in extra_names:
            yield from errors(argument, value[name], (*path, name))
    elif extra_names and not argument:
        yield Error("additionalProperties", argument, value, path, schema)
