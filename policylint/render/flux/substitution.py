"""`${VAR}` as Flux's postBuild fills it in: what nothing defines stays as it is written, a symbolic text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.budget import Budget
from policylint.documents.scalars import PLAIN
from policylint.patterns import Pattern

_NAME = Pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = Pattern(r"^[\s\-?:,\[\]{}#&*!|>'\"%@`]|: |:$| #|\s$|\n")
DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
MAX_NESTING = 20


def substitute(text: str, variables: Mapping[str, str], budget: Budget, depth: int = 0) -> str:
    """Return the text with every variable that has a value, or a default, replaced by it; `$${A}` becomes `${A}`.

    Forms with an operation on the value (`${A/x/y}`, `${A^^}`) stay as they are: what they make is not known.

    Raises:
        ExhaustedError: it grows longer than the budget allows.
    """
    if "${" not in text:
        return text
    parts: list[str] = []
    at = 0
    while depth <= MAX_NESTING and (start := text.find("${", at)) >= 0:
        end = _closing(text, start)
        if start > at and text[start - 1] == "$":
            parts += [text[at : start - 1], text[start:end]]
        else:
            parts += [text[at:start], _value(text[start:end], variables, budget, depth)]
        budget.spend_on_text(len(parts[-1]) + end - at)
        at = end
    return "".join((*parts, text[at:])) if parts else text


def _closing(text: str, start: int) -> int:
    """Return the index behind the brace that closes the one of `${` at `start`; the end of the text if none does."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def _value(expression: str, variables: Mapping[str, str], budget: Budget, depth: int) -> str:
    """Return what one `${…}` becomes."""
    inner = expression[2:-1]
    name = _NAME.match(inner)
    if name is None or not expression.endswith("}"):
        return expression
    rest = inner[name.end() :]
    value = variables.get(name[0])
    if not rest:
        return expression if value is None else value
    for operator in (":=", ":-", "=", "-"):
        if rest.startswith(operator):
            if value is not None and (value or operator[0] != ":"):
                return value
            return substitute(rest[len(operator) :], variables, budget, depth + 1)
    return expression


def _asks(value: Any) -> bool:
    """Return whether any text or key of a value may name a variable; most have none."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            if "${" in part:
                return True
        elif isinstance(part, dict):
            rest += part
            rest += part.values()
        elif isinstance(part, list):
            rest += part
    return False


def filled_in(value: Any, variables: Mapping[str, str], budget: Budget) -> Any:
    """Return a value with its texts and keys filled in; the same object where nothing changed.

    Flux fills in the text of the manifest, from which quotes have gone by then, so that a text that has become a number
    or a boolean is one.

    Raises:
        ExhaustedError: as `substitute`.
    """
    if not _asks(value):
        return value
    if isinstance(value, str):
        text = substitute(value, variables, budget)
        if text == value:
            return value
        return text if _QUOTED.search(value) or _QUOTED.search(text) else PLAIN[text]
    if isinstance(value, dict):
        changed = {
            substitute(name, variables, budget): filled_in(inner, variables, budget) for name, inner in value.items()
        }
        is_same = len(changed) == len(value) and all(
            new_name is name and new is inner
            for (new_name, new), (name, inner) in zip(changed.items(), value.items(), strict=True)
        )
        return value if is_same else changed
    if isinstance(value, list):
        items = [filled_in(item, variables, budget) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
