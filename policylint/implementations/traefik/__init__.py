"""Traefik: Middlewares that it cannot build, for which it leaves the router of a rule out.

Source: traefik v3.5 pkg/server/middleware/middlewares.go, buildConstructor and checkRecursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.implementations.generic import Implementation
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.forged import ForgedRule, ProxiedList
from policylint.implementations.generic.sessions import BackendSession
from policylint.implementations.generic.traffic import ServingMatch
from policylint.implementations.traefik import routers
from policylint.implementations.traefik.entry_points import entry_points, why_unserved
from policylint.implementations.traefik.forwarding import trusted
from policylint.implementations.traefik.middlewares import (
    LISTS,
    address_decision,
    handled,
    of_no_sort,
    unusable,
    without_users,
)
from policylint.matches import Match
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.words import listing
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.handling import Handling
from policylint.topology import Topology
from policylint.topology.ancestry import implementation_of
from policylint.topology.extensions import extensions_of
from policylint.topology.routes import Rule
from policylint.topology.workloads import Labels

_MIDDLEWARE = ("traefik.io", "Middleware")
_INGRESS_ROUTE = ("traefik.io", "IngressRoute")
_DEEPEST = 64
"""Most chains within each other that are looked at."""


class Traefik(Implementation):
    """Filters and kinds are as the catalog says; a Middleware is of one sort, and no chain leads back to itself.

    Of GRPCRoutes all servers are `h2c://` (pkg/provider/kubernetes/gateway/grpcroute.go, loadGRPCServers @ v3.7.9); its
    next minor release reads the policy there too (issue 12176).
    """

    name = "traefik"
    places_before_hosts = True
    places_wider = True  # priorities that routes state
    preflights = 200, True  # pkg/middlewares/headers/header.go, processCorsHeaders
    without_tls = frozenset({"GRPCRoute"})
    calls_by_path = True  # routers.py
    names_core = True  # pkg/provider/kubernetes/gateway/{http,grpc,tcp,tls}route.go, groupCore

    def session(
        self,
        backend: ResourceKey,
        port: int | None,
        caller: Resource | None,
        world: World,
        stated: BackendSession | None,
        labels: Labels = (),  # noqa: ARG002
    ) -> BackendSession | None:
        from policylint.implementations.traefik.sessions import session

        return stated or session(backend, port, caller, world)

    def reads(self, rule: Mapping[str, Any], found: Sequence[Match], *, grpc: bool) -> Sequence[Match]:  # noqa: ARG002
        return tuple(map(routers.read, found))

    def of_call(self, call: Match) -> Match:
        return routers.of_call(call)

    def placed(self, found: Sequence[ServingMatch]) -> Iterable[tuple[int, int]]:
        """Return the matches by the priorities of their routers, whatever their hosts."""
        ranks = (routers.priority(each.route, each.rule.number, each.match, each.hostname) for each in found)
        return ((number, -rank) for number, rank in enumerate(ranks))

    def outplaced(self, place: int, first: int) -> str:
        return f"its router has priority {-place}, the other one {-first}"

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:  # noqa: ARG002
        """Yield what a list of addresses answers; whose address it is where a strategy says so, is not known."""
        for name in ("ipAllowList", "ipWhiteList"):
            decision = address_decision(name, spec.get(name), message)
            if decision is not None:
                yield decision

    def handle(self, extension: Resource, message: RequestFacts, world: World) -> Handling | None:
        """Return what a Middleware does with a request."""
        return handled(extension, message, world) if extension.key[:2] == _MIDDLEWARE else None

    def unserved_listeners(self, topology: Topology, catalog: Catalog) -> Mapping[Node, str]:
        """Return the listeners without an entry point, and those of all ListenerSets.

        No provider reads that kind (pkg/provider/kubernetes @ v3.7.13).
        """
        gateways = (
            state for state in topology.gateways if state.gateway.key.kind == "Gateway"
        )  # others name entry points
        own = [state for state in gateways if implementation_of(state, catalog) == self.name]
        points = entry_points(topology.world) if own else {}
        keys = {state.gateway.key for state in own}
        sets = (state for state in topology.listener_sets if state.parent in keys)
        unserved = {each.node: "Traefik reads no ListenerSets" for state in sets for each in state.listeners}
        listeners = (each for state in own for each in state.listeners if each.node not in unserved)
        return unserved | {each.node: why for each in listeners if (why := why_unserved(each, points))}

    def filter_fault(self, extension: Resource, topology: Topology) -> str:
        """Return why a Middleware cannot be built, itself or one of those that its chain names."""
        return "" if extension.key[:2] != _MIDDLEWARE else _fault(extension, topology.world, (extension.key,), set())

    def forgeable_lists(self, world: World) -> Iterable[ForgedRule]:
        """Return the Middlewares with a strategy for addresses, where an entry point believes everybody."""
        from policylint.implementations.traefik.lists import forgeable

        return forgeable(world)

    def lists_of_proxies(self, world: World) -> Iterable[ProxiedList]:
        """Return the lists without a strategy, where the entry points name proxies."""
        from policylint.implementations.traefik.lists import against_proxies

        return against_proxies(world)

    def lists_of_connecting(self, world: World) -> Iterable[ProxiedList]:
        """Return the lists without a strategy."""
        from policylint.implementations.traefik.lists import by_connection

        return by_connection(world)

    def dead_ends(self, world: World) -> Iterable[DeadEnd]:
        """Yield the rules of IngressRoutes with a Middleware that cannot be built: no router is made of them."""
        for ingress in world.of_kind(*_INGRESS_ROUTE):
            for number, route in enumerate(map(mapping, sequence(ingress.spec.get("routes")))):
                for index, named in enumerate(map(mapping, sequence(route.get("middlewares")))):
                    namespace = text(named.get("namespace")) or ingress.key.namespace
                    middleware = world.get(ResourceKey(*_MIDDLEWARE, namespace, text(named.get("name"))))
                    fault = "" if middleware is None else _fault(middleware, world, (middleware.key,), set())
                    if middleware is not None and (sort := _unmet_strategy(middleware, ingress, world)):
                        place = ("spec", "routes", number, "middlewares", index)
                        does = f"names {middleware.key}, with a {sort}.ipStrategy that reads X-Forwarded-For"
                        does = f"{does}, and the entry point takes that header off, whoever sends it"
                        fix = "trust the proxies in front by `forwardedHeaders.trustedIPs` of the entry point"
                        fix = f"{fix}, or leave `ipStrategy` out"
                        then = "no address is found, and every request is answered with 403"
                        yield DeadEnd(ingress, place, does, fix, (middleware.key,), then=then)
                    if middleware is not None and fault:
                        place = ("spec", "routes", number, "middlewares", index)
                        does = f"names {middleware.key}, which cannot be used: {fault}"
                        then = (
                            "Traefik makes no router of the rule: its requests go to another one that fits, "
                            "else they are answered with 404"
                        )
                        yield DeadEnd(ingress, place, does, "mend the Middleware", (middleware.key,), then=then)

    def rule_fault(self, route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:
        """Return the 404 of a rule with a Middleware that cannot be built."""
        place = ("spec", "rules", rule.number, "filters")
        for extension in extensions_of(topology.world, route, rule.body.get("filters"), place):
            resource = extension.resolution.resource
            fault = "" if resource is None else self.filter_fault(resource, topology)
            if fault:
                return 404, f"{extension.wanted} cannot be used: {fault}"
        return None


def _unmet_strategy(middleware: Resource, ingress: Resource, world: World) -> str:
    """Return the list of addresses that holds nobody, since entry points trust no X-Forwarded-For that it reads."""
    for sort in LISTS:
        strategy = mapping(mapping(middleware.spec.get(sort)).get("ipStrategy"))
        if strategy.get("depth") or strategy.get("excludedIPs"):
            scheme = "https" if isinstance(ingress.spec.get("tls"), dict) else "http"
            return sort if trusted(world, scheme) == () else ""
    return ""


def _fault(middleware: Resource, world: World, above: tuple[ResourceKey, ...], fine: set[ResourceKey]) -> str:
    """Return what is wrong with a Middleware that the chains `above` it lead to; those that are `fine` are known."""
    sorts = sorted(name for name, value in middleware.spec.items() if value is not None)
    if sorts and (said := of_no_sort(middleware)):
        return f"it is of no sort that Traefik knows ({said})"
    if len(sorts) != 1:
        return f"it is of {len(sorts)} sorts, {listing(sorts)}" if sorts else "it is of no sort"
    if own := unusable(middleware) or without_users(middleware, world):
        return own
    chain: Mapping[str, Any] = mapping(middleware.spec.get("chain"))
    for entry in map(mapping, sequence(chain.get("middlewares"))):
        namespace = text(entry.get("namespace")) or middleware.key.namespace
        key = ResourceKey(*_MIDDLEWARE, namespace, text(entry.get("name")))
        if key in above:
            return f"its chain leads back to {key}"
        resource = world.get(key)
        if resource is None or key in fine or len(above) == _DEEPEST:
            continue
        fault = _fault(resource, world, (*above, key), fine)
        if fault:
            return f"{key}: {fault}"
    fine.add(middleware.key)
    return ""
