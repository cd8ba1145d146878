"""Decide whether a value is valid, and no more: jsonschema explains, but decides thirty times slower.

Measured on 10,000 HTTPRoutes in docs/design/performance.md §6; tests/schema/ holds both to the same verdict. Nodes are
compiled when a value first reaches them: most of a schema is about fields that nobody sets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from policylint.model import mapping

_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_REMEMBERED: Final = 4_000
KEYS: Final = "x-kubernetes-list-map-keys"
"""The fields by which the entries of a list are told apart."""
_WHOLE: Final = ("allOf", "anyOf", "enum", "not", "oneOf", "uniqueItems", KEYS)
_TEXTS: Final = ("format", "maxLength", "minLength", "pattern")
_VALUES: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


class Checker:
    """One node of a schema, compiled.

    A null is no value for a field that is not nullable: the API server removes it before it looks at the rest.

    Attributes:
        plain: classes of which every value is valid, so that nobody need ask.
        settled: texts that were found to be valid, the same.
    """

    __slots__ = (
        "_accepted",
        "_branches",
        "_classes",
        "_extra",
        "_has_counts",
        "_has_forms",
        "_has_lengths",
        "_items",
        "_numeric",
        "_properties",
        "_required",
        "_schema",
        "_whole",
        "nullable",
        "plain",
        "settled",
    )

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        kinds = schema.get("type")
        names = kinds if isinstance(kinds, list) else [kinds] if kinds else []
        self._classes = frozenset(type_class for name in names for type_class in _CLASSES[name]) or None
        self.nullable = self._classes is None or type(None) in self._classes
        self._properties: dict[str, Any] = dict(schema.get("properties", ()))
        extra = schema.get("additionalProperties", True)
        self._extra: Checker | bool = self.below(extra) if isinstance(extra, dict) else extra
        self._items: Any = schema.get("items")
        self._required: tuple[str, ...] = tuple(schema.get("required", ()))
        self._numeric = any(name in schema for name in _VALUES)
        self._whole = not schema.keys().isdisjoint(_WHOLE)
        self._has_counts = "minProperties" in schema or "maxProperties" in schema
        self._has_lengths = "minItems" in schema or "maxItems" in schema
        self._has_forms = not schema.keys().isdisjoint(_TEXTS)
        self._accepted: set[str] = set()
        self.settled: Collection[str] = self._accepted
        self._branches: dict[str, tuple[Checker, ...]] = {}
        asked = {dict: True, list: True, str: self._has_forms, bool: False}
        classes = () if self._whole else self._classes or ()
        self.plain = frozenset(kind for kind in classes if not asked.get(kind, self._numeric))

    def below(self, schema: Mapping[str, Any]) -> Checker:
        """Return the checker of a node below this one."""
        return type(self)(schema)

    def is_valid(self, value: Any) -> bool:
        """Return whether the API server would accept the value: no unknown field, every keyword satisfied."""
        kind = value.__class__
        if (
            self._classes is not None
            and kind not in self._classes
            and not (kind is float and int in self._classes and value.is_integer())
        ):
            return False
        if kind is dict:
            if not self._fields(value):
                return False
        elif kind is str:
            if value in self._accepted:
                return True
            if self._has_forms and not self._text(value):
                return False
        elif kind is list:
            if not self._list(value):
                return False
        elif self._numeric and kind is not bool and kind is not type(None) and not self._number(value):
            return False
        if self._whole and not self._as_a_whole(value):
            return False
        if kind is str and len(self._accepted) < _REMEMBERED:
            self._accepted.add(value)
        return True

    def _fields(self, value: dict[str, Any]) -> bool:
        properties, extra = self._properties, self._extra
        for name, inner in value.items():
            child = properties.get(name)
            if child is None:
                if extra is False:
                    return False
                if extra is True:
                    continue
                child = extra
            elif child.__class__ is dict:
                child = properties[name] = self.below(child)
            kind = inner.__class__
            if kind in child.plain or (kind is str and inner in child.settled):
                continue
            if inner is None and not child.nullable:
                continue
            if not child.is_valid(inner):
                return False
        for name in self._required:
            if value.get(name) is None and not (name in value and self._keeps_null(name)):
                return False
        if self._has_counts:
            count = sum(inner is not None or self._keeps_null(name) for name, inner in value.items())
            if not self._schema.get("minProperties", 0) <= count <= self._schema.get("maxProperties", count):
                return False
        return True

    def _keeps_null(self, name: str) -> bool:
        """Return whether a null counts as a value of a field."""
        child = self._properties.get(name, self._extra)
        if child.__class__ is dict:
            child = self._properties[name] = self.below(child)
        return child.nullable if isinstance(child, Checker) else True

    def _list(self, value: list[Any]) -> bool:
        if self._has_lengths:
            schema = self._schema
            if len(value) < schema.get("minItems", 0) or len(value) > schema.get("maxItems", len(value)):
                return False
        items = self._items
        if items is not None:
            if items.__class__ is dict:
                items = self._items = self.below(items)
            for inner in value:
                kind = inner.__class__
                if kind in items.plain or (kind is str and inner in items.settled):
                    continue
                if not items.is_valid(inner):
                    return False
        return True

    def _text(self, value: str) -> bool:
        schema = self._schema
        if len(value) < schema.get("minLength", 0) or len(value) > schema.get("maxLength", len(value)):
            return False
        if "format" in schema and not is_of_format(value, schema["format"]):
            return False
        return "pattern" not in schema or has_form(value, schema["pattern"])

    def _number(self, value: float) -> bool:
        schema = self._schema
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return False
        if value <= schema.get("exclusiveMinimum", value - 1) or value >= schema.get("exclusiveMaximum", value + 1):
            return False
        step = schema.get("multipleOf")
        return step is None or float(value / step).is_integer()

    def _as_a_whole(self, value: Any) -> bool:
        schema = self._schema
        value = without_nulls(value, schema)
        if "enum" in schema and not any(_same(value, allowed) for allowed in schema["enum"]):
            return False
        unique = schema.get("uniqueItems") and isinstance(value, list)
        if unique and any(_same(first, second) for index, first in enumerate(value) for second in value[:index]):
            return False
        if KEYS in schema and isinstance(value, list) and second_of(schema, value) is not None:
            return False
        if "allOf" in schema and not all(branch.is_valid(value) for branch in self._those_of("allOf")):
            return False
        if "anyOf" in schema and not any(branch.is_valid(value) for branch in self._those_of("anyOf")):
            return False
        if "oneOf" in schema and sum(branch.is_valid(value) for branch in self._those_of("oneOf")) != 1:
            return False
        return "not" not in schema or not self._those_of("not")[0].is_valid(value)

    def _those_of(self, keyword: str) -> tuple[Checker, ...]:
        """Return the checkers of the schemas that a keyword combines."""
        known = self._branches.get(keyword)
        if known is None:
            stated = self._schema[keyword]
            branches = stated if isinstance(stated, list) else [stated]
            known = self._branches[keyword] = tuple(map(self.below, branches))
        return known


def without_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the value as the API server sees it: nulls of fields that are not nullable are removed."""
    if isinstance(value, dict):
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties", {})
        kept = {}
        for name, inner in value.items():
            child = properties.get(name, extra)
            if inner is not None or not isinstance(child, dict) or _takes_null(child):
                kept[name] = without_nulls(inner, child if isinstance(child, dict) else {})
        return kept
    if isinstance(value, list):
        items = schema.get("items", {})
        return [without_nulls(entry, items) for entry in value]
    return value


