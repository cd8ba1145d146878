"""What an object beside Gateway API lets in (an Ingress, a VirtualService, an IngressRoute), by its doors and ways, and
where one asks for something that neither lets anybody in nor targets what does (a plugin for everything)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.doors import is_door, with_doors
from policylint.doors.dead_ends import holders
from policylint.explain.fact import Fact
from policylint.explain.subject import Subject
from policylint.model.resource import dotted
from policylint.model.words import count
from policylint.reach import WayIn, asked, end_in_words, entries_of_routes, in_words, ways_to
from policylint.simulation import Simulation
from policylint.trace import PURPOSES, Requirements, Tracer

_MOST = 12


def at_doors(subject: Subject) -> Simulation:
    """Return the simulation in which an object is looked at: with doors where they alone know it."""
    simulation, key, _ = subject
    opened = with_doors(simulation)
    if opened is simulation or key in simulation.policies:
        return simulation
    known = simulation.topology.route(key) or simulation.topology.gateway(key)
    lets_in = opened.topology.route(key) is not None or (opened.topology.gateway(key) is not None and is_door(key))
    is_named = any(binding.wanted == key for binding in opened.bindings)
    return opened if known is None and (lets_in or is_named or opened.acting.of_policy(key)) else simulation


def facts(simulation: Simulation, subject: Subject) -> Iterator[Fact]:
    """Yield the ways in through an object that doors alone know, each with its end and what is asked, or else where it
    asks for something."""
    key = subject.key
    for holder, place in dict.fromkeys(holders(simulation.world, key)):
        yield Fact("named by", f"{holder} ({dotted(place)})")
    if simulation is subject.simulation:
        return
    if simulation.topology.route(key) is None:
        acting = simulation.acting
        places = sorted({str(node) for number in acting.of_policy(key) for node in acting.places(number)})
        yield from (Fact("acts at", place) for place in places[:_MOST])
        if len(places) > _MOST:
            yield Fact("acts at", f"{count(len(places) - _MOST, 'other place')}")
        return
    tracer = Tracer(simulation, nearest=False)
    requirements = Requirements(tracer)
    told: dict[str, None] = {}
    for way in ways_to(tracer, entries_of_routes(tracer).get(key, ()), key):
        told[_way(requirements, way)] = None
    for words in [*told][:_MOST]:
        yield Fact("way", words)
    if len(told) > _MOST:
        yield Fact("way", f"and {count(len(told) - _MOST, 'other')}: policylint reach")


def _way(requirements: Requirements, way: WayIn) -> str:
    """Return `https://shop.example.com /admin/** -> shop/admin, login: externalAuth by Ingress shop/web`."""
    requests = in_words(way.dimensions, way.boxes)
    words = f"{way.entry.scheme}://{way.entry.hostname or '*'} {requests} -> {end_in_words(way.trace)}"
    if not way.trace.outcome.backends:
        return words
    login, authorization = (asked(requirements, way, purpose) for purpose in PURPOSES)
    words += f", login: {login}"
    return words if authorization.state == "open" else f"{words}, authorization: {authorization}"
