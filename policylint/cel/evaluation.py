"""Trees of CEL as functions of Python, with the types that a structural schema gives to what they name.

Kubernetes evaluates rules on values whose defaults are filled in; here a field that is absent has its default when it
is asked for, so nothing is copied. Whatever is not certain raises `UndecidedError`, which `&&`, `||`, `all` and
`exists` absorb as CEL's errors do: text that holds a variable, a function that is not known here, work beyond what is
allowed. CEL's own errors are `FailedError`s. Source: the CEL specification; Kubernetes, «Common Expression Language in
Kubernetes».
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from policylint.budget import ExhaustedError
from policylint.cel.formats import OF_CEL, OTHER_TYPES
from policylint.cel.functions import (
    FORMATS,
    GLOBALS,
    METHODS,
    TYPES,
    Duration,
    FailedError,
    Format,
    Type,
    UndecidedError,
    contains,
    in_range,
    known,
    matches,
)
from policylint.model import holds_variable

if TYPE_CHECKING:
    from policylint.cel.syntax import Tree

Schema = Mapping[str, Any] | None
Evaluate = Callable[[list[Any]], Any]
Typed = tuple[Evaluate, Schema]
"""A function of the values of the variables, and the schema of what it returns; None where that is not known."""
_DEEPEST: Final = 80
"""Nesting of a tree beyond which nothing is evaluated."""
_MOST_READ: Final = 200
"""Fields of the entries of a list by which it is told from others."""
_MOST_VARIABLES: Final = 7
"""Variables beside `self` that may be in scope together."""
_ESCAPES: Final = {"dot": ".", "dash": "-", "slash": "/", "underscores": "__"}


class Fuel:
    """The steps that evaluating may take, about a tenth of a microsecond each; one for all rules of untrusted CRDs."""

    __slots__ = ("left",)

    def __init__(self, steps: float = float("inf")) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take steps from those that are left.

        Raises:
            ExhaustedError: there are not so many, now and from now on.
        """
        self.left -= steps
        if self.left < 0:
            raise ExhaustedError


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
            if expression.evaluate(values) is False:
                return expression.fuel.left >= 0
        except FailedError:
            return expression.fuel.left >= 0
        except (UndecidedError, ExhaustedError, RecursionError):
            continue
    return False


