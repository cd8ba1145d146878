"""Whether a text is an expression of the Common Expression Language: its grammar alone, no names, no types.

https://github.com/google/cel-spec/blob/master/doc/langdef.md «Syntax»; what agentgateway and kgateway test
expressions for.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<space>(?:\s+|//[^\n]*)+)
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
_END = {"group": ")", "call": ")", "list": "]", "index": "]", "map": "}", "value": "}", "fields": "}"}
"""What is open → the sign that closes it."""
_DEEPEST = 250
"""Nesting that the reference parser allows."""


class _SyntaxError(Exception):
    pass


def is_expression(text: str) -> bool:
    """Whether a text parses as one CEL expression."""
    try:
        _Parser(text).whole()
    except _SyntaxError:
        return False
    return True


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
        self.open: list[str] = []
        self.is_name = False

    def whole(self) -> None:
        """Read one expression, which is all there is.

        What is open (brackets, and the branches of `? :`) is kept in a list: nesting never comes near Python's own
        limit. Precedence does not change what is an expression, so that binary operators simply stand in a row.
        """
        while True:
            self._operand()
            while self._is_closed():
                if not self.open and self.next == len(self.tokens):
                    return

    def _operand(self) -> None:
        """Read up to the end of an operand that opens nothing; what opens something leaves it open."""
        while True:
            while self._peek() in ("!", "-"):
                self.next += 1
            kind, text = self._here()
            if kind in ("string", "number"):
                self.next += 1
                self.is_name = False
                return
            if text in ("(", "[", "{"):
                self.next += 1
                if self._opened({"(": "group", "[": "list", "{": "map"}[text]):
                    return
                continue
            self._take(".")
            self._name()
            self.is_name = True
            if not self._take("(") or self._opened("call"):
                return

    def _opened(self, form: str) -> bool:
        """Open a bracket and return whether it was closed at once; else an operand follows."""
        self.is_name = False
        if form not in ("group", "index") and self._take(_END[form]):
            return True
        self._nest(form)
        self._entry(form)
        return False

    def _entry(self, form: str) -> None:
        """Read what stands before the operand of an entry."""
        if form != "group":
            self._take("?")
        if form == "fields":
            self._name()
            self._need(":")

    def _is_closed(self) -> bool:
        """Read one thing that follows an operand; return whether there is a whole operand again, longer or around it.

        False where another operand has to follow.
        """
        if self._take("."):
            self._take("?")
            self._name()
            self.is_name = True
            return not self._take("(") or self._opened("call")
        if self._take("["):
            return self._opened("index")
        if self.is_name and self._take("{"):
            return self._opened("fields")
        self.is_name = False
        sign = self._peek()
        form = self.open[-1] if self.open else ""
        if sign in _BINARY:
            self.next += 1
            return False
        if sign == "?" and form != "then":
            self.next += 1
            self._nest("then")
            return False
        if form == "then":
            self._need(":")
            self.open[-1] = "else"
            return False
        while self.open and self.open[-1] == "else":
            self.open.pop()
        if not self.open:
            if self.next != len(self.tokens):
                raise _SyntaxError
            return True
        return self._went_on(self.open[-1])

    def _went_on(self, form: str) -> bool:
        """Read what follows an expression inside a bracket; return whether the bracket ended."""
        if form == "map":
            self._need(":")
            self.open[-1] = "value"
            return False
        end = _END[form]
        if form not in ("group", "index") and self._take(","):
            if form == "value":
                self.open[-1] = form = "map"
            if not self._take(end):
                self._entry(form)
                return False
        else:
            self._need(end)
        self.open.pop()
        return True

    def _nest(self, form: str) -> None:
        if len(self.open) + 1 >= _DEEPEST:
            raise _SyntaxError
        self.open.append(form)

    def _name(self) -> None:
        kind, text = self._here()
        if kind != "name" or text in _RESERVED or text == "in":
            raise _SyntaxError
        self.next += 1

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
