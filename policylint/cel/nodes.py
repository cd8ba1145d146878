"""What each form of an expression becomes: a function of the values of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from policylint.budget import ExhaustedError
from policylint.cel.functions import (
    Duration,
    FailedError,
    UndecidedError,
    contains,
    in_range,
    known,
    matches,
)
from policylint.model import holds_variable

if TYPE_CHECKING:
    from policylint.cel.syntax import Tree

Evaluate = Callable[[list[Any]], Any]
"""A function of the values of the variables."""


class Fuel:
    """The steps that evaluating may take, about a tenth of a microsecond each; one for all rules of untrusted CRDs.

    Attributes:
        compiled: the rules of the nodes of schemas that it pays for, by the node's identity, with the node.
    """

    __slots__ = ("compiled", "left")

    def __init__(self, steps: float = float("inf")) -> None:
        self.left = steps
        self.compiled: dict[int, tuple[Any, Any]] = {}

    def spend(self, steps: int) -> None:
        """Take steps from those that are left.

        Raises:
            ExhaustedError: there are not so many, now and from now on.
        """
        self.left -= steps
        if self.left < 0:
            raise ExhaustedError


# --- values -----------------------------------------------------------------------------------------------------------


def never_decided(_values: list[Any]) -> Any:
    raise UndecidedError


def constantly(value: Any) -> Evaluate:
    return lambda _values: value


def variable_at(slot: int) -> Evaluate:
    return lambda values: known(values[slot])


def selected(target: Evaluate, name: str, default: Any, fails: bool) -> Evaluate:
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


def field_of_variable(slot: int, name: str, default: Any, fails: bool) -> Evaluate:
    """Return `selected` of a variable: most of what rules do."""

    def select(values: list[Any]) -> Any:
        holder = values[slot]
        if holder.__class__ is not dict:
            raise UndecidedError
        value = holder.get(name)
        if value is None:
            value = default
            if value is None and fails:
                raise FailedError(f"no such key: {name}")
        if value.__class__ is str and "{" not in value and "<" not in value:
            return value
        return known(value)

    return select


def optional(target: Evaluate, name: str, default: Any) -> Evaluate:
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


def presence(target: Evaluate, name: str, defaulted: bool, nullable: bool) -> Evaluate:
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


def presence_in_variable(slot: int, name: str, defaulted: bool) -> Evaluate:
    """Return `presence` of a variable, for a field that cannot be null."""

    def has(values: list[Any]) -> bool:
        holder = values[slot]
        if holder.__class__ is not dict:
            raise UndecidedError
        return defaulted or holder.get(name) is not None

    return has


def indexed(target: Evaluate, place: Evaluate, fails: bool = False) -> Evaluate:
    """Return the entry of a list or map at a place.

    Args:
        fails: whether a key that a map lacks is CEL's own error, since its entries are never null.
    """

    def index(values: list[Any]) -> Any:
        holder, key = target(values), place(values)
        if holder.__class__ is list:
            if key.__class__ is not int:
                raise UndecidedError
            if not 0 <= key < len(holder):
                raise FailedError(f"index out of bounds: {key}")
            return known(holder[key])
        if holder.__class__ is dict and key.__class__ is str:
            if fails and key not in holder:
                raise FailedError(f"no such key: {key}")
            return known(holder.get(key))
        raise UndecidedError

    return index


# --- operators --------------------------------------------------------------------------------------------------------


def _worse(first: UndecidedError | None, second: UndecidedError) -> UndecidedError:
    """Return the error of two that says less: what is not decided may have been anything, CEL's own error is one."""
    return second if first is None or isinstance(first, FailedError) else first


def junction(decisive: bool, operands: list[Evaluate]) -> Evaluate:
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


def branching(parts: list[Evaluate]) -> Evaluate:
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


def constant_of(tree: Tree) -> Any:
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
        return never_decided

    def member(values: list[Any]) -> bool:
        value = operand(values)
        return value.__class__ is str and value in constant

    return member


FIXED: Final = {"==": _equal_to, "in": _one_of}
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


def sum_of(fuel: Fuel, first: Evaluate, second: Evaluate) -> Evaluate:
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
FORMS: Final[dict[str, Callable[..., Evaluate]]] = {
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
DIVISIONS: Final = {
    "/": _arithmetic(_quotient, whole=True),
    "%": _arithmetic(lambda one, other: one - other * _quotient(one, other), whole=True),
}


# --- macros -----------------------------------------------------------------------------------------------------------


def entries_of(source: Evaluate) -> Evaluate:
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


def mapped(fuel: Fuel, entries: Evaluate, slot: int, body: Evaluate, condition: Evaluate | None = None) -> Evaluate:
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


MACROS: Final[dict[str, Callable[[Fuel, Evaluate, int, Evaluate], Evaluate]]] = {
    "all": _quantified(False),
    "exists": _quantified(True),
    "exists_one": _exactly_one,
    "existsOne": _exactly_one,
    "filter": _kept,
    "map": mapped,
}


# --- functions --------------------------------------------------------------------------------------------------------


def measured_size(operand: Evaluate) -> Evaluate:
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


OF_TEXT: Final = {
    "contains": _of_text(contains),
    "endsWith": _of_text(str.endswith),
    "matches": _of_text(matches),
    "startsWith": _of_text(str.startswith),
}
"""Functions of two texts, which are most of those that rules call."""


def applied(fuel: Fuel, called: tuple[Callable[..., Any], tuple[type, ...]], functions: list[Evaluate]) -> Evaluate:
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
