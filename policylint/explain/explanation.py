"""The answer to «what acts on this?» and «where does this act?», as plain values for reports."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.explain.contexts import Answers, answers, nodes_of
from policylint.explain.reach import Reach, reach
from policylint.explain.subject import Subject
from policylint.explain.unattached import Unattached, unattached
from policylint.model import Finding, Resource, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.topology import GatewayState, ListenerState, RouteState, whole
from policylint.topology.backends import ports
from policylint.topology.routes import rules
from policylint.topology.workloads import is_workload, services_selecting


class Fact(NamedTuple):
    """Something worth knowing about an object before its policies: `hosts  shop.example.com`."""

    name: str
    words: str
    bad: bool = False


class Explanation(NamedTuple):
    """What is known of one object in one environment.

    Args:
        resource: None for a Namespace that no manifest makes.
        facts: its hosts, parents, ports…
        answers: what acts on it, context by context; empty for a policy that nothing acts on.
        unattached: what names it and does not act.
        state, reach: for a policy.
        findings: what lint says about it.
    """

    subject: Subject
    resource: Resource | None
    facts: tuple[Fact, ...]
    answers: Answers
    unattached: tuple[Unattached, ...]
    state: PolicyState | None
    reach: Reach | None
    findings: tuple[Finding, ...]

    @property
    def environment(self) -> str:
        return self.subject.simulation.world.name


def explain(subject: Subject, findings: Iterable[Finding] = ()) -> Explanation:
    """Explain one object; `findings` are lint's, of which those about it are kept."""
    simulation, key, node = subject
    state = simulation.policies.get(key)
    if state is None:
        found = answers(simulation, nodes_of(simulation, node))
    else:
        found = Answers((), False)
    about = tuple(each for each in findings if key in each.resources)
    return Explanation(
        subject,
        simulation.world.get(key),
        tuple(_facts(subject)),
        found,
        tuple(unattached(simulation, key, node)),
        state,
        None if state is None else reach(simulation, state),
        about,
    )


def _facts(subject: Subject) -> Iterable[Fact]:
    simulation, key, node = subject
    topology = simulation.topology
    route = topology.route(key)
    if route is not None:
        yield from _of_route(route)
    gateway = topology.gateway(key)
    if gateway is not None:
        yield from _of_gateway(gateway)
    listener = topology.listener(node)
    if listener is not None:
        yield Fact("serves", _listener(listener))
    listener_set = topology.listener_set(key)
    if listener_set is not None:
        yield Fact("parent", str(listener_set.parent), listener_set.allowed is False)
        for each in listener_set.listeners:
            yield Fact("listener", _listener(each))
    detached = next((topology.detached[v] for v in topology.vertices_of(whole(key)) if v in topology.detached), None)
    if detached is not None:
        yield Fact("detached", detached.reason, not detached.unknown)
    resource = simulation.world.get(key)
    if resource is not None and (key.group, key.kind) == ("", "Service"):
        yield Fact("ports", ", ".join(f"{each.name or '-'} {each.number}" for each in ports(resource)) or "none")
        used = sorted({str(each.route.key) for each in topology.routes if any(b.wanted == key for b in each.backends)})
        yield Fact("used by", ", ".join(used) or "no route")
    if resource is not None and is_workload(key.group, key.kind):
        services = ", ".join(str(each.key) for each in services_selecting(simulation.world, resource))
        yield Fact("behind", services or "no Service selects it")
    if (key.group, key.kind) == ("", "Namespace"):
        inside = [each for each in simulation.world.resources if each.namespace == key.name]
        policies = sum(each in simulation.policies for each in inside)
        routes = sum(each.kind.endswith("Route") for each in inside)
        number = sum((each.group, each.kind) == ("", "Service") for each in inside)
        workloads = sum(is_workload(each.group, each.kind) for each in inside)
        yield Fact("holds", f"policies {policies}, routes {routes}, Services {number}, workloads {workloads}")


def _of_route(state: RouteState) -> Iterable[Fact]:
    names = [each or "every host" for each in state.hostnames]
    yield Fact("hosts", ", ".join(names))
    for parent in state.parents:
        refused = next((each for each in parent.conditions if each.type == "Accepted" and each.status != "True"), None)
        if refused is not None:
            yield Fact("parent", f"{parent.text}: {refused.reason}, {refused.message}".rstrip(", "), bad=True)
            continue
        listeners = ", ".join(each.section for each in parent.attached)
        kind = "listener" if len(parent.attached) == 1 else "listeners"
        extra = f" ({kind} {listeners})" if listeners and not parent.section else ""
        unknown = next((each.unknown for each in parent.candidates if each.unknown), "")
        missing = f" ({parent.resolution.reason})" if parent.resolution.unknown else ""
        yield Fact("parent", f"{parent.text}{extra}{missing}" + (f", perhaps: {unknown}" if unknown else ""))
    yield Fact("rules", str(len(rules(state.route))))
    for backend in state.backends:
        if backend.reason or backend.port_found is False:
            yield Fact("backend", backend.message, bad=True)


def _of_gateway(state: GatewayState) -> Iterable[Fact]:
    class_ = state.class_resolution
    why = "not among the manifests: a chart or the controller may make it" if class_.unknown else class_.reason
    yield Fact("class", state.class_key.name + ("" if class_.found else f" ({why})"))
    for each in state.conditions:
        if each.type == "Accepted" and each.status != "True":
            yield Fact("status", f"{each.reason}: {each.message}".rstrip(": "), bad=True)
    for listener in state.listeners:
        yield Fact("listener", _listener(listener))
    addresses = [text(mapping(each).get("value")) for each in sequence(state.gateway.spec.get("addresses"))]
    if any(addresses):
        yield Fact("addresses", ", ".join(filter(None, addresses)))


def _listener(state: ListenerState) -> str:
    count = state.attached_routes
    routes = f"{count} route{'' if count == 1 else 's'}"
    conflict = f", {state.conflict}" if state.conflict else ""
    return f"{state.name}: {state.hostname or 'every host'}:{state.port} {state.protocol}, {routes}{conflict}"
