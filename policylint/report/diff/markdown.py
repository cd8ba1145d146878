"""The comment on a pull request: the consequence, a table of three columns, why, how to mend it, the rest folded.

Source: docs/design/conventions.md §3; docs/github-action.md shows one. What is said is `comment`'s, how it looks is
here: one screen above the fold, whatever the size. Every section has a budget and is there whole or not at all; what
comes from manifests is escaped, for the comment may be posted with a write token.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from policylint.model import SEVERITIES, Finding, Location
from policylint.model.values import scalar
from policylint.model.words import count, leading
from policylint.report.diff import requests
from policylint.report.diff.comment import MISSED_TARGET, OPENING, QUIET, Comment, CommentRow, comment, own
from policylint.report.diff.mermaid import drawings
from policylint.report.diff.report import DiffReport
from policylint.report.diff.wording import (
    alike,
    cut,
    fate_in_words,
    finding_parts,
    one_of,
    renamed_objects,
    reproduced,
    silenced_in_words,
)
from policylint.report.findings.markdown import BUDGET, MarkdownPage, summary
from policylint.report.kit.escape import code, escape, html, spoken
from policylint.report.kit.tables import table_head, table_row

if TYPE_CHECKING:
    from policylint.compare.change import Responsible, SettingChange, SubjectChange
    from policylint.triage import Suppressed

MOST_NAMES = 3
"""Hosts or objects of a row that are named."""
MOST_ROWS, MOST_FINDINGS, MOST_UNKNOWN = 5, 4, 3
"""Rows, new findings and unknowns that are seen at once; the others are folded."""
SCREEN, _WIDE, _CELL = 17, 108, 34
"""Lines of a screen without the titles and the footer below, and the characters of a line and of one in a cell."""
MOST_OF_RULE = 50
"""New findings of one rule and severity that are listed at all."""
MOST_DETAILS = 10
MOST_TITLES = 400
"""Characters that name what a forge cannot fold."""
MOST_LINES, _LONGEST = 60, 200
"""Lines of one setting before and after, and the characters of each."""
_TABLE = table_head("", "before", "after")
_LONG = re.compile(r"[^\s<>*]{13,}")
"""Words that are wider than a column on a phone."""
_BREAK = re.compile(r"(?<=[/}_])(?=[\w&])|(?<=[\w;])(?=\.(?:[^\W\d]|&))|(?<=[a-z])(?=[A-Z])")
"""Where a name may break."""
_UNBROKEN = re.compile(r"(?:&#?\w+;|\\.|[^-&\\]){11}(?!&#8203;)(?=(?:&#?\w+;|\\.|[^-&\\]){3})")
"""What has no such place, nor a hyphen, is broken after eleven characters; what keeps a forge from making a link stays
where it is."""
_WARNING = "\u26a0\ufe0f "


class _Unfolded(MarkdownPage):
    """A page where nothing folds: what would be folded is left out, and named at the end."""

    def __init__(self, room: int, again: str) -> None:
        self._again = again
        self._titles: list[str] = []
        super().__init__(room - MOST_TITLES)

    def add(self, section: str) -> None:
        if not section.startswith("<details>"):
            super().add(section)

    def add_list(self, head: str, rows: Sequence[str], tail: str, more: str, share: float = 1.0) -> None:
        """Add a list that is seen at once; keep the title of one that would be folded, unless it holds names."""
        title = re.match(r"<details><summary>([\w ,]+)</summary>", head)
        if not head.startswith("<details>"):
            super().add_list(head, rows, tail, more, share)
        elif rows and title and not title[1].startswith("all "):
            self._titles.append(title[1])

    def text(self) -> str:
        folded = f"\n\nNot shown here: {', '.join(self._titles)} ({self._again})" if self._titles else ""
        return super().text() + folded[:MOST_TITLES]


def write(report: DiffReport, budget: int | None = BUDGET) -> str:
    """Write the comment, ending in a newline; its first line says whose it is.

    Args:
        budget: the most characters it may have, None for the whole.
    """
    said = comment(report)
    footer = _footer(report)
    dialect = report.dialect
    marker = dialect.mark.format(_key(report.key))
    room = (min(budget, dialect.most) if budget == BUDGET else budget or sys.maxsize) - len(footer) - len(marker) - 8
    page = MarkdownPage(room) if dialect.has_html else _Unfolded(room, code(reproduced(report), table=False))
    page.add(f"### {_WARNING if said.warns else ''}policylint: {spoken(said.headline, table=False)}")
    if report.configuration is not None:
        page.add(f"> **Configuration**: {spoken(report.configuration.message, table=False)}")
    seen, rest = _in_sight(said.rows)
    rows = [_row(report, row, is_first=number == 0) for number, row in enumerate(seen)]
    page.add_list(_TABLE, rows, "", "{} more rows", 0.5)
    if seen and (why := list(_first(report, seen[0]))):
        page.add("\n".join(why))
    findings = _listed(report, said.new, MOST_OF_RULE if budget else sys.maxsize)
    unknown = [f"- {_capital(spoken(cut(sentence, 240), table=False))}" for sentence in said.unknown]
    left = SCREEN - sum(map(_lines, [*page.text().splitlines(), *unknown[:MOST_UNKNOWN]]))
    first = _fitting(findings[:MOST_FINDINGS], left)
    page.add_list("**New**\n", findings[:first], "", "{} more", 0.4)
    page.add_list("", unknown[:MOST_UNKNOWN], "", "{} more", 0.3)
    page.add_list("**Newly suppressed**\n", [_silenced(entry) for entry in report.silenced], "", "{} more", 0.3)
    for section in _folded(report, said, rest, findings[first:], unknown[MOST_UNKNOWN:]):
        page.add_list(*section)
    ways = [alike(environment.known) for environment in report.comparison.environments]
    for environment, drawn in drawings(report) if dialect.has_diagrams else ():
        known = [subject for subject in environment.known if subject.parts] or environment.known
        title = _subjects(known) or "what changes"
        page.add(f"<details><summary>How policy reaches {title}</summary>\n\n```mermaid\n{drawn}\n```\n</details>")
    for detail in islice(_details(chain.from_iterable(ways)), budget and MOST_DETAILS):
        page.add(detail)
    _add_known_before(page, report)
    return f"{marker}\n{page.text()}\n\n{footer}\n"


def _fitting(lines: Sequence[str], room: int) -> int:
    """Return how many list items fit into lines of a screen; the first one is always seen."""
    taken = [sum(map(_lines, lines[: number + 1])) for number in range(len(lines))]
    return max(sum(each < room for each in taken), min(len(lines), 1))


def _lines(written: str) -> int:
    """Return about how many lines a line of Markdown takes on a screen."""
    seen = re.sub(r"\]\([^)]*\)|</?\w+>|[\[*`]|<!--.*?-->|^[-|]+$", "", written)
    cells = [cell for cell in seen.split(" | ") if cell.strip()]
    return max((-(-len(cell) // (_CELL if len(cells) > 1 else _WIDE)) for cell in cells), default=0)


def write_summary(report: DiffReport) -> str:
    """Write the page with the room of a job summary, and without the marker, for which that has no use."""
    return summary(lambda budget: write(report, budget)).partition("\n")[2]


def _in_sight(rows: Sequence[CommentRow]) -> tuple[list[CommentRow], list[CommentRow]]:
    """Return the rows that are seen at once, and the others: mere settings step back behind consequences."""
    consequences = [row for row in rows if row.kind not in QUIET or row.findings]
    first = consequences or list(rows)
    seen = first[: MOST_ROWS if len(first) > MOST_ROWS + 1 else MOST_ROWS + 1]
    shown = {id(row) for row in seen}
    return seen, [row for row in rows if id(row) not in shown]


def _row(report: DiffReport, row: CommentRow, *, is_first: bool = False) -> str:
    """Return a line of the table; the first one has its reason below the table."""
    small = [] if is_first else [*_tags(row), *_causes(report, row, names_routes=False)[:1]]
    if row.doubt:
        small.insert(0, spoken(f"as far as seen: {cut(row.doubt, 100)}"))
    note = f"<br><sub>{' · '.join(small)}</sub>" if report.dialect.has_html else f" ({' · '.join(small)})"
    note = note if small else ""
    who, before, after = _who(report, row), " · ".join(spoken(part) for part in row.before if part), _after(row)
    if report.dialect.has_html:
        # What is beyond the edge of a phone is not seen: of "no login" broken after "no" only "login" would be.
        after = after.replace("**no ", "**no&nbsp;")
        return table_row(*map(_breakable, (who, before, f"{after}{note}")))
    return table_row(who, before, f"{after}{note}")


def _breakable(cell: str) -> str:
    """Return a cell whose long words break where a phone has no room for them: what is cut off says nothing."""
    prose = re.split(r"((?<!`)`[^`]+`(?!`)|`+|\]\([^)]*\))", cell)
    return "".join(
        _breakable_code(part) if number % 2 else _LONG.sub(_with_breaks, part) for number, part in enumerate(prose)
    )


def _breakable_code(part: str) -> str:
    """Return a code span as HTML where one of its words is long: in Markdown none can break."""
    if not re.fullmatch(r"`[^`]+`", part) or not _LONG.search(part[1:-1]):
        return part
    words = escape(part[1:-1].replace(r"\|", "|"))
    return f"<code>{_LONG.sub(_with_breaks, words)}</code>"


def _with_breaks(name: re.Match[str]) -> str:
    return "<wbr>".join(_UNBROKEN.sub("\\g<0><wbr>", part) for part in _BREAK.split(name[0]))


def _after(row: CommentRow) -> str:
    parts = []
    for part in row.after:
        is_loss = part.startswith("no ") or (part[:1].isdigit() and row.kind in ("closed", "fails"))
        words = spoken(part)
        parts.append(f"**{words}**" if is_loss and part not in row.before and row.kind not in QUIET else words)
    return " · ".join(filter(None, parts))


def _who(report: DiffReport, row: CommentRow) -> str:
    places = [f" {code(cut(where, 120))}" if where else "" for where in row.where]
    if row.noun in ("connection", "placement"):
        return spoken(row.who[0])
    if len(row.who) == 1:
        name = f"**{escape(row.who[0])}**" if row.noun == "host" else code(row.who[0])
        if row.subjects and row.subjects[0].change != "removed":  # the page shows what there is after the change
            name = _in_page(report, name, row.environment, select=str(row.subjects[0].key))
        return f"{name}{places[0]}"
    where = places[0] if len(set(places)) == 1 else ""
    who = list(dict.fromkeys(row.who))  # a host may stand there for several of its requests
    own_places = [""] * len(places) if where or len(who) > MOST_NAMES else places
    shown = zip(row.who if any(own_places) else who[:MOST_NAMES], own_places, strict=False)
    names = ", ".join(f"{escape(name) if row.noun == 'host' else code(name)}{place}" for name, place in shown)
    more = f" and {len(who) - MOST_NAMES} more" if len(who) > MOST_NAMES else ""
    spaces = {subject.key.namespace for subject in row.subjects}
    within = f" in {len(spaces)} namespaces" if len(spaces) > 1 else ""
    return f"**{count(len(who), escape(row.noun))}**{within}: {names}{more}{where}"


def _first(report: DiffReport, row: CommentRow) -> Iterator[str]:
    """Yield why, how to mend it and how to see it, for the worst row."""
    causes, tags = _causes(report, row), _tags(row)
    labels = (spoken(finding.label, table=False) for finding in row.findings if finding.label)
    told = any(setting.change == "removed" for setting in row.settings) or row.kind in OPENING or row.kind == "moved"
    why = causes[:3]
    if not told and (label := next(labels, "")):
        why = [*why[:-1], ": ".join((*why[-1:], label))]
    if why or tags:
        reported = f" ({', '.join(tags)})" if tags else ""
        happens = (
            f" {'moves' if len(why) == 1 else 'move'} {spoken(row.moves, table=False)}" if row.moves and why else ""
        )
        yield f"**Why** {', '.join(why) or escape(row.findings[0].message)}{happens}{reported}  "
    # What names the cause knows best how to mend it; what follows from it has advice of its own.
    said = sorted(
        row.findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.rule not in MISSED_TARGET)
    )
    fix = next((note for finding in said for note in finding.notes if note.startswith("fix: ")), "")
    if fix:
        yield f"**Fix** {spoken(fix.removeprefix('fix: '), table=False)}  "
    if row.example is not None and row.example.example.can_be_sent:
        yield f"**Try it** {_example(report, row)}"


def _tags(row: CommentRow) -> list[str]:
    """Return `error GWP201` for what is reported of a row."""
    number = Counter((finding.severity, finding.rule) for finding in row.findings)
    return [f"{f'{n} x ' if n > 1 else ''}{severity} {escape(rule)}" for (severity, rule), n in number.items()]


def _causes(report: DiffReport, row: CommentRow, *, names_routes: bool = True) -> list[str]:
    """Return what did it, with places: `checkout-cors.yaml:9 replaces infra/edge-jwt`, `infra/limits is deleted`."""
    setting = next((each for each in row.settings if each.change == "removed"), None)
    mine = own(row)
    if setting is not None:
        was = ", ".join(one_of(origin, mine) + code(origin.policy.path) for origin in setting.sources_before[:3])
        others = {origin.policy for each in row.settings for origin in each.sources_before}
        others -= {origin.policy for origin in setting.sources_before}
        named = {origin.policy for origin in (*setting.sources_before, *setting.by)}
        named |= set() if setting.by else mine or others  # "its own", "and 1 more like it" tell those
        others_of = [_links(report, [who], mine) for who in row.by if who.policy not in named][:2]
        if setting.by:
            return [f"{_links(report, setting.by[:3], mine)} replaces {was}", *others_of]
        became = fate_in_words(setting.because)
        if others and not mine:
            became += f" (and {len(others)} more like it)"
        if setting.because:
            said = was + (": " if became.startswith(":") else " ") + escape(became.lstrip(": "))
            return [said, *others_of]
    by = {who.policy: who for who in reversed(row.by)}
    links = [
        _place(report, who.location)
        if who.location and not names_routes and key.kind.endswith("Route")
        else _links(report, [who], mine)
        for key, who in reversed(by.items())
    ]
    return [*links[:2], *([f"{len(links) - 2} more"] if len(links) > 2 else [])]


def _links(report: DiffReport, responsible: Iterable[Responsible], mine: Any) -> str:
    return ", ".join(
        one_of(origin, mine) + (f"{_place(report, origin.location)} ({named})" if origin.location else named)
        for origin in responsible
        for named in (code(str(origin.policy)),)
    )


def _example(report: DiffReport, row: CommentRow) -> str:
    """Return the command that traces an example, with a link to its way on the page of the graph."""
    assert row.example is not None
    command = code(requests.command(report, row.example), table=False)
    if not report.graph:
        return command
    request = row.example.example
    asked = "\n".join([str(request), *(f"{name}: {value}" for name, value in request.headers)])
    return f"{command} ({_in_page(report, 'its way', row.environment, request=asked)})"


def _listed(report: DiffReport, findings: Sequence[Finding], most: int) -> list[str]:
    """Return a line for each new finding that no row tells; of more than `most` of a rule the number."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:  # what one line makes several times, as one of a component does, is one mistake
        alike.setdefault((finding.severity, finding.rule, finding.location.file, finding.location.at()), []).append(
            finding
        )
    number = Counter((first.severity, first.rule) for first, *_ in alike.values())
    seen: Counter[tuple[str, str]] = Counter()
    lines = []
    for finding, *others in alike.values():
        rule = finding.severity, finding.rule
        seen[rule] += 1
        if seen[rule] <= most:
            address = report.report.address_of(finding.rule) if finding.rule in report.report.pages else ""
            link = f"[{finding.rule}]({address})" if address else escape(finding.rule)
            fix = next((note for note in finding.notes if note.startswith("fix: ")), "")
            fix = f". Fix: {spoken(fix.removeprefix('fix: '), table=False)}" if fix else ""
            message = spoken(finding.message, table=False)
            message += f" (and {len(others)} more from this line)" if others else ""
            place = _place(report, finding.location)
            lines.append(f"- {finding.severity} {link} {place} {message}{fix}{_notes(finding)}")
        elif seen[rule] == number[rule]:
            lists = code(f"{reproduced(report)} -o concise", table=False)
            lines.append(f"- {number[rule] - most} more {finding.severity} {escape(finding.rule)}: {lists}")
    return lines


