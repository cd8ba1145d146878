"""The third answer: what changes for objects that no manifest shows cannot be told, and is said instead of left out."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.compare.change import Subject
from policylint.compare.pairing import differs
from policylint.compare.sides import Sides
from policylint.model import Resource, ResourceKey
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation


def unknown_subjects(sides: Sides, known: set[ResourceKey]) -> list[Subject]:
    """Targets of changed policies that were not seen, and changed charts that may make routes, sorted."""
    found: dict[ResourceKey, Subject] = {}
    for subject in (*_targets(sides), *_charts(sides)):
        if subject.key not in known:
            found.setdefault(subject.key, subject)
    return [found[key] for key in sorted(found)]


def _targets(sides: Sides) -> Iterator[Subject]:
    before, after, pairing = sides
    for key, state in after.policies.items():
        was = before.policies.get(pairing.was(key))
        if was is None or differs(was.policy, state.policy):
            yield from _of_policy(state, after)
            if was is not None:
                yield from _of_policy(was, before)
    for key, state in before.policies.items():
        if pairing.key(key) not in after.policies:
            yield from _of_policy(state, before)


def _of_policy(state: PolicyState, side: Simulation) -> Iterator[Subject]:
    for target in state.targets:
        if target.resolution.unknown and not target.nodes and target.selector is None:
            reason = f"{state.key} changes; {target.resolution.reason}"
            location = state.policy.location(*target.pointer)
            yield Subject(side.world.name, target.key, "unknown", location, reason=reason)


def _charts(sides: Sides) -> Iterator[Subject]:
    """Releases and applications whose output was not seen on one of the sides, and that are not the same on both."""
    before, after, pairing = sides
    for side, other, translate in ((after, before, pairing.was), (before, after, pairing.key)):
        makers = _makers(side)
        for key in makers:
            twin = other.world.get(translate(key))
            if twin is None or differs(twin, makers[key]):
                change = "is new" if twin is None and side is after else "is gone" if twin is None else "changes"
                reason = f"{key.kind} {change} and is not rendered"
                yield Subject(after.world.name, key, "unknown", makers[key].name_location, reason=reason)


def _makers(simulation: Simulation) -> dict[ResourceKey, Resource]:
    """Objects that the reasons for unseen routes name."""
    reasons = simulation.world.unseen.of_routes()
    if not reasons:
        return {}
    names = {" ".join(reason.split(" ", 2)[:2]) for reason in reasons}
    return {key: each for key, each in simulation.world.resources.items() if str(key) in names}
