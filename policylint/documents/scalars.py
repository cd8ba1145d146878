"""Resolve scalars as the Kubernetes API server does (docs/design/performance.md §2e).

The server's reader is sigs.k8s.io/yaml: goyaml.v2, whose rules are neither YAML 1.1 nor 1.2, then a trip through JSON,
which makes integral floats integers and integers beyond int64 floats. Keys become strings on the same trip. Checked
against `kubectl` in tests/documents/test_scalars_kubectl.py.
"""

from __future__ import annotations

import struct
from typing import Final

from policylint.patterns import Pattern

Scalar = str | int | float | bool | None

_YES: Final = ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON")
_NO: Final = ("n", "N", "no", "No", "NO", "off", "Off", "OFF")
WORDS: Final = frozenset((*_YES, *_NO))
"""What the API server's reader takes for booleans, and kustomize's for texts."""
_NAMED: Final[dict[str, Scalar]] = {
    **dict.fromkeys((*_YES, "true", "True", "TRUE"), True),
    **dict.fromkeys((*_NO, "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_FLOAT: Final = Pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT: Final = Pattern(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_INTEGER: Final = Pattern(
    r"(?P<sign>[-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>[1-9][0-9]*|0))"
)
_SIGNED_BINARY: Final = Pattern(r"0b([-+][01]+)")  # goyaml strips `0b` and lets ParseInt read a sign
_BASES: Final = (("d", 10), ("x", 16), ("o", 8), ("b", 2))
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_INT64: Final = 1 << 63
_UINT64: Final = 1 << 64
# Longer texts are no numbers that anyone means; int() is quadratic, and CPython refuses past 4,300 digits.
_LONGEST_NUMBER: Final = 1000


def resolve_number(text: str) -> int | float | None:
    """Return the number goyaml.v2 reads from a plain scalar, before the JSON trip; None if it is a string."""
    if len(text) > _LONGEST_NUMBER:
        return None
    if text[0] == ".":
        return _finite(text) if _DOT_FLOAT.fullmatch(text) else None
    digits = text.replace("_", "")
    match = _INTEGER.fullmatch(digits)
    if match is not None:
        for group, base in _BASES:
            if match[group] is not None:
                number = int(match[group], base)
                negative = match["sign"] == "-"
                if number <= _INT64 - (not negative):
                    return -number if negative else number
                if not match["sign"] and number < _UINT64:  # ParseUint takes no sign
                    return number
                break
    if _FLOAT.fullmatch(digits):
        return _finite(digits)
    binary = _SIGNED_BINARY.fullmatch(digits)
    return int(binary[1], 2) if binary is not None else None


def _finite(text: str) -> float | None:
    number = float(text)
    return None if number in (float("inf"), float("-inf")) else number  # out of range stays text, as in Go


def through_json(number: int | float) -> int | float:
    """Return a number after the trip YAML → JSON → Kubernetes: `1e3` is 1000, integers beyond int64 are floats."""
    if isinstance(number, int):
        return number if -_INT64 <= number < _INT64 else float(number)
    if number.is_integer() and -_INT64 <= number < _INT64:
        return int(number)
    return number


def resolve_plain(text: str) -> Scalar:
    """Return the value of an untagged plain scalar."""
    if text in _NAMED:
        return _NAMED[text]
    if text[0] in _NUMBER_STARTS:
        number = resolve_number(text)
        if number is not None:
            return through_json(number)
    return text


def key_of(text: str) -> str:
    """Return the JSON object key that an untagged plain scalar becomes: `y` → `true`, `0x10` → `16`, `1e6` → `1e+06`.

    A null key, which the API server refuses, becomes `null`.
    """
    if text in _NAMED:
        return key_of_value(_NAMED[text])
    if text[0] in _NUMBER_STARTS:
        number = resolve_number(text)
        if number is not None:
            return key_of_value(number)
    return text


def key_of_value(value: Scalar) -> str:
    """Return the JSON object key of an already resolved scalar, as sigs.k8s.io/yaml prints it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return _float_key(value)


def _float_key(number: float) -> str:
    """Return Go's `FormatFloat(x, 'g', -1, 32)`: the fewest digits that give the same 32-bit float."""
    if number != number:
        return ".nan"
    try:
        single = struct.pack("f", number)
    except OverflowError:
        single = struct.pack("f", float("inf") if number > 0 else float("-inf"))
    (rounded,) = struct.unpack("f", single)
    if rounded in (float("inf"), float("-inf")):
        return ".inf" if rounded > 0 else "-.inf"
    text = next(
        (
            candidate
            for candidate in (f"{rounded:.{digits}e}" for digits in range(9))
            if struct.pack("f", float(candidate)) == single
        ),
        f"{rounded:.8e}",
    )
    mantissa, _, exponent = text.partition("e")
    power = int(exponent)
    significant = len(mantissa.lstrip("-").replace(".", ""))
    # strconv: %e where the exponent is < -4 or at least the precision (6, or the number of digits if that is larger).
    if power < -4 or power >= max(significant, 6 if significant <= power else 21):
        return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return f"{rounded:.{max(significant - 1 - power, 0)}f}"


class ScalarError(ValueError):
    """A tag and a text that do not fit, such as `!!int abc`."""


_BINARY: Final = "tag:yaml.org,2002:binary"
_CHECKED: Final[dict[str, type | tuple[type, ...]]] = {
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": (int, float),
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:null": type(None),
    "tag:yaml.org,2002:timestamp": str,
}


def resolve_tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with an explicit tag; unknown tags (`!sops`, `!reference`…) keep the text as is.

    Raises:
        ScalarError: the API server would refuse the combination.
    """
    if tag == _BINARY:
        return _decoded(text)
    allowed = _CHECKED.get(tag)
    if allowed is None:
        return text
    value: Scalar = _NAMED.get(text, text)
    if isinstance(value, str) and value[0] in _NUMBER_STARTS:
        number = resolve_number(value)
        value = value if number is None else number
    short = "!!" + tag.rpartition(":")[2]
    if not isinstance(value, allowed) or (isinstance(value, bool) and allowed is not bool):
        raise ScalarError(f"cannot read `{text[:60]}` as {short}")
    return through_json(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _decoded(text: str) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise ScalarError("!!binary value is not valid base64") from error


_REMEMBERED_LENGTH: Final = 100
_REMEMBERED: Final = 50_000


class Memo(dict[str, Scalar]):
    """Plain scalars already resolved: `memo[text]` costs one dict look-up, and equal strings are shared.

    Attributes:
        words: whether one of `WORDS` was among them since somebody said there was none. They are resolved each time.
    """

    words = False

    def __missing__(self, text: str) -> Scalar:
        value = resolve_plain(text)
        if text in WORDS:
            self.words = True
        elif len(text) <= _REMEMBERED_LENGTH:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = value
        return value


class KeyMemo(dict[str, str]):
    """The same for keys. `<<` is not a key: the caller handles it."""

    words = False

    def __missing__(self, text: str) -> str:
        if text == "<<":
            raise MergeKeyError
        key = key_of(text)
        if text in WORDS:
            self.words = True
        elif len(text) <= _REMEMBERED_LENGTH:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = key
        return key


PLAIN: Final = Memo()
KEYS: Final = KeyMemo()


class MergeKeyError(Exception):
    """A plain `<<` where a key was expected."""