class Program:
    """An expression of one variable, `self`.

    Attributes:
        holds_without: fields of `self` without any one of which it is True, as most rules are.
    """

    __slots__ = ("_schema", "evaluate", "fuel", "holds_without", "tree")

    def __init__(self, tree: Tree, schema: Schema, fuel: Fuel) -> None:
        self.tree, self._schema = tree, schema
        self.fuel = fuel
        self.holds_without = tuple(sorted(_without(tree, schema)[0] or ()))
        self.evaluate: Evaluate = self._first

    def is_idle(self, subject: Mapping[str, Any]) -> bool:
        """Return whether an object lacks a field without which the expression is True."""
        for name in self.holds_without:  # noqa: SIM110 - three times as quick
            if subject.get(name) is None:
                return True
        return False

    def _first(self, values: list[Any]) -> Any:
        self.evaluate = _Compiler(self.fuel).typed(self.tree, {"self": (0, self._schema)})[0]
        return self.evaluate(values)

    def value(self, subject: Any) -> Any:
        """Return what the expression makes of a value: an error of CEL's own as such, None where it is not decided."""
        try:
            self.fuel.spend(1)
            return self.evaluate([subject, *_NO_VARIABLES])
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
            if name in _MACROS:
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
                return _variable(scope[tree][0]), scope[tree][1]
            return _constant(Type(tree)) if tree in TYPES else _undecided, None
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return _undecided, None
            return self._node(tree[0], tree, scope)
        finally:
            self._depth -= 1

    def _node(self, form: str, tree: Tree, scope: Mapping[str, tuple[int, Schema]]) -> Typed:
        if form == "=":
            return _constant(tree[1]), None
        if form == "f":
            return self._call(tree[1], tree[2], tree[3:], scope)
        if form in (".", ".?"):
            target, schema = self.typed(tree[1], scope)
            name = _unescaped(tree[2])
            field = _field(schema, name)
            if form == ".?":
                return _optional(target, name, _default(field)), field
            if _is_other_type(field):
                return _undecided, None
            if isinstance(tree[1], str) and tree[1] in scope:
                return _field_of_variable(scope[tree[1]][0], name, _default(field), _is_optional(field)), field
            return _selected(target, name, _default(field), _is_optional(field)), field
        if form in ("||", "&&"):
            return _junction(form == "||", self._later(tree[1:], scope)), None
        if form == "?":
            return _branch(self._later(tree[1:], scope)), None
        if form in ("==", "in") and (constant := _constant_of(tree[2])) is not None:
            return _FIXED[form](self.typed(tree[1], scope)[0], constant), None
        parts = [self.typed(inner, scope) for inner in tree[1:]]
        functions = [function for function, _ in parts]
        if form == "[]":
            schema = parts[0][1]
            entry = None if schema is None else schema.get("items", schema.get("additionalProperties"))
            return _indexed(*functions), entry if isinstance(entry, dict) else None
        if form in _FORMS:
            return _FORMS[form](*functions), None
        if form in ("/", "%"):
            numbers = any(schema is not None and "number" in _types(schema) for _, schema in parts)
            return _undecided if numbers else _DIVISIONS[form](*functions), None
        if form == "+":
            return _sum(self.fuel, *functions), None
        if form == "list":
            return (lambda values: [function(values) for function in functions]), None
        if form == "map":
            keys, entries = functions[::2], functions[1::2]
            return (lambda values: {key(values): entry(values) for key, entry in zip(keys, entries, strict=True)}), None
        return _undecided, None

    def _later(self, trees: list[Tree], scope: Mapping[str, tuple[int, Schema]]) -> list[Evaluate]:
        """Return functions of which each but the first is made, and takes its place in the list, when it is called."""
        functions: list[Evaluate] = [self.typed(trees[0], scope)[0]]

        def later(place: int) -> Evaluate:
            def evaluate(values: list[Any]) -> Any:
                functions[place] = self.typed(trees[place], scope)[0]
                return functions[place](values)

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
                return _variable_has(place, field_name, defaulted), None
            return _has(holder, field_name, _default(field) is not None, nullable), None
        if name in _MACROS and target is not None and arguments and isinstance(arguments[0], str):
            return self._macro(name, target, arguments, scope)
        if target == FORMATS and FORMATS not in scope:
            if name in OF_CEL and not arguments:
                return _constant(Format(name)), None
            target, name = None, f"{FORMATS}.{name}"
        functions = [self.typed(argument, scope)[0] for argument in arguments]
        if target is not None:
            functions.insert(0, self.typed(target, scope)[0])
        if name == "size" and len(functions) == 1:
            return _measured(functions[0]), None
        if name in _OF_TEXT and (target is not None or name == "matches") and len(functions) == 2:
            return _OF_TEXT[name](*functions), None
        called = (GLOBALS if target is None else METHODS).get((name, len(functions)))
        return (_undecided if called is None else _applied(self.fuel, called, functions)), None

    def _macro(self, name: str, target: Tree, arguments: list[Tree], scope: Mapping[str, tuple[int, Schema]]) -> Typed:
        source, schema = self.typed(target, scope)
        entry = None if schema is None else schema.get("items")
        slot = 1 + max(place for place, _ in scope.values())
        if slot > _MOST_VARIABLES:
            return _undecided, None
        inner = {**scope, arguments[0]: (slot, entry if isinstance(entry, dict) else None)}
        bodies = [self.typed(argument, inner)[0] for argument in arguments[1:]]
        if len(bodies) == 1:
            return _MACROS[name](self.fuel, _entries(source), slot, bodies[0]), None
        if len(bodies) == 2 and name == "map":
            return _mapped(self.fuel, _entries(source), slot, bodies[1], bodies[0]), None
        return _undecided, None


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


# --- values -----------------------------------------------------------------------------------------------------------


def _undecided(_values: list[Any]) -> Any:
    raise UndecidedError


def _constant(value: Any) -> Evaluate:
    return lambda _values: value


def _variable(slot: int) -> Evaluate:
    return lambda values: known(values[slot])


def _selected(target: Evaluate, name: str, default: Any, fails: bool) -> Evaluate:
    """Return a function to a field, which has its default where it is absent.

    Args:
        fails: whether an absent field is an error of CEL's own, rather than not decided.
    """

    def select(values: list[Any]) -> Any:
        holder = target(values)
        if holder.__class__ is not dict:
            raise UndecidedError
        value = holder.get(name)
        if value is None:
            value = default
            if value is None and fails:
                raise FailedError(f"no such key: {name}")
        return known(value)

    return select


