"""GWP312: two policies log the same users in, and neither knows the sessions of the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.checks.kit.locations import path
from policylint.documents import Pointer
from policylint.model import Finding, Related, ResourceKey, mapping, text
from policylint.model.policy_kind import Sessions
from policylint.model.resource import value_at
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.ancestry import gateways_above

RULE = "GWP312"


class _Login(NamedTuple):
    """A policy that logs users in: the Gateways that lead to it, its hosts, and whether a Gateway is its target."""

    state: PolicyState
    gateways: frozenset[ResourceKey]
    hosts: frozenset[str]
    is_wide: bool


def check(simulation: Simulation) -> Iterator[Finding]:
    alike: dict[tuple[object, ...], list[PolicyState]] = {}
    for state in simulation.policies.values():
        sessions = state.kind.sessions
        login = {} if sessions is None or not state.groups else mapping(_at(state, sessions))
        if sessions is not None and login:
            same = [text(value_at(login, tuple(field.split(".")))) for field in sessions.same]
            if all(same):
                alike.setdefault((state.kind.group, state.kind.kind, *same), []).append(state)
    for states in alike.values():
        logins = [_login(simulation, state) for state in states] if len(states) > 1 else []
        logins.sort(key=lambda login: (not login.is_wide, login.state.key))
        for number, lower in enumerate(logins):
            upper = next((upper for upper in logins[:number] if _meet(upper, lower)), None)
            if upper is not None:
                yield _finding(upper.state, lower.state)


def _at(state: PolicyState, sessions: Sessions) -> Any:
    return value_at(state.policy.spec, tuple(sessions.path.split(".")))


def _login(simulation: Simulation, state: PolicyState) -> _Login:
    keys = {node.key for target in state.targets for node in target.nodes}
    routes = (simulation.topology.route(node.key) for group in state.groups for node in group.nodes)
    parents = (parent for route in routes if route is not None for parent in route.parents)
    hosts = {host for parent in parents for candidate in parent.candidates for host in candidate.hostnames}
    gateways = frozenset(gateway for key in keys for gateway in gateways_above(simulation.topology, key))
    return _Login(state, gateways, frozenset(hosts), not keys.isdisjoint(gateways))


def _meet(upper: _Login, lower: _Login) -> bool:
    """Return whether a browser keeps the cookies of both beside each other: one Gateway, and one domain or host."""
    sessions = lower.state.kind.sessions
    if sessions is None or upper.gateways.isdisjoint(lower.gateways):
        return False
    one, other = mapping(_at(upper.state, sessions)), mapping(_at(lower.state, sessions))
    names = one.get(sessions.names), other.get(sessions.names)
    if names[0] and names[0] == names[1]:
        return False
    domains = one.get(sessions.domain), other.get(sessions.domain)
    return domains[0] == domains[1] if any(domains) else not upper.hosts.isdisjoint(lower.hosts)


def _finding(upper: PolicyState, lower: PolicyState) -> Finding:
    sessions = lower.kind.sessions
    assert sessions is not None
    place: Pointer = ("spec", *sessions.path.split("."))
    return Finding(
        RULE,
        "note",
        f"{sessions.path} of {lower.key} is a login of its own: a session of {upper.key.path} is not valid there",
        lower.policy.location(*place, key=True),
        resources=(lower.key, upper.key),
        label=f"the names of its cookies end with a hash of the policy, unless `{sessions.names}` states them",
        related=(Related("the other login of the same client", upper.policy.location(*place, key=True)),),
        help=(
            f"fix: state the same `{sessions.names}` in both, if one login should work for both",
            "note: calls from scripts are redirected to the login there instead of answered",
        ),
        field=path(place),
    )
