"""Trees of CEL as functions of Python, with the types that a structural schema gives to what they name.

Kubernetes evaluates rules on values whose defaults are filled in; here a field that is absent has its default when it
is asked for, so nothing is copied. Whatever is not certain raises `UndecidedError`, which `&&`, `||`, `all` and
`exists` absorb as CEL's errors do: text that holds a variable, a function that is not known here, work beyond what is
allowed. CEL's own errors are `FailedError`s. Source: the CEL specification; Kubernetes, «Common Expression Language in
Kubernetes».
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from policylint.budget import ExhaustedError
from policylint.cel.formats import OF_CEL, OTHER_TYPES
from policylint.cel.functions import (
    FORMATS,
    GLOBALS,
    METHODS,
    TYPES,
    FailedError,
    Format,
    Type,
    UndecidedError,
)
from policylint.cel.nodes import (
    DIVISIONS,
    FIXED,
    FORMS,
    MACROS,
    OF_TEXT,
    Evaluate,
    Fuel,
    applied,
    branching,
    constant_of,
    constantly,
    entries_of,
    field_of_variable,
    indexed,
    junction,
    mapped,
    measured_size,
    never_decided,
    optional,
    presence,
    presence_in_variable,
    selected,
    sum_of,
    variable_at,
)

if TYPE_CHECKING:
    from policylint.cel.syntax import Tree

Schema = Mapping[str, Any] | None
Typed = tuple[Evaluate, Schema]
"""A function and the schema of what it returns; None where that is not known."""
_DEEPEST: Final = 80
"""Nesting of a tree beyond which nothing is evaluated."""
_MOST_READ: Final = 200
"""Fields of the entries of a list by which it is told from others."""
_MOST_VARIABLES: Final = 7
"""Variables beside `self` that may be in scope together."""
_ESCAPES: Final = {"dot": ".", "dash": "-", "slash": "/", "underscores": "__"}


_NO_VARIABLES: Final = [None] * _MOST_VARIABLES


def are_broken(expressions: Sequence[Program | None], subject: Any) -> bool:
    """Return whether one of some conditions on a value is False, or fails by CEL's own rules."""
    values = [subject, *_NO_VARIABLES]
    has_fields = subject.__class__ is dict
    for expression in expressions:
        if expression is None or (has_fields and expression.is_idle(subject)):
            continue
        expression.fuel.left -= 1
        try:
            if (expression.evaluate or expression.compiled())(values) is False:
                return expression.fuel.left >= 0
        except FailedError:
            return expression.fuel.left >= 0
        except (UndecidedError, ExhaustedError, RecursionError):
            continue
    return False


_STEPS = 100_000


def is_broken(expression: str, subject: Any) -> bool:
    """Return whether a condition of the catalog on a value, `self`, is False, or fails by CEL's own rules."""
    program = _program(expression)
    if program is None:
        return False
    program.fuel.left = _STEPS
    return are_broken((program,), subject)


@cache
def _program(expression: str) -> Program | None:
    from policylint.cel.syntax import tree

    read = tree(expression)
    return None if read is None else Program(read, {}, Fuel(_STEPS))


class Program:
    """An expression of one variable.

    Args:
        variable: its name.

    Attributes:
        evaluate: its function; None until it is asked for, as that of most rules never is.
        holds_without: fields of `self` without any one of which it is True, as most rules are.
    """

    __slots__ = ("_schema", "_variable", "evaluate", "fuel", "holds_without", "tree")

    def __init__(self, tree: Tree, schema: Schema, fuel: Fuel, variable: str = "self") -> None:
        self.tree, self._schema, self._variable = tree, schema, variable
        self.fuel = fuel
        self.holds_without = tuple(sorted(_without(tree, schema)[0] or ()))
        self.evaluate: Evaluate | None = None

    def is_idle(self, subject: Mapping[str, Any]) -> bool:
        """Return whether an object lacks a field without which the expression is True."""
        for name in self.holds_without:  # noqa: SIM110 - three times as quick
            if subject.get(name) is None:
                return True
        return False

    def compiled(self) -> Evaluate:
        """Return its function, made now."""
        self.evaluate = _Compiler(self.fuel).typed(self.tree, {self._variable: (0, self._schema)})[0]
        return self.evaluate

    def value(self, subject: Any) -> Any:
        """Return what the expression makes of a value: an error of CEL's own as such, None where it is not decided."""
        try:
            self.fuel.spend(1)
            return (self.evaluate or self.compiled())([subject, *_NO_VARIABLES])
        except FailedError as error:
            return error
        except (UndecidedError, ExhaustedError, RecursionError):
            return None


