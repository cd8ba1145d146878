"""How a diff puts things: values in few words, counts, the verdict line that text, comment and summary share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.model import ResourceKey
from policylint.model.words import count
from policylint.report.kit.display import one_line

if TYPE_CHECKING:
    from policylint.compare.change import AttachmentChange, EnvironmentChange, Responsible, SettingChange, SubjectChange
    from policylint.report.diff.report import DiffReport

MARKS = {"added": "+", "removed": "-", "changed": "~", "moved": ">", "unchanged": " ", "renamed": ">", "unknown": "!"}
_TELLING = ("issuer", "allowOrigins", "requests", "limit", "unit", "requestTimeout", "url", "cidr", "clientCIDRs")
"""Leaves that say more than others; shown first."""
_DULL = frozenset({"name", "type", "kind", "group", "namespace", "key"})
_NEVER = object()


def value_in_words(value: Any, room: int = 44) -> str:
    """A setting's value in few words: `issuer https://id.example.com`, `100/min`; cut to `room` characters."""
    if isinstance(value, (dict, list)):
        text = _telling(value)
    else:
        text = scalar(value)
    return cut(text, room)


def cut(text: str, room: int) -> str:
    text = one_line(text)
    return text if len(text) <= room else text[: max(1, room - 1)].rstrip() + "…"


