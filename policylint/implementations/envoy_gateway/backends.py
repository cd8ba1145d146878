"""Envoy Gateway's Backends, and the BackendTLSPolicies of all backends by what they target.

Source: internal/gatewayapi/{validate,backend,backendtlspolicy}.go @ v1.9.1;
docs/design/implementations/envoy-gateway.md §7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.implementations.envoy_gateway.managed import GROUP, order
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.keys import is_no_host_yet
from policylint.topology.secret_data import contents, entry_read
from policylint.topology.service_ports import ports_by_number

BACKEND = (GROUP, "Backend")
_CA_GROUPS = {"ConfigMap": "", "Secret": "", "ClusterTrustBundle": "certificates.k8s.io"}
"""The kinds that hold CAs; the controller goes by the kind alone, whatever group a reference names."""
ROLES = ("backend", "RequestMirror")
Aim = tuple[str, ...]
"""Namespace, group, kind, name and section of a target."""
Fault = tuple[str, str]
"""Reason and message."""


class BackendPolicies:
    """The BackendTLSPolicies of a world by what they target: of each target the first policy is used."""

    def __init__(self, world: World) -> None:
        self._first: dict[Aim, Resource] = {}
        self._all: dict[ResourceKey, dict[str, list[Resource]]] = {}
        for policy in sorted(world.of_kind(GATEWAY_GROUP, "BackendTLSPolicy"), key=order):
            for target in targets_of(policy):
                self._first.setdefault(target, policy)
                namespace, group, kind, name, section = target
                by_section = self._all.setdefault(ResourceKey(group, kind, namespace, name), {})
                by_section.setdefault(section, []).append(policy)

    def policy(self, key: ResourceKey, port: str) -> Resource | None:
        """Return the policy of one port of a backend, or that of the whole backend; None without one."""
        backend = (key.namespace, key.group, key.kind, key.name)
        return (self._first.get((*backend, port)) if port else None) or self._first.get((*backend, ""))

    def of(self, key: ResourceKey) -> Mapping[str, list[Resource]]:
        """Return all policies that target a backend, by the section that they name."""
        return self._all.get(key, {})


def targets_of(policy: Resource) -> list[Aim]:
    """Return the targets of a BackendTLSPolicy."""
    namespace = policy.key.namespace
    fields = ("group", "kind", "name", "sectionName")
    references = map(mapping, sequence(policy.spec.get("targetRefs")))
    return [(namespace, *(text(reference.get(field)) for field in fields)) for reference in references]


def port_name(world: World, key: ResourceKey, number: int | None) -> str:
    """Return the section by which a BackendTLSPolicy names a port of a backend; "" for none."""
    if number is None:
        return ""
    if (key.group, key.kind) == (GROUP, "Backend"):
        return str(number)
    service = world.get(key)
    of_number = ports_by_number(service).get(number) if service is not None else None
    return of_number[0].name if of_number else ""


def invalid(backend: Resource, world: World) -> Fault | None:
    """Return what makes a Backend invalid wherever a route names it (validateBackendRefBackend); None for nothing."""
    if backend.key[:2] != BACKEND:
        return None
    tls = backend.spec.get("tls")
    if isinstance(tls, dict) and tls.get("insecureSkipVerify") is not True and not names_ca(tls):
        policies = world.once(BackendPolicies).of(backend.key)
        ports = {str(mapping(address).get("port")) for each in endpoints(backend) for address in each.values()}
        if not any(names_ca(policy.spec.get("validation")) for policy in policies.get("", ())) and (
            not ports or not ports <= set(policies)
        ):
            why = "must specify either CACertificateRefs or WellKnownCACertificates unless insecureSkipVerify is set"
            return "InvalidBackendRef", f"{backend.key} {why}"
    own = text(mapping(mapping(tls).get("clientCertificateRef")).get("namespace")) or backend.key.namespace
    if own != backend.key.namespace:
        why = "names a client certificate of another namespace, which no grant allows"
        return "InvalidBackendRef", f"{backend.key} {why}"
    if bad := next(filter(None, map(_bad_address, endpoints(backend))), ""):
        return "InvalidAddress", f"{backend.key} {bad}"
    if any("unix" in each for each in endpoints(backend)):
        return "UnsupportedAddressType", "unix domain sockets are not supported in backend references"
    return None


def _bad_address(endpoint: Mapping[str, Any]) -> str:
    """Return why the address of an endpoint is none; "" for one that may be called (validateHostname, validateIP)."""
    for host in (text(endpoint.get("hostname")), text(mapping(endpoint.get("fqdn")).get("hostname"))):
        if host and "." not in host and not is_no_host_yet(host):
            return f"has the host {host}, which is no domain with a dot"
    address = text(mapping(endpoint.get("ip")).get("address"))
    if "fqdn" not in endpoint and (address.startswith("127.") or address == "::1"):
        return f"has the address {address}, which is the proxy's own"
    return ""


def names_ca(settings: Any) -> bool:
    validation = mapping(settings)
    return bool(validation.get("wellKnownCACertificates") or validation.get("caCertificateRefs"))


def endpoints(backend: Resource) -> list[Mapping[str, Any]]:
    """Return the endpoints of a Backend."""
    return [mapping(each) for each in sequence(backend.spec.get("endpoints"))]


def ca_fault(holder: Resource, references: Any, world: World) -> Fault:
    """Return reason and message of ResolvedRefs=False where CA references are of no use, otherwise two empty texts.

    Each that names a kind with CAs has to give one, the others are passed over (getCaCertsFromCARefs). References are
    local. What the tree cannot know (it holds no Secret at all, a trust-manager Bundle makes the ConfigMap) counts as
    usable.
    """
    named = [(text(each.get("kind")), text(each.get("name"))) for each in map(mapping, sequence(references))]
    faults = [_missing_ca(holder, world, kind, name) for kind, name in named if kind in _CA_GROUPS]
    if named and not faults:
        supported = "supported kinds are ConfigMap, Secret, and ClusterTrustBundle in caCertificateRefs."
        return "InvalidKind", f"Unsupported reference kind, {supported}"
    message = next(filter(None, faults), "")
    return ("InvalidCACertificateRef" if message else ""), message


def ca_fault_of_policy(policy: Resource, world: World) -> Fault:
    """Return the same of a BackendTLSPolicy."""
    return ca_fault(policy, mapping(policy.spec.get("validation")).get("caCertificateRefs"), world)


def _missing_ca(holder: Resource, world: World, kind: str, name: str) -> str:
    """Return why an object gives no CA: it is not there, or has neither ca.crt nor tls.crt nor a lone key."""
    group = _CA_GROUPS[kind]
    namespace = "" if kind == "ClusterTrustBundle" else holder.key.namespace
    key = ResourceKey(group, kind, namespace, name)
    resolution = world.resolve(key)
    if resolution.missing:
        if kind != "ConfigMap":
            elsewhere = not world.of_kind(group, kind)
        else:
            elsewhere = world.get(ResourceKey("trust.cert-manager.io", "Bundle", "", name)) is not None
        return "" if elsewhere else f"{kind.capitalize()} {name} not found in namespace {holder.key.namespace}."
    if resolution.resource is None or kind == "ClusterTrustBundle":
        return ""
    held = contents(resolution.resource, world)
    found = held is None or any(entry_read(held, "ca.crt", "tls.crt", lone=True))
    return "" if found else f"No ca found in {kind.lower()} {name}."
