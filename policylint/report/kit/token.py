"""The end of the YAML token at a position, so that carets and regions cover it."""

from __future__ import annotations

_CLOSING = {"{": "}", "[": "]"}


def token_end(line: str, column: int) -> int:
    """Return the 1-based column after the token that starts at `column` of a line; it covers at least one character.

    A key ends before its colon, a plain scalar before a comment (in a flow collection also before `,`, `]` and `}`), a
    quoted one after its quote, a flow collection after its bracket. What goes on in the next line ends with this one.
    """
    start = column - 1
    if not 0 <= start < len(line):
        return column + 1
    start = _after_properties(line, start)
    first = line[start]
    if first in "\"'":
        end = _quoted(line, start, first)
    elif first in _CLOSING:
        end = _flow(line, start)
    elif first in "-?" and line[start + 1 : start + 2] in ("", " ", "\t"):
        end = start + 1
    else:
        end = _plain(line, start)
    return max(end, column) + 1 if end <= start else end + 1


def _after_properties(line: str, start: int) -> int:
    """Step over `&anchor` and `!tag` when something follows them in the line."""
    at = start
    while line[at] in "&!":
        after = at
        while after < len(line) and line[after] not in " \t":
            after += 1
        while after < len(line) and line[after] in " \t":
            after += 1
        if after == len(line) or line[after] == "#":
            return at
        at = after
    return at


def _quoted(line: str, start: int, quote: str) -> int:
    at = start + 1
    while at < len(line):
        if quote == '"' and line[at] == "\\":
            at += 2
        elif line[at] == quote:
            if quote == "'" and line[at + 1 : at + 2] == "'":
                at += 2
            else:
                return at + 1
        else:
            at += 1
    return len(line.rstrip())


def _flow(line: str, start: int) -> int:
    waiting: list[str] = []
    at = start
    while at < len(line):
        char = line[at]
        if char in "\"'" and line[at - 1] in " ,:[{":
            at = _quoted(line, at, char)
            continue
        if char in _CLOSING:
            waiting.append(_CLOSING[char])
        elif waiting and char == waiting[-1]:
            waiting.pop()
            if not waiting:
                return at + 1
        at += 1
    return len(line.rstrip())


def _plain(line: str, start: int) -> int:
    before = line[:start]
    inside_flow = before.count("{") + before.count("[") > before.count("}") + before.count("]")
    at = start
    while at < len(line):
        char = line[at]
        if char == ":" and line[at + 1 : at + 2] in ("", " ", "\t"):
            break
        if char == "#" and at and line[at - 1] in " \t":
            break
        if inside_flow and char in ",]}":
            break
        at += 1
    return start + len(line[start:at].rstrip())
