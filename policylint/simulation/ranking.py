"""How the rules of routes rank at a Gateway: what they match, the ages of routes, places in them.

Source: docs/design/request-precedence.md §4 and §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.implementations import implementation
from policylint.implementations.generic import Traffic
from policylint.matches import Match, matches
from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.topology import GatewayState
from policylint.topology.ancestry import implementation_of
from policylint.topology.extensions import extensions_of
from policylint.topology.routes import Rule

if TYPE_CHECKING:
    from policylint.implementations.generic.stops import Stop
    from policylint.simulation import Simulation


class Ranking(NamedTuple):
    """How the routes of a Gateway rank where implementations differ.

    Args:
        by: who ranks them, as its attributes say; the specification where it is not known.
        as_written: whether routes rank by their own hostnames, not by what the listener leaves of them. So the spec
            says (HTTPRouteSpec.Hostnames); implementations that are known do not, unless they support
            GatewayRouteHostnameIntersectionPrecedence.
        stated: whether rules have their weights with them, as those of doors do that are no Gateways.
    """

    by: Traffic = Traffic()
    as_written: bool = False
    stated: bool = False


def ranking(simulation: Simulation, gateway: GatewayState | None) -> Ranking:
    """Return how the routes of a Gateway rank, None for one that was not seen."""
    if gateway is not None and gateway.gateway.key[:2] != (GATEWAY_GROUP, "Gateway"):
        return Ranking(stated=True)
    name = None if gateway is None else implementation_of(gateway, simulation.catalog)
    if name is None:
        return Ranking(as_written=gateway is not None)
    return Ranking(implementation(name, simulation.catalog.settings(name)))


def sharing(simulation: Simulation) -> Mapping[ResourceKey, Sequence[ResourceKey]]:
    """Return for each Gateway all whose requests one proxy takes together with its own, itself included, sorted."""
    found: dict[ResourceKey, Sequence[ResourceKey]] = {}
    for gateway in simulation.topology.gateways:
        key, name = gateway.gateway.key, implementation_of(gateway, simulation.catalog)
        if key not in found:
            behaviour = Traffic() if name is None else implementation(name, simulation.catalog.settings(name))
            together = sorted({key, *behaviour.sharing(gateway, simulation.topology, simulation.catalog)})
            found |= dict.fromkeys(together, together)
    return found


def stops(simulation: Simulation) -> Iterator[Stop]:
    """Yield the settings of policies for which listeners get no new configuration."""
    for name in dict.fromkeys(group.kind.implementation for group in simulation.groups):
        behaviour = implementation(name, simulation.catalog.settings(name))
        yield from behaviour.stops(simulation.groups, simulation.topology, simulation.catalog)


def unread_route(simulation: Simulation, route: Resource, gateway: GatewayState | None) -> str:
    """Return why the release that serves a Gateway does not read routes of a kind; "" where it does, or may."""
    if gateway is None or not simulation.catalog.releases:
        return ""
    return simulation.catalog.unread(implementation_of(gateway, simulation.catalog), route.key.kind)


def withheld(simulation: Simulation) -> Mapping[tuple[Node, Node], frozenset[str]]:
    """Return, by listener and attached route, the hostnames of both that are not served there."""
    topology, catalog = simulation.topology, simulation.catalog
    names = {gateway.gateway.key: implementation_of(gateway, catalog) for gateway in topology.gateways}
    found: dict[tuple[Node, Node], frozenset[str]] = {}
    for name in dict.fromkeys(each for each in names.values() if each is not None):
        own = {key for key, each in names.items() if each == name}
        of_all = implementation(name, catalog.settings(name)).withheld(topology).items()
        found |= {at: hosts for at, hosts in of_all if (here := topology.listener(at[0])) and here.gateway in own}
    return found


def standing(route: Resource, rule: int, match: Match) -> tuple[Any, ...]:
    """Return a sort key of the matches for one host, the first one first."""
    return (*(-weight for weight in match.weights), *route.age, route.key.kind, rule, match.number or 0)


def ranked(
    rule: Mapping[str, Any], order: Ranking, *, grpc: bool, narrowing: Sequence[Mapping[str, Any]] = ()
) -> Iterator[Match]:
    """Yield the matches of a rule as a Gateway ranks them; `narrowing`: see `matches`."""
    found = matches(rule, grpc=grpc, regex_last=order.by.regex_last, narrowing=narrowing)
    for match in order.by.reads(rule, found, grpc=grpc):
        if order.stated:
            yield match._replace(weights=rule["precedence"])
        else:
            yield order.by.of_call(match) if grpc and order.by.calls_by_path else match


def narrowing(simulation: Simulation, route: Resource, rule: Rule) -> Sequence[Mapping[str, Any]]:
    """Return what filters of a rule ask of requests beside its matches: those of the first object that has some."""
    if "filters" not in rule.body:
        return ()
    for extension in extensions_of(simulation.world, route, rule.body.get("filters"), ()):
        kind = simulation.catalog.get(*extension.wanted[:2])
        resource = extension.resolution.resource
        if kind is not None and kind.narrows and resource is not None:
            entries = [mapping(entry) for entry in sequence(resource.spec.get(kind.narrows))]
            if entries:
                return entries
    return ()
