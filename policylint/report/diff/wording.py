"""The wording of a diff: values in few words, counts, the verdict line that text, comment and summary share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import ResourceKey
from policylint.model.values import scalar, telling
from policylint.model.words import count, leading, verb
from policylint.report.diff.requests import is_of_commits
from policylint.report.findings.report import counts
from policylint.report.kit.display import one_line, place
from policylint.report.kit.placements import placements_in_words

if TYPE_CHECKING:
    from policylint.compare.change import (
        AttachmentChange,
        EnvironmentChange,
        PolicyChange,
        Responsible,
        SettingChange,
        SubjectChange,
    )
    from policylint.report.diff.report import DiffReport
    from policylint.session.judge import ConfigurationChange
    from policylint.triage import Suppressed

MARKS = {"added": "+", "removed": "-", "changed": "~", "moved": ">", "unchanged": " ", "renamed": ">", "unknown": "!"}
_NEVER = object()


def value_in_words(value: Any, room: int = 44) -> str:
    """Return a setting's value in few words: `issuer https://id.example.com`, `100/min`; cut to `room` characters."""
    return cut(telling(value) if isinstance(value, (dict, list)) else scalar(value), room)


def cut(text: str, room: int) -> str:
    """Return a text on one line of at most `room` characters."""
    text = one_line(text)
    return text if len(text) <= room else text[: max(1, room - 1)].rstrip() + "…"


def difference(before: Any, after: Any, room: int = 60) -> str:
    """Return what changes inside a setting: `http.requestTimeout 5s -> 10s`, at most three leaves."""
    changes = list(_differences(before, after, ""))
    parts = [f"{name} {change}".strip() for name, change in changes[:3]]
    if len(changes) > 3:
        parts.append(f"{len(changes) - 3} more")
    return cut(", ".join(parts), room)


def _differences(before: Any, after: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each difference, and what happens there: `5s -> 10s`, of entries of lists `+ a, - b`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            inner = f"{name}.{key}" if name else str(key)
            yield from _differences(before.get(key, _NEVER), after.get(key, _NEVER), inner)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, name)
    elif before is _NEVER or after is _NEVER or before != after:
        was, now = ("none" if value is _NEVER else value_in_words(value, 30) for value in (before, after))
        yield name, f"{was} -> {now}"


def _list_differences(before: list[Any], after: list[Any], name: str) -> Iterator[tuple[str, str]]:
    """Yield what differs inside entries that both lists have, then the entries that come and go.

    Entries are the same by their name, or as a whole. Objects without a name are told apart by their position where as
    many of them differ on both sides.
    """
    old, new = _entries(before), _entries(after)
    gone = [key for key in old if key not in new]
    added = [key for key in new if key not in old]
    pairs = [(old[key], new[key]) for key in new if key in old]
    were, are = ([key for key in keys if _is_unnamed(of[key][1])] for keys, of in ((gone, old), (added, new)))
    if len(were) == len(are):
        pairs = sorted((*pairs, *((old[was], new[now]) for was, now in zip(were, are, strict=True))), key=_position)
        gone, added = [key for key in gone if key not in were], [key for key in added if key not in are]
    for (_, was), (number, now) in pairs:
        yield from _differences(was, now, f"{name}[{number}]" if len(before) > 1 or len(after) > 1 else name)
    parts = [f"+ {value_in_words(new[key][1], 30)}" for key in added]
    parts += [f"- {value_in_words(old[key][1], 30)}" for key in gone]
    former_positions = [number for (number, _), _ in pairs]
    if parts:
        yield name, leading(parts, 4)
    elif len(before) != len(after):
        yield name, f"{len(before)} -> {len(after)} entries"
    elif former_positions != sorted(former_positions):
        yield name, "in another order"


def _position(pair: tuple[tuple[int, Any], tuple[int, Any]]) -> int:
    return pair[1][0]


