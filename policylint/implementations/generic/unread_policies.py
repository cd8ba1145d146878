"""Policies of engines that are not evaluated: whom each may select, and which way; what it does there is not known.

Sources: antrea.io, «Antrea Network Policy CRDs»; docs.openshift.com, «Configuring an egress firewall»;
cloud.google.com, «Control communication with FQDN network policies».
"""

from __future__ import annotations

from policylint.model import Resource
from policylint.network.kinds import OUTWARD, SENDING
from policylint.network.rules import DIRECTIONS, Action, Direction, Entity, Pods, PolicySpec, RuleSpec

_ACTIONS: tuple[Action, ...] = ("Allow", "Deny")


def unread_policy(resource: Resource, home: str = "") -> PolicySpec:
    """Return a policy of an engine that is not evaluated: it may allow or deny anything to the pods that it selects.

    Args:
        home: the namespace of these, where it is not that of the policy.
    """
    subject = Pods(home or resource.key.namespace or None, {}, {}, "unread")
    peer = Entity("names" if resource.key[:2] in OUTWARD else "unread")
    rules = tuple(
        RuleSpec(direction, number, action, (((peer,), ()),), None, ("spec",))
        for direction in _directions(resource)
        for number, action in enumerate(_ACTIONS)
    )
    return PolicySpec(resource, "Admin", 0, subject, rules)


def _directions(resource: Resource) -> list[Direction]:
    """Return the directions in which a policy may act."""
    if resource.key[:2] in SENDING:
        return ["egress"]
    return [way for way in DIRECTIONS if resource.key.group != "crd.antrea.io" or resource.spec.get(way)]
