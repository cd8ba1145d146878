"""What happens to requests beside policies: rules that are refused, proxies on the way, meshes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from policylint.catalog.kinds import Catalog
from policylint.documents import Pointer
from policylint.model import Location, Node, Resource, ResourceKey, World
from policylint.policy.results import (
    FaultyPart,
    Group,
)
from policylint.topology import BackendState, GatewayState, RouteState, Topology
from policylint.topology.routes import Rule

if TYPE_CHECKING:
    from policylint.implementations.generic.control_plane import ControlPlane
    from policylint.implementations.generic.dead_ends import DeadEnd
    from policylint.implementations.generic.forged import ForgedRule, ProxiedList
    from policylint.implementations.generic.idle_labels import IdleLabel
    from policylint.implementations.generic.relays import OpenRelay
    from policylint.implementations.generic.sessions import BackendSession
    from policylint.implementations.generic.workload_ports import WorkloadPort
    from policylint.matches import Match
    from policylint.network.endpoints import Endpoint
    from policylint.network.meshes import Tunnel
    from policylint.network.rules import PolicySpec
    from policylint.policy.authorizing import Checkpoint, Client, Decision, Leading, RequestFacts, Routing
    from policylint.policy.beside import Beside
    from policylint.policy.bindings import ObjectBinding
    from policylint.policy.client_addresses import Believed
    from policylint.policy.handling import Handling
    from policylint.topology.ports import HostsServed
    from policylint.topology.workloads import Labels
from policylint.implementations.generic.base import Behaviour
from policylint.model.kinds import SERVICE

SOURCES: Final = "sources"
"""In a match of a route for clients in the mesh: labels and namespace of the pods whose proxies alone have it."""

SERVER_NAMES: Final = "serverNames"
"""The field of a match of connections with the names of servers in their TLS, one of which they ask for."""
SUBNETS: Final = "subnets"
"""The field of a match of connections with the blocks of which one has the address that they are for."""
OF_LISTENER: Final = "ofListener"
"""In a destination of a route for clients in the mesh: that its port is the one they call, and not its Service's."""


class ServingMatch(Protocol):
    """A match of a rule among all that serve one host.

    Attributes:
        hostname: the narrowest hostname of route and listener that serves the host, "" for every host.
        order: how it ranks by Gateway API, the first one first.
    """

    @property
    def route(self) -> Resource: ...
    @property
    def rule(self) -> Rule: ...
    @property
    def match(self) -> Match: ...
    @property
    def hostname(self) -> str: ...
    @property
    def order(self) -> tuple[Any, ...]: ...


class Choosing(Protocol):
    """What chooses among the effective policies of its implementation, which are called by their numbers.

    Attributes:
        why: why it is not known which, where it is not.
        among: those among which it chooses; all others act wherever they are on a path.
    """

    why: str
    among: frozenset[int]

    def chosen(
        self, gateway: ResourceKey, listener: Node, rule: Node, message: RequestFacts
    ) -> Sequence[frozenset[int]] | None:
        """Return what acts on a request that a rule takes, all that may where that is not known; None for what is on
        its path."""


