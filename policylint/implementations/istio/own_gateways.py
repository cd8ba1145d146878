"""The pods of Istio's own Gateways that no manifest shows: charts and istioctl install them, policies select them.

A Gateway says by labels whose requests its servers take, so pods with them are there. Policies of the root namespace
reach them wherever they are; in which other namespace they are is told by what selects them there.
Source: istio.io/docs/reference/config/networking/gateway, «selector»; .../type/workload-selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Resource, World, mapping
from policylint.topology.workloads import WORKLOADS, pod_labels

OWN_GATEWAY = ("networking.istio.io", "Gateway")
_SELECTING = (
    ("security.istio.io", "AuthorizationPolicy", "selector"),
    ("security.istio.io", "RequestAuthentication", "selector"),
    ("networking.istio.io", "EnvoyFilter", "workloadSelector"),
    ("extensions.istio.io", "WasmPlugin", "selector"),
    ("telemetry.istio.io", "Telemetry", "selector"),
)
_USUAL = ("istio", "ingress", "gateway")
"""What is in the names of namespaces in which gateways are installed; elsewhere the namespace may be the mistake."""


def unseen_gateways(world: World) -> Iterator[tuple[Resource, str]]:
    """Yield the Gateways whose pods no manifest shows, with the namespace of these; "" where nothing tells it."""
    for gateway in world.of_kind(*OWN_GATEWAY):
        wanted = mapping(gateway.spec.get("selector"))
        workloads = (workload for kind in WORKLOADS for workload in world.of_kind(*kind))
        if wanted and not any(wanted.items() <= pod_labels(workload).items() for workload in workloads):
            yield gateway, pods_namespace(world, gateway)


def pods_namespace(world: World, gateway: Resource) -> str:
    """Return the namespace in which objects select the pods of a Gateway by labels; "" for none, or several."""
    wanted = mapping(gateway.spec.get("selector"))
    services = {
        service.key.namespace
        for service in world.of_kind("", "Service")
        if wanted and wanted.items() <= mapping(service.spec.get("selector")).items()
    }
    policies = {
        policy.key.namespace
        for group, kind, field in _SELECTING
        for policy in world.of_kind(group, kind)
        if _selects(mapping(policy.spec.get(field)), wanted)
    }
    found = services or {name for name in policies if any(usual in name for usual in _USUAL)}
    return next(iter(found)) if len(found) == 1 else ""


def _selects(selector: object, wanted: object) -> bool:
    fields = mapping(selector)
    labels = mapping(fields.get("matchLabels") or fields.get("labels"))
    return bool(labels) and labels.items() <= mapping(wanted).items()
