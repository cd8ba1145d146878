"""The NginxProxy of a Gateway: whether telemetry or the WAF are switched on there.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policylint.load.charts import over
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
    off: dict[ResourceKey, None] = {}
    for target in state.targets:
        for node in target.nodes:
            above = gateways_above(topology, node.key)
            gateways.update(dict.fromkeys(above))
            off.update(dict.fromkeys(lacking(above, state.kind.kind, topology, node.key)))
    return feature, tuple(gateways), tuple(off)


def lacking(
    gateways: Iterable[ResourceKey], kind: str, topology: Topology, target: ResourceKey | None = None
) -> tuple[ResourceKey, ...]:
    """Return those of some Gateways on which what a kind needs certainly is off.

    Of the Gateways above a route only those with an NginxProxy are asked (attachPolicyToRoute; a Gateway that is the
    target is asked in any case, attachPolicyToGateway).
    """
    feature = _NEEDS.get(kind, "")
    is_asked = target is None or target.kind == "Gateway"
    return tuple(
        gateway
        for gateway in gateways
        if feature
        and _enabled(gateway, feature, topology) is False
        and (is_asked or any(name for _, name in _references(gateway, topology)))
    )


def _references(gateway: ResourceKey, topology: Topology) -> list[tuple[str, str]]:
    """Return namespace and name of the NginxProxy of a Gateway's class and of its own; empty names for none."""
    state = topology.gateway(gateway)
    if state is None or state.class_resolution.resource is None:
        return []
    own = mapping(mapping(state.gateway.spec.get("infrastructure")).get("parametersRef"))
    of_class = mapping(state.class_resolution.resource.spec.get("parametersRef"))
    references = ((of_class, text(of_class.get("namespace"))), (own, gateway.namespace))
    return [(place, text(each.get("name"))) for each, place in references if text(each.get("group")) == _GROUP]


def effective_proxy(gateway: ResourceKey, topology: Topology) -> Mapping[str, Any] | None:
    """Return the Gateway's NginxProxy over that of its class; None where one of them was not seen."""
    state = topology.gateway(gateway)
    if state is None or state.class_resolution.resource is None:
        return None
    merged: dict[str, Any] = {}
    for namespace, name in _references(gateway, topology):
        proxy = ResourceKey(_GROUP, "NginxProxy", namespace, name)
        resolution = topology.world.resolve_inner(proxy)
        if resolution.resource is not None:
            merged = over(merged, resolution.resource.spec)
        elif resolution.unknown:
            return None
    return merged


def _enabled(gateway: ResourceKey, feature: str, topology: Topology) -> bool | None:
    merged = effective_proxy(gateway, topology)
    if merged is None:
        return None
    return _telemetry(merged) if feature == "telemetry" else bool(mapping(merged.get("waf")).get("enable"))


def _telemetry(spec: Mapping[str, Any]) -> bool:
    telemetry = mapping(spec.get("telemetry"))
    endpoint = mapping(telemetry.get("exporter")).get("endpoint")
    return bool(endpoint) and "DisableTracing" not in sequence(telemetry.get("disabledFeatures"))
