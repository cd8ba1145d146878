"""What NGINX Ingress Controller rejects of VirtualServers and VirtualServerRoutes, and leaves out of them.

Source: nginx/kubernetes-ingress, pkg/apis/configuration/validation/virtualserver.go; internal/k8s/configuration.go
(validateVSRs, validateVSRSelectors).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.nginx_policies import GROUP
from policylint.doors.variables import is_left_open
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple

ROUTE = (GROUP, "VirtualServerRoute")
_MODIFIERS = ("~*", "~", "^~", "=")
_CALLED = ("action", "splits", "route", "routeSelector")


class LocationPath(NamedTuple):
    """The path of a route: its modifier, "" for none, and what it is about."""

    modifier: str
    value: str

    @classmethod
    def of(cls, written: str) -> LocationPath:
        """Read a path; blanks after its modifier say nothing."""
        modifier = next((each for each in _MODIFIERS if written.startswith(each)), "")
        return cls(modifier, written.removeprefix(modifier).lstrip() if modifier else written)

    @property
    def is_expression(self) -> bool:
        """Whether it is a regular expression."""
        return self.modifier.startswith("~")

    @property
    def sort(self) -> str:
        """What paths of one VirtualServerRoute have in common."""
        return "~" if self.is_expression else self.modifier


def children(world: World, server: Resource, route: Mapping[str, Any]) -> list[Resource]:
    """Return the VirtualServerRoutes that a route names, by name or by their labels, as far as they are here."""
    if name := text(route.get("route")):
        child = world.get(child_key(server, name))
        return [] if child is None else [child]
    wanted = mapping(mapping(route.get("routeSelector")).get("matchLabels"))
    return [each for each in world.of_kind(*ROUTE) if wanted and wanted.items() <= each.labels.items()]


def child_key(server: Resource, name: str) -> ResourceKey:
    """Return the VirtualServerRoute that a name means, `namespace/name` or `name`."""
    namespace, _, name = name.rpartition("/")
    return ResourceKey(*ROUTE, namespace or server.key.namespace, name)


def fault_of_server(server: Resource) -> tuple[Pointer, str] | None:
    """Return where and why a VirtualServer is rejected as a whole, None where that is not known."""
    found = _fault_of_server(server)
    return None if found is None or is_left_open(server) else found


def _fault_of_server(server: Resource) -> tuple[Pointer, str] | None:
    if not text(server.spec.get("host")):
        return ("spec",), "it has no `host`"
    if found := _fault_of_policies(server, server.spec, ("spec",)):
        return found
    sorts: dict[str, str] = {}
    for number, route in enumerate(map(mapping, sequence(server.spec.get("routes")))):
        name = text(route.get("route"))
        sort = LocationPath.of(text(route.get("path"))).sort
        if name and sorts.setdefault(name, sort) != sort:
            return ("spec", "routes", number, "path"), f"its routes name {name} by paths of two sorts"
    return _fault_of_routes(server, "routes")


def _fault_of_routes(holder: Resource, field: str) -> tuple[Pointer, str] | None:
    """Return where and why the routes of an object are not taken, and with them the object."""
    upstreams = {text(mapping(each).get("name")) for each in sequence(holder.spec.get("upstreams"))}
    are_open = any(map(is_symbolic, upstreams))
    seen: set[LocationPath] = set()
    for number, route in enumerate(map(mapping, sequence(holder.spec.get(field)))):
        place: Pointer = ("spec", field, number)
        path = LocationPath.of(text(route.get("path")))
        if is_symbolic(path.value):
            return None
        if not path.is_expression and not path.value.startswith("/"):
            return (*place, "path"), f"path `{text(route.get('path'))}` does not begin with /, ~, = or ^~"
        if path in seen:
            return (*place, "path"), f"two routes have the path {text(route.get('path'))}"
        seen.add(path)
        called = [name for name in _CALLED if route.get(name)]
        listed = called if field == "routes" else [name for name in called if name in _CALLED[:2]]
        if len(called) != 1 or called != listed:
            of = " and ".join(f"`{name}`" for name in called) or "nothing to send requests to"
            return place, f"a route has {of}"
        if found := _fault_of_policies(holder, route, place):
            return found
        for at, stated in decisions(route, place):
            if found := _fault_of_decision(at, stated, None if are_open else upstreams):
                return found
        for index, match in enumerate(map(mapping, sequence(route.get("matches")))):
            if not sequence(match.get("conditions")):
                return (*place, "matches", index), "a match has no conditions"
    return None


def _fault_of_policies(holder: Resource, stated: Mapping[str, Any], place: Pointer) -> tuple[Pointer, str] | None:
    seen: set[tuple[str, str]] = set()
    for number, each in enumerate(map(mapping, sequence(stated.get("policies")))):
        named = text(each.get("namespace")) or holder.key.namespace, text(each.get("name"))
        if named in seen:
            return (*place, "policies", number), f"it names policy {'/'.join(named)} twice"
        seen.add(named)
    return None


def decisions(route: Mapping[str, Any], place: Pointer) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Yield what of a route says where requests go, the route itself last."""
    for index, match in enumerate(map(mapping, sequence(route.get("matches")))):
        yield (*place, "matches", index), match
    yield place, route


