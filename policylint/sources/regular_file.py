"""Read a file without ever hanging: a FIFO is never opened for reading, a huge file never read."""

# Paths stay strings with os.path here: thousands are listed, `a/../b` must be shown as given, and pathlib is slower.
# ruff: noqa: PTH114, PTH116

from __future__ import annotations

import os
import stat
from typing import Final

from policylint.sources.source import (
    BROKEN_SYMLINK,
    MAX_BYTES,
    NOT_A_REGULAR_FILE,
    NOT_FOUND,
    SYMLINK_LOOP,
    TOO_LARGE,
    UNREADABLE,
    SourceError,
)

# O_NONBLOCK: should a FIFO have taken the file's place since it was listed, opening it must not wait for a writer.
_READING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_regular(place: str, shown: str) -> bytes:
    """Return the bytes of the regular file at `place`.

    Raises:
        SourceError: what is in the way, in the user's words.
    """
    try:
        descriptor = os.open(place, _READING)
    except OSError as error:
        check_regular(place, shown)  # says more precisely what is in the way
        raise in_words(error, shown) from error
    try:
        state = os.fstat(descriptor)
        size = _size(state, shown)
        data = os.read(descriptor, size + 1)
        if len(data) != size:  # it grew or shrank, or is one of those that do not say
            pieces = [data]
            while pieces[-1] and sum(map(len, pieces)) <= MAX_BYTES:
                pieces.append(os.read(descriptor, 1 << 20))
            data = b"".join(pieces)
    except OSError as error:
        raise in_words(error, shown) from error
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise too_large(len(data), shown)
    return data


def check_regular(place: str, shown: str) -> int:
    """Return the size of the regular file at `place`.

    Raises:
        SourceError: there is none, or it is too large.
    """
    try:
        state = os.stat(place)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and os.path.islink(place):
            raise SourceError(BROKEN_SYMLINK, "symbolic link to nothing", shown) from error
        raise in_words(error, shown) from error
    return _size(state, shown)


def _size(state: os.stat_result, shown: str) -> int:
    """Return the size of a regular file, by its status.

    Raises:
        SourceError: it is no regular file, or too large.
    """
    if not stat.S_ISREG(state.st_mode):
        raise SourceError(NOT_A_REGULAR_FILE, f"is {_describe_mode(state.st_mode)}, not a file", shown)
    if state.st_size > MAX_BYTES:
        raise too_large(state.st_size, shown)
    return state.st_size


def read_stream(descriptor: int, shown: str) -> bytes:
    """Return all of a stream: stdin, or `/dev/fd/63` of a process substitution."""
    try:
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise in_words(error, shown) from error
    if len(data) > MAX_BYTES:
        raise too_large(len(data), shown)
    return data


def too_large(size: int, shown: str) -> SourceError:
    limit = MAX_BYTES // 2**20
    return SourceError(TOO_LARGE, f"{size / 2**20:.0f} MiB; files over {limit} MiB are not read", shown)


def in_words(error: OSError, shown: str) -> SourceError:
    """Return the operating system's error as a SourceError."""
    import errno

    if isinstance(error, FileNotFoundError):
        return SourceError(NOT_FOUND, "no such file or directory", shown)
    if error.errno == errno.ELOOP:
        return SourceError(SYMLINK_LOOP, "symbolic link that leads back to itself", shown)
    if isinstance(error, PermissionError):
        return SourceError(UNREADABLE, "permission denied", shown)
    return SourceError(UNREADABLE, (error.strerror or "cannot be read").lower(), shown)


def _describe_mode(mode: int) -> str:
    for test, name in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return name
    return "something else"
