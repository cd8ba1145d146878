"""Patterns as in .gitignore, since that is what people know: `charts/`, `**/tests`, `/generated/*.yaml`, `!keep.yaml`.

The rules are those of gitignore(5): a pattern with a slash before its end is anchored, one without matches at any
depth; what lies in a matching directory matches too; the last pattern that matches decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a posix path, relative to where the patterns start, is matched by them."""
    compiled = [(pattern.startswith("!"), expression(pattern.removeprefix("!"))) for pattern in patterns]

    def matches(path: str) -> bool:
        for negated, each in reversed(compiled):
            if each.fullmatch(path):
                return not negated
        return False

    return matches


@cache
def expression(pattern: str) -> re.Pattern[str]:
    """One pattern as a regular expression over whole paths of files."""
    body = pattern.rstrip("/")
    only_below = pattern.endswith("/")
    anchored = "/" in body
    body = body.removeprefix("/").removeprefix("./")
    parts = [_segment(each) for each in re.split(r"(/)", body) if each]
    text = "".join(parts)
    text = re.sub(r"^\0/", "(?:.*/)?", text)
    text = text.replace("/\0/", "/(?:.*/)?")
    text = re.sub(r"/\0$", "/.*", text).replace("\0", ".*")
    return re.compile(("" if anchored else "(?:.*/)?") + text + ("/.*" if only_below else "(?:/.*)?"), re.DOTALL)


def _segment(part: str) -> str:
    if part == "/":
        return part
    if part == "**":
        return "\0"
    text = ""
    here = 0
    while here < len(part):
        char = part[here]
        here += 1
        if char == "*":
            text += "[^/]*"
        elif char == "?":
            text += "[^/]"
        elif char == "\\" and here < len(part):
            text += re.escape(part[here])
            here += 1
        elif char == "[" and (end := part.find("]", here + 1)) > 0:
            inside = part[here:end].replace("\\", "\\\\")
            text += "[^" + inside[1:] + "]" if inside[0] in "!^" else f"[{inside}]"
            here = end + 1
        else:
            text += re.escape(char)
    return text
