"""What Envoy Gateway reads of Secrets: API keys (internal/gatewayapi/securitypolicy.go)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text


def shared_keys(policy: Resource, world: World) -> Iterator[tuple[Pointer, str]]:
    """Yield API keys that two clients have; of a client that comes twice the first key counts (buildAPIKeyAuth)."""
    references = sequence(mapping(policy.spec.get("apiKeyAuth")).get("credentialRefs"))
    if not references:
        return
    from policylint.topology.secret_data import contents, hidden

    clients: set[str] = set()
    holders: dict[str, str] = {}
    for number, reference in enumerate(references):
        namespace = text(mapping(reference).get("namespace")) or policy.key.namespace
        key = ResourceKey("", "Secret", namespace, text(mapping(reference).get("name")))
        for client, value in sorted((contents(world.get(key), world) or {}).items()):
            if client in clients or hidden(value):
                continue
            clients.add(client)
            if holders.setdefault(value, client) != client:
                reason = f"clients {holders[value]} and {client} have the same API key"
                yield ("spec", "apiKeyAuth", "credentialRefs", number), reason
