"""Features that the EnvoyGateway configuration switches on and off (extensionApis), and what falls with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.model import Resource, text
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor
from policylint.topology import BackendState, Condition

OFF = "switched-off"
"""The invalid_code of a policy that needs a feature that is off."""


def switched_off(policy: Resource, settings: Mapping[str, Any]) -> Reading:
    """What of a policy needs a feature that is off; a Reading without code where nothing does."""
    kind = policy.key.kind
    if kind == "EnvoyPatchPolicy" and settings.get("enableEnvoyPatchPolicy") is False:
        reason = "EnvoyPatchPolicy is disabled in the EnvoyGateway configuration"
        return Reading(code=OFF, reason=reason, pointer=("metadata", "name"))
    if kind == "EnvoyExtensionPolicy" and policy.spec.get("lua") and settings.get("disableLua") is True:
        reason = "Lua: Skipping Lua EnvoyExtensionPolicy as feature is disabled in the Gateway."
        return Reading(code=OFF, reason=reason, pointer=("spec", "lua"))
    if settings.get("enableBackend") is False:
        for pointer, name in _backends(("spec",), policy.spec):
            why = "Backend is disabled in Envoy Gateway configuration."
            reason = f"resource {name} of type Backend cannot be used since {why}"
            return Reading(code=OFF, reason=reason, pointer=pointer)
    return Reading()


def refused(ancestors: tuple[Ancestor, ...], kind: str, why: str) -> tuple[Ancestor, ...]:
    """The ancestors of a policy that needs a feature that is off: what accepted it says so."""
    condition = Condition("Accepted", "False", "Disabled" if kind == "EnvoyPatchPolicy" else "Invalid", why)
    return tuple(
        each._replace(conditions=tuple(condition if _accepts(one) else one for one in each.conditions))
        for each in ancestors
    )


def backend_off(backend: BackendState, settings: Mapping[str, Any]) -> Condition | None:
    """What a route's ResolvedRefs says of a Backend where that feature is off."""
    if settings.get("enableBackend") is not False or (backend.wanted.group, backend.wanted.kind) != (GROUP, "Backend"):
        return None
    number = backend.pointer[-1]
    where = f"route rule {backend.rule} backendRef {number}"
    message = f"Failed to process {where}: Backend is disabled in Envoy Gateway configuration."
    return Condition("ResolvedRefs", "False", "UnsupportedValue", message)


def _accepts(condition: Condition) -> bool:
    return condition.type == "Accepted" and condition.reason in ("Accepted", "Invalid")


def _backends(pointer: Pointer, value: Any) -> Iterator[tuple[Pointer, str]]:
    """References to Backends anywhere in a spec."""
    if isinstance(value, dict):
        if (value.get("group"), value.get("kind")) == (GROUP, "Backend"):
            yield pointer, text(value.get("name"))
        for name, each in value.items():
            yield from _backends((*pointer, name), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _backends((*pointer, index), each)
