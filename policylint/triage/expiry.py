"""The text of comments and annotations beside the rule: the reason, and the day until which it holds."""

from __future__ import annotations

import re

from policylint.patterns import Pattern

_EXPIRES = Pattern(
    r"[ \t]*[(\[]?\bexpires[ \t]*[=:]?[ \t]*(\d{4}-\d{2}-\d{2})\b[)\]]?[ \t]*[,;:]?[ \t]*", re.IGNORECASE
)


def expiry(text: str) -> tuple[str, str]:
    """Split `checked by the app (expires 2027-01-31)` into reason and date; the date is "" where none is given."""
    match = _EXPIRES.search(text)
    if match is None:
        return text, ""
    return f"{text[: match.start()]} {text[match.end() :]}".strip(), match[1]
