"""How Go writes values as texts: `fmt` with its verbs, JSON and YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from policylint.documents.scalars import resolve_plain
from policylint.patterns import Pattern

_VERB = Pattern(r"%(?P<flags>[-+# 0]*)(?P<width>\d{0,4})(?:\.(?P<precision>\d{0,4}))?(?P<verb>.)", re.DOTALL)
_INDICATORS = Pattern(r"[#,\[\]{}&*!|>'\"%@`]|---|\.\.\.|[?:-](?:\s|$)")
"""What no plain scalar of YAML begins with."""
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
NO_VALUE = "<no value>"
_MOST_NAMED: Final = 40


class UncertainError(Exception):
    """What a template makes is not known here."""


class NilList(list[Any]):
    """A slice that Go has not made: empty, and `null` in JSON."""

    __slots__ = ()


class Unordered(list[Any]):
    """Items whose order is Go's to choose."""

    __slots__ = ()


def shown(value: Any) -> str:
    """Return a value as `%v` writes it.

    Raises:
        UncertainError: the order of its items is not known.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{' '.join(map(shown, in_order(value)))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{shown(value[key])}' for key in sorted(value))}]"
    return "<nil>"


def named(value: Any) -> str:
    """Return a value in a few words, for what is said of it: what it holds may be far more than what it is made of."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a mapping"
    return shown(value)[:_MOST_NAMED]


def in_order(values: list[Any]) -> list[Any]:
    """Return a list, the order of which is known.

    Raises:
        UncertainError: it is not.
    """
    if isinstance(values, Unordered):
        raise UncertainError("the order of the items of a mapping")
    return values


def _number(value: float) -> str:
    """Return a float64 in its shortest form, with an exponent from a million on."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"inf": "+Inf", "-inf": "-Inf"}.get(repr(value), "NaN")
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    point = len(written) + exponent
    start = "-" if sign else ""
    if value == 0:
        return f"{start}0"
    if point - 1 < -4 or point - 1 >= 6:
        rest = f".{written[1:]}" if len(written) > 1 else ""
        return f"{start}{written[0]}{rest}e{'-' if point < 1 else '+'}{abs(point - 1):02}"
    if point <= 0:
        return f"{start}0.{'0' * -point}{written}"
    whole, part = written[:point].ljust(point, "0"), written[point:]
    return f"{start}{whole}{'.' if part else ''}{part}"


def printed(values: Sequence[Any]) -> str:
    """Return what `print` makes: blanks between operands of which neither is a text."""
    made = ""
    for index, value in enumerate(values):
        if index and not isinstance(value, str) and not isinstance(values[index - 1], str):
            made += " "
        made += shown(value)
    return made


def formatted(form: str, values: Sequence[Any]) -> str:
    """Return what `printf` makes.

    Raises:
        UncertainError: of a verb that is not known here, or that does not fit its operand.
    """
    rest = list(values)

    def written(match: re.Match[str]) -> str:
        if match["verb"] == "%":
            return "%"
        if not rest:
            return f"%!{match['verb']}(MISSING)"
        made = _by_verb(match, rest.pop(0))
        width = int(match["width"] or 0)
        return made.ljust(width) if "-" in match["flags"] else made.rjust(width)

    made = _VERB.sub(written, form)
    if rest:
        raise UncertainError("more operands than verbs")
    return made


def _by_verb(match: re.Match[str], value: Any) -> str:
    flags, precision, verb = match["flags"], match["precision"], match["verb"]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_padded = bool(match["width"] or flags)
    fits = isinstance(value, str) or (verb in "dvf" and isinstance(value, int if verb == "d" else (int, float)))
    if not set(flags) <= {"-", "0"} or (is_padded and not fits):
        raise UncertainError(f"`{match[0]}`")
    if verb == "v" and precision is None and "0" not in flags:
        return shown(value)
    if verb == "s" and isinstance(value, str) and "0" not in flags:
        return value if precision is None else value[: int(precision or 0)]
    if verb == "s" and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return shown(value)
    if verb == "q" and isinstance(value, str) and precision is None:
        return quoted(value)
    if verb == "d" and is_number and precision is None:
        if isinstance(value, int):
            return f"{value:0{int(match['width'] or 0)}d}" if "0" in flags else str(value)
        return f"%!d(float64={shown(value)})"
    if verb == "f" and isinstance(value, float):
        return f"{value:.{int(precision or 0) if precision is not None else 6}f}"
    if verb == "t" and isinstance(value, bool):
        return shown(value)
    if verb == "s" and isinstance(value, float):
        return f"%!s(float64={shown(value)})"
    if verb == "s" and isinstance(value, bool):
        return f"%!s(bool={shown(value)})"
    if verb == "s" and value is None:
        return "%!s(<nil>)"
    raise UncertainError(f"`{match[0]}`")


def quoted(value: str) -> str:
    """Return a text as `%q` writes it."""
    made = []
    for character in value:
        code = ord(character)
        if character in '"\\':
            made.append(f"\\{character}")
        elif character in _ESCAPES:
            made.append(_ESCAPES[character])
        elif character.isprintable():
            made.append(character)
        elif code < 0x80:
            made.append(f"\\x{code:02x}")
        else:
            made.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return f'"{"".join(made)}"'


def as_json(value: Any, *, indent: int | None = None, escapes: bool = True) -> str:
    """Return a value as `encoding/json` writes it."""
    separators = (",", ": " if indent else ":")
    made = json.dumps(_of_json(value), separators=separators, sort_keys=True, ensure_ascii=False, indent=indent)
    for character in "<>&\u2028\u2029" if escapes else "\u2028\u2029":
        made = made.replace(character, f"\\u{ord(character):04x}")
    return made


def _of_json(value: Any) -> Any:
    """Return a value with its whole floats as integers, as JSON writes both alike."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, float) and not 1e-4 <= abs(value) < 1e21:
        raise UncertainError("a number of another form")
    if isinstance(value, dict):
        return {str(key): _of_json(inner) for key, inner in value.items()}
    if isinstance(value, NilList):
        return None
    return [_of_json(inner) for inner in in_order(value)] if isinstance(value, list) else value


