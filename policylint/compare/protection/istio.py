"""GWP304 for Istio's AuthorizationPolicies, whose effect no setting tells: all that reach a workload are asked.

DENY and CUSTOM refuse, then, where there is any ALLOW policy, one of its rules must match
(docs/design/implementations/istio.md §1). What weakens: the last ALLOW policy goes; a rule of one asks for less than
one did before, or names no client where all named one; what a DENY or CUSTOM policy stopped is stopped no longer. Rules
that let in somebody more by name are silent.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from policylint.checks.kit.locations import target_at
from policylint.compare.contexts import identity
from policylint.compare.protection.cause import Cause, Path, Weaker, is_unseen
from policylint.compare.protection.istio_rules import Permit, covers, lost, names_a_client, permits, single
from policylint.compare.sides import Sides
from policylint.model import Location, Node, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Group
from policylint.simulation import Simulation

KIND = ("security.istio.io", "AuthorizationPolicy")
MOST_CONTEXTS = 200_000
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
                self.rules[action] += [_Rule(policy, number, each) for each in permits(mapping(rule))]


def authorization_weakened(sides: Sides) -> Iterator[Weaker]:
    """Causes with the contexts they reach."""
    before, after, pairing = sides
    if not any(group.kind.group == KIND[0] and group.kind.kind == KIND[1] for group in before.groups):
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


def asking_for_tokens(side: Simulation) -> frozenset[Path]:
    """The contexts in which an AuthorizationPolicy asks for what a token says: elsewhere none is needed at all."""
    found: set[Path] = set()
    asking: dict[int, bool] = {}
    for path, group in _contexts(side):
        if id(group) not in asking:
            stack = _Stack(_policies(group))
            fields = {name for rules in stack.rules.values() for each in rules for name in each.permit}
            asking[id(group)] = any("equestPrincipals" in name or "request.auth" in name for name in fields)
        if asking[id(group)]:
            found.add(identity(path))
    return frozenset(found)


def _contexts(side: Simulation) -> Iterator[tuple[tuple[Node, ...], Group]]:
    room = MOST_CONTEXTS
    for group in side.groups:
        if (group.kind.group, group.kind.kind) == KIND:
            for path in group.contexts():
                room -= 1
                if room < 0:
                    return
                yield path, group


def _policies(group: Group | None) -> list[Resource]:
    return [] if group is None else [each.policy for each in group.effective.stack]


def _is_same(sides: Sides, before: Group, after: Group | None) -> bool:
    old = {sides.pairing.key(each.key): each.spec for each in _policies(before)}
    return old == {each.key: each.spec for each in _policies(after)}


def _causes(sides: Sides, before: Group, after: Group | None) -> Iterator[Cause]:
    former, now = _policies(before), _policies(after)
    if any("${" in json.dumps(each.spec, default=str) for each in (*former, *now)):
        return
    if is_unseen(sides, (each.key for each in former), (each.key for each in now)):
        return
    old, new = _Stack(former), _Stack(now)
    refuses = bool(new.rules["DENY"] or new.policies["CUSTOM"])
    if old.policies["ALLOW"] and not new.policies["ALLOW"]:
        yield _opened(sides, old, refuses=refuses)
    elif old.policies["ALLOW"]:
        yield from _widened(sides, old, new, refuses=refuses)
    if old.policies["ALLOW"] or not new.policies["ALLOW"]:
        for action in ("DENY", "CUSTOM"):
            yield from _stopped(sides, old, new, action)


def _opened(sides: Sides, old: _Stack, *, refuses: bool) -> Cause:
    policies = old.policies["ALLOW"]
    owners = tuple(sorted(each.key for each in policies))
    left = _EVERYTHING if refuses else "everything is let in"
    location = next((at for each in policies if (at := _left(sides, each)) is not None), None)
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
    former = old.rules["ALLOW"]
    named = all(names_a_client(each.permit) for each in former)
    told: set[tuple[ResourceKey, int]] = set()
    for rule in new.rules["ALLOW"]:
        if any(covers(each.permit, rule.permit) for each in former) or (rule.policy.key, rule.number) in told:
            continue
        if all(any(covers(each.permit, part) for each in former) for part in single(rule.permit)):
            continue
        narrower = [each for each in former if covers(rule.permit, each.permit)]
        narrower.sort(key=lambda each: sides.pairing.key(each.policy.key) != rule.policy.key)
        gone = next((fields for each in narrower if (fields := list(lost(rule.permit, each.permit)))), [])
        if not gone and (not named or names_a_client(rule.permit)):
            continue
        told.add((rule.policy.key, rule.number))
        was = narrower[0] if gone else None
        field = f"spec.rules[{rule.number}]"
        change = f"no longer asks for {', '.join(gone)}" if gone else "names no client"
        says = "it lets in whom no rule let in before"
        if not rule.permit:
            says = _EVERYTHING if refuses else "everything is let in"
        yield Cause(
            field,
            change,
            says,
            (rule.policy.key,),
            void="" if rule.permit or refuses else "authorization",
            location=_rule_at(rule),
            before=None if was is None else _rule_at(was),
            fix="name in `from` or `when` who is let in",
        )


def _stopped(sides: Sides, old: _Stack, new: _Stack, action: str) -> Iterator[Cause]:
    standing = [each.permit for each in new.rules[action]]
    told: set[tuple[ResourceKey, int]] = set()
    for rule in old.rules[action]:
        parts = [rule.permit] if any(covers(each, rule.permit) for each in standing) else single(rule.permit)
        if all(any(covers(each, part) for each in standing) for part in parts):
            continue
        if (rule.policy.key, rule.number) in told:
            continue
        told.add((rule.policy.key, rule.number))
        state = sides.after.policies.get(sides.pairing.key(rule.policy.key))
        stands = state is not None and text(state.policy.spec.get("action")) == action
        does = "refused" if action == "DENY" else "had its authorizer asked about"
        yield Cause(
            f"spec.rules[{rule.number}]",
            f"{'matches less' if stands else 'is gone'} as {action}",
            f"what it {does} is no longer",
            (rule.policy.key,),
            location=_left(sides, rule.policy),
            before=_rule_at(rule),
            fix="keep the rule, here or in another policy",
        )


def _rule_at(rule: _Rule) -> Location:
    return rule.policy.location("spec", "rules", rule.number)


def _left(sides: Sides, policy: Resource) -> Location | None:
    """Where a policy of before is edited, if it is still there: its rules, its action, else whom it is for."""
    state = sides.after.policies.get(sides.pairing.key(policy.key))
    if state is None:
        return None
    for name in ("rules", "action"):
        if name in state.policy.spec and state.policy.spec.get(name) != policy.spec.get(name):
            return state.policy.location("spec", name, key=True)
    return target_at(state.policy, state.targets[0]) if state.targets else state.policy.name_location
