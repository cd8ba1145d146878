"""Whether a traced request gets through the network: the hops from client to proxy and from there to the pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from policylint.digits import whole_number
from policylint.doors import PUBLISHED, are_passed_on, comes_by_others, published_as
from policylint.model import Resource, ResourceKey
from policylint.model.ternary import every, some
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import has_policies
from policylint.network.rules import DNS, TLS_NAME, Block, HostNames
from policylint.policy.authorizing import Checkpoint, Client, Decision, NearestRule, PlacedDecision, RequestFacts
from policylint.simulation import Simulation
from policylint.simulation.clients import UNMESHED
from policylint.spaces.addresses import cidr, number_of
from policylint.topology import whole
from policylint.topology.hostnames import covers, without_port
from policylint.topology.status import is_passthrough
from policylint.topology.workloads import Labels
from policylint.trace.admissions import call_of, end_of, turning_away
from policylint.trace.request import PORTS, Request, RequestError
from policylint.trace.result import Outcome, Share, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.implementations.generic.sessions import BackendSession
    from policylint.network.endpoints import Endpoint
    from policylint.network.hops import Hop, Hops, Way
    from policylint.network.rules import Direction, PolicySpec, RuleSpec


class Unheard(NamedTuple):
    """A rule about requests that finds TLS, at one end of a hop, and why it does."""

    way: Direction
    policy: PolicySpec
    rule: RuleSpec
    why: str


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
    trace = _heard(simulation, trace, shares, ways)
    stopped = {share.pointer or share.key: _stopped(way) for share, way in zip(shares, ways, strict=True)}
    if not any(stopped.values()):
        return trace
    left = [
        share._replace(problem=share.problem or stopped.get(share.pointer or share.key, ""))
        for share in trace.outcome.shares
    ]
    if any(share.share and not share.problem for share in left):
        return trace._replace(outcome=trace.outcome._replace(shares=tuple(left)))
    meant = [note for share, way in zip(shares, ways, strict=True) for note in _by_service(simulation, share, way)]
    trace = trace._replace(notes=(*trace.notes, *dict.fromkeys(meant)))
    why = next(filter(None, stopped.values()))
    reason = f"{why} on the way to {', '.join(dict.fromkeys(share.key.path for share in shares))}"
    outcome = Outcome(tuple(left), refused=True, reason=reason)
    return trace._replace(outcome=outcome, forwarded=None, per_backend={}, response={})


def to_outside(simulation: Simulation, start: Trace, told: Outcome | None) -> Trace | None:
    """Return the trace of a request to a host outside; None where no network policy is about its sender.

    Args:
        told: its end as the sender's own proxy has it.
    """
    from policylint.network.hops import Way

    request = start.request
    sources = _clients(simulation, request.client) if simulation.world.once(has_policies) else []
    port = request.port or PORTS.get(request.scheme)
    if len(sources) != 1 or port is None:
        return None
    hop = simulation.hops.to_host(sources[0], request.host, _over(request), port)
    if not any(step.policy is not None for step in hop.egress):
        return None
    asked, share = list(start.questions), Share(hop.target.key, port, 1, 1.0)
    call = call_of(request, request.host, request.path, port, Client(), asked, stream=False)
    own = "its client uses TLS" if request.scheme in ("https", "tls") else ""
    hop, decision = _at_ends(simulation, hop, call, share, own, request)
    trace = start._replace(network=Way(hop.verdict, (hop,)), questions=tuple(asked))
    if hop.verdict == "unknown" and (ended := _into_gateways(simulation, trace, sources[0], port)) is not None:
        return ended
    answers = f"what answers at {request.host} is not here"
    if decision is not None and hop.verdict == "allowed":
        return trace._replace(outcome=end_of(decision), admissions=(decision,))
    if hop.verdict == "denied":
        trace = trace._replace(notes=(*trace.notes, *_by_addresses(simulation, sources[0])))
        step, why = hop.deciding, f": {hop.because}" if hop.because else ""
        by = "a network policy" if step is None or step.policy is None else step.policy.key
        reason = f"cut off by {by} on the way to {request.host}{why}"
        return trace._replace(outcome=Outcome(refused=True, reason=reason))
    let_out = "" if told is None else f"{told.reason.partition('; ')[0]}; "
    through = hop.because or f"network policies let it through{_unless_nodes(simulation, hop, request.host)}"
    return trace._replace(outcome=Outcome(unknown=True, reason=f"{let_out}{through}; {answers}"))


def _unless_nodes(simulation: Simulation, hop: Hop, host: str) -> str:
    """Return whose address would be let through by no block: a node's, to a plugin that speaks of identities."""
    facts, rule = simulation.network.universe.facts, hop.egress[-1].rule
    if facts.matches_nodes or rule is None or number_of(host) is None:
        return ""
    blocks = [peer for peers, _ in rule.peers for peer in peers if isinstance(peer, Block)]
    by_identity = any(facts.block_is_addresses or block.family == "identities" for block in blocks)
    return ", unless a node or the API server has the address: no block holds these here" if by_identity else ""


