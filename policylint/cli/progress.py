"""Progress: one line on stderr, only on a terminal, only for what takes longer than half a second, gone at the end.

A timer's signal writes it, so that nothing that works has to know of it (sqlfluff's bar slowed its hook down).
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

AFTER, EVERY = 0.5, 0.2
_CLEAR = "\r\x1b[K"


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Say what is being done, and for how long, until the block ends."""
    if not _can_show():
        yield
        return
    import signal

    start, shown = perf_counter(), False

    def tick(*_: object) -> None:
        nonlocal shown
        shown = True
        sys.stderr.write(f"{_CLEAR}policylint: {doing} … {perf_counter() - start:.0f} s")
        sys.stderr.flush()

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, AFTER, EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


def _can_show() -> bool:
    """Tell whether stderr is a terminal that a line can be erased on, and this the thread that gets signals."""
    if not sys.stderr or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or sys.platform == "win32":
        return False
    import threading

    return threading.current_thread() is threading.main_thread()
