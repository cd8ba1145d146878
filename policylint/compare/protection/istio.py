"""GWP304 for Istio's AuthorizationPolicies, whose effect no single setting tells: all that reach a workload decide.

DENY and CUSTOM refuse; then, where there is any ALLOW policy, one of its rules must match
(docs/design/implementations/istio.md §1). What weakens: the last ALLOW policy goes; a rule of one demands less than one
did before, or names no client where all named one; what a DENY or CUSTOM policy stopped is stopped no longer. Rules
that let in more clients by name are not reported.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from policylint.compare.contexts import identity
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Cause, Path, WeakenedWay, is_unseen, target_place
from policylint.compare.protection.istio_rules import Permit, covers, lost, names_a_client, permits, single
from policylint.model import Location, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Group
from policylint.simulation import Simulation

KIND = ("security.istio.io", "AuthorizationPolicy")
MOST_CONTEXTS = 200_000
"""Most contexts of one side; those beyond are not compared."""
_EVERYTHING = "everything that no DENY or CUSTOM policy refuses is let in"


class _Rule(NamedTuple):
    """One permit of one rule."""

    policy: Resource
    number: int
    permit: Permit


class _Stack:
    """The policies that reach one workload, by action."""

    __slots__ = ("policies", "rules")

    def __init__(self, policies: list[Resource]) -> None:
        self.policies: dict[str, list[Resource]] = defaultdict(list)
        self.rules: dict[str, list[_Rule]] = defaultdict(list)
        for policy in policies:
            action = text(policy.spec.get("action")) or "ALLOW"
            self.policies[action].append(policy)
            for number, rule in enumerate(sequence(policy.spec.get("rules"))):
                self.rules[action] += [_Rule(policy, number, permit) for permit in permits(mapping(rule))]


def authorization_weakened(sides: Sides) -> Iterator[WeakenedWay]:
    """Yield causes with the contexts they reach."""
    before, after, pairing = sides
    if not any((group.kind.group, group.kind.kind) == KIND for group in before.groups):
        return
    new = {identity(path): group for path, group in _contexts(after)}
    memo: dict[tuple[int, int], list[Cause]] = {}
    for path, group in _contexts(before):
        way = identity(pairing.path(path))
        now = new.get(way)
        if any(after.world.get(node.key) is None for node in way):
            continue
        pair = (id(group), id(now))
        if pair not in memo:
            memo[pair] = [] if _is_same(sides, group, now) else list(_causes(sides, group, now))
        yield from ((cause, cause.void, way) for cause in memo[pair])


def contexts_requiring_tokens(side: Simulation) -> frozenset[Path]:
    """Return the contexts in which an AuthorizationPolicy reads a token; elsewhere a request needs none."""
    identities: set[Path] = set()
    uses_tokens: dict[int, bool] = {}
    for path, group in _contexts(side):
        if id(group) not in uses_tokens:
            stack = _Stack(_policies(group))
            fields = {name for rules in stack.rules.values() for rule in rules for name in rule.permit}
            uses_tokens[id(group)] = any("equestPrincipals" in name or "request.auth" in name for name in fields)
        if uses_tokens[id(group)]:
            identities.add(identity(path))
    return frozenset(identities)


def _contexts(side: Simulation) -> Iterator[tuple[Path, Group]]:
    """Yield the contexts of AuthorizationPolicies, at most MOST_CONTEXTS."""
    groups = (group for group in side.groups if (group.kind.group, group.kind.kind) == KIND)
    return islice(((path, group) for group in groups for path in group.contexts()), MOST_CONTEXTS)


def _policies(group: Group | None) -> list[Resource]:
    """Return the policies of a group's stack."""
    return [] if group is None else [attachment.policy for attachment in group.effective.stack]


def _is_same(sides: Sides, before: Group, after: Group | None) -> bool:
    """Return whether two groups have the same policies with the same specs."""
    old = {sides.pairing.key(policy.key): policy.spec for policy in _policies(before)}
    return old == {policy.key: policy.spec for policy in _policies(after)}


def _causes(sides: Sides, before: Group, after: Group | None) -> Iterator[Cause]:
    """Yield the causes between the policies of one context before and after.

    None where a spec holds a `${VAR}`, unless all policies are gone, or where a policy's targets were not seen.
    """
    old_policies, new_policies = _policies(before), _policies(after)
    specs = (json.dumps(policy.spec, default=str) for policy in (*old_policies, *new_policies))
    if new_policies and any("${" in spec for spec in specs):
        return
    if is_unseen(sides, (policy.key for policy in old_policies), (policy.key for policy in new_policies)):
        return
    old, new = _Stack(old_policies), _Stack(new_policies)
    refuses = bool(new.rules["DENY"] or new.policies["CUSTOM"])
    if old.policies["ALLOW"] and not new.policies["ALLOW"]:
        yield _opened(sides, old, refuses=refuses)
    elif old.policies["ALLOW"]:
        yield from _widened(sides, old, new, refuses=refuses)
    # Where the first ALLOW policies come, requests that none of them names are refused, whatever DENY stopped before.
    if old.policies["ALLOW"] or not new.policies["ALLOW"]:
        for action in ("DENY", "CUSTOM"):
            yield from _stopped(sides, old, new, action)


