"""Ways in for connections that no proxy reads as requests: objects of ingress controllers for TCP, TLS and UDP.

Which kinds there are, and where in them a port, a server name and a Service stand: `streams` of schemas/doors.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.doors.failing import at_port
from policylint.doors.lowered import Door, DoorRule, Guard, Opening, door, made_of
from policylint.doors.variables import stands_in_variable
from policylint.doors.vendors import guards, stream_kinds, streams
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.topology import BackendState
from policylint.topology.service_ports import BY_NUMBER_OR_NAME

UNSTATED = 0
"""The port of a listener whose port no manifest states."""
Backends = Callable[[Resource], tuple[BackendState, ...]]


def stream_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield where controllers take connections: one door for each, and one for each listener of unknown port."""
    found: dict[str, list[DoorRule]] = {}
    controllers: dict[str, str] = {}
    for entry, kind in zip(streams(), stream_kinds(), strict=True):
        for holder in world.of_kind(*kind):
            for name, rule in _rules(world, entry, holder):
                found.setdefault(name, []).append(rule)
                controllers[name] = text(entry.get("controller"))
    for name, rules in found.items():
        group = rules[0].holder.key.group
        holder = made_of(rules[0].holder, {}, {}, ResourceKey(group, "Streams", "", name))
        yield door(holder, controllers[name], rules, guards(), backends)


def _rules(world: World, entry: Mapping[str, Any], holder: Resource) -> Iterator[tuple[str, DoorRule]]:
    """Yield what an object does with connections, each with the name of the door."""
    place = _pointer(entry, "rules")
    written = value_at(holder.body, place)
    if stands_in_variable(holder, place):
        written = text(holder.body.get("spec")) or written
    for number, rule in enumerate(written if isinstance(written, list) else [written] if written else ()):
        at: Pointer = (*place, number) if isinstance(written, list) else place
        opening, listener = _opening(world, entry, mapping(rule))
        hidden = _hidden_choice(entry, mapping(rule))
        body = {"backendRefs": hidden or [*_references(world, entry, holder, mapping(rule))]}
        unread = text(holder.annotations.get(text(entry.get("asking"))))
        asked = (Guard(holder, {"unread": unread}, {("unread",): ("metadata", "annotations")}),) if unread else ()
        name = f"{entry.get('door')}-{listener}" if listener and opening.port == UNSTATED else text(entry.get("door"))
        yield name, DoorRule(holder, opening, opening.hostname, f"stream-{number}", body, at, asked)


def _opening(world: World, entry: Mapping[str, Any], rule: Mapping[str, Any]) -> tuple[Opening, str]:
    """Return the port of a rule, and the name of the listener that states it; with a server name there is TLS."""
    listener, port = text(_of(entry, "listener", rule)), _of(entry, "port", rule)
    about = mapping(entry.get("listeners"))
    for each in world.of_kind(*text(about.get("kind")).rsplit("/", 1)) if about else ():
        for stated in map(mapping, sequence(value_at(each.body, _pointer(about, "at")))):
            port = stated.get("port") if stated.get("name") == listener else port
    port = mapping(entry.get("known")).get(listener, port)
    number = port if isinstance(port, int) else whole_number(text(port))
    host = text(_of(entry, "host", rule)).lower()
    protocol = text(_of(entry, "protocol", rule), text(entry.get("scheme"), "tcp")).lower()
    scheme = "udp" if protocol == "udp" else "tls" if host else "tcp"
    return Opening(
        scheme, UNSTATED if number is None else number, host, listener in mapping(entry.get("known"))
    ), listener


def _hidden_choice(entry: Mapping[str, Any], rule: Mapping[str, Any]) -> str:
    """Return the variable that stands for which of its Services a rule takes, "" where none does."""
    wanted, written = _of(entry, "chosen", rule), _of(entry, "backends", rule)
    names = [mapping(each).get("name") for each in sequence(written)] if "chosen" in entry else []
    return next((text(each) for each in (wanted, *names) if wanted not in names and is_symbolic(each)), "")


def _references(
    world: World, entry: Mapping[str, Any], holder: Resource, rule: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the Services of a rule as routes name them."""
    written, wanted = _of(entry, "backends", rule), _of(entry, "chosen", rule)
    for backend in map(mapping, written if isinstance(written, list) else [written]):
        if "chosen" in entry and backend.get("name") != wanted:
            continue
        name, port = text(_of(entry, "service", backend)), _of(entry, "number", backend)
        if entry.get("isAddress") is True:  # `tcp://db.shop:9000`
            name, _, port = name.rpartition("://")[2].partition(":")
        name, _, rest = name.partition(".")
        namespace = rest.partition(".")[0] or holder.key.namespace
        number = port if isinstance(port, int) else whole_number(text(port))
        service = world.get(ResourceKey("", "Service", namespace, name))
        weight = backend.get("weight", 1)
        is_known = number is not None or is_symbolic(port)
        named = {"port": port if number is None else number} if is_known else at_port(service, port, BY_NUMBER_OR_NAME)
        yield {"name": name, "namespace": namespace, **named, "weight": weight}


def _of(entry: Mapping[str, Any], field: str, rule: Mapping[str, Any]) -> object:
    return value_at(rule, _pointer(entry, field)) if field in entry else None


def _pointer(entry: Mapping[str, Any], field: str) -> Pointer:
    steps = filter(None, text(entry.get(field)).split("."))
    return tuple(int(step) if step.isdigit() else step for step in steps)
