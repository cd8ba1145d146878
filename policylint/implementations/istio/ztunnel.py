"""The parts of an AuthorizationPolicy without targetRefs that ztunnel enforces.

Source: docs/design/implementations/istio.md §1; ambient/authorization.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.istio.labels import is_dry_run
from policylint.model import Resource, mapping, sequence, text
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.results import FaultyPart

HTTP = frozenset(
    {
        *("requestPrincipals", "notRequestPrincipals", "remoteIpBlocks", "notRemoteIpBlocks"),
        *("trustDomains", "notTrustDomains"),
        *("hosts", "notHosts", "methods", "notMethods", "paths", "notPaths"),
    }
)
"""Attributes of sources and operations that ztunnel does not know."""
_NOT_OF_STREAMS = HTTP - {"remoteIpBlocks", "notRemoteIpBlocks", "trustDomains", "notTrustDomains"}
"""Those that Envoy does not know of connections without HTTP."""
L4_CONDITIONS = ("source.ip", "source.namespace", "source.principal", "destination.ip", "destination.port")

_Entry = tuple[list[str], bool]
"""One of the alternatives in a clause: its HTTP attributes, and whether it says anything beside them."""


class ZtunnelSupport(NamedTuple):
    """The support of ztunnel for a policy.

    Args:
        enforced: whether it has any effect there.
        refused: why it is not accepted at all, "" when it is.
        unsupported: the attributes that are left out.
    """

    enforced: bool
    refused: str = ""
    unsupported: tuple[str, ...] = ()


def support(policy: Resource) -> ZtunnelSupport:
    """Return what ztunnel makes of a policy: ALLOW and DENY by what is known of a connection.

    In ALLOW a rule with HTTP attributes is left out, so that less is allowed. In DENY it holds without them, so that
    more is denied; but `from`, `to` and each `when` must all match, and one of which nothing is left never does
    (ztunnel rbac.rs), so that such a rule denies nothing.
    """
    if is_dry_run(policy):
        return ZtunnelSupport(False, "ztunnel does not support the dry-run annotation")
    action = text(policy.spec.get("action")) or "ALLOW"
    if action not in ("ALLOW", "DENY"):
        return ZtunnelSupport(False, f"ztunnel does not support the {action} action")
    rules = [list(_clauses(mapping(rule))) for rule in sequence(policy.spec.get("rules"))]
    unsupported = {name for rule in rules for clause in rule for names, _ in clause for name in names}
    acts = action == "ALLOW" or any(all(any(left for _, left in clause) for clause in rule) for rule in rules)
    return ZtunnelSupport(acts, "", tuple(sorted(unsupported)))


def left_out(policy: Resource) -> Iterator[FaultyPart]:
    """Yield the rules of a policy that do something else at ztunnel than they say, for want of HTTP."""
    action = text(policy.spec.get("action")) or "ALLOW"
    fix = "name a waypoint's Gateway or a Service in targetRefs"
    for number, rule in enumerate(map(mapping, sequence(policy.spec.get("rules")))):
        clauses = list(_clauses(rule))
        names = sorted({name for clause in clauses for named, _ in clause for name in named})
        if not names:
            continue
        asked = listing(names)
        if action == "ALLOW":
            message = f"in ambient mode ztunnel leaves out a rule that asks for {asked}, which it does not see"
            outcome = "allows no connection"
        elif all(any(left for _, left in clause) for clause in clauses):
            message = f"in ambient mode ztunnel does not see {asked}: the rule holds without"
            outcome = "denies more than it says"
        else:
            message, outcome = f"in ambient mode ztunnel does not see {asked}", "denies nothing"
        yield FaultyPart(("spec", "rules", number), message, fix=fix, outcome=outcome)


def _clauses(rule: Mapping[str, Any]) -> Iterator[list[_Entry]]:
    """Yield the clauses of a rule, each with its alternatives; a rule without any matches everything."""
    for field, inner in (("from", "source"), ("to", "operation")):
        entries = [_attributes(mapping(mapping(entry).get(inner))) for entry in sequence(rule.get(field))]
        if entries:
            yield entries
    for condition in sequence(rule.get("when")):
        key = text(mapping(condition).get("key"))
        yield [([], True) if key in L4_CONDITIONS else ([key], False)]


def _attributes(entry: Mapping[str, Any]) -> _Entry:
    """Return the HTTP attributes set in a source or an operation, and whether any other is set."""
    names = [name for name, values in entry.items() if values]
    return [name for name in names if name in HTTP], any(name not in HTTP for name in names)


def for_streams(rule: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return what a rule says of a connection without HTTP at an Envoy, and whether that is all of it.

    ALLOW leaves out a rule with any HTTP attribute; in the others the attribute goes and the rule matches more
    (pilot/pkg/security/authz/model, Generate for TCP).
    """
    left: dict[str, Any] = {}
    complete = True
    for field, inner in (("from", "source"), ("to", "operation")):
        entries = [mapping(mapping(entry).get(inner)) for entry in sequence(rule.get(field))]
        kept = [{name: value for name, value in entry.items() if name not in _NOT_OF_STREAMS} for entry in entries]
        complete = complete and kept == entries
        if entries and all(kept):
            left[field] = [{inner: entry} for entry in kept]
    conditions = [mapping(condition) for condition in sequence(rule.get("when"))]
    left["when"] = [each for each in conditions if not text(each.get("key")).startswith("request.")]
    return left, complete and left["when"] == conditions
