"""Policies that name an object, or nearly, and do not act on it: each with the reason."""

from __future__ import annotations

from policylint.model import Location, Node, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation


class Unattached(NamedTuple):
    """A policy that does not act on an object.

    Args:
        why: a clause: `not attached: no HTTPRoute "chekout"`, `refused: shop/a claimed it first`.
        location: where it names the object.
    """

    policy: ResourceKey
    why: str
    location: Location


def unattached(simulation: Simulation, key: ResourceKey, node: Node) -> list[Unattached]:
    """Every policy that wants to act on an object and cannot, sorted."""
    found = []
    for state in simulation.policies.values():
        for target in state.targets:
            why = _why(state, target, key, node)
            if why:
                found.append(Unattached(state.key, why, target_place(state, target)))
    return sorted(set(found), key=lambda each: (each.policy, each.why))


def target_place(state: PolicyState, target: Target) -> Location:
    """Where a policy names a target: its name, for a selector its labels; where lint points, too."""
    value: object = state.policy.body
    for step in target.pointer:
        value = sequence(value)[step] if isinstance(step, int) else mapping(value).get(step)
    written = mapping(value)
    names = ("name", "selector", "matchLabels", "matchExpressions", "kind")
    return state.policy.location(*target.pointer, *[each for each in names if each in written][:1])


def _why(state: PolicyState, target: Target, key: ResourceKey, node: Node) -> str:
    names = target.key == key or any(each.key == key for each in target.nodes)
    if names and target.problem:
        return f"not attached: {target.detail or target.problem}"
    if names and state.invalid_code and (not node.section or node in target.nodes or not target.section):
        return f"invalid: {state.invalid}"
    if names:
        refusal = next((each for each in state.refused if each.attachment.node.key == key), None)
        return "" if refusal is None else f"refused: {refusal.by.path} claimed it first"
    if target.problem != "not-found" or target.selector is not None or target.resolution.unknown:
        return ""
    missing = target.key
    if (missing.group, missing.kind, missing.namespace) != (key.group, key.kind, key.namespace):
        return ""
    return f'not attached: it names "{missing.name}"' if _alike(missing.name, key.name) else ""


def _alike(one: str, other: str) -> bool:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio() >= 0.8