def _entries(values: Sequence[Any]) -> dict[str, tuple[int, Any]]:
    """Return the entries of a list by name, or else by content, each with its number."""
    names = (
        json.dumps(entry if _is_unnamed(entry) or not isinstance(entry, dict) else entry["name"], default=str)
        for entry in values
    )
    return {name: (number, entry) for number, (name, entry) in enumerate(zip(names, values, strict=True))}


def _is_unnamed(entry: Any) -> bool:
    return isinstance(entry, dict) and "name" not in entry


def words(setting: SettingChange, room: int) -> str:
    """Return the value of a setting as a diff shows it."""
    if setting.change == "changed":
        return difference(setting.before, setting.after, room)
    return value_in_words(setting.before if setting.change == "removed" else setting.after, room)


def verdict_parts(environment: EnvironmentChange) -> list[str]:
    """Return `1 of 23 routes changes`, and what else happens to routes; empty when nothing does."""
    number = Counter(subject.change for subject in environment.known if subject.is_route)
    parts = []
    if number["changed"]:
        routes = count(environment.routes, "route")
        parts.append(f"{number['changed']} of {routes} {verb(number['changed'], 'changes')}")
    if number["added"]:
        parts.append(count(number["added"], "new route"))
    if number["removed"]:
        parts.append(f"{count(number['removed'], 'route')} gone")
    others = [subject.key.kind for subject in environment.known if not subject.is_route]
    if others:
        one_kind = len(set(others)) == 1
        objects = count(len(others), others[0]) if one_kind else f"{len(others)} objects other than routes"
        parts.append(f"{objects} {verb(len(others), 'changes')}")
    if environment.connections:
        ways_changed = Counter(change.change for change in environment.connections if change.targets)
        opened = ways_changed["opened"] + ways_changed["widened"]
        closed = ways_changed["closed"] + ways_changed["narrowed"]
        ways = [f"{opened} open" if opened else "", f"{closed} close" if closed else ""]
        if any(ways):
            parts.append(f"connections: {', '.join(filter(None, ways))}")
    parts += placements_in_words(environment.placements)
    if environment.unknown:
        parts.append(f"{len(environment.unknown)} unknown")
    return parts


def policies_in_words(policies: Iterable[PolicyChange]) -> list[tuple[str, PolicyChange, str]]:
    """Return a mark, the policy and how its verdict changes: `Enforced -> Overridden by shop/own`.

    A policy that is new and enforced says nothing that the settings do not.
    """
    shown = []
    for change in policies:
        if change.before or change.after != "Enforced":
            mark = "+" if not change.before else "-" if not change.after else "~"
            by = f" by {', '.join(key.path for key in change.by[:3])}" if change.by else ""
            shown.append((mark, change, f"{change.before or 'new'} -> {change.after or 'gone'}{by}"))
    return shown


def fate_in_words(because: str) -> str:
    """Return what became of a policy as the predicate of its name: ` is deleted`, `: its target is gone`."""
    if because.startswith("its "):
        return f": {because}"
    return (
        f" is {because}" if because.startswith(("deleted", "refused", "now ", "no longer deployed")) else f" {because}"
    )


def finding_parts(report: DiffReport) -> list[str]:
    """Return `1 new error`, `1 fixed`, `4 unchanged`."""
    new = counts(report.known("new"))
    parts = [count(number, f"new {severity}") for severity, number in new.items() if number]
    for state in ("fixed", "moot", "unchanged"):
        if number := len(report.known(state)):
            parts.append(f"{number} {state}")
    if report.silenced:
        parts.append(f"{len(report.silenced)} newly suppressed")
    return parts


def silenced_in_words(entry: Suppressed) -> tuple[str, str]:
    """Return what is suppressed and by what: `error[GWP201] … at a.yaml:11`, `comment at a.yaml:11: checked by …`."""
    finding, by = entry
    message = f"{finding.severity}[{finding.rule}] {finding.message} at {place(finding.location)}"
    return message, f"{by.form} at {place(by.location)}: {by.reason}"