def _opened(sides: Sides, old: _Stack, *, refuses: bool) -> Cause:
    """Return the cause that the last ALLOW policy is gone."""
    policies = old.policies["ALLOW"]
    owners = tuple(sorted(policy.key for policy in policies))
    left = _EVERYTHING if refuses else "everything is let in"
    location = next((place for policy in policies if (place := _left(sides, policy)) is not None), None)
    return Cause(
        "the last ALLOW",
        "is gone",
        left,
        owners,
        void="" if refuses else "authorization",
        location=location,
        before=policies[0].name_location,
        fix="keep an ALLOW policy: one without rules lets nobody in",
    )


def _widened(sides: Sides, old: _Stack, new: _Stack, *, refuses: bool) -> Iterator[Cause]:
    """Yield a cause for each ALLOW rule that lets in clients that no rule let in before."""
    former = old.rules["ALLOW"]
    all_named = all(names_a_client(old_rule.permit) for old_rule in former)
    reported: set[tuple[ResourceKey, int]] = set()
    for rule in new.rules["ALLOW"]:
        if any(covers(old_rule.permit, rule.permit) for old_rule in former):
            continue
        if (rule.policy.key, rule.number) in reported:
            continue
        # Several old rules together may cover it: value by value.
        if all(any(covers(old_rule.permit, part) for old_rule in former) for part in single(rule.permit)):
            continue
        narrower = [old_rule for old_rule in former if covers(rule.permit, old_rule.permit)]
        narrower.sort(key=lambda old_rule: sides.pairing.key(old_rule.policy.key) != rule.policy.key)
        losses = (list(lost(rule.permit, old_rule.permit)) for old_rule in narrower)
        lost_fields = next(filter(None, losses), [])
        if not lost_fields and (not all_named or names_a_client(rule.permit)):
            continue
        reported.add((rule.policy.key, rule.number))
        says = "it lets in whom no rule let in before"
        if not rule.permit:
            says = _EVERYTHING if refuses else "everything is let in"
        yield Cause(
            f"spec.rules[{rule.number}]",
            f"no longer asks for {', '.join(lost_fields)}" if lost_fields else "names no client",
            says,
            (rule.policy.key,),
            void="" if rule.permit or refuses else "authorization",
            location=_rule_at(rule),
            before=_rule_at(narrower[0]) if lost_fields else None,
            fix="name in `from` or `when` who is let in",
        )


def _stopped(sides: Sides, old: _Stack, new: _Stack, action: str) -> Iterator[Cause]:
    """Yield a cause for each DENY or CUSTOM rule whose requests are stopped no longer."""
    standing = [rule.permit for rule in new.rules[action]]
    reported: set[tuple[ResourceKey, int]] = set()
    for rule in old.rules[action]:
        parts = [rule.permit] if any(covers(permit, rule.permit) for permit in standing) else single(rule.permit)
        if all(any(covers(permit, part) for permit in standing) for part in parts):
            continue
        if (rule.policy.key, rule.number) in reported:
            continue
        reported.add((rule.policy.key, rule.number))
        state = sides.after.policies.get(sides.pairing.key(rule.policy.key))
        stands = state is not None and text(state.policy.spec.get("action")) == action
        does = "refused is no longer refused" if action == "DENY" else "sent to an authorizer is no longer sent there"
        yield Cause(
            f"spec.rules[{rule.number}]",
            f"{'matches less' if stands else 'is gone'} as {action}",
            f"what it {does}",
            (rule.policy.key,),
            location=_left(sides, rule.policy),
            before=_rule_at(rule),
            fix="keep the rule, here or in another policy",
        )


def _rule_at(rule: _Rule) -> Location:
    """Return the location of a rule."""
    return rule.policy.location("spec", "rules", rule.number)


def _left(sides: Sides, policy: Resource) -> Location | None:
    """Return where to edit a policy of before that is still there: its rules, its action, else its targets."""
    state = sides.after.policies.get(sides.pairing.key(policy.key))
    if state is None:
        return None
    for name in ("rules", "action"):
        if name in state.policy.spec and state.policy.spec.get(name) != policy.spec.get(name):
            return state.policy.location("spec", name, key=True)
    return target_place(state)
