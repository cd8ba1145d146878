"""Charts that are packed in the `charts/` directory of another one, as `helm dependency build` leaves them.

Read in memory, and by hand: `tarfile` of supported Pythons does not end on some archives (CVE-2025-8194), or not soon
(CVE-2024-6232). Source: helm v3, `pkg/chart/loader/archive.go`; the format is that of POSIX.1-2001.
"""

from __future__ import annotations

import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Final

from policylint.render.helm.program import HelmError

MOST_BYTES: Final = 16 * 2**20
"""Bytes of all packed charts of one chart together, unpacked; helm takes 100 MiB of each."""
_BLOCK: Final = 512
_FILES: Final = (b"0", b"\0", b"7")
_SUM: Final = slice(148, 156)
_LONGEST_LENGTH: Final = 20


class Room:
    """How much may still be unpacked."""

    def __init__(self) -> None:
        self.bytes = MOST_BYTES


def unpacked(data: bytes, path: str, room: Room) -> dict[str, bytes]:
    """Return the files of a packed chart, by path below the chart's own directory.

    Raises:
        HelmError: helm refuses the archive, or it is too large.
    """
    files: dict[str, bytes] = {}
    try:
        for name, content in _entries(_inflated(data, room)):
            first, _, rest = name.replace("\\", "/").partition("/")
            steps = [step for step in rest.split("/") if step not in ("", ".")]
            if first == "Chart.yaml" or not steps or ".." in steps or rest.startswith("/"):
                raise HelmError(f"{path}: {name[:100]!r} is outside of the chart's directory")
            files["/".join(steps)] = content.removeprefix(BOM_UTF8)
    except (ValueError, zlib.error) as error:
        raise HelmError(f"{path} is no packed chart: {error}") from None
    if "Chart.yaml" not in files:
        raise HelmError(f"{path} is no packed chart: Chart.yaml file is missing")
    files.pop(".helmignore", None)  # which helm asks in directories alone
    return files


def _inflated(data: bytes, room: Room) -> bytes:
    """Return what gzip made smaller: one stream or several, one after the other."""
    parts = []
    while data:
        stream = zlib.decompressobj(wbits=31)
        part = stream.decompress(data, room.bytes + 1)
        room.bytes -= len(part)
        if room.bytes < 0:
            raise HelmError(f"its packed charts hold more than {MOST_BYTES // 2**20} MiB")
        if not stream.eof:
            raise ValueError("it ends too soon")
        parts.append(part)
        data = stream.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _entries(tar: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive with their names; directories, links and devices are none to helm.

    Raises:
        ValueError: it is none, or is cut off.
    """
    at, longer = 0, ""
    while any(header := tar[at : at + _BLOCK]):
        if len(header) < _BLOCK or _number(header[_SUM]) != sum(header) - sum(header[_SUM]) + 8 * ord(" "):
            raise ValueError("a header in it is broken")
        size, kind = _number(header[124:136]), header[156:157]
        content = tar[at + _BLOCK : at + _BLOCK + size]
        if len(content) < size:
            raise ValueError("it ends too soon")
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
        if kind == b"x":
            longer = _path_of(content) or longer
        elif kind == b"L":
            longer = content.rstrip(b"\0").decode("utf-8", "replace")
        elif kind != b"g":
            if kind in _FILES:
                start = _text(header[345:500]) if header[257:262] == b"ustar" else ""
                yield longer or f"{start}/{_text(header[:100])}".lstrip("/"), content
            longer = ""


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def _number(field: bytes) -> int:
    """Return a number in octal digits; those in base 256 are for files larger than any that is read here."""
    digits = field.strip(b" \0")
    if not all(digit in b"01234567" for digit in digits):
        raise ValueError("a header in it is broken")
    return int(digits or b"0", 8)


def _path_of(records: bytes) -> str:
    """Return the path in an extended header: records of their length, a key and a value."""
    at, path = 0, ""
    while at < len(records):
        space = records.find(b" ", at, at + _LONGEST_LENGTH)
        length = int(records[at:space]) if space > 0 and records[at:space].isdigit() else 0
        key, _, value = records[space + 1 : at + length].partition(b"=")
        if space < 0 or at + length <= space or not value.endswith(b"\n"):
            raise ValueError("an extended header in it is broken")
        if key == b"size":
            raise ValueError("it has a file of an extended size")
        if key == b"path":
            path = value[:-1].decode("utf-8", "replace")
        at += length
    return path
