"""The comment on a pull request: verdict, protections, new errors, what else changes, a diagram, the rest folded.

Source: docs/design/conventions.md §3; docs/github-action.md shows one.

Every section has a budget and is there whole or not at all; whatever comes from manifests is escaped, for the comment
may be posted with a write token.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from policylint.compare.requests import doors_in_words, sets_in_words, what_differs
from policylint.model import Finding, Location, ResourceKey
from policylint.model.words import count, leading, verb
from policylint.report.diff import requests
from policylint.report.diff.mermaid import diagram
from policylint.report.diff.report import DiffReport
from policylint.report.diff.wording import (
    LikeChanges,
    alike,
    cut,
    difference,
    fails,
    fate_in_words,
    finding_parts,
    nothing_changes,
    one_of,
    own_policies,
    policies_in_words,
    policies_of,
    protections,
    reach_in_words,
    renamed_objects,
    reproduced,
    routes_in_words,
    scalar,
    silenced_in_words,
    value_in_words,
    verdict_parts,
    weakens,
    whereabouts,
)
from policylint.report.findings.markdown import BUDGET, MarkdownPage, finding_row, summary
from policylint.report.kit.connections import connection_in_words
from policylint.report.kit.escape import code, escape, html, spoken
from policylint.report.kit.placements import FoldedPlacements, causes_in_words, folded_placements, placement_in_words

if TYPE_CHECKING:
    from policylint.compare.change import (
        AttachmentChange,
        EnvironmentChange,
        Part,
        PolicyChange,
        Responsible,
        SettingChange,
        SubjectChange,
    )
    from policylint.compare.connections import ConnectionChange
    from policylint.compare.requests import RequestChange
    from policylint.triage import Suppressed

MOST_NAMES, MOST_LOSING = 5, 20
"""Subjects of a row that are named, and of one about a protection."""
MOST_DETAILS = 10
MOST_IN_SIGHT, MOST_OF_RULE = 5, 50
"""New findings of one rule and severity: those seen at once, and those listed at all."""
MOST_LINES, _LONGEST = 60, 200
"""Lines of one setting before and after, and the characters of each."""
MOST_ROWS = 15
"""Rows of a table that are seen at once; the others are folded: nobody reads them, somebody looks one up."""
_TABLE = "| Route | Setting | Before | After | Why |\n|---|---|---|---|---|"
_REQUESTS = "| | Requests | Before | After | Why |\n|---|---|---|---|---|"
_LOST = "| Protection | Route | Before | After | Why |\n|---|---|---|---|---|"
_TAKES_AWAY = frozenset({"GWP302", "GWP304", "GWP620"})
"""Rules whose messages say what a change takes away from whom, before their first colon."""
_NEW = "| | Rule | Where | |\n|---|---|---|---|"


def write(report: DiffReport, budget: int | None = BUDGET) -> str:
    """Write the comment, ending in a newline; its first line says whose it is.

    Args:
        budget: the most characters it may have, None for the whole.
    """
    footer = _footer(report)
    marker = f"<!-- policylint:v1 key={_key(report.key)} -->"
    page = MarkdownPage((budget or sys.maxsize) - len(footer) - len(marker) - 8)
    page.add(f"### policylint: {_verdict(report)}")
    if counts := _counts(report):
        page.add(counts)
    if report.configuration is not None:
        page.add(f"> **Configuration**: {spoken(report.configuration.message, table=False)}")
    renamed = [sentence for env in report.comparison.environments for sentence in renamed_objects(env)]
    lines = [f"- {spoken(sentence, table=False)}" for sentence in renamed]
    page.add_list("**Renamed**\n", lines, "", "{} more.", 0.1)
    ways = [alike(environment.known) for environment in report.comparison.environments]
    again = code(reproduced(report), table=False).replace("{", "{{").replace("}", "}}")
    left_out = ("row", f"{{}} more rows: {again} lists them.")
    told = {id(env): _told(env) for env in report.comparison.environments}
    lost = [row for env in report.comparison.environments for row in _protection_rows(report, env.known, told[id(env)])]
    found = requests.severities(report)
    answers = [
        (change, _request_row(report, change, found))
        for env in report.comparison.environments
        for change in (env.requests.changes if env.requests is not None else ())
        if id(change) not in told[id(env)]
    ]
    opens = any(change.change == "opened" for change, _ in answers)
    if opens:
        _add_table(page, f"**Requests**\n\n{_REQUESTS}", [row for _, row in answers], left_out, 0.4)
    _add_table(page, f"**Protections that no longer apply or ask for less**\n\n{_LOST}", lost, left_out, 0.5)
    new = requests.beside(report.folded("new"), (change for change, _ in answers))
    most = MOST_OF_RULE if budget else sys.maxsize
    breaks = any(finding.severity == "error" for finding in new)
    if breaks:
        _add_new(page, report, new, most)
    if not opens:
        _add_table(page, f"**Requests**\n\n{_REQUESTS}", [row for _, row in answers], left_out, 0.4)
    rows = [row for groups in ways for row in _rows(report, groups)]
    _add_table(page, f"**Other changes**\n\n{_TABLE}" if lost or breaks or answers else _TABLE, rows, left_out, 0.5)
    lines = [line for environment in report.comparison.environments for line in _policies(environment)]
    page.add_list("**Policies**\n", lines, "", "{} more.", 0.2)
    connections = [change for env in report.comparison.environments for change in env.connections]
    lines = [f"- {_connection(change)}" for change in connections]
    page.add_list("**Connections** that network policies open and close\n", lines, "", "{} more.", 0.3)
    placements = [change for env in report.comparison.environments for change in env.placements]
    lines = [f"- {_placed(change)}" for change in folded_placements(placements)]
    page.add_list("**Placements** on clusters\n", lines, "", "{} more.", 0.3)
    unknown = [subject for env in report.comparison.environments for subject in env.unknown]
    lines = [f"- {code(str(each.key), table=False)}: {spoken(each.reason, table=False)}" for each in unknown]
    for environment in report.comparison.environments:
        for why, hosts in environment.requests.unknown if environment.requests is not None else ():
            lines.append(f"- requests to {count(hosts, 'host')}: {spoken(why, table=False)}")
    page.add_list("**Unknown**: what these bring was not seen\n", lines, "", "{} more.", 0.2)
    if not breaks:
        _add_new(page, report, new, most)
    page.add_list("**Newly suppressed**\n", [_silenced(entry) for entry in report.silenced], "", "{} more.", 0.3)
    for environment, groups in zip(report.comparison.environments, ways, strict=True):
        if drawn := diagram(environment, groups):
            known = [subject for subject in environment.known if subject.parts] or environment.known
            title = _subjects(known) or "what changes"
            page.add(f"<details><summary>How policy reaches {title}</summary>\n\n```mermaid\n{drawn}\n```\n</details>")
            break
    for detail in islice(_details(chain.from_iterable(ways)), budget and MOST_DETAILS):
        page.add(detail)
    known_before = [(state, report.listed(state)) for state in ("fixed", "unchanged")]
    title = ", ".join(f"{len(findings)} {state}" for state, findings in known_before if findings)
    lines = [_line(report, state, finding) for state, findings in known_before for finding in findings]
    page.add_list(f"<details><summary>{title}</summary>\n", lines, "\n\n</details>", "- and {} more")
    return f"{marker}\n{page.text()}\n\n{footer}\n"


def write_summary(report: DiffReport) -> str:
    """Write the page with the room of a job summary, and without the marker, for which that has no use."""
    return summary(lambda budget: write(report, budget)).partition("\n")[2]


def _add_new(page: MarkdownPage, report: DiffReport, findings: Sequence[Finding], most: int) -> None:
    seen, rest = _findings(report, findings, most)
    _add_table(page, f"**New**\n\n{_NEW}", [*seen, *rest], ("new finding", "{} more new findings."), 0.6, len(seen))


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


def _placed(change: FoldedPlacements) -> str:
    """Return `enforced: Policy policies/deny-all: inform -> enforce on prod-eu (PlacementBinding policies/all)`."""
    by = f" ({escape(causes)})" if (causes := causes_in_words(change.first)) else ""
    return f"{change.first.change}: {spoken(placement_in_words(change), table=False)}{by}"


def _key(key: str) -> str:
    """Return a key that cannot end the comment that it stands in."""
    return "".join(char if char.isalnum() or char in "._/" else "_" for char in key) or "default"


def _verdict(report: DiffReport) -> str:
    """Return what a reader must know first: protections that go or weaken, else how many routes change."""
    subjects = [subject for env in report.comparison.environments for subject in env.known]
    routes = [subject for subject in subjects if subject.is_route]
    new = [finding for finding in report.known("new") if finding.severity != "note"]
    losing = {(route.environment, route.key): names for route in routes if (names := protections(route, lost=True))}
    for share in ("all requests", "some requests"):
        if failing := sum(fails(route, share) for route in routes):
            return f"{share} of {count(failing, 'route')} will answer 500"
    settings = sorted({name for lost in losing.values() for name in lost})
    listed = leading([code(name, table=False) for name in settings], 3)
    if losing and new:
        return f"{count(len(losing), 'route')} {verb(len(losing), 'loses')} a protection: {listed}"
    taken = [finding for finding in new if finding.rule in _TAKES_AWAY]
    if taken:
        more = f" ({len(taken) - 1} more like this)" if len(taken) > 1 else ""
        return spoken(taken[0].message.partition(": ")[0], table=False) + more
    if losing:  # but no rule says that nothing else takes their place
        return f"{listed} no longer {'applies' if len(settings) == 1 else 'apply'} to {count(len(losing), 'route')}"
    errors = [finding for finding in new if finding.severity == "error"]
    if errors and not any(subject.parts or subject.change != "changed" for subject in subjects):
        more = f" ({count(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
        return spoken(cut(errors[0].message, 160), table=False) + more
    if routes:
        return routes_in_words(routes)
    if any(env.unknown for env in report.comparison.environments) and not report.comparison.changes_policy:
        return "no route is known to change its effective policy"
    if beside := _beside(report):
        return "; ".join([nothing_changes(report._replace(files_differ=0)), *beside])
    return nothing_changes(report)


def _beside(report: DiffReport) -> list[str]:
    """Return what changes where no route does: `1 Gateway changes`, `1 new policy`."""
    parts = [
        part
        for environment in report.comparison.environments
        for part in verdict_parts(environment._replace(subjects=environment.known))
    ]
    policies = [change for environment in report.comparison.environments for change in environment.policies]
    happened = Counter(map(_happening, policies))
    return [*parts, *(f"{count(number, 'policy', 'policies')} {what}" for what, number in sorted(happened.items()))]


def _happening(change: PolicyChange) -> str:
    """Return what a title says of a policy."""
    acts = ("Enforced", "PartiallyEnforced")
    if not change.after:
        return "removed"
    if not change.before:
        return "added" if change.after in acts else "added without effect"
    return "no longer in effect" if change.before in acts and change.after not in acts else "with another status"


def _counts(report: DiffReport) -> str:
    """Return `**1 new error**, 1 fixed, 4 unchanged · 1 of 23 routes changes · clusters/prod`."""
    findings = finding_parts(report)
    if findings and requests.beside(report.known("new"), ()):
        findings[0] = f"**{findings[0]}**"
    parts = [", ".join(findings)] if findings else []
    for environment in report.comparison.environments:
        name = report.shown_name(environment.name)
        if own := verdict_parts(environment):
            parts.append(", ".join(own) + (f" in {code(name, table=False)}" if name else ""))
    parts += requests.parts(report)
    parts += [code(path, table=False) for path in report.report.paths]
    return " · ".join(parts)


def _told(environment: EnvironmentChange) -> dict[int, RequestChange]:
    """Return the changes of requests that rows about protections tell."""
    weakened = {
        (subject.key, setting.name)
        for subject in environment.known
        for part in (() if fails(subject) else subject.parts)
        for setting in part.settings
        if weakens(setting)
    }
    return requests.told(environment, weakened)


def _request_row(report: DiffReport, change: RequestChange, found: Mapping[tuple[str, str], str]) -> str:
    about = f"{escape(subject)}: " if (subject := what_differs(change)) else ""
    by = ", ".join(
        f"{code(str(who.policy))}{f' {_place(report, who.location)}' if who.location else ''}" for who in change.by[:3]
    )
    before = spoken(cut(change.before, 160))
    after = spoken(cut(change.after, 160)) if change.before != change.after else "other values"
    what = f"{code(cut(sets_in_words(change), 240))}, {escape(doors_in_words(change))}"
    example = f"<br>e.g. {_example(report, change)}"
    kind = escape(requests.kind(change, found))
    return f"| **{kind}** | {what}{example} | {about}{before} | {after} | {by} |"


def _example(report: DiffReport, change: RequestChange) -> str:
    """Return the command that traces an example, with a link to its way on the page of the graph."""
    command = code(requests.command(report, change))
    if not report.graph:
        return command
    asked = "\n".join([str(change.example), *(f"{name}: {value}" for name, value in change.example.headers)])
    return f"{command} ({_in_page(report, 'its way', change.environment, request=asked)})"


def _in_page(report: DiffReport, words: str, environment: str, **view: str) -> str:
    """Return words as a link to a view of the graph's page, as they are where no page is known."""
    if not report.graph:
        return words
    from urllib.parse import urlencode

    several = {"environment": environment} if len(report.comparison.environments) > 1 else {}
    return f"[{words}]({report.graph}#{urlencode({**several, **view}, errors='replace')})"


