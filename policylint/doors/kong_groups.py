"""What plugins of Kong call consumers by of which none is there: groups (`acl`), and whoever does not log in.

Source: kong/kong, kong/pdk/client.lua, load_consumer, and the handlers of its logins, set_anonymous_consumer;
developer.konghq.com/plugins/acl; Kong/kubernetes-ingress-controller#936, #5202: a consumer is in a group by a
Secret labelled `konghq.com/credential: acl` among its credentials.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from policylint.doors.named import entries
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, text, texts
from policylint.model.policy_kind import Clients
from policylint.policy.clients import calls_nobody
from policylint.topology.secret_data import contents, hidden

_GROUP = "configuration.konghq.com"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PLUGINS = ((_GROUP, "KongPlugin"), (_GROUP, "KongClusterPlugin"))
_BRINGING = frozenset(
    {"openid-connect", "ldap-auth", "ldap-auth-advanced", "saml", "oauth2-introspection", "jwt-signer"}
)
"""Plugins that may say which groups a client is in."""
_OF_CREDENTIALS = frozenset({"key-auth", "key-auth-enc", "basic-auth", "hmac-auth", "jwt"})
_NAMING = "konghq.com/plugins"
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


def anonymous_nobody(world: World) -> Iterator[DeadEnd]:
    """Yield the logins whose `anonymous` calls no consumer: the plugin answers 500 to whoever does not log in."""
    consumers = world.of_kind(_GROUP, "KongConsumer")
    called = {text(consumer.body.get("username")) for consumer in consumers}
    for plugin in (each for kind in _PLUGINS for each in world.of_kind(*kind)) if consumers else ():
        name = text(mapping(plugin.body.get("config")).get("anonymous"))
        if not name or name in called or is_symbolic(name) or _ID.fullmatch(name) or any(map(is_symbolic, called)):
            continue
        mistaken = calls_nobody(name, Clients(name="username", mistaken="custom_id"), consumers)
        does = f"has whoever does not log in be {name}, and no KongConsumer has that `username`"
        fix = "name a `username` (or `id`), which a `custom_id` and the name of the object are not"
        ground = "" if mistaken else f"a KongConsumer {name} was not seen"
        about = tuple(each.key for each in consumers if name in (each.key.name, each.body.get("custom_id")))
        then = "requests without a login are answered with 500"
        yield DeadEnd(plugin, ("config", "anonymous"), does, fix, about[:1], ground, then)


def anybody(world: World) -> Iterator[tuple[Resource, Resource, list[Resource]]]:
    """Yield the logins that take the credentials of all consumers, where another one alike is there as if for others:
    the plugin, that one, and the consumers.

    Source: Kong/kubernetes-ingress-controller#5898: credentials are of the whole gateway, whatever a plugin is called.
    """
    consumers = [each for each in world.of_kind(_GROUP, "KongConsumer") if each.body.get("credentials")]
    alike: dict[tuple[str, str], list[Resource]] = defaultdict(list)
    for plugin in (each for kind in _PLUGINS for each in world.of_kind(*kind)) if len(consumers) > 1 else ():
        sort = text(plugin.body.get("plugin"))
        if sort in _OF_CREDENTIALS:
            alike[sort, repr(plugin.body.get("config"))].append(plugin)
    several = [plugins for plugins in alike.values() if len(plugins) > 1]
    naming = [each for each in world.resources.values() if _NAMING in each.annotations] if several else []
    for plugins in several:
        for plugin, other in zip(plugins, (*plugins[1:], plugins[0]), strict=True):
            named = [entries(each.annotations[_NAMING]) for each in naming if _may_name(each, plugin)]
            with_it = [names for names in named if plugin.key.name in names]
            if with_it and not all(_limits(world, plugin.key.namespace, names) for names in with_it):
                yield plugin, other, consumers


def _may_name(holder: Resource, plugin: Resource) -> bool:
    return holder.key.kind != "KongConsumer" and plugin.key.namespace in ("", holder.key.namespace)


def _limits(world: World, namespace: str, names: list[str]) -> bool:
    """Return whether one of some plugins says which consumers are let in."""
    keys = (
        ResourceKey(*kind, home, name) for name in names for kind, home in zip(_PLUGINS, (namespace, ""), strict=True)
    )
    return any(each is not None and each.body.get("plugin") == "acl" for each in map(world.get, keys))


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