def as_yaml(value: Any) -> str:
    """Return a value as `sigs.k8s.io/yaml` writes it, without the line break at its end."""
    lines = _lines(_of_json(value))
    if isinstance(value, str):
        lines[1:] = [f"  {line}" if line else "" for line in lines[1:]]
    return "\n".join(lines)


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        lines = []
        for key in sorted(value):
            inner = _lines(value[key])
            start = f"{_scalar(key, is_key=True)}:"
            if isinstance(value[key], dict) and value[key]:
                lines += [start, *(f"  {line}" if line else "" for line in inner)]
            elif isinstance(value[key], list) and value[key]:
                lines += [start, *inner]
            else:
                lines += [f"{start} {inner[0]}", *(f"  {line}" if line else "" for line in inner[1:])]
        return lines
    if isinstance(value, list) and value:
        items = (_lines(item) for item in value)
        return [f"{'  ' if index else '- '}{line}" if line else "" for item in items for index, line in enumerate(item)]
    return _scalar(value).split("\n")


def _scalar(value: Any, *, is_key: bool = False) -> str:
    """Return a scalar as the emitter of goyaml.v2 writes it: a block where it has lines, else as plain as it can be."""
    if not isinstance(value, str):
        return json.dumps(value) if isinstance(value, (dict, list)) or value is None else shown(value)
    is_special = any(not (character.isprintable() or character == "\n") for character in value)
    at_ends = value[:1] + value[-1:]
    if not value or resolve_plain(value) != value or is_special or " \n" in value:
        return _double_quoted(value)
    if "\n" in value:
        if is_key or value.endswith(" "):
            return _double_quoted(value)
        hint = "2" if value[0] in " \n" else ""
        chomping = "-" if not value.endswith("\n") else "+" if value == "\n" or value.endswith("\n\n") else ""
        return f"|{hint}{chomping}\n{value.removesuffix(chr(10))}"
    if " " in at_ends or _INDICATORS.match(value) or ": " in value or value.endswith(":") or " #" in value:
        return f"""'{value.replace("'", "''")}'"""
    return value


def _double_quoted(value: str) -> str:
    return quoted(value).replace("\\x7f", "\\x7F")
