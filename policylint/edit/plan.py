"""Which fixes can be made together, and what the files read then. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from policylint.documents import read
from policylint.edit.text import Edit, edit_of
from policylint.edit.values import expected, values
from policylint.model import Finding
from policylint.model.fix import Change, Fix
from policylint.namedtuple import NamedTuple

Read = Callable[[str], bytes | None]
"""The bytes of a file by its path as shown; None for what is no file that may be edited."""


class Plan(NamedTuple):
    """What fixing comes to.

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
    """Choose a fix for every finding, leave out those that meet in one place, and work out the new files."""
    contents = _Contents(read_file)
    fixed: list[Finding] = []
    chosen: list[Change] = []
    more = 0
    for finding in findings:
        fix = next((each for each in finding.fixes if (each.safe or unsafe) and contents.takes(chosen, each)), None)
        if fix is None:
            more += any(not each.safe and contents.takes(chosen, each) for each in finding.fixes if not unsafe)
            continue
        chosen += [each for each in fix.changes if each not in chosen]
        fixed.append(finding)
    old = {file: contents.data(file) for file in sorted({each.location.file for each in chosen})}
    files = {file: contents.result(file, chosen) for file in old}
    changed = {file: data for file, data in files.items() if data is not None and data != old[file]}
    return Plan(changed, {file: data for file in changed if (data := old[file]) is not None}, tuple(fixed), more)


def edits(fix: Fix, text: Callable[[str], str | None]) -> list[Edit]:
    """The edits of one fix by itself, for reports; none where it cannot be made exactly. `text` gives a file's text."""
    found: list[Edit] = []
    for change in fix.changes:
        content = text(change.location.file)
        made = edit_of(change, content) if content is not None else []
        if not made:
            return []
        found += made
    return found


class _Contents:
    """The files that fixes touch, each read once."""

    def __init__(self, read_file: Read) -> None:
        self._read = read_file
        self._data: dict[str, bytes | None] = {}

    def data(self, file: str) -> bytes | None:
        if file not in self._data:
            self._data[file] = self._read(file)
        return self._data[file]

    def takes(self, chosen: Sequence[Change], fix: Fix) -> bool:
        """Whether a fix can be made beside those that were chosen."""
        files = {each.location.file for each in fix.changes}
        together = [*chosen, *(each for each in fix.changes if each not in chosen)]
        return all(self.result(file, together) is not None for file in files)

    def result(self, file: str, changes: Sequence[Change]) -> bytes | None:
        """A file after all changes that concern it; None where they do not make exactly what they should."""
        data = self.data(file)
        mine = [each for each in changes if each.location.file == file]
        text = _decoded(data)
        if data is None or text is None:
            return None
        found: list[Edit] = []
        for change in mine:
            made = edit_of(change, text)
            if not made:
                return None
            found += [each for each in made if each not in found]
        new = applied(text, found)
        before = read(data, file)
        wanted = expected(values(before.documents), mine)
        if new is None or wanted is None:
            return None
        encoded = (b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b"") + new.encode()
        after = read(encoded, file)
        if len(after.problems) != len(before.problems) or [each.value for each in after.documents] != wanted:
            return None
        return encoded


def applied(text: str, changes: Iterable[Edit]) -> str | None:
    """The text with all edits made; None where two of them overlap."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = sorted(
        (starts[each.line - 1] + each.column - 1, starts[each.end_line - 1] + each.end_column - 1, number, each.text)
        for number, each in enumerate(changes)
    )
    pieces: list[str] = []
    here = 0
    for start, end, _, new in spans:
        if start < here:
            return None
        pieces += [text[here:start], new]
        here = end
    return "".join([*pieces, text[here:]])


def _decoded(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return None
