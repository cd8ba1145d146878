"""Whether proxies let one request in: allowed, denied by a policy, or depending on what manifests do not say.

What an implementation makes of a request stands in its own module (`Implementation.admit`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from policylint.documents import Pointer
from policylint.model import Node, Resource
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import Answer


class Call(NamedTuple):
    """One request as it comes to a proxy.

    Args:
        port: that the proxy or the container listens on, None where it is not known.
        headers: by name in lower case.
        stream: whether it is no HTTP request.
        client: the workload or the Gateway that sends it; None for what is outside, or not in the tree.
        namespace: of the client; "" for what is outside of the mesh, None where it is not known.
        taker: which of some routes takes the request, and whether that is certain.
    """

    method: str
    host: str
    path: str
    port: int | None
    headers: Mapping[str, str]
    stream: bool
    client: Resource | None
    namespace: str | None
    taker: Callable[[Sequence[Resource]], tuple[Resource | None, bool]]


class Checkpoint(NamedTuple):
    """A place where a request may be turned away.

    Args:
        path: a Gateway, a waypoint and the Service behind it, or a workload.
        resource: what stands at its end: the workload, or the Gateway or waypoint.
    """

    path: tuple[Node, ...]
    resource: Resource


class Answered(NamedTuple):
    """The answer at one place.

    Args:
        by: the policy that decides, or on which it depends; None where it is a default.
        pointer: of the part of it that does.
        why: a clause: `no ALLOW policy lets it in`.
        resets: whether the connection is cut, and no status answered.
        status: with which it is denied otherwise.
    """

    hop: Checkpoint
    answer: Answer
    by: Resource | None = None
    pointer: Pointer = ()
    why: str = ""
    resets: bool = False
    status: int = 403
