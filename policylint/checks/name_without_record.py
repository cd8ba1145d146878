"""GWP417 name-without-record: hostnames of routes of a kind that no ExternalDNS in the tree reads."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.record_makers import record_makers
from policylint.model import GATEWAY_GROUP, Finding, Resource, is_symbolic, texts
from policylint.model.words import leading
from policylint.simulation import Simulation

RULE = "GWP417"
_OPTION = "--source="
_SOURCES = {kind: f"gateway-{kind.lower()}" for kind in ("HTTPRoute", "GRPCRoute", "TLSRoute")}
"""The kinds of routes with hostnames, and what has ExternalDNS read them."""
_MOST_NAMED = 3


def check(simulation: Simulation) -> Iterator[Finding]:
    makers = simulation.world.once(record_makers)
    if makers is None or not any(source in _SOURCES.values() for each in makers for source in each.sources):
        return
    for kind, source in _SOURCES.items():
        if any(source in each.sources for each in makers):
            continue
        routes = [each for each in simulation.world.of_kind(GATEWAY_GROUP, kind) if _names(each)]
        if routes:
            holder = makers[0].holder
            names = leading(dict.fromkeys(name for route in routes for name in _names(route)), _MOST_NAMED)
            yield Finding(
                RULE,
                "note",
                f"ExternalDNS reads no {kind}s ({_OPTION}{source}), and makes no record for {names}",
                routes[0].location("spec", "hostnames"),
                resources=(routes[0].key, holder.key, *(each.key for each in routes[1:])),
                label=f"{holder.key} reads {leading(makers[0].sources, _MOST_NAMED)}",
                help=(f"fix: add {source} to its sources",),
                confidence="assumed",
                ground="something else may make the record",
                field="spec.hostnames",
            )


def _names(route: Resource) -> list[str]:
    return [name for name in texts(route.spec.get("hostnames")) if not is_symbolic(name)]
