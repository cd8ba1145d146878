"""The answer to "what acts on this?" and "where does this act?", as plain values for reports."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from policylint.doors import with_doors
from policylint.explain.attachment import perhaps_attached, why_shut
from policylint.explain.clusters import facts as cluster_facts
from policylint.explain.contexts import ContextAnswers, answers, nodes_of
from policylint.explain.doors import at_doors
from policylint.explain.doors import facts as door_facts
from policylint.explain.fact import Fact
from policylint.explain.network import facts as network_facts
from policylint.explain.reach import PolicyReach, reach
from policylint.explain.subject import Subject
from policylint.explain.unattached import Unattached, unattached
from policylint.explain.winning import Taken, taken
from policylint.model import Finding, Node, Resource, mapping, sequence, text, texts
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.bindings import ObjectBinding, as_read, superseded
from policylint.policy.paths import Path
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.simulation.acting import leads_down
from policylint.simulation.certificates import CertificateDemands
from policylint.simulation.serving import by_port, served
from policylint.topology import GatewayState, ListenerState, RouteState, whole
from policylint.topology.ancestry import implementation_of
from policylint.topology.routes import rules
from policylint.topology.service_ports import ports
from policylint.topology.state import Candidate, rejection
from policylint.topology.workloads import is_workload, services_selecting


class Explanation(NamedTuple):
    """Everything known about one object in one environment.

    Args:
        resource: None for a Namespace that no manifest declares.
        facts: its hosts, parents, ports…
        answers: what acts on it, context by context; empty for a policy, since nothing acts on one.
        unattached: the policies that name it and do not act on it.
        state, reach: set for a policy only.
        extensions: what filters and annotations on its ways name and no evaluator judges, each with what keeps it from
            running, if anything does.
        findings: lint's findings about it.
        other_systems: what network policies and Open Cluster Management make of it.
    """

    subject: Subject
    resource: Resource | None
    facts: tuple[Fact, ...]
    answers: ContextAnswers
    unattached: tuple[Unattached, ...]
    state: PolicyState | None
    reach: PolicyReach | None
    extensions: tuple[tuple[ObjectBinding, ObjectBinding | None], ...]
    findings: tuple[Finding, ...]
    other_systems: tuple[Fact, ...] = ()

    @property
    def taken(self) -> tuple[Taken, ...]:
        """What a policy takes from others."""
        return taken(self.subject.simulation).get(self.subject.key, ())

    @property
    def environment(self) -> str:
        """The name of the environment."""
        return self.subject.simulation.world.name


def explain(subject: Subject, findings: Iterable[Finding] = ()) -> Explanation:
    """Explain one object; of `findings`, which are lint's, those about the object are kept."""
    simulation = at_doors(subject)
    key, node = subject.key, subject.node
    state = subject.simulation.policies.get(key)
    in_force = answers(simulation, nodes_of(simulation, node)) if state is None else ContextAnswers((), False)
    return Explanation(
        subject,
        simulation.world.get(key),
        (*_facts(subject._replace(simulation=simulation)), *door_facts(simulation, subject)),
        in_force,
        tuple(unattached(simulation, key, node)),
        state,
        None if state is None else reach(simulation, state),
        _extensions(simulation, node, in_force.paths),
        tuple(finding for finding in findings if key in finding.resources),
        (*network_facts(subject), *cluster_facts(subject)),
    )


def _extensions(
    simulation: Simulation, node: Node, paths: Iterable[Path]
) -> tuple[tuple[ObjectBinding, ObjectBinding | None], ...]:
    """Return what is named by filter or annotation on the ways through a node: for a Gateway on itself and above."""
    if not simulation.unevaluated:
        return ()
    on_way = {*nodes_of(simulation, node)}
    for path in paths:
        on_way.update(path[: path.index(node) + 1] if leads_down(node) and node in path else path)
    named = [binding for binding in simulation.unevaluated if binding.node in on_way]
    gateways = [simulation.topology.gateway(key) for key in {place.key for place in on_way}]
    controllers = {implementation_of(gateway, simulation.catalog) for gateway in gateways if gateway is not None}
    if len(controllers) == 1:
        (controller,) = controllers
        as_it_reads = (as_read(binding, controller, simulation.catalog) for binding in named)
        named = [binding for binding in as_it_reads if binding is not None]
    beaten = superseded(named)
    return tuple((binding, beaten.get(binding.wanted)) for binding in named)


