"""Faults of a GatewayExtension that its policies inherit (trafficpolicy/gateway_extension.go, jwt.go).

A policy that names an extension of another type, or one with an error of its own, is Invalid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, World, holds_variable, mapping, sequence, text
from policylint.model.embedded import json_in
from policylint.policy.results import Effective
from policylint.topology.secret_data import contents

TYPES: Mapping[tuple[str, ...], str] = {
    ("extAuth",): "extAuth",
    ("extProc",): "extProc",
    ("jwtAuth",): "jwt",
    ("oauth2",): "oauth2",
    ("rateLimit", "global"): "rateLimit",
}
"""The fields of a TrafficPolicy that name an extension, and the block that this must have."""
_TOKENS = "jwtAuth"
_KEY_SET = "jwks"
"""The entry of a ConfigMap that holds a key set."""
_CLIENT_SECRET = "client-secret"
Fault = tuple[Pointer, str]


def own_faults(extension: Resource, block: str, world: World) -> Iterator[Fault]:
    """Yield the faults of an extension itself, apart from its backends; `block` is the block that it must have."""
    spec = extension.spec
    if block not in spec:
        if not spec.keys().isdisjoint(TYPES.values()):
            yield ("spec",), f"it has no `{block}`"
        return
    if block == "jwt":
        for index, provider in enumerate(map(mapping, sequence(mapping(spec["jwt"]).get("providers")))):
            local = mapping(mapping(provider.get("jwks")).get("local"))
            pointer: Pointer = ("spec", "jwt", "providers", index, "jwks", "local")
            yield from ((pointer, fault) for fault in _key_set(extension, local, world))
    elif block == "oauth2":
        yield from _client(extension, mapping(spec["oauth2"]), world)


def _key_set(extension: Resource, local: Mapping[str, object], world: World) -> Iterator[str]:
    if "inline" in local:
        if not is_key_set(text(local["inline"])):
            yield "its inline key set is neither JSON with keys nor a public key in PEM"
        return
    name = text(mapping(local.get("configMapRef")).get("name"))
    if not name:
        return
    key = ResourceKey("", "ConfigMap", extension.key.namespace, name)
    yield from _entry_faults(key, _KEY_SET, world)
    held = contents(world.resolve(key).resource, world)
    if held is not None and held.get(_KEY_SET) and not is_key_set(held[_KEY_SET]):
        yield f"{_KEY_SET!r} of {key} is neither JSON with keys nor a public key in PEM"


def _entry_faults(key: ResourceKey, entry: str, world: World) -> Iterator[str]:
    resolution = world.resolve(key)
    if resolution.missing:
        yield f"{key} is missing"
    held = contents(resolution.resource, world)
    if held is not None and not held.get(entry):
        yield f"{key} has no entry {entry!r}"


def is_key_set(value: str) -> bool:
    """Tell whether a text may be what the controller reads: a public key in PEM, a JSON Web Key, or a set of them."""
    if holds_variable(value) or "-----BEGIN" in value:
        return "-----BEGIN CERTIFICATE" not in value
    keys = json_in(value)
    return isinstance(keys, dict) and (bool(sequence(keys.get("keys"))) or isinstance(keys.get("kty"), str))


def _client(extension: Resource, block: Mapping[str, object], world: World) -> Iterator[Fault]:
    """Check the client's secret, and that the redirect URI has scheme and path (oauth2.go)."""
    name = text(mapping(mapping(block.get("credentials")).get("clientSecretRef")).get("name"))
    pointer: Pointer = ("spec", "oauth2", "credentials", "clientSecretRef")
    if name:
        key = ResourceKey("", "Secret", extension.key.namespace, name)
        yield from ((pointer, fault) for fault in _entry_faults(key, _CLIENT_SECRET, world))
    redirect = text(block.get("redirectURI"))
    if redirect and not holds_variable(redirect):
        _, scheme, rest = redirect.partition("://")
        if not scheme or not rest.partition("/")[2]:
            yield ("spec", "oauth2", "redirectURI"), f"{redirect!r} has no scheme or no path"


def with_providers(effective: Effective, spec: Mapping[str, Any], world: World) -> Mapping[str, Any]:
    """Return an effective spec with the providers of the extension that checks tokens.

    A token in a parameter stays, and so does what `forwardToken` keeps (trafficpolicy/jwt.go, translateProvider): where
    one provider does not take them off, none is said to.
    """
    asking = spec.get(_TOKENS)
    if isinstance(asking, list):  # of several places, side by side
        settings = [
            _with_providers(effective, mapping(each), (_TOKENS, number), world) for number, each in enumerate(asking)
        ]
        return {**spec, _TOKENS: settings}
    return {**spec, _TOKENS: _with_providers(effective, mapping(asking), (_TOKENS,), world)} if asking else spec


def _with_providers(effective: Effective, asking: Mapping[str, Any], place: Pointer, world: World) -> Mapping[str, Any]:
    reference = mapping(asking.get("extensionRef"))
    owner = next((owner for at, owner in effective.owners.items() if at[: len(place)] == place), None)
    if owner is None or not reference:
        return asking
    namespace = text(reference.get("namespace")) or owner.namespace
    key = ResourceKey("gateway.kgateway.dev", "GatewayExtension", namespace, text(reference.get("name")))
    extension = world.resolve_inner(key).resource
    stated = [] if extension is None else sequence(mapping(extension.spec.get("jwt")).get("providers"))
    providers = list(map(mapping, stated))
    if any(each.get("forwardToken") or mapping(each.get("tokenSource")).get("queryParameter") for each in providers):
        providers = [{**each, "forwardToken": True} for each in providers]
    return {**asking, "providers": providers} if providers else asking
