"""GWP306: an AuthorizationPolicy that shuts a host out, and not the same host written with a port."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.mesh_policies import Authorizations, action, is_trial, of_controller, operations, stated_as
from policylint.documents import Pointer
from policylint.model import Finding, Resource, sequence, texts
from policylint.model.kinds import AUTHORIZATION
from policylint.simulation import Simulation

RULE = "GWP306"
SETTING = "stripHostPort"
_SHUTTING = {"ALLOW": "notHosts", "DENY": "hosts", "CUSTOM": "hosts"}
"""The field by which each action keeps a host out: what it does not match, it lets pass."""
_PORT = ":1"
"""Stands for any port: patterns that take this one take all, but for those that name one."""


def check(simulation: Simulation) -> Iterator[Finding]:
    if of_controller(simulation).get(SETTING) is True:
        return
    authorizations = Authorizations(simulation)
    for state in simulation.policies.values():
        field = _SHUTTING.get(action(state.policy))
        if (state.key.group, state.key.kind) != AUTHORIZATION or field is None or is_trial(state):
            continue
        reached = list(authorizations.beside(state))
        for pointer, hosts in _lists(state.policy, field):
            missed = [host for host in hosts if not _covers_ports(host, hosts)]
            missed = [
                host for host in missed if any(_lets_in(f"{host.lstrip('*')}{_PORT}", each) for _, each in reached)
            ]
            if missed:
                seen = all(node is not None for node, _ in reached)
                setting = stated_as(simulation, SETTING)
                yield _finding(state.policy, (*pointer, hosts.index(missed[0])), missed[0], setting, seen=seen)


def _lists(policy: Resource, field: str) -> Iterator[tuple[Pointer, list[str]]]:
    """Yield the lists of hosts that a policy shuts out, with their places."""
    for number, rule in enumerate(sequence(policy.spec.get("rules"))):
        for index, operation in enumerate(operations(rule)):
            hosts = texts(operation.get(field))
            if hosts:
                yield ("spec", "rules", number, "to", index, "operation", field), hosts


def _covers_ports(host: str, hosts: Iterable[str]) -> bool:
    """Return whether a list takes a host with any port as well: no pattern takes a suffix with one."""
    return host == "*" or ":" in host or any(_matches(f"{host.lstrip('*')}{_PORT}", other) for other in hosts)


def _matches(host: str, pattern: str) -> bool:
    """Match a host as its mesh does: exact, prefix, suffix or anything, in any case of letters."""
    host, pattern = host.lower(), pattern.lower()
    if pattern.startswith("*"):
        return host.endswith(pattern[1:])
    return host.startswith(pattern[:-1]) if pattern.endswith("*") else host == pattern


def _lets_in(host: str, policies: list[Resource]) -> bool:
    """Return whether the ALLOW policies of a workload let a host through: without any, everything is."""
    allowing = [policy for policy in policies if action(policy) == "ALLOW"]
    return not allowing or any(
        not operations(rule) or any(_takes(host, operation) for operation in operations(rule))
        for policy in allowing
        for rule in sequence(policy.spec.get("rules"))
    )


def _takes(host: str, operation: object) -> bool:
    hosts = texts(operation.get("hosts")) if isinstance(operation, dict) else []
    return not hosts or any(_matches(host, pattern) for pattern in hosts)


def _finding(policy: Resource, pointer: Pointer, host: str, setting: str, *, seen: bool) -> Finding:
    repair = f'add "{host}:*"'
    if host.startswith("*"):
        repair = "deny by default and allow the other hosts; no pattern takes a suffix with a port"
    return Finding(
        RULE,
        "warning",
        f"{policy.key} does not match requests with a port in their Host header",
        policy.location(*pointer),
        resources=(policy.key,),
        label=f"does not match {host.replace('*', 'www', 1)}:443",
        help=(
            f"fix: {repair}",
            f"note: where gateways strip the port ({setting}), set {SETTING}: true",
        ),
        confidence="certain" if seen else "assumed",
        ground="" if seen else "the workloads that it is for were not seen",
        field=path(pointer),
    )
