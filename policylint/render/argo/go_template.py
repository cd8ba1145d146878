"""Go templates, as far as their result is certain: fields, pipelines of well-known functions, if, with and range.

ApplicationSets are written in them (`goTemplate: true`), and in a simpler form without leading dots. What this does not
know stays as it is written, symbolic; a whole template whose course is not certain is refused.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_TOKEN = Pattern(r'"(?:[^"\\]|\\.)*"|`[^`]*`|\(|\)|\||[^\s()|"`]+')
_PATH = Pattern(r"^\$?\.?[A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\]|\[[\"'][^\"']+[\"']\])*$|^\.$|^\$$")
_STEP = Pattern(r"[^.\[\]\"'$]+")
_NUMBER = Pattern(r"-?[0-9]{1,18}")
MAX_LENGTH = 200_000
MAX_NESTING = 40


class UncertainError(Exception):
    """What a template makes is not known here."""


class _Missing:
    """A field that the parameters do not have: false in a condition, and unknown as a text."""


MISSING = _Missing()


class Strict(dict[str, Any]):
    """Parameters of a template that ends where one is not there (`missingkey=error`)."""


def filled_in(text: str, parameters: Mapping[str, Any], budget: Budget) -> str:
    """Return the text with what is certain filled in.

    Raises:
        UncertainError: a condition, or what is ranged over, is not known; blocks do not close; or it grows too long.
        ExhaustedError: it takes more work than the budget allows.
    """
    if "{{" not in text:
        return text
    budget.spend(len(text))
    nodes, rest = _parsed(_pieces(text), 0, ())
    if rest is not None:
        raise UncertainError(f"`{rest}` has no beginning")
    made = _run(nodes, parameters, parameters, budget)
    if len(made) > MAX_LENGTH:
        raise UncertainError("it grows too long")
    return made


class _Block(NamedTuple):
    """`if`, `with` or `range`, with what it holds and what its `else` does."""

    word: str
    expression: str
    body: list[Any]
    otherwise: list[Any]


class _Field(NamedTuple):
    """An action that prints something, and how it is written."""

    expression: str
    written: str


def _pieces(text: str) -> deque[tuple[str, str]]:
    """Split into plain texts (with an empty action) and actions (inside, as written), trimmed as the dashes say."""
    pieces: deque[tuple[str, str]] = deque()
    at = 0
    trim = False
    while (start := text.find("{{", at)) >= 0 and (end := text.find("}}", start + 2)) >= 0:
        plain, inside = text[at:start], text[start + 2 : end]
        if inside.startswith("-"):
            plain, inside = plain.rstrip(), inside[1:]
        pieces.append(("", plain.lstrip() if trim else plain))
        trim = inside.endswith("-")
        at = end + 2
        pieces.append((inside.removesuffix("-").strip(), text[start:at]))
    pieces.append(("", text[at:].lstrip() if trim else text[at:]))
    return pieces


def _parsed(pieces: deque[tuple[str, str]], depth: int, words: tuple[str, ...]) -> tuple[list[Any], str | None]:
    """Return the nodes up to an action that begins with one of the words, which is taken off, and that action."""
    if depth > MAX_NESTING:
        raise UncertainError("it is nested too deeply")
    nodes: list[Any] = []
    while pieces:
        inside, written = pieces.popleft()
        word, _, expression = inside.partition(" ")
        if not inside:
            if written.startswith("{{"):
                raise UncertainError("an empty action")
            nodes.append(written)
        elif inside.startswith("/*"):
            continue
        elif word in ("end", "else"):
            if word not in words:
                raise UncertainError(f"`{inside}` has no beginning")
            return nodes, inside
        elif word in ("if", "with", "range"):
            nodes.append(_block(pieces, depth, word, expression))
        elif word in ("define", "template", "block", "break", "continue") or ":=" in inside:
            raise UncertainError(f"`{inside}`")
        else:
            nodes.append(_Field(inside, written))
    if words:
        raise UncertainError("a block does not end")
    return nodes, None


def _block(pieces: deque[tuple[str, str]], depth: int, word: str, expression: str) -> _Block:
    body, ended = _parsed(pieces, depth + 1, ("end", "else"))
    otherwise: list[Any] = []
    if ended is not None and ended != "end":
        rest = ended.removeprefix("else").strip()
        if rest.startswith("if "):
            otherwise = [_block(pieces, depth + 1, "if", rest[3:])]
        elif rest:
            raise UncertainError(f"`{ended}`")
        else:
            otherwise, _ = _parsed(pieces, depth + 1, ("end",))
    return _Block(word, expression, body, otherwise)


def _run(nodes: list[Any], dot: Any, top: Mapping[str, Any], budget: Budget) -> str:
    """Return what nodes print where `.` is `dot` and `$` is `top`."""
    printed = []
    budget.spend(1)
    for node in nodes:
        budget.spend(1)
        if isinstance(node, str):
            budget.spend_on_text(len(node))
            printed.append(node)
        elif isinstance(node, _Field):
            printed.append(_printed(node, dot, top, budget))
            budget.spend_on_text(len(printed[-1]))
        else:
            value = _value(node.expression, dot, top, budget)
            if node.word == "range" and isinstance(value, (list, dict)) and value:
                for item in value if isinstance(value, list) else [value[key] for key in sorted(value)]:
                    printed.append(_run(node.body, item, top, budget))
            elif node.word == "range" and not isinstance(value, (list, dict, _Missing)) and value is not None:
                raise UncertainError(f"`range {node.expression}`")
            elif _is_true(value):
                printed.append(_run(node.body, value if node.word == "with" else dot, top, budget))
            else:
                printed.append(_run(node.otherwise, dot, top, budget))
    return "".join(printed)


def _printed(node: _Field, dot: Any, top: Mapping[str, Any], budget: Budget) -> str:
    """Return what an action prints; as it is written where that is not certain."""
    try:
        value = _value(node.expression, dot, top, budget)
    except UncertainError:
        return node.written
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else node.written


def _value(expression: str, dot: Any, top: Mapping[str, Any], budget: Budget) -> Any:
    budget.spend((3 + expression.count('"')) * (1 + len(expression) // 16))
    tokens = deque(_TOKEN.findall(expression))
    value = _pipeline(tokens, dot, top, budget, 0)
    if tokens:
        raise UncertainError(f"`{expression}`")
    return value


def _pipeline(tokens: deque[str], dot: Any, top: Mapping[str, Any], budget: Budget, depth: int) -> Any:
    """Run commands, each given the value of the one before it as its last argument."""
    if depth > MAX_NESTING:
        raise UncertainError("it is nested too deeply")
    previous: list[Any] = []
    while True:
        arguments: list[Any] = []
        name = ""
        while tokens and tokens[0] not in ("|", ")"):
            token = tokens.popleft()
            if token == "(":
                arguments.append(_pipeline(tokens, dot, top, budget, depth + 1))
                if not tokens or tokens.popleft() != ")":
                    raise UncertainError("brackets do not close")
            elif not name and not arguments and token in _FUNCTIONS:
                name = token
            else:
                arguments.append(_operand(token, dot, top))
        previous = [_called(name, [*arguments, *previous], budget)]
        if not tokens or tokens[0] == ")":
            return previous[0]
        tokens.popleft()


def _called(name: str, arguments: list[Any], budget: Budget) -> Any:
    if not name:
        if len(arguments) != 1:
            raise UncertainError("not a function that is known here")
        return arguments[0]
    if MISSING in arguments and name not in ("default", "not", "and", "or", "hasKey"):
        raise UncertainError(f"`{name}` of a field that is not there")
    budget.spend(sum(size_of(argument)[0] for argument in arguments))
    try:
        value = _FUNCTIONS[name](*arguments)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        raise UncertainError(f"`{name}`: {error}") from None
    if isinstance(value, str) and len(value) > MAX_LENGTH:
        raise UncertainError("it grows too long")
    return value


def _operand(token: str, dot: Any, top: Mapping[str, Any]) -> Any:
    if token[0] == '"':
        try:
            return json.loads(token)
        except ValueError:
            raise UncertainError(f"`{token}`") from None
    if token[0] == "`":
        return token[1:-1]
    if _NUMBER.fullmatch(token):
        return int(token)
    if token in ("true", "false"):
        return token == "true"
    if not _PATH.match(token):
        raise UncertainError(f"`{token}`")
    value = lookup(dot if token[0] == "." else top, token)
    if value is MISSING and isinstance(top, Strict):
        raise UncertainError(f"`{token}` is not there")
    return value


def lookup(parameters: Any, path: str) -> Any:
    """Return what `.path.basename`, `path[1]`, `metadata.labels.env` names, or a key that holds the dots itself."""
    plain = path.lstrip("$.")
    if isinstance(parameters, dict) and plain in parameters and not isinstance(parameters[plain], dict):
        return parameters[plain]
    value: Any = parameters
    for step in _STEP.findall(plain):
        is_index = _NUMBER.fullmatch(step) is not None and step[0] != "-"
        if isinstance(value, dict):
            value = value["segments"] if is_index and "segments" in value else value.get(step, MISSING)
        elif not (isinstance(value, list) and is_index):
            return MISSING
        if isinstance(value, list) and is_index:
            value = value[int(step)] if int(step) < len(value) else MISSING
    # Without Go templates, `path` itself is the directory.
    return value["path"] if not path.startswith(".") and isinstance(value, dict) and "segments" in value else value


def _is_true(value: Any) -> bool:
    return not isinstance(value, _Missing) and bool(value)


def _index(value: Any, *steps: Any) -> Any:
    for step in steps:
        value = value[step] if isinstance(value, list) else value.get(step, MISSING)
    return value


def _default(fallback: Any, value: Any = MISSING) -> Any:
    return value if _is_true(value) else fallback


def _and(*values: Any) -> Any:
    return next((value for value in values if not _is_true(value)), values[-1])


def _or(*values: Any) -> Any:
    return next((value for value in values if _is_true(value)), values[-1])


def _indent(count: int, value: str) -> str:
    if count * (value.count("\n") + 1) > MAX_LENGTH:
        raise UncertainError("it grows too long")
    return " " * count + value.replace("\n", "\n" + " " * count)


def _replaced(old: str, new: str, value: str) -> str:
    if value.count(old) * len(new) > MAX_LENGTH:
        raise UncertainError("it grows too long")
    return value.replace(old, new)


def normalized(value: str) -> str:
    return re.sub(r"[^a-z0-9.-]", "-", value.lower())[:253].strip("-.")


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "eq": lambda value, *others: any(value == other for other in others),
    "ne": lambda value, other: value != other,
    "not": lambda value: not _is_true(value),
    "and": _and,
    "or": _or,
    "hasKey": lambda value, key: isinstance(value, dict) and key in value,
    "index": _index,
    "default": _default,
    "toYaml": json.dumps,  # JSON is YAML, and needs no indentation
    "toJson": lambda value: json.dumps(value, separators=(",", ":"), sort_keys=True),
    "nindent": lambda count, value: "\n" + _indent(count, value),
    "indent": _indent,
    "quote": lambda value: json.dumps(str(value)),
    "squote": lambda value: f"'{value}'",
    "lower": lambda value: value.lower(),
    "upper": lambda value: value.upper(),
    "trim": lambda value: value.strip(),
    "trimPrefix": lambda prefix, value: value.removeprefix(prefix),
    "trimSuffix": lambda suffix, value: value.removesuffix(suffix),
    "replace": _replaced,
    "contains": lambda part, value: part in value,
    "hasPrefix": lambda prefix, value: value.startswith(prefix),
    "hasSuffix": lambda suffix, value: value.endswith(suffix),
    "toString": str,
    "normalize": normalized,
}
