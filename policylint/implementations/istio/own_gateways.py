"""The pods of Istio's own Gateways that no manifest shows: charts and istioctl install them, policies select them.

A Gateway says by labels whose requests its servers take, so pods with them are there. Policies of the root namespace
reach them wherever they are; in which other namespace they are is told by what selects them there.
Source: istio.io/docs/reference/config/networking/gateway, «selector»; .../type/workload-selector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.implementations.generic.gateway_pods import OWN_GATEWAY, homes, selected
from policylint.model import Resource, World, mapping, sequence, text

_SELECTING = (
    ("security.istio.io", "AuthorizationPolicy", "selector"),
    ("security.istio.io", "RequestAuthentication", "selector"),
    ("networking.istio.io", "EnvoyFilter", "workloadSelector"),
    ("extensions.istio.io", "WasmPlugin", "selector"),
    ("telemetry.istio.io", "Telemetry", "selector"),
)
_MUTUAL = frozenset({"MUTUAL", "ISTIO_MUTUAL", "OPTIONAL_MUTUAL"})
_USUAL = ("istio", "ingress", "gateway")
"""What is in the names of namespaces in which gateways are installed; elsewhere the namespace may be the mistake."""


def unseen_gateways(world: World) -> Iterator[tuple[Resource, str]]:
    """Yield the Gateways whose pods no manifest shows, with the namespace of these; "" where nothing tells it."""
    for gateway in world.of_kind(*OWN_GATEWAY):
        if gateway.spec.get("selector") and not selected(world, gateway):
            yield gateway, pods_namespace(world, gateway)


def served_by(world: World, labels: Mapping[str, Any]) -> list[Resource]:
    """Return the Gateways whose servers are those of pods with some labels, in whatever namespace."""
    stated = ((gateway, mapping(gateway.spec.get("selector"))) for gateway in world.of_kind(*OWN_GATEWAY))
    return [gateway for gateway, wanted in stated if wanted and wanted.items() <= labels.items()]


def asks_for_identities(gateway: Resource) -> bool:
    """Return whether a server of a Gateway takes certificates of clients, which may be those of a mesh."""
    servers = map(mapping, sequence(gateway.spec.get("servers")))
    return any(text(mapping(server.get("tls")).get("mode")) in _MUTUAL for server in servers)


def pods_namespace(world: World, gateway: Resource) -> str:
    """Return the namespace of the pods of a Gateway: that in which Istio's policies select such pods by labels, where
    nothing else tells it; "" for none, or several."""
    wanted = mapping(gateway.spec.get("selector"))
    policies = {
        policy.key.namespace
        for group, kind, field in _SELECTING
        for policy in world.of_kind(group, kind)
        if _selects(mapping(policy.spec.get(field)), wanted)
    }
    found = homes(world, gateway) or {name for name in policies if any(usual in name for usual in _USUAL)}
    return next(iter(found)) if len(found) == 1 else ""


def _selects(selector: object, wanted: object) -> bool:
    fields = mapping(selector)
    labels = mapping(fields.get("matchLabels") or fields.get("labels"))
    return bool(labels) and labels.items() <= mapping(wanted).items()