def _protection_rows(
    report: DiffReport, subjects: Sequence[SubjectChange], told: Mapping[int, RequestChange]
) -> Iterator[str]:
    """Yield a row per cause for which subjects lose a protection, or for which one asks for less; lost ones first.

    Args:
        told: changes of requests that the rows tell.
    """
    ways = LikeChanges(subjects)
    causes: dict[Any, dict[str, dict[ResourceKey, tuple[SettingChange, SubjectChange]]]] = {}
    for subject in subjects:
        for part in () if fails(subject) else subject.parts:
            for setting in filter(weakens, part.settings):
                cause = (
                    subject.key.kind,
                    _scope(part),
                    ways.cause(setting),
                    setting.change == "changed" and setting.name,
                )
                by_name = causes.setdefault(cause, {})
                by_name.setdefault(setting.name, {})[subject.key] = setting, subject
    rows: dict[Any, list[dict[ResourceKey, tuple[SettingChange, SubjectChange]]]] = {}
    for (_, scope, cause, _), by_name in causes.items():
        for affected in by_name.values():
            rows.setdefault((scope, cause, tuple(affected)), []).append(affected)
    lost_first = []
    for (scope, _, _), by_setting in rows.items():
        group = [subject for _, subject in by_setting[0].values()]
        settings = [[setting for setting, _ in affected.values()] for affected in by_setting]
        first = settings[0][0]
        before, after = ("<br>".join(dict.fromkeys(side)) for side in zip(*map(_all_values, settings), strict=True))
        names = [same[0].name for same in settings]
        protection = ", ".join(map(code, names))
        why = _why(report, first, own_policies(group))
        answers = requests.of_row(told.values(), group, names)
        sets = "; ".join(dict.fromkeys(map(sets_in_words, answers)))
        which = f"<br>requests: {code(cut(sets, 240))}" if sets else ""
        example = f"<br>e.g. {_example(report, answers[0])}" if answers else ""
        who = f"{_who(report, group, MOST_LOSING)}{scope}"
        row = f"| {protection} | {who}{which}{example} | {before} | {after} | {why} |"
        lost_first.append((first.change != "removed", names, row))
    yield from (row for _, _, row in sorted(lost_first))