def _field_of_variable(slot: int, name: str, default: Any, fails: bool) -> Evaluate:
    """Return `_selected` of a variable: most of what rules do."""

    def select(values: list[Any]) -> Any:
        holder = values[slot]
        if holder.__class__ is not dict:
            raise UndecidedError
        value = holder.get(name)
        if value is None:
            value = default
            if value is None and fails:
                raise FailedError(f"no such key: {name}")
        if value.__class__ is str and "{" not in value:
            return value
        return known(value)

    return select


def _optional(target: Evaluate, name: str, default: Any) -> Evaluate:
    """Return a function to a tuple of the value, or of nothing."""

    def select(values: list[Any]) -> Any:
        holder = target(values)
        if holder.__class__ is tuple:
            if not holder:
                return ()
            holder = holder[0]
        if holder.__class__ is not dict:
            raise UndecidedError
        value = holder.get(name)
        if value is None:
            value = default
        return () if value is None else (known(value),)

    return select


def _has(target: Evaluate, name: str, defaulted: bool, nullable: bool) -> Evaluate:
    def has(values: list[Any]) -> bool:
        holder = target(values)
        if holder.__class__ is not dict:
            raise UndecidedError
        if holder.get(name) is not None or defaulted:
            return True
        if nullable and name in holder:
            raise UndecidedError
        return False

    return has


def _variable_has(slot: int, name: str, defaulted: bool) -> Evaluate:
    """Return `_has` of a variable, for a field that cannot be null."""

    def has(values: list[Any]) -> bool:
        holder = values[slot]
        if holder.__class__ is not dict:
            raise UndecidedError
        return defaulted or holder.get(name) is not None

    return has


def _indexed(target: Evaluate, place: Evaluate) -> Evaluate:
    def index(values: list[Any]) -> Any:
        holder, key = target(values), place(values)
        if holder.__class__ is list:
            if key.__class__ is not int:
                raise UndecidedError
            if not 0 <= key < len(holder):
                raise FailedError(f"index out of bounds: {key}")
            return known(holder[key])
        if holder.__class__ is dict and key.__class__ is str:
            return known(holder.get(key))
        raise UndecidedError

    return index


# --- operators --------------------------------------------------------------------------------------------------------


def _worse(first: UndecidedError | None, second: UndecidedError) -> UndecidedError:
    """Return the error of two that says less: what is not decided may have been anything, CEL's own error is one."""
    return second if first is None or isinstance(first, FailedError) else first


def _junction(decisive: bool, operands: list[Evaluate]) -> Evaluate:
    """Return `&&` (False decides) or `||` (True does): either side may be undecided if another decides."""

    return lambda values: _decided(decisive, operands, values)


def _decided(decisive: bool, operands: Iterable[Evaluate], values: list[Any]) -> bool:
    """Return whether one operand gives the decisive answer (then that), or none does (then its opposite).

    Raises:
        UndecidedError: none does, and of some it is not known.
    """
    missed: UndecidedError | None = None
    for operand in operands:
        try:
            value = operand(values)
        except UndecidedError as error:
            missed = _worse(missed, error)
            continue
        if value is decisive:
            return bool(decisive)
        if value.__class__ is not bool:
            missed = UndecidedError()
    if missed is not None:
        raise missed
    return not decisive


def _negated(operand: Evaluate) -> Evaluate:
    def negate(values: list[Any]) -> bool:
        value = operand(values)
        if value.__class__ is not bool:
            raise UndecidedError
        return not value

    return negate


def _branch(parts: list[Evaluate]) -> Evaluate:
    condition = parts[0]

    def branch(values: list[Any]) -> Any:
        value = condition(values)
        if value.__class__ is not bool:
            raise UndecidedError
        return parts[1](values) if value else parts[2](values)

    return branch


def _equal(first: Any, second: Any) -> bool:
    one, other = first.__class__, second.__class__
    if one is other:
        if first == second:
            return True
        if one is dict or (one is list and _is_open_list(first, second)):
            raise UndecidedError  # defaults may make them equal
        return False
    numbers = (int, float)
    if one in numbers and other in numbers:
        return bool(first == second)
    return False


def _is_open_list(first: list[Any], second: list[Any]) -> bool:
    """Return whether unequal lists may be equal all the same: as sets, by defaults, by variables."""
    if len(first) != len(second):
        return False
    for entry in (*first, *second):
        if entry.__class__ in (dict, list) or (entry.__class__ is str and holds_variable(entry)):
            return True
    return sorted(map(repr, first)) == sorted(map(repr, second))