def notices(configuration: ConfigurationChange | None, silenced: Iterable[Suppressed]) -> list[tuple[str, int, str]]:
    """Return what a change says about how it is to be judged: file, line, sentence."""
    said = [] if configuration is None else [(configuration.file, configuration.line, configuration.message)]
    for entry in silenced:
        finding, by = silenced_in_words(entry)
        location = entry.by.location
        said.append((location.file, location.at()[0], f"newly suppressed: {finding}, by a {by}"))
    return said


def nothing_changes(report: DiffReport) -> str:
    """Return `no route changes its effective policy (6 files differ)`."""
    files = f" ({count(report.files_differ, 'file')} {verb(report.files_differ, 'differs')})"
    return "no route changes its effective policy" + (files if report.files_differ else "")


def reproduced(report: DiffReport) -> str:
    """Return the command with the ids of the revisions: `HEAD^1..HEAD` means something else on another machine."""
    if not report.readers and not is_of_commits(report.span):
        return report.again
    words = report.again.split(" ")
    return " ".join([*words[:2], report.readers or report.span, *words[3:]])


def reach_in_words(reach: AttachmentChange) -> str:
    """Return the sentence for a way in that opens or closes."""
    if reach.what == "listener":
        return f"attached to {reach.name}" if reach.after else f"no longer attached to {reach.name}"
    if reach.what == "rule":
        return f"{reach.name} is new" if reach.after else f"{reach.name} is gone"
    if reach.what == "answers":
        return f"{reach.name} {'will answer 500' if reach.after == '500' else 'are served again'}"
    return f"{reach.what} by {reach.name}: {reach.before} -> {reach.after}"


def gateways_in_words(keys: Iterable[ResourceKey]) -> str:
    """Return `via Gateway infra/edge`, for several `via Gateways infra/a, infra/b`."""
    names = [key.path for key in keys]
    return f"via {'Gateway' if len(names) == 1 else 'Gateways'} {leading(names, 3)}" if names else ""


def alike(subjects: Iterable[SubjectChange]) -> list[list[SubjectChange]]:
    """Group subjects that change in the same way.

    Groups of which a protection goes or asks for less come first, for what comes late may be folded or cut; then they
    are in the order of the first of each. Policies that act on one subject alone may differ by name.
    """
    listed = list(subjects)
    ways = LikeChanges(listed)
    groups: dict[object, list[SubjectChange]] = {}
    for subject in listed:
        groups.setdefault(ways.of(subject), []).append(subject)
    return sorted(groups.values(), key=lambda group: not protections(group[0]))


def whereabouts(group: Sequence[SubjectChange], most: int, code: Callable[[str], str] = str) -> str:
    """Name subjects that change alike: `shop/a, shop/b`; of many in several namespaces the number in each."""
    namespaces = Counter(subject.key.namespace for subject in group)
    if len(group) <= most or len(namespaces) == 1:
        return leading((code(subject.key.path) for subject in group), most)
    ordered = sorted((-number, name) for name, number in namespaces.items())
    more = f" and {count(len(ordered) - most, 'more namespace')}" if len(ordered) > most else ""
    listed = ", ".join(f"{-number} in {code(name)}" for number, name in ordered[:most])
    return f"{listed}{more}; e.g. {code(group[0].key.path)}"


def renamed_objects(environment: EnvironmentChange) -> list[str]:
    """Return `Gateway infra/front  (was infra/edge)` for all but routes: a rename without effect shows nowhere else."""
    return [
        f"{touched.key}  (was {touched.was.path})"
        for touched in environment.objects
        if touched.was is not None and not touched.key.kind.endswith("Route")
    ]


def own_policies(group: Sequence[SubjectChange]) -> frozenset[ResourceKey]:
    """The policies of the first of several that change alike which the others have others for."""
    if len(group) < 2:
        return frozenset()
    first, second = (set(policies_of(subject)) for subject in group[:2])
    return frozenset(first - second)


