"""The entry points that the arguments of a controller's containers state, with the flags of Traefik.

Its routers are read as ways in (`doors`) and its Gateways by what is known of it: both ask here.
Source: doc.traefik.io, «EntryPoints».
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.implementations.generic.containers import containers
from policylint.load.charts import values_of
from policylint.model import World, mapping, sequence, text, texts
from policylint.patterns import Pattern

_CHART = "traefik"
_STATED = "--entrypoints."
_FILE = "--configfile"
_ADDRESS = Pattern(r"--entrypoints\.([^.=]+)\.address=.*:(\d+)(?:/tcp|/udp)?$")
_SECURED = Pattern(r"--entrypoints\.([^.=]+)\.http\.tls\b(?!.*=false$)")
_OUTSIDE = "TRAEFIK_"
"""How environment variables begin that configure it."""


def started(world: World, beginning: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the arguments of containers of which one begins so, in lower case, and whether others may state more."""
    for _, container in containers(world):
        written = (*texts(container.get("command")), *texts(container.get("args")))
        arguments = [argument.lower() for argument in written]
        if any(argument.startswith(beginning) for argument in arguments):
            variables = [text(mapping(each).get("name")) for each in sequence(container.get("env"))]
            filed = any(argument.startswith(_FILE) for argument in arguments)
            yield arguments, filed or any(variable.startswith(_OUTSIDE) for variable in variables)


def arguments_of(world: World) -> Iterator[list[str]]:
    """Yield the arguments of containers that state entry points, in lower case, where nothing else may state more."""
    return (arguments for arguments, more in started(world, _STATED) if not more)


def stated(arguments: Iterable[str]) -> Mapping[str, tuple[int, bool]]:
    """Return the entry points that arguments state by name, with port and whether they end TLS for every router."""
    arguments = list(arguments)
    secured = {match[1] for argument in arguments if (match := _SECURED.match(argument))}
    ports = {match[1]: int(match[2]) for argument in arguments if (match := _ADDRESS.match(argument))}
    return {name: (port, name in secured) for name, port in ports.items()}


def unsecured(world: World) -> frozenset[str]:
    """Return the names of the entry points that end TLS for no router but those that say so themselves."""
    here = [argument for arguments in arguments_of(world) for argument in arguments]
    of_charts = (name for _, values, _ in values_of(world, _CHART) for name in _switched_off(values))
    return frozenset((*(name for name, (_, secured) in stated(here).items() if not secured), *of_charts))


def _switched_off(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entry points for which values of the chart switch TLS off (traefik-helm-chart, `ports`)."""
    for name, port in mapping(values.get("ports")).items():
        stated_tls = (mapping(port).get("tls"), mapping(mapping(port).get("http")).get("tls"))
        if any(mapping(tls).get("enabled") is False for tls in stated_tls):
            yield str(name).lower()
