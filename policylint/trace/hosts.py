"""Match hosts against patterns that may hold unresolved variables: `echo.${DOMAIN}` may be `echo.example.com`."""

from __future__ import annotations

from typing import Final

from policylint.model import is_symbolic
from policylint.model.keys import VARIABLES
from policylint.topology.hostnames import matches

_LONGEST: Final = 2_000
"""Characters of a host with variables that is looked at: a host without has 253 at most."""


def serves(host: str, pattern: str) -> bool:
    """Return whether a host falls under a pattern, or may once its variables have values.

    Source: docs/design/request-precedence.md §1.
    """
    return matches(host, pattern) or (bool(host) and is_symbolic(pattern) and may_be(host, pattern))


def may_be(host: str, pattern: str) -> bool:
    """Return whether some values for a pattern's variables would make it cover a host that it does not cover as is."""
    if not is_symbolic(pattern) or matches(host, pattern):
        return False
    name, colon, port = host.rpartition(":")
    if len(pattern) > _LONGEST:
        return True
    first, *rest = parts_of(pattern)
    return _has_parts((name if colon and port.isdigit() else host).lower(), first, rest)


def parts_of(pattern: str) -> list[str]:
    """Return the parts of a pattern between its variables, with at least one character of a host between any two."""
    first, *rest = VARIABLES.split(pattern[: _LONGEST + 1].lower())
    return ["", first[1:], *rest] if first.startswith("*.") else [first, *rest]


def _has_parts(host: str, first: str, rest: list[str]) -> bool:
    """Return whether a host is `first` and the rest, with at least one character before each part of the rest."""
    if not rest:
        return host == first
    end = len(host) - len(rest[-1])
    position = len(first)
    for part in rest[:-1]:
        found = host.find(part, position + 1)
        if found < 0:
            return False
        position = found + len(part)
    return host.startswith(first) and position < end and host.endswith(rest[-1])
