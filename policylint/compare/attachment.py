"""Ways to a route that open or close between two sides: listeners, rules, and its status per parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policylint.compare.change import AttachmentChange, ContextChange
from policylint.compare.pairing import Pairing, Sides
from policylint.model import Node, ResourceKey
from policylint.simulation import Simulation
from policylint.topology import Condition, RouteState
from policylint.topology.state import rejection


def attachment_changes(
    sides: Sides, key: ResourceKey, contexts: Sequence[ContextChange] = ()
) -> tuple[AttachmentChange, ...]:
    """Return what changes about how a route (by its identity after) is reached.

    Rules are compared only where policies act on them.
    """
    before, after, pairing = sides
    was, now = before.topology.route(pairing.was(key)), after.topology.route(key)
    if was is None or now is None:
        return ()
    rules = tuple(_rules(sides, key, contexts)) if contexts else ()
    # The status says the same of the parents on both sides for most routes, so that is compared first.
    former = [
        (pairing.key(parent.wanted), parent.section, pairing.path(parent.attached), parent.conditions)
        for parent in was.parents
    ]
    if former == [(parent.wanted, parent.section, parent.attached, parent.conditions) for parent in now.parents]:
        return rules
    return (*_listeners(was, now, pairing), *rules, *_conditions(was, now, pairing))


def _listeners(was: RouteState, now: RouteState, pairing: Pairing) -> Iterator[AttachmentChange]:
    """Yield the listeners that a route is no longer attached to, with the reason, and its new ones."""
    old = {pairing.node(node): node for node in was.attached}
    new = now.attached
    for node in sorted(old.keys() - new):
        refusals = filter(None, (rejection(parent.conditions) for parent in now.parents))
        why = next((refusal.message for refusal in refusals), "")
        yield AttachmentChange("listener", str(old[node]), "attached", "", why)
    for node in sorted(new - old.keys()):
        yield AttachmentChange("listener", str(node), "", "attached")


def _rules(sides: Sides, key: ResourceKey, contexts: Iterable[ContextChange]) -> Iterator[AttachmentChange]:
    """Yield the rules that are gone and the new ones, if policies act on them."""
    before, after, pairing = sides
    former, new = rules_of(before, pairing.was(key)), rules_of(after, key)
    if former == new and not pairing.sections(key):
        return
    sections = {
        node.section for context in contexts for node in context.path if node.key == key or context.standing == "gone"
    }
    old = {pairing.node(node): node for node in former}
    for node in sorted(old.keys() - new):
        if old[node].section in sections:
            yield AttachmentChange("rule", old[node].section, "there", "")
    for node in sorted(new - old.keys()):
        if node.section in sections:
            yield AttachmentChange("rule", node.section, "", "there")


def rules_of(simulation: Simulation, key: ResourceKey) -> frozenset[Node]:
    """Return the rules of a route, unnamed ones included; the sections of any other object."""
    topology = simulation.topology
    return frozenset((*topology.sections(key).values(), *topology.synthetic_sections(key).values()))


def _conditions(was: RouteState, now: RouteState, pairing: Pairing) -> Iterator[AttachmentChange]:
    """Yield a parent's conditions that change between True and False; an unknown parent is no change by itself."""
    old = {(pairing.key(parent.wanted), parent.section): parent for parent in was.parents}
    for parent in now.parents:
        former = old.get((parent.wanted, parent.section))
        if former is None:
            continue
        states = {condition.type: condition for condition in former.conditions}
        for condition in parent.conditions:
            earlier = states.get(condition.type)
            if earlier is not None and {earlier.status, condition.status} == {"True", "False"}:
                yield AttachmentChange(condition.type, parent.text, _said(earlier), _said(condition), condition.message)


def _said(condition: Condition) -> str:
    """Return a condition in words: `False (NoMatchingParent)`."""
    return condition.status if condition.reason == condition.type else f"{condition.status} ({condition.reason})"
