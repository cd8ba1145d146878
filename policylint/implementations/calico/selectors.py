"""Calico's selectors: an expression over labels, read to a tree, asked of labels, or spread out as alternatives.

What lacks a label is unlike every value of it: `a != 'b'` and `a not in {'b'}` hold there, as with Kubernetes.

Source: projectcalico/calico @ 87c15906f2, libcalico-go/lib/selector/tokenizer/tokenizer.go and parser/{parser,ast}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

Test = Literal["has", "in", "contains", "starts", "ends"]
_TOKEN = Pattern(
    r"""[ \t]*(?:(?P<text>"[^"]*"|'[^']*')|(?P<sign>&&|\|\||==|!=|[(){},!])|(?P<name>[A-Za-z0-9_./-]+))[ \t]*"""
)
_OPERATORS: dict[str, tuple[Test, bool, str]] = {
    "in": ("in", False, ""),
    "not": ("in", True, "in"),
    "notin": ("in", True, ""),
    "contains": ("contains", False, ""),
    "starts": ("starts", False, "with"),
    "startswith": ("starts", False, ""),
    "ends": ("ends", False, "with"),
    "endswith": ("ends", False, ""),
}
"""What a word asks, whether it is negated, and the word that goes on with it."""
_FUNCTIONS = ("has", "all", "global")
_DEEPEST = 60
"""Brackets within each other; people write a few."""
_MOST = 64
"""Alternatives of one selector, beyond which it is left open whom it selects."""
Value = str | None
"""Of a label; None where there is none."""


class LabelTest(NamedTuple):
    """What is asked of one label; without a key of everybody, and `global()` of what is in no namespace."""

    key: str = ""
    test: Test = "has"
    values: tuple[str, ...] = ()
    negated: bool = False


class Compound(NamedTuple):
    """Expressions of which all, or any, must hold."""

    parts: tuple[LabelTest | Compound, ...]
    every: bool


Expression = LabelTest | Compound
EVERYBODY = LabelTest()
"""`all()`."""
GLOBAL = LabelTest("projectcalico.org/namespace", negated=True)
"""What is in no namespace: `global()`."""


class NoSelectorError(Exception):
    """A text that is no selector; its message is a clause for users."""


def parse(written: str) -> Expression:
    """Return a selector as a tree; a blank one selects everybody.

    Raises:
        NoSelectorError: it is none.
    """
    tokens = list(_tokens(written))
    if not tokens:
        return EVERYBODY
    reader = _Reader(tokens)
    found = reader.any_of(0)
    if reader.left:
        raise NoSelectorError(f"`{reader.left[0]}` is not expected there")
    return found


def _tokens(written: str) -> Iterator[str]:
    """Yield the words, signs and texts of a selector; texts keep their quotes."""
    at = 0
    while written[at:].strip(" \t"):
        found = _TOKEN.match(written, at)
        if found is None:
            raise NoSelectorError(f"{written[at:].strip(' ')[:20]!r} is not expected there")
        yield found["text"] or found["sign"] or found["name"]
        at = found.end()


