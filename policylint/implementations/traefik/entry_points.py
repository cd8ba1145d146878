"""The entry points of Traefik, as the arguments of its containers state them: a listener is served by that of its port.

Source: traefik v3.7 pkg/provider/kubernetes/gateway/kubernetes.go, entryPointName; doc.traefik.io, «EntryPoints».
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from policylint.implementations.generic.containers import containers
from policylint.model import World, mapping, sequence, text, texts
from policylint.patterns import Pattern
from policylint.topology import ListenerState

_PROVIDER = "--providers.kubernetesgateway"
_FILE = "--configfile"
_STATED = "--entrypoints."
_ADDRESS = Pattern(r"--entrypoints\.([^.=]+)\.address=.*:(\d+)(?:/tcp|/udp)?$")
_SECURED = Pattern(r"--entrypoints\.([^.=]+)\.http\.tls\b(?!.*=false$)")
_OUTSIDE = "TRAEFIK_"
"""How environment variables begin that configure it."""


def entry_points(world: World) -> Mapping[str, tuple[int, bool]]:
    """Return the entry points by name, with port and whether they end TLS; none where they may be stated elsewhere."""
    found: dict[str, tuple[int, bool]] = {}
    for arguments, variables in _containers(world):
        if not any(argument.startswith(_PROVIDER) for argument in arguments):
            continue
        if any(argument.startswith(_FILE) for argument in arguments) or any(map(_configures, variables)):
            return {}
        ports = {match[1]: int(match[2]) for argument in arguments if (match := _ADDRESS.match(argument))}
        secured = {match[1] for argument in arguments if (match := _SECURED.match(argument))}
        if not ports:
            return {}
        found |= {name: (port, name in secured) for name, port in ports.items()}
    return found


def why_unserved(listener: ListenerState, points: Mapping[str, tuple[int, bool]]) -> str:
    """Return why none of some entry points serves a listener, "" where one does or where that is not known."""
    if not points or listener.port is None:
        return ""
    here = [secured for port, secured in points.values() if port == listener.port]
    if here and (listener.protocol != "HTTP" or not all(here)):
        return ""
    known = ", ".join(f"{name} {port}" for name, (port, _) in sorted(points.items()))
    if here:
        return f"the entryPoint of Traefik with port {listener.port} ends TLS, which a listener for HTTP does not use"
    return f"no entryPoint of Traefik has port {listener.port}, only {known}"


def arguments_of(world: World) -> Iterator[list[str]]:
    """Yield the arguments of containers that state entry points, in lower case, where nothing else may state more."""
    for arguments, variables in _containers(world):
        if any(argument.startswith(_STATED) for argument in arguments) and not any(map(_configures, variables)):
            yield from () if any(argument.startswith(_FILE) for argument in arguments) else (arguments,)


def _containers(world: World) -> Iterator[tuple[list[str], Collection[str]]]:
    """Yield the arguments of containers, and the names of their environment variables."""
    for _, container in containers(world):
        written = (*texts(container.get("command")), *texts(container.get("args")))
        variables = [text(mapping(each).get("name")) for each in sequence(container.get("env"))]
        yield [argument.lower() for argument in written], variables


def _configures(variable: str) -> bool:
    return variable.startswith(_OUTSIDE)