def _into_gateways(simulation: Simulation, trace: Trace, source: Endpoint, port: int) -> Trace | None:
    """Return the trace of a request for a host that Gateways here serve, where its sender is let out neither to any of
    their proxies, to which the address of a load balancer leads inside of the cluster, nor to addresses; None else."""
    request, over, hops = trace.request, _over(trace.request), simulation.hops
    if not hops.is_kept_inside(source, over, port):
        return None
    serving = {
        listener.gateway
        for route in simulation.topology.routes
        for parent in route.parents
        for candidate in parent.candidates
        if parent.accepted and not candidate.failure
        if any(name and covers(name, request.host) for name in candidate.hostnames)
        if (listener := simulation.topology.listener(candidate.node)) is not None and listener.port == port
    }
    ways = {each: hops.into_gateway(source, each, port, over) for each in sorted(filter(None, serving))}
    denied = [(gateway, way) for gateway, way in ways.items() if way.verdict == "denied"]
    if not denied or len(denied) < len(ways):
        return None
    gateway, way = denied[0]
    stopped = way.stopped
    step = None if stopped is None else stopped.deciding
    by = "a network policy" if step is None or step.policy is None else step.policy.key
    reason = f"cut off by {by} on the way to the proxies of {gateway}, which serves {request.host}"
    return trace._replace(network=way, outcome=Outcome(refused=True, reason=reason))


def _by_addresses(simulation: Simulation, source: Endpoint) -> Iterator[str]:
    """Yield what a refusal by name rests on, where rules for names open addresses to the pods: cilium/cilium#31803."""
    entries = simulation.network.entries(simulation.hops.number(source), "egress")
    rules = [(entry.policy.key, rule) for entry in entries for rule, _ in entry.rules]
    answered = any(term.name == DNS for _, rule in rules for terms in rule.calls or () for term in terms)
    naming = [
        key
        for key, rule in rules
        for peers, _ in rule.peers
        if any(isinstance(peer, HostNames) and (answered or not peer.by_proxy) for peer in peers)
    ]
    if naming:
        yield f"{naming[0]} opens the addresses of the hosts that it names: another name passes that has one of them"


def _by_service(simulation: Simulation, share: Share, way: Way) -> Iterator[str]:
    """Yield which rules for addresses mean a Service whose pods they do not open: projectcalico/calico#10664."""
    from policylint.doors.published import addresses_of
    from policylint.network.addresses import holds
    from policylint.spaces.addresses import network_of

    hop, service = way.stopped, simulation.world.get(share.key)
    is_sent = hop is not None and hop.source is not None and hop.deciding in hop.egress
    if hop is None or hop.source is None or not is_sent or service is None or service.key.kind != "Service":
        return
    entries = simulation.network.entries(simulation.hops.number(hop.source), "egress")
    rules = [(entry.policy.key, rule) for entry in entries for rule, _ in entry.rules if rule.action == "Allow"]
    for address in addresses_of(service):
        alone = cidr(network_of(address))
        for key, rule in rules if alone is not None else ():
            for peers, _ in rule.peers:
                block = peers[0] if len(peers) == 1 else None
                if isinstance(block, Block) and alone is not None and holds(block.cidr, block.excepted, [alone]):
                    yield f"{key} opens {address}, an address of {service.key}: policies see its pods in its place"


