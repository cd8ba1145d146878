"""The settings of Istio's policies, for the rules about them (docs/design/implementations/istio.md §0, §1, §5)."""

from __future__ import annotations

from policylint.model import Resource, mapping, sequence, text

AUTHORIZATION = ("security.istio.io", "AuthorizationPolicy")
TELEMETRY = ("telemetry.istio.io", "Telemetry")
EXTENSIONS = ("TrafficExtension", "WasmPlugin")
_OF_REQUESTS = {
    "source": ("requestPrincipals", "notRequestPrincipals"),
    "operation": ("hosts", "notHosts", "methods", "notMethods", "paths", "notPaths"),
}
_LOWEST = -(2**31)
"""The priority that istiod gives to a policy without one."""


def is_wide(policy: Resource) -> bool:
    """Return whether a policy covers its whole namespace, or the mesh: it names no target and selects nothing."""
    named = sequence(policy.spec.get("targetRefs")) or mapping(policy.spec.get("targetRef"))
    return not named and not mapping(mapping(policy.spec.get("selector")).get("matchLabels"))


def action(policy: Resource) -> str:
    """Return the action of an AuthorizationPolicy."""
    return text(policy.spec.get("action")) or "ALLOW"


def matches_all(rule: object) -> bool:
    """Return whether a rule of an AuthorizationPolicy has no condition at all."""
    return isinstance(rule, dict) and not any(rule.values())


def http_only(rule: object) -> list[str]:
    """Return the HTTP attributes of a rule, sorted; none where it also has attributes that a connection has."""
    attributes: set[str] = set()
    for field, inner in (("from", "source"), ("to", "operation")):
        for clause in sequence(mapping(rule).get(field)):
            named = {name for name, values in mapping(mapping(clause).get(inner)).items() if values}
            if not named.issubset(_OF_REQUESTS[inner]):
                return []
            attributes |= named
    for condition in sequence(mapping(rule).get("when")):
        key = text(mapping(condition).get("key"))
        if not key.startswith("request."):
            return []
        attributes.add(key)
    return sorted(attributes)


def extension_place(extension: Resource) -> tuple[str, int]:
    """Return the phase in which a WasmPlugin or TrafficExtension runs, and its priority there."""
    priority = extension.spec.get("priority")
    return text(extension.spec.get("phase")) or "UNSPECIFIED_PHASE", priority if isinstance(priority, int) else _LOWEST
