"""What Open Cluster Management means for one object: where a policy is placed, and what is placed on a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.bindings import exclusions, is_replica, members, resolve
from policylint.clusters.conflicts import conflicts
from policylint.clusters.fleet import left_while
from policylint.clusters.kinds import BINDING, CLUSTER, PLACEMENT, PLACES, POLICY, POLICY_SET, has_policies
from policylint.clusters.placements import misconfigured
from policylint.clusters.state import NOWHERE, Hub, PolicyPlacement
from policylint.clusters.templates import (
    ENFORCE,
    INFORM_ONLY,
    demanded_objects,
    dependencies,
    policy_templates,
    template_texts,
)
from policylint.explain.fact import Fact
from policylint.explain.subject import Subject
from policylint.model import Resource, ResourceKey, text
from policylint.model.words import leading, series

_MOST = 12
_BAD = (NOWHERE - {""}) | {"not-bound", "refused"}


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
        yield from _of_set(hub, key)
    elif kind in PLACES:
        selection = hub.selection(key)
        yield Fact("selects", _clusters(hub, selection.chosen.sure, selection.chosen.maybe, more=selection.more))
        yield Fact("asks for", selection.words)
        if selection.reason:
            yield Fact("because", selection.detail or selection.reason, selection.empty)
        yield from _left_while(hub, key)
        users = [binding.key for binding in hub.bindings if binding.placement and binding.placement.key == key]
        yield Fact("used by", leading(users, _MOST) or "no binding")
    elif kind == BINDING:
        binding = next((binding for binding in hub.bindings if binding.key == key), None)
        if binding is not None and binding.placement is not None:
            selection = hub.selection(binding.placement.key)
            yield Fact("selects", _clusters(hub, selection.chosen.sure, selection.chosen.maybe, more=selection.more))
            yield Fact("subjects", leading((subject.key for subject in binding.subjects), _MOST) or "nothing")
            if binding.enforces:
                yield Fact("override", "its policies enforce there")
            if binding.restricted:
                yield Fact("restricted", "it places nothing itself, and overrides where another binding places")
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
    yield from _left_while(hub, *hub.policies[key][0].via)
    yield from _exclusions(hub, key)
    yield from _actions(hub, policy)
    yield from _dependencies(hub, policy)
    demanded = list(demanded_objects(policy))
    if demanded:
        yield Fact("demands", leading(demanded, _MOST))
    if any("{{hub" in written for _, written in template_texts(policy)):
        yield Fact("templates", "the hub fills in {{hub … hub}}, which is not evaluated")


def _of_set(hub: Hub, key: ResourceKey) -> Iterator[Fact]:
    policy_set = hub.world.get(key)
    yield Fact("bound by", leading((binding.key for binding in hub.bindings_of(key)), _MOST) or "nothing")
    if policy_set is None:
        return
    cover = hub.coverage(key)
    if cover.bound:
        yield Fact("placed", _clusters(hub, cover.placed.sure, cover.placed.maybe, more=cover.more))
    words = " or ".join(filter(None, cover.words))
    if words:
        yield Fact("asks for", words)
    listed = [member.key for member in members(policy_set)]
    yield Fact("policies", leading((key.name for key in listed), _MOST) or "none")
    for exclusion in exclusions(policy_set):
        yield Fact("excludes", f"{exclusion.policy.name} from {leading(exclusion.clusters, _MOST) or 'no cluster'}")


def _left_while(hub: Hub, *keys: ResourceKey) -> Iterator[Fact]:
    """Yield while what Placements have no toleration for: their policies are taken away, and come back."""
    by_condition: dict[tuple[str, int], list[str]] = {}
    for placement in (hub.world.get(key) for key in keys if key[:2] == PLACEMENT):
        conditions = left_while(placement) if placement is not None and not misconfigured(placement) else []
        for seconds in dict.fromkeys(seconds for _, seconds in conditions):
            words = series([name for name, lasting in conditions if lasting == seconds], word="or")
            if placement is not None:
                by_condition.setdefault((words, seconds), []).append(placement.key.name)
    for (words, seconds), names in by_condition.items():
        is_one, who = len(names) == 1, series(names)
        then = f"which {who} {'does' if is_one else 'do'} not tolerate"
        if seconds:
            then = f"for more than {seconds} s, which {who} {'tolerates' if is_one else 'tolerate'} so long"
        yield Fact("leaves", f"a cluster while it is {words}{' ' if seconds else ', '}{then}")


def _exclusions(hub: Hub, key: ResourceKey) -> Iterator[Fact]:
    for policy_set in hub.sets_of(key):
        for exclusion in exclusions(policy_set):
            if exclusion.policy == key and exclusion.clusters:
                yield Fact("excluded", f"from {leading(exclusion.clusters, _MOST)} by {policy_set.key}")


def _actions(hub: Hub, policy: Resource) -> Iterator[Fact]:
    """Yield who decides on the action: an override of a binding, the Policy, or each template."""
    own = text(policy.spec.get("remediationAction"))
    subjects = (policy.key, *(policy_set.key for policy_set in hub.sets_of(policy.key)))
    overriding = [binding.key for subject in subjects for binding in hub.bindings_of(subject) if binding.enforces]
    if overriding and own.lower() != ENFORCE:
        yield Fact("override", f"{own or 'per template'} -> enforce by {leading(dict.fromkeys(overriding), 3)}")
    for template in policy_templates(policy):
        if template.action == INFORM_ONLY:
            yield Fact("template", f"{template.name}: InformOnly, whatever the Policy says")
        elif template.action and not own:
            limit = " where no binding overrides it" if overriding and template.action != ENFORCE else ""
            yield Fact("template", f"{template.name}: {template.action}{limit}")
        elif template.action not in ("", own.lower()) and not (overriding and template.action == ENFORCE):
            yield Fact("template", f"{template.name}: its {template.action} does not count, the Policy says {own}")


def _dependencies(hub: Hub, policy: Resource) -> Iterator[Fact]:
    """Yield what a policy waits for, and where that is not placed."""
    here = hub.policies[policy.key]
    for dependency in dependencies(policy):
        rows = hub.policies.get(dependency.key)
        if rows is None:
            resolution = resolve(hub.world, dependency.key)
            state = "" if resolution.found else ": it is not there" if resolution.missing else ": it was not seen"
            yield Fact("waits for", f"{dependency.key}{state}", resolution.missing)
            continue
        lacking = 0
        for row in here:
            lacking |= row.clusters
        for row in rows:
            lacking &= ~(row.clusters | row.possible)
        nowhere = all(row.nowhere for row in rows)
        state = f": not placed on {leading(hub.fleet.named(lacking), _MOST)}" if lacking else ""
        yield Fact("waits for", f"{dependency.key}{': placed nowhere' if nowhere else state}", nowhere or bool(lacking))
    for key in hub.policies:
        other = hub.world.resources[key]
        if key != policy.key and any(dependency.key == policy.key for dependency in dependencies(other)):
            yield Fact("waited for by", str(key))


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
    for policy_set in hub.world.of_kind(*POLICY_SET):
        for exclusion in exclusions(policy_set):
            if hub.fleet.names[number] in exclusion.clusters:
                yield Fact("excluded", f"{exclusion.policy} by {policy_set.key}")
    for conflict in conflicts(hub):
        if conflict.clusters >> number & 1:
            first, second = conflict.first.template.policy.key, conflict.second.template.policy.key
            yield Fact("conflict", f"{first} and {second} on {conflict.second.what}: {conflict.words}", bad=True)


def _clusters(hub: Hub, sure: int, maybe: int, *, more: bool) -> str:
    """Return clusters in words: those for certain, those perhaps, and that there may be others."""
    parts = [leading(hub.fleet.named(sure), _MOST)] if sure else []
    if maybe & ~sure:
        parts.append(f"perhaps {leading(hub.fleet.named(maybe & ~sure), _MOST)}")
    if more:
        parts.append("perhaps others that were not seen" if sure or maybe else "clusters that were not seen")
    return "; ".join(parts) or "no cluster"