def scalar(value: Any) -> str:
    """As YAML would write it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _telling(value: Any) -> str:
    if isinstance(value, dict) and {"requests", "unit"} <= value.keys():
        return f"{scalar(value['requests'])}/{scalar(value['unit']).lower()}"
    leaves = list(_leaves(value, ""))
    if not leaves:
        return "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, list) and all(not isinstance(each, (dict, list)) for each in value):
        return ", ".join(scalar(each) for each in value)
    leaves.sort(key=lambda leaf: (_TELLING.index(leaf[0]) if leaf[0] in _TELLING else 99, leaf[0] in _DULL))
    return ", ".join(f"{name} {text}".strip() for name, text in leaves[:4])


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        if value and all(not isinstance(each, (dict, list)) for each in value):
            yield name, ", ".join(scalar(each) for each in value[:3])
        else:
            for inner in value:
                yield from _leaves(inner, name)
    elif value is not None:
        yield name, scalar(value)


def difference(before: Any, after: Any, room: int = 60) -> str:
    """What changes inside a setting: `http.requestTimeout 5s -> 10s`, at most three leaves."""
    changes = list(_differences(before, after, ""))
    parts = [f"{name} {one} -> {other}".strip() for name, one, other in changes[:3]]
    if len(changes) > 3:
        parts.append(f"{len(changes) - 3} more")
    return cut(", ".join(parts), room)


def _differences(before: Any, after: Any, name: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(each for each in after if each not in before)]:
            inner = f"{name}.{key}" if name else str(key)
            yield from _differences(before.get(key, _NEVER), after.get(key, _NEVER), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{name}[{number}]")
    elif before is _NEVER:
        yield name, "none", value_in_words(after, 30)
    elif after is _NEVER:
        yield name, value_in_words(before, 30), "none"
    elif before != after:
        yield name, value_in_words(before, 30), value_in_words(after, 30)


def words(setting: SettingChange, room: int) -> str:
    """The value of a setting as a diff shows it."""
    if setting.change == "changed":
        return difference(setting.before, setting.after, room)
    return value_in_words(setting.before if setting.change == "removed" else setting.after, room)


def verdict_parts(environment: EnvironmentChange) -> list[str]:
    """`1 of 23 routes changes`, and what else happens to routes; empty when nothing does."""
    routes = [each for each in environment.known if each.is_route]
    number = {change: sum(each.change == change for each in routes) for change in ("changed", "added", "removed")}
    parts = []
    if number["changed"]:
        verb = "changes" if number["changed"] == 1 else "change"
        parts.append(f"{number['changed']} of {count(environment.routes, 'route')} {verb}")
    if number["added"]:
        parts.append(count(number["added"], "new route"))
    if number["removed"]:
        parts.append(f"{count(number['removed'], 'route')} gone")
    others = [each for each in environment.known if not each.is_route]
    if others:
        kinds = sorted({each.key.kind for each in others})
        many = "objects beside routes" if len(kinds) > 1 else f"{kinds[0]}s"
        parts.append(f"{count(len(others), kinds[0] if len(kinds) == 1 else 'object beside routes', many)} "
                     f"{'changes' if len(others) == 1 else 'change'}")  # fmt: skip
    if environment.unknown:
        parts.append(f"{len(environment.unknown)} unknown")
    return parts


def finding_parts(report: DiffReport) -> list[str]:
    """`1 new error`, `1 fixed`, `4 unchanged`."""
    new = report.known("new")
    parts = [
        count(number, f"new {severity}")
        for severity in ("error", "warning", "note")
        if (number := sum(each.severity == severity for each in new))
    ]
    for state in ("fixed", "unchanged"):
        if number := len(report.known(state)):
            parts.append(f"{number} {state}")
    return parts


def nothing_changes(report: DiffReport) -> str:
    """`no route changes its effective policy (6 files differ)`."""
    if not report.files_differ:
        return "no route changes its effective policy"
    verb = "differs" if report.files_differ == 1 else "differ"
    return f"no route changes its effective policy ({count(report.files_differ, 'file')} {verb})"


def reproduced(report: DiffReport) -> str:
    """The command with the ids of what was compared: `HEAD^1..HEAD` means something else on another machine."""
    start, _, end = report.span.partition("..")
    if not re.fullmatch(r"[0-9a-f]{7}", start) or not re.fullmatch(r"[0-9a-f]{7}", end):
        return report.again
    words = report.again.split(" ")
    return " ".join([*words[:2], report.span, *words[3:]])


def reach_in_words(reach: AttachmentChange) -> str:
    """One way in that opens or closes."""
    if reach.what == "listener":
        return f"attached to {reach.name}" if reach.after else f"no longer attached to {reach.name}"
    if reach.what == "rule":
        return f"{reach.name} is new" if reach.after else f"{reach.name} is gone"
    return f"{reach.what} by {reach.name}: {reach.before} -> {reach.after}"


def gateways_in_words(keys: Iterable[ResourceKey]) -> str:
    """`via Gateway infra/edge`, with several `via Gateways infra/a, infra/b`."""
    names = [key.path for key in keys]
    if not names:
        return ""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"via {'Gateway' if len(names) == 1 else 'Gateways'} {', '.join(names[:3])}{more}"


def alike(subjects: Iterable[SubjectChange]) -> list[list[SubjectChange]]:
    """Subjects that change in the same way together: those that lose a protection first, for what comes late may be
    folded or cut, then in the order of the first of each. Policies that act on one of them alone may differ by name."""
    listed = list(subjects)
    ways = _Ways(listed)
    found: dict[object, list[SubjectChange]] = {}
    for each in listed:
        found.setdefault(ways.of(each), []).append(each)
    return sorted(found.values(), key=lambda group: not loses_protection(group[0]))


def whereabouts(group: Sequence[SubjectChange], most: int, code: Callable[[str], str] = str) -> str:
    """Of several that change alike, who: `shop/a, shop/b`; of many in several namespaces how many are where."""
    namespaces = Counter(each.key.namespace for each in group)
    if len(group) <= most or len(namespaces) == 1:
        more = f" and {len(group) - most} more" if len(group) > most else ""
        return ", ".join(code(each.key.path) for each in group[:most]) + more
    named = sorted(namespaces.items(), key=lambda each: (-each[1], each[0]))
    more = f" and {count(len(named) - most, 'more namespace')}" if len(named) > most else ""
    listed = ", ".join(f"{number} in {code(name)}" for name, number in named[:most])
    return f"{listed}{more}; e.g. {code(group[0].key.path)}"


def renamed_objects(environment: EnvironmentChange) -> list[str]:
    """`Gateway infra/front  (was infra/edge)`, for what is no route: a rename without effect shows nowhere else."""
    return [
        f"{each.key}  (was {each.was.path})"
        for each in environment.objects
        if each.was is not None and not each.key.kind.endswith("Route")
    ]


def own_policies(group: Sequence[SubjectChange]) -> frozenset[ResourceKey]:
    """The policies of the first of several that change alike which the others have others for."""
    if len(group) < 2:
        return frozenset()
    first, second = (frozenset(key for each in _changing(one) for key in _policies(each)) for one in group[:2])
    return first - second


def loses_protection(subject: SubjectChange) -> bool:
    """Whether a setting that the catalog calls security-relevant no longer applies."""
    return any(
        each.change == "removed" and each.name in each.kind.settings.security
        for part in subject.parts
        for each in part.settings
    )


def one_of(responsible: Responsible, own: frozenset[ResourceKey]) -> str:
    """That a policy (one of `own_policies`) stands for those which the others that change alike have."""
    return "its own, e.g. " if responsible.policy in own else ""


class _Ways:
    """What subjects that change alike have in common; of settings that many share it is found out once."""

    def __init__(self, subjects: Sequence[SubjectChange]) -> None:
        self._policies: dict[int, frozenset[ResourceKey]] = {}
        self._said: dict[int, int] = {}
        self._numbers: dict[object, int] = {}
        holders: dict[ResourceKey, ResourceKey] = {}
        shared: set[ResourceKey] = set()
        for subject in subjects:
            for setting in _changing(subject):
                for key in self._of(setting):
                    if holders.setdefault(key, subject.key) != subject.key:
                        shared.add(key)
        self._own = {key for key, holder in holders.items() if key not in shared and key.namespace == holder.namespace}

    def of(self, subject: SubjectChange) -> object:
        parts = tuple(
            (
                part.gateways,
                part.all_rules and bool(part.rules),
                () if part.all_rules else tuple(node.section for node in part.rules),
                tuple(self._number(each) for each in (*part.settings, *part.lost) if each.change != "unchanged"),
            )
            for part in subject.parts
        )
        reach = tuple((each.what, each.name, each.before, each.after) for each in subject.reach)
        alone = subject.key if not parts and not reach else None
        return subject.key.kind, subject.change, parts, reach, alone, subject.was

    def _of(self, setting: SettingChange) -> frozenset[ResourceKey]:
        found = self._policies.get(id(setting))
        if found is None:
            found = self._policies[id(setting)] = frozenset(_policies(setting))
        return found

    def _number(self, setting: SettingChange) -> int:
        """The same for settings that read the same."""
        found = self._said.get(id(setting))
        if found is None:
            values = scalar(setting.before), scalar(setting.after)
            origins = self._who(setting.sources_before), self._who(setting.sources_after)
            by = self._who(each._replace(location=None) for each in setting.by)  # it names each of them elsewhere
            said = str(setting.kind), setting.name, setting.change, values, origins, by, setting.because
            found = self._said[id(setting)] = self._numbers.setdefault(said, len(self._numbers))
        return found

    def _who(self, responsible: Iterable[Responsible]) -> tuple[object, ...]:
        return tuple(
            each.policy.kind if each.policy in self._own else (each.policy, repr(each.location)) for each in responsible
        )


def _changing(subject: SubjectChange) -> Iterator[SettingChange]:
    for part in subject.parts:
        yield from (each for each in part.settings if each.change != "unchanged")
        yield from part.lost


def _policies(setting: SettingChange) -> Iterator[ResourceKey]:
    for responsible in (setting.sources_before, setting.sources_after, setting.by):
        yield from (each.policy for each in responsible)
