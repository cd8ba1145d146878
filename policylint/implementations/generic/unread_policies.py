"""Policies of which is not known what they do: whom each may select, and which way. Those of engines that are not
evaluated, and those in which a variable stands for rules, peers or a selector.

Sources: antrea.io, «Antrea Network Policy CRDs»; docs.openshift.com, «Configuring an egress firewall»;
cloud.google.com, «Control communication with FQDN network policies».
"""

from __future__ import annotations

from collections.abc import Callable

from policylint.model import Resource, is_symbolic
from policylint.network.kinds import OUTWARD, SENDING
from policylint.network.rules import (
    DIRECTIONS,
    TOGETHER,
    Action,
    Direction,
    Entity,
    Pods,
    PolicySpec,
    RuleSpec,
    read_policy,
)

_ACTIONS: tuple[Action, ...] = ("Allow", "Deny")


def unread_policy(resource: Resource, home: str = "") -> PolicySpec:
    """Return a policy of an engine that is not evaluated: it may allow or deny anything to the pods that it selects.

    Args:
        home: the namespace of these, where it is not that of the policy.
    """
    subject = Pods(home or resource.key.namespace or None, {}, {}, "unread")
    whom = "names" if resource.key[:2] in OUTWARD else "unread"
    rules = tuple(
        _perhaps(direction, number, action, whom)
        for direction in _directions(resource)
        for number, action in enumerate(_ACTIONS)
    )
    return PolicySpec(resource, "Admin", 0, subject, rules)


def settled_by_variable(policy: PolicySpec, read: Callable[[Resource], PolicySpec] | None = None) -> PolicySpec:
    """Return a policy as it was read; where it is refused for a variable that stands for a list or an object, as one
    that may do anything, with `read` in the direction alone that the variable is about."""
    if not policy.refused or not _is_variable(policy):
        return policy
    resource, way = policy.resource, next((each for each in DIRECTIONS if each in policy.pointer[1:2]), None)
    if read is None:
        return unread_policy(resource)
    if way is None:
        return _either_way(policy, read) if "policyTypes" in policy.pointer[1:2] else unread_policy(resource)
    types = resource.spec.get("policyTypes") or ["Ingress", *(["Egress"] if resource.spec.get("egress") else [])]
    body = {**resource.body, "spec": {**resource.spec, "policyTypes": types, way: None}}
    others = settled_by_variable(read_policy(resource.replaced(body=body), read), read)._replace(resource=resource)
    is_together = others.tier == TOGETHER
    if others.refused or (is_together and way not in others.isolates):
        return others
    actions = _ACTIONS[:1] if is_together else _ACTIONS
    return others._replace(rules=(*others.rules, *(_perhaps(way, 0, action, "unread") for action in actions)))


def _either_way(policy: PolicySpec, read: Callable[[Resource], PolicySpec]) -> PolicySpec:
    """Return a policy in which a variable stands for one of its directions: it may close either, or none."""
    resource = policy.resource
    body = {**resource.body, "spec": {**resource.spec, "policyTypes": ["Ingress", "Egress"]}}
    known = settled_by_variable(read_policy(resource.replaced(body=body), read), read)
    if not isinstance(known.subject, Pods):
        return unread_policy(resource)
    return known._replace(resource=resource, subject=known.subject._replace(family="unread"))


def _perhaps(way: Direction, number: int, action: Action, whom: str) -> RuleSpec:
    return RuleSpec(way, number, action, (((Entity(whom),), ()),), None, ("spec",))


def _is_variable(policy: PolicySpec) -> bool:
    """Tell whether a variable stands at what a policy is refused for, or around it."""
    value: object = policy.resource.body
    for step in policy.pointer:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
    return is_symbolic(value)


def _directions(resource: Resource) -> list[Direction]:
    """Return the directions in which a policy may act."""
    if resource.key[:2] in SENDING:
        return ["egress"]
    return [way for way in DIRECTIONS if resource.key.group != "crd.antrea.io" or resource.spec.get(way)]