_Names = frozenset[str] | None
"""Fields of `self`; None for whatever fields there are."""


def _without(tree: Tree, schema: Schema) -> tuple[_Names, _Names]:
    """Return the fields of `self` without any one of which a tree is True, and those without which it is False."""
    form = tree[0]
    if form == "=":
        return (None if tree[1] is True else _NO_NAMES), (None if tree[1] is False else _NO_NAMES)
    if form == "f" and tree[1] == "has" and tree[2] is None and len(tree) == 4:
        holder, name = tree[3][1:3] if tree[3][0] == "." else ("", "")
        field = _field(schema, _unescaped(name))
        if holder == "self" and field is not None and _default(field) is None and "null" not in _types(field):
            return _NO_NAMES, frozenset([_unescaped(name)])
    if form == "!":
        return _without(tree[1], schema)[::-1]
    parts = [_without(operand, schema) for operand in tree[1:]] if form in ("&&", "||", "?") else []
    if form == "&&":
        return reduce(_in_both, [held for held, _ in parts]), reduce(_in_either, [failed for _, failed in parts])
    if form == "||":
        return reduce(_in_either, [held for held, _ in parts]), reduce(_in_both, [failed for _, failed in parts])
    if form == "?":
        (held, failed), (held_first, failed_first), (held_second, failed_second) = parts
        true = _in_either(_in_both(held, held_first), _in_both(failed, held_second))
        return true, _in_either(_in_both(held, failed_first), _in_both(failed, failed_second))
    return _NO_NAMES, _NO_NAMES


_NO_NAMES: Final[_Names] = frozenset()


class Reads:
    """What expressions on a list read of its entries: fields, and whether others are there, or how long they are.

    Attributes:
        known: whether they read nothing else, so that lists that agree in it are answered alike.
    """

    __slots__ = ("_fields", "known")

    def __init__(self, expressions: Iterable[Program | None]) -> None:
        self._fields: dict[tuple[str, str], None] = {}
        self.known = all(each is not None and self._add(each.tree, frozenset()) for each in expressions)

    def _add(self, tree: Tree, entries: frozenset[str]) -> bool:
        """Take down what a tree reads, `entries` being names of entries; return whether it reads nothing else."""
        if isinstance(tree, str):
            return tree in TYPES
        form, *parts = tree
        if form == "=":
            return True
        if form == ".":
            return self._add_field("value", tree, entries)
        if form == "f":
            name, target, *arguments = parts
            if name == "has":
                return self._add_field("presence", arguments[0], entries)
            if name in MACROS:
                quantifies = target == "self" and name not in ("filter", "map") and len(arguments) == 2
                return quantifies and self._add(arguments[1], entries | {arguments[0]})
            measured = [target, *arguments] if target is not None else arguments
            if name == "size" and len(measured) == 1:
                return self._add_size(measured[0], entries)
            parts = measured
        return form not in ("[]", ".?", "unknown") and all(self._add(part, entries) for part in parts)

    def _add_size(self, tree: Tree, entries: frozenset[str]) -> bool:
        if tree == "self":
            return True
        if tree[:3] == ["f", "filter", "self"] and len(tree) == 5:
            return self._add(tree[4], entries | {tree[3]})
        return self._add_field("size", tree, entries)

    def _add_field(self, how: str, tree: Tree, entries: frozenset[str]) -> bool:
        form, holder, name = tree if len(tree) == 3 else ("", "", "")
        is_entry = (
            holder in entries if isinstance(holder, str) else holder[:2] == ["[]", "self"] and holder[2][0] == "="
        )
        if form != "." or not is_entry:
            return False
        self._fields[how, _unescaped(name)] = None
        return True

    def of(self, subject: list[Any]) -> tuple[object, ...] | None:
        """Return what is read of a list; None where that is more than a few words."""
        read: list[object] = []
        for entry in subject:
            if entry.__class__ is not dict:
                return None
            for how, name in self._fields:
                value = entry.get(name)
                kind = value.__class__
                if value is None:
                    read.append(name in entry)
                elif how == "presence":
                    read.append("")
                elif kind is list and how == "size":
                    read.append((kind, len(value)))
                elif kind is str or kind is int or kind is bool:
                    read.append((kind, value))
                else:
                    return None
        return (len(subject), *read) if len(read) <= _MOST_READ else None


