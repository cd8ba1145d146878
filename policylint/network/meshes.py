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
    """

    port: int
    sends: bool
    why: str


Tunnels = Callable[[Endpoint, Endpoint], Tunnel | None]
"""The tunnel that a TCP connection between two ends may go through, None where none is known of."""


def untunnelled(source: Endpoint, target: Endpoint) -> Tunnel | None:  # noqa: ARG001
    """Return that there is no tunnel: there is no mesh."""
    return None
