"""Secrets that KongConsumers name as credentials and that Kong makes none of.

Source: Kong/kubernetes-ingress-controller internal/dataplane/kongstate/{kongstate,consumer,credentials}.go,
internal/util/credential.go; CHANGELOG, 3.0: the label alone tells the sort, `kongCredType` of old is no longer read.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, ResourceKey, World, is_symbolic, sequence, text
from policylint.model.words import listing
from policylint.topology.secret_data import contents

_CONSUMER = ("configuration.konghq.com", "KongConsumer")
_SORT = "konghq.com/credential"
_OLDER = "kongCredType"
_NEEDED: dict[str, tuple[str, ...]] = {
    "acl": ("group",),
    "basic-auth": ("username",),
    "hmac-auth": ("username",),
    "jwt": ("key",),
    "key-auth": ("key",),
    "mtls-auth": ("subject_name",),
    "oauth2": ("client_id", "name"),
}
"""The sorts of credentials, and what each cannot do without."""
_ALSO = {"basicauth_credential", "hmacauth_credential", "jwt_secret", "keyauth_credential"}
"""What older releases called some of them."""


def unusable(world: World) -> Iterator[DeadEnd]:
    """Yield the Secrets named by KongConsumers that are no credential to Kong."""
    for consumer in world.of_kind(*_CONSUMER):
        for number, name in enumerate(map(text, sequence(consumer.body.get("credentials")))):
            secret = world.get(ResourceKey("", "Secret", consumer.key.namespace, name)) if name else None
            lacking, fix = ("", "") if secret is None else _fault(secret, world)
            if secret is not None and lacking:
                does = f"names {secret.key} as a credential, which {lacking}"
                then = "Kong makes no credential of it: who shows it is not known, and in no group by it"
                yield DeadEnd(consumer, ("credentials", number), does, fix, (secret.key,), then=then)


def _fault(secret: Resource, world: World) -> tuple[str, str]:
    """Return what a Secret lacks as a credential, and what to write; "" for both where nothing is known to lack."""
    held = contents(secret, world)
    sort = text(secret.labels.get(_SORT))
    if not sort and (held is None or _OLDER in held or secret.provisional):
        return "", ""
    if not sort:
        return f"has no label {_SORT}", f"label it with what it is: `{_SORT}: {_likely(held or {})}`"
    if is_symbolic(sort) or sort in _ALSO:
        return "", ""
    if sort not in _NEEDED:
        return f"is labelled as {sort}, which is no sort of credentials", f"one of {', '.join(_NEEDED)}"
    lost = [name for name in _NEEDED[sort] if held is not None and name not in held]
    return (f"lacks {listing(lost)}", f"add {listing(lost, word='and')}") if lost and held else ("", "")


def _likely(held: dict[str, str]) -> str:
    """Return the sort that a Secret seems to be, by what it holds."""
    fitting = [sort for sort, names in _NEEDED.items() if held.keys() >= {*names}]
    if "key" in held:
        return "jwt" if held.keys() & {"algorithm", "rsa_public_key", "secret"} else "key-auth"
    if "username" in held:
        return "hmac-auth" if "secret" in held else "basic-auth"
    return fitting[0] if fitting else "key-auth"
