"""The order of filters as an EnvoyProxy changes it (`filterOrder`).

Source: internal/xds/translator/httpfilters.go, sortHTTPFilters.

Each entry moves a filter before or after another one; one that names a filter which is not in the chain moves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from policylint.catalog.shipped_file import Phase
from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.model import ResourceKey, World, mapping, sequence, text
from policylint.topology import GatewayState


def moves(gateway: GatewayState, world: World) -> Sequence[Mapping[str, Any]]:
    """Return the moves that hold at a Gateway."""
    return [mapping(entry) for entry in sequence(setting(gateway, world, "filterOrder"))]


def setting(gateway: GatewayState, world: World, field: str) -> object:
    """Return a field that holds at a Gateway: of its EnvoyProxy, else of that of its class.

    The Gateway's replaces the one of the class, unless either asks to be merged (`mergeType`): then what it does not
    set is taken from the class (internal/gatewayapi/envoyproxy_merge.go). Gateways that share a proxy have no own.
    """
    own = mapping(mapping(gateway.gateway.spec.get("infrastructure")).get("parametersRef"))
    gateway_class = world.get(gateway.class_key)
    of_class = mapping(gateway_class.spec.get("parametersRef")) if gateway_class is not None else {}
    broad = _named(of_class, text(of_class.get("namespace")), world)
    narrow = {} if broad.get("mergeGateways") is True else _named(own, gateway.gateway.key.namespace, world)
    merging = (text(spec.get("mergeType")) for spec in (narrow, broad))
    merges = next((how for how in merging if how), "Replace") != "Replace"
    chosen = narrow if narrow and (field in narrow or not merges) else broad
    return chosen.get(field)


def _named(reference: Mapping[str, Any], namespace: str, world: World) -> Mapping[str, Any]:
    """Return the spec of the EnvoyProxy that a reference names; empty without one."""
    if (text(reference.get("group")), text(reference.get("kind"))) != (GROUP, "EnvoyProxy"):
        return {}
    proxy = world.get(ResourceKey(GROUP, "EnvoyProxy", namespace, text(reference.get("name"))))
    return {} if proxy is None else proxy.spec


def moved(order: Sequence[Phase], entries: Sequence[Mapping[str, Any]], present: Collection[str]) -> list[Phase]:
    """Return an order with the moves of an EnvoyProxy; `present` are the filters that are in the chain."""
    phases = list(order)
    for entry in entries:
        name, before, after = (text(entry.get(field)) for field in ("name", "before", "after"))
        pivot = before or after
        if not {name, pivot} <= set(present) or name == pivot:
            continue
        phase = next(phase for phase in phases if phase.filter == name)
        phases.remove(phase)
        place = next(number for number, other in enumerate(phases) if other.filter == pivot)
        phases.insert(place + (not before), phase)
    return phases
