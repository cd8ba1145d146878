"""Server names whose TLS the routers of requests take before those of connections, at an entry point of Traefik.

Source: traefik/traefik @ v3, pkg/server/router/tcp/router.go, ServeTCP: a router of HTTPS for the name comes first,
before one of connections for it; Traefik 2.6 and older had the other order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policylint.doors.annotations import served
from policylint.doors.traefik_options import ENTRY_POINTS, class_of, is_for_tls
from policylint.doors.traefik_rules import alternatives
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.entry_points import unsecured
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text, texts

_GROUP = "traefik.io"
_OLDER = "Traefik before 2.7 gave it to the router of connections"
_THEN = "no connection gets to it"
_FIX = "leave one of the two out, or give them names of their own"
Place = tuple[str, str, str]
"""A class, an entry point and a server name."""


def taken_first(world: World, place: Place) -> Resource | None:
    """Return what takes the TLS of a server name at an entry point for its requests; None where nothing does."""
    return world.once(_by_place).get(place)


def never_reached(world: World) -> Iterator[DeadEnd]:
    """Yield the rules for connections whose names routers of requests take at all of their entry points."""
    for route in world.of_kind(_GROUP, "IngressRouteTCP"):
        for number, rule in enumerate(map(mapping, sequence(route.spec.get("routes")))):
            names = _names(text(rule.get("match")), "hostsni") if isinstance(route.spec.get("tls"), dict) else ()
            places = [(class_of(route), point, name) for point in _entry_points(route) for name in names]
            takers = [taken_first(world, place) for place in places]
            first = takers[0] if takers and all(takers) else None
            if first is not None:
                does = f"is for {places[0][2]}, whose TLS {first.key} takes first"
                pointer = ("spec", "routes", number, "match")
                yield DeadEnd(route, pointer, does, _FIX, (first.key,), _OLDER, _THEN, severity="warning")


def _by_place(world: World) -> Mapping[Place, Resource]:
    found: dict[Place, Resource] = {}
    for route in world.of_kind(_GROUP, "IngressRoute"):
        states = isinstance(route.spec.get("tls"), dict)
        for point in (each for each in _entry_points(route) if states or _ends_tls(world, each)):
            for rule in map(mapping, sequence(route.spec.get("routes"))):
                for name in _names(text(rule.get("match")), "host"):
                    found.setdefault((class_of(route), point, name), route)
    connections = world.of_kind(_GROUP, "IngressRouteTCP")
    of_names = {class_of(route) for route in connections}
    ingresses = [(each, vendor) for each, vendor, _ in served(world) if vendor.name == "traefik"] if connections else ()
    lone = len({class_of(ingress) for ingress, _ in ingresses}) == 1
    for ingress, vendor in ingresses:
        stated = vendor.value(ingress, "router.entrypoints")
        points = [part.strip() for part in stated.split(",")] if stated else list(ENTRY_POINTS)
        states = vendor.value(ingress, vendor.secured) == "true"
        name = class_of(ingress) if class_of(ingress) in of_names or not lone else ""
        for point in (each for each in points if states or _ends_tls(world, each)):
            for rule in map(mapping, sequence(ingress.spec.get("rules"))):
                host = text(rule.get("host")).lower()
                if host and "*" not in host and not is_symbolic(host):
                    found.setdefault((name, point, host), ingress)
    return found


def _ends_tls(world: World, point: str) -> bool:
    """Return whether an entry point ends TLS for routers that do not ask for it: that of the chart does."""
    return is_for_tls(point) and point not in world.once(unsecured)


def _entry_points(route: Resource) -> list[str]:
    return texts(route.spec.get("entryPoints")) or list(ENTRY_POINTS)


def _names(rule: str, matcher: str) -> list[str]:
    """Return the names that matchers of a rule are for, none where some of them are for more than names."""
    read = [each for alternative in alternatives(rule) or () for each in alternative]
    named = [each for each in read if each.name.lower() == matcher and not each.negated]
    if matcher == "hostsni" and len(named) < len(read):
        return []
    return [name.lower() for each in named for name in each.arguments if "*" not in name]
