"""An explanation as GitHub Markdown, for tickets and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.explain.explanation import Explanation
from policylint.report.explain.content import (
    SOME,
    Block,
    ChangedObjects,
    FactLines,
    Heading,
    More,
    Named,
    Reached,
    Reported,
    Sentence,
    SettingRow,
    SettingTable,
    Under,
)
from policylint.report.kit.display import one_line, place, short_place
from policylint.report.kit.escape import code, escape, spoken
from policylint.report.kit.identity import Names
from policylint.report.kit.tables import table_head, table_row


def title(explanation: Explanation, names: Names) -> Iterator[str]:
    """Yield what is explained, and where it is written."""
    yield f"### {escape(names.node(explanation.subject.node))}\n\n"
    if explanation.resource is None:
        yield "No manifest makes it.\n\n"
    else:
        yield f"{code(place(explanation.resource.name_location), table=False)}\n\n"


def page(blocks: Iterable[Block], names: Names) -> Iterator[str]:
    """Yield the lines of the blocks, each with its newline."""
    before: Block | None = None
    for block in blocks:
        if isinstance(block, More):
            continue  # of a command line
        yield "" if before is None or (_is_item(block) and _is_item(before)) else "\n"
        yield from _lines(block, names)
        before = block


def _is_item(block: Block) -> bool:
    """Return whether it goes on in a list that stands there already."""
    return isinstance(block, Under) or (isinstance(block, Sentence) and block.belongs)


def _lines(block: Block, names: Names) -> Iterator[str]:
    match block:
        case FactLines(entries, _):
            label = ""
            for entry in entries:
                label = entry.label or label
                remark = f": {escape(entry.remark)}" if entry.remark else ""
                at = f" ({code(entry.place, table=False)})" if entry.place else ""
                yield f"- {escape(label)}: {escape(entry.words)}{remark}{at}\n"
        case Heading(words, rest, _):
            yield (f"**{escape(words)}**" if words else "") + _kept(rest) + "\n"
        case Sentence(words, belongs):
            yield f"- {escape(words)}\n" if belongs else f"{_sentence(words)}\n"
        case SettingTable(kinds):
            yield table_head("Kind", "Setting", "Value", "From", "How") + "\n"
            for kind in kinds:
                yield from (f"{table_row(escape(kind.name), *_cells(row))}\n" for row in kind.rows)
        case Named(rows):
            yield table_head("Object", "What", "Named by", "Where", "Instead") + "\n"
            for *cells, spot, fate in rows:
                yield table_row(*map(escape, cells), code(spot), escape(fate)) + "\n"
        case Reached(objects):
            yield table_head("Object", "Acts", "Lost", "To") + "\n"
            for reached in objects:
                lost, winners = escape(", ".join(reached.lost)), escape(", ".join(names.keys(reached.by)))
                extent = {"whole": "yes", "part": "in part", "none": "no"}[reached.extent]
                extent += f": {SOME}" if reached.some else ""
                yield table_row(escape(names.key(reached.key)), extent, lost, winners) + "\n"
        case Under(head, sentences):
            yield from (f"- {head}: {escape(sentence)}\n" for sentence in sentences)
        case Reported(findings):
            for finding in findings:
                said = f"{finding.severity} {finding.rule}: {spoken(finding.message, table=False)}"
                yield f"- {said} ({code(short_place(finding.location), table=False)})\n"
        case ChangedObjects(objects, lines):
            yield f"{escape(objects)}\n\n```diff\n" if objects else "```diff\n"
            for sign, name, words in lines:
                said = one_line(f"{name}  {words}" if name else words).replace("`", "'")
                yield f"{'!' if sign == '~' else sign} {said}\n"
            yield "```\n"


def _kept(words: str) -> str:
    """Return words of Markdown with the space that they may begin with."""
    return f"{' ' * words.startswith(' ')}{escape(words)}"


def _sentence(words: str) -> str:
    return f"{escape(words[:1].upper() + words[1:])}{'' if words.endswith((')', '.')) else '.'}"


def _cells(row: SettingRow) -> tuple[str, ...]:
    origin = escape(row.policy) + (f" {code(row.place)}" if row.place else "")
    origin += f" ({escape(row.level)})" if row.level else ""
    return code(row.name) if row.name else "", escape(row.value), origin, escape(row.fate)
