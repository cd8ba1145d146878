"""Whether a traced request gets through the network: the hops from client to proxy and from there to the pods."""

from __future__ import annotations

from policylint.doors import PUBLISHED
from policylint.model.spelling import find
from policylint.network.kinds import has_policies
from policylint.simulation import Simulation
from policylint.trace.request import RequestError
from policylint.trace.result import Outcome, Share, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint
    from policylint.network.hops import Hop, Hops, Way


def along(simulation: Simulation, trace: Trace) -> Trace:
    """Return a trace with its way through the network, where there are network policies and something is forwarded.

    A backend that they certainly cut off gets no request; where none is left, the request has no answer.
    """
    shares = [share for share in trace.outcome.shares if share.share and not share.problem]
    if not shares or not simulation.world.once(has_policies):
        return trace
    ways = [way for share in shares if (way := _way(simulation, trace, share)) is not None]
    if not ways:
        return trace._replace(notes=(*trace.notes, "no client is named, so network policies are not asked"))
    trace = trace._replace(network=ways[0] if len(ways) == 1 else _united(ways))
    stopped = {share.pointer or share.key: _stopped(way) for share, way in zip(shares, ways, strict=True)}
    if not any(stopped.values()):
        return trace
    left = [
        share._replace(problem=share.problem or stopped.get(share.pointer or share.key, ""))
        for share in trace.outcome.shares
    ]
    if any(share.share and not share.problem for share in left):
        return trace._replace(outcome=trace.outcome._replace(shares=tuple(left)))
    why = next(filter(None, stopped.values()))
    reason = f"{why} on the way to {', '.join(dict.fromkeys(share.key.path for share in shares))}"
    outcome = Outcome(tuple(left), refused=True, reason=reason)
    return trace._replace(outcome=outcome, forwarded=None, per_backend={}, response={})


def _stopped(way: Way) -> str:
    """Return what certainly cuts a backend off, `cut off by NetworkPolicy shop/closed`; "" where nothing does."""
    hop = way.stopped
    if hop is None:
        return ""
    step = hop.deciding
    return f"cut off by {'a network policy' if step is None or step.policy is None else step.policy.key}"


def _united(ways: list[Way]) -> Way:
    """Return the ways to several backends as one: side by side, as the pods of one backend are."""
    from policylint.network.hops import Way

    verdicts = {way.verdict for way in ways}
    verdict = verdicts.pop() if len(verdicts) == 1 else "unknown" if "unknown" in verdicts else "partly"
    hops: list[Hop] = []
    for hop in (hop for way in ways for hop in way.hops):
        if hop not in hops:
            hops.append(hop)
    return Way(verdict, tuple(hops))


def _way(simulation: Simulation, trace: Trace, share: Share) -> Way | None:
    """Return the way to a backend, None where the client inside the cluster is nobody: no workload, and no account."""
    from policylint.network.hops import joined

    hops = simulation.hops
    request = trace.request
    if request.client or trace.gateway is None:
        sources = _clients(hops, request.client)
        if not sources and request.pod:
            raise RequestError(f"there is no workload {request.client!r} among the manifests")
        if not sources and not request.client.startswith("ServiceAccount/"):
            return None
        seen = simulation.world.get(sources[0].key) if sources else None
        relayed = trace.route is not None and simulation.meshes.relayed
        if relayed or simulation.acting.fronts(share.key, seen):
            return joined([])  # how proxies of the nodes, and waypoints, send requests on is not followed
        if not sources:
            return hops.from_unseen(request.client, share.key, share.port)
        if request.pod and share.key.kind != "Service":
            over = request.scheme.upper() if request.scheme in ("udp", "sctp") else "TCP"
            return joined(_to_pod(hops, sources[0], share, over))
        return _united([joined(hops.to_backend(source, share.key, share.port)) for source in sources])
    if trace.gateway.kind in PUBLISHED:
        return hops.from_outside(share.key, share.port)
    listener = None if trace.listener is None else trace.listener.port
    return hops.from_gateway(trace.gateway, listener, share.key, share.port)


def _to_pod(hops: Hops, source: Endpoint, share: Share, protocol: str) -> list[Hop]:
    ends = hops.network.universe.endpoints
    target = next((number for number, end in enumerate(ends) if end.key == share.key), None)
    if target is None or share.port is None:
        return []
    return [hops.to_pod(hops.number(source), target, protocol, share.port)]


def _clients(hops: Hops, name: str) -> list[Endpoint]:
    """Return the ends that a client's name means: a workload that was seen, or those that have an account."""
    ends = [end for end in hops.network.universe.endpoints if end.role == "workload"]
    kind, _, account = name.partition("/")
    if kind == "ServiceAccount":
        return [end for end in ends if f"{end.namespace}/{end.account}" == account]
    by_key = {end.key: end for end in ends}
    matching = find(name, by_key) if name else []
    return [by_key[matching[0]]] if len(matching) == 1 else []
