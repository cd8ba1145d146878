"""What ztunnel takes of an AuthorizationPolicy without targetRefs (istio.md §1; ambient/authorization.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.implementations.istio.words import DRY_RUN
from policylint.model import Resource, mapping, sequence, text
from policylint.records import NamedTuple

_SOURCE = ("requestPrincipals", "notRequestPrincipals", "remoteIpBlocks", "notRemoteIpBlocks")
_OPERATION = ("hosts", "notHosts", "methods", "notMethods", "paths", "notPaths")
_L4_CONDITIONS = ("source.ip", "source.namespace", "source.principal", "destination.ip", "destination.port")


class Reading(NamedTuple):
    """What ztunnel makes of a policy.

    Args:
        enforced: whether it has any effect there.
        refused: why it is not accepted at all, "" when it is.
        unsupported: the attributes that are left out.
    """

    enforced: bool
    refused: str = ""
    unsupported: tuple[str, ...] = ()


def read(policy: Resource) -> Reading:
    """ALLOW and DENY by what is known of a connection; a rule with HTTP attributes is stricter, never wider.

    In ALLOW such a rule is left out; in DENY it holds without them, and has no effect if nothing else is in it.
    """
    action = text(policy.spec.get("action")) or "ALLOW"
    if action not in ("ALLOW", "DENY"):
        return Reading(False, f"ztunnel does not support the {action} action")
    if text(policy.annotations.get(DRY_RUN)) == "true":
        return Reading(False, "ztunnel does not support the dry-run annotation")
    found: list[str] = []
    left = False
    for each in sequence(policy.spec.get("rules")):
        rule = mapping(each)
        attributes, other = _attributes(rule)
        found += attributes
        left = left or other or not attributes
    return Reading(action == "ALLOW" or left, "", tuple(sorted(set(found))))


def _attributes(rule: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The attributes of a rule that only HTTP has, and whether it has any other."""
    http: list[str] = []
    other = False
    for field, inner, names in (("from", "source", _SOURCE), ("to", "operation", _OPERATION)):
        for each in sequence(rule.get(field)):
            for name, values in mapping(mapping(each).get(inner)).items():
                if name in names:
                    http.append(name)
                elif values:
                    other = True
    for each in sequence(rule.get("when")):
        key = text(mapping(each).get("key"))
        if key in _L4_CONDITIONS:
            other = True
        else:
            http.append(key)
    return http, other
