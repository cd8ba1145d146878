"""What a mesh makes of what its pods send to each other: policies then see another port than the one that is asked for.

Which mesh does so, and to whom, is said by its implementation (`Implementation.tunnel`).
"""

from __future__ import annotations

from collections.abc import Callable

from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint


class Tunnel(NamedTuple):
    """What a mesh makes of a connection between two pods.

    Args:
        port: the one that policies see where the connection comes in.
        sends: whether it is the one that policies see where the connection goes out, too.
        why: a clause for users.
        certain: whether the connection goes through it for certain.
    """

    port: int
    sends: bool
    why: str
    certain: bool = False


class Inside(NamedTuple):
    """The ends among which TCP connections certainly go through a tunnel, whatever port is asked for.

    Args:
        members: the set of them.
        port, tcp: sets of ports: the tunnel's, and all that it carries.
        why: a clause for users.
    """

    members: int = 0
    port: int = 0
    tcp: int = 0
    why: str = ""

    def open(self, source: int, target: int, ports: int) -> int:
        """Return the ports that are open from ends to others where policies let some ports through."""
        if not self.members or (source | target) & ~self.members:
            return ports
        return ports & ~self.tcp | (self.tcp if ports & self.port else 0)


Tunnels = Callable[[Endpoint, Endpoint], Tunnel | None]
"""The tunnel that a TCP connection between two ends may go through, None where none is known of."""


def untunnelled(source: Endpoint, target: Endpoint) -> Tunnel | None:  # noqa: ARG001
    """Return that there is no tunnel: there is no mesh."""
    return None