def protections(subject: SubjectChange, *, lost: bool = False) -> list[str]:
    """Name the protections of a subject that no longer apply or, unless `lost`, ask for less.

    None of a route of which all requests answer 500: nobody gets in.
    """
    if fails(subject):
        return []
    return [
        setting.name
        for part in subject.parts
        for setting in part.settings
        if weakens(setting) and not (lost and setting.change != "removed")
    ]


def fails(subject: SubjectChange, share: str = "all requests") -> bool:
    """Tell whether requests of a route will answer 500."""
    return any((reach.what, reach.name, reach.after) == ("answers", share, "500") for reach in subject.reach)


def policies_of(subject: SubjectChange) -> Iterator[ResourceKey]:
    """Yield the policies of the settings that change for a subject."""
    for setting in _changing(subject):
        yield from _policies(setting)


def weakens(setting: SettingChange) -> bool:
    """Tell whether a protection no longer applies, or asks for less than before."""
    return setting.weaker or (setting.change == "removed" and setting.name in setting.kind.settings.security)


def one_of(responsible: Responsible, own: frozenset[ResourceKey]) -> str:
    """Return the words before a policy of `own_policies`, which stands for those of the other subjects."""
    return "its own, e.g. " if responsible.policy in own else ""


class LikeChanges:
    """The ways in which subjects change, each setting that many share looked at once."""

    def __init__(self, subjects: Sequence[SubjectChange]) -> None:
        self._number_of: dict[int, int] = {}
        self._numbers: dict[object, int] = {}
        holders: dict[ResourceKey, ResourceKey] = {}
        shared: set[ResourceKey] = set()
        for subject in subjects:
            for setting in _changing(subject):
                for key in _policies(setting):
                    if holders.setdefault(key, subject.key) != subject.key:
                        shared.add(key)
        self._own = {key for key, holder in holders.items() if key not in shared and key.namespace == holder.namespace}

    def of(self, subject: SubjectChange) -> object:
        """Return a key that is the same for subjects that change alike."""
        parts = tuple(
            (
                part.gateways,
                part.all_rules and bool(part.rules),
                () if part.all_rules else tuple(node.section for node in part.rules),
                tuple(self._number(each) for each in (*part.settings, *part.lost) if each.change != "unchanged"),
            )
            for part in subject.parts
        )
        reach = tuple((reach.what, reach.name, reach.before, reach.after) for reach in subject.reach)
        alone = subject.key if not parts and not reach else None
        return subject.key.kind, subject.change, parts, reach, alone, subject.was

    def cause(self, setting: SettingChange) -> tuple[object, ...]:
        """Return a key that is the same for settings that change for the same reason."""
        by = self._who(origin._replace(location=None) for origin in setting.by)  # it names each of them elsewhere
        before = self._who(origin._replace(location=None) for origin in setting.sources_before)
        after = self._who(origin._replace(location=None) for origin in setting.sources_after)
        return setting.change, before, after, by, setting.because

    def _number(self, setting: SettingChange) -> int:
        """Return a number that is the same for settings that read the same."""
        if id(setting) not in self._number_of:
            values = scalar(setting.before), scalar(setting.after)
            origins = self._who(setting.sources_before), self._who(setting.sources_after)
            text = str(setting.kind), setting.name, values, origins, self.cause(setting)
            self._number_of[id(setting)] = self._numbers.setdefault(text, len(self._numbers))
        return self._number_of[id(setting)]

    def _who(self, responsible: Iterable[Responsible]) -> tuple[object, ...]:
        return tuple(
            origin.policy.kind if origin.policy in self._own else (origin.policy, repr(origin.location))
            for origin in responsible
        )


def _changing(subject: SubjectChange) -> Iterator[SettingChange]:
    for part in subject.parts:
        yield from (setting for setting in part.settings if setting.change != "unchanged")
        yield from part.lost


def _policies(setting: SettingChange) -> Iterator[ResourceKey]:
    for responsible in (setting.sources_before, setting.sources_after, setting.by):
        yield from (origin.policy for origin in responsible)
