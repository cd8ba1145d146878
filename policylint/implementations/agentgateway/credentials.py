"""The Secrets and ConfigMaps that agentgateway reads: the keys that each place of a policy asks for.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4;
controller/pkg/agentgateway/plugins/{traffic_plugin,backend_policies}.go, pkg/wellknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, World, text
from policylint.model.embedded import json_in
from policylint.patterns import Pattern
from policylint.topology.certificates import PEM, is_pem
from policylint.topology.secret_data import contents, hidden

_HASH = Pattern(r"sha256:[0-9a-fA-F]{64}")
_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "aws": ("accessKey", "secretKey"),
    "azure": ("clientID", "tenantID", "clientSecret"),
}
"""Credentials of clouds: the keys that must all be there."""
_DEFAULTS: Mapping[tuple[str, str], str] = {
    ("auth", "secretRef"): "Authorization",
    ("credentials", "secretRef"): "Authorization",
    ("gcp", "secretRef"): "credentials.json",
    ("clientAuth", "secretRef"): "clientSecret",
    ("authentication", "clientSecretRef"): "clientSecret",
    ("jwtSign", "signingKeyRef"): "signingKey",
    ("privateKeyJwt", "signingKeyRef"): "signingKey",
    ("privateKeyJwt", "certificateRef"): "certificate",
    ("basicAuthentication", "secretRef"): ".htaccess",
}
"""By the holder and name of a reference the key that is read where it names none."""


def secret_faults(secret: Resource, reference: Mapping[str, Any], pointer: Pointer, world: World) -> Iterator[str]:
    """Yield what a Secret lacks of what is read at one place of a policy."""
    held = contents(secret, world)
    if held is None:
        return
    holder, name = [step for step in pointer if isinstance(step, str)][-2:]
    if holder == "apiKeyAuthentication":
        yield from api_key_faults(secret, held)
        return
    if name == "mtlsCertificateRef":
        if held.get("tls.crt") or held.get("tls.key") or not held.get("ca.crt"):
            lacking = [entry for entry in ("tls.crt", "tls.key") if not _is_pem(held.get(entry, ""))]
            yield from (f"{secret.key} has no PEM in {entry}" for entry in lacking)
        return
    default = _DEFAULTS.get((holder, name), "")
    for entry in _BLOCKS.get(holder) or (text(reference.get("key")) or default,):
        if entry and not held.get(entry):
            yield f"{secret.key} has no key {entry!r}"


def _is_pem(value: str) -> bool:
    return PEM in value or is_pem(value)


def authority_faults(holder: Resource, world: World) -> Iterator[str]:
    """Yield what a ConfigMap or Secret lacks as a CA bundle."""
    held = contents(holder, world)
    if held is None:
        return
    if "ca.crt" not in held:
        yield f"{holder.key} has no key 'ca.crt'"
    elif not _is_pem(held["ca.crt"]):
        yield f"{holder.key} has no PEM in ca.crt"


def api_key_faults(holder: Resource, held: Mapping[str, str]) -> Iterator[str]:
    """Yield the faults of entries that are no API keys: a key, or JSON with either `key` or `keyHash`.

    ConfigMaps are not confidential, and hold hashes only.
    """
    for name, value in sorted(held.items()):
        if not hidden(value) and (fault := _api_key(value.strip(), holder.key.kind == "ConfigMap")):
            yield f"{holder.key}: {name} {fault}"


def _api_key(value: str, hashes_only: bool) -> str:
    if not value:
        return "is empty"
    fields: Any = {"key": value}
    if value.startswith("{") and (fields := json_in(value)) is None:
        return "is no JSON"
    key, hashed = fields.get("key"), fields.get("keyHash")
    if hashes_only and not hashed:
        return "is no hash, and a ConfigMap is not confidential"
    if bool(key) == bool(hashed):
        return "has not exactly one of key and keyHash"
    if hashed and not _HASH.fullmatch(str(hashed)):
        return "has a keyHash that is not sha256: and 64 hex digits"
    return ""
