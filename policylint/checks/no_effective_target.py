"""GWP106: a policy that is attached, but to something that no request comes through."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path, target_at, target_of
from policylint.checks.kit.routing import is_waypoint
from policylint.checks.kit.wording import and_more
from policylint.checks.policy_without_controller import unread_at
from policylint.implementations import implementation
from policylint.model import Finding, Node, World, mapping, value_at
from policylint.model.kinds import MESHES
from policylint.policy.results import Idle, PolicyState
from policylint.simulation import Simulation
from policylint.topology import ListenerState
from policylint.topology.namespaces import admits
from policylint.topology.parents import MOST_LISTENERS

RULE = "GWP106"
_OF_CONNECTIONS = ("TCP", "TLS", "UDP")
"""The protocols of listeners behind which no request is read."""
_ABSENCES = {
    "GatewayClass": "no Gateway uses",
    "Gateway": "no route is attached to",
    "ListenerSet": "no route is attached to",
    "XListenerSet": "no route is attached to",
    "Service": "no route leads to",
    "Backend": "no route leads to",
}


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        if state.idle is not None:
            yield _idle(state, state.idle)
            continue
        nodes = [node for target in state.targets for node in target.nodes]
        if not nodes or state.invalid_code or state.refused or state.groups or state.kind.implementation in MESHES:
            continue
        if state.is_of_shape:
            continue
        if any(unread_at(simulation, state, target)[0] for target in state.targets):
            continue  # GWP108 says it
        if state.key.kind == "BackendTLSPolicy" and _is_reported(simulation, state):
            continue
        if not any(target.problem for target in state.targets):  # those have rules of their own
            yield _finding(simulation, state, nodes)


def _idle(state: PolicyState, idle: Idle) -> Finding:
    """Return a finding on a policy that does nothing, there or at all, by its implementation's own account."""
    on = idle.on or (str(idle.target) if idle.target.selector is None else "")
    return Finding(
        RULE,
        "note" if idle.unknown else "warning",
        f"{state.key} has no effect" + (f" on {on}" if on else ""),
        target_at(state.policy, idle.target),
        resources=(state.key, *(node.key for node in idle.target.nodes[:1])),
        label=idle.why,
        help=(f"fix: {idle.fix}",) if idle.fix else (),
        confidence="unknown" if idle.unknown else "certain",
        field=path(idle.target.pointer),
    )


def _is_reported(simulation: Simulation, state: PolicyState) -> bool:
    """Return whether GWP303 reports that routes use another port of the policy's Service."""
    from policylint.checks.backend_tls_dropped import reported_policies

    return state.key in reported_policies(simulation)


def _finding(simulation: Simulation, state: PolicyState, nodes: list[Node]) -> Finding:
    node = nodes[0]
    why, unknown, repair = _without_requests(simulation, state, node) or _why(simulation, node)
    return Finding(
        RULE,
        "note" if unknown or repair else "warning",
        f"{state.key} affects no traffic through {node}{and_more(nodes)}",
        target_of(state, node),
        resources=(state.key, node.key),
        label=why,
        help=(f"fix: {repair}",) if repair else (),
        confidence="unknown" if unknown else "certain",
    )


def _without_requests(simulation: Simulation, state: PolicyState, node: Node) -> tuple[str, bool, str] | None:
    """Return why a policy about requests does nothing where connections are passed on, None where that is not it."""
    holder = simulation.topology.gateway(node.key) or simulation.topology.listener_set(node.key)
    listeners = [each for each in holder.listeners if not node.section or each.node == node] if holder else []
    if not listeners or not all(each.protocol in _OF_CONNECTIONS for each in listeners):
        return None
    name = state.kind.implementation
    of_http = implementation(name, simulation.catalog.settings(name)).of_http(state.kind)
    setting = next((each for each in of_http if state.policy.spec.get(each) is not None), "")
    release = simulation.catalog.other_releases.get(name) or simulation.catalog.releases.get(name)
    by = f" (in release {'.'.join(map(str, release))})" if release else ""
    return (f"`{setting}` is for requests{by}, and {node} takes connections", False, "") if setting else None


def _why(simulation: Simulation, node: Node) -> tuple[str, bool, str]:
    """Return why nothing comes through a node, whether that is unknown, and what to repair first."""
    state = simulation.topology.route(node.key)
    if state is not None:
        if not state.parents:  # it may be one that others delegate to
            return f"{node.key} has no parent", bool(simulation.topology.delegations), ""
        if any(parent.resolution.unknown for parent in state.parents):
            return f"it is not known whether a Gateway accepts {node.key}", True, ""
        return f"no Gateway accepts {node.key}", False, f"attach {node.key} to a Gateway first (see the findings on it)"
    holder = simulation.topology.gateway(node.key) or simulation.topology.listener_set(node.key)
    if node.section and holder is not None and len(holder.listeners) > MOST_LISTENERS:
        return (
            f"{node.key} has more than {MOST_LISTENERS} listeners, so routes were not matched against all of them",
            True,
            "",
        )
    gateway = simulation.topology.gateway(node.key)
    if gateway is not None and is_waypoint(gateway.gateway):
        return f"{node.key} is a waypoint, which serves what is bound to it by label", True, ""
    absence = f"{_ABSENCES.get(node.key.kind, 'nothing leads to')} {node}"
    if holder is not None and any(
        listener.node == node or not node.section
        for listener in holder.listeners
        if _is_for_others(simulation.world, listener)
    ):
        return f"{absence}, which takes those of namespaces that are not in the tree", True, ""
    # Another repository may hold the routes.
    return absence, bool(simulation.world.unseen) or not simulation.topology.routes, ""


def _is_for_others(world: World, listener: ListenerState) -> bool:
    """Return whether a listener selects the namespaces of its routes, and none of those here for certain."""
    namespaces = mapping(
        mapping(value_at(listener.holder.body, (*listener.pointer, "allowedRoutes"))).get("namespaces")
    )
    if namespaces.get("from") != "Selector":
        return False
    home = listener.holder.key.namespace
    here = {key.name if key.kind == "Namespace" else key.namespace for key in world.resources}
    return not any(admits(world, namespaces, "Same", home, namespace).allowed for namespace in here if namespace)
