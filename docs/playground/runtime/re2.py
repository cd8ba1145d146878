"""The part of google-re2 that policylint uses, by RE2JS: the same syntax, and linear time, in a browser."""

from __future__ import annotations

from typing import Any

from js import RE2JS  # type: ignore[import-not-found]


class error(Exception):  # noqa: N801, N818
    """An expression that RE2 refuses; its first argument is the reason, as bytes."""


class Options:
    """What google-re2 can be told; nothing of it matters here, since logs and captures are not made."""

    max_mem = 0
    never_capture = True
    log_errors = False


class Compiled:
    """One expression.

    Attributes:
        programsize: of google-re2, how many instructions it has; here how long it is.
    """

    def __init__(self, pattern: str) -> None:
        self._compiled: Any = RE2JS.compile(pattern)
        self.programsize = len(pattern) + 1

    def fullmatch(self, text: bytes) -> bool | None:
        return True if self._compiled.matches(_decoded(text)) else None

    def search(self, text: bytes) -> bool | None:
        return True if self._compiled.matcher(_decoded(text)).find() else None


def compile(pattern: bytes, options: Options | None = None) -> Compiled:  # noqa: A001, ARG001
    """Compile an expression; there is nothing to set.

    Raises:
        error: it is none of RE2.
    """
    try:
        return Compiled(_decoded(pattern))
    except Exception as refused:
        raise error(str(refused).encode()) from refused


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")
