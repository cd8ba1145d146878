"""The functions that expressions of CEL may call, of CEL itself and of Kubernetes' libraries, on values of Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from policylint.model import holds_variable
from policylint.patterns import Pattern

_LARGEST: Final = 2**63
_URL: Final = Pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://([A-Za-z0-9.-]+)(?::[0-9]{1,5})?(?:/[\w./~-]*)?", re.ASCII)
_ANY_DURATION: Final = Pattern(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:h|ms|m|us|µs|μs|ns|s))+|[+-]?0")
"""What Go reads as a duration."""
_SCHEME: Final = Pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")
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
    if value is None or (value.__class__ is str and "{" in value and holds_variable(value)):
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
        raise FailedError(f"{value!r} is no integer")
    raise UndecidedError


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


def _duration(value: str) -> Duration:
    """Return a duration as Go's time.ParseDuration reads it; fractions are left to the cluster.

    Raises:
        FailedError: it reads none.
    """
    if len(value) > 60:
        raise UndecidedError
    if not _DURATION.fullmatch(value):
        if _ANY_DURATION.fullmatch(value):
            raise UndecidedError
        raise FailedError(f"{value!r} is no duration")
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


def _url(value: str) -> tuple[str, str]:
    """Return scheme and host of a plain URL.

    Raises:
        FailedError: it has neither a scheme nor a leading slash.
        UndecidedError: it is not so plain that Go's net/url and this must agree.
    """
    if _has_no_start(value):
        raise FailedError(f"{value!r} is no URL")
    match = _URL.fullmatch(value)
    if match is None:
        raise UndecidedError
    return match[1].lower(), match[2]


def _has_no_start(value: str) -> bool:
    """Tell whether a text can be no URL, as it begins with neither a scheme nor a slash."""
    return not value.startswith("/") and not _SCHEME.match(value)


def _is_url(value: str) -> bool:
    """Return whether Go's url.ParseRequestURI reads a text."""
    if _has_no_start(value):
        return False
    _url(value)
    return True


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


def _has_value(value: Any) -> bool:
    if value.__class__ is not tuple:
        raise UndecidedError
    return bool(value)


GLOBALS: Final[dict[tuple[str, int], tuple[Callable[..., Any], tuple[type, ...]]]] = {
    ("double", 1): (_double, (object,)),
    ("duration", 1): (_duration, (str,)),
    ("dyn", 1): (lambda value: value, (object,)),
    ("int", 1): (_integer, (object,)),
    ("isCIDR", 1): (_is_network, (str,)),
    ("isIP", 1): (_is_address, (str,)),
    ("isURL", 1): (_is_url, (str,)),
    ("string", 1): (_text, (object,)),
    ("type", 1): (_type, (object,)),
    ("url", 1): (_url, (str,)),
}
METHODS: Final[dict[tuple[str, int], tuple[Callable[..., Any], tuple[type, ...]]]] = {
    ("getHostname", 1): (lambda url: url[1], (tuple,)),
    ("getScheme", 1): (lambda url: url[0], (tuple,)),
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
}
