"""Texts of the Common Expression Language as trees: the grammar alone, no names, no types.

https://github.com/google/cel-spec/blob/master/doc/langdef.md «Syntax». A tree is made of what JSON can hold, so that
those of shipped rules are stored: a name is a text, everything else a list whose first entry says what it is.

* `["=", value]`: a constant
* `["||", a, b, …]`, `["&&", a, b, …]`, `["!", a]`, `["-", a]`, `["+", a, b]` and the other binary operators
* `["?", condition, a, b]`
* `[".", a, field]`, `[".?", a, field]`, `["[]", a, index]`
* `["f", name, target, argument, …]`: a call, with target None for one of a global function
* `["list", a, …]`, `["map", key, value, …]`
* `["unknown"]`: null, bytes, messages, optional entries, which nothing here evaluates
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from policylint.patterns import Pattern

Tree = Any
_TOKEN = Pattern(
    r"""
    (?P<space>(?:\s|//[^\n]*)+)
  | (?P<string>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
  | (?P<number>0x[0-9a-fA-F]+u?|\d+\.\d+(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?)
  | (?P<name>[_a-zA-Z][_a-zA-Z0-9]*|`[a-zA-Z0-9_.\-/ ]+`)
  | (?P<sign>&&|\|\||<=|>=|==|!=|[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_RESERVED = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "namespace",
        "package",
        "return",
        "var",
        "void",
        "while",
    }
)
_BINARY = frozenset({"<", "<=", ">=", ">", "==", "!=", "in", "&&", "||", "+", "-", "*", "/", "%"})
_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), 3),
    "+": 4,
    "-": 4,
    **dict.fromkeys("*/%", 5),
    "not": 6,
    "negative": 6,
}
_END = {"group": ")", "call": ")", "list": "]", "index": "]", "map": "}", "value": "}", "fields": "}"}
"""What is open → the sign that closes it."""
_DEEPEST = 250
"""Nesting that the reference parser allows."""
_LITERALS: dict[str, Tree] = {"true": ["=", True], "false": ["=", False], "null": ["=", None]}
_BINDING = frozenset({"all", "exists", "exists_one", "filter", "map"})
"""Macros whose first argument is a variable of the others."""
_LONGEST_NUMBER = 30
_ESCAPE = Pattern(r"\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class _SyntaxError(Exception):
    pass


def is_expression(text: str) -> bool:
    """Return whether a text parses as one expression."""
    return tree(text) is not None


def tree(text: str) -> Tree | None:
    """Return the tree of an expression, None where the text is none; of one that is too deep to be read as a tree, like
    10,000 sums, that it is unknown."""
    try:
        said = _Parser(text).whole()
    except _SyntaxError:
        return None
    is_shallow = len(text) <= _DEEPEST or next(islice(levels(said), _DEEPEST, None), None) is None
    return said if is_shallow else ["unknown"]


def levels(said: Tree) -> Iterator[list[Tree]]:
    """Yield the operations of a tree by how deep they are, from the top: whoever calls itself at each gets no further
    than Python's stack."""
    level = [said]
    while nodes := [node for node in level if isinstance(node, list) and node[0] != "="]:
        yield nodes
        level = [part for node in nodes for part in node[1:]]


def free_names(tree: Tree) -> set[str]:
    """Return the names that an expression takes from around it: all but those of fields, and of its own variables."""
    if isinstance(tree, str):
        return {tree}
    if not isinstance(tree, list) or tree[0] in ("=", "unknown"):
        return set()
    if tree[0] in (".", ".?"):
        return free_names(tree[1])
    if tree[0] != "f":
        return set().union(*map(free_names, tree[1:]))
    _, name, target, *arguments = tree
    found = set() if target is None else free_names(target)
    own = arguments[0] if name in _BINDING and target is not None and arguments else None
    inside = set().union(*map(free_names, arguments))
    return found | (inside - {own} if isinstance(own, str) else inside)


def called(tree: Tree) -> set[str]:
    """Return the names of the functions, methods and macros that an expression calls."""
    if not isinstance(tree, list) or tree[0] in ("=", "unknown"):
        return set()
    own = {tree[1]} if tree[0] == "f" else set()
    return own.union(*map(called, tree[2:] if own else tree[1:]))


class _Frame:
    """What is open: a bracket, a branch of `? :` or the whole.

    Attributes:
        form: a key of `_END`, `then`, `else` or `whole`.
        head: what stands before it: the name and target of a call, the value that is indexed, the condition.
        parts: the entries that are read.
        operands, signs: of the entry that is being read, the operators not yet applied.
    """

    __slots__ = ("form", "head", "operands", "parts", "signs")

    def __init__(self, form: str, head: Any = None) -> None:
        self.form = form
        self.head = head
        self.parts: list[Tree] = []
        self.operands: list[Tree] = []
        self.signs: list[str] = []

    def binary(self, sign: str) -> None:
        while self.signs and _PRECEDENCE[self.signs[-1]] >= _PRECEDENCE[sign]:
            self._apply()
        self.signs.append(sign)

    def finished(self) -> Tree:
        """Return the entry that was being read, all its operators applied."""
        while self.signs:
            self._apply()
        return self.operands.pop()

    def _apply(self) -> None:
        sign, right = self.signs.pop(), self.operands.pop()
        if sign == "not":
            self.operands.append(["!", right])
        elif sign == "negative":
            is_number = right[0] == "=" and type(right[1]) in (int, float)
            self.operands.append(["=", -right[1]] if is_number else ["-", right])
        else:
            left = self.operands.pop()
            if sign in ("||", "&&") and left[0] == sign:
                left.append(right)  # flat, however many there are; nobody else holds it
                self.operands.append(left)
            else:
                self.operands.append([sign, left, right])


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise _SyntaxError
            if match.lastgroup != "space":
                self.tokens.append((str(match.lastgroup), match.group()))
            place = match.end()
        self.next = 0
        self.open: list[_Frame] = [_Frame("whole")]
        self.is_name = False

    def whole(self) -> Tree:
        """Return the tree of one expression, which is all there is.

        What is open (brackets, and the branches of `? :`) is kept in a list: nesting never comes near Python's own
        limit.

        Raises:
            _SyntaxError: it is not one.
        """
        while True:
            self._operand()
            while self._is_closed():
                if len(self.open) == 1 and self.next == len(self.tokens):
                    return self.open[0].finished()

    def _operand(self) -> None:
        """Read up to the end of an operand that opens nothing; what opens something leaves it open."""
        while True:
            while self._peek() in ("!", "-"):
                self.open[-1].signs.append("not" if self._peek() == "!" else "negative")
                self.next += 1
            kind, text = self._here()
            if kind in ("string", "number"):
                self.next += 1
                self.is_name = False
                self._push(_string(text) if kind == "string" else _number(text))
                return
            if text in ("(", "[", "{"):
                self.next += 1
                if self._opened({"(": "group", "[": "list", "{": "map"}[text]):
                    return
                continue
            self._take(".")
            name = self._name()
            self.is_name = True
            if not self._take("("):
                self._push(_LITERALS.get(name, name))
                return
            if self._opened("call", (name, None)):
                return

    def _push(self, value: Tree) -> None:
        self.open[-1].operands.append(value)

    def _opened(self, form: str, head: Any = None) -> bool:
        """Open a bracket and return whether it was closed at once; else an operand follows."""
        self.is_name = False
        if form not in ("group", "index") and self._take(_END[form]):
            self._push(_built(form, head, []))
            return True
        self._nest(form, head)
        self._entry(form)
        return False

    def _entry(self, form: str) -> None:
        """Read what stands before the operand of an entry."""
        if form != "group" and self._take("?"):
            self.open[-1].head = _OPTIONAL
        if form == "fields":
            self._field()
            self._need(":")

    def _is_closed(self) -> bool:
        """Read one thing that follows an operand; return whether there is a whole operand again, longer or around it.

        False where another operand has to follow.
        """
        frame = self.open[-1]
        if self._take("."):
            step = ".?" if self._take("?") else "."
            name = self._field()
            self.is_name = True
            target = frame.operands.pop()
            if self._take("("):
                return self._opened("call", (name, target))
            self._push([step, target, name])
            return True
        if self._take("["):
            return self._opened("index", frame.operands.pop())
        if self.is_name and self._take("{"):
            return self._opened("fields", frame.operands.pop())
        self.is_name = False
        sign = self._peek()
        if sign in _BINARY:
            self.next += 1
            frame.binary(sign)
            return False
        if sign == "?" and frame.form != "then":
            self.next += 1
            self._nest("then", frame.finished())
            return False
        if frame.form == "then":
            self._need(":")
            frame.parts.append(frame.finished())
            frame.form = "else"
            return False
        while self.open[-1].form == "else":
            branch = self.open.pop()
            self._push(["?", branch.head, branch.parts[0], branch.finished()])
        if len(self.open) == 1:
            if self.next != len(self.tokens):
                raise _SyntaxError
            return True
        return self._went_on(self.open[-1])

    def _went_on(self, frame: _Frame) -> bool:
        """Read what follows an expression inside a bracket; return whether the bracket ended."""
        form = frame.form
        frame.parts.append(frame.finished())
        if form == "map":
            self._need(":")
            frame.form = "value"
            return False
        end = _END[form]
        if form not in ("group", "index") and self._take(","):
            if form == "value":
                frame.form = form = "map"
            if not self._take(end):
                self._entry(form)
                return False
        else:
            self._need(end)
        self.open.pop()
        self._push(_built(form, frame.head, frame.parts))
        return True

    def _nest(self, form: str, head: Any) -> None:
        if len(self.open) >= _DEEPEST:
            raise _SyntaxError
        self.open.append(_Frame(form, head))

    def _name(self) -> str:
        """Read the name of a variable, a function or a constant, which is none of those that are reserved."""
        return self._word(_RESERVED)

    def _field(self) -> str:
        """Read the name of a field, which may be reserved: `source.identity.namespace` (cel-go, reservedIds)."""
        return self._word(_LITERALS)

    def _word(self, others: Collection[str]) -> str:
        kind, text = self._here()
        if kind != "name" or text in others or text == "in":
            raise _SyntaxError
        self.next += 1
        return text.strip("`")

    def _here(self) -> tuple[str, str]:
        if self.next >= len(self.tokens):
            raise _SyntaxError
        return self.tokens[self.next]

    def _peek(self) -> str:
        if self.next >= len(self.tokens) or self.tokens[self.next][0] == "string":
            return ""
        return self.tokens[self.next][1]

    def _take(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self.next += 1
        return True

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise _SyntaxError


_OPTIONAL = object()
"""The head of what has an optional entry."""


def _built(form: str, head: Any, parts: list[Tree]) -> Tree:
    """Return the tree of something in brackets."""
    if head is _OPTIONAL or form == "fields":
        return ["unknown"]
    if form == "group":
        return parts[0]
    if form == "call":
        name, target = head
        return ["f", name, target, *parts]
    if form == "index":
        return ["[]", head, parts[0]]
    return ["list" if form == "list" else "map", *parts]


def _number(text: str) -> Tree:
    text = text.rstrip("uU")
    if len(text) > _LONGEST_NUMBER:
        return ["unknown"]
    if text.startswith("0x"):
        return ["=", int(text, 16)]
    return ["=", int(text) if text.isdecimal() else float(text)]


def _string(text: str) -> Tree:
    prefix = text[: len(text) - len(text.lstrip("rRbB"))].lower()
    if "b" in prefix:
        return ["unknown"]
    text = text[len(prefix) :]
    width = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    text = text[width:-width]
    return ["=", text if "r" in prefix else _ESCAPE.sub(_unescaped, text)]


def _unescaped(match: re.Match[str]) -> str:
    text = match[0][1:]
    if text[0] in "xXuU" and len(text) > 1:
        number = int(text[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if text.isdecimal() and len(text) == 3:
        return chr(int(text, 8))
    return _ESCAPED.get(text, text)