def asks(simulation: Simulation) -> bool:
    """Return whether a network policy asks anything of requests."""
    policies = simulation.network_policies if simulation.world.once(has_policies) else ()
    return any(rule.calls for policy in policies for rule in policy.rules)


def _heard(simulation: Simulation, trace: Trace, shares: list[Share], ways: list[Way]) -> Trace:
    """Return a trace with what rules of network policies about requests answer, and with the end that this means."""
    request = trace.request
    if request.scheme not in ("http", "https", "tls"):
        return trace
    asked, found = list(trace.questions), list[PlacedDecision]()
    problems: dict[object, PlacedDecision] = {}
    for number, (share, way) in enumerate(zip(shares, ways, strict=True)):
        message = trace.per_backend.get(share.key) or trace.forwarded
        host, path = (request.host, request.path) if message is None else (message.host, message.path)
        call = call_of(request, host, path, share.port, Client(), asked, stream=False)
        own = _own_tls(trace, share)
        answers = [_at_ends(simulation, hop, call, share, own, request) for hop in way.hops]
        ways[number] = way._replace(hops=tuple(hop for hop, _ in answers))
        denied = [each for each in answers if each[1] is not None]
        pods = [hop for hop in way.hops if hop.source is not None]
        is_sure = len(denied) >= len(pods) or any(hop.source is None for hop, _ in denied)
        for _, decision in denied if way.verdict != "denied" else ():
            if decision is not None and is_sure:
                problems.setdefault(share.pointer or share.key, decision)
            if decision is not None:
                found.append(decision if is_sure else _perhaps(decision))
    if not found and len(asked) == len(trace.questions):
        return trace
    way = ways[0] if len(ways) == 1 else _united(ways)
    trace = trace._replace(network=way, questions=tuple(asked), admissions=(*trace.admissions, *found))
    if not problems:
        return trace
    left = list(trace.outcome.shares)
    for number, share in enumerate(left):
        refused = problems.get(share.pointer or share.key)
        if refused is not None and not share.problem:
            left[number] = share._replace(problem=turning_away(refused))
    if any(share.share and not share.problem for share in left):
        return trace._replace(outcome=trace.outcome._replace(shares=tuple(left)))
    end = end_of(next(iter(problems.values())))
    return trace._replace(outcome=end._replace(shares=tuple(left)), forwarded=None, per_backend={}, response={})


def _perhaps(placed: PlacedDecision) -> PlacedDecision:
    return placed._replace(decision=placed.decision.if_so("which of the pods behind the Service gets it"))


def _own_tls(trace: Trace, share: Share) -> str:
    """Return why requests come to the pods of a backend in TLS that ends there, "" where they do not."""
    if trace.gateway is None:
        return "its client uses TLS" if trace.request.scheme in ("https", "tls") else ""
    if trace.listener is not None and is_passthrough(trace.listener):
        return f"{trace.listener.node} passes TLS on"
    session = trace.sessions.get((share.key, share.port))
    if session is not None:
        return sent_by(session)
    setting = next((each for each in trace.policies if "backendTLS" in each.spec), None)
    return "" if setting is None else f"{setting.group.effective.sources[0]} has it sent by TLS"


def sent_by(session: BackendSession | None) -> str:
    """Return why a proxy sends requests to pods in TLS, "" where it does not, or nobody says so."""
    if session is None or session.state == "plain" or session.by is None:
        return ""
    return f"{session.by.key} has it sent by TLS"


def unheard(simulation: Simulation, hop: Hop, service: Resource | None, port: int | None, own: str) -> Unheard | None:
    """Return the rule about requests at an end of a hop that finds TLS instead, so that no connection gets through.

    Source: docs.cilium.io, «Integration with Istio»: its HTTP policies are not compatible with mutual TLS.
    cilium/proxy, cilium/tls_wrapper.cc: without a context of the policy the bytes of TLS go to the parser of HTTP.

    Args:
        service, port: that is asked for; own: why TLS ends at the pods.
    """
    if hop.source is None or hop.verdict == "denied":
        return None
    heard = [(way, *each) for way, _ in hop.sides for each in simulation.hops.hearing(hop, way)]
    ports = port, whole_number(hop.port.partition(" ")[2])
    if heard and not own and service is not None:
        own = simulation.meshes.encrypts(hop.source, hop.target, service, ports)
    return Unheard(*heard[0], own) if heard and own else None


