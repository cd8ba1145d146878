"""Match hosts against patterns that may hold unresolved variables: `echo.${DOMAIN}` may be `echo.example.com`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from policylint.model import is_symbolic
from policylint.topology.hostnames import matches


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
    return _expression(pattern).fullmatch(name if colon and port.isdigit() else host) is not None


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> Any:
    import re

    wildcard = pattern.startswith("*.")
    rest = pattern[1:] if wildcard else pattern
    parts = re.split(r"\$\{[^}]*\}|\{\{.*?\}\}|<[^>]*>", rest)
    return re.compile((".+" if wildcard else "") + ".+".join(map(re.escape, parts)), re.IGNORECASE)
