"""GWP305: a RequestAuthentication that checks tokens, where a request without any token is let in."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.content import places
from policylint.checks.kit.mesh_policies import Authorizations, action, asks_for_token, of_controller, sources
from policylint.checks.kit.wording import and_more
from policylint.model import Confidence, Finding, Node, Resource, ResourceKey, mapping, sequence, text, texts
from policylint.model.kinds import AUTHORIZATION, REQUEST_AUTHENTICATION
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP305"
_HANDED_ON = ("outputClaimToHeaders", "outputPayloadToHeader", "forwardOriginalToken")


def check(simulation: Simulation) -> Iterator[Finding]:
    authorizations = Authorizations(simulation)
    authenticated = _authenticated(simulation)
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) != REQUEST_AUTHENTICATION or not state.policy.spec.get("jwtRules"):
            continue
        written = set(_written(state))
        reached = [node for node, policies in authorizations.beside(state) if _is_open(policies, written)]
        open_ = [node for node in reached if node not in authenticated]
        if open_:
            yield _finding(simulation, state, [node for node in open_ if node is not None])


def _authenticated(simulation: Simulation) -> set[Node]:
    """Return the nodes at which a policy of another kind authenticates, Kuadrant's AuthPolicy for one."""
    return {
        node
        for group in simulation.groups
        if (group.kind.group, group.kind.kind) != REQUEST_AUTHENTICATION
        and any(field in group.effective.spec for field in group.kind.settings.authentication)
        for node in group.nodes
    }


def _written(state: PolicyState) -> Iterator[str]:
    """Yield the headers that a RequestAuthentication writes from tokens, whatever clients write there."""
    for path in texts(state.kind.headers.get("claims")):
        yield from (text(name).lower() for _, name in places(state.policy.spec, path, ()))


def _is_open(policies: list[Resource], written: set[str]) -> bool:
    """Return whether requests come through that say nothing of who sends them.

    They do not where a policy asks for a token, or where every ALLOW tells callers apart in another way; one that
    allows nothing is a default to which others are added.
    """
    if any(asks_for_token(policy, written) for policy in policies):
        return False
    allowing = [policy for policy in policies if action(policy) == "ALLOW"]
    rules = [rule for policy in allowing for rule in sequence(policy.spec.get("rules"))]
    return not allowing or not all(map(_names_callers, rules))


def _names_callers(rule: object) -> bool:
    """Return whether a rule says who may call, each entry by something that callers have."""
    entries = sources(rule)
    return bool(entries) and all(
        any(values and not name.startswith("not") for name, values in source.items()) for source in entries
    )


def _finding(simulation: Simulation, state: PolicyState, nodes: list[Node]) -> Finding:
    rules = [mapping(rule) for rule in sequence(state.policy.spec.get("jwtRules"))]
    handed_on = next((field for rule in rules for field in _HANDED_ON if rule.get(field)), "")
    unseen, assumed = _elsewhere(simulation, {state.key.namespace, *(node.key.namespace for node in nodes)})
    if not nodes:
        assumed = assumed or "the workloads that it is for were not seen"
    if handed_on:
        assumed = f"the application may check what `{handed_on}` hands on to it"
    confidence: Confidence = "unknown" if unseen else "assumed" if assumed else "certain"
    where = f"{nodes[0]}{and_more(nodes)}" if nodes else "what it is for"
    return Finding(
        RULE,
        "note" if unseen else "warning",
        f"{state.key} lets requests without a token reach {where}",
        state.policy.location("spec", "jwtRules", key=True),
        resources=(state.key, *(node.key for node in nodes[:1])),
        label="an invalid token is refused, a missing one is not",
        help=('fix: for the same workloads, allow only `requestPrincipals: ["*"]` in an AuthorizationPolicy',),
        confidence=confidence,
        ground=unseen or assumed,
    )


def _elsewhere(simulation: Simulation, namespaces: set[str]) -> tuple[str, str]:
    """Return why a policy that asks for tokens may be there unseen, or what is assumed for there being none."""
    world, root = simulation.world, text(of_controller(simulation).get("rootNamespace"))
    for namespace in sorted({root, *namespaces}):
        reason = world.unseen.reason(ResourceKey(*AUTHORIZATION, namespace, ""))
        if reason:
            return f"an AuthorizationPolicy may ask for one: {reason}", ""
    if world.partial and all(key.namespace != root for key in world.resources):
        return "", f"an AuthorizationPolicy for the whole mesh, in namespace {root}, may ask for one"
    return "", ""
