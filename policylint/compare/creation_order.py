"""Creation order in a diff: what only the side after has is younger than all that was there before.

Git has no creation times, so two policies on one target are equals to lint. A change does say something: the cluster
already has what was there before. By the same token what only the side before has counts as younger than what stays,
so that taking a change back says the reverse of making it. Only conflicts that hang on it are computed anew.
"""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model import Finding, Resource, ResourceKey
from policylint.policy.order import NEW
from policylint.simulation import Simulation, simulate

_RULES = ("GWP202", "GWP206")


def with_ages(side: Simulation, alone: frozenset[ResourceKey]) -> Simulation:
    """A side, the policies that it alone has younger than the others, where that can decide something."""
    new = {key for key in alone if key in side.policies and not side.policies[key].policy.created}
    if not new or not _meets(side, new):
        return side
    stamped = {}
    for key in sorted(new):
        each = side.world.resources[key]
        body = {**each.body, "metadata": {**each.metadata, "creationTimestamp": NEW}}
        stamped[key] = Resource(key, each.version, body, each.document, each.root, each.sources)
    return simulate(side.world.with_resources(stamped), side.catalog)


def _meets(side: Simulation, new: set[ResourceKey]) -> bool:
    """Whether a new policy shares a target with an old one."""
    for state in side.policies.values():
        if any((refusal.attachment.key in new) != (refusal.by in new) for refusal in state.refused):
            return True
    if any(len({key in new for key in each.policies}) == 2 for each in side.order_dependent):
        return True
    for group in side.groups:
        sides: dict[object, set[bool]] = {}
        for attachment in group.effective.stack:
            sides.setdefault(attachment.node, set()).add(attachment.key in new)
        if any(len(each) == 2 for each in sides.values()):
            return True
    return False


def with_reasons(findings: Iterable[Finding], new: frozenset[ResourceKey]) -> list[Finding]:
    """The findings about conflicts, saying that the change decided on the order."""
    return [_reasoned(each, new) if each.rule in _RULES else each for each in findings]


def _reasoned(finding: Finding, new: frozenset[ResourceKey]) -> Finding:
    rivals = (finding.resources[0], finding.resources[-1])
    younger = [key for key in rivals if key in new]
    if not younger:
        return finding
    rest = [each for each in finding.help if not each.startswith("note: ")]
    if len(younger) == 2:
        note = (
            f"note: both are new in this change; as equals, the first by name prevails: {min(rivals, key=_path).path}"
        )
    else:
        older = next(key for key in rivals if key not in new)
        note = f"note: {younger[0].path} is new in this change, so it is younger than {older.path}, which stays"
    return finding._replace(help=(*rest, note))


def _path(key: ResourceKey) -> str:
    return key.path
