"""What the proxies of a mesh ask for their configuration and their certificates."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple


class ControlPlane(NamedTuple):
    """The control plane of a mesh, as its proxies reach it.

    Args:
        name: for users.
        namespace: where it runs.
        ports: of its pods, all of which a proxy needs (TCP).
        then: what becomes of a pod whose proxy does not reach it.
    """

    name: str
    namespace: str
    ports: tuple[int, ...]
    then: str
