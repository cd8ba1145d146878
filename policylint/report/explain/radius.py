"""The change if a policy is deleted, as `diff` tells it: the subjects, folded by what changes for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from policylint.compare import compare, pair_sides
from policylint.compare.change import EnvironmentChange, SettingChange, SubjectChange
from policylint.explain.settings import summary
from policylint.model import ResourceKey
from policylint.model.words import count, verb
from policylint.namedtuple import NamedTuple
from policylint.report.kit.connections import connection_entry
from policylint.report.kit.identity import Names
from policylint.report.kit.placements import placement_entry, placements_in_words
from policylint.simulation import Simulation
from policylint.topology.workloads import workloads_selected


class Line(NamedTuple):
    """A setting that changes: `- jwt  issuer https://…  was infra/edge-jwt`."""

    sign: str
    name: str
    words: str


class FoldedSubjects(NamedTuple):
    """Objects for which the same changes."""

    keys: tuple[ResourceKey, ...]
    lines: tuple[Line, ...]


class Radius(NamedTuple):
    """The change in one environment without a policy.

    Args:
        policy: the one that is taken away.
        folds: the objects that change, and how; those with most objects first.
        workloads: the workloads behind the Services that change.
        evaluated: whether anything is known of what the policy does.
    """

    policy: ResourceKey
    change: EnvironmentChange
    folds: tuple[FoldedSubjects, ...]
    workloads: tuple[ResourceKey, ...]
    evaluated: bool = True

    @property
    def keys(self) -> list[ResourceKey]:
        return sorted({key for fold in self.folds for key in fold.keys})

    def headline(self, of: int) -> str:
        """Return `3 of 4 routes change, 2 Services, 2 workloads`; `nothing changes`."""
        routes = sum(key.kind.endswith("Route") for key in self.keys)
        kinds = Counter(key.kind for key in self.keys if not key.kind.endswith("Route"))
        parts = [f"{routes} of {count(of, 'route')}"] if routes else []
        parts += [count(number, kind) for kind, number in sorted(kinds.items())]
        if self.workloads:
            parts.append(count(len(self.workloads), "workload"))
        if not parts and self.change.connections:
            opened, closed = self.connections
            return f"{count(opened, 'way')} {verb(opened, 'opens')}, {count(closed, 'way')} {verb(closed, 'closes')}"
        if not parts and not self.evaluated:
            return "what changes is not known"
        if not parts:
            return ", ".join(placements_in_words(self.change.placements)) or "nothing changes"
        return f"{', '.join(parts)} {verb(len(self.keys) + len(self.workloads), 'changes')}"

    @property
    def connections(self) -> tuple[int, int]:
        """How many sets of connections open, and how many close."""
        opened = sum(change.change in ("opened", "widened") for change in self.change.connections)
        return opened, len(self.change.connections) - opened

    def entry(self, names: Names) -> dict[str, Any]:
        content = self._settings(names)
        if self.change.connections:
            content["connections"] = [connection_entry(change, names) for change in self.change.connections]
        if self.change.placements:
            content["placements"] = [placement_entry(change, names) for change in self.change.placements]
        return content

    def _settings(self, names: Names) -> dict[str, Any]:
        return {
            "policy": names.key(self.policy),
            "changes": [
                {
                    "objects": names.keys(fold.keys),
                    "settings": [{"change": line.sign, "field": line.name, "words": line.words} for line in fold.lines],
                }
                for fold in self.folds
            ],
            "workloads": names.keys(self.workloads),
            "policies": [
                {"policy": names.key(change.policy), "before": change.before, "after": change.after}
                for change in self.change.policies
                if change.policy != self.policy
            ],
        }


def radius(before: Simulation, after: Simulation, policy: ResourceKey, only: ResourceKey | None = None) -> Radius:
    """Compare an environment with itself without a policy.

    Args:
        only: tell what changes for this object and for nothing else.
    """
    (change,) = compare(pair_sides([before], [after])) or (EnvironmentChange(before.world.name, "", 0),)
    paths = [{node.key for node in context.path} for context in change.contexts]
    through = {key for path in paths if only is None or only in path for key in path}
    folded: dict[tuple[Line, ...], list[ResourceKey]] = defaultdict(list)
    for subject in change.known:
        if subject.key != policy and (only is None or subject.key in through):
            lines = tuple(sorted(_lines(subject), key=lambda line: (line.name, line.sign, line.words)))
            if lines:
                folded[lines].append(subject.key)
    folds = [FoldedSubjects(tuple(sorted(keys)), lines) for lines, keys in folded.items()]
    folds.sort(key=lambda fold: (-len(fold.keys), fold.keys))
    workloads: set[ResourceKey] = set()
    for key in through:
        resource = before.world.get(key) if (key.group, key.kind) == ("", "Service") else None
        if resource is not None:
            workloads.update(workload.key for workload in workloads_selected(before.world, resource))
    state = before.policies.get(policy)
    evaluated = state is None or not state.is_of_shape
    return Radius(policy, change, tuple(folds), tuple(sorted(workloads)), evaluated)


def _lines(subject: SubjectChange) -> set[Line]:
    return {_line(setting) for part in subject.parts for setting in part.settings if setting.change != "unchanged"}


def _line(setting: SettingChange) -> Line:
    was = ", ".join(origin.policy.path for origin in setting.sources_before)
    now = ", ".join(origin.policy.path for origin in setting.sources_after)
    match setting.change:
        case "removed":
            words = f"{summary(setting.before, 48)}  was {was}"
        case "added":
            words = f"{summary(setting.after, 48)}  from {now}"
        case "moved":
            words = f"{summary(setting.after, 48)}  from {now} instead of {was}"
        case _:
            words = f"{summary(setting.before, 32)} -> {summary(setting.after, 32)}  from {now}"
    return Line({"removed": "-", "added": "+"}.get(setting.change, "~"), setting.name, words)
