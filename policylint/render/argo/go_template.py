"""Go templates, as far as their result is certain: fields, pipelines of well-known functions, if, with and range.

ApplicationSets are written in them (`goTemplate: true`), and in a simpler form without leading dots. What this does not
know stays as it is written, symbolic; a whole template whose course is not certain is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_ACTION = re.compile(r"(?P<before>\s*)\{\{(?P<left>-)?\s*(?P<inside>.*?)\s*(?P<right>-(?=\}\}))?\}\}", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|\(|\)|\||[^\s()|"`]+')
_PATH = re.compile(r"^\$?\.?[A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\]|\[[\"'][^\"']+[\"']\])*$|^\.$|^\$$")
_STEP = re.compile(r"[^.\[\]\"'$]+")
_NUMBER = re.compile(r"^-?\d+$")
MAX_LENGTH = 200_000
MAX_NESTING = 40


class UncertainError(Exception):
    """What a template makes is not known here."""


class _Missing:
    """A field that the parameters do not have: false in a condition, and unknown as a text."""


MISSING = _Missing()


def filled_in(text: str, parameters: Mapping[str, Any]) -> str:
    """The text with what is certain filled in.

    Raises:
        UncertainError: a condition, or what is ranged over, is not known; or blocks do not close.
    """
    if "{{" not in text:
        return text
    nodes, rest = _parsed(_pieces(text), 0, ())
    if rest is not None:
        raise UncertainError(f"`{rest}` has no beginning")
    made = _run(nodes, parameters, parameters)
    if len(made) > MAX_LENGTH:
        raise UncertainError("it grows too long")
    return made


class _Block:
    """`if`, `with` or `range`, with what it holds and what its `else` does."""

    __slots__ = ("body", "expression", "otherwise", "word")

    def __init__(self, word: str, expression: str, body: list[Any], otherwise: list[Any]) -> None:
        self.word = word
        self.expression = expression
        self.body = body
        self.otherwise = otherwise


class _Field:
    """An action that prints something, and how it is written."""

    __slots__ = ("expression", "written")

    def __init__(self, expression: str, written: str) -> None:
        self.expression = expression
        self.written = written


def _pieces(text: str) -> list[tuple[str, str]]:
    """Plain texts (with an empty action) and actions (inside, as written), white space trimmed as the dashes say."""
    found: list[tuple[str, str]] = []
    at = 0
    trim = False
    for match in _ACTION.finditer(text):
        plain = text[at : match.start()] + ("" if match["left"] else match["before"])
        found.append(("", plain.lstrip() if trim else plain))
        if trim and not match["left"] and not text[at : match.start()].strip():
            found[-1] = ("", "")
        found.append((match["inside"], match[0][len(match["before"]) :]))
        at, trim = match.end(), bool(match["right"])
    found.append(("", text[at:].lstrip() if trim else text[at:]))
    return found


def _parsed(pieces: list[tuple[str, str]], depth: int, words: tuple[str, ...]) -> tuple[list[Any], str | None]:
    """The nodes up to an action that begins with one of the words, which is taken off, and that action."""
    if depth > MAX_NESTING:
        raise UncertainError("it is nested too deeply")
    nodes: list[Any] = []
    while pieces:
        inside, written = pieces.pop(0)
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


def _block(pieces: list[tuple[str, str]], depth: int, word: str, expression: str) -> _Block:
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


def _run(nodes: list[Any], here: Any, top: Mapping[str, Any]) -> str:
    made = []
    for node in nodes:
        if isinstance(node, str):
            made.append(node)
        elif isinstance(node, _Field):
            made.append(_printed(node, here, top))
        else:
            value = _value(node.expression, here, top)
            if node.word == "range" and isinstance(value, (list, dict)) and value:
                for each in value if isinstance(value, list) else [value[key] for key in sorted(value)]:
                    made.append(_run(node.body, each, top))
            elif node.word == "range" and not isinstance(value, (list, dict, _Missing)) and value is not None:
                raise UncertainError(f"`range {node.expression}`")
            elif _is_true(value):
                made.append(_run(node.body, value if node.word == "with" else here, top))
            else:
                made.append(_run(node.otherwise, here, top))
    return "".join(made)


def _printed(node: _Field, here: Any, top: Mapping[str, Any]) -> str:
    """What an action prints; as it is written where that is not certain."""
    try:
        value = _value(node.expression, here, top)
    except UncertainError:
        return node.written
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else node.written


def _value(expression: str, here: Any, top: Mapping[str, Any]) -> Any:
    tokens = _TOKEN.findall(expression)
    value = _pipeline(tokens, here, top)
    if tokens:
        raise UncertainError(f"`{expression}`")
    return value


def _pipeline(tokens: list[str], here: Any, top: Mapping[str, Any]) -> Any:
    """Commands, each given the value of the one before it as its last argument."""
    value: Any = None
    first = True
    while True:
        arguments: list[Any] = []
        name = ""
        while tokens and tokens[0] not in ("|", ")"):
            token = tokens.pop(0)
            if token == "(":
                arguments.append(_pipeline(tokens, here, top))
                if not tokens or tokens.pop(0) != ")":
                    raise UncertainError("brackets do not close")
            elif not name and not arguments and token in _FUNCTIONS:
                name = token
            else:
                arguments.append(_operand(token, here, top))
        if not first:
            arguments.append(value)
        value = _called(name, arguments)
        first = False
        if not tokens or tokens[0] == ")":
            return value
        tokens.pop(0)


def _called(name: str, arguments: list[Any]) -> Any:
    if not name:
        if len(arguments) != 1:
            raise UncertainError("not a function that is known here")
        return arguments[0]
    if any(isinstance(each, _Missing) for each in arguments) and name not in ("default", "not", "and", "or", "hasKey"):
        raise UncertainError(f"`{name}` of a field that is not there")
    try:
        return _FUNCTIONS[name](*arguments)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        raise UncertainError(f"`{name}`: {error}") from None


def _operand(token: str, here: Any, top: Mapping[str, Any]) -> Any:
    if token[0] == '"':
        return json.loads(token)
    if token[0] == "`":
        return token[1:-1]
    if _NUMBER.match(token):
        return int(token)
    if token in ("true", "false"):
        return token == "true"
    if not _PATH.match(token):
        raise UncertainError(f"`{token}`")
    return lookup(top if token[0] in "$" or token[0] != "." else here, token)


def lookup(parameters: Any, path: str) -> Any:
    """`.path.basename`, `path[1]`, `metadata.labels.env`, or a key that holds the dots itself."""
    plain = path.lstrip("$.")
    if isinstance(parameters, dict) and plain in parameters and not isinstance(parameters[plain], dict):
        return parameters[plain]
    here: Any = parameters
    for step in _STEP.findall(plain):
        if isinstance(here, dict):
            here = here["segments"] if step.isdigit() and "segments" in here else here.get(step, MISSING)
        elif not (isinstance(here, list) and step.isdigit()):
            return MISSING
        if isinstance(here, list) and step.isdigit():
            here = here[int(step)] if int(step) < len(here) else MISSING
    # Without Go templates, `path` itself is the directory.
    return here["path"] if not path.startswith(".") and isinstance(here, dict) and "segments" in here else here


def _is_true(value: Any) -> bool:
    return not isinstance(value, _Missing) and bool(value)


def _as_yaml(value: Any) -> str:
    return json.dumps(value)  # JSON is YAML, and needs no indentation


def _index(value: Any, *steps: Any) -> Any:
    for step in steps:
        value = value[step] if isinstance(value, list) else value.get(step, MISSING)
    return value


def _default(fallback: Any, value: Any = MISSING) -> Any:
    return value if _is_true(value) else fallback


def _and(*values: Any) -> Any:
    return next((each for each in values if not _is_true(each)), values[-1])


def _or(*values: Any) -> Any:
    return next((each for each in values if _is_true(each)), values[-1])


def _normalized(value: str) -> str:
    return re.sub(r"[^a-z0-9.-]", "-", value.lower())[:253].strip("-.")


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "eq": lambda one, *others: any(one == each for each in others),
    "ne": lambda one, other: one != other,
    "not": lambda value: not _is_true(value),
    "and": _and,
    "or": _or,
    "hasKey": lambda value, key: isinstance(value, dict) and key in value,
    "index": _index,
    "default": _default,
    "toYaml": _as_yaml,
    "toJson": lambda value: json.dumps(value),
    "nindent": lambda count, value: "\n" + " " * count + value.replace("\n", "\n" + " " * count),
    "indent": lambda count, value: " " * count + value.replace("\n", "\n" + " " * count),
    "quote": lambda value: json.dumps(str(value)),
    "squote": lambda value: f"'{value}'",
    "lower": lambda value: value.lower(),
    "upper": lambda value: value.upper(),
    "trim": lambda value: value.strip(),
    "trimPrefix": lambda prefix, value: value.removeprefix(prefix),
    "trimSuffix": lambda suffix, value: value.removesuffix(suffix),
    "replace": lambda old, new, value: value.replace(old, new),
    "contains": lambda part, value: part in value,
    "hasPrefix": lambda prefix, value: value.startswith(prefix),
    "hasSuffix": lambda suffix, value: value.endswith(suffix),
    "toString": str,
    "normalize": _normalized,
}
