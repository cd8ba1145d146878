"""Cut a file at its `---` lines, and find out cheaply which kind of object each chunk holds.

Source: docs/design/performance.md §2c.

In YAML, `---` at the start of a line and followed by white space ends a document everywhere, also inside quoted and
block scalars, so cutting there needs no parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import intern
from typing import Final

from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_KIND: Final = Pattern(rb"""kind:[ \t]+(["']?)([A-Za-z][A-Za-z0-9]*)\1[ \t]*(?:[ \t]#.*)?\r?(?:\n|\Z)""")
_API_VERSION: Final = Pattern(
    rb"""apiVersion:[ \t]+(["']?)([A-Za-z][\w./-]*|[0-9][\w.-]*/[\w./-]*)\1[ \t]*(?:[ \t]#.*)?\r?(?:\n|\Z)"""
)
_DIRECTIVE: Final = Pattern(rb"(?:^|\r|\xc2\x85|\xe2\x80[\xa8\xa9])%", re.MULTILINE)
_CONTENT: Final = re.compile(rb"(?:^|\r|\xc2\x85|\xe2\x80[\xa8\xa9])(?!---[ \t]*\r?$)[ \t]*[^ \t\r\n#]", re.MULTILINE)
_DISGUISED: Final = rb"""(?:["'?!&*{\[<]|(?:kind|apiVersion)[ \t]+:|---[ \t]+[^\s#]|items:)"""
_FIRST_DISGUISED: Final = Pattern(_DISGUISED)
_DISGUISED_LINE: Final = Pattern(rb"\n(?! )" + _DISGUISED)  # most lines are indented
_HEAD: Final = re.compile(  # how nearly all objects begin
    rb"""(?:---[ \t]*\n)?(?:#[^\n"']*\n)*(apiVersion|kind): ([A-Za-z][\w./-]*)\n"""
    rb"""(?!\1)(?:apiVersion|kind): ([A-Za-z][\w./-]*)\n"""
)
_IN_DOUBT: Final = re.compile(rb"\n(?! )(?:" + _DISGUISED + rb"|kind:|apiVersion:|---)")
"""What makes one that begins so worth a closer look."""
_LONE_RETURN: Final = Pattern(rb"\r(?!\n)")
_OTHER_BREAKS: Final = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")


class Chunk(NamedTuple):
    """The bytes `[start, end)` of a file, and the 0-based line they start on."""

    start: int
    end: int
    line: int


def split(data: bytes) -> Iterator[Chunk]:
    """Yield the chunks of a file, cut at `---` lines.

    A `---` line belongs to the chunk that it starts; directives stay with the document they precede.
    """
    start = 0
    line = 0
    search = 0
    separator = 0  # where the last `---` line stands, cut there or not
    size = len(data)
    while True:
        cut = data.find(b"\n---", search)
        if cut < 0:
            yield Chunk(start, size, line)
            return
        cut += 1
        search = cut
        after = data[cut + 3 : cut + 4]
        if after and after not in b" \t\r\n":
            continue
        previous, separator = separator, cut
        if data.find(b"%", previous, cut) >= 0 and _DIRECTIVE.search(data, previous, cut):
            continue
        yield Chunk(start, cut, line)
        line += line_breaks(data, start, cut)
        start = cut


def line_breaks(data: bytes, start: int, end: int) -> int:
    """Return how many lines end in a part of a text: at CRLF, LF and CR, as editors and positions count them."""
    count = data.count(b"\n", start, end)
    if data.find(b"\r", start, end) < 0:
        return count
    return count + data.count(b"\r", start, end) - data.count(b"\r\n", start, end)


def content_start(data: bytes, chunk: Chunk) -> int | None:
    """Return the offset of the first line that is neither blank, comment, nor a bare `---`; None if there is none."""
    match = _CONTENT.search(data, chunk.start, chunk.end)
    return None if match is None else match.start()


def identity(data: bytes, chunk: Chunk) -> tuple[str, str] | None:
    """Return (apiVersion, kind) if both stand plainly at column 0, exactly once; None when in doubt, and for lists.

    Whoever trusts it leaves the object unparsed, so nothing may look like another kind than the one that is deployed.
    """
    start, end = chunk.start, chunk.end
    head = _HEAD.match(data, start, end)
    if head is not None and data.find(b"\r", start, end) < 0 and data[start:end].isascii():
        version, word = head.group(2, 3) if head[1] == b"apiVersion" else head.group(3, 2)
        if word.isalnum() and not word.endswith(b"List") and _IN_DOUBT.search(data, head.end() - 1, end) is None:
            return intern(version.decode()), intern(word.decode())  # a few words of thousands of documents
    if _is_disguised(data, chunk):
        return None
    kind = _only(data, b"\nkind:", chunk)
    api_version = _only(data, b"\napiVersion:", chunk)
    if kind is None or api_version is None:
        return None
    first, last = sorted((kind, api_version))
    if data.count(b'"', chunk.start, last) % 2 or data.count(b"'", first, last) % 2:
        return None  # the later one may stand inside of a text over several lines
    kind_match = _KIND.match(data, kind, chunk.end)
    version_match = _API_VERSION.match(data, api_version, chunk.end)
    if kind_match is None or version_match is None or kind_match[2].endswith(b"List"):
        return None
    return intern(version_match[2].decode()), intern(kind_match[2].decode())


def _only(data: bytes, key: bytes, chunk: Chunk) -> int | None:
    """Return the offset of the only line starting with `key` (given with its line break); None if not exactly one."""
    first = chunk.start if data.startswith(key[1:], chunk.start) else data.find(key, chunk.start, chunk.end) + 1
    if first == 0 and not data.startswith(key[1:], chunk.start):
        return None
    return first if data.find(key, first, chunk.end) < 0 else None


def _is_disguised(data: bytes, chunk: Chunk) -> bool:
    """Tell whether the kind may stand elsewhere than on a line `kind: …`, or such a line be part of something else.

    It may where a line starts with a key that is quoted, tagged, anchored, merged, in braces or apart from its colon,
    or with the items of a list, where a line ends otherwise than with a line feed, and where a directive kept several
    documents together.
    """
    start, end = chunk.start, chunk.end
    return (
        data.find(b"\n---", start, end) >= 0
        or _FIRST_DISGUISED.match(data, start, end) is not None
        or _DISGUISED_LINE.search(data, start, end) is not None
        or (data.find(b"\r", start, end) >= 0 and _LONE_RETURN.search(data, start, end) is not None)
        or (not data[start:end].isascii() and any(data.find(mark, start, end) >= 0 for mark in _OTHER_BREAKS))
    )
