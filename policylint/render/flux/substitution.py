"""`${VAR}` as Flux's postBuild fills it in: what nothing defines stays as it is written, a symbolic text.

Source: fluxcd/pkg `envsubst` (`parse/parse.go`, `funcs.go`) and `kustomize/kustomize_varsub.go`. Flux fills in the text
of a whole manifest; here each text is filled in by itself, and what does not end in it is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.budget import Budget
from policylint.documents.scalars import PLAIN
from policylint.patterns import Pattern

_NAME = Pattern(r"\w+")
_VARIABLE = Pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = Pattern(r"^[\s\-?:,\[\]{}#&*!|>'\"%@`]|: |:$| #|\s$|\n")
_SLASHES = Pattern(r"\\([/\\])")
DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
MAX_NESTING = 20
_DEFAULTS = (":=", ":-", ":+", ":?", "=")


class SubstitutionError(Exception):
    """Flux refuses a text, and with it all that its Kustomization applies; the message is for users."""


class _UnknownError(Exception):
    """It is not known what Flux makes of an expression."""


def check_names(variables: Mapping[str, str]) -> None:
    """Raise SubstitutionError for a name that no variable can have."""
    for name in sorted(variables):
        if name and not is_variable(name):
            raise SubstitutionError(f"{name!r} is no name of a variable")


def is_variable(name: str) -> bool:
    """Return whether a variable can have a name."""
    return _VARIABLE.fullmatch(name) is not None


def substitute(text: str, variables: Mapping[str, str], budget: Budget, depth: int = 0) -> str:
    """Return the text with every variable that has a value, or a default, replaced by it; `$$` becomes `$`.

    Raises:
        ExhaustedError: it grows longer than the budget allows.
        SubstitutionError: Flux refuses it.
    """
    if "${" not in text and "$$" not in text:
        return text
    parts: list[str] = []
    at = 0
    while depth <= MAX_NESTING and (start := text.find("$", at)) >= 0:
        if text.startswith("${", start):
            try:
                value, end = _value(text, start, variables, budget, depth)
            except _UnknownError:
                end = _closing(text, start)
                value = text[start:end]
        else:
            value, end = "$", start + (2 if text.startswith("$$", start) else 1)
        parts += [text[at:start], value]
        budget.spend_on_text(len(value) + end - at)
        at = end
    return "".join((*parts, text[at:])) if parts else text


def _closing(text: str, start: int) -> int:
    """Return the index behind the brace that closes the one of `${` at `start`; the end of the text if none does."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def _value(text: str, start: int, variables: Mapping[str, str], budget: Budget, depth: int) -> tuple[str, int]:
    """Return what the `${…}` at a place becomes, and where it ends.

    Raises:
        SubstitutionError, _UnknownError: it has no such value.
    """
    if depth > MAX_NESTING:
        raise _UnknownError
    at = start + 2
    of_length = text.startswith("#", at)
    name = _NAME.match(text, at + of_length)
    if name is None:
        raise SubstitutionError(f"{text[start : start + 20]!r} names no variable")
    at = name.end()
    value = variables.get(name[0])
    if text.startswith("}", at):
        if value is None:
            raise _UnknownError
        return (str(len(value.encode())) if of_length and not _is_hidden(value) else value), at + 1
    default = "" if of_length else next((each for each in _DEFAULTS if text.startswith(each, at)), "")
    if default:
        written, at = _default(text, at + len(default), variables, budget, depth)
        return value or written, at
    if of_length or text[at : at + 1] not in ("/", "#", "%", ":", ",", "^"):
        raise SubstitutionError(f"`}}` is missing behind {text[start:at]}")
    return _changed(text, at, value, variables, budget, depth)


def _default(text: str, at: int, variables: Mapping[str, str], budget: Budget, depth: int) -> tuple[str, int]:
    """Return a default, of texts and expressions one after the other, and where its `${…}` ends."""
    parts = []
    while not text.startswith("}", at):
        part, at = _argument(text, at, "}", variables, budget, depth)
        parts.append(part)
    return "".join(parts), at + 1


def _argument(
    text: str, at: int, stops: str, variables: Mapping[str, str], budget: Budget, depth: int
) -> tuple[str, int]:
    """Return an argument, which is an expression or a text that ends before one or before one of some characters."""
    if text.startswith("${", at):
        budget.spend(1)
        try:
            return _value(text, at, variables, budget, depth + 1)
        except _UnknownError:
            end = _closing(text, at)
            return text[at:end], end
    ends = [index for index in (text.find(stop, at) for stop in (*stops, "${")) if index >= 0]
    if not ends:
        raise _UnknownError  # it goes on in another text
    return text[at : min(ends)], min(ends)


