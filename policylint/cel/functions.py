"""The functions that expressions of CEL may call, of CEL itself and of Kubernetes' libraries, on values of Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from policylint.cel.formats import OF_CEL
from policylint.cel.urls import Url, read_url
from policylint.model import holds_variable, is_symbolic
from policylint.patterns import Pattern

_LARGEST: Final = 2**63
_ANY_DURATION: Final = Pattern(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:h|ms|m|us|µs|μs|ns|s))+|[+-]?0")
"""What Go reads as a duration."""
_DURATION: Final = Pattern(r"(?:[0-9]{1,15}(?:h|ms|m|us|ns|s))+")


class UndecidedError(Exception):
    """What an expression says of a value is not known."""


class FailedError(UndecidedError):
    """An expression has no value by CEL's own rules, for which the API server refuses a value: `no such key: port`."""


class Duration(int):
    """Nanoseconds."""


class Type(str):
    """The name of a type."""


def known(value: Any) -> Any:
    """Return a value that is final: no variable stands in it.

    Raises:
        UndecidedError: one does, or the value is null.
    """
    if value is None or (value.__class__ is str and ("{" in value or "<" in value) and holds_variable(value)):
        raise UndecidedError
    return value


def in_range(number: Any) -> Any:
    if number.__class__ is int and not -_LARGEST <= number < _LARGEST:
        raise UndecidedError
    return number


def contains(value: str, part: str) -> bool:
    return part in value


def matches(value: str, pattern: str) -> bool:
    from policylint.regex import expression

    answer = expression(pattern).is_within(value)
    if answer is None:
        raise UndecidedError
    return answer


def _integer(value: Any) -> int:
    if value.__class__ is int:
        return int(value)
    if value.__class__ is str and len(value) < 19 and value.removeprefix("-").isdecimal() and value.isascii():
        return int(value)
    if value.__class__ is float and abs(value) < _LARGEST:
        return int(value)
    if value.__class__ is str and not value.lstrip("+-").isdecimal():
        raise _refusal(value, "integer")
    raise UndecidedError


def _refusal(value: str, what: str) -> FailedError | UndecidedError:
    """Return the error of a text that is none of something; it may be one once a script has filled in `%HOST%`."""
    return UndecidedError() if is_symbolic(value) else FailedError(f"{value!r} is no {what}")


def _text(value: Any) -> str:
    if value.__class__ is str:
        return str(value)
    if value.__class__ is int:
        return str(value)
    if value.__class__ is bool:
        return "true" if value else "false"
    raise UndecidedError


def _double(value: Any) -> float:
    if value.__class__ in (int, float):
        return float(value)
    raise UndecidedError


_UNITS: Final = {"h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}


def duration(value: str) -> Duration:
    """Return a duration as Go's time.ParseDuration reads it; fractions are left to the cluster.

    Raises:
        FailedError: it reads none.
    """
    if len(value) > 60 or not _DURATION.fullmatch(value):
        if _ANY_DURATION.fullmatch(value):
            raise UndecidedError
        raise _refusal(value, "duration")
    total = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"([0-9]+)([a-z]+)", value))
    return Duration(in_range(total))


def _type(value: Any) -> Type:
    names = {str: "string", int: "int", float: "double", bool: "bool", list: "list", dict: "map"}
    if value.__class__ not in names:
        raise UndecidedError
    return Type(names[value.__class__])


TYPES: Final = frozenset({"int", "string", "double", "bool", "list", "map"})
"""Names that stand for a type."""


def _lower(value: str) -> str:
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in value)


def _upper(value: str) -> str:
    return "".join(chr(ord(letter) - 32) if "a" <= letter <= "z" else letter for letter in value)


def _substring(value: str, start: int, end: int | None = None) -> str:
    end = len(value) if end is None else end
    if not 0 <= start <= end <= len(value):
        raise UndecidedError
    return value[start:end]


def _joined(values: list[Any], separator: str = "") -> str:
    if not all(value.__class__ is str for value in values):
        raise UndecidedError
    return separator.join(map(known, values))


def _url(value: str) -> Url:
    """Return a URL.

    Raises:
        FailedError: the text is none.
        UndecidedError: a script may make one of it.
    """
    found = read_url(value)
    if found is None:
        raise _refusal(value, "URL")
    return found


def _is_url(value: str) -> bool:
    if read_url(value) is None and is_symbolic(value):
        raise UndecidedError
    return read_url(value) is not None


def _is_address(value: str) -> bool:
    """Return whether a text is an IP address as Kubernetes' isIP reads it; zones and mapped ones are left open."""
    import ipaddress

    if "%" in value or ("." in value and ":" in value):
        raise UndecidedError
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _is_network(value: str) -> bool:
    address, slash, length = value.partition("/")
    if not slash or not length.isdecimal() or not length.isascii() or (length != "0" and length.startswith("0")):
        return False
    return _is_address(address) and int(length[:4]) <= (128 if ":" in address else 32)


def _or_value(value: Any, other: Any) -> Any:
    if value.__class__ is not tuple:
        raise UndecidedError
    return value[0] if value else other


def _value(value: tuple[Any, ...]) -> Any:
    if not value:
        raise FailedError("optional.none() dereference")
    return value[0]


def _has_value(value: Any) -> bool:
    if value.__class__ is not tuple:
        raise UndecidedError
    return bool(value)


class Format(str):
    """The name of a format of texts."""


def _format(name: str) -> tuple[Format, ...]:
    return (Format(name),) if name in OF_CEL else ()


def _faults(name: Format, value: str) -> tuple[Any, ...]:
    """Return what is wrong with a text, none where nothing is; in which words, is not known."""
    return () if OF_CEL[name](value) else ([None],)


GLOBALS: Final[dict[tuple[str, int], tuple[Callable[..., Any], tuple[type, ...]]]] = {
    ("double", 1): (_double, (object,)),
    ("duration", 1): (duration, (str,)),
    ("dyn", 1): (lambda value: value, (object,)),
    ("format.named", 1): (_format, (str,)),
    ("int", 1): (_integer, (object,)),
    ("isCIDR", 1): (_is_network, (str,)),
    ("isIP", 1): (_is_address, (str,)),
    ("isURL", 1): (_is_url, (str,)),
    ("string", 1): (_text, (object,)),
    ("type", 1): (_type, (object,)),
    ("url", 1): (_url, (str,)),
}
FORMATS: Final = "format"
"""What formats are called on: `format.uri()`, `format.named("uri")`."""
METHODS: Final[dict[tuple[str, int], tuple[Callable[..., Any], tuple[type, ...]]]] = {
    ("getHostname", 1): (lambda url: url.hostname, (Url,)),
    ("getScheme", 1): (lambda url: url.scheme, (Url,)),
    ("hasValue", 1): (_has_value, (object,)),
    ("indexOf", 2): (str.find, (str, str)),
    ("join", 1): (_joined, (list,)),
    ("join", 2): (_joined, (list, str)),
    ("lastIndexOf", 2): (str.rfind, (str, str)),
    ("lowerAscii", 1): (_lower, (str,)),
    ("orValue", 2): (_or_value, (object, object)),
    ("split", 2): (lambda value, separator: value.split(separator) if separator else list(value), (str, str)),
    ("substring", 2): (_substring, (str, int)),
    ("substring", 3): (_substring, (str, int, int)),
    ("trim", 1): (str.strip, (str,)),
    ("upperAscii", 1): (_upper, (str,)),
    ("value", 1): (_value, (tuple,)),
    ("validate", 2): (_faults, (Format, str)),
}
