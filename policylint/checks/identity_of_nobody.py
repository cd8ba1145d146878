"""GWP315: a rule about the identity of clients at a Gateway whose clients have none."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import AUTHORIZATION, action, sources
from policylint.documents import Pointer
from policylint.implementations import Implementation, implementation
from policylint.model import Finding, Resource, ResourceKey, sequence
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP315"
_IDENTITIES = ("principals", "namespaces", "serviceAccounts")
_EFFECTS = {
    "ALLOW": "it lets no client in",
    "DENY": "it denies nothing",
    "CUSTOM": "the provider is never asked about them",
}


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) != AUTHORIZATION or action(state.policy) not in _EFFECTS:
            continue
        name = state.kind.implementation
        gateways = _gateways(simulation, state, implementation(name, simulation.catalog.settings(name)))
        for place, field in _places(state.policy) if gateways else ():
            effect = _EFFECTS[action(state.policy)]
            yield Finding(
                RULE,
                "warning",
                f"{state.key} asks for {field} at {gateways[0].key}, whose clients have no identity: {effect}",
                state.policy.location(*place, field),
                resources=(state.key, *(gateway.key for gateway in gateways[:3])),
                label="only a certificate of the mesh gives an identity, and no client shows one here",
                help=("fix: ask for what such clients have: `requestPrincipals`, `ipBlocks` or `remoteIpBlocks`",),
                field=field,
            )


def _gateways(simulation: Simulation, state: PolicyState, behaviour: Implementation) -> list[Resource]:
    """Return the Gateways without identities at which a policy acts; none where it acts elsewhere as well."""
    gateways: dict[ResourceKey, Resource] = {}
    for path in (path for group in state.groups for path in group.contexts()):
        gateway = simulation.world.get(path[-1].key)
        if gateway is None or gateway.key.kind != "Gateway" or behaviour.identifies_clients(gateway, simulation.world):
            return []
        gateways.setdefault(gateway.key, gateway)
    return list(gateways.values())


def _places(policy: Resource) -> Iterator[tuple[Pointer, str]]:
    """Yield the sources that no client of such a Gateway can be, and the field that says so."""
    for rule_index, rule in enumerate(sequence(policy.spec.get("rules"))):
        for index, source in enumerate(sources(rule)):
            field = next((name for name in _IDENTITIES if source.get(name)), "")
            if field:
                yield ("spec", "rules", rule_index, "from", index, "source"), field
