"""GWP106: a policy that is attached, but to something that no request comes through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path, target_at, target_of
from policylint.model import Finding, Node
from policylint.policy.results import Idle, PolicyState

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP106"
_MESHES = ("cilium", "istio", "kuma", "linkerd")
"""Implementations whose policies also act on traffic that no route describes."""
_WHAT = {
    "GatewayClass": "no Gateway is of",
    "Gateway": "no route is attached to",
    "ListenerSet": "no route is attached to",
    "XListenerSet": "no route is attached to",
    "Service": "no route leads to",
    "Backend": "no route leads to",
}


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        if state.idle is not None:
            yield _idle(state, state.idle)
            continue
        nodes = [node for target in state.targets for node in target.nodes]
        if not nodes or state.invalid_code or state.refused or state.groups or state.kind.implementation in _MESHES:
            continue
        if state.key.kind == "BackendTLSPolicy" and _is_told(world, state):
            continue
        if not any(target.problem for target in state.targets):  # of those the rule for the problem speaks
            yield _finding(world, state, nodes)


def _idle(state: PolicyState, idle: Idle) -> Finding:
    """What the implementation itself knows of a policy that does nothing."""
    return Finding(
        RULE,
        "note" if idle.unknown else "warning",
        f"{state.key} has no effect" + (f" on {idle.target}" if idle.target.selector is None else ""),
        target_at(state.policy, idle.target),
        resources=(state.key, *(node.key for node in idle.target.nodes[:1])),
        label=idle.why,
        help=(f"fix: {idle.fix}",) if idle.fix else (),
        confidence="unknown" if idle.unknown else "certain",
        field=path(idle.target.pointer),
    )


def _is_told(world: Simulation, state: PolicyState) -> bool:
    """Whether routes use another port of its Service, of which GWP303 speaks."""
    from policylint.checks.backend_tls_dropped import told

    return state.key in told(world)


def _finding(world: Simulation, state: PolicyState, nodes: list[Node]) -> Finding:
    node = nodes[0]
    why, unknown, repair = _why(world, node)
    others = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return Finding(
        RULE,
        "note" if unknown or repair else "warning",
        f"{state.key} reaches no traffic through {node}{others}",
        target_of(state, node),
        resources=(state.key, node.key),
        label=why,
        help=(f"fix: {repair}",) if repair else (),
        confidence="unknown" if unknown else "certain",
    )


def _why(world: Simulation, node: Node) -> tuple[str, bool, str]:
    """Why nothing comes through a node, whether that is unknown, and what is to be repaired first."""
    state = world.topology.route(node.key)
    if state is not None:
        if not state.parents:  # it may be one that others delegate to
            return f"{node.key} names no parent", bool(world.topology.delegations), ""
        if any(each.resolution.unknown for each in state.parents):
            return f"whether a Gateway takes {node.key} is not known", True, ""
        return f"no Gateway takes {node.key}", False, f"attach {node.key} first: see its own findings"
    elsewhere = bool(world.world.unseen) or not world.topology.routes  # another repository may hold the routes
    return f"{_WHAT.get(node.key.kind, 'nothing leads to')} {node}", elsewhere, ""
