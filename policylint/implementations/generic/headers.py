"""The names of headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from policylint.patterns import Pattern

_TOKEN: Final = Pattern(r"[-\w.!#$%&'*+^`|~]+")
"""What the name of a header may be (RFC 9110, 5.1)."""


Headers = tuple[tuple[str, str], ...]


def admitted(headers: Headers, does: Callable[[], str]) -> tuple[Headers, str, str]:
    """Return the headers of a request that a proxy goes by, why it rejects the request, "" where it does not, and what
    is to be said of those that it leaves out.

    Args:
        does: returns what becomes of a name with an underscore (`Traffic.underscored`).
    """
    odd = next((name for name, _ in headers if is_underscored(name)), "")
    done = does() if odd else ""
    if done == "rejected":
        return headers, f"the name of header {odd} has an underscore, and this Gateway rejects such requests", ""
    if done == "dropped":
        kept = tuple((name, value) for name, value in headers if not is_underscored(name))
        return kept, "", f"the Gateway leaves out header {odd}, whose name has an underscore"
    return headers, "", ""


def is_underscored(name: str) -> bool:
    """Return whether something is a name of headers, with an underscore in it."""
    return "_" in name and _TOKEN.fullmatch(name) is not None
