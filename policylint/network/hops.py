"""The way of a request through the network: client to proxy, proxy to the pods behind a backend.

Policies see the pods' ports, after the Service has translated its own: `targetPort`, by name for each pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import reduce
from operator import or_
from typing import Any

from policylint.digits import whole_number
from policylint.documents import loading
from policylint.model import Resource, ResourceKey, World, integer, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.network.addressed import SERVICE, Destination, destinations, service_named
from policylint.network.endpoints import Endpoint, behind, stand_ins, workloads
from policylint.network.kinds import NOT_EVALUATED
from policylint.network.meshes import Tunnel, Tunnels, untunnelled
from policylint.network.ports import LAST, PROTOCOLS, TCP, PortSpec
from policylint.network.proxies import DataPlane
from policylint.network.rules import Direction, PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network, both, verdict
from policylint.network.walk import Takes, TierStep, row
from policylint.topology.workloads import Labels

Asked = Callable[[], bool]
"""What is asked only where it decides."""


class Hop(NamedTuple):
    """One step of the way.

    Args:
        source, target: the ends; None for clients outside.
        port: `TCP 8080`, as the pod has it; "" where it is not known.
        verdict: allowed, denied or unknown.
        because: why it is not known, or why no policy bears on it; "" otherwise.
        by_node: whether it hangs on the node by which a client comes: another one than the pod's shows its own address.
    """

    source: Endpoint | None
    target: Endpoint
    port: str
    verdict: str
    egress: tuple[TierStep, ...] = ()
    ingress: tuple[TierStep, ...] = ()
    because: str = ""
    by_node: bool = False

    @property
    def sides(self) -> tuple[tuple[Direction, tuple[TierStep, ...]], ...]:
        """What the tiers do with it at either end."""
        return (("egress", self.egress), ("ingress", self.ingress))

    @property
    def deciding(self) -> TierStep | None:
        """What stops the hop, or may stop it: the last step of a walk that does not end with Allow."""
        for walk in (self.egress, self.ingress):
            if walk and (walk[-1].action != "Allow" or not all(step.certain for step in walk)):
                stopping = [step for step in walk if step.action == "Deny" or not step.certain]
                return (stopping or walk)[-1]
        return None


class Way(NamedTuple):
    """All hops to one backend.

    Args:
        verdict: allowed, denied, partly (some of the pods are cut off), unknown.
    """

    verdict: str
    hops: tuple[Hop, ...]

    @property
    def stopped(self) -> Hop | None:
        """The first hop that network policies certainly stop, where they stop all that is sent; None otherwise."""
        return next((hop for hop in self.hops if hop.verdict == "denied"), None) if self.verdict == "denied" else None

    @property
    def doubt(self) -> str:
        """Why it is not known whether what is sent gets through; "" where it is known."""
        if self.verdict != "unknown":
            return ""
        return next((hop.because for hop in self.hops if hop.because), "nothing here says how it gets there")

    @property
    def policies(self) -> list[ResourceKey]:
        """The network policies that say anything about it."""
        steps = (step for hop in self.hops for step in hop.egress + hop.ingress)
        return list(dict.fromkeys(step.policy.key for step in steps if step.policy is not None))


def _likeliest(ways: Sequence[Way]) -> Way:
    """Return the way through the proxies where they most likely are; `ways` begins with it."""
    if not ways:
        return Way("unknown", ())
    best = ways[0]
    if best.verdict == "denied" and any(way.verdict != "denied" for way in ways):
        # Denied where the proxies most likely are, and not where they may be as well.
        return best._replace(verdict="unknown", hops=tuple(hop._replace(because=_ELSEWHERE) for hop in best.hops))
    return best


class Hops:
    """Answers whether Gateways and workloads get to backends, in one world."""

    @loading()
    def __init__(
        self,
        world: World,
        policies: Sequence[PolicySpec],
        planes: Iterable[DataPlane] = (),
        services: Iterable[ResourceKey] = (),
        tunnel: Tunnels = untunnelled,
        found: list[Endpoint] | None = None,
    ) -> None:
        """Number the ends of the world.

        Args:
            policies: the network policies of the world.
            planes: of all Gateways.
            services: the backends of routes.
            tunnel: what meshes make of connections.
            found: the workloads, where not all of them are asked about.
        """
        self.planes: dict[ResourceKey, list[DataPlane]] = {}
        for plane in planes:
            self.planes.setdefault(plane.gateway, []).append(plane)
        found = workloads(world) if found is None else found
        more = [plane.endpoint for listed in self.planes.values() for plane in listed]
        by_namespace: dict[str, list[Endpoint]] = {}
        for endpoint in found:
            by_namespace.setdefault(endpoint.namespace, []).append(endpoint)
        for service in dict.fromkeys(services):
            seen = world.get(service)
            selector = mapping(seen.spec.get("selector")) if seen is not None else {}
            around = by_namespace.get(service.namespace, ())
            if seen is None or (
                selector and not any(selector.items() <= endpoint.labels.items() for endpoint in around)
            ):
                more.append(behind(service, seen))
        namespaces = {endpoint.namespace for endpoint in (*found, *more) if endpoint.namespace}
        namespaces |= {policy.key.namespace for policy in policies if policy.key.namespace}
        self.network = Network(world, policies, (*found, *stand_ins(world, namespaces), *more), tunnel=tunnel)
        self._behind: dict[ResourceKey, list[int]] = {}
        self._known: dict[tuple[int, ResourceKey, int | None, str, Labels], list[Hop]] = {}
        self._number = {id(endpoint): number for number, endpoint in enumerate(self.network.universe.endpoints)}
        self.workloads: dict[ResourceKey, list[Endpoint]] = {}
        for endpoint in self.network.universe.endpoints:
            if endpoint.role == "workload":
                self.workloads.setdefault(endpoint.key, []).append(endpoint)
        self._for_denials = False

    def for_denials(self) -> Hops:
        """Return what tells of all ways whether they are denied as this does, and otherwise nothing for certain: ends
        that refuse nothing are not asked what they are open to."""
        told = copy(self)
        told._known, told._for_denials = {}, True
        return told

    def _leaves_open(self, subject: int, direction: Direction) -> bool:
        """Return whether an end need not be asked, as it refuses nothing for certain and denials alone count."""
        return self._for_denials and not self.network.may_refuse(subject, direction)

    def from_gateway(
        self,
        gateway: ResourceKey,
        listener: int | None,
        backend: ResourceKey,
        port: int | None,
        over: str = TCP,
        by_nodes: Asked = lambda: False,
        labels: Labels = (),
    ) -> Way:
        """Return the way from clients through a Gateway to the pods behind a backend.

        Args:
            listener: the listener's port, None where it is not known.
            over: the protocol of connections: one number may be open for each of several.
            by_nodes: as `from_outside` asks.
            labels: of the pods behind the backend that are meant.
        """
        ways = []
        for plane in self.planes.get(gateway, ()):
            hops = [] if listener is None else self._from_clients(plane, listener, over, by_nodes)
            hops += self.to_backend(plane.endpoint, backend, port, over, labels)
            ways.append(joined(hops))
        return _likeliest(ways)

    def to_gateway(self, gateway: ResourceKey, listener: int, over: str = TCP, by_nodes: Asked = lambda: False) -> Way:
        """Return the way from clients to the proxies of a Gateway, on the port of a listener."""
        planes = self.planes.get(gateway, ())
        return _likeliest([joined(self._from_clients(plane, listener, over, by_nodes)) for plane in planes])

    def into_gateway(self, source: Endpoint, gateway: ResourceKey, listener: int, over: str = TCP) -> Way:
        """Return the way from an end in the cluster to the proxies of a Gateway, on the port of a listener."""
        ways = []
        for plane in self.planes.get(gateway, ()):
            port = plane.container_port(listener)
            ports = () if port is None else (port,)
            ways.append(joined([self._hop(self.number(source), self.number(plane.endpoint), over, ports)]))
        return _likeliest(ways)

    def from_outside(
        self,
        backend: ResourceKey,
        port: int | None,
        over: str = TCP,
        *,
        address: str = "",
        by_others: bool = True,
        by_nodes: Asked = lambda: False,
    ) -> Way:
        """Return the way of clients outside straight to the pods behind a Service, or to those of a workload.

        Args:
            address: of the client, as the pods see it; "" for any.
            by_others: whether they may come by way of others: a load balancer may be pods (k3s), and nodes may show
                addresses of their own, unless the Service keeps those of clients.
            by_nodes: tells whether nodes are known to pass clients on with addresses of their own.
        """
        ends = self.network.universe.endpoints
        pods = list(self._pods(backend, port, over))
        if not pods and backend[:2] != SERVICE:
            pods = [(number, over, [port] if port else []) for number, end in enumerate(ends) if end.key == backend]
        hops = [self._from_anywhere(target, protocol, ports, address, by_others) for target, protocol, ports in pods]
        hops = [self._passed_on(hop, by_nodes) for hop in hops]
        verdicts = {hop.verdict for hop in hops}
        if not verdicts or "unknown" in verdicts:
            return Way("unknown", tuple(hops))
        return Way(verdicts.pop() if len(verdicts) == 1 else "partly", tuple(hops))

    def from_unseen(
        self, account: str, backend: ResourceKey, port: int | None, over: str = TCP, labels: Labels = ()
    ) -> Way:
        """Return the way of a ServiceAccount with no workload that was seen: known where no policy bears on an end."""
        spaces = ("", account.split("/")[1])
        sending = (self.network.policies[number].key for number, _ in self.network.directions["egress"])
        by, hops = next((key for key in sending if key.namespace in spaces), None), []
        for target, protocol, ports in self._pods(backend, port, over, labels):
            bears = next((entry.policy.key for entry in self.network.entries(target, "ingress")), by)
            because = f"{bears} may stop what {account} sends, which no workload seen here has" if bears else ""
            shown = f"{protocol} {','.join(map(str, ports))}".strip()
            end = self.network.universe.endpoints[target]
            hops.append(Hop(None, end, shown, "unknown" if bears else "allowed", because=because))
        return Way("unknown" if any(hop.because for hop in hops) or not hops else "allowed", tuple(hops))

    def _from_anywhere(self, target: int, protocol: str, ports: Sequence[int], address: str, by_others: bool) -> Hop:
        """Return the hop from clients outside to pods; they may show the address of a node or a load balancer."""
        end = self.network.universe.endpoints[target]
        shown = f"{protocol} {','.join(map(str, ports))}".strip()
        if not end.is_pod or protocol not in PROTOCOLS:
            return Hop(None, end, shown, "allowed")
        if self._leaves_open(target, "ingress"):
            return Hop(None, end, shown, "unknown")
        if not self.network.entries(target, "ingress"):
            return Hop(None, end, shown, "allowed")
        verdict, because, steps = self._entered(target, self._ports(protocol, ports), address, by_others)
        return Hop(None, end, shown, verdict, (), steps, because)

    def _passed_on(self, hop: Hop, by_nodes: Asked) -> Hop:
        """Return the hop of clients whom pods let in, and who come by any node: not known where those are turned away
        whom another node passes on, as its address is none of a block to the plugin (cilium/cilium#18746)."""
        if hop.verdict != "allowed" or not hop.ingress:
            return hop
        over, _, number = hop.port.partition(" ")
        ports = self._ports(over, [int(each) for each in number.split(",") if each])
        target, nodes = self.number(hop.target), self.network.universe.nodes
        if self.network.check(target, "ingress", nodes, ports) != "denied" or not by_nodes():
            return hop
        steps = self.network.steps(target, "ingress", nodes, ports)
        by = next((step.policy.key for step in reversed(steps) if step.policy is not None), "a policy")
        because = f"what another node passes on comes with its address, and {by} does not let it in"
        return hop._replace(verdict="unknown", because=because, by_node=True)

    def _ports(self, protocol: str, numbers: Iterable[int]) -> int:
        """Return a set of ports, all where none is known."""
        ports = self.network.universe.ports
        return reduce(or_, [ports.at(protocol, number) for number in numbers] or [ports.of(PortSpec(protocol))])

    def _entered(
        self, number: int, ports: int, address: str = "", by_others: bool = True
    ) -> tuple[str, str, tuple[TierStep, ...]]:
        """Return whether clients outside get to an end, why that is not known, and by which steps."""
        universe = self.network.universe
        end, clients = universe.endpoints[number], universe.addresses.at(address) or universe.addresses.all
        verdict = self.network.check(number, "ingress", clients, ports)
        steps = self.network.steps(number, "ingress", clients, ports)
        if not end.is_pod or verdict != "denied":
            return verdict, _uncertain(steps, SHOWN) if verdict == "unknown" else "", steps
        # Load balancers may hide the client's address behind a node's; Cilium's Gateways run on the node itself.
        others = universe.everything if by_others else 0
        if self.network.check(number, "ingress", others, ports) == "denied":
            return verdict, "", steps
        if self.network.check(number, "ingress", others & ~universe.in_pods, ports) != "denied":
            return "unknown", _uncertain(steps, SHOWN), steps
        by = next((step.policy.key for step in steps if step.policy is not None), "")
        return "unknown", _uncertain(steps, f"{by} lets in pods alone; {SHOWN}" if by else SHOWN), steps

    def to_backend(
        self, source: Endpoint, backend: ResourceKey, port: int | None, over: str = TCP, labels: Labels = ()
    ) -> list[Hop]:
        """Return the hops from an end to the pods behind a backend, on the ports that they have for the backend's.

        Where the manifests say that addresses or hosts stand behind a backend, the hops lead to these, and only the
        source's own policies bear on them. There are none to a backend of which the manifests say nothing.
        """
        place = (self._number[id(source)], backend, port, over, labels)
        if place not in self._known:
            self._known[place] = list(self._to(*place, frozenset()))
        return list(self._known[place])

    def from_api_server(self, service: ResourceKey, port: int) -> list[Hop]:
        """Return the hops from the API server to the pods behind a Service; none unless all of them are seen."""
        ends = self.network.universe.endpoints
        pods = list(self._pods(service, port))
        if any(ends[target].role != "workload" or not ports for target, _, ports in pods):
            return []
        return [self._hop(len(ends) - 1, target, protocol, ports) for target, protocol, ports in pods]

    def _to(
        self,
        source: int,
        backend: ResourceKey,
        port: int | None,
        over: str,
        labels: Labels,
        before: frozenset[ResourceKey],
    ) -> Iterator[Hop]:
        pods = list(self._pods(backend, port, over, labels))
        for target, protocol, ports in pods:
            yield self._hop(source, target, protocol, ports)
        resource = self.network.world.get(backend)
        if pods or resource is None or backend in before:
            return
        for destination in destinations(self.network.world, resource, port):
            service = service_named(self.network.world, destination.host)
            if service is None:
                yield self._hop_outside(source, destination)
            else:
                yield from self._to(source, service, destination.port, over, (), before | {backend})

    def number(self, end: Endpoint) -> int:
        """Return the number of an end."""
        return self._number[id(end)]

    def answered(self, hop: Hop, way: Direction, takes: Takes) -> tuple[TierStep, ...]:
        """Return what the tiers at one end of a hop do with one request on it."""
        subject, other = (hop.target, hop.source) if way == "ingress" else (hop.source, hop.target)
        host = other.key.name if other is not None and other.role == "outside" else ""
        return self.network.steps(self._number[id(subject)], way, self.peers(other), self._listening(hop), takes, host)

    def hearing(self, hop: Hop, way: Direction) -> list[tuple[PolicySpec, RuleSpec]]:
        """Return the rules at one end of a hop that certainly read its requests off the wire."""
        subject, other = (hop.target, hop.source) if way == "ingress" else (hop.source, hop.target)
        if subject is None or subject.role == "outside":
            return []
        peers, ports = self.peers(other), self._listening(hop)
        return [
            (entry.policy, rule)
            for entry in self.network.entries(self._number[id(subject)], way)
            for rule, parts in entry.rules
            if entry.certain
            and rule.calls is not None
            and (rule.action, rule.reads) == ("Allow", "wire")
            and not any(term.fault for terms in rule.calls for term in terms)
            and any(part.ports & ports and part.sure & peers for part in parts)
        ]

    def _listening(self, hop: Hop) -> int:
        """Return the set of the ports that a hop leads to."""
        protocol, _, numbers = hop.port.partition(" ")
        return self._ports(protocol, map(int, filter(None, numbers.split(","))))

    def peers(self, end: Endpoint | None) -> int:
        """Return the set of what an end is to the other end's policies; None are clients outside."""
        if end is None:
            return self.network.universe.addresses.all
        if end.role != "outside":
            return 1 << self._number[id(end)]
        return self.network.universe.addresses.at(end.key.name) or self.network.universe.addresses.all

    def to_host(self, source: Endpoint, host: str, protocol: str, port: int) -> Hop:
        """Return the hop from an end to a host outside."""
        return self._hop_outside(self._number[id(source)], Destination(host, protocol, port))

    def is_kept_inside(self, source: Endpoint, protocol: str, port: int) -> bool:
        """Return whether an end is let out to no address outside, on a port."""
        outside = self.network.universe.addresses.all
        return self.network.check(self.number(source), "egress", outside, self._ports(protocol, [port])) == "denied"

    def to_pod(self, source: int, target: int, protocol: str, port: int) -> Hop:
        """Return the hop from one end to another, both by number."""
        return self._hop(source, target, protocol, [port])

    def pods(self, service: Resource) -> list[int]:
        """Return the ends behind a Service: the workloads that it selects, else what stands in for them."""
        selector = mapping(service.spec.get("selector"))
        if not selector:
            return []
        members = numbers_of(self.network.universe.members(service.key.namespace))
        ends = self.network.universe.endpoints
        seen = [number for number in members if ends[number].role == "workload"]
        seen = [number for number in seen if selector.items() <= ends[number].labels.items()]
        return seen or self._unseen(service.key)

    def _unseen(self, service: ResourceKey) -> list[int]:
        """Return what stands in for the pods behind a Service."""
        number = self.network.numbers.get(f"Pods {service.path}")
        return [] if number is None else [number]

    def _pods(
        self, backend: ResourceKey, port: int | None, over: str = TCP, labels: Labels = ()
    ) -> Iterator[tuple[int, str, list[int]]]:
        """Yield the pods behind a port of a backend: end, protocol, ports there (none where that is not known)."""
        service = self.network.world.get(backend) if backend[:2] == SERVICE else None
        if service is None:
            for number in self._unseen(backend) if backend[:2] == SERVICE else ():
                yield number, over, []
            return
        ports = [mapping(entry) for entry in sequence(service.spec.get("ports"))]
        named = [entry for entry in ports if port is None or entry.get("port") == port]
        named = [entry for entry in named if text(entry.get("protocol"), TCP) == over] or named
        entry = named[0] if named else None
        if entry is None or (port is None and len(ports) > 1):
            return
        protocol = text(entry.get("protocol"), TCP)
        if backend not in self._behind:
            self._behind[backend] = self.pods(service)
        for number in self._behind[backend]:
            end = self.network.universe.endpoints[number]
            if end.open or all(end.labels.get(name) == value for name, value in labels):
                yield number, protocol, target_ports(end, entry)

    def _from_clients(self, plane: DataPlane, listener: int, over: str, by_nodes: Asked) -> list[Hop]:
        """Return the hop from clients outside to the proxies; what no policy isolates needs none."""
        number = self._number[id(plane.endpoint)]
        if self._leaves_open(number, "ingress") or not self.network.entries(number, "ingress"):
            return []
        port = plane.container_port(listener)
        verdict, because, steps = self._entered(number, self._ports(over, () if port is None else (port,)))
        hop = Hop(None, plane.endpoint, f"{over} {port or ''}".strip(), verdict, (), steps, because)
        return [self._passed_on(hop, by_nodes)]

    def _hop(self, source: int, target: int, protocol: str, ports: Sequence[int]) -> Hop:
        universe = self.network.universe
        ends = universe.endpoints[source], universe.endpoints[target]
        if protocol not in PROTOCOLS:
            return Hop(*ends, "", "unknown", because=f"policies say nothing about {protocol}")
        bits = self._ports(protocol, ports)
        shown = f"{protocol} {','.join(map(str, ports))}".strip()
        wrapped = self.network.tunnel(*ends) if protocol == "TCP" else None
        sent = universe.ports.at(protocol, wrapped.port) if wrapped is not None and wrapped.certain else bits
        if self._for_denials and not self.network.refuses(source, target, sent):
            return Hop(*ends, shown, "unknown")
        answer = self.network.ask(source, target, sent)
        verdict, because = answer.verdict, universe.facts.idle
        is_judged = any(step.policy is not None for step in (*answer.egress, *answer.ingress))
        if verdict == "unknown":
            because = _doubt(ends, answer.egress + answer.ingress, ports)
        elif wrapped is not None and is_judged:
            if wrapped.certain:
                because = wrapped.why if verdict != self.network.ask(source, target, bits).verdict else ""
            elif verdict != self._verdict_on(wrapped, source, target, bits):
                verdict, because = "unknown", wrapped.why
        return Hop(*ends, shown, verdict, answer.egress, answer.ingress, because)

    def _hop_outside(self, source: int, destination: Destination) -> Hop:
        """Return the hop to an address or a host: allowed or denied by the source's policies alone.

        A name may be that of anything, an address that of a node or of a load balancer before pods: the hop is denied
        only where nothing at all is open. A name is let through where all addresses outside are.
        """
        universe, protocol, port = self.network.universe, destination.protocol, destination.port
        target = Endpoint("outside", ResourceKey("", "", "", destination.host), "")
        shown = f"{protocol} {port or ''}".strip()
        if protocol not in PROTOCOLS:
            return Hop(
                universe.endpoints[source], target, "", "unknown", because=f"policies say nothing about {protocol}"
            )
        ports = self._ports(protocol, () if port is None else (port,))
        address = universe.addresses.at(destination.host)
        looked = self.network.looked_up(source, destination.host)
        if looked is None:
            its_row = self.network.row(source, "egress")
        else:
            its_row = row(looked.entries, universe.everything, universe.ports.all)
        said = verdict(its_row, address or universe.everything, ports)
        if not address and ":" not in destination.host and verdict(its_row, universe.addresses.all, ports) == "allowed":
            said = "allowed"
        if said == "denied" and verdict(its_row, universe.everything, ports) != "denied":
            said = "unknown"
        because = f"whether {destination.host} is let through hangs on what stands behind it"
        steps = self.network.steps(source, "egress", self.peers(target), ports, host=destination.host)
        if looked is not None and looked.refused is not None:
            said, steps, because = "denied", (looked.refused,), f"no rule for DNS lets {destination.host} be looked up"
        elif said != "unknown":
            because = ""
        return Hop(universe.endpoints[source], target, shown, said, steps, (), because)

    def _verdict_on(self, wrapped: Tunnel, source: int, target: int, ports: int) -> str:
        """Return the verdict on a connection that a mesh wraps, as policies see it."""
        inside = self.network.universe.ports.at("TCP", wrapped.port)
        sent = self.network.check(source, "egress", 1 << target, inside if wrapped.sends else ports)
        return both(sent, self.network.check(target, "ingress", 1 << source, inside))


SHOWN = "whether clients get to the proxies hangs on the address that they show"
_ELSEWHERE = "the proxies may run in another namespace than the usual one, and nothing here says where"


def joined(hops: Sequence[Hop]) -> Way:
    """Return the hops to one backend as one way: clients and proxies in series, the pods side by side."""
    before = [hop.verdict for hop in hops if hop.source is None]
    pods = {hop.verdict for hop in hops if hop.source is not None}
    if not pods:
        return Way("denied" if "denied" in before else "unknown", tuple(hops))
    at_pods = pods.pop() if len(pods) == 1 else "unknown" if "unknown" in pods else "partly"
    if at_pods == "partly":
        return Way(both(*before) if both(*before) != "allowed" else "partly", tuple(hops))
    return Way(both(*before, at_pods), tuple(hops))


def target_ports(endpoint: Endpoint, entry: Any) -> list[int]:
    """Return what a port of a Service is on a pod; nothing where that is not known."""
    target, number = entry.get("targetPort"), entry.get("port")
    if isinstance(target, str) and whole_number(target) is None:
        protocol = text(entry.get("protocol"), "TCP")
        return [port.number for port in endpoint.named if port.name == target and port.protocol == protocol]
    value = integer(number if target is None else whole_number(target) if isinstance(target, str) else target)
    return [] if value is None or not 0 < value <= LAST else [value]


def _doubt(ends: tuple[Endpoint, Endpoint], steps: Iterable[TierStep], ports: Sequence[int]) -> str:
    """Return why a verdict is not known."""
    if any(end.namespace[:1] == "?" for end in ends if end.role == "proxies"):
        return "where the proxies run is not known"
    if not ports:
        return f"the port of {ends[1]} is not known"
    return _uncertain(steps, "it rests on labels that no manifest shows")


def _uncertain(steps: Iterable[TierStep], otherwise: str) -> str:
    """Return why the answer of one of some steps is not certain, or another reason."""
    for step in steps:
        if not step.certain and step.policy is not None:
            if step.policy.key[:2] in NOT_EVALUATED:
                return f"it hangs on {step.policy.key} of {step.policy.key.group}, which is not evaluated"
            place = f"{step.policy.key}"
            if step.rule is not None:
                place = f"{place} {step.rule.direction}[{step.rule.position}]"
            return f"it hangs on {place}, which rests on labels, ports or addresses that no manifest shows"
    return otherwise
