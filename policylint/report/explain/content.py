"""What an explanation says, in blocks and in order: text.py and markdown.py print them, so none says less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policylint.explain.contexts import ContextAnswer
from policylint.explain.explanation import Explanation
from policylint.explain.reach import ReachedObject
from policylint.explain.settings import Setting, settings, summary
from policylint.explain.unattached import target_place
from policylint.explain.unseen import UnseenActing
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
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Target
from policylint.report.explain.radius import Radius
from policylint.report.kit import extensions
from policylint.report.kit.connections import connection_in_words
from policylint.report.kit.display import short_place
from policylint.report.kit.identity import Names
from policylint.report.kit.placements import folded_placements, placement_in_words, placement_mark

_MOST = 12
_MOST_LOST = 8
_MOST_LEAVES = 60
_MOST_CHAINS = 6
_LABELS = 8
"""Columns of the labels of a policy: values stand in one column whatever it has."""


class FactLine(NamedTuple):
    """A labelled line: `targets  Gateway infra/edge  found  edge-jwt.yaml:11`; "" continues the label above.

    Args:
        style: as Paint's, of the remark, or of the words where there is none.
    """

    label: str
    words: str
    style: str = ""
    remark: str = ""
    place: str = ""


class FactLines(NamedTuple):
    """Labelled lines below each other; their labels take at least so many columns."""

    entries: tuple[FactLine, ...]
    least: int = 0


class Heading(NamedTuple):
    """The title of what follows, and what is said behind it."""

    words: str
    rest: str = ""
    style: str = "strong"


class Sentence(NamedTuple):
    """A sentence of its own; with a space before it, it belongs to the block above."""

    words: str
    belongs: bool = False


class SettingRow(NamedTuple):
    """One setting: its value, the policy that it is from, and what became of it.

    Args:
        place: where it is written; `spot` is the same, where the policy's name stands before it.
        depth: 0 for a policy as a whole, 1 for a setting, 2 for a part of one.
    """

    name: str
    value: str = ""
    policy: str = ""
    place: str = ""
    spot: str = ""
    level: str = ""
    fate: str = ""
    depth: int = 1


class Kind(NamedTuple):
    """The settings of the policies of one kind, and the policy that all of them are from, if one is."""

    name: str
    owner: str
    rows: tuple[SettingRow, ...]


class SettingTable(NamedTuple):
    """What acts in one context."""

    kinds: tuple[Kind, ...]


class Named(NamedTuple):
    """What filters and annotations name: the object, what it does, who names it, where, and what keeps it from that."""

    rows: tuple[tuple[str, ...], ...]


class Reached(NamedTuple):
    """The objects at and below the targets of a policy, and what it does not get there."""

    objects: tuple[ReachedObject, ...]

    def missed(self) -> Iterator[tuple[ReachedObject, tuple[ResourceKey, ...]]]:
        """Yield one of the objects of which all the same is said, where the policy does not act as a whole, and all."""
        folded: dict[object, list[ReachedObject]] = {}
        for reached in self.objects:
            if reached.extent == "none" or (reached.extent == "part" and reached.key.kind.endswith("Route")):
                folded.setdefault(reached[1:], []).append(reached)
        alike = ((objects[0], tuple(each.key for each in objects)) for objects in folded.values())
        yield from sorted(alike, key=lambda entry: (entry[0].extent, entry[1]))


class Under(NamedTuple):
    """Sentences under a word beside the first of them."""

    head: str
    sentences: tuple[str, ...]


class Reported(NamedTuple):
    """What lint reports of the object."""

    findings: tuple[Finding, ...]


class ChangedObjects(NamedTuple):
    """What changes for some objects, with `+`, `-` or `~`, a setting and words; the setting may be missing."""

    objects: str
    lines: tuple[tuple[str, str, str], ...]


class More(NamedTuple):
    """What else can be asked of policylint."""

    options: str


Block = FactLines | Heading | Sentence | SettingTable | Named | Reached | Under | Reported | ChangedObjects | More


def how(setting: Setting) -> str:
    """Return `applies`, or what happened to the setting and by which policies."""
    by = ", ".join(key.path for key in setting.by)
    if by and setting.state != "applies":
        return f"{setting.state} by {by}"
    return "does nothing: what it calls is not there" if setting.state == "dropped" else setting.state


SOME = "some of its requests"
"""What is said of an object of which a policy acts on no other requests."""


class Content:
    """The blocks of one explanation.

    Args:
        field: the field that was asked for; "" for everything.
        room: how many letters a value may have.
    """

    def __init__(self, explanation: Explanation, radius: Radius | None, names: Names, field: str, room: int) -> None:
        self._explanation = explanation
        self._radius = radius
        self._names = names
        self._field = field
        self._room = room
        self._causes = _Causes(explanation.findings)

    def blocks(self) -> Iterator[Block]:
        """Yield what is said below the title."""
        explanation = self._explanation
        facts = [
            FactLine(fact.name, fact.words, "error" if fact.bad else "")
            for fact in (*explanation.facts, *explanation.other_systems)
        ]
        if explanation.state is not None:
            yield FactLines((*facts, *self._of_policy()), _LABELS)
            yield self._headline()
            if explanation.reach is not None and explanation.reach.objects:
                yield Reached(tuple(explanation.reach.objects))
        else:
            yield FactLines(tuple(facts))
            yield from self._of_object()
        if explanation.findings and not self._field:
            yield Reported(explanation.findings[:_MOST])
        if self._radius is not None:
            yield from self._without(self._radius)
        yield More(self._more())

    def _of_object(self) -> Iterator[Block]:
        explanation = self._explanation
        answers, subject = explanation.answers, explanation.subject.node
        simulation = explanation.subject.simulation
        every, shown = Crowd(answers.paths), False
        for answer in answers.listed:
            kinds = self._kinds(answer)
            if answer is answers.listed[-1]:
                kinds += self._unattached()
            if not kinds and (self._field or len(answers.listed) == 1):
                continue
            shown = True
            if len(answers.listed) == 1:
                same = all_rules(answer.paths, subject)
                yield Heading("Effective policy" + (f" ({same})" if same else ""))
            else:
                context = where(answer, every, subject) or count(len(answer.paths), "context")
                yield Heading(f"Effective policy: {context}")
            why = "" if kinds else why_closed(simulation, answer.paths)
            yield SettingTable(tuple(kinds)) if kinds else Sentence(self._none_here(why), belongs=True)
        if not shown and (self._field or not explanation.other_systems):
            others = bool(explanation.extensions)
            nothing = none_acts(explanation.subject, answers.paths, others=others)
            yield Sentence(f"no policy sets {self._field}" if self._field else nothing)
            if rest := self._unattached():
                yield SettingTable(tuple(rest))
        if answers.truncated:
            yield Sentence("(more contexts than are told apart; ask for a route)", belongs=True)
        if not self._field:
            yield from self._beneath()

    def _none_here(self, closed: str) -> str:
        """Return that no policy acts in some contexts of an object, and why no request gets there, if that is so."""
        if closed:
            return f"no policy acts here: {closed}"
        subject = self._explanation.subject
        return f"no policy acts here{UnseenActing(subject.simulation).on(subject.node).remark}"

    def _beneath(self) -> Iterator[Block]:
        """Yield what filters and annotations name, how the policies merge, and the chains of parents."""
        explanation = self._explanation
        beaten = {
            id(binding): f"yields to {by.wanted.path}" for binding, by in explanation.extensions if by is not None
        }
        for heading, bindings in extensions.headed(binding for binding, _ in explanation.extensions):
            yield Heading(heading)
            yield Named(tuple((*extensions.row(each, self._names), beaten.get(id(each), "")) for each in bindings))
        kinds = {str(group.kind): group.kind for answer in explanation.answers.listed for group in answer.groups}
        merges: dict[tuple[str, str], list[str]] = {}
        for _, kind in sorted(kinds.items()):
            merges.setdefault((implementation_of(kind), strategy(kind)), []).append(kind.kind)
        sentences = [f"{', '.join(names)} ({owner}): {merge}" for (owner, merge), names in merges.items()]
        paths = chains(explanation.answers.paths, explanation.subject.node)[:_MOST_CHAINS]
        yield from (Under(head, tuple(said)) for head, said in (("Merge", sentences), ("Chain", paths)) if said)

    def _kinds(self, answer: ContextAnswer) -> list[Kind]:
        kinds = []
        for group in answer.groups:
            listed = settings(group, self._field)
            if not listed:
                continue
            rows = []
            lost = [setting for setting in listed if setting.state != "applies"]
            for setting in listed:
                if setting.state == "applies":
                    fate = f"{how(setting)} to some requests" if answer.meets_some(group) else how(setting)
                    rows.append(_row(setting, setting.summary(self._room), fate))
                    rows += _leaves(setting) if self._field else []
            for setting in lost[:_MOST_LOST]:
                rows.append(_row(setting, "-", f"{how(setting)} {self._causes.rule(setting)}".rstrip()))
            if len(lost) > _MOST_LOST:
                rows.append(SettingRow(f"and {len(lost) - _MOST_LOST} more lost"))
            owners = {setting.policy.path for setting in listed}
            kind = self._names.kind(group.kind.group, group.kind.kind)
            kinds.append(Kind(kind, owners.pop() if len(owners) == 1 else "", tuple(rows)))
        return kinds

    def _unattached(self) -> list[Kind]:
        kinds = []
        for missing in () if self._field else self._explanation.unattached:
            name = self._names.kind(missing.policy.group, missing.policy.kind)
            place = short_place(missing.location)
            kinds.append(
                Kind(name, "", (SettingRow("", "-", missing.policy.path, place, place, "", missing.why, depth=0),))
            )
        return kinds

    def _of_policy(self) -> Iterator[FactLine]:
        """Yield what a policy sets, what became of it, and what it targets."""
        state = self._explanation.state
        assert state is not None
        declared = sorted({str(name) for each in state.declared for name in each.proper})
        does = implementation(state.kind.implementation).in_words(state.policy)
        if does:
            yield FactLine("does", does)
        if declared or not does:
            yield FactLine("sets", ", ".join(declared) or "nothing")
        by = f" by {', '.join(key.path for key in state.by)}" if state.by else ""
        yield FactLine("verdict", f"{state.verdict}{by}", _style(state.verdict))
        if took := self._explanation.taken:
            yield FactLine("overrides", listing(took))
        if state.invalid:
            yield FactLine("invalid", state.invalid)
        yield FactLine("merge", f"{implementation_of(state.kind)}: {strategy(state.kind)}")
        for number, target in enumerate(state.targets):
            place = short_place(target_place(state, target))
            style = "error" if target.problem else ""
            label = "" if number else "targets"
            yield FactLine(label, self._names.target(target), style, _fate(target), place)
        for refusal in state.refused:
            yield FactLine("", f"{refusal.attachment.node}: {refusal.by.path} claimed it first")

    def _headline(self) -> Heading:
        """Return `Reaches 22 of 23 routes, 1 Gateway, 4 Services in namespaces media, shop`."""
        state, reach = self._explanation.state, self._explanation.reach
        assert state is not None and reach is not None
        acting = sum(route.extent != "none" for route in reach.routes)
        parts = [f"{acting} of {count(len(reach.routes), 'route')}"] if reach.routes else []
        for kind, objects in reach.others.items():
            if number := sum(reached.extent != "none" for reached in objects):
                parts.append(count(number, kind))
        if not parts and state.is_of_shape:
            return Heading("", "What it reaches is not known: policies of its kind are not evaluated")
        if not parts:
            return Heading("Reaches nothing", f": {_nowhere(self._explanation)}", "warning")
        namespaces = reach.namespaces
        spaces = f" in namespace{'s' if len(namespaces) > 1 else ''} {leading(namespaces, 6)}" if namespaces else ""
        return Heading("Reaches", f" {', '.join(parts)}{spaces}")

    def _without(self, radius: Radius) -> Iterator[Block]:
        routes = len(self._explanation.subject.simulation.topology.routes)
        yield Heading(f"Without {radius.policy.path}", f" (simulated): {radius.headline(routes)}")
        for fold in radius.folds[:_MOST]:
            lines = tuple((line.sign, line.name, line.words) for line in fold.lines)
            yield ChangedObjects(leading(fold.keys, 4), lines)
        yield from _further(radius.folds)
        if radius.workloads:
            yield Sentence(f"workloads: {leading(radius.workloads, 6)}", belongs=True)
        connections = [
            ("+" if change.change in ("opened", "widened") else "-", "", connection_in_words(change))
            for change in radius.change.connections
        ]
        folded = folded_placements(radius.change.placements)
        placements = [(placement_mark(each.first), "", placement_in_words(each)) for each in folded]
        for lines_of in (connections, placements):
            if lines_of:
                yield ChangedObjects("", tuple(lines_of[:_MOST]))
                yield from _further(lines_of)
        for change in radius.change.policies:
            if change.policy != radius.policy and change.before != change.after:
                yield Sentence(f"{change.policy}: {change.before} -> {change.after}", belongs=True)

    def _more(self) -> str:
        if self._explanation.state is not None:
            return "-o json|yaml|markdown"
        rule = "--rule 1   " if self._explanation.subject.key.kind.endswith("Route") else ""
        return f"{rule}--field NAME   --without POLICY   -o json|yaml|markdown"


def _further(items: Sequence[Any]) -> Iterator[Sentence]:
    if len(items) > _MOST:
        yield Sentence(f"and {len(items) - _MOST} more", belongs=True)


def _row(setting: Setting, value: str, fate: str) -> SettingRow:
    location, level = setting.location, level_of(setting.node)
    place = "" if location is None else short_place(location)
    spot = "" if location is None else _spot(location, setting.policy)
    return SettingRow(setting.field, value, setting.policy.path, place, spot, level, fate)


def _leaves(setting: Setting) -> list[SettingRow]:
    """Return the whole value, a row for each leaf of a mapping."""
    rows: list[SettingRow] = []
    pending: list[tuple[str, Any]] = [("", setting.value)]
    while pending and len(rows) < _MOST_LEAVES:
        name, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(f"{name}.{key}" if name else str(key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
            pending += [(f"{name}[{number}]", inner) for number, inner in reversed(list(enumerate(value)))]
        elif name:
            rows.append(SettingRow(name, summary(value, 400), depth=2))
    return rows


def _spot(location: Location, policy: ResourceKey) -> str:
    """Return `:14` in the file that is called like the policy, else with the file's name."""
    file, _, line = short_place(location).rpartition(":")
    return f":{line}" if file.rpartition(".")[0] == policy.name else f"{file}:{line}"


def _fate(target: Target) -> str:
    """Return what a target leads to, or why to nothing."""
    if target.selector is not None and target.nodes:
        return f"selects {count(len(target.nodes), 'object')}"
    return (target.detail or target.problem) if target.problem else target.resolution.state


class _Causes:
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
    idle = "no request meets it" if state.groups else "nothing lies at or below its targets"
    return why_closed(explanation.subject.simulation, paths) or idle


def _style(verdict: str) -> str:
    if verdict == "Enforced":
        return "strong"
    return "error" if verdict in ("Invalid", "TargetNotFound", "Conflicted") else "warning"
