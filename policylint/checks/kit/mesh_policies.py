"""What Istio's policies say, as the rules about them read it (docs/design/implementations/istio.md §0, §1, §5)."""

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
"""What istiod takes an unset priority for."""


def is_wide(policy: Resource) -> bool:
    """Whether a policy covers its whole namespace, or the mesh: it names no target and selects nothing."""
    named = sequence(policy.spec.get("targetRefs")) or mapping(policy.spec.get("targetRef"))
    return not named and not mapping(mapping(policy.spec.get("selector")).get("matchLabels"))


def action(policy: Resource) -> str:
    """Of an AuthorizationPolicy."""
    return text(policy.spec.get("action")) or "ALLOW"


def matches_all(rule: object) -> bool:
    """Whether a rule of an AuthorizationPolicy has no condition at all."""
    return isinstance(rule, dict) and not any(rule.values())


def http_only(rule: object) -> list[str]:
    """The attributes of a rule that a connection does not have, if it has no others; sorted."""
    found: set[str] = set()
    for field, inner in (("from", "source"), ("to", "operation")):
        for each in sequence(mapping(rule).get(field)):
            named = {name for name, values in mapping(mapping(each).get(inner)).items() if values}
            if not named.issubset(_OF_REQUESTS[inner]):
                return []
            found |= named
    for each in sequence(mapping(rule).get("when")):
        key = text(mapping(each).get("key"))
        if not key.startswith("request."):
            return []
        found.add(key)
    return sorted(found)


def extension_place(extension: Resource) -> tuple[str, int]:
    """The phase in which a WasmPlugin or TrafficExtension runs, and its priority in there."""
    priority = extension.spec.get("priority")
    return text(extension.spec.get("phase")) or "UNSPECIFIED_PHASE", priority if isinstance(priority, int) else _LOWEST
