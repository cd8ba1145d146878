"""Progress: one line on stderr, only on a terminal, only for what takes longer than half a second, gone at the end.

A timer's signal writes it, so that nothing that works has to know of it (sqlfluff's bar slowed its hook down).
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

AFTER, EVERY = 0.5, 0.2
_CLEAR = "\r\x1b[K"


class progress:  # noqa: N801 - used as `with progress("reading"):`
    """Says what is being done, and for how long, until the block ends."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._shown = False
        self._active = False

    def __enter__(self) -> None:
        if not _wanted():
            return
        import signal

        self._start = perf_counter()
        try:
            self._before = signal.signal(signal.SIGALRM, self._tick)
        except ValueError:  # not the main thread
            return
        signal.setitimer(signal.ITIMER_REAL, AFTER, EVERY)
        self._active = True

    def __exit__(self, *_: object) -> None:
        if not self._active:
            return
        import signal

        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def _tick(self, _: int, __: FrameType | None) -> None:
        self._shown = True
        sys.stderr.write(f"{_CLEAR}policylint: {self._doing} … {perf_counter() - self._start:.0f} s")
        sys.stderr.flush()


def _wanted() -> bool:
    """stderr is None where the caller closed it."""
    return bool(sys.stderr) and sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and sys.platform != "win32"
