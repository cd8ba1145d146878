"""GWP211: two providers of external authorization for one workload, which a mesh answers by denying everything."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import action, of_controller, stated_as
from policylint.checks.kit.wording import and_more
from policylint.model import Finding, Node, Related, Resource, ResourceKey, mapping, text
from policylint.model.kinds import AUTHORIZATION
from policylint.simulation import Simulation

RULE = "GWP211"
SETTING = "multipleCustomProviders"


def check(simulation: Simulation) -> Iterator[Finding]:
    if of_controller(simulation).get(SETTING) is True:
        return
    folded: dict[tuple[ResourceKey, ResourceKey], list[Node]] = {}
    for group in simulation.groups:
        if (group.kind.group, group.kind.kind) != AUTHORIZATION:
            continue
        custom = [each.policy for each in group.effective.stack if action(each.policy) == "CUSTOM"]
        rival = next((policy for policy in custom[1:] if _provider(policy) != _provider(custom[0])), None)
        if rival is not None:
            folded.setdefault((custom[0].key, rival.key), []).extend(path[-1] for path in group.contexts())
    for (first, second), nodes in folded.items():
        policy, other = simulation.policies[first].policy, simulation.policies[second].policy
        yield _finding(policy, other, nodes, stated_as(simulation, SETTING))


def _provider(policy: Resource) -> str:
    return text(mapping(policy.spec.get("provider")).get("name"))


def _finding(first: Resource, second: Resource, nodes: list[Node], setting: str) -> Finding:
    denied = f"every request to {nodes[0]}{and_more(nodes)} is denied"
    return Finding(
        RULE,
        "error",
        f"{denied}: {first.key.path} and {second.key.path} name two authorization providers",
        second.location("spec", "provider", "name"),
        resources=(second.key, first.key, nodes[0].key),
        label=f"{_provider(second)!r} here, {_provider(first)!r} in {first.key.path}",
        related=(Related("the other provider", first.location("spec", "provider", "name")),),
        help=(
            "fix: use one provider per workload",
            f"note: where the control plane allows several ({setting}), set {SETTING}: true",
        ),
    )
