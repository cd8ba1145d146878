"""The order of filters as an EnvoyProxy changes it (`filterOrder`).

Source: internal/xds/translator/httpfilters.go, sortHTTPFilters.

Each entry moves a filter before or after another one; one that names a filter which is not in the chain moves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from policylint.catalog.kinds import Phase
from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.topology import GatewayState


def envoy_proxy(gateway: GatewayState, world: World) -> Resource | None:
    """Return the EnvoyProxy of a Gateway, else that of its class; None where there is none."""
    own = mapping(mapping(gateway.gateway.spec.get("infrastructure")).get("parametersRef"))
    gateway_class = world.get(gateway.class_key)
    of_class = mapping(gateway_class.spec.get("parametersRef")) if gateway_class is not None else {}
    for reference, namespace in ((own, gateway.gateway.key.namespace), (of_class, text(of_class.get("namespace")))):
        if (text(reference.get("group")), text(reference.get("kind"))) == (GROUP, "EnvoyProxy"):
            proxy = world.get(ResourceKey(GROUP, "EnvoyProxy", namespace, text(reference.get("name"))))
            if proxy is not None:
                return proxy
    return None


def moved(order: Sequence[Phase], proxy: Resource, present: Collection[str]) -> list[Phase]:
    """Return an order with the moves of an EnvoyProxy; `present` are the filters that are in the chain."""
    phases = list(order)
    for entry in map(mapping, sequence(proxy.spec.get("filterOrder"))):
        name, before, after = (text(entry.get(field)) for field in ("name", "before", "after"))
        pivot = before or after
        if not {name, pivot} <= set(present) or name == pivot:
            continue
        phase = next(phase for phase in phases if phase.filter == name)
        phases.remove(phase)
        place = next(number for number, other in enumerate(phases) if other.filter == pivot)
        phases.insert(place + (not before), phase)
    return phases
