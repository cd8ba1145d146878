"""How proxies of Istio connect to Services: as DestinationRules have them, else by mutual TLS within the mesh.

Source: pilot/pkg/networking/core/cluster_tls.go, buildUpstreamClusterTLSContext and constructUpstreamTLS @ 1.28:
without authorities those of the system count; a credential of a rule without `workloadSelector` gives sidecars no TLS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.sessions import BackendSession, against
from policylint.implementations.istio.client_tls import MUTUAL, DestinationRules, policy_at, settings_of_ports
from policylint.implementations.istio.mesh import Mesh
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.kinds import SERVICE
from policylint.topology.workloads import Labels, is_meant, workloads_selected

_OF_MESH = BackendSession("verified", "as a workload of the mesh (mutual TLS)")


def session(
    backend: ResourceKey,
    port: int | None,
    caller: Resource | None,
    world: World,
    root: str,
    subset: Labels,
    *,
    is_gateway: bool,
) -> BackendSession | None:
    """Return how a proxy connects to a port of a Service; None where that is not known."""
    service = world.get(backend) if backend[:2] == SERVICE else None
    if service is None or caller is None:
        return None
    own = world.once(Mesh).proxy(caller.key)
    labels = own.labels if own is not None else mapping(caller.spec.get("selector")) if is_gateway else None
    shown = world.once(DestinationRules).for_client(service, port, caller.key.namespace, labels, root, subset)
    rule = shown.rule or shown.demands
    if rule is None:
        return _by_itself(service, world, subset) if is_gateway or own is not None else None
    if not subset and any(
        mapping(mapping(each).get("trafficPolicy")).get("tls") for each in sequence(rule.spec.get("subsets"))
    ):
        return None
    tls, place = _settings(*policy_at(rule, port, subset), port)
    if not isinstance(tls, dict):
        return _by_itself(service, world, subset)
    return _stated(tls, rule, place, is_sidecar=not is_gateway)


def _settings(policy: Mapping[str, Any], at: Pointer, port: int | None) -> tuple[Any, Pointer]:
    """Return what a trafficPolicy says of TLS at a port, and where: what is set for a port inherits nothing."""
    own = settings_of_ports(policy).get(port)
    if own is None:
        return policy.get("tls"), (*at, "tls")
    number = next(place for place, each in enumerate(sequence(policy.get("portLevelSettings"))) if each is own)
    return own.get("tls"), (*at, "portLevelSettings", number, "tls")


def _stated(tls: Mapping[str, Any], rule: Resource, place: Pointer, *, is_sidecar: bool) -> BackendSession:
    mode, sni = text(tls.get("mode"), "DISABLE"), text(tls.get("sni"))
    if mode == "DISABLE":
        return BackendSession("plain", "", rule, place)
    if mode == MUTUAL:
        return _OF_MESH._replace(by=rule, pointer=place, sni=sni)
    credential = text(tls.get("credentialName"))
    if credential and is_sidecar and rule.spec.get("workloadSelector") is None:
        return BackendSession("plain", "", rule, (*place, "credentialName"))
    if tls.get("insecureSkipVerify") is True:
        return BackendSession("unverified", "", rule, (*place, "insecureSkipVerify"), sni)
    authority = text(tls.get("caCertificates")) or (f"Secret {credential}" if credential else "")
    names = tuple(texts(tls.get("subjectAltNames")))
    said = against(names, [authority or "the authorities of the system"])
    of_hosts = not any("://" in name for name in names)
    return BackendSession("verified", said, rule, place, sni, names if of_hosts else ())


def _by_itself(service: Resource, world: World, subset: Labels) -> BackendSession | None:
    """Return what holds without a rule: mutual TLS to pods that are all in the mesh, else what the first byte says."""
    mesh = world.once(Mesh)
    proxies = [
        mesh.proxy(each.key) for each in workloads_selected(world, service) if not subset or is_meant(each, subset)
    ]
    if proxies and all(each is not None and each.sure and not each.assumed for each in proxies):
        return _OF_MESH
    return BackendSession("plain") if proxies and not any(proxies) else None