def _takes_null(schema: Mapping[str, Any]) -> bool:
    return "type" not in schema or "null" in schema["type"]


def has_form(value: str, pattern: str) -> bool:
    """Return whether a pattern matches anywhere in a text, or is none: a CRD with such a pattern is refused itself."""
    from policylint.regex import expression

    return expression(pattern).is_within(value) is not False


def is_of_format(value: str, name: str) -> bool:
    """Return whether a text has a format; of one that is not judged every text has it."""
    from policylint.cel.formats import OF_SCHEMAS

    return name not in OF_SCHEMAS or OF_SCHEMAS[name](value)


def second_of(schema: Mapping[str, Any], value: list[Any]) -> int | None:
    """Return the place of the first entry that has the keys of one before it."""
    fields = mapping(mapping(schema.get("items")).get("properties"))
    defaults = {name: mapping(fields.get(name)).get("default") for name in schema[KEYS]}
    seen = set()
    for index, entry in enumerate(value):
        if isinstance(entry, dict):
            key = repr([entry.get(name, default) for name, default in defaults.items()])
            if key in seen:
                return index
            seen.add(key)
    return None


def _same(first: Any, second: Any) -> bool:
    """Return whether two values are equal as JSON: true is not 1."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[name], second[name]) for name in first)
    return bool(first == second)
