"""Facts about file contents, kept from run to run: one pack of lines per tree, keyed by git blob id.

A pack is `<key> <json>` lines, the newest first, under a last line with the digest of all that is before it. It is
whole, made by the same version for the same purpose (its stamp), or it is nothing: whatever else is found is as good as
an empty cache. With a secret (POLICYLINT_CACHE_KEY) the digest can be made only by who knows it; without, whoever can
write the file can make policylint see other manifests, but never make it run code or end in a crash: lines are JSON,
bounded, and what they hold is checked like input (documents/serialize.py).

Nothing here ever fails: a cache that cannot be read or written is none.
"""

# Paths stay strings with os.path here, as in the other sources.
# ruff: noqa: PTH100, PTH103, PTH105, PTH108, PTH111, PTH117, PTH118, PTH123

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from typing import IO, Any, Final

MAX_PACK: Final = 96 * 1024 * 1024
MAX_LINE: Final = 8 * 1024 * 1024
MAX_CACHE: Final = 256 * 1024 * 1024
"""All packs together; the longest unused go first."""
SUFFIX: Final = ".pack"
_TEMPORARY: Final = ".tmp"
_ABANDONED: Final = 3600.0  # seconds after which nobody is writing a temporary file any more
_BATCH: Final = 512  # pieces of lines written together
_DIGEST: Final = 32  # bytes, of blake2b
_END: Final = b"digest "
DIRECTORY, SECRET = "POLICYLINT_CACHE_DIR", "POLICYLINT_CACHE_KEY"


def cache_directory(said: str | None = None) -> str | None:
    """Where packs lie: as said, else $POLICYLINT_CACHE_DIR, else the user's cache directory; None where there is none.

    The directory need not exist.
    """
    chosen = said or os.environ.get(DIRECTORY)
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # XDG Base Directory Specification: others are to be ignored
        home = os.path.expanduser("~")
        if not os.path.isabs(home) or home == "/":
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, "policylint")