def _equality(first: Evaluate, second: Evaluate) -> Evaluate:
    def equal(values: list[Any]) -> bool:
        one, other = first(values), second(values)
        if one.__class__ is str and other.__class__ is str:
            return bool(one == other)
        return _equal(one, other)

    return equal


def _constant_of(tree: Tree) -> Any:
    """Return the constant that a tree is, or the set of texts of which it is a list; None for any other."""
    if tree[0] == "=":
        return tree[1]
    if tree[0] == "list" and all(entry[0] == "=" and entry[1].__class__ is str for entry in tree[1:]):
        return frozenset(entry[1] for entry in tree[1:])
    return None


def _equal_to(operand: Evaluate, constant: Any) -> Evaluate:
    kind = constant.__class__
    if kind is frozenset:
        return lambda values: _equal(operand(values), sorted(constant))

    def equal(values: list[Any]) -> bool:
        value = operand(values)
        return bool(value == constant) if value.__class__ is kind else _equal(value, constant)

    return equal


def _one_of(operand: Evaluate, constant: Any) -> Evaluate:
    if constant.__class__ is not frozenset:
        return _undecided

    def member(values: list[Any]) -> bool:
        value = operand(values)
        return value.__class__ is str and value in constant

    return member


_FIXED: Final = {"==": _equal_to, "in": _one_of}
"""Operators whose right side is a constant."""


def _inequality(first: Evaluate, second: Evaluate) -> Evaluate:
    return lambda values: not _equal(first(values), second(values))


def _comparison(holds: Callable[[Any, Any], bool]) -> Callable[[Evaluate, Evaluate], Evaluate]:
    def build(first: Evaluate, second: Evaluate) -> Evaluate:
        def compare(values: list[Any]) -> bool:
            one, other = first(values), second(values)
            if one.__class__ is int and other.__class__ is int:
                return holds(one, other)
            numbers = one.__class__ in (int, float) and other.__class__ in (int, float)
            if numbers or (one.__class__ is other.__class__ and one.__class__ in (str, Duration)):
                return holds(one, other)
            raise UndecidedError

        return compare

    return build


def _membership(entry: Evaluate, holder: Evaluate) -> Evaluate:
    def member(values: list[Any]) -> bool:
        wanted, among = entry(values), holder(values)
        if among.__class__ is dict:
            return wanted in among
        if among.__class__ is not list:
            raise UndecidedError
        open_ = False
        for other in among:
            try:
                if _equal(wanted, known(other)):
                    return True
            except UndecidedError:
                open_ = True
        if open_:
            raise UndecidedError
        return False

    return member


def _sum(fuel: Fuel, first: Evaluate, second: Evaluate) -> Evaluate:
    def add(values: list[Any]) -> Any:
        one, other = first(values), second(values)
        if one.__class__ in (int, float) and other.__class__ in (int, float):
            return in_range(one + other)
        if one.__class__ is not other.__class__ or one.__class__ not in (str, list):
            raise UndecidedError
        fuel.spend(len(one) + len(other))
        return one + other

    return add


def _arithmetic(compute: Callable[[Any, Any], Any], *, whole: bool = False) -> Callable[[Evaluate, Evaluate], Evaluate]:
    def build(first: Evaluate, second: Evaluate) -> Evaluate:
        def calculate(values: list[Any]) -> Any:
            one, other = first(values), second(values)
            allowed = (int,) if whole else (int, float)
            if one.__class__ not in allowed or other.__class__ not in allowed or (whole and other == 0):
                raise UndecidedError
            return in_range(compute(one, other))

        return calculate

    return build


def _quotient(one: int, other: int) -> int:
    return abs(one) // abs(other) * (1 if (one < 0) is (other < 0) else -1)


def _negative(operand: Evaluate) -> Evaluate:
    def negate(values: list[Any]) -> Any:
        value = operand(values)
        if value.__class__ not in (int, float):
            raise UndecidedError
        return in_range(-value)

    return negate


def _minus(*operands: Evaluate) -> Evaluate:
    return _negative(*operands) if len(operands) == 1 else _difference(*operands)


