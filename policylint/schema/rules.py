"""The rules in CEL that schemas state (`x-kubernetes-validations`), judged with three answers.

Source: Kubernetes, «Extend the Kubernetes API with CustomResourceDefinitions: validation rules». A rule about the
change of a value (`oldSelf`) holds for one that is new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.cel.evaluation import Program, are_broken
from policylint.cel.functions import FailedError
from policylint.cel.nodes import Fuel
from policylint.documents import Pointer
from policylint.model import mapping, sequence, text

RULES = "x-kubernetes-validations"
_LONGEST = 20_000
"""Characters of a rule, beyond which it is not read."""
_LONGEST_MESSAGE = 300


class ValidationRule:
    """One rule of one node of a schema.

    Attributes:
        expression: what must not be False of a valid value; None where the text is no expression.
    """

    __slots__ = ("_fuel", "_schema", "_stated", "expression")

    def __init__(self, stated: Mapping[str, Any], schema: Mapping[str, Any], fuel: Fuel) -> None:
        self._stated = stated
        self._schema = schema
        self._fuel = fuel
        self.expression = self._compiled("rule")

    def message(self, value: Any) -> str:
        """Return what the API server says of a value that breaks the rule."""
        result = self.expression.value(value) if self.expression is not None else None
        if result.__class__ is FailedError:
            return _shortened(f"{result} evaluating rule: {self._stated_message()}")
        expression = self._compiled("messageExpression")
        made = None if expression is None else expression.value(value)
        if isinstance(made, str) and made.strip() and "\n" not in made:
            return _shortened(made)
        return _shortened(self._stated_message())

    def _stated_message(self) -> str:
        return text(self._stated.get("message")) or f"failed rule: {text(self._stated.get('rule'))}"

    def place(self) -> Pointer:
        """Return the field below the value that the rule blames, as far as `fieldPath` is a plain path."""
        names = text(self._stated.get("fieldPath")).removeprefix(".").split(".")
        return tuple(names) if all(name.isidentifier() for name in names) else ()

    def reads(self) -> frozenset[str]:
        """Return the fields of the value that the rule reads by name."""
        return frozenset(_fields(_tree(self._stated.get("rule"))))

    def _compiled(self, name: str) -> Program | None:
        stated = _tree(self._stated.get(name))
        return None if stated is None else Program(stated, self._schema, self._fuel)


def _tree(stated: Any) -> Any:
    """Return an expression as a tree: of a shipped schema it is one, of a CRD of the input text; None if it is none."""
    if isinstance(stated, str):
        from policylint.cel.syntax import tree

        return tree(stated) if len(stated) <= _LONGEST else None
    return stated if isinstance(stated, (list, tuple)) else None


def _fields(expression: Any) -> Iterator[str]:
    """Yield the names in `self.NAME`, wherever they stand in an expression."""
    pending = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            if len(part) > 2 and part[0] in (".", ".?") and part[1] == "self":
                yield str(part[2])
            pending += part[1:]


def rules_of(schema: Mapping[str, Any], fuel: Fuel) -> list[ValidationRule]:
    """Return the rules of a node of a schema, their expressions compiled."""
    if RULES not in schema:
        return []
    known = fuel.compiled.get(id(schema))
    rules: list[ValidationRule]
    if known is not None:
        rules = known[1]
    else:
        rules = [ValidationRule(mapping(stated), schema, fuel) for stated in sequence(schema[RULES])]
        fuel.compiled[id(schema)] = (schema, rules)  # the schema is kept, so that its id is
    return rules


def broken_rules(
    schema: Mapping[str, Any], value: Any, fuel: Fuel, undecided: Collection[Pointer] = (), at: Pointer = ()
) -> Iterator[tuple[Pointer, str, Any, frozenset[str]]]:
    """Yield, for each rule that a valid value breaks, place, message, value and what it reads; inner ones first.

    Args:
        undecided: the values whose own rules are left out; what is in them and around them is judged.
    """
    if isinstance(value, dict):
        properties, extra = mapping(schema.get("properties")), mapping(schema.get("additionalProperties"))
        for name, inner in value.items():
            if inner is not None:
                yield from broken_rules(mapping(properties.get(name, extra)), inner, fuel, undecided, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from broken_rules(mapping(schema.get("items")), inner, fuel, undecided, (*at, index))
    for rule in () if at in undecided else rules_of(schema, fuel):
        if are_broken((rule.expression,), value):
            place = (*at, *rule.place())
            yield place, rule.message(value), value, rule.reads()


def _shortened(message: str) -> str:
    message = " ".join(message.split())
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"