def _fault_of_decision(
    place: Pointer, stated: Mapping[str, Any], upstreams: Collection[str] | None
) -> tuple[Pointer, str] | None:
    splits = list(map(mapping, sequence(stated.get("splits"))))
    actions = [((*place, "action"), stated.get("action"))] if stated.get("action") else []
    actions += [((*place, "splits", number, "action"), each.get("action")) for number, each in enumerate(splits)]
    for at, written in actions:
        action = mapping(written)
        held = [name for name in ("pass", "redirect", "return", "proxy") if action.get(name)]
        if len(held) != 1:
            return at, f"an action has {' and '.join(f'`{name}`' for name in held) or 'nothing to do'}"
        name = upstream_of(action)
        if name and upstreams is not None and name not in upstreams and not is_symbolic(name):
            return at, f"an action names upstream {name}, which `upstreams` does not have"
    weights = [each.get("weight") for each in splits]
    whole = [weight for weight in weights if isinstance(weight, int)]
    if splits and (len(splits) < 2 or (len(whole) == len(weights) and sum(whole) != 100)):
        return (*place, "splits"), "the weights of two splits or more must add up to 100"
    return None


def fault_of_child(world: World, server: Resource, route: Mapping[str, Any], child: Resource) -> str:
    """Return why a VirtualServerRoute is left out where a route names it; "" where it is not."""
    host, own = text(server.spec.get("host")), text(child.spec.get("host"))
    if own != host:
        return f"its host is {own or 'empty'}, and not {host}"
    if found := _fault_of_routes(child, "subroutes"):
        return found[1]
    path = LocationPath.of(text(route.get("path")))
    paths = [LocationPath.of(text(mapping(each).get("path"))) for each in sequence(child.spec.get("subroutes"))]
    if path.modifier == "=":
        return "" if paths == [path] else f"it must have one subroute, of path ={path.value}"
    if path.is_expression:
        named = {
            LocationPath.of(text(each.get("path")))
            for each in map(mapping, sequence(server.spec.get("routes")))
            if child in children(world, server, each)
        }
        return "" if set(paths) == named else "its subroutes are not the paths that name it"
    other = next((each for each in paths if each.modifier != path.modifier or not begins(each, path)), None)
    return "" if other is None else f"its subroute {other.modifier}{other.value} does not begin with {path.value}"


def begins(path: LocationPath, above: LocationPath) -> bool:
    """Return whether the text of a path begins with that of another, whatever their modifiers."""
    return path.value.startswith(above.value)


def upstream_of(action: Mapping[str, Any]) -> str:
    """Return the upstream that an action sends requests to, "" where it answers by itself."""
    return text(action.get("pass")) or text(mapping(action.get("proxy")).get("upstream"))