def _facts(subject: Subject) -> Iterable[Fact]:
    """Yield the facts about an object, whatever its kind."""
    simulation, key, node = subject
    topology = simulation.topology
    route = topology.route(key)
    if route is not None:
        yield from _of_route(route, simulation)
    if key in topology.unseen:
        yield Fact("seen", "no: its listeners and policies of its own in other repositories are not known")
    gateway = topology.gateway(key)
    if gateway is not None:
        yield from _of_gateway(gateway, simulation)
    listener = topology.listener(node)
    if listener is not None:
        yield Fact("serves", _listener(listener, simulation))
    listener_set = topology.listener_set(key)
    if listener_set is not None:
        yield Fact("parent", str(listener_set.parent), listener_set.allowed is False)
        for entry_state in listener_set.listeners:
            yield Fact("listener", _listener(entry_state, simulation))
    yield from _certificates(simulation, node, route)
    detached = next((topology.detached[v] for v in topology.vertices_of(whole(key)) if v in topology.detached), None)
    if detached is not None:
        yield Fact("detached", detached.reason, not detached.unknown)
    for binding in simulation.bindings:
        if binding.form == "parameters" and binding.holder.key == key:
            yield Fact("parameters", f"{binding.wanted}", binding.resolution.missing)
        elif binding.wanted == key:
            yield Fact("named by", f"{binding.node} ({binding.by})")
    resource = simulation.world.get(key)
    if resource is not None and (key.group, key.kind) == ("", "Service"):
        yield Fact("ports", ", ".join(f"{port.name or '-'} {port.number}" for port in ports(resource)) or "none")
        everything = with_doors(simulation).topology.routes
        users = {
            str(state.route.key) for state in everything if any(backend.wanted == key for backend in state.backends)
        }
        yield Fact("used by", ", ".join(sorted(users)) or "no route")
    if resource is not None and is_workload(key.group, key.kind):
        services = ", ".join(str(service.key) for service in services_selecting(simulation.world, resource))
        yield Fact("behind", services or "no Service selects it")
    if (key.group, key.kind) == ("", "Namespace"):
        inside = [other_key for other_key in simulation.world.resources if other_key.namespace == key.name]
        policies = sum(other_key in simulation.policies for other_key in inside)
        routes = sum(other_key.kind.endswith("Route") for other_key in inside)
        number = sum((other_key.group, other_key.kind) == ("", "Service") for other_key in inside)
        workloads = sum(is_workload(other_key.group, other_key.kind) for other_key in inside)
        yield Fact("holds", f"policies {policies}, routes {routes}, Services {number}, workloads {workloads}")


def _certificates(simulation: Simulation, node: Node, route: RouteState | None) -> Iterable[Fact]:
    """Yield what demands certificates of the clients of a Gateway or ListenerSet, of a listener, or of the listeners of
    a route."""
    nodes = set(route.attached) if route is not None else {node}
    demands: CertificateDemands | None = None
    for gateway, listener in served(simulation.topology):
        if listener.protocol != "HTTPS" or nodes.isdisjoint(
            {listener.node, whole(listener.node.key), whole(gateway.gateway.key)}
        ):
            continue
        demands = demands or CertificateDemands(simulation)
        for demand in demands.at(gateway, listener):
            place = f"{demand.location.file.rpartition('/')[2]}:{demand.location.at()[0]}"
            words = f"must show a certificate at listener {listener.name}, by {demand.holder} ({place})"
            yield Fact("clients", words)


