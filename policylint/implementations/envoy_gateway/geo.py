"""What `clientIPGeoLocations` of an authorization need beside the policy: the client's address, and databases.

Source: internal/gatewayapi/securitypolicy.go, validateAuthorizationGeoIP (1.8); the routes answer 500 without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.envoy_gateway.content import CODE
from policylint.implementations.envoy_gateway.filter_order import setting
from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.model import ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.results import PolicyState
from policylint.topology import GatewayState, Topology
from policylint.topology.ancestry import gateways_above

_FIELD = "clientIPGeoLocations"
_DATABASES = {
    "country": ("countryDbSource", "cityDbSource"),
    "region": ("cityDbSource",),
    "city": ("cityDbSource",),
    "asn": ("asnDbSource",),
    "isp": ("ispDbSource",),
    "anonymous": ("anonymousIpDbSource",),
}


def refused(state: PolicyState, topology: Topology) -> Reading:
    """Return why no Gateway of a policy can tell where clients are; a Reading without code where one may."""
    places = list(_places(state.policy.spec))
    keys = {key for target in state.targets for key in gateways_above(topology, target.key)}
    gateways = [gateway for key in keys if (gateway := topology.gateway(key)) is not None]
    if not places or not gateways:
        return Reading()
    asked = {name for _, entries in places for entry in entries for name in entry if name in _DATABASES}
    reasons = [_lacking(gateway, asked, topology.world) for gateway in gateways]
    if not all(reasons):
        return Reading()
    number, _ = places[0]
    pointer = ("spec", "authorization", "rules", number, "principal", _FIELD)
    return Reading(code=CODE, reason=f"`{_FIELD}` needs {reasons[0]}", pointer=pointer)


def _places(spec: Mapping[str, Any]) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
    for number, rule in enumerate(sequence(mapping(spec.get("authorization")).get("rules"))):
        entries = [mapping(entry) for entry in sequence(mapping(mapping(rule).get("principal")).get(_FIELD))]
        if entries:
            yield number, entries


def _lacking(gateway: GatewayState, asked: set[str], world: World) -> str:
    """Return what a Gateway lacks, "" where it has all or something was not seen."""
    detections = list(_detections(gateway.gateway.key, world))
    if not detections:
        return f"`clientIPDetection` of a ClientTrafficPolicy for {gateway.gateway.key}"
    if all(mapping(each.get("xForwardedFor")).get("trustedCIDRs") for each in detections):
        return "the number of hops or a header to find the client by: it takes no `xForwardedFor.trustedCIDRs`"
    references = [mapping(gateway.gateway.spec.get("infrastructure")).get("parametersRef")]
    gateway_class = world.get(gateway.class_key)
    references += [] if gateway_class is None else [gateway_class.spec.get("parametersRef")]
    geo = setting(gateway, world, "geoIP")
    if geo is None and any(references) and not world.of_kind(GROUP, "EnvoyProxy"):
        return ""  # it is somewhere else
    provider = mapping(mapping(mapping(geo).get("provider")).get("maxMind"))
    if not provider:
        return f"`geoIP.provider` of an EnvoyProxy for {gateway.gateway.key}"
    missing = sorted(name for name in asked if not any(source in provider for source in _DATABASES[name]))
    return f"`{_DATABASES[missing[0]][0]}` of its EnvoyProxy for {missing[0]}" if missing else ""


def _detections(gateway: ResourceKey, world: World) -> Iterator[Mapping[str, Any]]:
    """Yield the `clientIPDetection` of policies that are, or may be, for a Gateway."""
    for policy in world.in_namespace(GROUP, "ClientTrafficPolicy", gateway.namespace):
        named = [*sequence(policy.spec.get("targetRefs")), policy.spec.get("targetRef")]
        is_meant = policy.spec.get("targetSelectors") or any(
            text(mapping(each).get("name")) == gateway.name or text(mapping(each).get("kind")) == "ListenerSet"
            for each in named
        )
        detection = mapping(policy.spec.get("clientIPDetection"))
        if is_meant and detection:
            yield detection