def _folded(
    report: DiffReport, said: Comment, rows: Sequence[CommentRow], findings: Sequence[str], unknown: Sequence[str]
) -> Iterator[tuple[str, Sequence[str], str, str, float]]:
    """Yield the folded lists: head, lines, tail, what counts those without room, and their share of it."""
    end = "\n\n</details>"
    quiet = [row for row in rows if row.kind in QUIET]
    for title, of_kind in (("row", [row for row in rows if row not in quiet]), ("other change", quiet)):
        lines = [_row(report, row) for row in of_kind]
        more = f"{{}} more: {code(reproduced(report), table=False).replace('{', '{{').replace('}', '}}')}"
        yield f"<details><summary>{_more(title, len(of_kind))}</summary>\n\n{_TABLE}", lines, end, more, 0.6
    names = [row for row in said.rows if len(row.who) > MOST_NAMES and row.noun not in ("connection", "placement")]
    shown = [(row.noun == "host", dict.fromkeys(row.who)) for row in names]
    lines = [
        f"- {', '.join(escape(name) if is_host else code(name, table=False) for name in who)}" for is_host, who in shown
    ]
    yield f"<details><summary>all {_nouns(names)} by name</summary>\n", lines, end, "- and {} more", 0.5
    yield f"<details><summary>{_more('new finding', len(findings))}</summary>\n", findings, end, "- and {} more", 0.6
    yield f"<details><summary>{len(unknown)} more not known</summary>\n", unknown, end, "- and {} more", 0.3
    lines = [f"- {code(name, table=False)}: {escape(verdicts)}" for name, verdicts in said.policies]
    title = count(len(lines), "policy", "policies") + " with another verdict"
    yield f"<details><summary>{title}</summary>\n", lines, end, "- and {} more", 0.3
    renamed = [sentence for environment in report.comparison.environments for sentence in renamed_objects(environment)]
    lines = [f"- {spoken(sentence, table=False)}" for sentence in renamed]
    yield f"<details><summary>{len(lines)} renamed</summary>\n", lines, end, "- and {} more", 0.3


