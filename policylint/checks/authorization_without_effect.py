"""GWP210: an AuthorizationPolicy whose rules decide nothing, because another one lets everything in or nothing.

So does a rule of the same policy, without conditions or for the names of the Services that it protects.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import action, client_place, conditions, matches_all, operations, sources
from policylint.model import Finding, Related, Resource, ResourceKey, mapping, sequence, texts
from policylint.model.hosts import names_service
from policylint.model.kinds import AUTHORIZATION
from policylint.model.words import listing
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.workloads import is_workload, services_selecting

RULE = "GWP210"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        allows = (state.key.group, state.key.kind) == AUTHORIZATION and action(state.policy) == "ALLOW"
        # One without rules allows nothing: a fence around what is to come, which nobody means to decide.
        if (state.key.group, state.key.kind) == AUTHORIZATION and action(state.policy) == "DENY":
            yield from _apart(state)
        if allows and sequence(state.policy.spec.get("rules")):
            deciding = _deciding(state, simulation)
            if deciding:
                yield _finding(state, deciding)
            else:
                yield from _within(state, simulation)


def _within(state: PolicyState, simulation: Simulation) -> Iterator[Finding]:
    """Yield the first rule that asks who a client is beside one that lets in whoever calls."""
    rules = sequence(state.policy.spec.get("rules"))
    wide = next((number for number, rule in enumerate(rules) if _lets_all_in(rule, state, simulation)), None)
    asking = next((number for number, rule in enumerate(rules) if client_place(rule)), None)
    if wide is None or asking is None or client_place(rules[wide]):
        return
    hosts = [host for operation in operations(rules[wide]) for host in texts(operation.get("hosts"))]
    which = f"whoever calls {listing(hosts, word='or', most=3)}" if hosts else "every request"
    yield Finding(
        RULE,
        "warning",
        f"rules[{asking}] of {state.key} has no effect: rules[{wide}] lets in {which}",
        state.policy.location("spec", "rules", asking, *client_place(rules[asking])),
        resources=(state.key,),
        label="rules are alternatives: a request that one of them matches is let in",
        related=(Related("this one asks for no client", state.policy.location("spec", "rules", wide)),),
        help=("fix: write `from` and `to` in one rule (without the second dash), or remove one of them",),
        field=f"rules[{asking}]",
    )


def _apart(state: PolicyState) -> Iterator[Finding]:
    """Yield a DENY rule for all clients but some beside one for what is asked: as one rule they except these."""
    rules = list(map(mapping, sequence(state.policy.spec.get("rules"))))
    if len(rules) != 2 or any(conditions(rule) for rule in rules):
        return
    who = next((number for number, rule in enumerate(rules) if rule.get("from") and not rule.get("to")), None)
    what = next((number for number, rule in enumerate(rules) if rule.get("to") and not rule.get("from")), None)
    if who is None or what is None or any(not name.startswith("not") for each in sources(rules[who]) for name in each):
        return
    yield Finding(
        RULE,
        "warning",
        f"{state.key} denies all requests of the clients of rules[{who}], and those of rules[{what}] of every client",
        state.policy.location("spec", "rules", who),
        resources=(state.key,),
        label="rules are alternatives: a request that one of them matches is denied",
        related=(Related("this one asks for no client", state.policy.location("spec", "rules", what)),),
        help=("fix: if only these clients are to be denied these requests, write `from` and `to` in one rule",),
        field=f"rules[{who}]",
    )


def _lets_all_in(rule: object, state: PolicyState, simulation: Simulation) -> bool:
    """Return whether a rule matches all that comes to the Services of a policy: it asks for nothing but their names."""
    named = operations(rule)
    if sources(rule) or conditions(rule) or not isinstance(rule, dict):
        return False
    if any(operation.keys() != {"hosts"} for operation in named):
        return False
    if not named:
        return True
    hosts = [host.removesuffix(":*") for operation in named for host in texts(operation["hosts"])]
    paths = (path for group in state.groups for path in group.contexts())
    workloads = [simulation.world.get(path[-1].key) for path in paths]
    if any(workload is None or not is_workload(*workload.key[:2]) for workload in workloads):
        return False
    called = [service for each in workloads if each for service in services_selecting(simulation.world, each)]
    return bool(called) and all(any(names_service(host, "", each.key) for host in hosts) for each in called)


def _deciding(state: PolicyState, simulation: Simulation) -> list[Resource]:
    """Return the policies that decide instead wherever one acts; none when it decides something itself.

    One that may not be read there at all (that of another revision of the control plane) decides nothing for certain.
    """
    deciding: dict[ResourceKey, Resource] = {}
    for group in state.groups:
        others = [
            attachment.policy
            for attachment in group.effective.stack
            if attachment.key != state.key and simulation.policies[attachment.key].verdict != "Unknown"
        ]
        rivals = [other for other in others if _matches_all(other) and _beats(other, state.policy)]
        if not rivals:
            return []
        rival = min(rivals, key=lambda rival: action(rival) != "DENY")
        deciding.setdefault(rival.key, rival)
    return list(deciding.values())


def _beats(rival: Resource, policy: Resource) -> bool:
    """Return whether a rival decides: DENY comes before ALLOW; one ALLOW that matches is enough;
    two that match all requests are the same thing twice."""
    return action(rival) == "DENY" or (action(rival) == "ALLOW" and not _matches_all(policy))


def _matches_all(policy: Resource) -> bool:
    """Return whether one of the rules has no condition at all."""
    return any(map(matches_all, sequence(policy.spec.get("rules"))))


def _finding(state: PolicyState, rivals: list[Resource]) -> Finding:
    first = rivals[0]
    denies = action(first) == "DENY"
    effect = "denies every request" if denies else "lets every request in"
    others = f", and {len(rivals) - 1} more like it" if len(rivals) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{state.key} has no effect: {first.key.path} {effect}{others}",
        state.policy.location("spec", "rules"),
        resources=(state.key, *(rival.key for rival in rivals[:3])),
        label="DENY is evaluated before ALLOW" if denies else "one matching ALLOW is enough",
        related=tuple(
            Related(f"{rival.key.path}: a rule without conditions matches everything", rival.location("spec", "rules"))
            for rival in rivals[:3]
        ),
        help=("fix: give that rule conditions, or narrow its selector",),
    )
