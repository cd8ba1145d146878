"""`lint --add-ignore REASON`: writes suppressions into files as comments, and changes nothing else in them.

A comment goes behind the line of the finding; where the line ends inside a text that goes on, on a line of its own
above it. An edit after which the file would not read as before is not made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from policylint.namedtuple import NamedTuple
from policylint.triage.comments import suppressions, texts

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_BOM = b"\xef\xbb\xbf"
JSON = "JSON has no comments: use an annotation or the configuration"
NOT_UTF8 = "the file is not UTF-8"
NO_PLACE = "there is no place for a comment: use an annotation or the configuration"


class Added(NamedTuple):
    """A file's new bytes, how many suppressions were added, and for which lines none could be, with the reason."""

    data: bytes
    number: int
    refused: dict[int, str]


def check_reason(reason: str) -> str:
    """The reason as it is written.

    Raises:
        ValueError: it is empty, has several lines, or would not read back as it is.
    """
    text = reason.strip()
    if not text.strip(" \t:-–—"):
        raise ValueError("a suppression needs a reason")
    if not text.isprintable() or "policylint:" in text or text.strip(" \t:-–—") != text:
        raise ValueError("the reason must be one line of plain text")
    return text


def add(data: bytes, file: str, wanted: Mapping[int, Sequence[str]], reason: str) -> Added:
    """Suppress rules on lines.

    Args:
        file: its path as shown.
        wanted: ids of rules by line (1-based); what a suppression covers already is left alone.
    """
    problem = JSON if file.endswith(".json") or data.lstrip()[:1] == b"{" else ""
    try:
        data.decode()
    except UnicodeDecodeError:
        problem = NOT_UTF8
    if problem:
        return Added(data, 0, dict.fromkeys(wanted, problem))
    missing = {line: rules for line in sorted(wanted) if (rules := _missing(data, file, line, wanted[line]))}
    attempt = _edited(data, file, missing, reason)
    if attempt.refused or _is_same(data, attempt.data, file):
        return attempt
    # One of the edits does harm: make them one by one, from the bottom up, so that line numbers stay.
    refused: dict[int, str] = {}
    result, number = data, 0
    for line in sorted(missing, reverse=True):
        one = _edited(result, file, {line: missing[line]}, reason)
        if one.refused or not _is_same(data, one.data, file):
            refused[line] = NO_PLACE
        else:
            result, number = one.data, number + one.number
    return Added(result, number, refused)


def _missing(data: bytes, file: str, line: int, rules: Sequence[str]) -> list[str]:
    """The rules that nothing suppresses yet on a line."""
    known = suppressions(file, _lines(data)) if b"policylint" in data else []
    covered = {name for each in known if each.reason and each.first <= line <= each.last for name in each.rules}
    return sorted({rule for rule in rules if rule not in covered})


def _edited(data: bytes, file: str, wanted: Mapping[int, Sequence[str]], reason: str) -> Added:
    raw = [match for match in _LINE.findall(data) if match]
    lines = _lines(data)
    scalars = list(texts(lines))
    refused: dict[int, str] = {}
    number = 0
    for line in sorted(wanted, reverse=True):
        comment = f"# policylint: ignore[{','.join(wanted[line])}] {reason}".encode()
        if not 1 <= line <= len(raw):
            refused[line] = f"{file} has no line {line}"
            continue
        body = raw[line - 1].rstrip(b"\r\n")
        end = raw[line - 1][len(body) :]
        if not _is_inside(scalars, (line, len(lines[line - 1]))):
            raw[line - 1] = body + b"  " + comment + end
        elif not _is_inside(scalars, (line, 0)):
            plain = body.removeprefix(_BOM)
            indent = plain[: len(plain) - len(plain.lstrip(b" "))]
            raw[line - 1] = body[: len(body) - len(plain)] + indent + comment + (end or b"\n") + plain + end
        else:
            refused[line] = NO_PLACE
            continue
        number += len(wanted[line])
    return Added(b"".join(raw), number, refused)


def _lines(data: bytes) -> list[str]:
    from policylint.sources.source import lines_of

    return lines_of(data)


def _is_inside(scalars: Sequence[tuple[tuple[int, int], tuple[int, int]]], place: tuple[int, int]) -> bool:
    return any(start < place < end for start, end in scalars)


def _is_same(before: bytes, after: bytes, file: str) -> bool:
    """Whether a file still says the same."""
    from policylint.documents import read

    one, other = read(before, file), read(after, file)
    return [each.value for each in one.documents] == [each.value for each in other.documents] and [
        (each.code, each.pointer) for each in one.problems
    ] == [(each.code, each.pointer) for each in other.problems]
