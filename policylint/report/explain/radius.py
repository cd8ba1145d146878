"""What changes if a policy is deleted, as `diff` tells it: the subjects, folded by what changes for them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from policylint.compare import compare, pair_sides
from policylint.compare.change import EnvironmentChange, SettingChange, SubjectChange
from policylint.explain.settings import summary
from policylint.model import ResourceKey
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation
from policylint.topology.workloads import workloads_selected

_SIGNS = {"removed": "-", "added": "+", "changed": "~", "moved": "~"}


class Line(NamedTuple):
    """A setting that changes: `- jwt  issuer https://…  was infra/edge-jwt`."""

    sign: str
    name: str
    words: str


class Fold(NamedTuple):
    """Objects for which the same changes."""

    keys: tuple[ResourceKey, ...]
    lines: tuple[Line, ...]


class Radius(NamedTuple):
    """What changes in one environment without a policy.

    Args:
        policy: the one that is taken away.
        folds: who changes, and how; those with most objects first.
        workloads: the workloads behind the Services that change.
    """

    policy: ResourceKey
    change: EnvironmentChange
    folds: tuple[Fold, ...]
    workloads: tuple[ResourceKey, ...]

    @property
    def keys(self) -> list[ResourceKey]:
        return sorted({key for each in self.folds for key in each.keys})

    def headline(self, of: int) -> str:
        """`3 of 4 routes change, 2 Services, 2 workloads`; `nothing changes`."""
        routes = [each for each in self.keys if each.kind.endswith("Route")]
        kinds: dict[str, int] = defaultdict(int)
        for key in self.keys:
            if not key.kind.endswith("Route"):
                kinds[key.kind] += 1
        parts = [f"{len(routes)} of {count(of, 'route')}"] if routes else []
        parts += [count(number, kind) for kind, number in sorted(kinds.items())]
        if self.workloads:
            parts.append(count(len(self.workloads), "workload"))
        if not parts:
            return "nothing changes"
        one = len(self.keys) + len(self.workloads) == 1
        return f"{', '.join(parts)} {'changes' if one else 'change'}"

    def entry(self, names: Names) -> dict[str, Any]:
        return {
            "policy": names.key(self.policy),
            "changes": [
                {
                    "objects": names.keys(fold.keys),
                    "settings": [{"change": each.sign, "field": each.name, "words": each.words} for each in fold.lines],
                }
                for fold in self.folds
            ],
            "workloads": names.keys(self.workloads),
            "policies": [
                {"policy": names.key(each.policy), "before": each.before, "after": each.after}
                for each in self.change.policies
                if each.policy != self.policy
            ],
        }


def radius(before: Simulation, after: Simulation, policy: ResourceKey, only: ResourceKey | None = None) -> Radius:
    """Compare an environment with itself without a policy.

    Args:
        only: tell what changes for this object and for nothing else.
    """
    (change,) = compare(pair_sides([before], [after])) or (EnvironmentChange(before.world.name, "", 0),)
    contexts = [each for each in change.contexts if only is None or any(node.key == only for node in each.path)]
    through = {node.key for each in contexts for node in each.path}
    folded: dict[tuple[Line, ...], list[ResourceKey]] = defaultdict(list)
    for subject in change.known:
        if subject.key != policy and (only is None or subject.key in through):
            lines = tuple(sorted(_lines(subject), key=lambda each: (each.name, each.sign)))
            if lines:
                folded[lines].append(subject.key)
    folds = [Fold(tuple(sorted(keys)), lines) for lines, keys in folded.items()]
    folds.sort(key=lambda each: (-len(each.keys), each.keys))
    workloads: set[ResourceKey] = set()
    for key in through:
        resource = before.world.get(key) if (key.group, key.kind) == ("", "Service") else None
        if resource is not None:
            workloads.update(each.key for each in workloads_selected(before.world, resource))
    return Radius(policy, change, tuple(folds), tuple(sorted(workloads)))


def _lines(subject: SubjectChange) -> set[Line]:
    return {_line(each) for part in subject.parts for each in part.settings if each.change != "unchanged"}


def _line(setting: SettingChange) -> Line:
    was = ", ".join(each.policy.path for each in setting.sources_before)
    now = ", ".join(each.policy.path for each in setting.sources_after)
    sign = _SIGNS.get(setting.change, "~")
    match setting.change:
        case "removed":
            words = f"{summary(setting.before, 48)}  was {was}"
        case "added":
            words = f"{summary(setting.after, 48)}  from {now}"
        case "moved":
            words = f"{summary(setting.after, 48)}  from {now} instead of {was}"
        case _:
            words = f"{summary(setting.before, 32)} -> {summary(setting.after, 32)}  from {now}"
    return Line(sign, setting.name, words)
