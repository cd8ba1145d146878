"""An explanation as a person reads it: verdict first, then setting by setting with its cause.

docs/explain.md shows one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.explain.explanation import Explanation
from policylint.model import Finding
from policylint.model.words import leading
from policylint.report.explain.content import (
    SOME,
    Block,
    ChangedObjects,
    FactLines,
    Heading,
    Kind,
    More,
    Named,
    Reached,
    Reported,
    Sentence,
    SettingRow,
    SettingTable,
    Under,
)
from policylint.report.kit.display import Paint, aligned, one_line, padded, place, short_place, width, wrapped
from policylint.report.kit.identity import Names

Cells = tuple[str, str, str, str]
_HEAD: Cells = ("KIND / SETTING", "VALUE", "FROM", "HOW")
_LONG = 44
"""Columns of FROM beyond which a policy is named once per kind."""
_HOW = 26
_LEAST_HOW = 12


class ExplanationText:
    """The text of an explanation.

    Args:
        room: the columns of the page.
    """

    def __init__(self, names: Names, paint: Paint, room: int) -> None:
        self.names = names
        self.paint = paint
        self.room = room

    def title(self, explanation: Explanation) -> str:
        """Return what is explained, and where it is written."""
        subject = one_line(self.names.node(explanation.subject.node))
        if explanation.resource is None:
            return f"{self.paint('strong', subject)}  (no manifest makes it)\n"
        location = place(explanation.resource.name_location)
        room = self.room - width(subject) - width(location)
        gap = " " * room if room > 1 else "\n  "
        return f"{self.paint('strong', subject)}{gap}{self.paint('faint', location)}\n"

    def write(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield the lines of the blocks, each with its newline; what stands by itself has an empty line above it."""
        before: Block | None = None
        for block in blocks:
            apart = isinstance(block, (Heading, Reported, More)) or (isinstance(block, Sentence) and not block.belongs)
            if apart or (isinstance(block, Under) and not isinstance(before, Under)):
                yield "\n"
            yield from self._lines(block)
            before = block

    def _lines(self, block: Block) -> Iterator[str]:
        match block:
            case FactLines():
                yield from self._facts(block)
            case Heading(words, rest, style):
                lines = wrapped(one_line(words + rest), self.room)
                strong = min(len(one_line(words)), len(lines[0]))
                lines[0] = (self.paint(style, lines[0][:strong]) if words else "") + lines[0][strong:]
                yield from (f"{line}\n" for line in lines)
            case Sentence(words, belongs):
                indent = "  " if belongs else ""
                yield from (f"{indent}{line}\n" for line in wrapped(one_line(words), self.room - len(indent)))
            case SettingTable(kinds):
                yield from self._table([cells for kind in kinds for cells in _rows(kind)])
            case Named(rows):
                for cells, row in zip(aligned([tuple(map(one_line, row[:-1])) for row in rows]), rows, strict=True):
                    yield "  " + "  ".join(filter(None, (*cells, one_line(row[-1])))).rstrip() + "\n"
            case Reached():
                yield from _missed(block)
            case Under(head, sentences):
                lines = [line for sentence in sentences for line in wrapped(one_line(sentence), self.room - 8)]
                for number, line in enumerate(lines):
                    yield f"{' ' * len(head) if number else self.paint('faint', head)}   {line}\n"
            case Reported(findings):
                for finding in findings:
                    yield from self._finding(finding)
            case ChangedObjects():
                yield from self._change(block)
            case More(options):
                yield self.paint("faint", f"More    {options}") + "\n"

    def _facts(self, facts: FactLines) -> Iterator[str]:
        """Yield the entries with labels of one width; a remark and a place that have no room go into lines below."""
        size = max((facts.least, *(len(entry.label) for entry in facts.entries)))
        previous = ""
        for entry in facts.entries:
            label = "" if entry.label == previous else entry.label
            previous = entry.label or previous
            head, *rest = wrapped(one_line(entry.words), self.room - size - 4)
            lines = [head, *rest]
            styled = [self.paint(entry.style, line) if entry.style and not entry.remark else line for line in lines]
            tails = [(one_line(entry.remark), entry.style), (entry.place, "faint")]
            used = width(lines[-1])
            for tail, style in ((tail, style) for tail, style in tails if tail):
                shown = self.paint(style, tail) if style else tail
                if used + width(tail) + size + 6 <= self.room:
                    styled[-1] += f"  {shown}"
                    used += width(tail) + 2
                else:
                    styled.append(shown)
                    used = width(tail)
            for line in styled:
                yield f"  {label:{size}}  {line}\n"
                label = ""

    def _finding(self, finding: Finding) -> Iterator[str]:
        """Yield the message of a finding and its place, in several lines where one has no room for both."""
        head, spot = f"{finding.severity}[{finding.rule}]", short_place(finding.location)
        lines = wrapped(one_line(finding.message), self.room - width(head) - 1)
        shown = self.paint(finding.severity, head)
        for line in lines[:-1]:
            yield f"{shown} {line}\n"
            shown = " " * width(head)
        last = lines[-1]
        gap = "  " if width(head) + width(last) + width(spot) + 3 <= self.room else f"\n{' ' * (width(head) + 1)}"
        yield f"{shown} {last}{gap}{self.paint('faint', spot)}\n"

    def _change(self, change: ChangedObjects) -> Iterator[str]:
        if change.objects:
            yield f"  ~ {one_line(change.objects)}\n"
        indent = "      " if change.objects else "  "
        size = max(width(name) for _, name, _ in change.lines)
        for sign, name, words in change.lines:
            head = f"{indent}{sign} " + (f"{padded(one_line(name), size)}  " if size else "")
            first, *rest = wrapped(one_line(words), self.room - width(head))
            yield f"{head}{first}\n"
            yield from (f"{' ' * (width(head) + (0 if size else 2))}{part}\n" for part in rest)

    def _table(self, rows: Iterable[Cells]) -> Iterator[str]:
        """Yield columns as wide as they need to be; the last one goes on in the next line where it is too long."""
        cells = [tuple(one_line(cell) if cell.strip() == cell else cell for cell in row) for row in (_HEAD, *rows)]
        sizes = [max(width(row[n]) for row in cells if any(row[2:]) or not n) for n in range(3)]
        room = max(
            self.room
            - 2
            - sizes[0]
            - sizes[2]
            - 4
            - min(max(width(row[3]) for row in cells), max(_HOW, self.room // 4)),
            12,
        )
        if sizes[1] > room:
            sizes[1] = room
            cells = [(row[0], _cut(row[1], room) if any(row[2:]) else row[1], *row[2:]) for row in cells]
        for number, row in enumerate(cells):
            if not any(row[2:]):
                yield f"  {padded(row[0], sizes[0])}  {row[1]}".rstrip() + "\n"
                continue
            line = "  " + "  ".join(map(padded, row, sizes))
            if (beside := self.room - width(line) - 2) < min(width(row[3]), _LEAST_HOW):  # too long: below, indented
                yield f"{line.rstrip()}\n"
                yield from (f"      {part.rstrip()}\n" for part in wrapped(row[3], self.room - 6))
                continue
            first, *rest = (part.rstrip() for part in wrapped(row[3], beside))
            text = f"{line}  {first}".rstrip()
            yield (self.paint("faint", text) if not number else text) + "\n"
            yield from (f"{' ' * (width(line) + 2)}{part}\n" for part in rest)


def _rows(kind: Kind) -> Iterator[Cells]:
    """Yield the rows of a kind: a long name that all of its settings come from is said once, to leave room."""
    if kind.rows and not kind.rows[0].depth:
        (row,) = kind.rows
        yield kind.name, row.value, f"{row.policy}  {row.place}", row.fate
        return
    named = bool(kind.owner) and any(width(_from(row)) > _LONG for row in kind.rows)
    yield kind.name, f"from {kind.owner}" if named else "", "", ""
    for row in kind.rows:
        yield "  " * row.depth + row.name, row.value, _from(row, named=named), row.fate


def _from(row: SettingRow, *, named: bool = False) -> str:
    """Return `shop/checkout-cors :14 (route)`; where the policy is named already, the place and the level."""
    parts = (row.place,) if named else (row.policy, row.spot)
    return " ".join(filter(None, (*parts, f"({row.level})" if row.level else "")))


def _missed(reached: Reached) -> Iterator[str]:
    """Yield where a policy does not act, or not as a whole, and who prevails: objects of one fate in one line."""
    for one, keys in reached.missed():
        word = "not    " if one.extent == "none" else "in part"
        winners = ", ".join(key.path for key in one.by) or "nobody"
        lost = f"{one_line(', '.join(one.lost))} lost to {one_line(winners)}" if one.lost else ""
        lost = lost or ("" if one.some else f"{one_line(winners)} prevails" if one.by else "it sets nothing")
        yield f"  {word}  {one_line(leading(keys, 3))}: {', '.join(filter(None, (SOME * one.some, lost)))}\n"


def _cut(text: str, room: int) -> str:
    return text if width(text) <= room else text[: room - 1] + "…"
