"""Features that the EnvoyGateway configuration switches on and off (extensionApis), and their effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.implementations.generic import walk
from policylint.model import Resource, text
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor
from policylint.policy.validity import SWITCHED_OFF
from policylint.topology import BackendState, Condition

ANSWERING = frozenset({"EnvoyExtensionPolicy", "SecurityPolicy"})
"""Kinds for whose policies of that sort the routes answer 500: to the translator it is an error like any other.

Source: internal/gatewayapi/envoyextensionpolicy.go, translateEnvoyExtensionPolicyForRoute, buildLuas.
"""


def switched_off(policy: Resource, settings: Mapping[str, Any]) -> Reading:
    """Return what in a policy needs a feature that is off; a Reading without code where nothing does."""
    kind = policy.key.kind
    if kind == "EnvoyPatchPolicy" and settings.get("enableEnvoyPatchPolicy") is False:
        reason = "EnvoyPatchPolicy is disabled in the EnvoyGateway configuration"
        return Reading(code=SWITCHED_OFF, reason=reason, pointer=("metadata", "name"))
    if kind == "EnvoyExtensionPolicy" and policy.spec.get("lua") and settings.get("disableLua") is True:
        reason = "Lua: Skipping Lua EnvoyExtensionPolicy as feature is disabled in the Gateway."
        return Reading(code=SWITCHED_OFF, reason=reason, pointer=("spec", "lua"))
    if settings.get("enableBackend") is False:
        for pointer, value in walk(policy.spec, ("spec",)):
            if isinstance(value, dict) and (value.get("group"), value.get("kind")) == (GROUP, "Backend"):
                why = "Backend is disabled in Envoy Gateway configuration."
                reason = f"resource {text(value.get('name'))} of type Backend cannot be used since {why}"
                return Reading(code=SWITCHED_OFF, reason=reason, pointer=pointer)
    return Reading()


def disabled(ancestors: tuple[Ancestor, ...], why: str) -> tuple[Ancestor, ...]:
    """Return the ancestors of an EnvoyPatchPolicy while that feature is off, with the refusal in place of Accepted."""
    condition = Condition("Accepted", "False", "Disabled", why)
    return tuple(
        ancestor._replace(conditions=tuple(condition if _accepts(each) else each for each in ancestor.conditions))
        for ancestor in ancestors
    )


def backend_off(backend: BackendState, settings: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return why ResolvedRefs is False for a Backend where that feature is off, None where it is not."""
    if settings.get("enableBackend") is not False or (backend.wanted.group, backend.wanted.kind) != (GROUP, "Backend"):
        return None
    reference = f"process route rule {backend.rule} backendRef {backend.pointer[-1]}"
    if backend.role != "backend":  # internal/gatewayapi/filters.go, processRequestMirrorFilter
        reference = f"validate the {backend.role} filter"
    return "UnsupportedValue", f"Failed to {reference}: Backend is disabled in Envoy Gateway configuration."


def _accepts(condition: Condition) -> bool:
    return condition.type == "Accepted" and condition.reason in ("Accepted", "Invalid")
