"""Kinds that add up: AuthorizationPolicy, RequestAuthentication, and the extensions of the proxy in their order."""

from __future__ import annotations

from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.provenance import listing
from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.policy.results import Attachment, Effective, Losses

_ACTIONS = ("CUSTOM", "DENY", "ALLOW", "AUDIT")
"""In the order in which a request meets them; AUDIT only marks (docs/design/implementations/istio.md §1)."""
_PHASES = ("AUTHN", "AUTHZ", "STATS", "UNSPECIFIED_PHASE")
"""In the order in which a request passes them (docs/design/implementations/istio.md §5)."""
_LOWEST = -(2**31)
"""The priority of those that set none (push_context.go sortByPriority); the API text says 0."""

Stack = tuple[Attachment, ...]


def authorization(stack: Stack) -> Effective:
    """List all policies by action, root namespace first, then by age, which means nothing inside an action."""
    fields: dict[str, list[Attachment]] = {action: [] for action in _ACTIONS}
    for attachment in stack:
        fields.setdefault(text(attachment.policy.spec.get("action")) or "ALLOW", []).append(attachment)
    return listing(fields, stack)


def in_words(policy: Resource) -> str:
    """Return what an AuthorizationPolicy does: `denies everything` where it allows and has no rule."""
    action = text(policy.spec.get("action")) or "ALLOW"
    rules = sequence(policy.spec.get("rules"))
    # A rule without a clause matches every request; without rules none is matched.
    everything = any(rule == {} for rule in rules)
    which = f"what {'its rule matches' if len(rules) == 1 else f'one of its {len(rules)} rules matches'}"
    if action == "ALLOW":
        return "allows everything" if everything else f"allows {which}" if rules else "denies everything"
    if action == "DENY":
        return "denies everything" if everything else f"denies {which}" if rules else "denies nothing"
    if action == "CUSTOM":
        provider = text(mapping(policy.spec.get("provider")).get("name")) or "its provider"
        return f"asks {provider} about {'everything' if everything else which if rules else 'nothing'}"
    return ""


def request_authentication(stack: Stack) -> Effective:
    """List the rules of all policies, by issuer; two for one issuer stay (docs/design/implementations/istio.md §2)."""
    rules = [
        (rule, attachment.key)
        for attachment in stack
        for rule in sequence(attachment.policy.spec.get("jwtRules"))
        if isinstance(rule, dict)
    ]
    rules.sort(key=lambda pair: text(pair[0].get("issuer")))
    owners: dict[Pointer, ResourceKey] = {("jwtRules", index): key for index, (_, key) in enumerate(rules)}
    spec: dict[str, Any] = {"jwtRules": [rule for rule, _ in rules]} if rules else {}
    return Effective(spec, owners, Losses(), stack)


def extensions(stack: Stack) -> Effective:
    """List WasmPlugins and TrafficExtensions by phase, then by falling priority, then as Istio found them."""
    fields: dict[str, list[Attachment]] = {phase: [] for phase in _PHASES}
    for attachment in sorted(stack, key=lambda each: -_priority(each, _LOWEST)):
        phase = text(attachment.policy.spec.get("phase")) or _PHASES[-1]
        fields.setdefault(phase, []).append(attachment)
    return listing(fields, stack)


def envoy_filters(stack: Stack) -> Effective:
    """List patches by rising priority, root namespace first, then age (docs/design/implementations/istio.md §6)."""
    return listing({"order": sorted(stack, key=lambda each: _priority(each, 0))}, stack)


def _priority(attachment: Attachment, default: int) -> int:
    value = attachment.policy.spec.get("priority")
    if isinstance(value, dict):  # a wrapped value, as some writers of protobuf JSON have it
        value = mapping(value).get("value")
    return value if isinstance(value, int) else default
