"""GWP304 for targets that no manifest shows: a policy that was for them is gone, is for others, or asks for less.

No way to such a target was seen, so that nothing can be compared at it. That the policy was there, and a release that
the target is named after, is the evidence that it is. Where what may make it changes, too, it may have gone with the
policy: then it stays *unknown*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import path
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, WeakenedWay, target_place
from policylint.compare.protection.extensions import nearest
from policylint.compare.protection.spec import Weakening, weakenings
from policylint.compare.unknown import makers
from policylint.model import ResourceKey
from policylint.policy.asking import SEVERITY_OF_LOSS, Ask, asks, strongest
from policylint.policy.results import PolicyState, Target
from policylint.topology import whole
from policylint.trace import PURPOSES


def unseen_weakened(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield what asks for less of targets that were not seen, before and after."""
    moving: frozenset[str] | None = None
    for key, was in sides.before.policies.items():
        now = sides.after.policies.get(sides.pairing.key(key))
        if now is not None and now.policy.spec == was.policy.spec:
            continue
        for target in _unseen(was):
            if moving is None:
                moving = _namespaces_of_changed_makers(sides)
            wanted = sides.pairing.key(target.key)
            maker = sides.after.world.unseen.likely(wanted)
            if maker and wanted.namespace not in moving and wanted not in sides.after.world.resources:
                yield from _ways(sides, was, target, wanted, maker)


def _unseen(state: PolicyState) -> Iterator[Target]:
    """Yield the named targets of a policy that were not seen."""
    if not state.invalid:
        for target in state.targets:
            if target.resolution.unknown and not target.nodes and target.selector is None and target.key.name:
                yield target


def _namespaces_of_changed_makers(sides: Sides) -> frozenset[str]:
    """Return where what is not rendered comes, goes or says something else, by the namespace of its objects."""
    former, latter = makers(sides.before), makers(sides.after)
    changed = {
        key for key in former if (now := latter.get(sides.pairing.key(key))) is None or now.spec != former[key].spec
    }
    return frozenset(key.namespace for key in changed | (latter.keys() - {sides.pairing.key(key) for key in former}))


def _ways(sides: Sides, was: PolicyState, target: Target, wanted: ResourceKey, maker: str) -> Iterator[WeakenedWay]:
    before = spec_of(was)
    left = [state for state in sides.after.policies.values() if _is_for(state, wanted, target.section)]
    way = (whole(wanted),)
    ground = f"{wanted} was not seen: {maker}"
    for purpose in PURPOSES:
        own = [ask for ask in asks(was.kind, before) if ask.purpose == purpose]
        kept = [ask for state in left for ask in asks(state.kind, spec_of(state)) if ask.purpose == purpose]
        if own and not kept and not any(state.invalid for state in left):
            cause = _lost(sides, was, own)._replace(ground=ground)
            turned_away = strongest(own)
            void = purpose if turned_away == "without" else ""
            yield cause._replace(severity=SEVERITY_OF_LOSS[turned_away]), void, way
    same = next((state for state in left if state.kind is was.kind and not state.invalid), None)
    if same is None:
        return
    for weakening in weakenings(was.kind.weaker, before, spec_of(same)):
        if not weakening.weak.opens or weakening.weak.presence != "demands":
            void = weakening.weak.opens if weakening.opens else ""
            yield weaker(was, same, weakening)._replace(ground=ground), void, way


def _is_for(state: PolicyState, wanted: ResourceKey, section: str) -> bool:
    return any(target.key == wanted and target.section in ("", section) for target in state.targets)


def spec_of(state: PolicyState | None) -> Mapping[str, Any]:
    """Return what a policy sets, of defaults and overrides all."""
    found: dict[str, Any] = {}
    for declared in () if state is None else state.declared:
        found |= declared.proper
    return found


def _lost(sides: Sides, was: PolicyState, own: list[Ask]) -> Cause:
    names = ", ".join(ask.name for ask in own)
    now = sides.after.policies.get(sides.pairing.key(was.key))
    return Cause(
        names,
        "is gone" if len(own) == 1 else "are gone",
        "it is asked for no longer" if now is None else "and it is for something else now",
        (was.key,),
        location=None if now is None else target_place(now),
        before=was.policy.name_location,
        fix=f"keep {was.key}, or say what takes its place",
        own=True,
        settings=frozenset(ask.path.partition(".")[0] for ask in own),
    )


def weaker(was: PolicyState, now: PolicyState, weakening: Weakening) -> Cause:
    """Return the cause for a weakening between two states of a policy by themselves."""
    old, new = ((*state.declared[0].prefix, *at) for state, at in ((was, weakening.before), (now, weakening.after)))
    field = path(weakening.after)
    return Cause(
        field,
        weakening.change,
        weakening.weak.says,
        (now.key,),
        location=nearest(now.policy, new),
        before=nearest(was.policy, old),
        fix=f"keep `{field}` as it was",
        severity=weakening.weak.severity,
        own=True,
        settings=frozenset({weakening.weak.path.partition(".")[0]}),
    )


__all__ = ["spec_of", "unseen_weakened", "weaker"]
