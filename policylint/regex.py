"""Regular expressions that manifests and configurations bring, matched by RE2 in time linear in the text.

Python's engine backtracks: an expression of 30 characters can keep it busy for years. RE2 is also what Envoy matches
with, and its syntax is that of Go's `regexp`, which the API server and kustomize use: what it refuses (look-around,
backreferences), they refuse. The syntax is that of https://github.com/google/re2/wiki/Syntax: `$` is the end of the
text and nothing else, `\\d`, `\\w` and `\\s` are ASCII.

tests/architecture/test_regex.py holds that `re` gets no expressions but our own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from policylint.digits import whole_number
from policylint.patterns import Pattern

_MAX_MEMORY: Final = 1 << 20
"""Bytes for one expression, compiled, and the states that it remembers."""
_REFERENCE: Final = Pattern(r"\$(?:\$|\{(\w+)\}|(\w+))")
"""A group in a template."""
_MAX_STEPS: Final = 50_000_000
"""Instructions times bytes of one match: at most 0.3 s (2 GHz, x86-64), where RE2 cannot remember states."""


class Expression:
    """One expression, compiled. Its answers are None where it is refused, or where deciding would take too much.

    Attributes:
        refusal: why it matches nothing anywhere, to follow "is": `no expression of RE2 (missing ))`; "" where it may
            match, or is too large to tell.
    """

    __slots__ = ("_compiled", "refusal")

    def __init__(self, pattern: str) -> None:
        import re2

        options = re2.Options()
        options.max_mem = _MAX_MEMORY
        options.never_capture = True
        options.log_errors = False
        self._compiled: Any = None
        self.refusal = ""
        try:
            # Bytes, since characters need not be counted, and a lone surrogate has no other form.
            self._compiled = re2.compile(_encoded(pattern), options)
        except re2.error as error:
            why = error.args[0].decode("utf-8", "replace")
            if not why.startswith("pattern too large"):
                self.refusal = f"no expression of RE2 ({why if len(why) <= 80 else why[:79] + '…'})"

    def is_whole(self, text: str) -> bool | None:
        """Return whether the expression matches the whole text."""
        encoded = _encoded(text)
        return self._compiled.fullmatch(encoded) is not None if self._can_match(encoded) else None

    def is_within(self, text: str) -> bool | None:
        """Return whether the expression matches anywhere in the text."""
        encoded = _encoded(text)
        return self._compiled.search(encoded) is not None if self._can_match(encoded) else None

    def _can_match(self, text: bytes) -> bool:
        return self._compiled is not None and self._compiled.programsize * len(text) <= _MAX_STEPS


@lru_cache(maxsize=128)
def expression(pattern: str) -> Expression:
    """Return an expression, compiled; never an exception."""
    return Expression(pattern)


@lru_cache(maxsize=128)
def _capturing(pattern: str) -> Any:
    """Return an expression of RE2 that tells what its groups hold; it is asked of those that are taken for one."""
    import re2

    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    return re2.compile(_encoded(pattern), options)


def expanded(pattern: str, text: str, template: str, *, most: int = 0) -> str:
    """Return a text with what an expression finds replaced: `$1`, `${name}` stand for groups, as in Go's Expand.

    Args:
        most: how many places are replaced, 0 for all.
    """
    if expression(pattern).is_within(text) is not True:
        return text
    compiled = _capturing(pattern)

    def written(found: Any) -> bytes:
        def group(reference: Any) -> str:
            if reference[0] == "$$":
                return "$"
            name = reference[1] or reference[2]
            number = whole_number(name) if name.isdigit() else compiled.groupindex.get(_encoded(name))
            value = found.group(number) if number is not None and number <= compiled.groups else None
            return "" if value is None else str(value.decode("utf-8", "surrogatepass"))

        return _encoded(str(_REFERENCE.sub(group, template)))

    changed = compiled.sub(written, _encoded(text), count=most)
    return str(changed.decode("utf-8", "surrogatepass"))


def pieces(pattern: str, text: str) -> list[str] | None:
    """Return the parts of a text between the places that an expression finds, and those places, by turns.

    It is None where the expression is refused, or where deciding would take too much. What is empty is no place right
    behind another one, as in Go.
    """
    encoded = _encoded(text)
    if expression(pattern).is_within(text) is None:
        return None
    made, at, last = [], 0, -1
    for found in _capturing(pattern).finditer(encoded):
        start, end = found.span()
        if start == end == last or (start == end and 0 < start < len(encoded) and encoded[start] & 0xC0 == 0x80):
            continue
        made += [encoded[at:start], encoded[start:end]]
        at = last = end
    return [part.decode("utf-8", "replace") for part in (*made, encoded[at:])]


def quoted(text: str) -> str:
    """Return the expression that matches a text and nothing else."""
    import re2

    return str(re2.escape(text))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