def _more(noun: str, number: int) -> str:
    return count(number, noun if noun == "other change" else f"more {noun}")


def _nouns(rows: Sequence[CommentRow]) -> str:
    return " and ".join(dict.fromkeys(f"{escape(row.noun)}s" for row in rows))


def _add_known_before(page: MarkdownPage, report: DiffReport) -> None:
    states = [(state, report.listed(state)) for state in ("fixed", "moot", "unchanged")]
    title = ", ".join(f"{len(findings)} {state}" for state, findings in states if findings)
    lines = [_line(report, state, finding) for state, findings in states for finding in findings]
    page.add_list(f"<details><summary>{title}</summary>\n", lines, "\n\n</details>", "- and {} more")


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _key(key: str) -> str:
    """Return a key that cannot end the comment that it stands in."""
    return "".join(char if char.isalnum() or char in "._/" else "_" for char in key) or "default"


def _in_page(report: DiffReport, words: str, environment: str, **view: str) -> str:
    """Return words as a link to a view of the graph's page, as they are where no page is known."""
    if not report.graph:
        return words
    from urllib.parse import urlencode

    several = {"environment": environment} if len(report.comparison.environments) > 1 else {}
    return f"[{words}]({report.graph}#{urlencode({**several, **view}, errors='replace')})"


