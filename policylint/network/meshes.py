"""Meshes that wrap what their pods send to each other: policies then see another port than the one that is asked for.

Sources: istio.io, «Ambient and Kubernetes NetworkPolicy»; linkerd.io, «Network Policy» among the common errors of 2.18.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import ResourceKey, World, mapping
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.topology.workloads import pod_template

_AMBIENT = "istio.io/dataplane-mode"
_INJECT = "linkerd.io/inject"


class Tunnel(NamedTuple):
    """What a mesh makes of a connection between two pods.

    Args:
        port: the one that policies see where the connection comes in.
        sends: whether it is the one that policies see where the connection goes out, too.
        why: a clause for users.
    """

    port: int
    sends: bool
    why: str


def tunnel(world: World, source: Endpoint, target: Endpoint) -> Tunnel | None:
    """Return the tunnel that a TCP connection between two ends may go through, None where none is known of."""
    if not source.is_pod:
        return None
    if _is_ambient(world, target):
        why = f"{target} is in Istio's ambient mode, whose traffic comes in on port 15008"
        return Tunnel(15008, _is_ambient(world, source), why)
    if _is_injected(world, source) and _is_injected(world, target):
        return Tunnel(4143, True, f"{source} and {target} are in Linkerd's mesh, which sends to port 4143 from 2.18 on")
    return None


def _is_ambient(world: World, end: Endpoint) -> bool:
    return (end.labels.get(_AMBIENT) or (world.namespace_labels(end.namespace) or {}).get(_AMBIENT)) == "ambient"


def _is_injected(world: World, end: Endpoint) -> bool:
    """Return whether the pods have a proxy of Linkerd: their own annotation counts, else that of their Namespace."""
    if not end.is_pod or end.host:
        return False
    template = pod_template(end.resource) if end.resource is not None else {}
    namespace = world.get(ResourceKey("", "Namespace", "", end.namespace))
    around: Mapping[str, Any] = namespace.annotations if namespace is not None else {}
    own = mapping(mapping(template.get("metadata")).get("annotations"))
    return (own.get(_INJECT) or around.get(_INJECT)) in ("enabled", "ingress")
