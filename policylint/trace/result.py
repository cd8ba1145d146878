"""What became of a request: plain values for reports and checks."""

from __future__ import annotations

from collections.abc import Mapping

from policylint.documents import Pointer
from policylint.model import Node, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Group
from policylint.topology import ListenerState
from policylint.trace.filters import Redirect, Step
from policylint.trace.request import Request


class Share(NamedTuple):
    """A backend and the part of the requests that it gets; `problem` says why it gets an error instead.

    Args:
        pointer: of the backendRef below the route, () where none names it.
    """

    key: ResourceKey
    port: int | None
    weight: int
    share: float
    pointer: Pointer = ()
    section: Node | None = None
    problem: str = ""


class Outcome(NamedTuple):
    """How a request ends: at backends, with a status, redirected or refused.

    Args:
        shares: the backends with their parts, those that fail included.
        status: of an answer that no backend gives; for a part of the requests where `shares` has working backends too.
        refused: no TLS session, or nothing on the port.
        unknown: the manifests do not say what becomes of it.
        reason: why, for every end that is no backend.
        grpc_status: what a gRPC client sees instead of an HTTP status.
    """

    shares: tuple[Share, ...] = ()
    status: int | None = None
    redirect: Redirect | None = None
    refused: bool = False
    reason: str = ""
    grpc_status: str = ""
    unknown: bool = False

    @property
    def backends(self) -> dict[ResourceKey, float]:
        """The share of every working backend that gets any, by object."""
        found: dict[ResourceKey, float] = {}
        for each in self.shares:
            if not each.problem and each.share:
                found[each.key] = found.get(each.key, 0.0) + each.share
        return dict(sorted(found.items()))

    @property
    def failing(self) -> float:
        """The share of requests that get an error because their backend cannot be used."""
        return sum(each.share for each in self.shares if each.problem)

    @property
    def answered(self) -> bool:
        return bool(self.backends) or self.redirect is not None


class Forwarded(NamedTuple):
    """A request as a backend receives it."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    sni: str = ""


class Considered(NamedTuple):
    """A rule that matched as well, and why another one came first."""

    rule: Node
    because: str
    route: Resource
    pointer: Pointer


class Nearest(NamedTuple):
    """What would have taken the request if it were a little different.

    Args:
        node: a rule or a listener.
        needs: what the request lacks, in words.
    """

    node: Node
    needs: tuple[str, ...]
    resource: Resource
    pointer: Pointer


class Met(NamedTuple):
    """An effective policy that a request meets.

    Args:
        backend: the backend whose requests meet it, None where all do.
    """

    group: Group
    backend: ResourceKey | None = None


class Trace(NamedTuple):
    """One request through one environment.

    Args:
        listener: the listener that takes it; `others` how many more of the Gateway could have.
        rule, match, hostname: the rule that takes it, which of its matches and which hostname, in words.
        path: the nodes it passes, down to the rule.
        forwarded: as the backends receive it; `per_backend` where their own filters make that differ.
        response: the headers that the filters and the backend leave in the answer.
        considered: what matched but came second.
        nearest: what did not match, but nearly; only where nothing did.
        notes: what the answer hangs on.
    """

    request: Request
    outcome: Outcome
    gateway: ResourceKey | None = None
    listener: ListenerState | None = None
    others: int = 0
    route: Resource | None = None
    rule: Node | None = None
    rule_pointer: Pointer = ()
    match: str = ""
    hostname: str = ""
    path: tuple[Node, ...] = ()
    steps: tuple[Step, ...] = ()
    forwarded: Forwarded | None = None
    per_backend: Mapping[ResourceKey, Forwarded] = {}
    response: Mapping[str, str] = {}
    mirrors: tuple[ResourceKey, ...] = ()
    backend_tls: bool = False
    policies: tuple[Met, ...] = ()
    considered: tuple[Considered, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    notes: tuple[str, ...] = ()
