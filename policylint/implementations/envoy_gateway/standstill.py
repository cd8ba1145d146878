"""What stops Envoy Gateway from configuring a Gateway, though every status says that it is accepted.

Source: internal/xds/translator/oidc.go, buildHeaderMatchers, and internal/message/watchutil.go @ v1.9.1: the panic is
caught, and nothing comes of the Gateway's translation. Envoy's jwt_authn refuses keys that it cannot read, and with
them the listener. Seen by tests/witness.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from policylint.model import Node, ResourceKey, is_symbolic, mapping, sequence
from policylint.model.kinds import ROUTE_KINDS
from policylint.policy.results import FaultyPart, Group
from policylint.topology import GatewayState, Topology

if TYPE_CHECKING:
    from policylint.implementations.generic.stops import Stop


def stops(
    groups: Iterable[Group], topology: Topology, sharing: Callable[[GatewayState], Collection[ResourceKey]]
) -> Iterator[Stop]:
    """Yield the settings that stop proxies, where they act on routes.

    Args:
        sharing: returns the Gateways that share the proxy of one.
    """
    for group in groups:
        effective = group.effective
        found = _fault(effective.spec) if group.kind.kind == "SecurityPolicy" and not effective.refused else None
        if found is None:
            continue
        part, of_port = found
        owners = (own for at, own in effective.owners.items() if at[: len(part.pointer)] == part.pointer[: len(at)])
        owner, listeners = next(owners, None), tuple(_stopped(group, topology, sharing, of_port=of_port))
        if owner is not None and listeners:
            from policylint.implementations.generic.stops import Stop

            yield Stop(owner, part, listeners)


def _stopped(
    group: Group, topology: Topology, sharing: Callable[[GatewayState], Collection[ResourceKey]], *, of_port: bool
) -> Iterable[Node]:
    """Return the listeners of the proxies, or of their ports, by which requests come to the routes of a group."""
    listeners = list(chain.from_iterable(each.listeners for each in topology.gateways))
    listeners += chain.from_iterable(each.listeners for each in topology.listener_sets)
    stopped: dict[Node, None] = {}
    for path in group.contexts():
        listener = next((found for node in path if (found := topology.listener(node)) is not None), None)
        gateway = None if listener is None or listener.gateway is None else topology.gateway(listener.gateway)
        if listener is not None and gateway is not None and any(node.key.kind in ROUTE_KINDS for node in path):
            proxy = {gateway.gateway.key, *sharing(gateway)}
            within = (each for each in listeners if each.gateway in proxy)
            stopped |= {each.node: None for each in within if not of_port or each.port == listener.port}
    return stopped


def _fault(spec: Mapping[str, Any]) -> tuple[FaultyPart, bool] | None:
    """Return the setting of an effective SecurityPolicy, and whether it is the listener's port alone that stops."""
    if mapping(spec.get("oidc")).get("passThroughAuthHeader") is True and "jwt" not in spec:
        why = "Envoy Gateway panics over passThroughAuthHeader without `jwt`"
        fix = "add `jwt` with a provider for the tokens that are passed through, or remove passThroughAuthHeader"
        return FaultyPart(("oidc", "passThroughAuthHeader"), why, fix=fix), False
    for number, provider in enumerate(map(mapping, sequence(mapping(spec.get("jwt")).get("providers")))):
        keys = mapping(provider.get("localJWKS")).get("inline")
        if isinstance(keys, str) and not _are_keys(keys) and not is_symbolic(keys):
            why = "Envoy refuses a listener with keys that are no JSON with a list of `keys`"
            return FaultyPart(("jwt", "providers", number, "localJWKS"), why, fix="write a JSON Web Key Set"), True
    return None


def _are_keys(text: str) -> bool:
    import json

    try:
        return isinstance(mapping(json.loads(text)).get("keys"), list)
    except ValueError:
        return False