def _at_ends(
    simulation: Simulation, hop: Hop, call: RequestFacts, share: Share, own: str, request: Request
) -> tuple[Hop, PlacedDecision | None]:
    """Return a hop as one request meets it, and the answer that turns it away there."""
    service = simulation.world.get(share.key)
    deaf = unheard(simulation, hop, service, share.port, own)
    if deaf is not None:
        end = hop.target if deaf.way == "ingress" else hop.source
        resource = None if end is None else end.resource or simulation.world.get(end.key)
        if end is not None and resource is not None:
            why = f"it looks for HTTP and finds TLS: {deaf.why}"
            decision = Decision("denied", deaf.rule.pointer, why, by=deaf.policy.resource, resets=True)
            return hop, PlacedDecision(Checkpoint((whole(end.key),), resource), decision)
    for way, walk in hop.sides:
        rule = walk[-1].rule if walk else None
        if rule is None or rule.calls is None or walk[-1].action != "Allow":
            continue
        missed: dict[int, str] = {}
        name = _server_name(simulation, hop, request, share, own) if _reads_names(rule) else None
        steps = simulation.hops.answered(hop, way, partial(_takes, call, missed, own, name))
        if not all(step.certain for step in steps):
            continue
        if steps[-1].action == "Allow":  # what it asks for is there
            steps = tuple(step._replace(rule=step.rule and step.rule._replace(calls=None)) for step in steps)
            hop = hop._replace(egress=steps) if way == "egress" else hop._replace(ingress=steps)
            continue
        end, policy = hop.target if way == "ingress" else hop.source, walk[-1].policy
        resource = None if end is None else end.resource or simulation.world.get(end.key)
        if end is not None and resource is not None and policy is not None:
            near = NearestRule(rule.pointer, policy.resource, missed.get(id(rule), ""))
            why = "none of its rules takes such a request"
            nearest, cuts = near if near.unmet else None, _reads_names(rule)
            decision = Decision("denied", rule.pointer, why, by=policy.resource, nearest=nearest, resets=cuts)
            return hop, PlacedDecision(Checkpoint((whole(end.key),), resource), decision)
    return hop, None


def _reads_names(rule: RuleSpec) -> bool:
    return any(term.name == TLS_NAME for terms in rule.calls or () for term in terms)


def _server_name(simulation: Simulation, hop: Hop, request: Request, share: Share, own: str) -> str | None:
    """Return the name of the server in the TLS of a hop, "" where it is none, None where that is not known."""
    service = simulation.world.get(share.key)
    ports = share.port, whole_number(hop.port.partition(" ")[2])
    if request.blank or hop.source is None:
        return None
    if not own:
        is_plain = service is None or not simulation.meshes.encrypts(hop.source, hop.target, service, ports)
        return "" if is_plain else None
    is_clients = request.scheme in ("https", "tls") and bool(request.client)
    return without_port(request.sni or request.host).lower() or None if is_clients else None


def _takes(call: RequestFacts, missed: dict[int, str], own: str, server: str | None, rule: RuleSpec) -> bool | None:
    """Return whether a rule takes a request; what the nearest of its alternatives wants is noted."""
    if _reads_names(rule):
        told = [None if server is None else term.predicate.takes(server or None) for (term,) in rule.calls or ()]
        missed[id(rule)] = (rule.calls or ((),))[0][0].needs
        return some(told)
    if own and rule.reads == "proxy":  # the proxy takes TLS that ends behind it for a stream; releases differ in that
        return None
    nearest: list[str] | None = None
    answers: list[bool | None] = []
    for conditions in rule.calls or ():
        facts = [
            None if each.fault else call.has(each.name, _value(call, each.name), each.predicate) for each in conditions
        ]
        unmet = [each.needs for each, answer in zip(conditions, facts, strict=True) if answer is False]
        nearest = unmet if nearest is None or len(unmet) < len(nearest) else nearest
        answers.append(every(facts))
    missed[id(rule)] = " and ".join(nearest or ())
    return some(answers)


