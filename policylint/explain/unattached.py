"""Policies that name an object, or nearly name it, and do not act on it, each with the reason."""

from __future__ import annotations

from policylint.model import Location, Node, ResourceKey, mapping, value_at
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
    """Return every policy that is meant to act on an object and cannot, sorted."""
    entries = {
        Unattached(state.key, why, target_place(state, target))
        for state in simulation.policies.values()
        for target in state.targets
        if (why := _why(state, target, key, node))
    }
    return sorted(entries, key=lambda entry: (entry.policy, entry.why))


def target_place(state: PolicyState, target: Target) -> Location:
    """Return where a policy names a target: its name, or a selector's labels. Lint points there, too."""
    distinguishing = ("name", "selector", "matchLabels", "matchExpressions", "kind")
    reference = mapping(value_at(state.policy.body, target.pointer))
    return state.policy.location(*target.pointer, *[name for name in distinguishing if name in reference][:1])


def _why(state: PolicyState, target: Target, key: ResourceKey, node: Node) -> str:
    """Return why a policy with this target does not act on an object, "" if it does or means another object."""
    is_named = target.key == key or any(named_node.key == key for named_node in target.nodes)
    if is_named and target.problem:
        return f"not attached: {target.detail or target.problem}"
    if is_named and state.invalid_code and (not node.section or node in target.nodes or not target.section):
        return f"invalid: {state.invalid}"
    if is_named:
        refusal = next((candidate for candidate in state.refused if candidate.attachment.node.key == key), None)
        return "" if refusal is None else f"refused: {refusal.by.path} claimed it first"
    if target.problem != "not-found" or target.selector is not None or target.resolution.unknown:
        return ""
    absent = target.key
    if (absent.group, absent.kind, absent.namespace) != (key.group, key.kind, key.namespace):
        return ""
    return f'not attached: its target "{absent.name}" does not exist' if _alike(absent.name, key.name) else ""


def _alike(left: str, right: str) -> bool:
    """Return whether two names look like spellings of each other."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, left, right).ratio() >= 0.8
