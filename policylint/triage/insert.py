"""`lint --add-ignore REASON`: write suppressions into files as comments, and change nothing else in them.

A comment goes behind the line of the finding; where the line ends inside a text that goes on, it goes on a line of its
own above. An edit after which the file would not read as before is not made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policylint.model.suppression import Suppression
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.triage.comments import is_inside, suppressions, texts

_LINE = Pattern(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_BOM = b"\xef\xbb\xbf"
JSON = "JSON has no comments: use an annotation or the configuration"
NOT_UTF8 = "the file is not UTF-8"
NO_PLACE = "there is no place for a comment: use an annotation or the configuration"


class Insertion(NamedTuple):
    """A file's new bytes, the number of suppressions added, and line → reason for those that could not be."""

    data: bytes
    number: int
    refused: dict[int, str]


def check_reason(reason: str) -> str:
    """Return the reason as it is written.

    Raises:
        ValueError: it is empty, has several lines, or would not read back as it is.
    """
    text = reason.strip()
    if not text.strip(" \t:-–—"):
        raise ValueError("a suppression needs a reason")
    if not text.isprintable() or "policylint:" in text or text.strip(" \t:-–—") != text:
        raise ValueError("the reason must be one line of plain text")
    return text


def add(data: bytes, file: str, wanted: Mapping[int, Sequence[str]], reason: str) -> Insertion:
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
        return Insertion(data, 0, dict.fromkeys(wanted, problem))
    existing = [suppression for suppression in _existing(data, file) if suppression.reason]
    missing = {line: rules for line in sorted(wanted) if (rules := _missing(existing, line, wanted[line]))}
    all_edits = _insert(data, file, missing, reason)
    if all_edits.refused or _is_same(data, all_edits.data, file):
        return all_edits
    # One of the edits does harm: make them one by one, from the bottom up, so that line numbers stay.
    refused: dict[int, str] = {}
    result, number = data, 0
    for line in sorted(missing, reverse=True):
        single = _insert(result, file, {line: missing[line]}, reason)
        if single.refused or not _is_same(data, single.data, file):
            refused[line] = NO_PLACE
        else:
            result, number = single.data, number + single.number
    return Insertion(result, number, refused)


def _existing(data: bytes, file: str) -> list[Suppression]:
    return suppressions(file, _lines(data)) if b"policylint" in data else []


def _missing(existing: Sequence[Suppression], line: int, rules: Sequence[str]) -> list[str]:
    """Return the rules that no suppression covers yet on a line."""
    covered = {
        name for suppression in existing if suppression.first <= line <= suppression.last for name in suppression.rules
    }
    return sorted({rule for rule in rules if rule not in covered})


def _insert(data: bytes, file: str, wanted: Mapping[int, Sequence[str]], reason: str) -> Insertion:
    """Insert the comments, from the bottom up; lines where there is no place are refused."""
    raw = [match for match in _LINE.findall(data) if match]
    lines = _lines(data)
    scalars = texts(lines)
    refused: dict[int, str] = {}
    number = 0
    for line in sorted(wanted, reverse=True):
        comment = f"# policylint: ignore[{','.join(wanted[line])}] {reason}".encode()
        if not 1 <= line <= len(raw):
            refused[line] = f"{file} has no line {line}"
            continue
        body = raw[line - 1].rstrip(b"\r\n")
        end = raw[line - 1][len(body) :]
        if not is_inside(scalars, (line, len(lines[line - 1]))):
            raw[line - 1] = body + b"  " + comment + end
        elif not is_inside(scalars, (line, 0)):
            plain = body.removeprefix(_BOM)
            indent = plain[: len(plain) - len(plain.lstrip(b" "))]
            raw[line - 1] = body[: len(body) - len(plain)] + indent + comment + (end or b"\n") + plain + end
        else:
            refused[line] = NO_PLACE
            continue
        number += len(wanted[line])
    return Insertion(b"".join(raw), number, refused)


def _lines(data: bytes) -> list[str]:
    from policylint.sources.source import lines_of

    return lines_of(data)


def _is_same(before: bytes, after: bytes, file: str) -> bool:
    """Return whether a file still has the same values and problems."""
    from policylint.documents import read

    contents = []
    for data in (before, after):
        reading = read(data, file)
        values = [document.value for document in reading.documents]
        contents.append((values, [(problem.code, problem.pointer) for problem in reading.problems]))
    return bool(contents[0] == contents[1])
