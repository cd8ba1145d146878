"""The diff for a terminal: the verdict, then what changes for whom and why, then findings.

clusters/prod: 1 of 23 routes changes · 1 new error

~ HTTPRoute shop/checkout  (all 3 rules, via Gateway infra/edge)          clusters/prod/shop/checkout.yaml:4
    - jwt          issuer https://id.example.com      was infra/edge-jwt   (edge-jwt.yaml:14)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policylint.model import Finding, ResourceKey, Severity
from policylint.model.words import count, leading
from policylint.report.diff import requests
from policylint.report.diff.report import DiffReport
from policylint.report.diff.wording import (
    MARKS,
    alike,
    cut,
    finding_parts,
    gateways_in_words,
    nothing_changes,
    one_of,
    own_policies,
    policies_in_words,
    reach_in_words,
    renamed_objects,
    silenced_in_words,
    verdict_parts,
    whereabouts,
    words,
)
from policylint.report.findings.text import not_seen
from policylint.report.kit.connections import connection_in_words
from policylint.report.kit.display import Paint, hanging, one_line, place, short_place, width, wrapped
from policylint.report.kit.placements import causes_in_words, folded_placements, placement_in_words, placement_mark

if TYPE_CHECKING:
    from policylint.compare.change import (
        EnvironmentChange,
        Part,
        PolicyChange,
        Responsible,
        SettingChange,
        SubjectChange,
    )
    from policylint.compare.connections import ConnectionChange
    from policylint.compare.placements import PlacementChange

MOST_NAMES = 6
MOST_BLOCKS = 40
MOST_UNKNOWN = 8
MOST_OF_RULE = 10
"""New or fixed findings of one rule that are listed; the others are counted."""
_VALUE = 34
"""Columns of a value beside its origin."""
_STYLES: dict[str, str] = {"+": "note", "-": "error", "~": "warning", "!": "warning", ">": "note", " ": "faint"}


def write(report: DiffReport) -> str:
    """Write the whole text, ending in a newline."""
    return "\n".join(_DiffText(report).lines()).rstrip("\n") + "\n"


def _is_shown(environment: EnvironmentChange) -> bool:
    answers = environment.requests
    otherwise = answers is not None and bool(answers.changes or answers.unknown)
    listed = (environment.subjects, environment.policies, environment.connections, environment.placements)
    return any(listed) or otherwise


class _DiffText:
    """The text of one diff, by its parts."""

    def __init__(self, report: DiffReport) -> None:
        self.report = report
        self.page = report.report.options.width
        self.paint = Paint(report.report.options.color)

    def lines(self) -> Iterator[str]:
        """Yield all lines."""
        report = self.report
        environments = report.comparison.environments
        changed = [environment for environment in environments if _is_shown(environment)]
        parts = [*requests.parts(report), *finding_parts(report)]
        if report.configuration is not None:
            first, *rest = hanging(one_line(report.configuration.message), self.page, "  ")
            yield from [self.paint("warning", first), *rest, ""]
        blocks: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
        for environment in changed:
            own = tuple(verdict_parts(environment) or ["no route changes its effective policy"])
            names = blocks.setdefault((own, tuple(self._environment(environment))), [])
            names.append(report.shown_name(environment.name))
        for number, ((own, told), names) in enumerate(blocks.items()):
            yield self._heading(", ".join(names), [*own, *(parts if number == 0 else [])])
            yield ""
            yield from told
        if not changed:
            name = report.shown_name(environments[0].name) if len(environments) == 1 else ""
            yield self._heading(name, [nothing_changes(report), *parts])
            for environment in environments:
                yield from self._renamed(environment)
        elif len(environments) > len(changed):
            same = [environment.name for environment in environments if environment not in changed]
            quiet = leading(list(map(one_line, same)), MOST_NAMES)
            yield f"{quiet}: {nothing_changes(report._replace(files_differ=0))}"
            yield ""
        findings = list(self._findings())
        findings += self._silenced()
        if findings and not changed:
            yield ""
        yield from findings
        if findings:
            yield ""
        if changed or findings:
            yield self._legend()
        yield from not_seen(report.report, self.paint)

    def _heading(self, name: str, parts: Sequence[str]) -> str:
        line = " · ".join(parts)
        return self.paint("strong", f"{one_line(name)}: {line}" if name else line)

    def _environment(self, environment: EnvironmentChange) -> Iterator[str]:
        yield from _paragraph(self._renamed(environment))
        yield from _paragraph(self._requests(environment))
        groups = alike(environment.known)
        for group in groups[:MOST_BLOCKS]:
            yield from self._block(group)
            yield ""
        if len(groups) > MOST_BLOCKS:
            number = sum(len(group) for group in groups[MOST_BLOCKS:])
            yield f"and {number} more that change otherwise (--format concise lists all)"
            yield ""
        yield from _paragraph(self._policies(environment.policies))
        yield from _paragraph(self._connections(environment.connections))
        yield from _paragraph(self._placements(environment.placements))
        yield from _paragraph(self._unknown(environment.unknown))
        if environment.truncated:
            yield "too many contexts to list one by one: one is shown per route"
            yield ""

    def _requests(self, environment: EnvironmentChange) -> Iterator[str]:
        """Yield what is answered otherwise, and for which hosts that is not known."""
        known = environment.requests
        if known is None or not (known.changes or known.unknown):
            return
        yield f"Requests, of {count(known.hosts, 'host')} that the change touches:"
        for mark, words_of in requests.text(self.report, known, MOST_OF_RULE):
            start, rest = (f"  {mark} ", "        ") if mark else ("      ", "          ")
            room = 10_000 if words_of.startswith("e.g. ") else self.page - len(start)  # a command is copied whole
            first, *more = hanging(one_line(words_of), room, rest)
            yield from [self.paint(_STYLES[mark], start + first) if mark else start + first, *more]

    def _unknown(self, subjects: Sequence[SubjectChange]) -> Iterator[str]:
        for subject in subjects[:MOST_UNKNOWN]:
            line = one_line(f"! {subject.key}: unknown ({subject.reason})")
            first, *rest = hanging(line, self.page - 2, "    ")
            yield from [self.paint("warning", first), *rest]
        if len(subjects) > MOST_UNKNOWN:
            yield f"! and {len(subjects) - MOST_UNKNOWN} more that cannot be told"

    def _block(self, group: Sequence[SubjectChange]) -> Iterator[str]:
        """Yield one subject, or several that change alike, and their settings."""
        first = group[0]
        several = len(group) > 1
        location = ""
        if several:
            namespaces = {subject.key.namespace for subject in group}
            where = f"{len(namespaces)} namespaces" if len(namespaces) > 1 else min(namespaces)
            name = f"{len(group)} {first.key.kind}s in {where}"
        else:
            name = f"{first.key}" + (f"  (was {first.was.path})" if first.was is not None else "")
            location = "" if first.location is None else place(first.location)
        scopes = [_scope(first, part, several) for part in first.parts]
        scope = f"  ({scopes[0]})" if len(scopes) == 1 and scopes[0] else ""
        yield self._beside(f"{MARKS[first.change]} {one_line(name)}{scope}", location, _STYLES[MARKS[first.change]])
        if several:
            names = one_line(whereabouts(group, MOST_NAMES))
            yield from (f"    {line}" for line in wrapped(names, self.page - 4))
        for reach in first.reach:
            mark = "~" if reach.after and reach.before else "+" if reach.after else "-"
            text = reach_in_words(reach) + (f": {reach.message}" if reach.message else "")
            line, *more = hanging(one_line(text), self.page - 8, "      ")
            yield from ["    " + self.paint(_STYLES[mark], f"{mark} {line}"), *more]
        for part, words_of_scope in zip(first.parts, scopes, strict=True):
            if len(scopes) > 1:
                yield f"    {words_of_scope}:"
            yield from self._settings(part, own_policies(group), unchanged=not several)

    def _renamed(self, environment: EnvironmentChange) -> Iterator[str]:
        sentences = renamed_objects(environment)
        for sentence in sentences[:MOST_UNKNOWN]:
            yield self.paint(_STYLES[">"], cut(f"> {sentence}", self.page))
        if len(sentences) > MOST_UNKNOWN:
            yield f"> and {len(sentences) - MOST_UNKNOWN} more that are called otherwise"

    def _settings(self, part: Part, own: frozenset[ResourceKey], *, unchanged: bool) -> Iterator[str]:
        rows = [
            (MARKS[setting.change], setting, self._origin(setting, own))
            for setting in part.settings
            if unchanged or setting.change != "unchanged"
        ]
        for setting in part.lost:
            rows.append(("-", setting, f"{self._names(setting.sources_before, own, places=False)} does not reach it"))
        names = min(24, max((len(setting.name) for _, setting, _ in rows), default=0))
        room = self.page - 6 - names - 2
        values = [words(setting, room if setting.change == "changed" else _VALUE) for _, setting, _ in rows]
        column = max((len(value) for value in values if len(value) <= _VALUE), default=0)
        for (mark, setting, origin), value in zip(rows, values, strict=True):
            start = f"    {mark} {cut(setting.name, 24):{names}}  "
            for line in (f"{start}{value:<{column}}  {origin}", f"{start}{value}  {origin}"):
                if width(line) <= self.page:
                    yield self.paint(_STYLES[mark], line.rstrip()) if mark != " " else line.rstrip()
                    break
            else:
                yield self.paint(_STYLES[mark], f"{start}{words(setting, room)}".rstrip())
                yield from (" " * (8 + names) + line for line in wrapped(origin, room))
        for by, over in _prevailing(part).items():
            sentence = one_line(f"{self._names(by, own)} prevails over {', '.join(over)}")
            first, *rest = hanging(sentence, self.page - 6, "      ")
            yield from [f"    = {first}", *rest]

    def _origin(self, setting: SettingChange, own: frozenset[ResourceKey]) -> str:
        """Return `was infra/edge-jwt (edge-jwt.yaml:14), replaced by shop/checkout-cors (…)`."""
        was, now = self._names(setting.sources_before, own), self._names(setting.sources_after, own)
        match setting.change:
            case "removed":
                return f"was {was}" + (f", {setting.because}" if setting.because else "")
            case "added":
                return f"now {now}"
            case "unchanged":
                return f"unchanged, {self._names(setting.sources_after, own, places=False)}"
            case _:
                return f"now {now}" if now == was else f"was {was}, now {now}"

    def _names(self, origins: Sequence[Responsible], own: frozenset[ResourceKey], *, places: bool = True) -> str:
        """Name policies with their places; one of `own` stands for those of the other subjects of a block."""
        names = []
        for origin in origins:
            where = f" ({short_place(origin.location)})" if places and origin.location is not None else ""
            names.append(one_line(f"{one_of(origin, own)}{origin.policy.path}{where}"))
        return leading(names, 3) or "the route itself"

    def _beside(self, left: str, right: str, style: str) -> str:
        room = self.page - width(left) - len(right)
        right = self.paint("faint", one_line(right))
        gap = " " * room if room >= 2 else "\n    "
        return self.paint(style, left) + (gap + right if right else "")

    def _policies(self, policies: Sequence[PolicyChange]) -> Iterator[str]:
        """Yield verdicts that change."""
        shown = policies_in_words(policies)
        for mark, change, verdicts in shown[:MOST_BLOCKS]:
            yield self.paint(_STYLES[mark], cut(f"{mark} {change.policy}: {verdicts}", self.page))
        if len(shown) > MOST_BLOCKS:
            yield f"  and {count(len(shown) - MOST_BLOCKS, 'more policy', 'more policies')}"

    def _connections(self, connections: Sequence[ConnectionChange]) -> Iterator[str]:
        """Yield what network policies open and close, by the policies that do it."""
        by = None
        connections = [change for change in connections if change.targets]  # not each workload that comes or goes
        for change in connections[:MOST_BLOCKS]:
            if change.by != by:
                by = change.by
                yield f"Connections by {leading((key for key in by), 3)}:" if by else "Connections:"
            mark = {"opened": "+", "widened": "+", "closed": "-", "narrowed": "-"}[change.change]
            first, *rest = hanging(f"  {mark} {connection_in_words(change)}", self.page, "      ")
            yield from (self.paint(_STYLES["~"], first), *rest)
        if len(connections) > MOST_BLOCKS:
            yield f"  and {count(len(connections) - MOST_BLOCKS, 'more')}"

    def _placements(self, placements: Sequence[PlacementChange]) -> Iterator[str]:
        """Yield where policies for clusters are placed otherwise, by what does it."""
        by = None
        folded = folded_placements(placements)
        for change in folded[:MOST_BLOCKS]:
            if (causes := causes_in_words(change.first)) != by:
                by = causes
                yield f"Placements by {one_line(by)}:" if by else "Placements:"
            mark = placement_mark(change.first)
            first, *rest = hanging(f"  {mark} {one_line(placement_in_words(change))}", self.page, "      ")
            yield from (self.paint(_STYLES[mark], first), *rest)
        if len(folded) > MOST_BLOCKS:
            yield f"  and {count(len(folded) - MOST_BLOCKS, 'more')}"

    def _findings(self) -> Iterator[str]:
        answers = (environment.requests for environment in self.report.comparison.environments)
        shown = [change for known in answers if known is not None for change in known.changes[:MOST_OF_RULE]]
        states: list[tuple[str, str, Severity]] = [("New", "new", "note"), ("Fixed", "fixed", "warning")]
        states.append(("Moot", "moot", "warning"))
        if self.report.show_unchanged:
            states.append(("Same", "unchanged", "note"))
        for label, state, least in states:
            counted: Counter[tuple[str, Severity]] = Counter()
            findings = self.report.folded(state, least)
            for finding in requests.beside(findings, shown) if state == "new" else findings:
                counted[finding.rule, finding.severity] += 1
                if state == "unchanged" or counted[finding.rule, finding.severity] <= MOST_OF_RULE:
                    yield from self._finding(label, finding)
            for (rule, severity), number in counted.items():
                if state != "unchanged" and number > MOST_OF_RULE:
                    code = self.paint(severity, f"{severity}[{rule}]")
                    lists = "--format concise" if state == "new" else "--format json-v1"
                    yield f"{label:7} {code} {number - MOST_OF_RULE} more like these ({lists} lists all)"

    def _finding(self, label: str, finding: Finding) -> Iterator[str]:
        where = short_place(finding.location)
        if label == "Fixed" and not self.report.report.source_lines(finding.location.file):
            where = "(file deleted)"
        code = f"{finding.severity}[{finding.rule}]"
        text = f"{label:7} {code} {one_line(finding.message)}"
        lines = wrapped(text, self.page) if width(text) + 2 + len(where) > self.page else [text]
        if width(lines[-1]) + 2 + len(where) > self.page:
            lines.append("")
        lines = [lines[0], *(f"        {line}".rstrip() for line in lines[1:])]
        lines[-1] += " " * max(2, self.page - width(lines[-1]) - len(where)) + one_line(where)
        yield from (line.replace(code, self.paint(finding.severity, code), 1) for line in lines)
        if label == "New":
            for note in finding.notes:
                first, *rest = hanging(one_line(note), self.page - 12, "          ")
                yield from [f"        = {first}", *rest]

    def _silenced(self) -> Iterator[str]:
        """Yield the findings that files suppress since the change, each with who answers for it."""
        for entry in self.report.silenced[:MOST_BLOCKS]:
            finding, by = map(one_line, silenced_in_words(entry))
            first, *rest = hanging(f"Suppressed  {finding}", self.page, "        ")
            why, *more = hanging(f"by a {by}", self.page - 12, "          ")
            yield from [self.paint("warning", first), *rest, f"        = {why}", *more]
        if (left := len(self.report.silenced) - MOST_BLOCKS) > 0:
            yield f"and {left} more newly suppressed (--format json-v1 lists all)"

    def _legend(self) -> str:
        follow = self.report.again if self.report.show_unchanged else f"{self.report.again} --show unchanged"
        legend = "Legend: + added  - removed  ~ changed"
        line = f"{legend}          next: {follow}"
        return self.paint("faint", line if width(line) <= self.page else f"{legend}\nnext: {follow}")


def _paragraph(lines: Iterator[str]) -> list[str]:
    """Return some lines and an empty one, unless there are none."""
    listed = list(lines)
    return [*listed, ""] if listed else []


def _scope(subject: SubjectChange, part: Part, several: bool) -> str:
    """Return the rules that a part is about, and by which Gateways: `all 3 rules, via Gateway infra/edge`."""
    via = gateways_in_words(part.gateways)
    if not part.rules:
        return one_line(via)
    if part.all_rules:
        rules = "all rules" if several else "its rule" if len(part.rules) == 1 else f"all {len(part.rules)} rules"
    else:
        rules = leading((node.section for node in part.rules), 4)
        rules = rules if several else f"{rules} of {subject.rules} rules"
    return ", ".join(one_line(words_of) for words_of in (rules, via) if words_of)


def _prevailing(part: Part) -> dict[tuple[Responsible, ...], list[str]]:
    """Return the policies that take settings away, each with those that lose them."""
    losers: dict[tuple[Responsible, ...], dict[str, None]] = {}
    for setting in (*part.settings, *part.lost):
        if setting.by:
            losers.setdefault(setting.by, {}).update(dict.fromkeys(was.policy.path for was in setting.sources_before))
    return {by: list(over) for by, over in losers.items()}
