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
_RELATIONS = frozenset({"<", "<=", ">=", ">", "==", "!=", "in"})
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
        self.depth = 0

    def whole(self) -> None:
        self.expression()
        if self.next != len(self.tokens):
            raise _SyntaxError

    def expression(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _SyntaxError
        self._operators()
        if self._take("?"):
            self._operators()
            self._need(":")
            self.expression()
        self.depth -= 1

    def _operators(self) -> None:
        """Operands between binary operators; their precedence does not change what is an expression."""
        self._unary()
        while self._peek() in _RELATIONS or self._peek() in ("&&", "||", "+", "-", "*", "/", "%"):
            self.next += 1
            self._unary()

    def _unary(self) -> None:
        while self._peek() in ("!", "-"):
            self.next += 1
        self._member()

    def _member(self) -> None:
        is_name = self._primary()
        while True:
            if self._take("."):
                self._take("?")
                self._name()
                is_name = True
                if self._take("("):
                    self._list(")")
                    is_name = False
            elif self._take("["):
                self._take("?")
                self.expression()
                self._need("]")
                is_name = False
            elif is_name and self._peek() == "{":
                self.next += 1
                self._fields()
                is_name = False
            else:
                return

    def _primary(self) -> bool:
        """A literal, name, call, list, map or what stands in parentheses; whether it is a bare name."""
        kind, text = self._here()
        if kind in ("string", "number"):
            self.next += 1
            return False
        if text == "(":
            self.next += 1
            self.expression()
            self._need(")")
            return False
        if text == "[":
            self.next += 1
            self._list("]")
            return False
        if text == "{":
            self.next += 1
            self._entries()
            return False
        self._take(".")
        self._name()
        if self._take("("):
            self._list(")")
            return False
        return True

    def _list(self, end: str) -> None:
        while not self._take(end):
            self._take("?")
            self.expression()
            if not self._take(","):
                self._need(end)
                return

    def _entries(self) -> None:
        while not self._take("}"):
            self._take("?")
            self.expression()
            self._need(":")
            self.expression()
            if not self._take(","):
                self._need("}")
                return

    def _fields(self) -> None:
        while not self._take("}"):
            self._take("?")
            self._name()
            self._need(":")
            self.expression()
            if not self._take(","):
                self._need("}")
                return

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
