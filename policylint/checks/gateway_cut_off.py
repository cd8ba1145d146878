"""GWP604: a route whose backend no proxy of its Gateway can reach, because a network policy isolates the pods."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import Any

from policylint.checks.kit.network import doubt
from policylint.doors import PUBLISHED, are_passed_on, comes_by_others, with_doors
from policylint.model import UNKNOWN_NAMESPACE, Finding, Related, Resource, ResourceKey, mapping
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.network.addressed import services_behind
from policylint.network.cilium import BESIDE_NETWORK_POLICIES, LETS_GATEWAYS
from policylint.network.endpoints import workloads
from policylint.network.hops import Hop, Hops, Way
from policylint.network.kinds import NETWORK_POLICY
from policylint.network.ports import TCP, UDP, PortSpec
from policylint.network.rules import Direction
from policylint.network.state import Network
from policylint.simulation import Simulation
from policylint.topology import BackendState, RouteState
from policylint.topology.namespaces import NAME_LABEL

RULE = "GWP604"
_ACCEPTED = "the routes are accepted and their references resolve"
_AT_NODE = "HostPort"
_OF_GATEWAY = ("/gateway-name", "/owning-gateway-name", "/owning-gateway-namespace")
"""How the labels end by which the proxies of one Gateway are told from others."""


class _Cut(NamedTuple):
    """A backend of a route that a Gateway's proxies do not reach."""

    route: RouteState
    backend: BackendState
    gateway: ResourceKey
    hop: Hop


def check(simulation: Simulation) -> Iterator[Finding]:
    doors = with_doors(simulation)
    if doors is simulation or _Few(simulation, doors).may_be_cut_off():
        yield from _cut_off(doors)
    if doors is not simulation:
        doors.kept_hops = None  # a network of its own, which no rule behind this one asks


class _Few:
    """The ways in of an environment among few ends, which spares numbering all of them anew beside all doors.

    What gets from one end to another hangs on these two. What is let through only grows with more ends, where a client
    or a host may be any of them. So what is not denied among few ends is not denied among all.
    """

    def __init__(self, simulation: Simulation, doors: Simulation) -> None:
        self._simulation, self._doors = simulation, doors
        self._own = {state.gateway.key for state in simulation.topology.gateways}

    @cached_property
    def _among_all(self) -> Hops:
        return self._simulation.hops.for_denials()

    def may_be_cut_off(self) -> bool:
        """Return whether clients or backends may be cut off; of the objects of one cluster that is not asked.

        There a namespace may have labels unseen as long as nothing else is found in it.
        """
        if not self._simulation.world.partial:
            return True
        places = {(gateway, *_place(self._doors, route, gateway, each)) for route, gateway, each in _sent(self._doors)}
        to_gateways = (self._to(*place) for place in _opened(self._doors))
        ways = chain((self._way(*place) for place in places), to_gateways)
        return any(way.verdict == "denied" or any(hop.by_node for hop in way.hops) for way in ways)

    def _to(self, gateway: ResourceKey, port: int, over: str) -> Way:
        """Return the way of clients to a Gateway."""
        hops = self._among_all if gateway in self._own else self._around
        return hops.to_gateway(gateway, port, over, partial(are_passed_on, self._doors, gateway))

    def _way(self, gateway: ResourceKey, wanted: ResourceKey, port: int | None, over: str) -> Way:
        """Return the way to a backend: where its pods are among all ends already, from Gateways and from outside."""
        if gateway in self._own or gateway.kind in PUBLISHED:
            way = _way(self._doors, self._among_all, gateway, wanted, port, over)
            if way.hops:
                return way
        return _way(self._doors, self._around, gateway, wanted, port, over)

    @cached_property
    def _around(self) -> Hops:
        """The proxies of all doors, and the pods behind them."""
        world, topology = self._simulation.world, self._doors.topology
        routes = [route for route in topology.routes if any(each.gateway not in self._own for each in route.parents)]
        wanted: dict[ResourceKey, Resource | None] = {}
        pending = [backend.wanted for route in routes for backend in route.backends]
        while pending:
            key = pending.pop()
            if key not in wanted:
                seen = wanted[key] = world.get(key)
                pending += services_behind(world, [] if seen is None else [seen])
        selectors: dict[str, list[ItemsView[str, Any]]] = {}
        for service in filter(None, wanted.values()):
            selector = mapping(service.spec.get("selector"))
            if selector:
                selectors.setdefault(service.key.namespace, []).append(selector.items())
        found = [
            end
            for end in workloads(world)
            if end.key in wanted or any(each <= end.labels.items() for each in selectors.get(end.namespace, ()))
        ]
        return self._doors.hops_among(topology.gateways, routes, found).for_denials()


