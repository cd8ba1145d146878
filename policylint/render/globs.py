"""Patterns of file names as the deployers' libraries read them: Go's `filepath.Match`, and gobwas/glob with braces.

Neither is gitignore's, nor the shell's: one knows no braces, the other lets `*` stand for slashes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from policylint.patterns import Pattern
from policylint.regex import Expression, expression

PLAIN = Pattern(r"[^*?\[\\{]*")
"""A pattern that matches itself alone."""
_SPECIAL = Pattern(r"[\\\[\]^&~|]")


@lru_cache(maxsize=256)
def glob(pattern: str, *, braces: bool = False, slashes: bool = True) -> Expression:
    """Return a pattern as an expression over a whole text; one that matches nothing for a malformed one.

    Args:
        braces: whether `{a,b}` is one or the other, and `[!a]` what `[^a]` is without (gobwas/glob, which has no
            separators).
        slashes: whether `*` and `?` stand for them; where they do not, `**` does.
    """
    parts: list[str] = []
    index = depth = 0
    any_text = ".*" if slashes else "[^/]*"
    while index < len(pattern):
        character = pattern[index]
        index += 1
        if character == "*":
            is_double = parts[-1:] == [any_text]
            parts[len(parts) - is_double :] = [".*" if is_double else any_text]
        elif character == "?":
            parts.append("." if slashes else "[^/]")
        elif character == "[":
            negation = pattern[index : index + 1] == ("!" if braces else "^")
            end = pattern.find("]", index + 1 + negation)
            inner = pattern[index + negation : end]
            index = end + 1 or len(pattern)
            parts.append(f"[{'^' if negation else ''}{_SPECIAL.sub(_escaped, inner)}]" if end > 0 else "[")
        elif braces and character == "{":
            depth += 1
            parts.append("(?:")
        elif braces and character == "}" and depth:
            depth -= 1
            parts.append(")")
        elif braces and character == "," and depth:
            parts.append("|")
        else:
            if character == "\\" and index < len(pattern):
                character = pattern[index]
                index += 1
            parts.append(re.escape(character))
    return expression(f"(?s){''.join(parts)}{')' * depth}")


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}"
