"""An explanation as a person reads it: verdict first, then setting by setting with its cause.

docs/explain.md shows one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policylint.explain.contexts import ContextAnswer
from policylint.explain.explanation import Explanation
from policylint.explain.reach import ReachedObject
from policylint.explain.settings import Setting, settings, summary
from policylint.explain.unattached import target_place
from policylint.explain.wording import (
    Crowd,
    all_rules,
    chains,
    implementation_of,
    level_of,
    none_acts,
    strategy,
    where,
    why_closed,
)
from policylint.implementations import implementation
from policylint.model import Finding, Location, ResourceKey
from policylint.model.words import count, leading, listing
from policylint.report.explain.radius import Radius
from policylint.report.kit import extensions
from policylint.report.kit.connections import connection_in_words
from policylint.report.kit.display import Paint, aligned, one_line, padded, place, short_place, width, wrapped
from policylint.report.kit.identity import Names
from policylint.report.kit.placements import folded_placements, placement_in_words, placement_mark

Row = tuple[str, str, str, str]
_HEAD: Row = ("KIND / SETTING", "VALUE", "FROM", "HOW")
_MOST = 12
_LONG = 44
"""Columns of FROM beyond which a policy is named once per kind."""
_MOST_LOST = 8
_HOW = 26
_MOST_LEAVES = 60
_LEAST_HOW = 12


def how(setting: Setting) -> str:
    """Return `applies`, or what happened to the setting and by which policies."""
    by = ", ".join(key.path for key in setting.by)
    if by and setting.state != "applies":
        return f"{setting.state} by {by}"
    return "does nothing: what it calls is not there" if setting.state == "dropped" else setting.state


class ExplanationText:
    """The text of an explanation."""

    def __init__(self, names: Names, paint: Paint, room: int, field: str) -> None:
        self.names = names
        self.paint = paint
        self.room = room
        self.field = field

    def write(self, explanation: Explanation, radius: Radius | None) -> Iterator[str]:
        """Yield the lines of an explanation, each with its newline."""
        yield self._title(explanation)
        facts = (*explanation.facts, *explanation.other_systems)
        label = max((len(fact.name) for fact in facts), default=0)
        previous = ""
        for fact in facts:
            name = "" if fact.name == previous else fact.name
            previous = fact.name
            words = one_line(fact.words)
            first, *rest = wrapped(words, self.room - label - 4)
            for part in (first, *rest):
                yield f"  {name:{label}}  {self.paint('error', part) if fact.bad else part}\n"
                name = ""
        if explanation.state is not None:
            yield from self._policy(explanation)
        else:
            yield from self._object(explanation)
        if explanation.findings and not self.field:
            yield "\n"
            for finding in explanation.findings[:_MOST]:
                yield from self._finding(finding)
        if radius is not None:
            yield from self._radius(explanation, radius)
        yield "\n" + self.paint("faint", _more(explanation)) + "\n"

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

    def _title(self, explanation: Explanation) -> str:
        subject = one_line(self.names.node(explanation.subject.node))
        if explanation.resource is None:
            return f"{self.paint('strong', subject)}  (no manifest makes it)\n"
        location = place(explanation.resource.name_location)
        room = self.room - width(subject) - width(location)
        gap = " " * room if room > 1 else "\n  "
        return f"{self.paint('strong', subject)}{gap}{self.paint('faint', location)}\n"

    def _object(self, explanation: Explanation) -> Iterator[str]:
        answers = explanation.answers
        subject = explanation.subject.node
        shown = False
        every = Crowd(answers.paths)
        causes = Causes(explanation.findings)
        for answer in answers.listed:
            rows = self._rows(answer, causes)
            if answer is answers.listed[-1]:
                rows += self._unattached(explanation)
            if not rows and (self.field or len(answers.listed) == 1):
                continue
            shown = True
            if len(answers.listed) == 1:
                same = all_rules(answer.paths, subject)
                heading = "Effective policy" + (f" ({same})" if same else "")
            else:
                context = where(answer, every, subject) or count(len(answer.paths), "context")
                heading = f"Effective policy: {context}"
            yield "\n" + self.paint("strong", one_line(heading)) + "\n"
            why = "" if rows else why_closed(explanation.subject.simulation, answer.paths)
            none = f"no policy acts here: {why}" if why else "no policy acts here"
            yield from self._table(rows) if rows else (f"  {line}\n" for line in wrapped(one_line(none), self.room - 2))
        if not shown and (self.field or not explanation.other_systems):
            nothing = (
                f"no policy sets {self.field}"
                if self.field
                else none_acts(explanation.subject, answers.paths, others=bool(explanation.extensions))
            )
            yield "\n"
            yield from (f"{line}\n" for line in wrapped(one_line(nothing), self.room))
            rest = self._unattached(explanation)
            yield from self._table(rest) if rest else ()
        if answers.truncated:
            yield "  (more contexts than are told apart; ask for a route)\n"
        if self.field:
            return
        if explanation.extensions:
            bindings = [binding for binding, _ in explanation.extensions]
            yield "\n" + self.paint("strong", extensions.heading(bindings)) + "\n"
            named = [extensions.row(binding, self.names) for binding in bindings]
            beaten = [f"yields to {by.wanted.path}" if by is not None else "" for _, by in explanation.extensions]
            for cells, fate in zip(aligned([tuple(map(one_line, row)) for row in named]), beaten, strict=True):
                yield "  " + "  ".join(filter(None, (*cells, fate))).rstrip() + "\n"
            yield "\n"
        kinds = {str(group.kind): group.kind for answer in answers.listed for group in answer.groups}
        if kinds and not explanation.extensions:
            yield "\n"
        merges: dict[tuple[str, str], list[str]] = {}
        for _, kind in sorted(kinds.items()):
            merges.setdefault((implementation_of(kind), strategy(kind)), []).append(kind.kind)
        sentences = [f"{', '.join(names)} ({owner}): {merge}" for (owner, merge), names in merges.items()]
        yield from self._under("Merge", sentences)
        yield from self._under("Chain", [one_line(chain) for chain in chains(answers.paths, subject)[:6]])

    def _under(self, head: str, sentences: Iterable[str]) -> Iterator[str]:
        """Yield sentences below each other, the head beside the first line."""
        lines = [line for sentence in sentences for line in wrapped(sentence, self.room - 8)]
        for number, line in enumerate(lines):
            yield f"{' ' * len(head) if number else self.paint('faint', head)}   {line}\n"

    def _rows(self, answer: ContextAnswer, causes: Causes) -> list[Row]:
        rows: list[Row] = []
        for group in answer.groups:
            listed = settings(group, self.field)
            if not listed:
                continue
            # A long name that all of a kind's settings come from is said once: it would leave the values no room.
            owner = listed[0].policy if len({setting.policy for setting in listed}) == 1 else None
            named = owner is not None and any(width(_from(setting)) > _LONG for setting in listed)
            kind = self.names.kind(group.kind.group, group.kind.kind)
            rows.append((kind, f"from {owner.path}" if owner is not None and named else "", "", ""))
            lost = [setting for setting in listed if setting.state != "applies"]
            for setting in listed:
                if setting.state == "applies":
                    value = setting.summary(max(40, self.room - 60))
                    rows.append((f"  {setting.field}", value, _from(setting, named=named), how(setting)))
                    rows += _leaves(setting) if self.field else []
            for setting in lost[:_MOST_LOST]:
                fate = f"{how(setting)} {causes.rule(setting)}".rstrip()
                rows.append((f"  {setting.field}", "-", _from(setting, named=named), fate))
            if len(lost) > _MOST_LOST:
                rows.append((f"  and {len(lost) - _MOST_LOST} more lost", "", "", ""))
        return rows

    def _unattached(self, explanation: Explanation) -> list[Row]:
        rows: list[Row] = []
        for missing in () if self.field else explanation.unattached:
            kind = self.names.kind(missing.policy.group, missing.policy.kind)
            rows.append((kind, "-", f"{missing.policy.path}  {short_place(missing.location)}", missing.why))
        return rows

    def _table(self, rows: Iterable[Row]) -> Iterator[str]:
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

    def _policy(self, explanation: Explanation) -> Iterator[str]:
        state, reach = explanation.state, explanation.reach
        assert state is not None and reach is not None
        declared = sorted({str(name) for each in state.declared for name in each.proper})
        if does := implementation(state.kind.implementation).in_words(state.policy):
            yield f"  does      {one_line(does)}\n"
        if declared or not does:
            yield f"  sets      {one_line(', '.join(declared) or 'nothing')}\n"
        by = f" by {', '.join(key.path for key in state.by)}" if state.by else ""
        yield f"  verdict   {self.paint(_style(state.verdict), one_line(f'{state.verdict}{by}'))}\n"
        if took := explanation.taken:
            lines = wrapped(one_line(listing(took)), self.room - 12)
            yield from (f"  {'' if number else 'overrides':9} {line}\n" for number, line in enumerate(lines))
        if state.invalid:
            yield f"  invalid   {one_line(state.invalid)}\n"
        lines = wrapped(f"{implementation_of(state.kind)}: {strategy(state.kind)}", self.room - 12)
        yield from (f"  {'' if number else 'merge':7}   {line}\n" for number, line in enumerate(lines))
        head = "targets"
        for target in state.targets:
            words = one_line(self.names.target(target))
            problem = one_line(target.detail or target.problem) if target.problem else target.resolution.state
            if target.selector is not None and target.nodes:
                problem = f"selects {count(len(target.nodes), 'object')}"
            spot = self.paint("faint", short_place(target_place(state, target)))
            needed = 16 + width(words) + width(problem) + width(short_place(target_place(state, target)))
            gap = "  " if needed <= self.room else f"\n{' ' * 12}"
            yield f"  {head:7}   {words}  {self.paint('error', problem) if target.problem else problem}{gap}{spot}\n"
            head = ""
        for refusal in state.refused:
            claimed = f"{refusal.attachment.node}: {refusal.by.path} claimed it first"
            yield f"            {one_line(claimed)}\n"
        yield "\n" + self._headline(explanation) + "\n"
        yield from _missed(reach.objects)

    def _headline(self, explanation: Explanation) -> str:
        """Return `Reaches 22 of 23 routes, 1 Gateway, 4 Services in namespaces media, shop`."""
        reach = explanation.reach
        assert reach is not None
        acting = sum(route.extent != "none" for route in reach.routes)
        parts = [f"{acting} of {count(len(reach.routes), 'route')}"] if reach.routes else []
        for kind, objects in reach.others.items():
            if number := sum(reached.extent != "none" for reached in objects):
                parts.append(count(number, kind))
        if not parts and explanation.state is not None and explanation.state.is_of_shape:
            return "What it reaches is not known: policies of its kind are not evaluated"
        if not parts:
            return "\n".join(
                wrapped(self.paint("warning", "Reaches nothing") + ": " + _nowhere(explanation), self.room)
            )
        namespaces = reach.namespaces
        spaces = f" in namespace{'s' if len(namespaces) > 1 else ''} {leading(namespaces, 6)}" if namespaces else ""
        return f"{self.paint('strong', 'Reaches')} {', '.join(parts)}{spaces}"

    def _radius(self, explanation: Explanation, radius: Radius) -> Iterator[str]:
        headline = one_line(radius.headline(len(explanation.subject.simulation.topology.routes)))
        yield f"\n{self.paint('strong', f'Without {one_line(radius.policy.path)}')} (simulated): {headline}\n"
        for fold in radius.folds[:_MOST]:
            yield f"  ~ {one_line(leading(fold.keys, 4))}\n"
            size = max(width(line.name) for line in fold.lines)
            for line in fold.lines:
                first, *rest = wrapped(one_line(line.words), self.room - size - 10)
                yield f"      {line.sign} {one_line(line.name):{size}}  {first}\n"
                yield from (f"{' ' * (size + 10)}{part}\n" for part in rest)
        if len(radius.folds) > _MOST:
            yield f"  and {len(radius.folds) - _MOST} more\n"
        if radius.workloads:
            yield f"  workloads: {one_line(leading(radius.workloads, 6))}\n"
        for connection in radius.change.connections[:_MOST]:
            mark = "+" if connection.change in ("opened", "widened") else "-"
            first, *rest = wrapped(one_line(connection_in_words(connection)), self.room - 6)
            yield f"  {mark} {first}\n"
            yield from (f"      {part}\n" for part in rest)
        if len(radius.change.connections) > _MOST:
            yield f"  and {len(radius.change.connections) - _MOST} more\n"
        folded = folded_placements(radius.change.placements)
        for placement in folded[:_MOST]:
            first, *rest = wrapped(one_line(placement_in_words(placement)), self.room - 6)
            yield f"  {placement_mark(placement.first)} {first}\n"
            yield from (f"      {part}\n" for part in rest)
        if len(folded) > _MOST:
            yield f"  and {len(folded) - _MOST} more\n"
        for change in radius.change.policies:
            if change.policy != radius.policy and change.before != change.after:
                yield f"  {one_line(str(change.policy))}: {change.before} -> {change.after}\n"


def _more(explanation: Explanation) -> str:
    if explanation.state is not None:
        return "More    -o json|yaml|markdown"
    rule = "--rule 1   " if explanation.subject.key.kind.endswith("Route") else ""
    return f"More    {rule}--field NAME   --without POLICY   -o json|yaml|markdown"


def _missed(objects: Sequence[ReachedObject]) -> Iterator[str]:
    """Yield where a policy does not act, or not as a whole, and who prevails: objects of one fate in one line."""
    folded: dict[tuple[str, tuple[str, ...], tuple[ResourceKey, ...]], list[ResourceKey]] = {}
    for reached in objects:
        if reached.extent == "none" or (reached.extent == "part" and reached.key.kind.endswith("Route")):
            folded.setdefault((reached.extent, reached.lost, reached.by), []).append(reached.key)
    for (extent, lost, by), keys in sorted(folded.items(), key=lambda entry: (entry[0][0], entry[1])):
        word = "not    " if extent == "none" else "in part"
        winners = ", ".join(key.path for key in by) or "nobody"
        yield f"  {word}  {one_line(leading(keys, 3))}: {one_line(', '.join(lost))} lost to {one_line(winners)}\n"


def _from(setting: Setting, *, named: bool = False) -> str:
    """Return `shop/checkout-cors :14 (route)`; where the policy is named already, the place and the level."""
    parts = [] if named else [setting.policy.path]
    if setting.location is not None:
        parts.append(short_place(setting.location) if named else _spot(setting.location, setting.policy))
    level = level_of(setting.node)
    return " ".join([*parts, f"({level})"] if level else parts)


def _leaves(setting: Setting) -> list[Row]:
    """Return the whole value, a row for each leaf of a mapping."""
    rows: list[Row] = []
    pending: list[tuple[str, Any]] = [("", setting.value)]
    while pending and len(rows) < _MOST_LEAVES:
        name, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(f"{name}.{key}" if name else str(key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
            pending += [(f"{name}[{number}]", inner) for number, inner in reversed(list(enumerate(value)))]
        elif name:
            rows.append((f"    {name}", summary(value, 400), "", ""))
    return rows


def _spot(location: Location, policy: ResourceKey) -> str:
    """Return `:14` in the file that is called like the policy, else with the file's name."""
    file, _, line = short_place(location).rpartition(":")
    return f":{line}" if file.rpartition(".")[0] == policy.name else f"{file}:{line}"


