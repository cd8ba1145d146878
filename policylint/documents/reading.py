"""Read one file: its bytes in, its documents, problems and unread documents out. Never raises."""

from __future__ import annotations

import codecs
import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from policylint.documents import fast
from policylint.documents.chunks import Chunk, content_start, identity, line_breaks, split
from policylint.documents.events import Binding, binding
from policylint.documents.position import Document, NodePosition
from policylint.documents.problem import (
    BINARY,
    DUPLICATE_KEY,
    ENCRYPTED,
    ENVSUBST,
    MAX_BYTES,
    MAX_PIECES,
    MAX_PROBLEMS,
    NOT_UTF8,
    TEMPLATE_BELOW,
    TOO_LARGE,
    YAML_SYNTAX,
    FileReading,
    Problem,
    Unread,
)
from policylint.documents.scalars import KEYS, PLAIN, MergeKeyError
from policylint.patterns import Pattern

KindFilter = Callable[[str, str], bool]

_ENCRYPTED: Final = (
    *(b"\0GITCRYPT\0", b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----"),
    *(b"-----BEGIN PGP MESSAGE-----", b"$ANSIBLE_VAULT;"),
)
"""What files begin with that git-crypt, age, PGP and Ansible Vault encrypt whole; SOPS leaves the keys readable."""

_SURROGATES: Final = Pattern(
    rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?"
    rb"|(?<!\\)((?:\\\\)*)\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def read(data: bytes, file: str, *, wanted: KindFilter | None = None) -> FileReading:
    """Return the documents and problems of one file; `file` is its path as shown to users.

    Documents whose apiVersion and kind are plain to see, and which `wanted` declines, are not parsed but listed in
    `unread`; without `wanted` everything is parsed.
    """
    reading = FileReading()
    if len(data) > MAX_BYTES:
        message = f"{len(data) / 2**20:.0f} MiB; files over {MAX_BYTES // 2**20} MiB are not read"
        reading.problems.append(Problem(TOO_LARGE, message, file, 1, 1, None))
        return reading
    # Files made of nothing but `1,` or `---` take long and much memory at any size; see MAX_PIECES.
    if len(data) > MAX_PIECES and data.count(b"\n") + data.count(b",") > MAX_PIECES:
        message = f"more than {MAX_PIECES:,} lines and list entries: not read"
        reading.problems.append(Problem(TOO_LARGE, message, file, 1, 1, None))
        return reading
    if data.startswith(_ENCRYPTED):
        return FileReading(form=ENCRYPTED)
    data = _as_utf8(data)
    nul = data.find(b"\0")
    if nul >= 0:
        line = line_breaks(data, 0, nul) + 1
        reading.problems.append(Problem(BINARY, "not text: contains NUL bytes", file, line, 1, None))
        return reading
    number = 0
    for chunk in split(data):
        content = content_start(data, chunk)
        if content is None:
            continue
        number += 1
        if wanted is not None:
            kind = identity(data, chunk)
            if kind is not None and not wanted(*kind):
                line = chunk.line + line_breaks(data, chunk.start, content) + 1
                reading.unread.append(Unread(file, line, *kind, chunk.start, chunk.end, number, chunk.line))
                continue
        form = _read_chunk(data, chunk, file, number, reading)
        if form is not None:
            if not (reading.unread or reading.problems or any(map(_is_object, reading.documents))):
                return FileReading(form=form)
            if form == ENVSUBST:  # it fills in the whole file before anybody applies it
                reading.templated = True
                continue
            # What stands above it is deployed: kubectl applies it before it comes to what it cannot read, and takes
            # some of what libyaml refuses.
            line = chunk.line + line_breaks(data, chunk.start, content) + 1
            reading.problems.append(Problem(YAML_SYNTAX, TEMPLATE_BELOW, file, line, 1, None))
            break
        if len(reading.problems) >= MAX_PROBLEMS:
            message = f"given up after {MAX_PROBLEMS:,} problems; what follows is not read"
            reading.problems.append(Problem(YAML_SYNTAX, message, file, chunk.line + 1, 1, None))
            break
    if number == 0:
        reading.form = "empty"
    elif data.lstrip()[:1] in (b"{", b"["):
        reading.form = "json"
    return reading


def read_unread(data: bytes, unread: Unread) -> FileReading:
    """Return the documents of one that `read` skipped; `data` is the whole file again."""
    reading = FileReading()
    data = _as_utf8(data)
    chunk = Chunk(unread.start, unread.end, unread.above)
    form = _read_chunk(data, chunk, unread.file, unread.number, reading)
    return reading if form is None or reading.documents else FileReading(form=form)


@contextmanager
def loading() -> Iterator[None]:
    """Keep the garbage collector off while many files are read, and exempt what was read from it for good.

    It would visit all that was read over and over, and find nothing: documents have no reference cycles. For the
    same reason freezing loses nothing; documents go when their last reference does (docs/design/performance.md §2c).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _as_utf8(data: bytes) -> bytes:
    """Return the bytes as UTF-8 without byte order mark; UTF-16 and UTF-32 are recognised by theirs."""
    if data.startswith(codecs.BOM_UTF8):
        return data[3:]
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            try:
                return data.decode(encoding).encode()
            except UnicodeError:
                return data
    return data


def _read_chunk(data: bytes, chunk: Chunk, file: str, number: int, reading: FileReading) -> str | None:
    """Add the documents and problems of a chunk to `reading`, or return its form if it is a template."""
    before = len(reading.documents)
    PLAIN.words = KEYS.words = False
    form = _read_part(data, chunk, file, number, reading)
    if PLAIN.words or KEYS.words:
        for document in reading.documents[before:]:
            document.with_words = True
    return form


def _read_part(data: bytes, chunk: Chunk, file: str, number: int, reading: FileReading) -> str | None:
    part = data if chunk.start == 0 and chunk.end == len(data) else data[chunk.start : chunk.end]
    if fast.is_candidate(part):
        try:
            if fast.has_anchors(part):
                named, aliased = fast.load_named(part)
                for index, (value, line, size) in enumerate(named):
                    reread = partial(_node_positions, part, index)
                    own = aliased if index == 0 else 0
                    reading.documents.append(
                        Document(file, number, value, chunk.line, None, None, reread, line, size, own)
                    )
                return None
            loaded = fast.load(part)
        except (fast.IrregularError, MergeKeyError, UnicodeError):
            pass
        else:
            for value, lines, columns in loaded:
                if value is not None:
                    reading.documents.append(Document(file, number, value, chunk.line, lines, columns))
            return None
    return _read_exactly(part, chunk, file, number, reading, binding())


def _read_exactly(
    part: bytes, chunk: Chunk, file: str, number: int, reading: FileReading, events: Binding
) -> str | None:
    from policylint.documents import exact, templates

    try:
        text = part.decode()
    except UnicodeDecodeError as error:
        before = part[: error.start]
        column = len(re.split(rb"[\r\n]", before)[-1].decode("utf-8", "replace")) + 1
        line = chunk.line + line_breaks(part, 0, error.start) + 1
        message = f"not UTF-8: byte 0x{part[error.start]:02x}"
        reading.problems.append(Problem(NOT_UTF8, message, file, line, column, None))
        return None
    result = exact.load(part, text, events)
    if result.refused is not None and "Unicode character escape" in result.refused.message:
        part = _SURROGATES.sub(_join_surrogates, part)
        text = part.decode()
        result = exact.load(part, text, events)
    for duplicate in result.duplicates:
        later = duplicate.position
        first = chunk.line + duplicate.first_line + 1
        message = f"key `{duplicate.pointer[-1]}` is already on line {first}; the last one counts"
        start = (chunk.line + later.line + 1, later.column + 1)
        reading.problems.append(Problem(DUPLICATE_KEY, message, file, *start, duplicate.pointer))
    for index, (value, root, size) in enumerate(result.documents):
        if value is not None:
            reread = partial(_node_positions, part, index)
            aliased = result.aliased if index == 0 else 0
            reading.documents.append(
                Document(file, number, value, chunk.line, None, None, reread, root.line, size, aliased)
            )
    refused = result.refused
    if refused is None:
        return None
    form = templates.form_of(text, refused.line, lambda rest: exact.load(rest.encode(), rest, events).refused is None)
    if form is None:
        line, column = chunk.line + refused.line + 1, refused.column + 1
        message = refused.message
        if refused.context_line is not None:
            message = f"{message} that starts on line {chunk.line + refused.context_line + 1}"
        reading.problems.append(Problem(refused.code, message, file, line, column, None))
    return form


def _is_object(document: Document) -> bool:
    """Tell whether a document names an API version and a kind, as every Kubernetes object does."""
    value = document.value
    return isinstance(value, dict) and "apiVersion" in value and "kind" in value


def _node_positions(part: bytes, index: int) -> NodePosition:
    """Read an irregular chunk once more, for the positions of the nodes of one of its documents."""
    from policylint.documents import exact

    return exact.load(part, part.decode(), binding()).documents[index][1]


def _join_surrogates(match: re.Match[bytes]) -> bytes:
    """Return the one YAML escape for JSON's two: a surrogate pair beyond U+FFFF. Half a pair becomes U+FFFD."""
    backslashes = match[1] if match[1] is not None else match[4]
    if match[3] is None:
        return backslashes + rb"\ufffd"
    code = 0x10000 + ((int(match[2], 16) - 0xD800) << 10) + (int(match[3], 16) - 0xDC00)
    return backslashes + b"\\U%08x" % code
