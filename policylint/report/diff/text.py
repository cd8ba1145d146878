"""The diff in a terminal: the verdict, then who changes how and because of what, then findings.

clusters/prod: 1 of 23 routes changes · 1 new error

~ HTTPRoute shop/checkout  (all 3 rules, via Gateway infra/edge)          clusters/prod/shop/checkout.yaml:4
    - jwt          issuer https://id.example.com      was infra/edge-jwt   (edge-jwt.yaml:14)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policylint.model import Finding, ResourceKey, Severity
from policylint.model.words import count
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
    reach_in_words,
    renamed_objects,
    verdict_parts,
    whereabouts,
    words,
)
from policylint.report.kit.display import Paint, one_line, width, wrapped

if TYPE_CHECKING:
    from policylint.compare.change import (
        EnvironmentChange,
        Part,
        PolicyChange,
        Responsible,
        SettingChange,
        SubjectChange,
    )

MOST_NAMES = 6
MOST_BLOCKS = 40
MOST_UNKNOWN = 8
MOST_OF_RULE = 10
"""New or fixed findings of one rule; nobody reads on."""
_VALUE = 34
"""Columns of a value beside its origin."""
_STYLES: dict[str, str] = {"+": "note", "-": "error", "~": "warning", "!": "warning", ">": "note", " ": "faint"}


def write(report: DiffReport) -> str:
    """The whole text, ending in a newline."""
    paint = Paint(report.report.options.color)
    lines: list[str] = []
    environments = report.comparison.environments
    changed = [each for each in environments if each.subjects or each.policies]
    parts = finding_parts(report)
    for number, environment in enumerate(changed):
        name = report.shown_name(environment.name)
        own = verdict_parts(environment) or ["no route changes its effective policy"]
        line = " · ".join([*own, *(parts if number == 0 else [])])
        lines += [paint("strong", f"{name}: {line}" if name else line), ""]
        lines += _environment(report, environment, paint)
    if not changed:
        name = next((report.shown_name(each.name) for each in environments), "") if len(environments) == 1 else ""
        line = " · ".join([nothing_changes(report), *parts])
        lines.append(paint("strong", f"{name}: {line}" if name else line))
        lines += [line for each in environments for line in _renamed(report, each, paint)]
    elif len(environments) > len(changed):
        same = [each.name for each in environments if each not in changed]
        lines += [f"{', '.join(map(one_line, same))}: {nothing_changes(report._replace(files_differ=0))}", ""]
    listed = list(_findings(report, paint))
    if listed and not changed:
        lines.append("")
    lines += listed
    if changed or listed:
        lines += [*([""] if listed else []), _legend(report, paint)]
    for sentence in report.report.coverage.not_rendered:
        first, *rest = wrapped(one_line(sentence), report.report.options.width - len("not seen: "))
        lines += [f"{paint('strong', 'not seen:')} {first}", *(" " * len("not seen: ") + each for each in rest)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _environment(report: DiffReport, environment: EnvironmentChange, paint: Paint) -> Iterator[str]:
    renamed = list(_renamed(report, environment, paint))
    yield from [*renamed, ""] if renamed else []
    groups = alike(environment.known)
    for group in groups[:MOST_BLOCKS]:
        yield from _block(report, group, paint)
        yield ""
    if len(groups) > MOST_BLOCKS:
        number = sum(len(each) for each in groups[MOST_BLOCKS:])
        yield f"and {number} more that change otherwise (--format concise lists all)"
        yield ""
    listed = list(_policies(report, environment.policies, paint))
    if listed:
        yield from [*listed, ""]
    unknown = environment.unknown
    for subject in unknown[:MOST_UNKNOWN]:
        line = f"! {subject.key}: unknown ({subject.reason})"
        first, *rest = wrapped(one_line(line), report.report.options.width - 2)
        yield paint("warning", first)
        yield from (f"    {each}" for each in rest)
    if len(unknown) > MOST_UNKNOWN:
        yield f"! and {len(unknown) - MOST_UNKNOWN} more that cannot be told"
    if unknown:
        yield ""
    if environment.truncated:
        yield "too many contexts to list one by one: each route stands for its own"
        yield ""


def _block(report: DiffReport, group: Sequence[SubjectChange], paint: Paint) -> Iterator[str]:
    """One subject, or several that change alike, and their settings."""
    first = group[0]
    mark = MARKS[first.change]
    parts = first.parts
    several = len(parts) > 1
    scope = "" if several or not parts else _scope(first, parts[0], len(group) > 1)
    if len(group) == 1:
        name = f"{first.key}" + (f"  (was {first.was.path})" if first.was is not None else "")
    else:
        namespaces = {each.key.namespace for each in group}
        many = f"{len(group)} {first.key.kind}s"
        name = many + (f" in {len(namespaces)} namespaces" if len(namespaces) > 1 else f" in {min(namespaces)}")
    heading = f"{mark} {one_line(name)}" + (f"  ({scope})" if scope else "")
    yield _beside(heading, _place(first) if len(group) == 1 else "", report, paint, mark)
    if len(group) > 1:
        names = one_line(whereabouts(group, MOST_NAMES))
        yield from (f"    {line}" for line in wrapped(names, report.report.options.width - 4))
    for reach in first.reach:
        mark = "~" if reach.after and reach.before else "+" if reach.after else "-"
        said = reach_in_words(reach) + (f": {reach.message}" if reach.message else "")
        first_line, *more = wrapped(one_line(said), report.report.options.width - 8)
        yield "    " + paint(_STYLES[mark], f"{mark} {first_line}")
        yield from (f"      {line}" for line in more)
    for part in parts:
        if several:
            yield f"    {_scope(first, part, len(group) > 1)}:"
        yield from _settings(report, part, paint, own_policies(group), unchanged=len(group) == 1)


def _renamed(report: DiffReport, environment: EnvironmentChange, paint: Paint) -> Iterator[str]:
    """Objects with another name."""
    found = renamed_objects(environment)
    for each in found[:MOST_UNKNOWN]:
        yield paint(_STYLES[">"], cut(f"> {each}", report.report.options.width))
    if len(found) > MOST_UNKNOWN:
        yield f"> and {len(found) - MOST_UNKNOWN} more that are called otherwise"


def _scope(subject: SubjectChange, part: Part, several: bool) -> str:
    via = gateways_in_words(part.gateways)
    if not part.rules:
        return via
    if part.all_rules:
        rules = "its rule" if len(part.rules) == 1 else f"all {len(part.rules)} rules"
        if several:
            rules = "all rules"
    else:
        names = ", ".join(node.section for node in part.rules[:4])
        rules = names + (f" and {len(part.rules) - 4} more" if len(part.rules) > 4 else "")
        rules = f"{rules} of {subject.rules} rules" if not several else rules
    return ", ".join(each for each in (one_line(rules), via) if each)


def _settings(
    report: DiffReport, part: Part, paint: Paint, own: frozenset[ResourceKey], *, unchanged: bool
) -> Iterator[str]:
    rows = [
        (MARKS[each.change], each, _origin(report, each, own))
        for each in part.settings
        if unchanged or each.change != "unchanged"
    ]
    rows += [("-", each, _not_reached(report, each, own)) for each in part.lost]
    page = report.report.options.width
    names = min(24, max((len(each.name) for _, each, _ in rows), default=0))
    room = page - 6 - names - 2
    values = [words(each, room if each.change == "changed" else _VALUE) for _, each, _ in rows]
    column = max((len(each) for each in values if len(each) <= _VALUE), default=0)
    for (mark, setting, origin), value in zip(rows, values, strict=True):
        start = f"    {mark} {cut(setting.name, 24):{names}}  "
        for line in (f"{start}{value:<{column}}  {origin}", f"{start}{value}  {origin}"):
            if width(line) <= page:
                yield paint(_STYLES[mark], line.rstrip()) if mark != " " else line.rstrip()
                break
        else:
            yield paint(_STYLES[mark], f"{start}{words(setting, room)}".rstrip())
            yield from (" " * (8 + names) + each for each in wrapped(origin, room))
    for by, over in _prevailing(part).items():
        said = f"{_names(report, by, own)} prevails over {', '.join(over)}"
        first, *rest = wrapped(one_line(said), page - 6)
        yield f"    = {first}"
        yield from (f"      {each}" for each in rest)


def _prevailing(part: Part) -> dict[tuple[Responsible, ...], list[str]]:
    """Who takes settings away from whom, each once."""
    found: dict[tuple[Responsible, ...], dict[str, None]] = {}
    for setting in (*part.settings, *part.lost):
        if setting.by:
            found.setdefault(setting.by, {}).update(dict.fromkeys(one.policy.path for one in setting.sources_before))
    return {by: list(over) for by, over in found.items()}


def _origin(report: DiffReport, setting: SettingChange, own: frozenset[ResourceKey]) -> str:
    """`was infra/edge-jwt (edge-jwt.yaml:14), replaced by shop/checkout-cors (…)`."""
    was, now = _names(report, setting.sources_before, own), _names(report, setting.sources_after, own)
    match setting.change:
        case "removed":
            return f"was {was}" + (f", {setting.because}" if setting.because else "")
        case "added":
            return f"now {now}"
        case "unchanged":
            return f"unchanged, {_names(report, setting.sources_after, own, places=False)}"
        case _:
            return f"now {now}" if now == was else f"was {was}, now {now}"


def _not_reached(report: DiffReport, setting: SettingChange, own: frozenset[ResourceKey]) -> str:
    return f"{_names(report, setting.sources_before, own, places=False)} does not reach it"


def _names(
    report: DiffReport, responsible: Sequence[Responsible], own: frozenset[ResourceKey], *, places: bool = True
) -> str:
    """Policies with their places; one of `own` stands for those that the other subjects of a block have."""
    found = []
    for each in responsible[:3]:
        place = report.place(each.location) if places else None
        where = f" ({place[0].rpartition('/')[2]}:{place[1]})" if place else ""
        found.append(one_line(f"{one_of(each, own)}{each.policy.path}{where}"))
    more = f" and {len(responsible) - 3} more" if len(responsible) > 3 else ""
    return ", ".join(found) + more if found else "the route itself"


def _place(subject: SubjectChange) -> str:
    if subject.location is None:
        return ""
    return f"{subject.location.file}:{subject.location.at()[0]}"


def _beside(left: str, right: str, report: DiffReport, paint: Paint, mark: str) -> str:
    room = report.report.options.width - width(left) - len(right)
    if right and room >= 2:
        return paint(_STYLES[mark], left) + " " * room + paint("faint", one_line(right))
    return paint(_STYLES[mark], left) + (f"\n    {paint('faint', one_line(right))}" if right else "")


def _policies(report: DiffReport, policies: Sequence[PolicyChange], paint: Paint) -> Iterator[str]:
    """Verdicts that change; a policy that is new and enforced says nothing that the settings did not."""
    shown = [each for each in policies if not (each.before == "" and each.after == "Enforced")]
    for number, each in enumerate(shown):
        if number == MOST_BLOCKS:
            yield f"  and {count(len(shown) - number, 'more policy', 'more policies')}"
            return
        mark = "+" if not each.before else "-" if not each.after else "~"
        said = f"{each.before or 'new'} -> {each.after or 'gone'}"
        by = f" by {', '.join(key.path for key in each.by[:3])}" if each.by else ""
        yield paint(_STYLES[mark], cut(f"{mark} {each.policy}: {said}{by}", report.report.options.width))


def _findings(report: DiffReport, paint: Paint) -> Iterator[str]:
    states: list[tuple[str, str, Severity]] = [("New", "new", "note"), ("Fixed", "fixed", "warning")]
    if report.show_unchanged:
        states.append(("Same", "unchanged", "note"))
    for label, state, least in states:
        number: Counter[tuple[str, Severity]] = Counter()
        for each in report.listed(state, least):
            number[each.rule, each.severity] += 1
            if state == "unchanged" or number[each.rule, each.severity] <= MOST_OF_RULE:
                yield from _finding(report, label, each, paint)
        for (rule, severity), found in number.items():
            if state != "unchanged" and found > MOST_OF_RULE:
                code = paint(severity, f"{severity}[{rule}]")
                lists = "--format concise" if state == "new" else "--format json-v1"
                yield f"{label:7} {code} {found - MOST_OF_RULE} more like these ({lists} lists all)"


def _finding(report: DiffReport, label: str, finding: Finding, paint: Paint) -> Iterator[str]:
    file, line = finding.location.file, finding.location.at()[0]
    place = f"{file.rpartition('/')[2]}:{line}"
    if label == "Fixed" and not report.report.source_lines(file):
        place = "(file deleted)"
    code = f"{finding.severity}[{finding.rule}]"
    said = f"{label:7} {code} {one_line(finding.message)}"
    room = report.report.options.width
    lines = wrapped(said, room) if width(said) + 2 + len(place) > room else [said]
    if width(lines[-1]) + 2 + len(place) > room:
        lines.append("")
    for number, each in enumerate(lines):
        text = each if number == 0 else f"        {each}".rstrip()
        if number == len(lines) - 1:
            gap = " " * max(2, room - width(text) - len(place))
            text += gap + one_line(place)
        yield text.replace(code, paint(finding.severity, code), 1)
    if label == "New":
        for note in finding.help:
            first, *rest = wrapped(one_line(note), room - 12)
            yield f"        = {first}"
            yield from (f"          {each}" for each in rest)


def _legend(report: DiffReport, paint: Paint) -> str:
    follow = report.again if report.show_unchanged else f"{report.again} --show unchanged"
    legend = "Legend: + added  - removed  ~ changed"
    line = f"{legend}          next: {follow}"
    return paint("faint", line if width(line) <= report.report.options.width else f"{legend}\nnext: {follow}")
