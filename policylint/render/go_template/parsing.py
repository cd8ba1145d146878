"""Texts of Go's text/template as trees: the grammar of its package `parse`."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import isinf
from typing import Any

from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

MAX_NESTING = 40
DELIMITERS = ("{{", "}}")
"""Between which actions stand where nobody says otherwise."""
_TOKEN = Pattern(
    r'(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<raw>`[^`]*`)|(?P<character>\'(?:[^\'\\\n]|\\.)+\')'
    r"|(?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[oObB]?[0-7_]+|[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)(?![\w.]))"
    r"|(?P<variable>\$\w*)|(?P<field>\.[^\W\d]\w*)|(?P<dot>\.)|(?P<word>[^\W\d]\w*)"
    r"|(?P<sign>:=|[=|(),])|(?P<space>\s+)"
)
_ESCAPE = Pattern(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}
_WORDS = frozenset({"if", "with", "range", "end", "else", "define", "template", "block", "break", "continue"})


class TemplateError(Exception):
    """Go refuses a template, or ends it with an error."""


class Literal(NamedTuple):
    """A constant; None for `nil`."""

    value: Any


class Field(NamedTuple):
    """Steps into what `.`, a variable or a pipeline in brackets stands for; `of` is None for `.`."""

    of: Any
    steps: tuple[str, ...]


class Variable(NamedTuple):
    """`$` or `$name`."""

    name: str


class Call(NamedTuple):
    """A function by its name, without arguments as long as it is one itself."""

    name: str


class Pipeline(NamedTuple):
    """Commands, each a list of operands, and the variables that take the last one's value."""

    commands: tuple[tuple[Any, ...], ...]
    variables: tuple[str, ...] = ()
    declares: bool = False


class Action(NamedTuple):
    """What prints something, or sets a variable; and how it is written."""

    pipeline: Pipeline
    written: str


class Control(NamedTuple):
    """`if`, `with` or `range`, with what it holds and what its `else` does."""

    word: str
    pipeline: Pipeline
    body: list[Any]
    otherwise: list[Any]


class TemplateCall(NamedTuple):
    """The run of a named template."""

    name: str
    pipeline: Pipeline | None


class Jump(NamedTuple):
    """`break` or `continue`."""

    word: str


class _Piece(NamedTuple):
    """A plain text, or the tokens of an action."""

    plain: str
    tokens: list[tuple[str, str]] | None
    written: str


def parsed(
    text: str,
    functions: Collection[str],
    defined: dict[str, list[Any]],
    delimiters: tuple[str, str] = DELIMITERS,
) -> list[Any]:
    """Return the nodes of a template; what it defines by name is put into `defined`.

    Raises:
        TemplateError: Go refuses it.
    """
    return _Parser(_pieces(text, delimiters), functions, defined).nodes()


def _pieces(text: str, delimiters: tuple[str, str]) -> list[_Piece]:
    """Split into plain texts and actions, blanks trimmed where dashes say so."""
    pieces: list[_Piece] = []
    at, trim = 0, False
    left, right = delimiters
    while (start := text.find(left, at)) >= 0:
        plain, begin = text[at:start], start + len(left)
        if text[begin : begin + 1] == "-" and text[begin + 1 : begin + 2].isspace():
            plain, begin = plain.rstrip(" \t\r\n"), begin + 1
        pieces.append(_Piece(plain.lstrip(" \t\r\n") if trim else plain, None, plain))
        is_comment = text[begin:].lstrip(" \t\r\n").startswith("/*") and text[begin : begin + 1] in "/ \t\r\n"
        if is_comment:
            end = text.find("*/", begin) + 2
            tokens: list[tuple[str, str]] | None = None
            trim = text[end : end + 1].isspace() and text[end + 1 : end + 2] == "-"
            at = end + 2 * trim
            if end < 2 or not text.startswith(right, at):
                raise TemplateError("a comment does not end")
            at += len(right)
        else:
            tokens, at, trim = _tokens(text, begin, right)
            pieces.append(_Piece("", tokens, text[start:at]))
    rest_of_it = text[at:]
    pieces.append(_Piece(rest_of_it.lstrip(" \t\r\n") if trim else rest_of_it, None, rest_of_it))
    return pieces


def _tokens(text: str, at: int, right: str) -> tuple[list[tuple[str, str]], int, bool]:
    """Return the tokens of an action, where it ends, and whether blanks after it go."""
    tokens: list[tuple[str, str]] = []
    while True:
        if text.startswith(right, at):
            return tokens, at + len(right), False
        if text.startswith(f"-{right}", at) and tokens and tokens[-1][0] == "space":
            return tokens, at + 1 + len(right), True
        match = _TOKEN.match(text, at)
        if match is None:
            raise TemplateError(f"`{text[at : at + 20]}` is no part of an action")
        tokens.append((str(match.lastgroup), match[0]))
        at = match.end()


