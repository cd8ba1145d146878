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
from policylint.explain.wording import all_rules, chains, implementation_of, level_of, strategy, where
from policylint.model import Finding, Location, ResourceKey
from policylint.model.words import count
from policylint.report.explain.radius import Radius
from policylint.report.kit.display import Paint, one_line, width
from policylint.report.kit.identity import Names

Row = tuple[str, str, str, str]
_HEAD: Row = ("KIND / SETTING", "VALUE", "FROM", "HOW")
_MOST = 12
_LONG = 44
"""Columns of FROM beyond which a policy is named once per kind."""
_MOST_LOST = 8
_HOW = 26
_MOST_LEAVES = 60


class Page:
    """Writes one explanation."""

    def __init__(self, names: Names, paint: Paint, room: int, field: str) -> None:
        self.names = names
        self.paint = paint
        self.room = room
        self.field = field

    def write(self, explanation: Explanation, radius: Radius | None) -> Iterator[str]:
        """The lines of an explanation, each with its newline."""
        yield self._title(explanation)
        label = max((len(each.name) for each in explanation.facts), default=0)
        previous = ""
        for fact in explanation.facts:
            name = "" if fact.name == previous else fact.name
            previous = fact.name
            words = one_line(fact.words)
            yield f"  {name:{label}}  {self.paint('error', words) if fact.bad else words}\n"
        if explanation.state is not None:
            yield from self._policy(explanation)
        else:
            yield from self._object(explanation)
        if explanation.findings and not self.field:
            yield "\n"
            for finding in explanation.findings[:_MOST]:
                head = self.paint(finding.severity, f"{finding.severity}[{finding.rule}]")
                yield f"{head} {one_line(finding.message)}  {self.paint('faint', place(finding.location))}\n"
        if radius is not None:
            yield from self._radius(explanation, radius)
        yield "\n" + self.paint("faint", self._ask(explanation)) + "\n"

    def _title(self, explanation: Explanation) -> str:
        subject = one_line(self.names.node(explanation.subject.node))
        if explanation.resource is None:
            return f"{self.paint('strong', subject)}  (no manifest makes it)\n"
        where_ = location(explanation.resource.name_location)
        room = self.room - width(subject) - width(where_)
        gap = " " * room if room > 1 else "\n  "
        return f"{self.paint('strong', subject)}{gap}{self.paint('faint', where_)}\n"

    def _object(self, explanation: Explanation) -> Iterator[str]:
        answers = explanation.answers
        subject = explanation.subject.node
        paths = answers.paths
        found = False
        for answer in answers.listed:
            rows = self._rows(answer, explanation.findings)
            if answer is answers.listed[-1]:
                rows += self._unattached(explanation)
            if not rows and (self.field or len(answers.listed) == 1):
                continue
            found = True
            if len(answers.listed) == 1:
                same = all_rules(answer.paths, subject)
                heading = "Effective policy" + (f" ({same})" if same else "")
            else:
                told = where(answer, paths, subject) or count(len(answer.paths), "context")
                heading = f"Effective policy: {told}"
            yield "\n" + self.paint("strong", one_line(heading)) + "\n"
            yield from self._table(rows) if rows else ["  no policy acts here\n"]
        if not found:
            rest = self._unattached(explanation)
            what = f"no policy sets {self.field}" if self.field else "no policy acts on it"
            yield f"\n{one_line(what)}\n"
            if rest:
                yield from self._table(rest)
        if answers.truncated:
            yield "  (more contexts than are told apart; ask for a route)\n"
        if self.field:
            return
        kinds = {str(group.kind): group.kind for answer in answers.listed for group in answer.groups}
        if kinds:
            yield "\n"
        merges: dict[tuple[str, str], list[str]] = {}
        for _, kind in sorted(kinds.items()):
            merges.setdefault((implementation_of(kind), strategy(kind)), []).append(kind.kind)
        head = self.paint("faint", "Merge")
        for (whose, how), names in merges.items():
            for line in _wrapped(f"{', '.join(names)} ({whose}): {how}", self.room - 8):
                yield f"{head}   {line}\n"
                head = "     "
        for number, chain in enumerate(chains(paths, subject)[:6]):
            head = self.paint("faint", "Chain") if not number else "     "
            for line in _wrapped(one_line(chain), self.room - 8):
                yield f"{head}   {line}\n"
                head = "     "

    def _rows(self, answer: ContextAnswer, findings: Sequence[Finding]) -> list[Row]:
        rows: list[Row] = []
        for group in answer.groups:
            found = settings(group, self.field)
            if not found:
                continue
            # A long name that all of a kind's settings come from is said once: it would leave the values no room.
            owner = found[0].policy if len({each.policy for each in found}) == 1 else None
            named = owner is not None and any(width(self._from(each)) > _LONG for each in found)
            kind = self.names.kind(group.kind.group, group.kind.kind)
            rows.append((kind, f"from {owner.path}" if owner is not None and named else "", "", ""))
            lost = [each for each in found if each.state != "applies"]
            for each in found:
                if each.state == "applies":
                    rows.append(self._row(each, findings, named=named))
                    rows += _leaves(each) if self.field else []
            rows += [self._row(each, findings, named=named) for each in lost[:_MOST_LOST]]
            if len(lost) > _MOST_LOST:
                rows.append((f"  and {len(lost) - _MOST_LOST} more lost", "", "", ""))
        return rows

    def _from(self, setting: Setting, *, named: bool = False) -> str:
        """`shop/checkout-cors :14 (route)`; where the policy is named already, the place and the level."""
        parts = [] if named else [setting.policy.path]
        if setting.location is not None:
            parts.append(place(setting.location) if named else _spot(setting.location, setting.policy))
        level = level_of(setting.node)
        return " ".join([*parts, f"({level})"] if level else parts)

    def _row(self, setting: Setting, findings: Sequence[Finding], *, named: bool = False) -> Row:
        from_ = self._from(setting, named=named)
        value = summary(setting.value, 40) if setting.state == "applies" else "-"
        by = ", ".join(key.path for key in setting.by)
        how = "applies" if setting.state == "applies" else f"{setting.state} by {by}" if by else setting.state
        rule = "" if setting.state == "applies" else _rule(setting, findings)
        return (f"  {setting.field}", value, from_, f"{how} {rule}".rstrip())

    def _unattached(self, explanation: Explanation) -> list[Row]:
        if self.field:
            return []
        rows: list[Row] = []
        for each in explanation.unattached:
            kind = self.names.kind(each.policy.group, each.policy.kind)
            rows.append((f"{kind}", "-", f"{each.policy.path}  {place(each.location)}", each.why))
        return rows

    def _table(self, rows: Iterable[Row]) -> Iterator[str]:
        """Columns as wide as they need to be; the last one goes on in the next line where it is too long."""
        cells = [tuple(one_line(cell) if cell.strip() == cell else cell for cell in row) for row in (_HEAD, *rows)]
        sizes = [max(width(row[n]) for row in cells if any(row[2:]) or not n) for n in range(3)]
        room = max(self.room - 2 - sizes[0] - sizes[2] - 4 - min(max(width(row[3]) for row in cells), _HOW), 12)
        if sizes[1] > room:
            sizes[1] = room
            cells = [(row[0], _cut(row[1], room) if any(row[2:]) else row[1], *row[2:]) for row in cells]
        for number, row in enumerate(cells):
            if not any(row[2:]):
                yield f"  {row[0]}{' ' * (sizes[0] - width(row[0]))}  {row[1]}".rstrip() + "\n"
                continue
            line = "  " + "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, sizes, strict=False))
            left = max(self.room - width(line) - 2, 24)
            words = [each.rstrip() for each in _wrapped(row[3], left)]
            text = f"{line}  {words[0]}".rstrip()
            yield (self.paint("faint", text) if not number else text) + "\n"
            for more in words[1:]:
                yield " " * (width(line) + 2) + more + "\n"

    def _policy(self, explanation: Explanation) -> Iterator[str]:
        state, reach = explanation.state, explanation.reach
        assert state is not None and reach is not None
        declared = sorted({str(name) for each in state.declared for name in each.proper})
        yield f"  sets      {one_line(', '.join(declared) or 'nothing')}\n"
        by = f" by {', '.join(key.path for key in state.by)}" if state.by else ""
        verdict = f"{state.verdict}{by}"
        yield f"  verdict   {self.paint(_style(state.verdict), one_line(verdict))}\n"
        if state.invalid:
            yield f"  invalid   {one_line(state.invalid)}\n"
        yield f"  merge     {implementation_of(state.kind)}: {strategy(state.kind)}\n"
        head = "targets"
        for target in state.targets:
            words = one_line(self.names.target(target))
            problem = one_line(target.detail or target.problem) if target.problem else target.resolution.state
            if target.selector is not None and target.nodes:
                problem = f"selects {count(len(target.nodes), 'object')}"
            spot = self.paint("faint", place(target_place(state, target)))
            yield f"  {head:7}   {words}  {self.paint('error', problem) if target.problem else problem}  {spot}\n"
            head = ""
        for refusal in state.refused:
            claimed = f"{refusal.attachment.node}: {refusal.by.path} claimed it first"
            yield f"            {one_line(claimed)}\n"
        yield "\n" + self._headline(explanation) + "\n"
        yield from self._missed(reach.objects)

    def _headline(self, explanation: Explanation) -> str:
        """`Reaches 22 of 23 routes, 1 Gateway, 4 Services in namespaces media, shop`."""
        reach = explanation.reach
        assert reach is not None
        routes = reach.routes
        acting = [each for each in routes if each.extent != "none"]
        parts = []
        if routes:
            parts.append(f"{len(acting)} of {count(len(routes), 'route')}")
        for kind, objects in reach.others.items():
            number = sum(each.extent != "none" for each in objects)
            if number:
                parts.append(count(number, kind))
        if not parts:
            return self.paint("warning", "Reaches nothing") + ": " + _nowhere(explanation)
        spaces = f" in namespace{'s' if len(reach.namespaces) > 1 else ''} {', '.join(reach.namespaces[:6])}"
        more = f" and {len(reach.namespaces) - 6} more" if len(reach.namespaces) > 6 else ""
        return f"{self.paint('strong', 'Reaches')} {', '.join(parts)}{spaces if reach.namespaces else ''}{more}"

    def _missed(self, objects: Sequence[ReachedObject]) -> Iterator[str]:
        """Where it does not act, or not as a whole, and who prevails: objects of one fate in one line."""
        folded: dict[tuple[str, tuple[str, ...], tuple[ResourceKey, ...]], list[ResourceKey]] = {}
        for each in objects:
            if each.extent == "none" or (each.extent == "part" and each.key.kind.endswith("Route")):
                folded.setdefault((each.extent, each.lost, each.by), []).append(each.key)
        for (extent, lost, by), keys in sorted(folded.items(), key=lambda each: (each[0][0], each[1])):
            word = "not    " if extent == "none" else "in part"
            names = ", ".join(map(str, keys[:3])) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
            who = ", ".join(key.path for key in by) or "nobody"
            yield f"  {word}  {one_line(names)}: {one_line(', '.join(lost))} lost to {one_line(who)}\n"

    def _radius(self, explanation: Explanation, radius: Radius) -> Iterator[str]:
        total = len(explanation.subject.simulation.topology.routes)
        headline = one_line(radius.headline(total))
        yield f"\n{self.paint('strong', f'Without {one_line(radius.policy.path)}')} (simulated): {headline}\n"
        for fold in radius.folds[:_MOST]:
            keys = fold.keys
            names = ", ".join(map(str, keys[:4])) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
            yield f"  ~ {one_line(names)}\n"
            size = max(width(each.name) for each in fold.lines)
            for each in fold.lines:
                yield f"      {each.sign} {one_line(each.name):{size}}  {one_line(each.words)}\n"
        if len(radius.folds) > _MOST:
            yield f"  and {len(radius.folds) - _MOST} more\n"
        if radius.workloads:
            shown = ", ".join(str(key) for key in radius.workloads[:6])
            more = f" and {len(radius.workloads) - 6} more" if len(radius.workloads) > 6 else ""
            yield f"  workloads: {one_line(shown)}{more}\n"
        for change in radius.change.policies:
            if change.policy != radius.policy and change.before != change.after:
                yield f"  {one_line(str(change.policy))}: {change.before} -> {change.after}\n"

    def _ask(self, explanation: Explanation) -> str:
        if explanation.state is not None:
            return "Ask     -o json|yaml|markdown"
        rule = "--rule 1   " if explanation.subject.key.kind.endswith("Route") else ""
        return f"Ask     {rule}--field NAME   --without POLICY   -o json|yaml|markdown"


