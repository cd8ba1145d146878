"""Kinds that add up: AuthorizationPolicy, RequestAuthentication, and the extensions of the proxy in their order."""

from __future__ import annotations

from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.provenance import listing
from policylint.model import ResourceKey, mapping, sequence, text
from policylint.policy.results import Attachment, Effective

_ACTIONS = ("CUSTOM", "DENY", "ALLOW", "AUDIT")
"""In the order in which a request meets them; AUDIT only marks (docs/design/implementations/istio.md §1)."""
_PHASES = ("AUTHN", "AUTHZ", "STATS", "UNSPECIFIED_PHASE")
"""In the order in which a request passes them (docs/design/implementations/istio.md §5)."""
_LOWEST = -(2**31)
"""What istiod takes an unset priority for (push_context.go sortByPriority); the API text says 0."""

Stack = tuple[Attachment, ...]


def authorization(stack: Stack) -> Effective:
    """Nothing overrides: by action, root namespace first, then by age. Order inside an action means nothing."""
    fields: dict[str, list[Attachment]] = {action: [] for action in _ACTIONS}
    for each in stack:
        fields.setdefault(text(each.policy.spec.get("action")) or "ALLOW", []).append(each)
    return listing(fields, stack)


def request_authentication(stack: Stack) -> Effective:
    """The rules of all policies, by issuer; two rules for one issuer both stay.

    Source: docs/design/implementations/istio.md §2.
    """
    rules = [
        (rule, each.key)
        for each in stack
        for rule in sequence(each.policy.spec.get("jwtRules"))
        if isinstance(rule, dict)
    ]
    rules.sort(key=lambda pair: text(pair[0].get("issuer")))
    owners: dict[Pointer, ResourceKey] = {("jwtRules", index): key for index, (_, key) in enumerate(rules)}
    spec: dict[str, Any] = {"jwtRules": [rule for rule, _ in rules]} if rules else {}
    return Effective(spec, owners, (), stack)


def extensions(stack: Stack) -> Effective:
    """WasmPlugin and TrafficExtension: by phase, inside it by falling priority, then as Istio found them."""
    fields: dict[str, list[Attachment]] = {phase: [] for phase in _PHASES}
    for each in sorted(stack, key=lambda each: -_priority(each, _LOWEST)):
        phase = text(each.policy.spec.get("phase")) or _PHASES[-1]
        fields.setdefault(phase, []).append(each)
    return listing(fields, stack)


def envoy_filters(stack: Stack) -> Effective:
    """All patches apply: by rising priority, the root namespace first, then by age.

    Source: docs/design/implementations/istio.md §6.
    """
    return listing({"order": sorted(stack, key=lambda each: _priority(each, 0))}, stack)


def _priority(attachment: Attachment, default: int) -> int:
    value = attachment.policy.spec.get("priority")
    if isinstance(value, dict):  # a wrapped value, as some writers of protobuf JSON have it
        value = mapping(value).get("value")
    return value if isinstance(value, int) else default