def _sent(simulation: Simulation) -> Iterator[tuple[RouteState, ResourceKey, BackendState]]:
    """Yield what Gateways send to backends, by route."""
    for route in simulation.topology.routes:
        gateways = {parent.gateway for parent in route.parents if parent.accepted and parent.gateway is not None}
        for backend in route.backends:
            if backend.role == "backend" and backend.granted is not False:
                for gateway in sorted(gateways):
                    yield route, gateway, backend


def _place(
    simulation: Simulation, route: RouteState, gateway: ResourceKey, backend: BackendState
) -> tuple[ResourceKey, int | None, str]:
    """Return where a Gateway sends what it has for a backend of a route, and over which protocol."""
    nodes = {each.node for parent in route.parents if parent.gateway == gateway for each in parent.candidates}
    found = {listener.protocol for node in nodes if (listener := simulation.topology.listener(node)) is not None}
    return backend.wanted, backend.port, UDP if found == {UDP} else TCP


def _opened(simulation: Simulation) -> dict[tuple[ResourceKey, int, str], list[ResourceKey]]:
    """Return the ports of listeners that have routes, with these; what is published has no proxies in front of it."""
    routes: dict[tuple[ResourceKey, int, str], list[ResourceKey]] = {}
    for route in simulation.topology.routes:
        for parent in route.parents:
            gateway = parent.gateway
            if not parent.accepted or gateway is None or gateway.kind in PUBLISHED:
                continue
            for candidate in parent.candidates:
                listener = simulation.topology.listener(candidate.node)
                if not candidate.failure and listener is not None and listener.port:
                    over = UDP if listener.protocol == UDP else TCP
                    routes.setdefault((gateway, listener.port, over), []).append(route.route.key)
    return routes


def _cut_off(simulation: Simulation) -> Iterator[Finding]:
    by_policy: dict[tuple[ResourceKey, str], list[_Cut]] = {}
    known: dict[tuple[object, ...], Way] = {}
    hops = simulation.hops.for_denials()
    for route, gateway, backend in _sent(simulation):
        place = (gateway, *_place(simulation, route, gateway, backend))
        if place not in known:
            known[place] = _way(simulation, hops, *place)
        way = known[place]
        by_node = next((hop for hop in way.hops if hop.by_node), None)
        if by_node is not None:
            yield from _by_other_nodes(route, gateway, by_node)
        if way.verdict == "denied":
            hop = next(hop for hop in way.hops if hop.verdict == "denied")
            step = hop.deciding
            if step is not None and step.policy is not None and not _is_for_pods(simulation, gateway, hop):
                side = "egress" if hop.egress and step is hop.egress[-1] else "ingress"
                by_policy.setdefault((step.policy.key, side), []).append(_Cut(route, backend, gateway, hop))
    for (key, side), cuts in sorted(by_policy.items()):
        yield _finding(simulation, key, side, cuts)
    yield from _closed(simulation, hops)


def _by_other_nodes(route: RouteState, gateway: ResourceKey, hop: Hop) -> Iterator[Finding]:
    """Yield that pods turn away the clients whom another node passes on."""
    step = hop.deciding or (hop.ingress[-1] if hop.ingress else None)
    if step is None or step.policy is None:
        return
    policy = step.policy
    pointer = ("metadata", "name") if step.rule is None else step.rule.pointer
    yield Finding(
        RULE,
        "note",  # in a tunnel the plugin may show that they are of the world all the same
        f"{policy.key} turns away the clients of {gateway} who come by another node than that of a pod",
        policy.resource.location(*pointer),
        resources=(policy.key, route.route.key, gateway),
        label="that node puts its own address in place of theirs, and to the plugin no block holds a node",
        confidence="assumed",
        ground="the load balancer may know where the pods are, or nodes keep the addresses, or send them in a tunnel",
        help=("fix: let the nodes in (`fromEntities: [remote-node]`), or set externalTrafficPolicy: Local",),
        field="ingress",
    )