def _changed(
    text: str, at: int, value: str | None, variables: Mapping[str, str], budget: Budget, depth: int
) -> tuple[str, int]:
    """Return what an operation makes of a value, and where its `${…}` ends."""
    if value is None or _is_hidden(value):
        raise _UnknownError
    operation = text[at]
    at += 1
    if operation != ":" and text[at : at + 1] == operation:
        operation, at = operation * 2, at + 1
    elif operation == "/" and text[at : at + 1] in ("#", "%"):
        operation, at = operation + text[at], at + 1
    arguments: list[str] = []
    stops = "}" if operation[0] in "#%" else "/" if operation[0] == "/" else ":}"
    while operation[0] not in ",^" and len(arguments) < 2:
        argument, at = _argument(text, at, stops, variables, budget, depth)
        arguments.append(_SLASHES.sub(r"\1", argument) if operation[0] == "/" else argument)
        if stops == "}" or text.startswith("}", at):
            break
        while text.startswith(stops[0], at):
            at += 1
        stops = "}"
        if operation[0] == "/" and text.startswith("}", at):
            break
    if not text.startswith("}", at):
        raise _UnknownError
    if any("${" in argument for argument in arguments):
        raise _UnknownError
    return _operated(operation, value, arguments), at + 1


def _operated(operation: str, value: str, arguments: list[str]) -> str:
    kind = operation[0]
    if kind in ",^":
        first, rest = (value, "") if len(operation) == 2 else (value[:1], value[1:])
        return (first.lower() if kind == "," else first.upper()) + rest
    if kind == ":":
        return _part(value, arguments)
    if kind in "#%":
        return _trimmed(value, arguments[0], longest=len(operation) == 2, at_end=kind == "%")
    old, new = arguments[0], arguments[1] if len(arguments) > 1 else ""
    if operation in ("/#", "/%"):
        if len(arguments) < 2:
            return value
        at_start = operation == "/#"
        fits = value.startswith(old) if at_start else value.endswith(old)
        replaced = new + value[len(old) :] if at_start else value[: len(value) - len(old)] + new
        return replaced if fits else value
    return value.replace(old, new, 1 if operation == "/" else -1)


def _part(value: str, arguments: list[str]) -> str:
    encoded = value.encode()
    try:
        start, *length = map(int, arguments)
    except ValueError:
        return value
    start = max(0, len(encoded) + start) if start < 0 else start
    end = len(encoded) if not length else length[0] + (len(encoded) if length[0] < 0 else start)
    return encoded[start : max(start, end)].decode("utf-8", "replace")


def _trimmed(value: str, pattern: str, *, longest: bool, at_end: bool) -> str:
    if any(character in pattern for character in "?[\\"):
        raise _UnknownError
    lengths = range(len(value), 0, -1) if longest else range(1, len(value) + 1)
    for length in lengths:
        part = value[len(value) - length :] if at_end else value[:length]
        if _fits(pattern, part):
            return value[: len(value) - length] if at_end else value[length:]
    return value


def _fits(pattern: str, text: str) -> bool:
    """Return whether a pattern, in which `*` stands for anything, fits a whole text."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    if not text.startswith(first) or not text.endswith(rest[-1]) or len(text) < len(first) + len(rest[-1]):
        return False
    at, end = len(first), len(text) - len(rest[-1])
    for part in rest[:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _is_hidden(value: str) -> bool:
    """Return whether a value was not seen."""
    return value.startswith("${")


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and keys of a value."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            rest += part
            rest += part.values()
        elif isinstance(part, list):
            rest += part


def filled_in(value: Any, variables: Mapping[str, str], budget: Budget) -> Any:
    """Return a value with its texts and keys filled in; the same object where nothing changed.

    Flux fills in the text of the manifest, from which quotes have gone by then, so that a text that has become a number
    or a boolean is one.

    Raises:
        ExhaustedError, SubstitutionError: as `substitute`.
    """
    if not any("${" in text or "$$" in text for text in _texts(value)):
        return value
    if isinstance(value, str):
        text = substitute(value, variables, budget)
        return value if text == value else _read(text, value)
    if isinstance(value, dict):
        changed = {_key(name, variables, budget): filled_in(inner, variables, budget) for name, inner in value.items()}
        is_same = len(changed) == len(value) and all(
            new_name is name and new is inner
            for (new_name, new), (name, inner) in zip(changed.items(), value.items(), strict=True)
        )
        return value if is_same else changed
    if isinstance(value, list):
        items = [filled_in(item, variables, budget) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _key(written: str, variables: Mapping[str, str], budget: Budget) -> str:
    """Return a key filled in.

    Raises:
        SubstitutionError: it is no key in YAML any more.
    """
    text = substitute(written, variables, budget)
    if text is not written and text != written and (not text or _QUOTED.search(text)) and not _QUOTED.search(written):
        raise SubstitutionError(f"key {written} becomes {text!r}, which has no quotes")
    return text


def _read(text: str, written: str) -> Any:
    """Return what YAML makes of a text in the place of another one, which was in quotes where it had to be."""
    if _QUOTED.search(written):
        if "'" in text and "'" not in written and "\n" not in written:
            raise SubstitutionError(f"a quote in a value ends {written!r}")
        return text
    if len(text) > 1 and text[0] in "\"'" and text[0] not in text[1:-1] and text[0] == text[-1]:
        return text[1:-1]
    plain, comment, _ = ("", "#", "") if text.startswith("#") else text.partition(" #")
    plain = plain.strip() if comment or text != text.strip() else plain
    if not plain or not _QUOTED.search(plain):
        return PLAIN[plain]
    return text