def _place(report: DiffReport, location: Location, *, before: bool = False) -> str:
    """Return `[checkout-cors.yaml:11](…/prod/shop/checkout-cors.yaml#L11)`, without an address the whole path."""
    relative = (report.before_relative if before else report.report.relative)(location.file)
    line = location.at()[0]
    if not report.links or relative is None or before:
        return code(f"{relative or location.file}:{line}")
    from urllib.parse import quote

    address = report.links.rstrip("/") + "/" + quote(relative, safe="/-._~", errors="replace")
    shown = code(f"{relative.rpartition('/')[2]}:{line}")
    return f"[{shown}]({address}{report.dialect.line.format(line)})"


def _notes(finding: Finding) -> str:
    """Return the notes as sentences: they begin with a capital, but the name of an object stays as it is."""
    notes = [note.removeprefix("note: ") for note in finding.notes if note.startswith("note: ")]
    capitals = (note[:1].upper() + note[1:] if note.partition(" ")[0].isalpha() else note for note in notes)
    return "".join(f". {spoken(note)}" for note in capitals)


def _subjects(subjects: Sequence[SubjectChange]) -> str:
    return leading((f"<code>{html(subject.key.path)}</code>" for subject in subjects), 1)


def _details(groups: Iterable[Sequence[SubjectChange]]) -> Iterator[str]:
    """Yield before and after of what changes, setting by setting, for a reader who wants the whole values."""
    for group in groups:
        lines = [line for part in group[0].parts for setting in part.settings for line in _diff_lines(setting)]
        if not lines:
            continue
        fence = "`" * (3 + max(line.count("`") for line in lines))
        title = f"Before and after: {_subjects(group)}"
        body = "\n".join(lines)
        yield f"<details><summary>{title}</summary>\n\n{fence}diff\n{body}\n{fence}\n</details>"