def _is_for_pods(simulation: Simulation, gateway: ResourceKey, hop: Hop) -> bool:
    """Return whether a port at nodes is open to others than clients: agents have theirs for the pods of their nodes."""
    over, _, number = hop.port.partition(" ")
    ports = simulation.network.universe.ports.at(over, int(number)) if number.isdigit() else 0
    return gateway.kind == _AT_NODE and _opens(simulation.network, simulation.hops.number(hop.target), ports)


def _opens(network: Network, subject: int, ports: int = 0) -> bool:
    """Return whether anything is let in to a pod, on some ports or on any."""
    among = ports or network.universe.ports.all
    return network.check(subject, "ingress", network.universe.everything, among) != "denied"


def _way(doors: Simulation, hops: Hops, gateway: ResourceKey, wanted: ResourceKey, port: int | None, over: str) -> Way:
    """Return the way from the proxies of a Gateway to a backend; what is published by itself has none of them."""
    if gateway.kind in PUBLISHED:
        others, nodes = comes_by_others(hops.network.world, gateway), partial(are_passed_on, doors, gateway)
        return hops.from_outside(wanted, port, over, by_others=others, by_nodes=nodes)
    return hops.from_gateway(gateway, None, wanted, port, over)


def _closed(simulation: Simulation, hops: Hops) -> Iterator[Finding]:
    """Yield what keeps clients from the port of a listener that has routes."""
    for (gateway, port, over), served in sorted(_opened(simulation).items()):
        way = hops.to_gateway(gateway, port, over, partial(are_passed_on, simulation, gateway))
        route = simulation.topology.route(served[0])
        for hop in way.hops if route is not None else ():
            if hop.by_node and route is not None:
                yield from _by_other_nodes(route, gateway, hop)
        step = way.hops[0].deciding if way.verdict == "denied" else None
        if step is None or step.policy is None:
            continue
        policy, opened = step.policy, way.hops[0].port
        severity, confidence, ground = doubt(simulation, policy.key.namespace or gateway.namespace)
        more = f" and {count(len(set(served)) - 1, 'other route')}" if len(set(served)) > 1 else ""
        yield Finding(
            RULE,
            severity,
            f"{policy.key} blocks clients from port {port} of {gateway}: every connection for {served[0]}{more} fails",
            policy.resource.location(*(("metadata", "name") if step.rule is None else step.rule.pointer)),
            resources=(policy.key, gateway, *dict.fromkeys(served[:20])),
            label=f"no rule opens {opened} of the proxies to clients",
            confidence=confidence,
            ground=ground,
            help=("note: the Gateway is programmed and the routes are accepted: no status shows it",),
            field=f"ingress/{port}",
        )


def _finding(simulation: Simulation, key: ResourceKey, side: str, cuts: list[_Cut]) -> Finding:
    network = simulation.network
    first = cuts[0]
    step = first.hop.deciding
    assert step is not None
    assert step.policy is not None
    routes = list(dict.fromkeys(cut.route.route.key for cut in cuts))
    services = list(dict.fromkeys(cut.backend.wanted for cut in cuts))
    number = simulation.hops.number
    senders = network.universe.addresses.all if first.hop.source is None else 1 << number(first.hop.source)
    subject = number(first.hop.target) if side == "ingress" or first.hop.source is None else number(first.hop.source)
    peers = senders if side == "ingress" else simulation.hops.peers(first.hop.target)
    doubts = [
        rule.doubt for entry in network.entries(subject, _direction(side)) for rule, _ in entry.rules if rule.doubt
    ]
    severity, confidence, ground = doubt(simulation, key.namespace or first.backend.wanted.namespace)
    is_published = first.gateway.kind in PUBLISHED
    if is_published and _opens(network, subject):
        doubts.append("perhaps no others are meant to come")
    grounds = [*dict.fromkeys(doubts), *filter(None, [ground])]
    if doubts and confidence == "certain":
        severity, confidence = "warning", "assumed"
    more = f" and {count(len(routes) - 1, 'other route')}" if len(routes) > 1 else ""
    if side == "ingress":
        clients = "clients" if first.hop.source is None else first.gateway
        what = f"{key} blocks {clients} from the pods of {services[0]} on {first.hop.port}"
    else:
        end = str(first.hop.target).strip() if first.hop.target.role == "outside" else "its pods"
        what = f"{key} blocks {first.gateway} from sending to {end} on {first.hop.port}"
    pointer = ("metadata", "name") if step.rule is None else step.rule.pointer
    return Finding(
        RULE,
        severity,
        f"{what}: every request of {routes[0]}{more} to {_end(first, cuts)} fails",
        step.policy.resource.location(*pointer),
        resources=(key, *routes[:20], *services[:20]),
        label=_nearest(network, subject, peers, first.hop, _direction(side)),
        related=tuple(
            Related(f"sent to {cut.backend.wanted}", cut.route.route.location(*cut.backend.pointer))
            for cut in list({(cut.route.route.key, cut.backend.pointer): cut for cut in cuts}.values())[:4]
        ),
        confidence=confidence,
        ground="; ".join(grounds),
        help=(
            f"note: {'there are endpoints' if is_published else _ACCEPTED}: no status shows it",
            *_proposal(simulation, first, key, side),
        ),
        field=side,
    )


