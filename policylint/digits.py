"""Which text is a whole number, and which is not though `str.isdigit` takes it."""

from __future__ import annotations


def whole_number(text: str) -> int | None:
    """Return the number that digits write; None for other texts, for digits of other scripts (`²`, which `int` does not
    take), and for more of them than anybody means, which `int` refuses."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