class Causes:
    """Findings by the objects that they are about."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = findings
        self._about: dict[ResourceKey, dict[int, None]] = {}
        for number, finding in enumerate(findings):
            for key in finding.resources:
                self._about.setdefault(key, {})[number] = None

    def rule(self, setting: Setting) -> str:
        """Return the rule that reports a loss, if lint does: of the first finding on the policy and one that won."""
        numbers = []
        for key in setting.by:
            few, many = sorted((self._about.get(setting.policy, {}), self._about.get(key, {})), key=len)
            numbers += [next((number for number in few if number in many), len(self._findings))]
        first = min(numbers, default=len(self._findings))
        return self._findings[first].rule if first < len(self._findings) else ""


def _nowhere(explanation: Explanation) -> str:
    state = explanation.state
    assert state is not None
    if state.invalid:
        return "it is invalid"
    if any(target.problem or not target.resolution.found for target in state.targets):
        return "its targets do not resolve"
    if any(finding.rule == "GWP108" for finding in explanation.findings):
        return "the controllers of the Gateways there do not read it"
    paths = (path for group in state.groups for path in group.contexts())
    return why_closed(explanation.subject.simulation, paths) or "nothing lies at or below its targets"


def _style(verdict: str) -> str:
    if verdict == "Enforced":
        return "strong"
    return "error" if verdict in ("Invalid", "TargetNotFound", "Conflicted") else "warning"


def _cut(text: str, room: int) -> str:
    return text if width(text) <= room else text[: room - 1] + "…"