def _end(first: _Cut, cuts: list[_Cut]) -> str:
    """Return the backend in words, with its port where the route names another one of it that is not cut off."""
    wanted = first.backend.wanted
    cut_off = {cut.backend.port for cut in cuts if cut.route is first.route and cut.backend.wanted == wanted}
    named = {each.port for each in first.route.backends if each.role == "backend" and each.wanted == wanted}
    return str(wanted) if named <= cut_off else f"port {first.backend.port} of {wanted}"


def _proposal(simulation: Simulation, cut: _Cut, policy: ResourceKey, side: str) -> Iterator[str]:
    """Yield the rule that is missing; no edit adds it, as whom to let in is for a person to decide."""
    if policy[:2] != NETWORK_POLICY:
        if cut.hop.source is not None and cut.hop.source.role == "identity":
            yield f"fix: {LETS_GATEWAYS[_direction(side)]}"
        return
    number = cut.hop.port.partition(" ")[2]
    ports = f"ports: [{{port: {number}}}]" if number.isdigit() else ""
    end = cut.hop.source if side == "ingress" else cut.hop.target
    if end is None or end.namespace[:1] in ("", UNKNOWN_NAMESPACE):
        if end is not None and end.role == "identity":
            yield f"fix: {BESIDE_NETWORK_POLICIES}, or a rule {{{ports}}} without `from`, which lets everybody in"
        return
    labels = {name: value for name, value in end.labels.items() if name.endswith(_OF_GATEWAY)}
    if side == "egress":
        service = simulation.world.get(cut.backend.wanted)
        labels = dict(mapping(service.spec.get("selector"))) if service is not None else {}
    peer = f"namespaceSelector: {{matchLabels: {{{NAME_LABEL}: {end.namespace}}}}}"
    if labels:
        peer += f", podSelector: {{matchLabels: {{{', '.join(f'{name}: {value}' for name, value in labels.items())}}}}}"
    field = "from" if side == "ingress" else "to"
    yield f"fix: add a rule {{{field}: [{{{peer}}}]{', ' if ports else ''}{ports}}}"


def _direction(side: str) -> Direction:
    return "ingress" if side == "ingress" else "egress"


def _nearest(network: Network, subject: int, peers: int, hop: Hop, direction: Direction) -> str:
    """Return what the rule that comes nearest lacks."""
    universe = network.universe
    port = 0
    for number in filter(None, hop.port.partition(" ")[2].split(",")):
        port |= universe.ports.at(hop.port.partition(" ")[0], int(number))
    found: list[tuple[int, str]] = []
    for entry in network.entries(subject, direction):
        for rule, parts in entry.rules:
            place = f"{rule.direction}[{rule.position}] of {entry.policy.key}"
            if rule.action != "Allow":
                continue
            if any(part.maybe & peers for part in parts):
                opened = 0
                for part in parts:
                    opened |= part.ports
                alike = opened & universe.ports.of(PortSpec(hop.port.partition(" ")[0]))
                found.append((0 if alike else 1, f"nearest is {place}, which opens {universe.ports.words(opened)}"))
            elif any(part.ports & port for part in parts):
                found.append((2, f"nearest is {place}, which opens the port to others"))
    if not found:
        way = "lets anything in" if direction == "ingress" else "lets anything out"
        return f"no rule {way} on {hop.port}"
    return min(found)[1]
