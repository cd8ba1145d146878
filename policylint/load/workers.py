"""Processes beside this one that read and parse a part of a large tree's files, and hand over lines for a pack.

Only for the work tree, whose files anyone can open, and only where there is so much to parse that handing over costs
less (docs/speed.md). A worker that fails is no failure: what it had to do is done here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import IO, Final

from policylint.sources import SourceError, SourceFile

FEWEST: Final = 1000
"""Files a process must have to itself to be worth what it costs."""
MOST: Final = 4
"""Processes unless more are asked for: this one has to take in what the others found."""

Line = Callable[[SourceFile], "tuple[str, str] | None"]


def processes(files: int, asked: int | None) -> int:
    """How many processes read so many files, this one included: as asked, or one a core where it pays."""
    if not hasattr(os, "fork"):
        return 1
    if asked is not None:
        return max(1, min(asked, files))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, MOST, files // FEWEST))


class Workers:
    """Started at once; `lines` waits for them.

    Attributes:
        files: paths, as shown, of the files that they read.
    """

    def __init__(self, files: Sequence[SourceFile], count: int, line: Line) -> None:
        """`line` gives what a file is known by and the JSON of its facts, None for a file to be read here."""
        share = len(files) // count
        parts = [files[at * share : (at + 1) * share if at < count - 1 else None] for at in range(1, count)]
        self.files = frozenset(file.path for part in parts for file in part)
        self._running: list[tuple[int, IO[bytes]]] = []
        for part in parts:
            place = _nameless()
            child = _forked()
            if child is None:  # no room for another process
                place.close()
                continue
            if child == 0:
                _work(place, part, line)
            self._running.append((child, place))

    def lines(self) -> dict[str, bytes]:
        """What the workers found, by what a content is known by."""
        found: dict[str, bytes] = {}
        for child, place in self._running:
            _, status = os.waitpid(child, 0)
            with place:
                if status != 0:
                    continue
                place.seek(0)
                for line in place:
                    key, _, value = line.partition(b" ")
                    found[key.decode()] = value.rstrip(b"\n")
        self._running = []
        return found


def _forked() -> int | None:
    try:
        return os.fork()
    except OSError:
        return None


def _work(place: IO[bytes], files: Sequence[SourceFile], line: Line) -> None:
    """The life of a worker; never returns."""
    code = 1
    try:
        for file in files:
            try:
                found = line(file)
            except SourceError:
                continue
            if found is not None:
                place.write(f"{found[0]} {found[1]}\n".encode())
        place.flush()
        code = 0
    finally:
        os._exit(code)  # nothing of the parent's is to be flushed or closed twice


def _nameless() -> IO[bytes]:
    """A file without a name, gone with the processes that have it open."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("policylint"), "w+b")  # noqa: PTH123 - handed on
    from tempfile import TemporaryFile

    return TemporaryFile()
