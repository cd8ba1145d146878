"""What Envoy Gateway reads of Secrets: users of basicAuth and API keys (internal/gatewayapi/securitypolicy.go)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.topology.secret_data import contents, hidden

_SHA = "{SHA}"
_SHA_BYTES = 20


def htpasswd_fault(value: str) -> str:
    """Return why the users of an htpasswd file are refused, "" where they are not (validateHtpasswdFormat).

    A word without any colon (`changeme`) stands for what is filled in later.
    """
    if ":" not in value:
        return ""
    for number, line in enumerate(map(str.strip, value.split("\n")), start=1):
        if not line:
            continue
        if hidden(line):
            return ""
        user, colon, password = line.partition(":")
        if not colon:
            return f"line {number} is not `user:hash`"
        if not password.startswith(_SHA) or not _is_digest(password.removeprefix(_SHA)):
            return f"the password of {user} is no {_SHA} hash, the only kind that Envoy takes"
    return ""


def _is_digest(value: str) -> bool:
    try:
        return len(base64.b64decode(value, validate=True)) == _SHA_BYTES
    except (binascii.Error, ValueError):
        return False


def shared_keys(policy: Resource, world: World) -> Iterator[tuple[Pointer, str]]:
    """Yield API keys that two clients have; of a client that comes twice the first key counts (buildAPIKeyAuth)."""
    clients: set[str] = set()
    holders: dict[str, str] = {}
    for number, reference in enumerate(sequence(mapping(policy.spec.get("apiKeyAuth")).get("credentialRefs"))):
        namespace = text(mapping(reference).get("namespace")) or policy.key.namespace
        key = ResourceKey("", "Secret", namespace, text(mapping(reference).get("name")))
        for client, value in sorted((contents(world.get(key), world) or {}).items()):
            if client in clients or hidden(value):
                continue
            clients.add(client)
            if holders.setdefault(value, client) != client:
                reason = f"clients {holders[value]} and {client} have the same API key"
                yield ("spec", "apiKeyAuth", "credentialRefs", number), reason