def _value(call: RequestFacts, name: str) -> str | None:
    kind, _, key = name.partition(" ")
    return (
        call.headers.get(key) if kind == "header" else {"method": call.method, "host": call.host}.get(kind, call.path)
    )


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
    request, over = trace.request, _over(trace.request)
    if request.client or trace.gateway is None:
        sources = _clients(simulation, request.client)
        is_account = request.client.startswith("ServiceAccount/")
        if request.address and not (sources or is_account):  # else it is its pods that send the request
            passed_on = partial(_are_passed_on_to, simulation, share.key)
            return hops.from_outside(share.key, share.port, over, address=request.address, by_nodes=passed_on)
        if not (sources or is_account):
            if request.pod and request.client != UNMESHED:
                raise RequestError(f"there is no workload {request.client!r} among the manifests")
            return None
        client = simulation.clients.named(request.client) or Client()
        relayed = trace.route is not None and simulation.meshes.relayed
        if relayed or simulation.acting.fronts_for(share.key, client):
            return joined([])  # how proxies of the nodes, and waypoints, send requests on is not followed
        if not sources:
            return hops.from_unseen(request.client, share.key, share.port, over, share.labels)
        if request.pod and share.key.kind != "Service":
            return _united([joined(_to_pod(hops, source, share, over)) for source in sources])
        backend = share.key, share.port, over, share.labels
        return _united([joined(hops.to_backend(source, *backend)) for source in sources])
    passed_on = partial(are_passed_on, simulation, trace.gateway)
    if trace.gateway.kind in PUBLISHED:
        others = comes_by_others(simulation.world, trace.gateway)
        return hops.from_outside(share.key, share.port, over, by_others=others, by_nodes=passed_on)
    listener = None if trace.listener is None else trace.listener.port
    return hops.from_gateway(trace.gateway, listener, share.key, share.port, over, passed_on, share.labels)


def _are_passed_on_to(simulation: Simulation, backend: ResourceKey) -> bool:
    """Return whether nodes pass clients on with their own address who come to a Service as it is published."""
    service = simulation.world.get(backend) if backend[:2] == ("", "Service") else None
    kinds = () if service is None else published_as(service)
    return any(are_passed_on(simulation, backend._replace(kind=kind)) for kind in kinds)


def met_by_network(
    simulation: Simulation, client: str, backends: Iterable[tuple[ResourceKey, int | None, Labels]], *, answering: bool
) -> tuple[str, ...]:
    """Return by backend what network policies do to all that a client inside the cluster sends; () for nothing.

    Args:
        answering: whether any of them asks something of requests.
    """
    seen, found = bool(_clients(simulation, client)), []
    for key, port, labels in backends:
        request = Request(client=client, pod=key.name if seen and key.kind != "Service" else "")
        way = _way(simulation, Trace(request, Outcome()), Share(key, port, 1, 1.0, labels=labels))
        found.append("" if way is None else _stopped(way) or (way.verdict if answering else ""))
    return tuple(found) if any(found) else ()


def _over(request: Request) -> str:
    """Return the protocol of the connections or datagrams that bring a request."""
    return request.scheme.upper() if request.scheme in ("udp", "sctp") else "TCP"


def _to_pod(hops: Hops, source: Endpoint, share: Share, protocol: str) -> list[Hop]:
    ends = hops.network.universe.endpoints
    target = next((number for number, end in enumerate(ends) if end.key == share.key), None)
    if target is None or share.port is None:
        return []
    return [hops.to_pod(hops.number(source), target, protocol, share.port)]


def _clients(simulation: Simulation, name: str) -> list[Endpoint]:
    """Return the ends that a client's name means: the workloads that it may be, as far as they were seen."""
    client = simulation.clients.named(name)
    callers = () if client is None else client.callers
    ends = {id(end): end for each in callers for end in simulation.hops.workloads.get(each.key, ())}
    return sorted(ends.values(), key=simulation.hops.number) if ends else []
