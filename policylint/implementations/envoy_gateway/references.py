"""The objects that Envoy Gateway's policies name besides their targets (`refers` of the catalog), and what these hold.

A missing one, or one without the entry that is read, makes them Invalid, as do refused settings of such a backend.

Source: internal/gatewayapi/{securitypolicy,envoyextensionpolicy,clienttrafficpolicy,ext_service,validate,filters}.go.
What names them may fail open (`failOpen`): then it is left out, the rest of the policy acts, and the routes do not
answer 500 for it. So do all routes of a listener whose ClientTrafficPolicy lacks its CAs or revocation list (seen by
tests/witness at v1.9.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.content import content_of, places
from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.content import CODE, refused_settings
from policylint.implementations.envoy_gateway.content import faults as content_faults
from policylint.implementations.envoy_gateway.credentials import shared_keys
from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, value_at
from policylint.policy.declared import Reading
from policylint.topology import Topology
from policylint.topology.certificates import is_pem
from policylint.topology.grants import Grants
from policylint.topology.references import target
from policylint.topology.service_ports import ports

OPEN = "open"
"""What a policy is refused for whose other parts act all the same."""
_SERVICE = ("", "Service")
_BACKENDS = frozenset(
    {_SERVICE, ("multicluster.x-k8s.io", "ServiceImport"), (GROUP, "Backend"), (GATEWAY_GROUP, "Backend")}
)
_ANY, _ONLY = "any", "only"
"""Which entry is read where the one of that name is not there: whichever there is, or one that is the only one."""
ENTRY = "lua"
"""The entry of a ConfigMap that is read first for a script."""
_USERS = "basicAuth.users"
_PROXY = "EnvoyProxy"
_ENTRIES: Mapping[str, tuple[str, str]] = {
    _USERS: (".htpasswd", ""),
    "oidc.clientSecret": ("client-secret", ""),
    "oidc.clientIDRef": ("client-id", ""),
    "wasm.*.code.image.pullSecretRef": (".dockerconfigjson", ""),
    "credentialInjection.credential.valueRef": ("credential", ""),
    "jwt.providers.*.localJWKS.valueRef": ("jwks", _ANY),
    "responseOverride.*.response.body.valueRef": ("response.body", _ANY),
    "directResponse.body.valueRef": ("response.body", _ANY),
    "lua.*.valueRef": (ENTRY, _ANY),
    "tls.clientValidation.caCertificateRefs.*": ("ca.crt", _ONLY),
    "tls.clientValidation.crl.refs.*": ("ca.crl", _ONLY),
}
"""The entry that is read of an object, where the reference does not name it (`key`), and which one without it.

