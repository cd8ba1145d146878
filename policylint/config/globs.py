"""Patterns as in .gitignore, since that is what people know: `charts/`, `**/tests`, `/generated/*.yaml`, `!keep.yaml`.

The rules are those of gitignore(5): a pattern with a slash before its end is anchored, one without matches at any
depth; what lies in a matching directory matches too; the last pattern that matches decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from policylint.regex import expression


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that tells whether patterns match a posix path, relative to where the patterns start."""
    compiled = [(pattern.startswith("!"), expression(_translated(pattern.removeprefix("!")))) for pattern in patterns]

    def matches(path: str) -> bool:
        for negated, pattern_expression in reversed(compiled):
            if pattern_expression.is_whole(path):
                return not negated
        return False

    return matches


def _translated(pattern: str) -> str:
    """Return one pattern as a regular expression over whole paths of files."""
    body = pattern.rstrip("/")
    only_below = pattern.endswith("/")
    anchored = "/" in body
    body = body.removeprefix("/").removeprefix("./")
    parts = [_segment(part) for part in re.split(r"(/)", body) if part]
    text = "".join(parts)
    text = re.sub(r"^(?:\0/)+", "(?:.*/)?", text)
    text = re.sub(r"/(?:\0/)+", "/(?:.*/)?", text)
    text = re.sub(r"/\0$", "/.*", text).replace("\0", ".*")
    return "(?s)" + ("" if anchored else "(?:.*/)?") + text + ("/.*" if only_below else "(?:/.*)?")


def _segment(part: str) -> str:
    """Return one segment of a path as a regular expression; `**` becomes NUL, for the caller to replace."""
    if part == "/":
        return part
    if part == "**":
        return "\0"
    text = ""
    position = 0
    while position < len(part):
        char = part[position]
        position += 1
        if char == "*":
            text += "[^/]*"
        elif char == "?":
            text += "[^/]"
        elif char == "\\" and position < len(part):
            text += re.escape(part[position])
            position += 1
        elif char == "[" and (end := part.find("]", position + 1 + (part[position : position + 1] in ("!", "^")))) > 0:
            text += _character_class(part[position:end])
            position = end + 1
        else:
            text += re.escape(char)
    return text


def _character_class(inside: str) -> str:
    """Return the characters that `[…]` stands for, a range that runs backwards for none, as a regular expression."""
    negated = inside[0] in "!^"
    members = ""
    for range_or_character in re.findall(r"(?s).-.|.", inside[negated:]):
        first, last = range_or_character[0], range_or_character[-1]
        if first <= last:
            members += f"\\x{{{ord(first):x}}}-\\x{{{ord(last):x}}}"
    everything = r"\x{0}-\x{10ffff}"
    if not members:
        return f"[{'' if negated else '^'}{everything}]"
    return f"[{'^' if negated else ''}{members}]"