def _diff_lines(setting: SettingChange) -> Iterator[str]:
    """Yield the lines of a setting that differ, with a few around them; none of one whose value stays."""
    if setting.change in ("unchanged", "moved"):
        return
    from difflib import unified_diff

    before, after = (
        [] if value is None else list(_value_lines(cut(setting.name, 60), value))
        for value in (setting.before, setting.after)
    )
    lines = [line for line in list(unified_diff(before, after, n=2, lineterm=""))[2:] if not line.startswith("@@")]
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"… {len(lines) - MOST_LINES} more lines"


def _value_lines(name: str, value: Any, indent: str = "") -> Iterator[str]:
    """Yield a value as YAML would write it, but each key and scalar on one line: no text can add or end a line."""
    if isinstance(value, dict) and value:
        yield f"{indent}{name}:"
        for key, inner in value.items():
            yield from _value_lines(cut(str(key), 60), inner, f"{indent}  ")
    elif isinstance(value, list) and value:
        yield f"{indent}{name}:"
        for entry in value:
            if isinstance(entry, (dict, list)):
                first, *more = [line for key, inner in _members(entry) for line in _value_lines(key, inner)] or ["{}"]
                yield from (f"{indent}- {first}", *(f"{indent}  {line}" for line in more))
            else:
                yield f"{indent}- {cut(scalar(entry), _LONGEST)}"
    else:
        yield f"{indent}{name}: {cut(scalar(value), _LONGEST)}"


