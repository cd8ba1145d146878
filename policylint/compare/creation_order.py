"""Creation order in a diff: what only the side after has is younger than everything that was there before.

Git has no creation times, so lint treats two policies on one target as equally old. A change does say something: the
cluster already has what was there before. By the same token, what only the side before has counts as younger than what
stays, so that reverting a change says the reverse of making it. Only conflicts that depend on it are computed anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from policylint.model import Finding, ResourceKey
from policylint.policy.order import NEW
from policylint.simulation import Simulation, simulate

_RULES = ("GWP202", "GWP206")


def with_ages(side: Simulation, alone: frozenset[ResourceKey]) -> Simulation:
    """Return a side with the policies that only it has younger than the others, where that can decide something."""
    new = {key for key in alone if key in side.policies and not side.policies[key].policy.created}
    if not new or not _meets(side, new):
        return side
    stamped = {}
    for key in sorted(new):
        resource = side.world.resources[key]
        body = {**resource.body, "metadata": {**resource.metadata, "creationTimestamp": NEW}}
        stamped[key] = resource.replaced(body=body)
    return simulate(side.world.with_resources(stamped), side.catalog)


def _meets(side: Simulation, new: set[ResourceKey]) -> bool:
    """Return whether a new policy shares a target with an old one."""
    for state in side.policies.values():
        if any((refusal.attachment.key in new) != (refusal.by in new) for refusal in state.refused):
            return True
    if any(len({key in new for key in dependence.policies}) == 2 for dependence in side.order_dependent):
        return True
    for group in side.groups:
        new_or_old: dict[object, set[bool]] = defaultdict(set)
        for attachment in group.effective.stack:
            new_or_old[attachment.node].add(attachment.key in new)
        if any(len(ages) == 2 for ages in new_or_old.values()):
            return True
    return False


def with_reasons(findings: Iterable[Finding], new: frozenset[ResourceKey]) -> list[Finding]:
    """Return the findings, those about conflicts with a note that the change decided the order."""
    return [_reasoned(finding, new) if finding.rule in _RULES else finding for finding in findings]


def _reasoned(finding: Finding, new: frozenset[ResourceKey]) -> Finding:
    """Add the note to a finding about a conflict, if one of the rivals is new."""
    rivals = (finding.resources[0], finding.resources[-1])
    younger = [key for key in rivals if key in new]
    if not younger:
        return finding
    rest = [line for line in finding.help if not line.startswith("note: ")]
    if len(younger) == 2:
        first = min(key.path for key in rivals)
        note = f"note: both are new in this change; as equals, the first by name prevails: {first}"
    else:
        older = next(key for key in rivals if key not in new)
        note = f"note: {younger[0].path} is new in this change, so it is younger than {older.path}, which stays"
    return finding._replace(help=(*rest, note))
