"""Functions of Go templates: how their arguments are checked, and those that the language has itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote_plus

from policylint.namedtuple import NamedTuple
from policylint.render.go_template.parsing import TemplateError
from policylint.render.go_template.printing import NO_VALUE, UncertainError, formatted, named, printed, shown

_SIGN: Final = 1 << 63


class _Missing:
    """A key that a mapping does not have."""

    __slots__ = ()


MISSING: Final = _Missing()


class Int64(int):
    """A number of Go's type int64, which is no int: of what is larger the upper bits are lost, as they are there."""

    __slots__ = ()

    def __new__(cls, value: int = 0) -> Int64:
        return super().__new__(cls, (value + _SIGN) % (2 * _SIGN) - _SIGN)


class TextMap(dict[str, Any]):
    """A mapping of Go's type map[string]string, which no function takes that asks for any values."""

    __slots__ = ()


class WithMethods(dict[str, Any]):
    """A mapping with methods.

    Attributes:
        methods: by name.
    """

    def __init__(self, values: Mapping[str, Any], methods: Mapping[str, Function]) -> None:
        super().__init__(values)
        self.methods = methods


class Open(dict[str, Any]):
    """A mapping of which not every key was seen."""


def is_true(value: Any) -> bool:
    """Return whether a condition holds for a value.

    Raises:
        UncertainError: it depends on what was not seen.
    """
    if isinstance(value, Open) and not value:
        raise UncertainError("what it holds was not seen")
    return value is not MISSING and bool(value)


class Function(NamedTuple):
    """A function: how its arguments are checked, and what it returns.

    Args:
        takes: a letter for each argument: a text, an int, a bool, a list, a mapping (d), anything (a), or anything as
            it is, a missing key included (r); the last one any number of times where `*` follows.
        made: what it returns of them.
    """

    takes: str
    made: Callable[..., Any]

    def __call__(self, name: str, arguments: Sequence[Any]) -> Any:
        """Return what it makes of some arguments.

        Raises:
            TemplateError: Go refuses them.
            UncertainError: it is not known what it makes of them.
        """
        takes, is_variadic = self.takes.removesuffix("*"), self.takes.endswith("*")
        least = len(takes) - is_variadic
        if len(arguments) < least or (len(arguments) > least and not is_variadic):
            raise TemplateError(f"wrong number of arguments for {name}: {len(arguments)}")
        letters = takes + takes[-1:] * (len(arguments) - len(takes))
        given = [_checked(name, letter, value) for letter, value in zip(letters, arguments, strict=False)]
        try:
            return self.made(*given)
        except (TypeError, ValueError, AttributeError, IndexError, KeyError, OverflowError) as error:
            raise UncertainError(f"`{name}`: {error}") from None


def _checked(name: str, letter: str, value: Any) -> Any:
    if value is MISSING and letter in _OF_NOTHING:
        return _OF_NOTHING[letter]()
    if _FITS[letter](value):
        return value
    raise TemplateError(f"{name}: {NO_VALUE if value is MISSING else named(value)} is of the wrong type")


_OF_NOTHING: Final[Mapping[str, Callable[[], Any]]] = {"a": lambda: None, "d": dict, "l": list}
"""What a key that is not there is to an argument of a sort."""
_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "s": lambda value: isinstance(value, str),
    "i": lambda value: type(value) is int,
    "b": lambda value: isinstance(value, bool),
    "l": lambda value: isinstance(value, list),
    "d": lambda value: isinstance(value, dict) and not isinstance(value, TextMap),
    "a": lambda _: True,
    "r": lambda _: True,
}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    kinds = ((str, "string"), (int, "int"), (float, "float"))
    return next((kind for of, kind in kinds if isinstance(value, of)), "")


def _equal(value: Any, *others: Any) -> bool:
    if not others:
        raise TemplateError("eq: missing argument for comparison")
    for other in others:
        kinds = _kind(value), _kind(other)
        nothing = [each is None or each is MISSING for each in (value, other)]
        if kinds[0] != kinds[1]:
            if not any(nothing):
                raise TemplateError("eq: incompatible types for comparison")
        elif not kinds[0] and not any(nothing):
            raise TemplateError("eq: non-comparable types")
        elif all(nothing) if any(nothing) else value == other:
            return True
    return False


def _is_less(value: Any, other: Any) -> bool:
    kinds = _kind(value), _kind(other)
    if kinds[0] != kinds[1] or kinds[0] in ("", "bool"):
        raise TemplateError("lt: incompatible types for comparison")
    return bool(value < other)


def indexed(value: Any, *steps: Any) -> Any:
    """Return what `index` does."""
    if value is MISSING or value is None:
        raise TemplateError("index of untyped nil")
    for step in steps:
        if isinstance(value, dict):
            if not isinstance(step, str):
                raise TemplateError(f"cannot index a mapping with {named(step)}")
            if step not in value and isinstance(value, Open):
                raise UncertainError(f"{step} was not seen")
            value = value.get(step)
        elif isinstance(value, (list, str)):
            if type(step) not in (int, Int64):
                raise TemplateError(f"cannot index a list with {named(step)}")
            if not 0 <= step < len(value):
                raise TemplateError(f"index out of range: {step}")
            if isinstance(value, str):
                raise UncertainError("a byte of a text")
            value = value[step]
        else:
            raise TemplateError(f"can't index item of {named(value)}")
    return value


def _length(value: Any) -> int:
    if isinstance(value, Open):
        raise UncertainError("not all of it was seen")
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, (list, dict)):
        return len(value)
    raise TemplateError("len of what has no length")


def _escaped(*values: Any) -> str:
    made = printed(values)
    for character, entity in (("&", "&amp;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;")):
        made = made.replace(character, entity)
    return made


LAZY: Final = frozenset({"and", "or"})
"""Functions that look at their operands only as far as they need."""
BUILTIN: Final[Mapping[str, Function | None]] = {
    "and": None,
    "or": None,
    "not": Function("r", lambda value: not is_true(value)),
    "eq": Function("rr*", _equal),
    "ne": Function("rr", lambda value, other: not _equal(value, other)),
    "lt": Function("rr", _is_less),
    "le": Function("rr", lambda value, other: _is_less(value, other) or _equal(value, other)),
    "gt": Function("rr", lambda value, other: not (_is_less(value, other) or _equal(value, other))),
    "ge": Function("rr", lambda value, other: not _is_less(value, other)),
    "index": Function("rr*", indexed),
    "len": Function("r", _length),
    "print": Function("a*", lambda *values: printed(values)),
    "println": Function("a*", lambda *values: " ".join(map(shown, values)) + "\n"),
    "printf": Function("sa*", lambda form, *values: formatted(form, values)),
    "html": Function("a*", _escaped),
    "urlquery": Function("a*", lambda *values: quote_plus(printed(values))),
    "js": None,
    "call": None,
}
"""By name; None for one of which it is not known here what it returns."""