def _members(entry: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an entry of a list; a list in a list stands below a dash of its own."""
    if isinstance(entry, dict):
        yield from ((cut(str(key), 60), value) for key, value in entry.items())
    else:
        yield "-", entry


def _silenced(entry: Suppressed) -> str:
    finding, by = silenced_in_words(entry)
    return f"- {escape(finding)}, by a {escape(by)}"


def _line(report: DiffReport, state: str, finding: Finding) -> str:
    where = "" if state == "unchanged" else f" ({_place(report, finding.location, before=True)})"
    return f"- {state}: {finding.severity} {escape(finding.rule)} {spoken(finding.message, table=False)}{where}"


def _footer(report: DiffReport) -> str:
    coverage = report.report.coverage
    unseen = [spoken(sentence, table=False) for sentence in coverage.not_rendered[:5]]
    counted = ", ".join(finding_parts(report))
    parts = [counted] if counted else []
    parts += [code(path, table=False) for path in report.report.paths]
    if report.span:
        parts.append(f"compared {code(report.span, table=False)}")
    if unseen:
        parts.append(f"not seen: {', '.join(unseen)}")
    parts.append(f"policylint {report.report.version}".strip())
    environments = report.comparison.environments
    implementations = {context.kind.implementation for env in environments for context in env.contexts} - {""}
    if implementations:
        parts.append(f"rules of {', '.join(map(escape, sorted(implementations)))}")
    if report.report.seconds is not None:
        parts.append(f"{report.report.seconds:.1f} s")
    parts.append(f"reproduce: {code(reproduced(report), table=False)}")
    return f"<sub>{' · '.join(parts)}</sub>" if report.dialect.has_html else " · ".join(parts)
