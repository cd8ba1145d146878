"""What Open Cluster Management means for one object: where a policy is placed, and what is placed on a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.bindings import is_replica
from policylint.clusters.kinds import BINDING, CLUSTER, PLACES, POLICY, POLICY_SET, has_policies
from policylint.clusters.state import Hub, PolicyPlacement
from policylint.clusters.templates import demanded_objects
from policylint.explain.fact import Fact
from policylint.explain.subject import Subject
from policylint.model import ResourceKey
from policylint.model.words import leading

_MOST = 12
_BAD = frozenset({"misconfigured", "no-clusterset-bound", "no-match", "not-bound", "placement-missing"})


def facts(subject: Subject) -> Iterator[Fact]:
    """Yield what bindings and placements make of an object; nothing for one that they are not about."""
    simulation, key, _ = subject
    if not has_policies(simulation.world):
        return
    hub = simulation.hub
    kind = key[:2]
    if kind == POLICY:
        yield from _of_policy(hub, key)
    elif kind == POLICY_SET:
        yield Fact("bound by", leading((binding.key for binding in hub.bindings_of(key)), _MOST) or "nothing")
    elif kind in PLACES:
        selection = hub.selection(key)
        yield Fact("selects", _clusters(hub, selection.chosen.sure, selection.chosen.maybe, more=selection.more))
        yield Fact("asks for", selection.words)
        if selection.reason:
            yield Fact("because", selection.detail or selection.reason, selection.empty)
        users = [binding.key for binding in hub.bindings if binding.placement and binding.placement.key == key]
        yield Fact("used by", leading(users, _MOST) or "no binding")
    elif kind == BINDING:
        binding = next((binding for binding in hub.bindings if binding.key == key), None)
        if binding is not None and binding.placement is not None:
            selection = hub.selection(binding.placement.key)
            yield Fact("selects", _clusters(hub, selection.chosen.sure, selection.chosen.maybe, more=selection.more))
    elif kind == CLUSTER and key.name in hub.fleet.numbers:
        yield from _of_cluster(hub, hub.fleet.numbers[key.name])


def _of_policy(hub: Hub, key: ResourceKey) -> Iterator[Fact]:
    policy = hub.world.get(key)
    if policy is None:
        return
    if is_replica(hub.world, policy):
        yield Fact("replica", "yes: the hub makes it for one cluster, and overwrites what is written")
        return
    for row in hub.policies[key]:
        if row.nowhere:
            yield Fact("placed", f"nowhere: {row.reason}", row.reason in _BAD)
            continue
        listed = _clusters(hub, row.clusters, row.clusters | row.possible, more=row.more)
        yield Fact(row.action or "placed", listed + (f" ({row.reason})" if row.reason else ""))
    words = hub.policies[key][0].words
    if words:
        yield Fact("asks for", words)
    for other in hub.policies[key][0].via:
        yield Fact("by way of", str(other))
    demanded = list(demanded_objects(policy))
    if demanded:
        yield Fact("demands", leading(demanded, _MOST))


def _of_cluster(hub: Hub, number: int) -> Iterator[Fact]:
    covering = {
        binding.key
        for binding in hub.bindings
        if binding.placement is not None and hub.selection(binding.placement.key).chosen.maybe >> number & 1
    }
    by_action: dict[str, list[PolicyPlacement]] = {}
    perhaps: dict[ResourceKey, PolicyPlacement] = {}
    for rows in hub.policies.values():
        for row in rows:
            if row.clusters >> number & 1:
                by_action.setdefault(row.action or "action unknown", []).append(row)
            elif row.possible >> number & 1:
                perhaps.setdefault(row.policy, row)
    for action, rows_of_action in sorted(by_action.items()):
        for row in rows_of_action:
            bindings = [key for key in row.via if key in covering]
            yield Fact(action, f"{row.policy} by {leading(bindings, 3)}")
    for row in perhaps.values():
        yield Fact("perhaps", f"{row.policy} ({row.reason})")
    if not by_action and not perhaps:
        yield Fact("policies", "none is placed on it")


def _clusters(hub: Hub, sure: int, maybe: int, *, more: bool) -> str:
    """Return clusters in words: those for certain, those perhaps, and that there may be others."""
    parts = [leading(hub.fleet.named(sure), _MOST)] if sure else []
    if maybe & ~sure:
        parts.append(f"perhaps {leading(hub.fleet.named(maybe & ~sure), _MOST)}")
    if more:
        parts.append("perhaps others that were not seen" if sure or maybe else "clusters that were not seen")
    return "; ".join(parts) or "no cluster"