_difference = _arithmetic(lambda one, other: one - other)
_FORMS: Final[dict[str, Callable[..., Evaluate]]] = {
    "!": _negated,
    "-": _minus,
    "*": _arithmetic(lambda one, other: one * other),
    "==": _equality,
    "!=": _inequality,
    "<": _comparison(lambda one, other: bool(one < other)),
    "<=": _comparison(lambda one, other: bool(one <= other)),
    ">": _comparison(lambda one, other: bool(one > other)),
    ">=": _comparison(lambda one, other: bool(one >= other)),
    "in": _membership,
}
_DIVISIONS: Final = {
    "/": _arithmetic(_quotient, whole=True),
    "%": _arithmetic(lambda one, other: one - other * _quotient(one, other), whole=True),
}


# --- macros -----------------------------------------------------------------------------------------------------------


def _entries(source: Evaluate) -> Evaluate:
    """Return the entries of a list or the keys of a map."""

    def entries(values: list[Any]) -> Any:
        value = source(values)
        if value.__class__ is list:
            return value
        if value.__class__ is dict:
            return [key for key, inner in value.items() if inner is not None]
        raise UndecidedError

    return entries


def _quantified(decisive: bool) -> Callable[[Fuel, Evaluate, int, Evaluate], Evaluate]:
    """Return `all` (False decides) or `exists` (True does)."""

    def build(fuel: Fuel, entries: Evaluate, slot: int, body: Evaluate) -> Evaluate:
        def bodies(among: list[Any], values: list[Any]) -> Iterator[Evaluate]:
            for entry in among:
                values[slot] = entry
                yield body

        def quantify(values: list[Any]) -> bool:
            among = entries(values)
            fuel.spend(len(among))
            return _decided(decisive, bodies(among, values), values)

        return quantify

    return build


def _kept(fuel: Fuel, entries: Evaluate, slot: int, body: Evaluate) -> Evaluate:
    def keep(values: list[Any]) -> list[Any]:
        kept = []
        among = entries(values)
        fuel.spend(len(among))
        for entry in among:
            values[slot] = entry
            value = body(values)
            if value.__class__ is not bool:
                raise UndecidedError
            if value:
                kept.append(entry)
        return kept

    return keep


def _exactly_one(fuel: Fuel, entries: Evaluate, slot: int, body: Evaluate) -> Evaluate:
    kept = _kept(fuel, entries, slot, body)
    return lambda values: len(kept(values)) == 1


def _mapped(fuel: Fuel, entries: Evaluate, slot: int, body: Evaluate, condition: Evaluate | None = None) -> Evaluate:
    chosen = entries if condition is None else _kept(fuel, entries, slot, condition)

    def transform(values: list[Any]) -> list[Any]:
        results = []
        among = chosen(values)
        fuel.spend(len(among))
        for entry in among:
            values[slot] = entry
            results.append(body(values))
        return results

    return transform


_MACROS: Final[dict[str, Callable[[Fuel, Evaluate, int, Evaluate], Evaluate]]] = {
    "all": _quantified(False),
    "exists": _quantified(True),
    "exists_one": _exactly_one,
    "existsOne": _exactly_one,
    "filter": _kept,
    "map": _mapped,
}


# --- functions --------------------------------------------------------------------------------------------------------


def _measured(operand: Evaluate) -> Evaluate:
    def size(values: list[Any]) -> int:
        value = operand(values)
        kind = value.__class__
        if kind is list or kind is str:
            return len(value)
        if kind is dict:
            return sum(inner is not None for inner in value.values())
        raise UndecidedError

    return size


def _of_text(holds: Callable[[str, str], bool]) -> Callable[[Evaluate, Evaluate], Evaluate]:
    def build(first: Evaluate, second: Evaluate) -> Evaluate:
        def compare(values: list[Any]) -> bool:
            one, other = first(values), second(values)
            if one.__class__ is str and other.__class__ is str:
                return holds(one, other)
            raise UndecidedError

        return compare

    return build


_OF_TEXT: Final = {
    "contains": _of_text(contains),
    "endsWith": _of_text(str.endswith),
    "matches": _of_text(matches),
    "startsWith": _of_text(str.startswith),
}
"""Functions of two texts, which are most of those that rules call."""


def _applied(fuel: Fuel, called: tuple[Callable[..., Any], tuple[type, ...]], functions: list[Evaluate]) -> Evaluate:
    """Return a function of values, whose classes it states, as one of the variables."""
    function, classes = called

    def apply(values: list[Any]) -> Any:
        arguments = [operand(values) for operand in functions]
        for argument, wanted in zip(arguments, classes, strict=True):
            if wanted is not object and argument.__class__ is not wanted:
                raise UndecidedError
            if argument.__class__ is str:
                fuel.spend(len(argument) // 8)
        return function(*arguments)

    return apply