class _Reader:
    """What is left of the tokens of one selector."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens[::-1]

    def next(self) -> str:
        if not self.left:
            raise NoSelectorError("it ends too early")
        return self.left.pop()

    def take(self, token: str) -> bool:
        """Take a token if it is the next one."""
        if not self.left or self.left[-1] != token:
            return False
        self.left.pop()
        return True

    def need(self, token: str) -> None:
        found = self.next()
        if found != token:
            raise NoSelectorError(f"`{found}` stands where `{token}` is wanted")

    def any_of(self, depth: int) -> Expression:
        parts = [self._all_of(depth)]
        while self.take("||"):
            parts.append(self._all_of(depth))
        return parts[0] if len(parts) == 1 else Compound(tuple(parts), every=False)

    def _all_of(self, depth: int) -> Expression:
        parts = [self._operation(depth)]
        while self.take("&&"):
            parts.append(self._operation(depth))
        return parts[0] if len(parts) == 1 else Compound(tuple(parts), every=True)

    def _operation(self, depth: int) -> Expression:
        if depth > _DEEPEST:
            raise NoSelectorError(f"it has more than {_DEEPEST} brackets within each other")
        negated = False
        while self.take("!"):
            negated = not negated
        if self.take("("):
            found = self.any_of(depth + 1)
            self.need(")")
        else:
            found = self._term()
        return _not(found) if negated else found

    def _term(self) -> LabelTest:
        key = self.next()
        if not key[0].isalnum() and key[0] not in "_./-":
            raise NoSelectorError(f"`{key}` stands where a label is wanted")
        if key in _FUNCTIONS and self.take("("):
            label = self.next() if key == "has" else ""
            self.need(")")
            return {"has": LabelTest(label), "all": EVERYBODY, "global": GLOBAL}[key]
        operator = self.next()
        if operator in ("==", "!="):
            return LabelTest(key, "in", (self._text(),), operator == "!=")
        if operator not in _OPERATORS:
            raise NoSelectorError(f"`{operator}` is no operator")
        test, negated, more = _OPERATORS[operator]
        if more:
            self.need(more)
        return LabelTest(key, test, tuple(self._listed()) if test == "in" else (self._text(),), negated)

    def _text(self) -> str:
        found = self.next()
        if found[0] not in "\"'":
            raise NoSelectorError(f"`{found}` stands where a text in quotes is wanted")
        return found[1:-1]

    def _listed(self) -> Iterator[str]:
        self.need("{")
        while not self.take("}"):
            yield self._text()
            if not self.take(","):
                self.need("}")
                return


def _not(expression: Expression) -> Expression:
    if isinstance(expression, LabelTest):
        return expression._replace(negated=not expression.negated)
    return Compound(tuple(map(_not, expression.parts)), not expression.every)


def without(expression: Expression) -> Expression:
    """Return what selects whoever an expression does not."""
    return _not(expression)


def both(*expressions: Expression) -> Expression:
    """Return what selects whoever all of some expressions do."""
    return Compound(expressions, every=True)


def under(expression: Expression, prefix: str, everybody: Expression) -> Expression:
    """Return an expression over labels of a namespace or an account as one over those that endpoints have of these.

    Args:
        everybody: what `all()` means there.
    """
    if isinstance(expression, Compound):
        return Compound(tuple(under(part, prefix, everybody) for part in expression.parts), expression.every)
    if not expression.key:
        return _not(everybody) if expression.negated else everybody
    return expression if expression.key == GLOBAL.key else expression._replace(key=f"{prefix}{expression.key}")


def holds(term: LabelTest, value: Value) -> bool:
    """Return whether a label, or that there is none, meets what is asked of it, whether that is negated or not."""
    if value is None:
        return not term.key
    match term.test:
        case "has":
            return True
        case "in":
            return value in term.values
        case "contains":
            return term.values[0] in value
        case "starts":
            return value.startswith(term.values[0])
        case _:
            return value.endswith(term.values[0])


def selects(expression: Expression, value_of: Callable[[str], Value | bool]) -> bool | None:
    """Return whether an expression selects what has some labels, None where that hangs on what is not known.

    Args:
        value_of: the value of a label by its key; True where it is not known.
    """
    if isinstance(expression, Compound):
        answers = [selects(part, value_of) for part in expression.parts]
        decisive = not expression.every
        return decisive if decisive in answers else None if None in answers else expression.every
    if not expression.key:
        return not expression.negated
    value = value_of(expression.key)
    return None if isinstance(value, bool) else holds(expression, value) != expression.negated


def alternatives(expression: Expression) -> list[tuple[LabelTest, ...]] | None:
    """Return the terms of an expression as alternatives, in each of which all must hold; None for too many of them."""
    if isinstance(expression, LabelTest):
        return [] if not expression.key and expression.negated else [(expression,) if expression.key else ()]
    found: list[tuple[LabelTest, ...]] = [()] if expression.every else []
    for part in expression.parts:
        own = alternatives(part)
        if own is None:
            return None
        found = [(*left, *right) for left in found for right in own] if expression.every else [*found, *own]
        if len(found) > _MOST:
            return None
    return list(dict.fromkeys(tuple(dict.fromkeys(each)) for each in found))


def terms(expression: Expression) -> Iterable[LabelTest]:
    """Yield the terms of an expression."""
    if isinstance(expression, LabelTest):
        yield expression
    else:
        for part in expression.parts:
            yield from terms(part)
