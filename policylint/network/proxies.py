"""How the proxies of a Gateway stand in the network; `implementations/generic/data_planes` finds where they run."""

from __future__ import annotations

from collections.abc import Mapping

from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint


class DataPlane(NamedTuple):
    """One way in which a Gateway's proxies may be deployed; the first of several is the default.

    Args:
        privileged: what is added to listener ports below 1024 for the container's; None where that is not known.
        ports: the container's port by the listener's, where that is stated.
    """

    gateway: ResourceKey
    endpoint: Endpoint
    privileged: int | None = 0
    ports: Mapping[int, int] = {}

    def container_port(self, port: int) -> int | None:
        """Return the port on which the proxies listen for a listener's, None where that is not known."""
        if port in self.ports:
            return self.ports[port]
        if port >= 1024:
            return port
        return None if self.privileged is None else port + self.privileged
