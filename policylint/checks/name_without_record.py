"""GWP417 name-without-record: hostnames of routes of a kind that no ExternalDNS in the tree reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from policylint.load.charts import values_of
from policylint.model import GATEWAY_GROUP, Finding, Resource, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.words import leading
from policylint.simulation import Simulation

RULE = "GWP417"
_CHART, _IMAGE = "external-dns", "/external-dns"
_OPTION = "--source="
_VARIABLE = "EXTERNAL_DNS_SOURCE"
_SOURCES = {kind: f"gateway-{kind.lower()}" for kind in ("HTTPRoute", "GRPCRoute", "TLSRoute")}
"""The kinds of routes with hostnames, and what has ExternalDNS read them."""
_BY_DEFAULT = ("service", "ingress")
"""What the chart has it read where its values do not say."""
_MOST_NAMED = 3


def check(simulation: Simulation) -> Iterator[Finding]:
    instances = _instances(simulation.world)
    if instances is None or not any(source in _SOURCES.values() for _, read in instances for source in read):
        return
    for kind, source in _SOURCES.items():
        if any(source in read for _, read in instances):
            continue
        routes = [each for each in simulation.world.of_kind(GATEWAY_GROUP, kind) if _names(each)]
        if routes:
            holder = instances[0][0]
            names = leading(dict.fromkeys(name for route in routes for name in _names(route)), _MOST_NAMED)
            yield Finding(
                RULE,
                "note",
                f"ExternalDNS reads no {kind}s ({_OPTION}{source}), and makes no record for {names}",
                routes[0].location("spec", "hostnames"),
                resources=(routes[0].key, holder.key, *(each.key for each in routes[1:])),
                label=f"{holder.key} reads {leading(instances[0][1], _MOST_NAMED)}",
                help=(f"fix: add {source} to its sources",),
                confidence="assumed",
                ground="something else may make the record",
                field="spec.hostnames",
            )


def _names(route: Resource) -> list[str]:
    return [name for name in texts(route.spec.get("hostnames")) if not is_symbolic(name)]


def _instances(world: World) -> list[tuple[Resource, tuple[str, ...]]] | None:
    """Return what runs or installs ExternalDNS, each with its sources; None where those of one are not known."""
    found: list[tuple[Resource, tuple[str, ...]]] = []
    for workload in world.of_kind("apps", "Deployment"):
        from policylint.topology.workloads import pod_spec

        for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
            if _IMAGE in str(container.get("image")).partition(":")[0]:
                found.append((workload, _stated(texts(container.get("args"))) or _in_environment(container)))
    for release, values, is_whole in values_of(world, _CHART):
        if not is_whole:
            return None
        found.append((release, _of_values(values)))
    return None if any(is_symbolic(source) or not read for _, read in found for source in read or ("",)) else found


def _in_environment(container: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources that a variable states in place of arguments, one a line."""
    variables = map(mapping, sequence(container.get("env")))
    stated = next((text(each.get("value")) for each in variables if each.get("name") == _VARIABLE), "")
    return tuple(stated.split())


def _of_values(values: Mapping[str, Any]) -> tuple[str, ...]:
    more = values.get("extraArgs")
    also = [f"--{name}={value}" for name, value in more.items()] if isinstance(more, dict) else texts(more)
    return (*(texts(values.get("sources")) or _BY_DEFAULT), *_stated(also))


def _stated(arguments: list[str]) -> tuple[str, ...]:
    """Return the sources that arguments state, as one word or as two."""
    apart = pairwise(arguments)
    return (
        *(argument.removeprefix(_OPTION) for argument in arguments if argument.startswith(_OPTION)),
        *(value for option, value in apart if option == _OPTION.removesuffix("=")),
    )
