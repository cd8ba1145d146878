"""Fields of a route's rules that win over settings of policies: the route is the owner, the policy lost them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from policylint.documents import Pointer
from policylint.model import Node, ResourceKey, mapping, sequence, value_at
from policylint.policy.paths import ChosenPaths, ListedPaths, Path
from policylint.policy.results import Effective, Group, Losses, Lost, holds
from policylint.topology import Topology
from policylint.topology.routes import rules

_FILTERS = {
    "cors": "CORS",
    "externalAuth": "ExternalAuth",
    "requestHeaderModifier": "RequestHeaderModifier",
    "responseHeaderModifier": "ResponseHeaderModifier",
}
"""The fields of filters, and the types of the filters that have them."""
OwnFields = Mapping[str, Pointer]
"""Field of a rule (`timeouts.request`, `retry`) or of its filters (`cors`) → the setting that it replaces.

A field that counts only where another one is not set says so: `timeouts.backendRequest without retry`. Of two fields
that replace one setting the later one counts.
"""


def with_own_fields(
    groups: list[Group], fields: OwnFields, topology: Topology, locking: Collection[ResourceKey] = ()
) -> list[Group]:
    """Return groups in which every rule that has some of the fields has a group of its own.

    Args:
        locking: policies whose settings no rule replaces.
    """
    own = dict(_own(fields, topology)) if fields else {}
    return list(chain.from_iterable(_split(group, own, locking) for group in groups)) if own else groups


def _own(fields: OwnFields, topology: Topology) -> Iterator[tuple[Node, dict[Pointer, Any]]]:
    """Yield the rules with such fields, and the values by the setting that they replace."""
    starts = {"filters" if name in _FILTERS else name.split(".")[0].split(" ")[0] for name in fields}
    for state in topology.routes:
        for rule in rules(state.route):
            if starts.isdisjoint(rule.body):
                continue
            values = {at: value for name, at in fields.items() if (value := _value(rule.body, name)) is not None}
            if values:
                yield rule.node, values


def _value(rule: Mapping[str, Any], name: str) -> Any:
    if name in _FILTERS:
        filters = (mapping(route_filter) for route_filter in sequence(rule.get("filters")))
        return next((filter_.get(name) for filter_ in filters if filter_.get("type") == _FILTERS[name]), None)
    name, _, other = name.partition(" without ")
    return None if other and value_at(rule, (other,)) is not None else value_at(rule, tuple(name.split(".")))


def _split(
    group: Group, own: Mapping[Node, Mapping[Pointer, Any]], locking: Collection[ResourceKey]
) -> Iterator[Group]:
    """Yield a group without the contexts through rules with fields of their own, then one for each of these rules."""
    locked = [place for place, owner in group.effective.owners.items() if owner in locking]
    taken = {
        node: {
            at: value
            for at, value in own[node].items()
            if holds(group.effective.spec, at) and not any(place[: len(at)] == at for place in locked)
        }
        for node in sorted(group.nodes)
        if node in own
    }
    taken = {node: values for node, values in taken.items() if values}
    if not taken or group.effective.refused is not None:
        yield group
        return
    rest, through = parted(group, taken)
    if rest is not None:
        yield rest
    for node, of_rule in through.items():
        yield of_rule._replace(effective=replaced(group.effective, node.key, taken[node]))


def parted(group: Group, nodes: Collection[Node]) -> tuple[Group | None, dict[Node, Group]]:
    """Return a group without the contexts through some nodes, None where none is left, and one for each of these."""
    through: dict[Node, list[Path]] = {node: [] for node in nodes}
    for path in group.contexts():
        for node in path:
            if node in through:
                through[node].append(path)
    rest = narrowed(group, through.keys().isdisjoint)
    return rest, {
        node: group._replace(contexts=ListedPaths(paths), nodes=_nodes_of(group, paths))
        for node, paths in through.items()
        if paths
    }


def narrowed(group: Group, chosen: Callable[[Path], bool]) -> Group | None:
    """Return a group of the chosen contexts alone, None where there are none."""
    kept = _nodes_of(group, filter(chosen, group.contexts()))
    return group._replace(contexts=ChosenPaths(group.contexts, chosen), nodes=kept) if kept else None


def _nodes_of(group: Group, paths: Iterable[Path]) -> Mapping[Node, frozenset[ResourceKey]]:
    """Return the nodes of a group, with their policies, that lie on some of its paths."""
    return {node: group.nodes[node] for node in dict.fromkeys(chain.from_iterable(paths)) if node in group.nodes}


def replaced(effective: Effective, owner: ResourceKey, values: Mapping[Pointer, Any]) -> Effective:
    """Return an effective policy in which values of another owner stand, and what they replaced is lost to it.

    Args:
        values: by place; None takes away what stands there.
    """
    spec: Mapping[str, Any] = effective.spec
    owners: dict[Pointer, ResourceKey] = dict(effective.owners)
    lost: list[Lost] = list(effective.lost)
    for at, value in values.items():
        spec = _with(spec, at, value)
        for leaf in [leaf for leaf in owners if leaf[: len(at)] == at or at[: len(leaf)] == leaf]:
            location = effective.location_of(leaf)
            if location is not None:
                lost.append(Lost(leaf, owners[leaf], (owner,), location, replaced=value is not None))
            del owners[leaf]
        if value is not None:
            owners[at] = owner
    return effective._replace(spec=spec, owners=owners, lost=Losses(lost))


def without_effect(effective: Effective, at: Pointer) -> Effective:
    """Return an effective policy without what stands at a place: it is lost to nobody, as it does nothing."""
    gone = effective.leaves(at)
    owners = {leaf: owner for leaf, owner in effective.owners.items() if leaf not in gone}
    locations = ((leaf, effective.location_of(leaf)) for leaf in gone)
    lost = [Lost(leaf, effective.owners[leaf], (), location) for leaf, location in locations if location is not None]
    return effective._replace(
        spec=_with(effective.spec, at, None), owners=owners, lost=Losses((*effective.lost, *lost))
    )


def _with(value: Mapping[str, Any], pointer: Sequence[str | int], new: Any) -> dict[str, Any]:
    """Return a copy of a mapping with another value at a pointer; for None without one, nor the mappings it leaves."""
    step, *rest = pointer
    inner = _with(mapping(value.get(str(step))), rest, new) if rest else new
    if inner is None or (rest and not inner):
        return {name: own for name, own in value.items() if name != step}
    return {**value, str(step): inner}
