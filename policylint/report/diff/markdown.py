"""The comment on a pull request: verdict, routes, new findings, one diagram, the rest folded.

Source: docs/design/conventions.md §3; docs/github-action.md shows one.

Every section has a budget and is there whole or not at all; whatever comes from manifests is escaped, for the comment
may be posted with a write token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from policylint.model import Finding, Location, ResourceKey
from policylint.model.words import count, leading, verb
from policylint.report.diff.mermaid import diagram
from policylint.report.diff.report import DiffReport
from policylint.report.diff.wording import (
    alike,
    cut,
    difference,
    finding_parts,
    loses_protection,
    nothing_changes,
    one_of,
    own_policies,
    reach_in_words,
    renamed_objects,
    reproduced,
    silenced_in_words,
    value_in_words,
    verdict_parts,
    whereabouts,
)
from policylint.report.findings.markdown import BUDGET, MarkdownPage, finding_row
from policylint.report.kit.connections import connection_in_words
from policylint.report.kit.escape import code, escape, html, spoken

if TYPE_CHECKING:
    from policylint.compare.change import Responsible, SettingChange, SubjectChange
    from policylint.compare.connections import ConnectionChange
    from policylint.triage import Suppressed

SUMMARY_BUDGET = 900 * 1024
MOST_NAMES = 5
MOST_DETAILS = 10
MOST_IN_SIGHT, MOST_OF_RULE = 5, 50
"""New findings of one rule and severity: those seen at once, and those listed at all."""
MOST_ROWS = 15
"""Rows of a table that are seen at once; the others are folded: nobody reads them, somebody looks one up."""
_TABLE = "| Route | Setting | Before | After | Why |\n|---|---|---|---|---|"
_NEW = "| | Rule | Where | |\n|---|---|---|---|"


def write(report: DiffReport, budget: int = BUDGET) -> str:
    """Write the comment, ending in a newline; its first line says whose it is."""
    footer = _footer(report)
    marker = f"<!-- policylint:v1 key={_key(report.key)} -->"
    page = MarkdownPage(budget - len(footer) - len(marker) - 8)
    page.add(f"### policylint: {_verdict(report)}")
    if counts := _counts(report):
        page.add(counts)
    if report.configuration is not None:
        page.add(f"> **Configuration**: {spoken(report.configuration.message, table=False)}")
    renamed = [sentence for env in report.comparison.environments for sentence in renamed_objects(env)]
    lines = [f"- {spoken(sentence, table=False)}" for sentence in renamed]
    page.add_list("**Renamed**\n", lines, "", "{} more.", 0.1)
    ways = [alike(environment.known) for environment in report.comparison.environments]
    rows = [row for groups in ways for row in _rows(report, groups)]
    again = code(reproduced(report), table=False).replace("{", "{{").replace("}", "}}")
    _add_table(page, _TABLE, rows, ("row", f"{{}} more rows: {again} lists them."), 0.5)
    connections = [change for env in report.comparison.environments for change in env.connections]
    lines = [f"- {_connection(change)}" for change in connections]
    page.add_list("**Connections** that network policies open and close\n", lines, "", "{} more.", 0.3)
    unknown = [subject for env in report.comparison.environments for subject in env.unknown]
    lines = [f"- {code(str(each.key), table=False)}: {spoken(each.reason, table=False)}" for each in unknown]
    page.add_list("**Unknown**: what these bring was not seen\n", lines, "", "{} more.", 0.2)
    seen, rest = _findings(report, report.listed("new"))
    _add_table(page, f"**New**\n\n{_NEW}", [*seen, *rest], ("new finding", "{} more new findings."), 0.6, len(seen))
    page.add_list("**Newly suppressed**\n", [_silenced(entry) for entry in report.silenced], "", "{} more.", 0.3)
    for environment, groups in zip(report.comparison.environments, ways, strict=True):
        if drawn := diagram(environment, groups):
            known = [subject for subject in environment.known if subject.parts] or environment.known
            title = _subjects(known) or "what changes"
            page.add(f"<details><summary>How policy reaches {title}</summary>\n\n```mermaid\n{drawn}\n```\n</details>")
            break
    for detail in islice(_details(chain.from_iterable(ways)), MOST_DETAILS):
        page.add(detail)
    known_before = [(state, report.listed(state)) for state in ("fixed", "unchanged")]
    title = ", ".join(f"{len(findings)} {state}" for state, findings in known_before if findings)
    lines = [_line(report, state, finding) for state, findings in known_before for finding in findings]
    page.add_list(f"<details><summary>{title}</summary>\n", lines, "\n\n</details>", "- and {} more")
    return f"{marker}\n{page.text()}\n\n{footer}\n"


def summary(report: DiffReport) -> str:
    """Write the page with the room of a job summary, and without the marker, for which that has no use."""
    return write(report, SUMMARY_BUDGET * 3 // 4).partition("\n")[2]


def _add_table(
    page: MarkdownPage, head: str, rows: Sequence[str], of: tuple[str, str], share: float, most: int = MOST_ROWS
) -> None:
    """Add the first rows in sight, the others folded.

    Args:
        of: the noun for the rows, and the line that counts those without room.
    """
    name, more = of
    end = len(rows)
    if len(rows) > MOST_ROWS + MOST_ROWS // 3:  # not for a few more
        end = next((n for n in range(min(most, MOST_ROWS), len(rows)) if not rows[n].startswith("| same")), len(rows))
    page.add_list(head, rows[:end], "", more, share)
    if rest := rows[end:]:
        table = head[head.index("| ") :]
        title = f"<details><summary>{count(len(rest), f'more {name}')}</summary>\n\n{table}"
        page.add_list(title, rest, "\n\n</details>", more, share)


def _connection(change: ConnectionChange) -> str:
    """Return `opened: Deployment shop/web to StatefulSet db/postgres: none -> TCP 5432 (NetworkPolicy db/web)`."""
    by = f" ({escape(leading(change.by, 3))})" if change.by else ""
    return f"{change.change}: {spoken(connection_in_words(change), table=False)}{by}"


def _key(key: str) -> str:
    """Return a key that cannot end the comment that it stands in."""
    return "".join(char if char.isalnum() or char in "._/" else "_" for char in key) or "default"


def _verdict(report: DiffReport) -> str:
    """Return what a reader must know first: protections that go, else how many routes change."""
    losing = {
        (subject.environment, subject.key)
        for env in report.comparison.environments
        for subject in env.known
        if subject.is_route and loses_protection(subject)
    }
    new = report.known("new")
    if losing and any(finding.severity != "note" for finding in new):
        return f"{count(len(losing), 'route')} {verb(len(losing), 'loses')} a protection"
    errors = {finding.rule for finding in new if finding.severity == "error"}
    if "GWP302" in errors:
        return "a route can be reached past its protection"
    if "GWP304" in errors:
        return "a protection stays and keeps nobody out any more"
    routes = report.comparison.routes
    if routes:
        if all(route.change == "added" for route in routes):
            return count(len(routes), "new route")
        return f"{count(len(routes), 'route')} {'changes its' if len(routes) == 1 else 'change their'} effective policy"
    if report.comparison.changes_policy:
        return "no route changes, but what stands above or beside them does"
    if any(env.unknown for env in report.comparison.environments):
        return "no route is known to change its effective policy"
    return nothing_changes(report)


def _counts(report: DiffReport) -> str:
    """Return `**1 new error**, 1 fixed, 4 unchanged · 1 of 23 routes changes · clusters/prod`."""
    findings = finding_parts(report)
    if findings and report.known("new"):
        findings[0] = f"**{findings[0]}**"
    parts = [", ".join(findings)] if findings else []
    for environment in report.comparison.environments:
        name = report.shown_name(environment.name)
        if own := verdict_parts(environment):
            parts.append(", ".join(own) + (f" in {code(name, table=False)}" if name else ""))
    parts += [code(path, table=False) for path in report.report.paths]
    return " · ".join(parts)


def _rows(report: DiffReport, groups: Iterable[Sequence[SubjectChange]]) -> Iterator[str]:
    for group in groups:
        who = _who(group)
        subject, own = group[0], own_policies(group)
        if subject.change in ("added", "removed") or not (subject.parts or subject.reach):
            change = {"added": "new", "removed": "gone", "renamed": "renamed"}.get(subject.change, "")
            was = f"was {code(subject.was.path)}" if subject.was is not None else ""
            yield f"| {who} | | {was} | **{change}** | |"
            who = "same" if subject.parts else who
        for reach in subject.reach:
            sentence = escape(reach_in_words(reach))
            yield f"| {who} | {escape(reach.what)} | | {sentence} | {spoken(cut(reach.message, 160))} |"
            who = "same"
        for part in subject.parts:
            scope = "" if part.all_rules else f" ({escape(', '.join(node.section for node in part.rules[:4]))})"
            for setting in part.settings:
                if setting.change != "unchanged":
                    yield f"| {who}{scope} | {code(setting.name)} | {_values(setting)} | {_why(report, setting, own)} |"
                    who = "same"
            for setting in part.lost:
                by, origin = _names(setting.by, own), _names(setting.sources_before, own)
                yield f"| {who}{scope} | {code(setting.name)} | | does not apply | of {origin}: {by} replaces it |"
                who = "same"


def _who(group: Sequence[SubjectChange]) -> str:
    first = group[0]
    if len(group) == 1:
        return code(first.key.path) if first.is_route else code(str(first.key))
    namespaces = {subject.key.namespace for subject in group}
    where = f" in {len(namespaces)} namespaces" if len(namespaces) > 1 else ""
    return f"**{count(len(group), escape(first.key.kind))}**{where}: {whereabouts(group, MOST_NAMES, code)}"


def _values(setting: SettingChange) -> str:
    """Return the two cells before and after."""
    before = "none" if setting.change == "added" else code(value_in_words(setting.before, 60))
    if setting.change == "changed":
        return f"{before} | {code(difference(setting.before, setting.after, 80))}"
    after = "**none**" if setting.change == "removed" else code(value_in_words(setting.after, 60))
    return f"{before} | {after}"


def _why(report: DiffReport, setting: SettingChange, own: frozenset[ResourceKey]) -> str:
    was = _names(setting.sources_before[:3], own)
    match setting.change:
        case "removed":
            if setting.by:
                return f"{_links(report, setting.by, own)} replaces {was}"
            return f"{was} {escape(setting.because)}"
        case "moved":
            return f"{_links(report, setting.sources_after, own)} instead of {was}"
        case _:
            return _links(report, setting.sources_after, own)


def _links(report: DiffReport, responsible: Sequence[Responsible], own: frozenset[ResourceKey]) -> str:
    return ", ".join(
        one_of(origin, own) + (_place(report, origin.location) if origin.location else code(origin.policy.path))
        for origin in responsible[:3]
    )


def _names(responsible: Sequence[Responsible], own: frozenset[ResourceKey]) -> str:
    return ", ".join(one_of(origin, own) + code(origin.policy.path) for origin in responsible)


def _place(report: DiffReport, location: Location, *, before: bool = False) -> str:
    """Return `[checkout-cors.yaml:11](…/prod/shop/checkout-cors.yaml#L11)`, without an address the whole path."""
    relative = (report.before_relative if before else report.report.relative)(location.file)
    line = location.at()[0]
    if not report.links or relative is None or before:
        return code(f"{relative or location.file}:{line}")
    from urllib.parse import quote

    address = report.links.rstrip("/") + "/" + quote(relative, safe="/-._~", errors="replace")
    shown = code(f"{relative.rpartition('/')[2]}:{line}")
    return f"[{shown}]({address}#L{line})"


def _findings(report: DiffReport, findings: Sequence[Finding]) -> tuple[list[str], list[str]]:
    """Return a row each, the first ones of every rule apart from the rest; of very many the number."""
    number = Counter((finding.severity, finding.rule) for finding in findings)
    seen: Counter[tuple[str, str]] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for finding in findings:
        rule = finding.severity, finding.rule
        seen[rule] += 1
        if seen[rule] <= MOST_OF_RULE:
            row = finding_row(report.report, finding, _place(report, finding.location), _notes(finding))
            (first if seen[rule] <= MOST_IN_SIGHT else rest).append(row)
        elif seen[rule] == number[rule]:
            lists = code(f"{reproduced(report)} -o concise")
            left = f"{number[rule] - MOST_OF_RULE} more like these: {lists} lists them"
            rest.append(f"| {finding.severity} | {escape(finding.rule)} | | {left} |")
    return first, rest


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
    import json

    if setting.change in ("unchanged", "moved"):
        yield f"  {cut(setting.name, 60)}: {value_in_words(setting.after, 80)}"
        return
    sides = ("- ", setting.before, "added"), ("+ ", setting.after, "removed")
    for mark, value, absent in sides:
        if setting.change != absent:
            yield f"{mark}{cut(setting.name, 60)}: {cut(json.dumps(value, ensure_ascii=False, default=str), 400)}"


def _silenced(entry: Suppressed) -> str:
    finding, by = silenced_in_words(entry)
    return f"- {escape(finding)}, by a {escape(by)}"


def _line(report: DiffReport, state: str, finding: Finding) -> str:
    where = "" if state == "unchanged" else f" ({_place(report, finding.location, before=True)})"
    return f"- {state}: {finding.severity} {escape(finding.rule)} {spoken(finding.message, table=False)}{where}"


def _footer(report: DiffReport) -> str:
    coverage = report.report.coverage
    unseen = [spoken(sentence, table=False) for sentence in coverage.not_rendered[:5]]
    parts = [f"Not seen: {', '.join(unseen)}"] if unseen else []
    if report.span:
        parts.append(code(report.span, table=False))
    parts.append(f"policylint {report.report.version}".strip())
    environments = report.comparison.environments
    implementations = {context.kind.implementation for env in environments for context in env.contexts} - {""}
    if implementations:
        parts.append(f"rules of {', '.join(map(escape, sorted(implementations)))}")
    if report.report.seconds is not None:
        parts.append(f"{report.report.seconds:.1f} s")
    parts.append(f"reproduce: {code(reproduced(report), table=False)}")
    return f"<sub>{' · '.join(parts)}</sub>"