def _of_route(state: RouteState, simulation: Simulation) -> Iterable[Fact]:
    """Yield the hosts, parents, rules and broken backends of a route."""
    names = [hostname or "every host" for hostname in state.hostnames]
    written = simulation.world.get(state.route.key) if any(parent.mesh for parent in state.parents) else None
    if written is not None and written.key[:2] == VIRTUAL_SERVICE:  # what is lowered is for Services, by whatever name
        names = texts(written.spec.get("hosts"))
    yield Fact("hosts", ", ".join(names))
    for parent in state.parents:
        refused = None if parent.resolution.unknown else rejection(parent.conditions)
        if refused is not None:
            yield Fact("parent", f"{parent.text}: {refused.reason}, {refused.message}".rstrip(", "), bad=True)
            continue
        listeners = ", ".join(listener.section for listener in parent.attached)
        kind = "listener" if len(parent.attached) == 1 else "listeners"
        extra = f" ({kind} {listeners})" if listeners and not parent.section else ""
        unknown = next((candidate.unknown for candidate in parent.candidates if candidate.unknown), "")
        missing = f" ({parent.resolution.reason})" if parent.resolution.unknown else ""
        yield Fact("parent", f"{parent.text}{extra}{missing}" + (f", perhaps: {unknown}" if unknown else ""))
        for candidate in parent.candidates:
            nearer = "" if candidate.failure else _nearer(candidate, state, simulation)
            if nearer:
                yield Fact("idle", f"listener {candidate.node.section} gets none of its requests: {nearer}")
    yield Fact("rules", str(len(rules(state.route))))
    for backend in state.backends:
        if backend.reason or backend.port_found is False:
            yield Fact("backend", backend.message, bad=True)


def _nearer(candidate: Candidate, state: RouteState, simulation: Simulation) -> str:
    """Return which listeners take all requests for the hosts of a route in place of one that it is attached to.

    "" where the listener sends it some of them (`serving.Closed`).
    """
    closed = simulation.acting.closed
    if candidate.unknown or (candidate.node, whole(state.route.key)) in closed.served.hosts:
        return ""
    at, hosts = by_port(simulation, closed.nodes), candidate.hostnames
    narrower = [at.narrower(candidate.node, host) for host in hosts]
    if not all(narrower):
        return ""
    port, takers = at.of[candidate.node][0], set(chain.from_iterable(narrower))
    names = [node.section for node, (other, hostname) in at.of.items() if other == port and hostname in takers]
    return f"{listing(names)} {'is' if len(names) == 1 else 'are'} more specific for {listing(hosts, most=3)}"


def _of_gateway(state: GatewayState, simulation: Simulation) -> Iterable[Fact]:
    """Yield the class, rejection, listeners and addresses of a Gateway."""
    class_ = state.class_resolution
    why = "not among the manifests: a chart or the controller may make it" if class_.unknown else class_.reason
    yield Fact("class", state.class_key.name + ("" if class_.found else f" ({why})"))
    refused = rejection(state.conditions)
    if refused is not None:
        yield Fact("status", f"{refused.reason}: {refused.message}".rstrip(": "), bad=True)
    for listener in state.listeners:
        yield Fact("listener", _listener(listener, simulation))
    addresses = [text(mapping(address).get("value")) for address in sequence(state.gateway.spec.get("addresses"))]
    if any(addresses):
        yield Fact("addresses", ", ".join(filter(None, addresses)))


def _listener(state: ListenerState, simulation: Simulation) -> str:
    """Return a listener in words: `https: *.example.com:443 HTTPS, 3 routes`."""
    perhaps = len(perhaps_attached(simulation.topology).get(state.node, ()))
    certain = max(0, state.attached_routes - perhaps)
    routes = f"{certain or perhaps} route{'' if (certain or perhaps) == 1 else 's'}"
    if perhaps:
        routes = f"{routes}, perhaps {perhaps} more" if certain else f"perhaps {routes}"
    shut = why_shut(simulation, state)
    conflict = f", {state.conflict}" if state.conflict else f", takes no requests: {shut}" if shut else ""
    return f"{state.name}: {state.hostname or 'every host'}:{state.port} {state.protocol}, {routes}{conflict}"
