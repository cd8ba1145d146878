"""Ways to a route that open or close between two sides: listeners, rules, and what its status says of its parents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policylint.compare.change import ContextChange, Reach
from policylint.compare.pairing import Pairing
from policylint.model import Node, ResourceKey
from policylint.simulation import Simulation
from policylint.topology import Condition, RouteState


def reach_of(
    before: Simulation,
    after: Simulation,
    pairing: Pairing,
    key: ResourceKey,
    contexts: Sequence[ContextChange] = (),
) -> tuple[Reach, ...]:
    """What changes about how a route (by its identity after) is reached; rules only where policies act on them."""
    was, now = before.topology.route(pairing.was(key)), after.topology.route(key)
    if was is None or now is None:
        return ()
    rules = tuple(_rules(before, after, pairing, key, contexts)) if contexts else ()
    if _ways(was, pairing) == _ways(now):
        return rules
    return (*_listeners(was, now, pairing), *rules, *_conditions(was, now, pairing))


def _ways(state: RouteState, pairing: Pairing | None = None) -> list[object]:
    """What the status of a route says of its parents, in names of the side after: of most routes it is the same."""
    if pairing is None:
        return [(each.wanted, each.section, each.attached, each.conditions) for each in state.parents]
    return [
        (pairing.key(each.wanted), each.section, pairing.path(each.attached), each.conditions) for each in state.parents
    ]


def _listeners(was: RouteState, now: RouteState, pairing: Pairing) -> Iterator[Reach]:
    old = {pairing.node(node): node for parent in was.parents for node in parent.attached}
    new = {node for parent in now.parents for node in parent.attached}
    for node in sorted(old.keys() - new):
        why = next((each.message for parent in now.parents for each in parent.conditions
                    if each.type == "Accepted" and each.status != "True"), "")  # fmt: skip
        yield Reach("listener", str(old[node]), "attached", "", why)
    for node in sorted(new - old.keys()):
        yield Reach("listener", str(node), "", "attached")


def _rules(
    before: Simulation, after: Simulation, pairing: Pairing, key: ResourceKey, contexts: Iterable[ContextChange]
) -> Iterator[Reach]:
    former, new = rules_of(before, pairing.was(key)), rules_of(after, key)
    if former == new and not pairing.sections(key):
        return
    concerned = {node.section for each in contexts for node in each.path if node.key == key or each.standing == "gone"}
    old = {pairing.node(node): node for node in former}
    for node in sorted(old.keys() - new):
        if old[node].section in concerned:
            yield Reach("rule", old[node].section, "there", "")
    for node in sorted(new - old.keys()):
        if node.section in concerned:
            yield Reach("rule", node.section, "", "there")


def rules_of(simulation: Simulation, key: ResourceKey) -> frozenset[Node]:
    """The rules of a route, unnamed ones included; sections of any other object."""
    topology = simulation.topology
    return frozenset((*topology.sections(key).values(), *topology.synthetic_sections(key).values()))


def _conditions(was: RouteState, now: RouteState, pairing: Pairing) -> Iterator[Reach]:
    """A parent's conditions that change between True and False; an unknown parent is no change by itself."""
    old = {(pairing.key(parent.wanted), parent.section): parent for parent in was.parents}
    for parent in now.parents:
        former = old.get((parent.wanted, parent.section))
        if former is None:
            continue
        states = {each.type: each for each in former.conditions}
        for condition in parent.conditions:
            earlier = states.get(condition.type)
            if earlier is not None and earlier.status != condition.status:
                yield Reach(condition.type, parent.text, _said(earlier), _said(condition), condition.message)


def _said(condition: Condition) -> str:
    return condition.status if condition.reason == condition.type else f"{condition.status} ({condition.reason})"
