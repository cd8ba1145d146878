"""Objects that run for some clients alone, since the objects that stand for these clients name them, too.

A plugin that a consumer and a route name runs for that consumer on that route. What a consumer has of a sort runs for
it before what a route has. Whoever does not log in may be a consumer as well, and be turned away as that.

Source: Kong/kubernetes-ingress-controller @ 5ac739b, internal/util/relations.go, GetCombinations; developer.konghq.com,
«Plugin precedence» and «Multiple authentication» (3.11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policylint.catalog.kinds import Catalog
from policylint.model import Resource, World, text
from policylint.model.policy_kind import Clients
from policylint.model.resource import value_at
from policylint.policy.bindings import ObjectBinding, names_reader

Annotated = Callable[[Resource], Iterator[ObjectBinding]]


def narrowed(
    found: Sequence[ObjectBinding], world: World, catalog: Catalog, annotated: Annotated
) -> Iterator[ObjectBinding]:
    """Yield bindings, with what clients name taken into account.

    Args:
        annotated: returns what the annotations of an object name.
    """
    kinds = [binding.kind for binding in found if binding.kind is not None]
    clients = dict.fromkeys((kind.group, name) for kind in kinds if kind.clients for name in kind.clients.kinds)
    there = [client for group, name in clients for client in world.of_kind(group, name)]
    named = [binding for client in there for binding in annotated(client)]
    read = [binding for binding in named if _is_read(binding.holder, catalog)]
    for binding in found:
        resource, by = binding.resolution.resource, binding.kind and binding.kind.clients
        if not there or not by:
            yield binding
            continue
        name = text(value_at(resource.body, tuple(by.anonymous.split(".")))) if resource is not None else ""
        closes = bool(name) and (calls_nobody(name, by, there) or _closes(name, by, read, found))
        yield _narrowed(binding, named, closes=closes)


def _narrowed(binding: ObjectBinding, named: Sequence[ObjectBinding], *, closes: bool) -> ObjectBinding:
    home = binding.holder.key.namespace
    same = any(other.wanted == binding.wanted and other.holder.key.namespace == home for other in named)
    own = any(other.wanted != binding.wanted and other.says == binding.says and not other.is_off for other in named)
    of_some = same and binding.form != "label"
    return binding._replace(of_some=of_some, spares=own, closes=closes)


def calls_nobody(name: str, by: Clients, clients: Sequence[Resource]) -> bool:
    """Return whether a name is one by which nobody calls the client that has it, and no client is called so."""
    called = {text(each.body.get(by.name)) for each in clients}
    return name not in called and any(name in (each.key.name, each.body.get(by.mistaken)) for each in clients)


def _closes(name: str, by: Clients, named: Sequence[ObjectBinding], found: Sequence[ObjectBinding]) -> bool:
    """Return whether the client that stands for whoever does not log in is surely turned away everywhere."""
    on_ways = {other.wanted for other in found}
    return any(
        text(other.holder.body.get(by.name)) == name
        and other.says == by.refuses
        and other.resolution.found
        and other.wanted not in on_ways
        and not other.is_off
        for other in named
    )


def _is_read(client: Resource, catalog: Catalog) -> bool:
    """Return whether a client surely is its controller's."""
    kind = catalog.get(*client.key[:2])
    return kind is None or names_reader(client, kind.read_with)