def _all_values(settings: Sequence[SettingChange]) -> tuple[str, str]:
    """Return the cells before and after for a setting of several subjects; where they differ, those of the first."""
    before, after = _values(settings[0])
    differ = any((other.before, other.after) != (settings[0].before, settings[0].after) for other in settings)
    return (f"e.g. {before}" if differ else before), after


def _scope(part: Part) -> str:
    return "" if part.all_rules else f" ({escape(', '.join(node.section for node in part.rules[:4]))})"


def _rows(report: DiffReport, groups: Iterable[Sequence[SubjectChange]]) -> Iterator[str]:
    """Yield a row per change of subjects that change alike, without protections that go or weaken."""
    for group in groups:
        who = _who(report, group)
        subject, own = group[0], own_policies(group)
        if subject.change in ("added", "removed") or not (subject.parts or subject.reach):
            change = {"added": "new", "removed": "removed", "renamed": "renamed"}.get(subject.change, "")
            was = f"was {code(subject.was.path)}" if subject.was is not None else ""
            yield f"| {who} | | {was} | **{change}** | |"
            who = "same" if subject.parts else who
        by_message: dict[str, list[AttachmentChange]] = {}
        for reach in subject.reach:
            by_message.setdefault(reach.message or reach.what, []).append(reach)
        for same_message in by_message.values():
            what = escape(", ".join(dict.fromkeys(reach.what for reach in same_message)))
            sentence = "; ".join(escape(reach_in_words(reach)) for reach in same_message)
            yield f"| {who} | {what} | | {sentence} | {spoken(cut(same_message[0].message, 160))} |"
            who = "same"
        for part in subject.parts:
            rows: dict[str, list[SettingChange]] = {}
            for setting in part.settings:
                if setting.change not in ("unchanged", "moved") and (fails(subject) or not weakens(setting)):
                    rows.setdefault(f"{setting.change} {_why(report, setting, own)}", []).append(setting)
            for settings in rows.values():
                names = "<br>".join(code(setting.name) for setting in settings)
                before, after = ("<br>".join(side) for side in zip(*map(_values, settings), strict=True))
                yield f"| {who}{_scope(part)} | {names} | {before} | {after} | {_why(report, settings[0], own)} |"
                who = "same"
            for setting in part.lost:
                by, origin = _names(setting.by, own), _names(setting.sources_before, own)
                yield (
                    f"| {who}{_scope(part)} | {code(setting.name)} | | does not apply | of {origin}: {by} replaces it |"
                )
                who = "same"


