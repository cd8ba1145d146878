"""Match hosts against patterns that may hold unresolved variables: `echo.${DOMAIN}` may be `echo.example.com`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from policylint.model import is_symbolic
from policylint.model.keys import VARIABLES, taken_between
from policylint.topology.hostnames import matches, without_port

_LONGEST: Final = 2_000
"""Characters of a host with variables that is looked at: a host without has 253 at most."""


def serves(host: str, pattern: str) -> bool:
    """Return whether a host falls under a pattern, or may once its variables have values.

    Source: docs/design/request-precedence.md §1.
    """
    return matches(host, pattern) or (bool(host) and is_symbolic(pattern) and may_be(host, pattern))


def is_exact(hostname: str) -> bool:
    """Return whether a pattern names one host."""
    return bool(hostname) and not hostname.startswith("*.") and not is_symbolic(hostname)


def may_be(host: str, pattern: str) -> bool:
    """Return whether some values for a pattern's variables would make it cover a host that it does not cover as is."""
    if not is_symbolic(pattern) or matches(host, pattern):
        return False
    if len(pattern) > _LONGEST:
        return True
    first, *rest = parts_of(pattern)
    return taken_between(first, rest, without_port(host)) is not None


def taken_to_be(host: str, patterns: Iterable[str]) -> list[str]:
    """Return the notes on patterns that cover a host only by what their variables may stand for."""
    names = sorted({name for name in patterns if may_be(host, name)})
    return [f"{name} is taken to be {host}: nothing in the tree fills in its variable" for name in names]


def parts_of(pattern: str) -> list[str]:
    """Return the parts of a pattern between its variables, with at least one character of a host between any two."""
    first, *rest = VARIABLES.split(pattern[: _LONGEST + 1].lower())
    return ["", first[1:], *rest] if first.startswith("*.") else [first, *rest]