class Traffic(Behaviour):
    """How requests pass.

    Attributes:
        regex_last: whether it ranks regular expressions after prefixes; the others do so between these and exact paths.
        calls_by_path: whether its GRPCRoutes take all requests with the path of a call, in one order with HTTPRoutes.
        hosts_of_port: the schemes of which requests go to the route for the narrowest host on their port, whatever
            listener it is attached to; of others the listener with the narrowest hostname alone serves them.
        host_first: whether the routes for the narrowest host alone take a request, so that it gets 404 where none of
            their rules does; elsewhere it goes on to routes for wider hosts.
        ends_at_path: whether the rules with the path that fits best alone take a request, so that it gets 404 where
            none of them does; elsewhere it goes on to rules with wider paths.
        places_before_hosts: whether what `placed` says comes before the hostname, too.
        places_wider: whether `placed` may put a match before another one whose path is narrower.
        balances_equals: whether requests are balanced over the backends of all rules with one and the same match;
            elsewhere the first of them takes all.
        tells_requests: whether routes of connections to a Service are never for requests, whatever port they name.
        empty_delegation: the status for what a rule matches that delegates to no route which counts below it.
        flat_delegation: whether the matches of delegated routes stand among all others, so that another rule takes what
            none of them matches.
        entering_fronts: the label of Services by which Gateways send requests through what stands before them.
        asked_by_requests: whether what a change lets in at workloads is told by asking `admit` about requests.
        cutting: the kinds of which a policy that is refused closes connections; requests are answered with an error.
        serves_refused: the reasons for which `route_conditions` does not accept routes that are served all the same.
        preflights: what a CORS filter answers them with, and whether those of origins that it does not allow, too; they
            go on elsewhere.
        without_tls: the kinds of routes whose backends it reaches without TLS, whatever a BackendTLSPolicy says.
        plain_services: whether it calls Services in the clear unless a policy says otherwise.
        upgrades_outlast: whether the timeouts of a rule hold no more once a connection is upgraded, as at Envoy
            (envoyproxy/envoy#41075: before it, for the upgrade itself neither).
    """

    regex_last = False
    calls_by_path = False
    hosts_of_port: Set[str] = frozenset()
    host_first = False
    ends_at_path = False
    places_before_hosts = False
    places_wider = False
    balances_equals = False
    relays = False
    tells_requests = False
    empty_delegation = 404
    flat_delegation = False
    entering_fronts = ""
    asked_by_requests = False
    cutting: Set[str] = frozenset()
    serves_refused: Set[str] = frozenset()
    preflights = 204, True
    without_tls: Set[str] = frozenset()
    plain_services = False
    upgrades_outlast = False

    def sharing(
        self,
        gateway: GatewayState,  # noqa: ARG002
        topology: Topology,  # noqa: ARG002
        catalog: Catalog,  # noqa: ARG002
    ) -> Collection[ResourceKey]:
        """Return the Gateways whose requests one proxy takes together with those of a Gateway; () where it has its own.

        `begin` is not called before it.
        """
        return ()

    def unserved_listeners(self, topology: Topology, catalog: Catalog) -> Mapping[Node, str]:  # noqa: ARG002
        """Return the listeners that the controller accepts and the proxy does not serve, with why; by default none.

        `begin` is not called before it.
        """
        return {}

    def withheld(self, topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:  # noqa: ARG002
        """Return, by listener and attached route, the hostnames of both that are not served there.

        Another listener alone does, or the controller makes nothing of the route; at the listeners of others it has no
        say. By default none. `begin` is not called before it.
        """
        return {}

    def taken(self, groups: Sequence[Group], topology: Topology, served: Callable[[], HostsServed]) -> Sequence[Group]:  # noqa: ARG002
        """Return all effective policies with the contexts on which its proxy makes its own act; by default as they are.

        Args:
            served: returns for which hosts requests get from listeners to routes.

        `begin` is not called before it.
        """
        return groups

    def choosing(self, groups: Sequence[Group], topology: Topology) -> Choosing | None:  # noqa: ARG002
        """Return what chooses, request by request, which of its policies on a path act; by default None: all of them.

        `begin` is not called before it.
        """
        return None

    def underscored(self, listener: Node, groups: Sequence[Group], world: World) -> Literal["", "rejected", "dropped"]:  # noqa: ARG002
        """Return what becomes of a request with an underscore in the name of a header: it gets 400, or does not have
        that header; by default nothing."""
        return ""

    def backends(self, route: RouteState, topology: Topology) -> tuple[BackendState, ...]:
        """Return the backendRefs of a route as the controller takes them; by default those that it refuses are marked.

        It is asked where all parents of a route are its own. `begin` is not called before it.
        """
        if self.names_core:
            from policylint.implementations.generic.backends import with_core

            route = with_core(route, topology)
        faults = self.backend_faults(route, topology)
        if not faults:
            return route.backends
        return tuple(_marked(backend, faults.get(backend.pointer)) for backend in route.backends)

    def backend_faults(self, route: RouteState, topology: Topology) -> Mapping[Pointer, tuple[str, str]]:  # noqa: ARG002
        """Return which backendRefs of a route the controller refuses, with reason and message; by default none."""
        return {}

    def rule_fault(self, route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:  # noqa: ARG002
        """Return what the rule of a route answers, and why, because the controller refuses it; by default None.

        `begin` is not called before it.
        """
        return None

    def reads(self, rule: Mapping[str, Any], found: Sequence[Match], *, grpc: bool) -> Sequence[Match]:  # noqa: ARG002
        """Return the matches of a rule as the proxy reads them; none where nothing is made of the rule, whose requests
        others then take. By default as they are: a match with an expression that is none takes nothing by itself.

        Args:
            found: its matches, as Gateway API has them.

        `begin` is not called before it.
        """
        return found

    def of_call(self, call: Match) -> Match:
        """Return a match on calls as one on paths, ranked among those of HTTPRoutes, where `calls_by_path`."""
        from policylint.implementations.generic.calls import by_path

        return by_path(call)

    def placed(self, found: Sequence[ServingMatch]) -> Iterable[tuple[int, int]] | None:  # noqa: ARG002
        """Return which of the matches for one host count, by their numbers, each with a place that comes before all
        that Gateway API ranks by but the hostname: the least first, 0 where nothing is said of one.

        By default None: all count, and there are no places. `begin` is not called before it.
        """
        return None

    def outplaced(self, place: int, first: int) -> str:  # noqa: ARG002
        """Return in words why a match with one of the places that `placed` gives comes after one with another."""
        return "its proxy tries it later"

    def at_host(self, found: Sequence[Match]) -> Iterable[tuple[int, Match]]:
        """Return the matches of all rules that serve one host as they count together, each with its number among them.

        By default as they are. `begin` is not called before it.
        """
        return enumerate(found)

    def added_filters(self, route: Resource) -> tuple[Sequence[Mapping[str, Any]], Pointer]:  # noqa: ARG002
        """Return the filters that something else of a route than its rules adds to all of them, and where it stands."""
        return (), ()

    def filter_fault(self, extension: Resource, topology: Topology) -> str:  # noqa: ARG002
        """Return why the controller cannot use an object that a filter names, so that its rule answers 500; else "".

        `begin` is not called before it.
        """
        return ""

    def handle(self, extension: Resource, message: RequestFacts, world: World) -> Handling | None:  # noqa: ARG002
        """Return what an object that a filter names does with a request; by default None: that is not looked at.

        `begin` is not called before it.
        """
        return None

    def in_the_clear(self, route: Resource) -> tuple[int, str] | None:  # noqa: ARG002
        """Return the status by which requests without TLS are answered for a route, or Ingress, that takes TLS alone,
        and why; by default all take both. A redirect leads to https."""
        return None

    def believing_gateways(
        self,
        bindings: Sequence[ObjectBinding],  # noqa: ARG002
        topology: Topology,  # noqa: ARG002
    ) -> Mapping[Node, Believed]:
        """Return the Gateways whose parameters let clients say which address they have; by default none."""
        return {}

    def address_filter(self, extension: Resource) -> Pointer:  # noqa: ARG002
        """Return where an object that a filter names decides by the client's address; by default ()."""
        return ()

    def believed_beyond(
        self,
        policy: Resource,  # noqa: ARG002
        proxy: ResourceKey,  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> Iterable[tuple[Believed, Location]]:
        """Return what a proxy believes of addresses though no policy says so, and where a policy decides by it."""
        return ()

    def counted_before(
        self,
        policy: Resource,  # noqa: ARG002
        proxy: ResourceKey,  # noqa: ARG002
        gateway: Resource,  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> tuple[Pointer, Location | None] | None:
        """Return where a policy decides by clients' addresses at a proxy that takes the address which a Gateway saw,
        and where, if that is seen, the Gateway counts on proxies in front, which are what it sees; by default None."""
        return None

    def identifies_clients(self, gateway: Resource, world: World) -> bool:  # noqa: ARG002
        """Return whether the clients of a Gateway may show certificates of the mesh; by default they may."""
        return True

    def nameless(self, workload: Resource, world: World) -> Sequence[Resource]:  # noqa: ARG002
        """Return the Gateways that a workload serves, whose clients show no certificates of a mesh; by default none."""
        return ()

    def fronts(self, backend: Resource, caller: Resource | None, world: World) -> Checkpoint | None:  # noqa: ARG002
        """Return the proxy that requests pass before they come to the pods of a Service or a workload; by default none.

        Args:
            caller: the Gateway or the workload that sends them; None where that is not known.
        """
        return None

    def second_front(self, backend: Resource, world: World) -> tuple[ResourceKey, int] | None:  # noqa: ARG002
        """Return the second proxy before a Service, a Gateway, and how many of a hundred connections it takes."""
        return None

    def admit(self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World) -> Decision | None:  # noqa: ARG002
        """Return whether a request is let in at a place; by default None: nothing is known to ask there.

        Args:
            groups: the effective policies of this implementation.
        """
        return None

    def admit_probe(
        self,
        call: RequestFacts,  # noqa: ARG002
        hop: Checkpoint,  # noqa: ARG002
        groups: Sequence[Group],  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> Decision | None:
        """Return whether a probe of the kubelet is let in; by default None: it meets no policy."""
        return None

    def letting_probes_in(self, *, is_call: bool) -> str:  # noqa: ARG002
        """Return what has probes let in, by HTTP or by gRPC, as a fix says it."""
        return "let it in without an identity"

    def routing(
        self,
        service: Resource,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        port: int | None,  # noqa: ARG002
        world: World,  # noqa: ARG002
        *,
        stream: bool,  # noqa: ARG002
    ) -> Routing | None:
        """Return which routes of a Service the requests of a workload meet; by default None: that is not known.

        Args:
            caller: None where it is not known.
            stream: whether they are connections without requests.
        """
        return None

    def connections(self, service: Resource, port: int | None) -> str:  # noqa: ARG002
        """Return whether its proxies take what comes to a port of a Service for connections, `tls` or `tcp`; by default
        "": they see requests."""
        return ""

    def leading(
        self,
        service: Resource,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        home: str | None,  # noqa: ARG002
        port: int | None,  # noqa: ARG002
        routes: Sequence[Resource],  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> tuple[Leading, ...] | None:
        """Return which routes of a Service, of its own (VirtualServices) among them, the proxy of a client takes rules
        from, in order; by default None: those that Gateway API says.

        Args:
            caller: None where it is not known.
            home: its namespace, None where that is not known.
        """
        return None

    def blocked(
        self,
        service: Resource,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        port: int | None,  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> Decision | None:
        """Return the refusal of a workload's own proxy to send requests to a Service; by default it sends them."""
        return None

    def let_out(self, host: str, caller: Resource, port: int | None, world: World) -> Decision | None:  # noqa: ARG002
        """Return what a workload's own proxy does with requests for a host that is no Service; None without one."""
        return None

    def may_refuse(self, call: RequestFacts, service: Resource, world: World) -> bool:  # noqa: ARG002
        """Tell whether a policy may turn a request away at the pods of a Service, of which none was seen."""
        return False

    def hides(self, client: Client, service: Resource, port: int | None, world: World) -> str:  # noqa: ARG002
        """Return why a client does not show a Service who it is, or may not; "" where it does."""
        return ""

    def hides_clients(self, world: World) -> bool:  # noqa: ARG002
        """Tell whether any object may keep clients from showing Services who they are."""
        return False

    def is_of_clients(self, key: ResourceKey) -> bool:  # noqa: ARG002
        """Tell whether an object may say what workloads of its namespace meet before they come to a Service."""
        return False

    def is_of_whole_mesh(self, key: ResourceKey) -> bool:  # noqa: ARG002
        """Tell whether an object that is no policy may matter to all requests of the mesh; by default none does."""
        return False

    def authorizers(self, world: World) -> frozenset[str] | None:  # noqa: ARG002
        """Return the names of the external authorizers that policies may ask; None where they were not seen."""
        return None

    def beside(self, world: World) -> Iterable[Beside]:  # noqa: ARG002
        """Return what decides on requests beside policies and is not evaluated."""
        return ()

    def dead_ends(self, world: World) -> Iterable[DeadEnd]:  # noqa: ARG002
        """Return where objects of it that are no routes send requests that nothing answers; by default nowhere."""
        return ()

    def picked(self, world: World) -> Iterable[tuple[Resource, Pointer, Labels]]:  # noqa: ARG002
        """Return where objects of it that are no routes send requests to some pods of a Service alone: those with
        labels."""
        return ()

    def forgeable_lists(self, world: World) -> Iterable[ForgedRule]:  # noqa: ARG002
        """Return lists of addresses of objects of it that are no policies, which go by what clients write."""
        return ()

    def open_relays(self, world: World) -> Iterable[OpenRelay]:  # noqa: ARG002
        """Return the workloads whose proxies go where clients say; by default none."""
        return ()

    def idle_labels(self, world: World) -> Iterable[IdleLabel]:  # noqa: ARG002
        """Return the labels by which objects ask for proxies that are not there; by default none."""
        return ()

    def workload_ports(self, world: World) -> Iterable[WorkloadPort]:  # noqa: ARG002
        """Return the ports of workloads that objects of it name; by default none."""
        return ()

    def lists_of_proxies(self, world: World) -> Iterable[ProxiedList]:  # noqa: ARG002
        """Return lists of addresses that are held against those of proxies; by default none."""
        return ()

    def lists_of_connecting(self, world: World) -> Iterable[ProxiedList]:  # noqa: ARG002
        """Return lists of addresses, of objects that are no policies, that are held against who connects."""
        return ()

    def proxied(self, workload: Resource, world: World) -> bool | None:  # noqa: ARG002
        """Return whether the pods of a workload have a proxy of the mesh beside them; None where it is not known."""
        return False

    def network_policies(self, world: World) -> Iterable[PolicySpec]:  # noqa: ARG002
        """Return the network policies that are read by rules of its own, in one form with those of everybody."""
        return ()

    def idle_rules(self, world: World) -> Iterable[tuple[Resource, FaultyPart]]:  # noqa: ARG002
        """Return the parts of network policies, below `spec`, that say something to no effect, and why."""
        return ()

    def tunnel(self, source: Endpoint, target: Endpoint, world: World) -> Tunnel | None:  # noqa: ARG002
        """Return what the mesh makes of a TCP connection between two ends, where it wraps it; by default nothing."""
        return None

    def encrypted(
        self,
        source: Endpoint,  # noqa: ARG002
        target: Endpoint,  # noqa: ARG002
        service: Resource,  # noqa: ARG002
        ports: tuple[int | None, int | None],  # noqa: ARG002
        groups: Sequence[Group],  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> str:
        """Return why the mesh certainly encrypts what an end sends to the pods of a Service, "" where it may not.

        Args:
            ports: the one that is asked for, and that of the pods.
            groups: the effective policies of the mesh.
        """
        return ""

    def session(
        self,
        backend: ResourceKey,
        port: int | None,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        world: World,  # noqa: ARG002
        stated: BackendSession | None,
        labels: Labels = (),  # noqa: ARG002
    ) -> BackendSession | None:
        """Return how its proxies connect to a port of a backend; None where that is not known.

        Args:
            caller: the Gateway or the workload that connects.
            stated: what a policy asks for, which holds by default.
            labels: of the pods of the backend that are meant.
        """
        from policylint.implementations.generic.sessions import BackendSession

        return stated or (BackendSession("plain") if self.plain_services and backend[:2] == SERVICE else None)

    def steered_by(self, end: Endpoint, world: World) -> ControlPlane | None:  # noqa: ARG002
        """Return what the proxies of the mesh beside pods must reach to start; None where there is no such proxy."""
        return None


def _marked(backend: BackendState, fault: tuple[str, str] | None) -> BackendState:
    """Return a backend with what its controller has against it."""
    if backend.reason or fault is None:
        return backend
    return backend._replace(reason=fault[0], message=fault[1])


def equals(found: Sequence[tuple[Node, object, Sequence[object]]]) -> list[list[int]]:
    """Return, for each of some matches, the numbers of those of other rules with the same requests, each rule once.

    Args:
        found: the rule of each, what it ranks by before ages and places, and its conditions.
    """
    places: dict[object, dict[Node, int]] = {}
    for number, (rule, rank, conditions) in enumerate(found):
        places.setdefault((rank, frozenset(conditions)), {}).setdefault(rule, number)
    return [
        [number for other, number in places[rank, frozenset(conditions)].items() if other != rule]
        for rule, rank, conditions in found
    ]
