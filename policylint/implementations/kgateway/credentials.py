"""The Secrets and ConfigMaps that kgateway reads: API keys, users, header values.

trafficpolicy/{api_key_auth,basic_auth_policy,header_modifiers}.go: a policy with unusable ones is Invalid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.htpasswd import read_users
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.topology.secret_data import contents, hidden

_USERS = ".htpasswd"
"""The entry of a Secret that basicAuth reads where none is named."""


def api_keys(secrets: Iterable[Resource], world: World) -> str:
    """Return why Secrets are unusable as API keys, "" if they are not: no key at all, or one key of two clients."""
    holders: dict[str, tuple[str, ResourceKey]] = {}
    for secret in secrets:
        held = contents(secret, world)
        if held is None:
            return ""
        for client, value in sorted(held.items()):
            if not value:
                continue
            holder, of_secret = holders.setdefault(value, (client, secret.key))
            if holder != client and not hidden(value):
                return f"clients {holder} of {of_secret} and {client} of {secret.key} have the same API key"
    return "" if holders else "the Secrets hold no API key"


def users(policy: Resource, world: World) -> Iterator[tuple[Pointer, str]]:
    """Yield the faults of the users of `basicAuth`, in the policy or in its Secret."""
    block = mapping(policy.spec.get("basicAuth"))
    lines = [text(line) for line in sequence(block.get("users"))]
    pointer: Pointer = ("spec", "basicAuth", "users")
    reference = mapping(block.get("secretRef"))
    if not lines and reference:
        pointer = ("spec", "basicAuth", "secretRef")
        namespace = text(reference.get("namespace")) or policy.key.namespace
        secret = world.get(ResourceKey("", "Secret", namespace, text(reference.get("name"))))
        held = contents(secret, world)
        if secret is None or held is None:
            return
        entry = text(reference.get("key")) or _USERS
        if not held.get(entry):
            yield pointer, f"{secret.key} has no entry {entry!r}"
            return
        lines = [held[entry]]
    if lines and (fault := _refused("\n".join(lines), inline=pointer[-1] == "users")):
        yield pointer, fault


def _refused(htpasswd: str, *, inline: bool) -> str:
    """Return the fault of an htpasswd file, "" without one: one user at least, none with two passwords."""
    found, fault = read_users(htpasswd, comments=True, inline=inline)
    if fault or found is None:
        return fault
    hashes: dict[str, str] = {}
    twice = next((user for user, hashed in found if hashes.setdefault(user, hashed) != hashed), "")
    if twice:
        return f"{twice} is there twice with different passwords"
    return "" if hashes else "no user is left"


def header_fault(world: World, secret: ResourceKey, reference: Mapping[str, Any], header: str) -> str:
    """Return why a Secret gives no value for a header, "" if it does.

    Its entry is the one named, or has the header's name; with neither every entry is a header.
    """
    entry = text(reference.get("key")) or header
    held = contents(world.get(secret), world)
    if not entry or held is None or entry in held:
        return ""
    return f"{secret} has no entry {entry!r}"