class _Parser:
    """Reads the pieces of one template."""

    def __init__(self, pieces: list[_Piece], functions: Collection[str], defined: dict[str, list[Any]]) -> None:
        self._pieces = pieces
        self._next = 0
        self._functions = functions
        self._defined = defined
        self._variables = ["$"]
        self._loops = 0
        self._tokens: list[tuple[str, str]] = []
        self._at = 0

    def nodes(self) -> list[Any]:
        made, ended = self._list(0, ())
        assert not ended
        return made

    def _list(self, depth: int, ends: tuple[str, ...]) -> tuple[list[Any], str]:
        """Return the nodes up to one of the words, and that word."""
        if depth > MAX_NESTING:
            raise TemplateError("it is nested too deeply")
        nodes: list[Any] = []
        while self._next < len(self._pieces):
            piece = self._pieces[self._next]
            self._next += 1
            if piece.tokens is None:
                if piece.plain:
                    nodes.append(piece.plain)
                continue
            self._tokens, self._at = piece.tokens, 0
            word = self._word()
            if word in ("end", "else"):
                if word not in ends:
                    raise TemplateError(f"`{word}` has no beginning")
                if word == "end":
                    self._finish()
                return nodes, word
            if word in ("if", "with", "range"):
                nodes.append(self._block(depth, word))
            elif word in ("define", "block"):
                nodes += self._definition(depth, word)
            elif word == "template":
                nodes.append(TemplateCall(self._constant(), self._pipeline("a template") if self._peek() else None))
            elif word in ("break", "continue"):
                if not self._loops:
                    raise TemplateError(f"`{word}` outside of a range")
                self._finish()
                nodes.append(Jump(word))
            else:
                nodes.append(Action(self._pipeline("an action"), piece.written))
        if ends:
            raise TemplateError("a block does not end")
        return nodes, ""

    def _word(self) -> str:
        """Take the keyword that an action begins with; "" where it begins with none."""
        kind, written = self._peek() or ("", "")
        if kind == "word" and written in _WORDS:
            self._take()
            return written
        return ""

    def _block(self, depth: int, word: str) -> Control:
        known = len(self._variables)
        pipeline = self._pipeline(word, is_range=word == "range")
        self._loops += word == "range"
        body, ended = self._list(depth + 1, ("end", "else"))
        self._loops -= word == "range"
        otherwise: list[Any] = []
        if ended == "else":
            inner = self._word()
            if inner and inner == word != "range":
                otherwise = [self._block(depth + 1, inner)]
            elif inner:
                raise TemplateError(f"`else {inner}`")
            else:
                self._finish()
                otherwise, ended = self._list(depth + 1, ("end",))
        del self._variables[known:]
        return Control(word, pipeline, body, otherwise)

    def _definition(self, depth: int, word: str) -> list[Any]:
        name = self._constant()
        pipeline = self._pipeline(word) if word == "block" else None
        self._finish()
        known, self._variables = self._variables, ["$"]
        loops, self._loops = self._loops, 0
        body, _ = self._list(depth + 1, ("end",))
        self._variables, self._loops = known, loops
        if any(not isinstance(node, str) or node.strip() for node in body) or name not in self._defined:
            self._defined[name] = body
        return [] if pipeline is None else [TemplateCall(name, pipeline)]

    def _constant(self) -> str:
        kind, written = self._take()
        if kind not in ("text", "raw"):
            raise TemplateError("a name of a template must be a text")
        return str(_unquoted(kind, written))

    def _pipeline(self, what: str, *, is_range: bool = False) -> Pipeline:
        variables, declares = self._declared(is_range=is_range)
        pipeline = self._commands(what, 0)
        self._finish()
        return pipeline._replace(variables=variables, declares=declares)

    def _declared(self, *, is_range: bool) -> tuple[tuple[str, ...], bool]:
        """Take the variables that a pipeline begins with setting."""
        rest = [token for token in self._tokens[self._at :] if token[0] != "space"]
        kinds = [written if kind == "sign" else kind for kind, written in rest[:4]]
        several = is_range and kinds[:3] == ["variable", ",", "variable"] and kinds[3:] in ([":="], ["="])
        if not (several or (kinds[:1] == ["variable"] and kinds[1:2] in ([":="], ["="]))):
            return (), False
        names = tuple(written for kind, written in rest[: 3 if several else 1] if kind == "variable")
        sign = ""
        while sign not in (":=", "="):
            sign = self._take()[1]
        if sign == ":=":
            self._variables += names
        elif unknown := next((name for name in names if name not in self._variables), ""):
            raise TemplateError(f"undefined variable {unknown}")
        return names, sign == ":="

    def _commands(self, what: str, depth: int) -> Pipeline:
        if depth > MAX_NESTING:
            raise TemplateError("it is nested too deeply")
        commands: list[tuple[Any, ...]] = [()]
        while (token := self._peek()) is not None and token[1] != ")":
            if token == ("sign", "|"):
                self._take()
                commands.append(())
                continue
            commands[-1] = (*commands[-1], self._operand(depth))
            following = self._tokens[self._at] if self._at < len(self._tokens) else ("space", "")
            if following[0] != "space" and following[1] not in ("|", ")"):
                raise TemplateError(f"unexpected `{following[1]}`")
        if not all(commands):
            raise TemplateError(f"{what} without a value")
        if any(command[0] == Literal(None) for command in commands):
            raise TemplateError("nil is not a command")
        if any(isinstance(command[0], Literal) for command in commands[1:]):
            raise TemplateError("a constant cannot take what is piped into it")
        return Pipeline(tuple(commands))

    def _operand(self, depth: int) -> Any:
        kind, written = self._take()
        made: Any
        if kind == "word" and written not in ("true", "false", "nil"):
            if written in _WORDS or written not in self._functions:
                raise TemplateError(f"function {written!r} not defined")
            made = Call(written)
        elif kind in ("text", "raw", "character", "number", "word"):
            return Literal(_unquoted(kind, written))
        elif kind == "variable":
            if written not in self._variables:
                raise TemplateError(f"undefined variable {written}")
            made = Variable(written)
        elif kind == "field":
            made = Field(None, (written[1:],))
        elif kind == "dot":
            made = Field(None, ())
        elif written == "(":
            made = self._commands("brackets", depth + 1)
            if self._peek() is None or self._take()[1] != ")":
                raise TemplateError("brackets do not close")
        else:
            raise TemplateError(f"unexpected `{written}`")
        steps: tuple[str, ...] = ()
        while self._at < len(self._tokens) and self._tokens[self._at][0] == "field" and kind != "dot":
            steps = (*steps, self._tokens[self._at][1][1:])
            self._at += 1
        if not steps:
            return made
        return Field(made.of, made.steps + steps) if isinstance(made, Field) else Field(made, steps)

    def _peek(self) -> tuple[str, str] | None:
        while self._at < len(self._tokens) and self._tokens[self._at][0] == "space":
            self._at += 1
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> tuple[str, str]:
        token = self._peek()
        if token is None:
            raise TemplateError("an action ends too early")
        self._at += 1
        return token

    def _finish(self) -> None:
        token = self._peek()
        if token is not None:
            raise TemplateError(f"unexpected `{token[1]}`")


