"""The entry points of Traefik, as the arguments of its containers state them: a listener is served by that of its port.

Source: traefik v3.7 pkg/provider/kubernetes/gateway/kubernetes.go, entryPointName; doc.traefik.io, «EntryPoints».
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.implementations.generic.entry_points import started, stated
from policylint.model import World
from policylint.topology import ListenerState

_PROVIDER = "--providers.kubernetesgateway"


def entry_points(world: World) -> Mapping[str, tuple[int, bool]]:
    """Return the entry points by name, with port and whether they end TLS; none where they may be stated elsewhere."""
    found: dict[str, tuple[int, bool]] = {}
    for arguments, more in started(world, _PROVIDER):
        here = stated(arguments)
        if more or not here:
            return {}
        found |= here
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
