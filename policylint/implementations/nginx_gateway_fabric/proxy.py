"""The NginxProxy of a Gateway: whether telemetry or the WAF are switched on there.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.model import ResourceKey, mapping, sequence, text
from policylint.policy.results import PolicyState
from policylint.topology import Topology
from policylint.topology.ancestry import gateways_above

_GROUP = "gateway.nginx.org"
_NEEDS = {"ObservabilityPolicy": "telemetry", "WAFPolicy": "waf"}


def gateways_without(
    state: PolicyState, topology: Topology
) -> tuple[str, tuple[ResourceKey, ...], tuple[ResourceKey, ...]]:
    """Return the feature that a kind needs, the Gateways above its targets, and those where it certainly is off."""
    feature = _NEEDS.get(state.kind.kind, "")
    if not feature:
        return "", (), ()
    gateways: dict[ResourceKey, None] = {}
    for target in state.targets:
        for node in target.nodes:
            gateways.update(dict.fromkeys(gateways_above(topology, node.key)))
    return feature, tuple(gateways), lacking(gateways, state.kind.kind, topology)


def lacking(gateways: Iterable[ResourceKey], kind: str, topology: Topology) -> tuple[ResourceKey, ...]:
    """Return those of some Gateways on which what a kind needs certainly is off."""
    feature = _NEEDS.get(kind, "")
    return tuple(gateway for gateway in gateways if feature and _enabled(gateway, feature, topology) is False)


def _enabled(gateway: ResourceKey, feature: str, topology: Topology) -> bool | None:
    """Read the Gateway's NginxProxy over that of its class; None where one of them was not seen."""
    state = topology.gateway(gateway)
    if state is None or state.class_resolution.resource is None:
        return None
    own = mapping(mapping(state.gateway.spec.get("infrastructure")).get("parametersRef"))
    of_class = mapping(state.class_resolution.resource.spec.get("parametersRef"))
    merged: dict[str, Any] = {}
    for reference, namespace in ((of_class, text(of_class.get("namespace"))), (own, gateway.namespace)):
        if text(reference.get("group")) != _GROUP:
            continue
        proxy = ResourceKey(_GROUP, "NginxProxy", namespace, text(reference.get("name")))
        resolution = topology.world.resolve_inner(proxy)
        if resolution.resource is not None:
            merged = _patched(merged, resolution.resource.spec)
        elif resolution.unknown:
            return None
    return _telemetry(merged) if feature == "telemetry" else bool(mapping(merged.get("waf")).get("enable"))


def _telemetry(spec: Mapping[str, Any]) -> bool:
    telemetry = mapping(spec.get("telemetry"))
    endpoint = mapping(telemetry.get("exporter")).get("endpoint")
    return bool(endpoint) and "DisableTracing" not in sequence(telemetry.get("disabledFeatures"))


def _patched(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for name, value in patch.items():
        below = result.get(name)
        result[name] = _patched(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result
