"""GWP211: two providers of external authorization for one workload, which istiod answers by denying everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.mesh_policies import AUTHORIZATION, action
from policylint.model import Finding, Node, Related, ResourceKey, mapping, text
from policylint.policy.results import Attachment, Group

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP211"
SETTING = "multipleCustomProviders"


def check(world: Simulation) -> Iterator[Finding]:
    if world.catalog.settings("istio").get(SETTING) is True:
        return
    folded: dict[tuple[ResourceKey, ResourceKey], list[Node]] = {}
    for group in world.groups:
        if (group.kind.group, group.kind.kind) != AUTHORIZATION:
            continue
        custom = _custom(group)
        rival = next((each for each in custom[1:] if _provider(each) != _provider(custom[0])), None)
        if rival is not None:
            nodes = [path[-1] for path in group.contexts()]
            folded.setdefault((custom[0].key, rival.key), []).extend(nodes)
    for (one, other), nodes in folded.items():
        yield _finding(world, one, other, nodes)


def _custom(group: Group) -> list[Attachment]:
    return [each for each in group.effective.stack if action(each.policy) == "CUSTOM"]


def _provider(attachment: Attachment) -> str:
    return text(mapping(attachment.policy.spec.get("provider")).get("name"))


def _finding(world: Simulation, one: ResourceKey, other: ResourceKey, nodes: list[Node]) -> Finding:
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    first, second = world.policies[one].policy, world.policies[other].policy
    names = [text(mapping(each.spec.get("provider")).get("name")) for each in (first, second)]
    return Finding(
        RULE,
        "error",
        f"every request to {nodes[0]}{more} is denied: {one.path} and {other.path} name two authorization providers",
        second.location("spec", "provider", "name"),
        resources=(other, one, nodes[0].key),
        label=f"{names[1]!r} here, {names[0]!r} in {one.path}",
        related=(Related("the other provider", first.location("spec", "provider", "name")),),
        help=(
            "fix: use one provider per workload",
            f"note: where istiod allows several (PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS), set {SETTING}: true",
        ),
    )
