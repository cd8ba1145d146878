"""The peculiarities of each implementation, behind one protocol with a generic default."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from policylint.implementations.generic import Implementation

if TYPE_CHECKING:
    from policylint.model import ResourceKey, World
    from policylint.network.rules import PolicySpec
    from policylint.schema.broken import BrokenObject

_MODULES = {
    "envoy-gateway": ("policylint.implementations.envoy_gateway", "EnvoyGateway"),
    "agentgateway": ("policylint.implementations.agentgateway", "Agentgateway"),
    "calico": ("policylint.implementations.calico", "Calico"),
    "contour": ("policylint.implementations.contour", "Contour"),
    "cilium": ("policylint.implementations.cilium", "Cilium"),
    "apisix": ("policylint.implementations.apisix", "Apisix"),
    "aws-gateway-api-controller": (
        "policylint.implementations.aws_gateway_api_controller",
        "AwsGatewayApiController",
    ),
    "azure-agc": ("policylint.implementations.azure_agc", "AzureAgc"),
    "gateway-api": ("policylint.implementations.gateway_api", "GatewayApi"),
    "kong": ("policylint.implementations.kong", "Kong"),
    "kgateway": ("policylint.implementations.kgateway", "Kgateway"),
    "gke": ("policylint.implementations.gke", "Gke"),
    "gloo": ("policylint.implementations.gloo", "Gloo"),
    "linkerd": ("policylint.implementations.linkerd", "Linkerd"),
    "nginx-gateway-fabric": ("policylint.implementations.nginx_gateway_fabric", "NginxGatewayFabric"),
    "istio": ("policylint.implementations.istio", "Istio"),
    "traefik": ("policylint.implementations.traefik", "Traefik"),
    "doors": ("policylint.implementations.doors", "Doors"),
    "kuadrant": ("policylint.implementations.kuadrant", "Kuadrant"),
}
"""Implementation name in the catalog -> module and class. Whatever is not listed behaves as its catalog entry says."""


def implementation(name: str, settings: Mapping[str, Any] | None = None) -> Implementation:
    """Return the behaviour of an implementation by its catalog name; the generic one for all that need no code.

    Args:
        settings: of its controller, where they are not the defaults.
    """
    behaviour = _class_of(name)()
    if settings and name in _MODULES:
        behaviour.settings = settings
    return behaviour


def network_policies(world: World, refused: Mapping[ResourceKey, BrokenObject]) -> tuple[PolicySpec, ...]:
    """Return the network policies of a world, by kind, namespace and name; those that are refused are marked.

    Args:
        refused: what the API server refuses for its schema.
    """
    from policylint.implementations.generic.network_policies import read_policies
    from policylint.network.kinds import DIALECTS

    there = [name for name, kinds in DIALECTS.items() if any(world.of_kind(*kind) for kind in kinds)]
    return read_policies(world, refused, chain(*(implementation(name).network_policies(world) for name in there)))


@cache
def _class_of(name: str) -> type[Implementation]:
    if name not in _MODULES:
        return Implementation
    module, attribute = _MODULES[name]
    found: type[Implementation] = getattr(import_module(module), attribute)
    return found


__all__ = ["Implementation", "implementation", "network_policies"]
