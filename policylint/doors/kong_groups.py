"""Lists of groups (`acl`) that let in consumers of Kong of which none is there.

Source: developer.konghq.com/plugins/acl; Kong/kubernetes-ingress-controller#936, #5202: a consumer is in a group by a
Secret labelled `konghq.com/credential: acl` among its credentials.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, text, texts
from policylint.topology.secret_data import contents, hidden

_GROUP = "configuration.konghq.com"
_PLUGINS = ((_GROUP, "KongPlugin"), (_GROUP, "KongClusterPlugin"))
_BRINGING = frozenset(
    {"openid-connect", "ldap-auth", "ldap-auth-advanced", "saml", "oauth2-introspection", "jwt-signer"}
)
"""Plugins that may say which groups a client is in."""
_SORT = "konghq.com/credential"
_OLDER = "kongCredType"


def groups_of_nobody(world: World) -> Iterator[DeadEnd]:
    """Yield the plugins that let in groups alone in which no consumer is."""
    plugins = [plugin for kind in _PLUGINS for plugin in world.of_kind(*kind)]
    consumers = world.of_kind(_GROUP, "KongConsumer")
    if not consumers or any(text(plugin.body.get("plugin")) in _BRINGING for plugin in plugins):
        return
    known: tuple[set[str], str] | None = None
    for plugin in plugins:
        config = mapping(plugin.body.get("config"))
        wanted = texts(config.get("allow"))
        if text(plugin.body.get("plugin")) != "acl" or not wanted or any(map(is_symbolic, wanted)):
            continue
        if config.get("include_consumer_groups") is True or config.get("always_use_authenticated_groups") is True:
            continue
        known = _groups(world, consumers) if known is None else known
        groups, ground = known
        if groups.isdisjoint(wanted):
            does = f"lets in {', '.join(wanted[:3])}, and no KongConsumer is in such a group"
            fix = f"name a Secret with `group` and the label {_SORT}: acl among the `credentials` of a KongConsumer"
            then = "everybody gets 403 where it is asked"
            yield DeadEnd(plugin, ("config", "allow"), does, fix, (consumers[0].key,), ground, then)


def _groups(world: World, consumers: list[Resource] | tuple[Resource, ...]) -> tuple[set[str], str]:
    """Return the groups that consumers are in, and what was not seen of them."""
    found: set[str] = set()
    ground = ""
    for consumer in consumers:
        for name in texts(consumer.body.get("credentials")):
            secret = world.get(ResourceKey("", "Secret", consumer.key.namespace, name))
            if secret is None:
                ground = f"credential {name} of {consumer.key} was not seen"
                continue
            held = contents(secret, world)
            if held is None or hidden(held.get("group", "")):
                ground = f"what {secret.key} holds was not seen"
            elif "acl" in (secret.labels.get(_SORT), held.get(_OLDER)) and "group" in held:
                found.add(held["group"])
    return found, ground
