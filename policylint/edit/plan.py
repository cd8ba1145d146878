"""Choose the fixes that can be made together, and work out the files that result. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from policylint.documents import read
from policylint.edit.text import Edit, edit_of
from policylint.edit.values import expected
from policylint.model import Finding
from policylint.model.fix import Change, Fix
from policylint.namedtuple import NamedTuple

Read = Callable[[str], bytes | None]
"""Returns the bytes of a file by its path as shown; None for a path that is no editable file."""


class Plan(NamedTuple):
    """The files that fixing changes, and the findings it fixes.

    Args:
        files: the new bytes of every file that changes, by path as shown, sorted.
        old: the bytes they have now.
        fixed: the findings whose fixes are in it.
        unsafe: how many more would be fixed if unsafe fixes were allowed.
    """

    files: dict[str, bytes]
    old: dict[str, bytes]
    fixed: tuple[Finding, ...]
    unsafe: int


def plan(findings: Iterable[Finding], read_file: Read, *, unsafe: bool = False) -> Plan:
    """Choose a fix for every finding, leave out those that overlap others, and work out the new files."""
    contents = _Contents(read_file)
    fixed: list[Finding] = []
    chosen: list[Change] = []
    more_unsafe = 0
    for finding in findings:
        possible = [fix for fix in finding.fixes if contents.takes(chosen, fix)]
        allowed = [fix for fix in possible if fix.safe or unsafe]
        if not allowed:
            more_unsafe += bool(possible)
            continue
        chosen += [change for change in allowed[0].changes if change not in chosen]
        fixed.append(finding)
    old = {file: contents.data(file) for file in sorted({change.location.file for change in chosen})}
    files = {file: contents.result(file, chosen) for file in old}
    changed = {file: data for file, data in files.items() if data is not None and data != old[file]}
    return Plan(changed, {file: data for file in changed if (data := old[file]) is not None}, tuple(fixed), more_unsafe)


def edits(fix: Fix, text: Callable[[str], str | None]) -> list[Edit]:
    """Return the edits of one fix by itself, for reports; none where it cannot be made exactly.

    `text` returns a file's text, None where there is none.
    """
    file_edits: list[Edit] = []
    for change in fix.changes:
        content = text(change.location.file)
        change_edits = edit_of(change, content) if content is not None else []
        if not change_edits:
            return []
        file_edits += change_edits
    return file_edits


class _Contents:
    """The files that fixes change, each read once."""

    def __init__(self, read_file: Read) -> None:
        self._read = read_file
        self._data: dict[str, bytes | None] = {}

    def data(self, file: str) -> bytes | None:
        if file not in self._data:
            self._data[file] = self._read(file)
        return self._data[file]

    def takes(self, chosen: Sequence[Change], fix: Fix) -> bool:
        """Return whether a fix can be made together with those that were chosen."""
        files = {change.location.file for change in fix.changes}
        together = [*chosen, *(change for change in fix.changes if change not in chosen)]
        return all(self.result(file, together) is not None for file in files)

    def result(self, file: str, changes: Sequence[Change]) -> bytes | None:
        """Return a file after all changes that concern it; None if they do not have exactly the effect they should."""
        data = self.data(file)
        file_changes = [change for change in changes if change.location.file == file]
        text = _decoded(data)
        if data is None or text is None:
            return None
        file_edits: list[Edit] = []
        for change in file_changes:
            change_edits = edit_of(change, text)
            if not change_edits:
                return None
            file_edits += [edit for edit in change_edits if edit not in file_edits]
        new = applied(text, file_edits)
        before = read(data, file)
        expected_values = expected(before.documents, file_changes)
        if new is None or expected_values is None:
            return None
        encoded = (b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b"") + new.encode()
        after = read(encoded, file)
        if (
            len(after.problems) != len(before.problems)
            or [document.value for document in after.documents] != expected_values
        ):
            return None
        return encoded


def applied(text: str, changes: Iterable[Edit]) -> str | None:
    """Return the text with all edits made; None where two of them overlap."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = sorted(
        (starts[edit.line - 1] + edit.column - 1, starts[edit.end_line - 1] + edit.end_column - 1, number, edit.text)
        for number, edit in enumerate(changes)
    )
    pieces: list[str] = []
    position = 0
    for start, end, _, new in spans:
        if start < position:
            return None
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position:]])


def _decoded(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return None