def _unquoted(kind: str, written: str) -> Any:
    """Return the value of a constant."""
    if kind == "raw":
        return written[1:-1].replace("\r", "")
    if kind == "text":
        return _ESCAPE.sub(_character, written[1:-1])
    if kind == "character":
        plain = _ESCAPE.sub(_character, written[1:-1])
        if len(plain) != 1:
            raise TemplateError(f"malformed character {written}")
        return ord(plain)
    if kind == "word":
        return {"true": True, "false": False, "nil": None}[written]
    digits = written.replace("_", "")
    is_octal = digits.lstrip("+-").startswith("0") and digits.lstrip("+-").isdigit()
    try:
        whole = int(digits, 8 if is_octal else 0)
    except ValueError:  # a fraction, or more digits than Python reads
        number = float(digits)
        if isinf(number):
            raise TemplateError(f"{written[:20]} does not fit") from None
        return int(number) if number.is_integer() and abs(number) < 2**63 else number
    if not -(2**63) <= whole < 2**63:
        raise TemplateError(f"{written[:20]} overflows int")
    return whole


def _character(match: re.Match[str]) -> str:
    code, octal, plain = match[1] or match[2] or match[3], match[4], match[5]
    if code or octal:
        value = int(code, 16) if code else int(octal, 8)
        if value > 0x10FFFF:
            raise TemplateError(f"`{match[0]}` is no character")
        return chr(value)
    if plain not in _ESCAPED:
        raise TemplateError(f"`{match[0]}` is no escape")
    return _ESCAPED[plain]
