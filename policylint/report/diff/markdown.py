"""The comment on a pull request: verdict, routes, new findings, one diagram, the rest folded.

Source: docs/design/conventions.md §3; docs/github-action.md shows one.

Every section has a budget and is there whole or not at all; whatever comes from manifests is escaped, for the comment
may be posted with a write token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from policylint.model import Finding, Location, ResourceKey
from policylint.model.words import count
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
    value_in_words,
    verdict_parts,
    whereabouts,
)
from policylint.report.findings.markdown import BUDGET, Page
from policylint.report.findings.sarif_rules import page_uri
from policylint.report.kit.escape import code, escape, html, spoken

if TYPE_CHECKING:
    from policylint.compare.change import EnvironmentChange, Responsible, SettingChange, SubjectChange

SUMMARY_BUDGET = 900 * 1024
MOST_NAMES = 5
MOST_DETAILS = 10
MOST_IN_SIGHT, MOST_OF_RULE = 5, 50
"""New findings of one rule and severity, where there are more than a few: seen at once, and in all."""
MOST_ROWS = 15
"""Rows of a table that are seen at once; the others are folded: nobody reads them, somebody looks one up."""
_TABLE = "| Route | Setting | Before | After | Why |\n|---|---|---|---|---|"
_NEW = "| | Rule | Where | |\n|---|---|---|---|"


def write(report: DiffReport, budget: int = BUDGET) -> str:
    """The comment, ending in a newline; its first line says whose it is."""
    footer = _footer(report)
    marker = f"<!-- policylint:v1 key={_key(report.key)} -->"
    page = Page(budget - len(footer) - len(marker) - 8)
    page.add(f"### policylint: {_verdict(report)}")
    counts = _counts(report)
    if counts:
        page.add(counts)
    renamed = [each for env in report.comparison.environments for each in renamed_objects(env)]
    if renamed:
        page.add_list("**Renamed**\n", [f"- {spoken(each, table=False)}" for each in renamed], "", "{} more.", 0.1)
    ways = [alike(each.known) for each in report.comparison.environments]
    rows = [row for groups in ways for row in _rows(report, groups)]
    again = reproduced(report).replace("`", "")
    if rows:
        _add_table(page, _TABLE, rows, ("row", f"{{}} more rows: `{again}` lists them."), 0.5)
    unknown = [each for env in report.comparison.environments for each in env.unknown]
    if unknown:
        lines = [f"- {code(str(each.key), table=False)}: {spoken(each.reason, table=False)}" for each in unknown]
        page.add_list("**Unknown**: what these bring was not seen\n", lines, "", "{} more.", 0.2)
    new = report.listed("new")
    if new:
        seen, rest = _findings(report, new)
        _add_table(page, f"**New**\n\n{_NEW}", [*seen, *rest], ("new finding", "{} more new findings."), 0.6, len(seen))
    for environment, groups in zip(report.comparison.environments, ways, strict=True):
        drawn = diagram(environment, groups)
        if drawn:
            title = _reaches(environment)
            page.add(f"<details><summary>How policy reaches {title}</summary>\n\n```mermaid\n{drawn}\n```\n</details>")
            break
    for detail in islice(_details(chain.from_iterable(ways)), MOST_DETAILS):
        page.add(detail)
    folded = _folded(report)
    if folded:
        head = f"<details><summary>{_folded_title(report)}</summary>\n"
        page.add_list(head, folded, "\n\n</details>", "- and {} more")
    return f"{marker}\n{page.text()}\n\n{footer}\n"


def summary(report: DiffReport) -> str:
    """The same with the room of a job summary, and without the marker, for which that has no use."""
    return write(report, SUMMARY_BUDGET * 3 // 4).partition("\n")[2]


def _add_table(
    page: Page, head: str, rows: Sequence[str], of: tuple[str, str], share: float, most: int = MOST_ROWS
) -> None:
    """The first rows in sight, the others folded; what they are called, and the line that counts what has no room."""
    name, more = of
    end = len(rows)
    if len(rows) > MOST_ROWS + MOST_ROWS // 3:  # not for a few more
        end = next((n for n in range(min(most, MOST_ROWS), len(rows)) if not rows[n].startswith("| same")), len(rows))
    page.add_list(head, rows[:end], "", more, share)
    if rest := rows[end:]:
        table = head[head.index("| ") :]
        title = f"<details><summary>{count(len(rest), f'more {name}')}</summary>\n\n{table}"
        page.add_list(title, rest, "\n\n</details>", more, share)


def _key(key: str) -> str:
    """A key cannot end the comment that it stands in."""
    return "".join(each if each.isalnum() or each in "._/" else "_" for each in key) or "default"


def _verdict(report: DiffReport) -> str:
    """What a reader must know first: protections that go, else how many routes change."""
    losing = {
        (subject.environment, subject.key)
        for env in report.comparison.environments
        for subject in env.known
        if subject.is_route and loses_protection(subject)
    }
    if losing and any(each.severity != "note" for each in report.known("new")):
        return f"{count(len(losing), 'route')} {'loses' if len(losing) == 1 else 'lose'} a protection"
    if any(each.rule == "GWP302" and each.severity == "error" for each in report.known("new")):
        return "a route can be reached past its protection"
    if any(each.rule == "GWP304" and each.severity == "error" for each in report.known("new")):
        return "a protection stays and keeps nobody out any more"
    routes = report.comparison.routes
    if routes:
        by = [each.change for each in routes]
        if set(by) == {"added"}:
            return count(len(routes), "new route")
        return f"{count(len(routes), 'route')} {'changes its' if len(routes) == 1 else 'change their'} effective policy"
    if report.comparison.changes_policy:
        return "no route changes, but what stands above or beside them does"
    if any(env.unknown for env in report.comparison.environments):
        return "no route is known to change its effective policy"
    return nothing_changes(report)


def _counts(report: DiffReport) -> str:
    """`**1 new error**, 1 fixed, 4 unchanged · 1 of 23 routes changes · clusters/prod`."""
    findings = finding_parts(report)
    if findings and report.known("new"):
        findings[0] = f"**{findings[0]}**"
    parts = [", ".join(findings)] if findings else []
    for environment in report.comparison.environments:
        own = verdict_parts(environment)
        name = report.shown_name(environment.name)
        if own:
            parts.append(", ".join(own) + (f" in {code(name, table=False)}" if name else ""))
    parts += [code(path, table=False) for path in report.report.paths]
    return " · ".join(parts)


def _rows(report: DiffReport, groups: Iterable[Sequence[SubjectChange]]) -> Iterator[str]:
    for group in groups:
        who = _who(group)
        subject, own = group[0], own_policies(group)
        if subject.change in ("added", "removed") or not (subject.parts or subject.reach):
            said = {"added": "new", "removed": "gone", "renamed": "renamed"}.get(subject.change, "")
            was = f"was {code(subject.was.path)}" if subject.was is not None else ""
            yield f"| {who} | | {was} | **{said}** | |"
            who = "same" if subject.parts else who
        for reach in subject.reach:
            said = escape(reach_in_words(reach))
            yield f"| {who} | {escape(reach.what)} | | {said} | {spoken(cut(reach.message, 160))} |"
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
    namespaces = {each.key.namespace for each in group}
    where = f" in {len(namespaces)} namespaces" if len(namespaces) > 1 else ""
    return f"**{count(len(group), escape(first.key.kind))}**{where}: {whereabouts(group, MOST_NAMES, code)}"


def _values(setting: SettingChange) -> str:
    """The two cells before and after."""
    if setting.change == "changed":
        return f"{_value(setting.before)} | {code(difference(setting.before, setting.after, 80))}"
    before = "none" if setting.change == "added" else _value(setting.before)
    after = "**none**" if setting.change == "removed" else _value(setting.after)
    return f"{before} | {after}"


def _value(value: Any) -> str:
    return code(value_in_words(value, 60))


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
    shown = [
        one_of(each, own) + (_place(report, each.location) if each.location is not None else code(each.policy.path))
        for each in responsible[:3]
    ]
    return ", ".join(shown)


def _names(responsible: Sequence[Responsible], own: frozenset[ResourceKey]) -> str:
    return ", ".join(one_of(each, own) + code(each.policy.path) for each in responsible)


def _place(report: DiffReport, location: Location, *, before: bool = False) -> str:
    """`[checkout-cors.yaml:11](…/clusters/prod/shop/checkout-cors.yaml#L11)`, without an address the whole path."""
    relative = (report.before_relative if before else report.report.relative)(location.file)
    line = location.at()[0]
    if not report.links or relative is None or before:
        return code(f"{relative or location.file}:{line}")
    from urllib.parse import quote

    address = report.links.rstrip("/") + "/" + quote(relative, safe="/-._~", errors="replace")
    shown = code(f"{relative.rpartition('/')[2]}:{line}")
    return f"[{shown}]({address}#L{line})"


def _findings(report: DiffReport, findings: Sequence[Finding]) -> tuple[list[str], list[str]]:
    """A row each, the first ones of every rule apart from the rest; of very many the number."""
    number = Counter((each.severity, each.rule) for each in findings)
    come: Counter[tuple[str, str]] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for each in findings:
        which = each.severity, each.rule
        come[which] += 1
        if come[which] <= MOST_OF_RULE:
            (first if come[which] <= MOST_IN_SIGHT else rest).append(_finding(report, each))
        elif come[which] == number[which]:
            lists = code(f"{reproduced(report)} -o concise")
            left = f"{number[which] - MOST_OF_RULE} more like these: {lists} lists them"
            rest.append(f"| {each.severity} | {escape(each.rule)} | | {left} |")
    return first, rest


def _finding(report: DiffReport, finding: Finding) -> str:
    page = report.report.pages.get(finding.rule)
    rule = f"[{finding.rule}]({page_uri(page, report.report.version)})" if page else escape(finding.rule)
    said = spoken(finding.message)
    fix = next((each for each in finding.help if each.startswith("fix: ")), "")
    if fix:
        said += f". Fix: {spoken(fix.removeprefix('fix: '))}"
    for note in finding.help:
        if note.startswith("note: "):
            text = note.removeprefix("note: ")
            # a sentence begins with a capital, the name of an object stays as it is
            said += f". {spoken(text[:1].upper() + text[1:] if text.partition(' ')[0].isalpha() else text)}"
    return f"| {finding.severity} | {rule} | {_place(report, finding.location)} | {said} |"


def _reaches(environment: EnvironmentChange) -> str:
    subjects = [each for each in environment.known if each.parts] or list(environment.known)
    if not subjects:
        return "what changes"
    more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    return f"<code>{html(subjects[0].key.path)}</code>{more}"


def _details(groups: Iterable[Sequence[SubjectChange]]) -> Iterator[str]:
    """Before and after of what changes, setting by setting, for a reader who wants the whole values."""
    for group in groups:
        subject = group[0]
        lines = [line for part in subject.parts for each in part.settings for line in _diff_lines(each)]
        if not lines:
            continue
        fence = "`" * (3 + max((line.count("`") for line in lines), default=0))
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        title = f"Before and after: <code>{html(subject.key.path)}</code>{more}"
        body = "\n".join(lines)
        yield f"<details><summary>{title}</summary>\n\n{fence}diff\n{body}\n{fence}\n</details>"


def _diff_lines(setting: SettingChange) -> Iterator[str]:
    import json

    if setting.change in ("unchanged", "moved"):
        yield f"  {cut(setting.name, 60)}: {value_in_words(setting.after, 80)}"
        return
    for mark, value, there in (
        ("-", setting.before, setting.change != "added"),
        ("+", setting.after, setting.change != "removed"),
    ):
        if there:
            yield f"{mark} {cut(setting.name, 60)}: {cut(json.dumps(value, ensure_ascii=False, default=str), 400)}"


def _folded(report: DiffReport) -> list[str]:
    lines = []
    for state in ("fixed", "unchanged"):
        for each in report.listed(state):
            where = "" if state == "unchanged" else f" ({_place(report, each.location, before=True)})"
            lines.append(f"- {state}: {each.severity} {escape(each.rule)} {spoken(each.message, table=False)}{where}")
    return lines


def _folded_title(report: DiffReport) -> str:
    numbers = [(state, len(report.listed(state))) for state in ("fixed", "unchanged")]
    return ", ".join(f"{number} {state}" for state, number in numbers if number)


def _footer(report: DiffReport) -> str:
    coverage = report.report.coverage
    unseen = [spoken(each, table=False) for each in coverage.not_rendered[:5]]
    parts = [f"Not seen: {', '.join(unseen)}"] if unseen else []
    if report.span:
        parts.append(code(report.span, table=False))
    parts.append(f"policylint {report.report.version}".strip())
    implementations = sorted(
        {each.kind.implementation for env in report.comparison.environments for each in env.contexts}
    )
    if implementations and any(implementations):
        parts.append(f"rules of {', '.join(each for each in implementations if each)}")
    if report.report.seconds is not None:
        parts.append(f"{report.report.seconds:.1f} s")
    parts.append(f"reproduce: {code(reproduced(report), table=False)}")
    return f"<sub>{' · '.join(parts)}</sub>"