Seen by tests/witness at v1.9.1.
"""
_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "SecurityPolicy": (
        "extAuth.http.backendSettings",
        "extAuth.grpc.backendSettings",
        "jwt.providers.*.remoteJWKS.backendSettings",
        "oidc.provider.backendSettings",
    ),
    "EnvoyExtensionPolicy": ("extProc.*.backendSettings",),
}
"""Settings of the clusters of such backends, below spec."""


def broken(policy: Resource, topology: Topology) -> Reading:
    """Return the first reference that is certainly of no use; a Reading without code for none.

    One that answers the routes with 500 comes before those that fail open.
    """
    found = list(faults(policy, topology))
    closed = [fault for fault in found if not _fails_open(policy, fault[0])]
    pointer, reason = next(iter((*closed, *found)), ((), ""))
    return Reading(code=CODE if closed else OPEN, reason=reason, pointer=pointer) if reason else Reading()


def unreachable(policy: Resource, key: ResourceKey, port: int | None, topology: Topology) -> bool:
    """Tell whether a policy cannot call a backend at all, whatever is to be thought of its TLS."""
    own = topology.world.get(key)
    resolver = own is not None and own.spec.get("type") == "DynamicResolver"
    return resolver or bool(_fault(policy, key, port, True, topology))


def open_parts(policy: Resource, topology: Topology) -> tuple[Pointer, ...]:
    """Return the filters that are left out of a policy of which nothing fails closed: the setting, or its entry."""
    return tuple(dict.fromkeys(_part(pointer) for pointer, _ in faults(policy, topology)))


def refused_parts(policy: Resource, topology: Topology) -> tuple[Pointer, ...]:
    """Return the settings of a SecurityPolicy that are not translated; the others act, before their routes answer 500.

    Source: securitypolicy.go, translateSecurityPolicyFor{Route,Listeners}; seen by tests/witness at v1.9.1.
    """
    found = (*content_faults(policy, policy.key.kind), *faults(policy, topology))
    return tuple(dict.fromkeys(pointer[:2] for pointer, _ in found))


def faults(policy: Resource, topology: Topology) -> Iterator[tuple[Pointer, str]]:
    """Yield every reference that is certainly of no use."""
    for field in content_of(*policy.key[:2]):
        if field.name == "backendRef" and not field.path.startswith("extAuth."):
            continue  # deprecated, and read of authorisers alone
        is_backend = field.kinds[0] == _SERVICE
        for pointer, value in places(policy.spec, field.path, ("spec",)):
            reference = mapping(value)
            if not text(reference.get("name")) or any(is_symbolic(reference.get(each)) for each in ("name", "port")):
                continue
            key, _, port = target(reference, policy.key.namespace, *field.kinds[0])
            if set(field.kinds) == {("", "Secret")} and key.kind == "ConfigMap":
                key = key._replace(kind="Secret")  # which is read all the same (validateSecretRef)
            fault = _fault(policy, key, port, is_backend, topology)
            if not fault and is_backend:
                from policylint.implementations.envoy_gateway.backend_faults import service_fault

                fault = service_fault(key, port, topology.world)
            if not fault and not is_backend:
                fault = _entry_fault(field.path, reference, key, topology.world)
            if fault:
                yield pointer, fault
    if policy.key.kind == "EnvoyExtensionPolicy":
        yield from _empty_scripts(policy, topology.world)
        yield from _unregistered_modules(policy, topology.world)
    if policy.key.kind == "SecurityPolicy":
        yield from shared_keys(policy, topology.world)
    for path in _SETTINGS.get(policy.key.kind, ()):
        for pointer, value in places(policy.spec, path, ("spec",)):
            yield from refused_settings(value, pointer)


def _empty_scripts(policy: Resource, world: World) -> Iterator[tuple[Pointer, str]]:
    """Yield the scripts that define no function which Envoy calls, unless an EnvoyProxy may have turned this off."""
    from policylint.topology.secret_data import contents, entry_read, hidden

    scripts = sequence(policy.spec.get("lua"))
    proxies = world.of_kind(GROUP, "EnvoyProxy") if scripts else ()
    if any("lua" in proxy.spec or "luaValidation" in proxy.spec for proxy in proxies):
        return
    for number, entry in enumerate(map(mapping, scripts)):
        script, name = text(entry.get("inline")), text(mapping(entry.get("valueRef")).get("name"))
        if entry.get("type") == "ValueRef":
            held = contents(world.get(ResourceKey("", "ConfigMap", policy.key.namespace, name)), world)
            script = entry_read(held, "lua", any_=True)[1] if held else ""
        known = script and not is_symbolic(script) and not hidden(script)
        if known and not any(function in script for function in ("envoy_on_request", "envoy_on_response")):
            yield ("spec", "lua", number), "the script defines neither envoy_on_request nor envoy_on_response"


def _unregistered_modules(policy: Resource, world: World) -> Iterator[tuple[Pointer, str]]:
    """Yield the dynamic modules that no EnvoyProxy registers, where those that classes name were seen."""
    modules = sequence(policy.spec.get("dynamicModule"))
    classes = world.of_kind(GATEWAY_GROUP, "GatewayClass") if modules else ()
    named = [mapping(each.spec.get("parametersRef")) for each in classes]
    places = ((text(each.get("namespace")), text(each.get("name"))) for each in named if each.get("kind") == _PROXY)
    if not named or any(world.get(ResourceKey(GROUP, _PROXY, *place)) is None for place in places):
        return
    registered = {
        text(mapping(module).get("name"))
        for proxy in world.of_kind(GROUP, _PROXY)
        for module in sequence(proxy.spec.get("dynamicModules"))
    }
    for number, entry in enumerate(map(mapping, modules)):
        name = entry.get("name")
        if isinstance(name, str) and name not in registered and not is_symbolic(name):
            yield ("spec", "dynamicModule", number), f"no EnvoyProxy registers the module {name!r} (dynamicModules)"


def _entry_fault(path: str, reference: Mapping[str, Any], key: ResourceKey, world: World) -> str:
    """Return why what a Secret or ConfigMap holds is of no use; "" where it is, and where nothing of it is stated.

    A Secret without entries is one that is filled elsewhere.
    """
    from policylint.implementations.generic.htpasswd import read_users
    from policylint.topology.secret_data import contents, entry_read

    held = contents(world.resolve_inner(key).resource, world)
    entry, other = _ENTRIES.get(path, (text(reference.get("key")), ""))
    if held is None or (not held and key.kind == "Secret") or not entry or is_symbolic(entry):
        return ""
    name, value = entry_read(held, entry, lone=other == _ONLY, any_=other == _ANY)
    if not name:
        return f"{key} has no entry {entry!r}"
    if other == _ONLY and key.kind == "ConfigMap" and not is_pem(value):
        return f"{key} has no PEM in {name}"
    return read_users(value, comments=False)[1] if path == _USERS else ""


def _fault(policy: Resource, key: ResourceKey, port: int | None, is_backend: bool, topology: Topology) -> str:
    """Return why a reference is of no use, "" where it is or where that is not known."""
    if is_backend and key[:2] not in _BACKENDS:
        return f"{key} is no kind of backend"
    if Grants(topology.world).allows(policy.key, key) is False:
        return f"no ReferenceGrant in namespace {key.namespace} lets {policy.key} name {key}"
    resolution = topology.world.resolve_inner(key)
    if resolution.missing and not topology.world.elsewhere(key):
        return f"{key} is missing"
    if not is_backend or key[:2] != ("", "Service"):
        return ""
    if port is None:
        return f"{key} is named without a port"
    numbers = [] if resolution.resource is None else [each.number for each in ports(resolution.resource)]
    return f"{key} has no port {port}" if numbers and port not in numbers and None not in numbers else ""


def _fails_open(policy: Resource, pointer: Pointer) -> bool:
    """Return whether what holds a reference says that requests pass without it."""
    return mapping(value_at(policy.body, _part(pointer))).get("failOpen") is True


def _part(pointer: Pointer) -> Pointer:
    """Return the place of what holds a reference: a setting of the policy, or one entry of a list of them."""
    return pointer[:3] if len(pointer) > 2 and isinstance(pointer[2], int) else pointer[:2]
