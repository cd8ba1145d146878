"""GWP302: a change takes authentication, authorization or an allow-list away from a route, on the ways that stay.

The only rule that needs two states, so it lives beside the comparison. What a setting is for, the catalog says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from policylint.checks.kit.locations import target_at
from policylint.compare.attachment import rules_of
from policylint.compare.change import ContextChange, Responsible, Setting
from policylint.compare.protection.guards import asking, purposes
from policylint.compare.settings import settings
from policylint.compare.sides import Sides
from policylint.compare.subjects import subject_of
from policylint.model import Finding, Location, Node, Related, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation

RULE = "GWP302"
_MOST_RELATED = 4


class _Loss(NamedTuple):
    """One reason for which routes lose a protection: whose settings, for what purpose, and who prevails."""

    purpose: str
    names: tuple[str, ...]
    sources: tuple[Responsible, ...]
    by: tuple[Responsible, ...]
    because: str


def authentication_removed(sides: Sides, contexts: Iterable[ContextChange]) -> Iterator[Finding]:
    """One finding per reason, for routes that are there on both sides."""
    memo: dict[tuple[int, int], list[Setting]] = {}
    protection = _Protection(sides.after)
    losses: dict[_Loss, dict[ResourceKey, set[Node]]] = {}
    for each in contexts:
        subject = subject_of(each.path)
        if each.standing != "both" or not subject.kind.endswith("Route") or each.before is None:
            continue
        for purpose, fields in purposes(each.kind):
            asked = asking(each.before.spec, fields)
            now = () if each.after is None else asking(each.after.spec, fields)
            if not asked or now or protection.has(each.path, purpose):
                continue
            pair = (id(each.before), id(each.after))
            if pair not in memo:
                memo[pair] = settings(each.kind, each.before, each.after, *sides)
            lost = [setting for setting in memo[pair] if setting.name in asked]
            first = next((setting for setting in lost if setting.by), lost[0])
            sources = tuple(dict.fromkeys(source for setting in lost for source in setting.sources_before))
            # a setting that is still there has been switched off
            by = first.sources_after if first.change != "removed" else first.by
            loss = _Loss(purpose, tuple(setting.name for setting in lost), sources, by, first.because)
            rules = losses.setdefault(loss, {}).setdefault(subject, set())
            rules.update(node for node in each.path if node.role.endswith("Rule"))
    for loss, routes in losses.items():
        yield _finding(sides, loss, routes)


class _Protection:
    """Whether another kind of policy serves the same purpose: a route may change its implementation."""

    def __init__(self, after: Simulation) -> None:
        self._nodes: dict[str, set[Node]] = defaultdict(set)
        for group in after.groups:
            for purpose, fields in purposes(group.kind):
                if asking(group.effective.spec, fields):
                    self._nodes[purpose].update(group.nodes)
        self._after = after

    def has(self, path: tuple[Node, ...], purpose: str) -> bool:
        """Whether the last rule or route of a path is still protected by some policy."""
        last = next(
            (node for node in reversed(path) if node.role.endswith("Rule") or node.key.kind.endswith("Route")), None
        )
        if last is None or last not in self._nodes[purpose]:
            return False
        return all(node in self._nodes[purpose] for node in path if node.key.kind == "Gateway" and node.section)


def _finding(sides: Sides, loss: _Loss, routes: dict[ResourceKey, set[Node]]) -> Finding:
    first = min(routes)
    location = _cause(sides, loss)
    related = [
        Related(f"`{loss.names[0]}` came from here before the change", each.location)
        for each in loss.sources
        if each.location is not None
    ]
    for route in sorted(routes):
        resource = sides.after.world.get(route)
        if resource is not None:
            if location is None:
                location = resource.name_location
            else:
                related.append(Related(f"{route} is no longer protected", resource.name_location))
    assert location is not None
    owners = " and ".join(str(each.policy) for each in loss.sources)
    winners = tuple(each.policy for each in loss.by)
    subject = f"{first} loses its" if len(routes) == 1 else f"{len(routes)} routes lose their"
    return Finding(
        RULE,
        "error",
        f"{subject} {loss.purpose}{_reach(sides, routes)}: {', '.join(loss.names)} of {owners}",
        location,
        resources=(first, *(each.policy for each in loss.sources), *winners),
        label=f"{winners[0]} prevails over it" if winners else f"{owners} {_is(loss.because)}",
        related=tuple(related[:_MOST_RELATED]),
        help=("fix: " + _fix(loss), "note: nothing else that is deployed takes its place"),
        confidence="assumed" if sides.after.world.movable else "certain",
        field=",".join(loss.names),
        environments=(sides.after.world.name,),
    )


def _reach(sides: Sides, routes: dict[ResourceKey, set[Node]]) -> str:
    """` in 1 of its 3 rules` where a single route keeps its protection elsewhere."""
    if len(routes) > 1:
        return ""
    route, rules = next(iter(routes.items()))
    every = rules_of(sides.after, route)
    return f" in {len(rules)} of its {len(every)} rules" if rules and len(rules & every) < len(every) else ""


def _is(because: str) -> str:
    return {"deleted": "is deleted", "taken out of it": "no longer says so"}.get(
        because, because or "no longer applies"
    )


def _fix(loss: _Loss) -> str:
    names = ", ".join(f"`{each}:`" for each in loss.names)
    if loss.by:
        return f"let {loss.by[0].policy.path} merge, or repeat {names} in it"
    return f"keep {names} for what needs it, here or in another policy"


def _cause(sides: Sides, loss: _Loss) -> Location | None:
    """Where a person would edit: the policy that prevails, else the one that no longer says it, if it is there."""
    for each in loss.by:
        if each.location is not None:
            return each.location
    for each in loss.sources:
        state = sides.after.policies.get(sides.pairing.key(each.policy))
        if state is not None:
            targets = state.targets
            return target_at(state.policy, targets[0]) if targets else state.policy.name_location
    return None