def content_id(data: bytes) -> str:
    """The id that git gives a blob."""
    found: str = _sha1()(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()
    return found


@cache
def _sha1() -> Any:
    """Looked up once, not for every file."""
    from hashlib import sha1

    return sha1


class Pack:
    """One file of a cache, read at once, written anew if something was added."""

    def __init__(self, directory: str, tree: str, stamp: str) -> None:
        """`tree` is what the contents belong to (a path, say); `stamp` all that decides what is made of a content."""
        from hashlib import blake2b

        name = blake2b(os.fsencode(tree), digest_size=8).hexdigest()
        self._stamp = blake2b(stamp.encode(), digest_size=16).hexdigest().encode()
        self._directory = directory
        self._file = os.path.join(directory, f"{name}-{self._stamp[:16].decode()}{SUFFIX}")
        secret = os.environ.get(SECRET, "").encode()
        self._secret = blake2b(secret, digest_size=32).digest() if secret else b""
        self._lines: dict[bytes, bytes] = self._read()
        self._used: dict[bytes, None] = {}
        self._out: IO[bytes] | None = None
        self._place = ""
        self._written: set[bytes] = set()
        self._digest: Any = None
        self._size = 0
        self._pending: list[bytes] = []
        self._is_over = False

    def get(self, key: str) -> bytes | None:
        """The JSON that was put under a key."""
        known = key.encode()
        line = self._lines.get(known)
        if line is None or len(line) > MAX_LINE:
            return None
        self._used[known] = None
        return line

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, key: str) -> bool:
        return key.encode() in self._lines

    def forget(self) -> None:
        """Something in it is not what was put there: it counts for nothing, and will be written anew."""
        self._lines, self._used = {}, {}

    def put(self, key: str, line: str) -> None:
        """Keep one line of JSON, unless it is too long or there is no place."""
        self._put(key.encode(), line.encode())

    def close(self) -> None:
        """Write what was added; everything else stays, as far as there is room."""
        if self._is_over:
            return
        if self._out is not None:
            for key in [*self._used, *(each for each in self._lines if each not in self._used)]:
                self._put(key, self._lines[key])
            self._finish()
            evict(self._directory)
        elif self._used:
            self._touch()
        self._is_over = True
        self._lines = {}

    def discard(self) -> None:
        """Leave the file as it is."""
        self._is_over = True
        self._lines = {}
        if self._out is not None:
            with suppress(OSError):
                self._out.close()
            with suppress(OSError):
                os.unlink(self._place)

    def _begun(self) -> Any:
        from hashlib import blake2b

        return blake2b(b"policylint " + self._stamp, digest_size=_DIGEST, key=self._secret)

    def _read(self) -> dict[bytes, bytes]:
        try:
            descriptor = os.open(self._file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            with open(descriptor, "rb") as file:
                if os.fstat(descriptor).st_size > MAX_PACK + 1024:
                    return {}
                data = file.read(MAX_PACK + 1024)
        except OSError:
            return {}
        end = data.rfind(_END)
        if end < 0:
            return {}
        digest = self._begun()
        digest.update(memoryview(data)[:end])
        from hmac import compare_digest

        if not compare_digest(data[end + len(_END) :].strip(), digest.hexdigest().encode()):
            return {}
        found = {}
        for line in data.split(b"\n"):
            key, space, content = line.partition(b" ")
            if space:
                found[key] = content
        found.pop(_END.strip(), None)
        return found

    def _put(self, key: bytes, line: bytes) -> None:
        if self._is_over or len(line) > MAX_LINE or key in self._written or self._size + len(line) > MAX_PACK:
            return
        try:
            if self._out is None:
                self._open()
            assert self._out is not None
            self._pending += (key, b" ", line, b"\n")
            if len(self._pending) >= _BATCH:
                self._flush()
        except OSError:  # no place, no permission
            self.discard()
            return
        self._size += len(key) + len(line) + 2
        self._written.add(key)

    def _flush(self) -> None:
        assert self._out is not None
        data = b"".join(self._pending)
        self._pending = []
        self._digest.update(data)
        self._out.write(data)

    def _open(self) -> None:
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        # As tempfile does, whose import takes as long as a hundred files.
        self._place = f"{self._file.removesuffix(SUFFIX)}-{os.getpid()}-{os.urandom(4).hex()}{_TEMPORARY}"
        descriptor = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._out = open(descriptor, "wb", buffering=1 << 20)  # noqa: SIM115 - closed by `_finish` and `discard`
        self._digest = self._begun()

    def _finish(self) -> None:
        if self._is_over or self._out is None:
            return
        try:
            self._flush()
            self._out.write(_END + self._digest.hexdigest().encode() + b"\n")
            self._out.close()
            os.replace(self._place, self._file)
        except OSError:
            self.discard()

    def _touch(self) -> None:
        """A pack that is used stays."""
        with suppress(OSError):
            os.utime(self._file)


def packs(directory: str) -> list[tuple[float, int, str]]:
    """(last use, size, path) of every file of a cache, the longest unused first."""
    found = []
    with suppress(OSError), os.scandir(directory) as entries:
        for each in entries:
            if each.name.endswith((SUFFIX, _TEMPORARY)) and each.is_file(follow_symlinks=False):
                with suppress(OSError):
                    state = each.stat(follow_symlinks=False)
                    found.append((state.st_mtime, state.st_size, each.path))
    return sorted(found)


def evict(directory: str, limit: int = MAX_CACHE) -> None:
    """Delete what nobody is writing any more, and the longest unused packs, until the rest is within the limit."""
    from time import time

    listed = packs(directory)
    size = sum(each for _, each, _ in listed)
    now = time()
    for last, each, path in listed:
        abandoned = path.endswith(_TEMPORARY) and now - last > _ABANDONED
        if abandoned or (size > limit and path.endswith(SUFFIX)):
            with suppress(OSError):
                os.unlink(path)
                size -= each


def clean(directory: str) -> tuple[int, int]:
    """Delete every file of a cache; how many there were and their bytes. Nothing else in the directory is touched."""
    number = size = 0
    for _, each, path in packs(directory):
        with suppress(OSError):
            os.unlink(path)
            number, size = number + 1, size + each
    return number, size