def _leaves(setting: Setting) -> list[Row]:
    """The whole value, a row for each leaf of a mapping."""
    found: list[Row] = []
    pending: list[tuple[str, Any]] = [("", setting.value)]
    while pending and len(found) < _MOST_LEAVES:
        name, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(f"{name}.{key}" if name else str(key), each) for key, each in reversed(value.items())]
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            pending += [(f"{name}[{number}]", each) for number, each in reversed(list(enumerate(value)))]
        elif name:
            found.append((f"    {name}", summary(value, 400), "", ""))
    return found


def place(where_: Location) -> str:
    """`checkout-cors.yaml:14`."""
    return f"{where_.file.rpartition('/')[2]}:{where_.at()[0]}"


def _spot(where_: Location, policy: ResourceKey) -> str:
    """`:14` in the file that is called like the policy, else with the file's name."""
    spot = place(where_)
    file, _, line = spot.rpartition(":")
    return f":{line}" if file.rpartition(".")[0] == policy.name else spot


def location(where_: Location) -> str:
    """`clusters/prod/shop/checkout-cors.yaml:14`."""
    return f"{where_.file}:{where_.at()[0]}"


def _rule(setting: Setting, findings: Sequence[Finding]) -> str:
    """The rule that reports a loss, if lint does."""
    for each in findings:
        if setting.policy in each.resources and any(key in each.resources for key in setting.by):
            return each.rule
    return ""


def _nowhere(explanation: Explanation) -> str:
    state = explanation.state
    assert state is not None
    if state.invalid:
        return "it is invalid"
    if any(each.problem or not each.resolution.found for each in state.targets):
        return "its targets do not resolve"
    return "nothing lies at or below its targets"


def _style(verdict: str) -> str:
    if verdict in ("Enforced", "Accepted"):
        return "strong"
    return "error" if verdict in ("Invalid", "TargetNotFound", "Conflicted") else "warning"


def _cut(text: str, room: int) -> str:
    return text if width(text) <= room else text[: room - 1] + "…"


def _wrapped(text: str, room: int) -> list[str]:
    from policylint.report.kit.display import wrapped

    return wrapped(text, room) or [""]
