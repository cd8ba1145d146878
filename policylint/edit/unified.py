"""Show the difference of two files as a unified diff that `git apply` accepts."""

from __future__ import annotations

from collections.abc import Callable

_COLORS = {"-": "\033[31m", "+": "\033[32m", "@": "\033[36m"}
_BOLD, _END = "\033[1m", "\033[0m"


def unified(
    path: str,
    old: bytes,
    new: bytes,
    *,
    color: bool = False,
    shown: Callable[[list[str]], list[str]] = lambda lines: lines,
) -> str:
    """Return the diff, with the line ends of the files; `shown` gives lines as readers may see them."""
    from difflib import unified_diff

    before, after = shown(_lines(old)), shown(_lines(new))
    lines = []
    for number, line in enumerate(unified_diff(before, after, f"a/{path}", f"b/{path}")):
        text = line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        lines.append(_colored(text, head=number < 2) if color else text)
    return "".join(lines)


def _lines(data: bytes) -> list[str]:
    """Split into lines at LF only, as git does."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _colored(text: str, *, head: bool) -> str:
    start = _BOLD if head else _COLORS.get(text[0], "")
    line, end, rest = text.partition("\n")
    return f"{start}{line}{_END}{end}{rest}" if start else text
