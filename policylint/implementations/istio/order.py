"""Headers that come too late: an authorizer (action CUSTOM) is asked before tokens are checked.

Source: istio/istio pilot/pkg/networking/core/listener_builder.go, buildHTTPConnectionManager: authzCustomBuilder comes
before authnBuilder; istio/istio#35941.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import World, mapping, sequence, text
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.results import FaultyPart, PolicyState


def late(state: PolicyState, world: World, shown: Mapping[str, list[str]]) -> Iterator[FaultyPart]:
    """Yield the outputs of a RequestAuthentication that an authorizer of the same workloads is to be shown."""
    for policy in world.in_namespace(*AUTHORIZATION, state.key.namespace):
        provider = text(mapping(policy.spec.get("provider")).get("name"))
        if policy.spec.get("action") != "CUSTOM" or not _is_same(policy.spec, state.policy.spec):
            continue
        for pointer, header in _outputs(state.policy.spec):
            if header.lower() in map(str.lower, shown.get(provider, [])):
                yield FaultyPart(
                    pointer,
                    f"{policy.key.path} asks authorizer {provider} before tokens are checked, without this header",
                    fix="have the authorizer read the token itself",
                    outcome=f"comes too late for the authorizer that is to be shown {header}",
                )


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two policies of a namespace surely act at a common workload: they say so in the same words."""
    fields = ("selector", "targetRef", "targetRefs")
    return all(not each.get(name) for each in (one, other) for name in fields) or all(
        one.get(name) == other.get(name) for name in fields
    )


def _outputs(spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    for number, rule in enumerate(map(mapping, sequence(spec.get("jwtRules")))):
        place: Pointer = ("spec", "jwtRules", number)
        if text(rule.get("outputPayloadToHeader")):
            yield (*place, "outputPayloadToHeader"), text(rule["outputPayloadToHeader"])
        for position, claim in enumerate(map(mapping, sequence(rule.get("outputClaimToHeaders")))):
            if text(claim.get("header")):
                yield (*place, "outputClaimToHeaders", position, "header"), text(claim["header"])
