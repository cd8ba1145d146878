"""Whether Envoy Gateway has a service that counts for global rate limits, as its configuration says.

Source: internal/gatewayapi/runner/runner.go, GlobalRateLimitEnabled; backendtrafficpolicy.go, buildGlobalRateLimit:
without it the policy is refused and its routes answer 500 (envoyproxy/gateway#8868).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.load.charts import at, values_of
from policylint.model import Resource, World, holds_variable, mapping, text
from policylint.policy.declared import Reading

_FIELD = "rateLimit"


def uncounted(policy: Resource, world: World, code: str) -> Reading:
    """Return the refusal of a global limit where the configuration that was seen has no service to count for it."""
    limit = mapping(policy.spec.get(_FIELD))
    if not isinstance(limit.get("global"), dict) or text(limit.get("type")) not in ("", "Global"):
        return Reading()
    without = world.once(_without)
    if not without:
        return Reading()
    reason = f"global limits need `{_FIELD}` in the configuration of Envoy Gateway: {without}"
    return Reading(code=code, reason=reason, pointer=("spec", _FIELD, "global"))


def _without(world: World) -> str:
    """Return which configuration has no such service, in words; "" where one has, or where that was not seen."""
    from policylint.load.configured import in_config_maps

    seen = [(f"{holder.key} has", body, True) for holder, body in in_config_maps(world, "EnvoyGateway")]
    for holder, values, is_whole in values_of(world, "gateway-helm"):
        seen.append((f"the values of {holder.key} have", mapping(at(values, "config.envoyGateway")), is_whole))
    if not seen or any(not whole or _FIELD in body or holds_variable(str(body)) for _, body, whole in seen):
        return ""
    who, body, _ = seen[0]
    return f"{who} {_instead(body)}"


def _instead(body: Mapping[str, Any]) -> str:
    alike = next((name for name in body if name.lower() == _FIELD.lower()), "")
    return f"`{alike}`, which is another name" if alike else "none"
