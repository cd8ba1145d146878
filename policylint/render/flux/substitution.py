"""`${VAR}` as Flux's postBuild fills it in: what nothing defines stays as it is written, a symbolic text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policylint.documents.scalars import PLAIN

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"^[\s\-?:,\[\]{}#&*!|>'\"%@`]|: |:$| #|\s$|\n")
DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
MAX_NESTING = 20


def substitute(text: str, variables: Mapping[str, str], depth: int = 0) -> str:
    """The text with every variable that has a value, or a default, replaced by it; `$${A}` becomes `${A}`.

    Forms with an operation on the value (`${A/x/y}`, `${A^^}`) stay as they are: what they make is not known.
    """
    if "${" not in text:
        return text
    found: list[str] = []
    at = 0
    while True:
        start = text.find("${", at)
        if start < 0 or depth > MAX_NESTING:
            found.append(text[at:])
            return "".join(found)
        if start > at and text[start - 1] == "$":
            end = _closing(text, start)
            found.append(text[at : start - 1])
            found.append(text[start:end])
            at = end
            continue
        end = _closing(text, start)
        found.append(text[at:start])
        found.append(_value(text[start:end], variables, depth))
        at = end


def _closing(text: str, start: int) -> int:
    """Just behind the brace that closes the one of `${` at `start`; the end of the text if none does."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def _value(expression: str, variables: Mapping[str, str], depth: int) -> str:
    """What one `${…}` becomes."""
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
            return substitute(rest[len(operator) :], variables, depth + 1)
    return expression


def filled_in(value: Any, variables: Mapping[str, str]) -> Any:
    """A value with its texts and keys filled in; the same object where nothing changed.

    Flux fills in the text of the manifest, from which quotes have gone by then, so that a text that has become a number
    or a boolean is one.
    """
    if isinstance(value, str):
        if "${" not in value:
            return value
        text = substitute(value, variables)
        if text == value or _QUOTED.search(value):
            return value if text == value else text
        return text if _QUOTED.search(text) else PLAIN[text]
    if isinstance(value, dict):
        changed: dict[str, Any] | None = None
        for name, each in value.items():
            new = filled_in(each, variables) if isinstance(each, (str, dict, list)) else each
            key = substitute(name, variables)
            if (new is not each or key is not name) and changed is None:
                changed = {}
                for earlier, kept in value.items():
                    if earlier == name:
                        break
                    changed[earlier] = kept
            if changed is not None:
                changed[key] = new
        return value if changed is None else changed
    if isinstance(value, list):
        items = [filled_in(each, variables) if isinstance(each, (str, dict, list)) else each for each in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