def _policies(environment: EnvironmentChange) -> Iterator[str]:
    """Yield the policies whose verdict changes and that no row names."""
    named = {key for subject in environment.known for key in policies_of(subject)}
    for _, change, verdicts in policies_in_words(environment.policies):
        if change.policy not in named:
            yield f"- {code(str(change.policy), table=False)}: {escape(verdicts)}"


def _who(report: DiffReport, group: Sequence[SubjectChange], most: int = MOST_NAMES) -> str:
    first = group[0]
    if len(group) == 1:
        name = code(first.key.path) if first.is_route else code(str(first.key))
        gone = first.change == "removed"  # the page shows what there is after the change
        return name if gone else _in_page(report, name, first.environment, select=str(first.key))
    namespaces = {subject.key.namespace for subject in group}
    where = f" in {len(namespaces)} namespaces" if len(namespaces) > 1 else ""
    return f"**{count(len(group), escape(first.key.kind))}**{where}: {whereabouts(group, most, code)}"


def _values(setting: SettingChange) -> tuple[str, str]:
    """Return the two cells before and after."""
    before = "none" if setting.change == "added" else code(value_in_words(setting.before, 60))
    if setting.change == "changed":
        return before, code(difference(setting.before, setting.after, 80))
    return before, "**none**" if setting.change == "removed" else code(value_in_words(setting.after, 60))


def _why(report: DiffReport, setting: SettingChange, own: frozenset[ResourceKey]) -> str:
    was = _names(setting.sources_before[:3], own)
    match setting.change:
        case "removed":
            if setting.by:
                return f"{_links(report, setting.by, own)} replaces {was}"
            became = fate_in_words(setting.because)
            return was + became[:1] + escape(became[1:])
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


def _findings(report: DiffReport, findings: Sequence[Finding], most: int) -> tuple[list[str], list[str]]:
    """Return a row each, the first ones of every rule apart from the rest; of more than `most` of a rule the number."""
    number = Counter((finding.severity, finding.rule) for finding in findings)
    seen: Counter[tuple[str, str]] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for finding in findings:
        rule = finding.severity, finding.rule
        seen[rule] += 1
        if seen[rule] <= most:
            row = finding_row(report.report, finding, _place(report, finding.location), _notes(finding))
            (first if seen[rule] <= MOST_IN_SIGHT else rest).append(row)
        elif seen[rule] == number[rule]:
            lists = code(f"{reproduced(report)} -o concise")
            left = f"{number[rule] - most} more like these: {lists} lists them"
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
