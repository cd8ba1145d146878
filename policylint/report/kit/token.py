"""Where the YAML token that a position points at ends, so that carets and regions cover it."""

from __future__ import annotations

_CLOSING = {"{": "}", "[": "]"}


def token_end(line: str, column: int) -> int:
    """The 1-based column after the token that starts at `column` of a line; at least one character is covered.

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
    """Steps over `&anchor` and `!tag` when something follows them in the line."""
    here = start
    while line[here] in "&!":
        after = here
        while after < len(line) and line[after] not in " \t":
            after += 1
        while after < len(line) and line[after] in " \t":
            after += 1
        if after == len(line) or line[after] == "#":
            return here
        here = after
    return here


def _quoted(line: str, start: int, quote: str) -> int:
    here = start + 1
    while here < len(line):
        if quote == '"' and line[here] == "\\":
            here += 2
        elif line[here] == quote:
            if quote == "'" and line[here + 1 : here + 2] == "'":
                here += 2
            else:
                return here + 1
        else:
            here += 1
    return len(line.rstrip())


def _flow(line: str, start: int) -> int:
    waiting: list[str] = []
    here = start
    while here < len(line):
        char = line[here]
        if char in "\"'" and line[here - 1] in " ,:[{":
            here = _quoted(line, here, char)
            continue
        if char in _CLOSING:
            waiting.append(_CLOSING[char])
        elif waiting and char == waiting[-1]:
            waiting.pop()
            if not waiting:
                return here + 1
        here += 1
    return len(line.rstrip())


def _plain(line: str, start: int) -> int:
    inside_flow = line.count("{", 0, start) + line.count("[", 0, start) > line.count("}", 0, start) + line.count(
        "]", 0, start
    )
    here = start
    while here < len(line):
        char = line[here]
        if char == ":" and line[here + 1 : here + 2] in ("", " ", "\t"):
            break
        if char == "#" and here and line[here - 1] in " \t":
            break
        if inside_flow and char in ",]}":
            break
        here += 1
    return start + len(line[start:here].rstrip())