class _Functions(list[Evaluate]):
    """A list that does not live for what refers to it weakly."""

    __slots__ = ("__weakref__",)


def _in_both(one: _Names, other: _Names) -> _Names:
    return other if one is None else one if other is None else one & other


def _in_either(one: _Names, other: _Names) -> _Names:
    return None if one is None or other is None else one | other


class _Compiler:
    """Makes functions of trees; what `&&`, `||` and `? :` may pass over, when it is first asked for."""

    def __init__(self, fuel: Fuel) -> None:
        self.fuel = fuel
        self._depth = 0

    def typed(self, tree: Tree, scope: Mapping[str, tuple[int, Schema]]) -> Typed:
        """Return the function of a tree and the schema of its results."""
        if isinstance(tree, str):
            if tree in scope:
                return variable_at(scope[tree][0]), scope[tree][1]
            return constantly(Type(tree)) if tree in TYPES else never_decided, None
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return never_decided, None
            return self._node(tree[0], tree, scope)
        finally:
            self._depth -= 1

    def _node(self, form: str, tree: Tree, scope: Mapping[str, tuple[int, Schema]]) -> Typed:
        if form == "=":
            return constantly(tree[1]), None
        if form == "f":
            return self._call(tree[1], tree[2], tree[3:], scope)
        if form in (".", ".?"):
            target, schema = self.typed(tree[1], scope)
            name = _unescaped(tree[2])
            field = _field(schema, name)
            if form == ".?":
                return optional(target, name, _default(field)), field
            if _is_other_type(field):
                return never_decided, None
            if isinstance(tree[1], str) and tree[1] in scope:
                return field_of_variable(scope[tree[1]][0], name, _default(field), _is_optional(field)), field
            return selected(target, name, _default(field), _is_optional(field)), field
        if form in ("||", "&&"):
            return junction(form == "||", self._later(tree[1:], scope)), None
        if form == "?":
            return branching(self._later(tree[1:], scope)), None
        if form in ("==", "in") and (constant := constant_of(tree[2])) is not None:
            return FIXED[form](self.typed(tree[1], scope)[0], constant), None
        parts = [self.typed(inner, scope) for inner in tree[1:]]
        functions = [function for function, _ in parts]
        if form == "[]":
            schema = parts[0][1]
            entry = None if schema is None else schema.get("items", schema.get("additionalProperties"))
            entry = entry if isinstance(entry, dict) else None
            return indexed(functions[0], functions[1], _is_optional(entry)), entry
        if form in FORMS:
            return FORMS[form](*functions), None
        if form in ("/", "%"):
            numbers = any(schema is not None and "number" in _types(schema) for _, schema in parts)
            return never_decided if numbers else DIVISIONS[form](*functions), None
        if form == "+":
            return sum_of(self.fuel, *functions), None
        if form == "list":
            return (lambda values: [function(values) for function in functions]), None
        if form == "map":
            keys, entries = functions[::2], functions[1::2]
            return (lambda values: {key(values): entry(values) for key, entry in zip(keys, entries, strict=True)}), None
        return never_decided, None

    def _later(self, trees: list[Tree], scope: Mapping[str, tuple[int, Schema]]) -> list[Evaluate]:
        """Return functions of which each but the first is made, and takes its place in the list, when it is called."""
        functions = _Functions([self.typed(trees[0], scope)[0]])
        kept = ref(functions)  # by whoever calls one of them: those that nobody calls must not keep schemas for good

        def later(place: int) -> Evaluate:
            def evaluate(values: list[Any]) -> Any:
                made = self.typed(trees[place], scope)[0]
                if (known := kept()) is not None:
                    known[place] = made
                return made(values)

            return evaluate

        functions += [later(place) for place in range(1, len(trees))]
        return functions

    def _call(self, name: str, target: Tree, arguments: list[Tree], scope: Mapping[str, tuple[int, Schema]]) -> Typed:
        if name == "has" and target is None and len(arguments) == 1 and arguments[0][0] == ".":
            holder, schema = self.typed(arguments[0][1], scope)
            field_name = _unescaped(arguments[0][2])
            field = _field(schema, field_name)
            nullable = field is not None and "null" in _types(field)
            if isinstance(arguments[0][1], str) and arguments[0][1] in scope and not nullable:
                place, defaulted = scope[arguments[0][1]][0], _default(field) is not None
                return presence_in_variable(place, field_name, defaulted), None
            return presence(holder, field_name, _default(field) is not None, nullable), None
        if name in MACROS and target is not None and arguments and isinstance(arguments[0], str):
            return self._macro(name, target, arguments, scope)
        if target == FORMATS and FORMATS not in scope:
            if name in OF_CEL and not arguments:
                return constantly(Format(name)), None
            target, name = None, f"{FORMATS}.{name}"
        functions = [self.typed(argument, scope)[0] for argument in arguments]
        if target is not None:
            functions.insert(0, self.typed(target, scope)[0])
        if name == "size" and len(functions) == 1:
            return measured_size(functions[0]), None
        if name in OF_TEXT and (target is not None or name == "matches") and len(functions) == 2:
            return OF_TEXT[name](*functions), None
        called = (GLOBALS if target is None else METHODS).get((name, len(functions)))
        return (never_decided if called is None else applied(self.fuel, called, functions)), None

    def _macro(self, name: str, target: Tree, arguments: list[Tree], scope: Mapping[str, tuple[int, Schema]]) -> Typed:
        source, schema = self.typed(target, scope)
        entry = None if schema is None else schema.get("items")
        slot = 1 + max(place for place, _ in scope.values())
        if slot > _MOST_VARIABLES:
            return never_decided, None
        inner = {**scope, arguments[0]: (slot, entry if isinstance(entry, dict) else None)}
        bodies = [self.typed(argument, inner)[0] for argument in arguments[1:]]
        if len(bodies) == 1:
            return MACROS[name](self.fuel, entries_of(source), slot, bodies[0]), None
        if len(bodies) == 2 and name == "map":
            return mapped(self.fuel, entries_of(source), slot, bodies[1], bodies[0]), None
        return never_decided, None


# --- the schema of what is named --------------------------------------------------------------------------------------


def _types(schema: Mapping[str, Any]) -> Any:
    return schema.get("type", ())


def _field(schema: Schema, name: str) -> Schema:
    if schema is None:
        return None
    field = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
    return field if isinstance(field, dict) else None


def _default(schema: Schema) -> Any:
    return None if schema is None else schema.get("default")


def _is_optional(schema: Schema) -> bool:
    """Return whether a field that is absent or null is not there for CEL either; unknown where it may be null."""
    return schema is not None and "null" not in _types(schema)


def _is_other_type(schema: Schema) -> bool:
    """Return whether a text is no text in CEL: a time, a duration, bytes."""
    return schema is not None and schema.get("format") in OTHER_TYPES


def _unescaped(name: str) -> str:
    """Return the field that a name in CEL stands for (Kubernetes, «Escaping»)."""
    if "__" not in name:
        return name
    if name.startswith("__") and name.endswith("__") and name[2:-2].isalpha() and name[2:-2] not in _ESCAPES:
        return name[2:-2]
    for word, sign in _ESCAPES.items():
        name = name.replace(f"__{word}__", sign)
    return name
