"""GWP302: a change takes authentication, authorization or an allow-list away from a route, on the ways that stay.

The rule needs two states, so it lives beside the comparison. The catalog says what a setting is for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from policylint.checks.confidence import NOT_RENDERED
from policylint.compare.change import ContextChange, Responsible, SettingChange
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import located, share_of_rules, target_place
from policylint.compare.protection.guards import LEFT_OPEN, demanding, purposes
from policylint.compare.settings import settings
from policylint.compare.subjects import subject_of
from policylint.model import Finding, Location, Node, Related, ResourceKey
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import SEVERITY_OF_LOSS, TurnedAway, asked, asks, strongest
from policylint.simulation import Simulation

RULE = "GWP302"
_MOST_RELATED = 4


class _Loss(NamedTuple):
    """One reason for which routes lose a protection: its purpose and settings, their sources, and who prevails.

    Args:
        turned_away: by all of the settings.
    """

    purpose: str
    turned_away: TurnedAway
    names: tuple[str, ...]
    sources: tuple[Responsible, ...]
    by: tuple[Responsible, ...]
    because: str


def authentication_removed(sides: Sides, contexts: Iterable[ContextChange]) -> Iterator[Finding]:
    """Yield one finding per reason, for routes that are there on both sides."""
    settings_by_pair: dict[tuple[int, int], list[SettingChange]] = {}
    protection = _Protection(sides.after)
    losses: dict[_Loss, dict[ResourceKey, set[Node]]] = {}
    closed = {
        binding.node
        for binding in sides.after.bindings
        if binding.form == "filter" and not binding.resolution.found
        if binding.kind is None or binding.kind.unresolved != "skipped"
    }
    for context in contexts:
        subject = subject_of(context.path)
        if context.standing != "both" or not subject.kind.endswith("Route") or context.before is None:
            continue
        if context.after is not None and context.after.refused is not None:
            continue  # every request is answered with an error: nobody gets in
        if not closed.isdisjoint(context.path):
            continue  # nor here, unless what was not seen lets it
        for purpose, _ in purposes(context.kind):
            fields_before = demanding(context.kind, context.before.spec, purpose)
            fields_after = () if context.after is None else demanding(context.kind, context.after.spec, purpose)
            if not fields_before or fields_after or protection.has(context.path, purpose):
                continue
            pair = (id(context.before), id(context.after))
            if pair not in settings_by_pair:
                settings_by_pair[pair] = settings(context.kind, context.before, context.after, sides)
            lost_settings = [setting for setting in settings_by_pair[pair] if setting.name in fields_before]
            first = next((setting for setting in lost_settings if setting.by), lost_settings[0])
            sources = tuple(dict.fromkeys(source for setting in lost_settings for source in setting.sources_before))
            # A setting that is still there has been switched off: whoever sets it now prevails.
            by = first.sources_after if first.change != "removed" else first.by
            asking = asked(context.kind, context.before, sides.before.world, sides.before.catalog)
            turned_away = strongest(ask for ask in asking if ask.purpose == purpose)
            names = tuple(setting.name for setting in lost_settings)
            loss = _Loss(purpose, turned_away, names, sources, by, first.because)
            rules = losses.setdefault(loss, {}).setdefault(subject, set())
            rules.update(node for node in context.path if node.role.endswith("Rule"))
    for loss, routes in losses.items():
        yield _finding(sides, loss, routes)


class _Protection:
    """The nodes that policies of any kind protect after the change: a route may change its implementation."""

    def __init__(self, after: Simulation) -> None:
        self._nodes: dict[str, set[Node]] = defaultdict(set)
        for group in after.groups:
            for ask in asks(group.kind, group.effective.spec):
                self._nodes[ask.purpose].update(group.nodes)

    def has(self, path: tuple[Node, ...], purpose: str) -> bool:
        """Return whether the last rule or route of a path is still protected by some policy."""
        last = next(
            (node for node in reversed(path) if node.role.endswith("Rule") or node.key.kind.endswith("Route")), None
        )
        if last is None or last not in self._nodes[purpose]:
            return False
        return all(node in self._nodes[purpose] for node in path if node.key.kind == "Gateway" and node.section)


def _finding(sides: Sides, loss: _Loss, routes: dict[ResourceKey, set[Node]]) -> Finding:
    """Return the finding of one reason."""
    first = min(routes)
    related = [
        Related(f"`{loss.names[0]}` came from here before the change", source.location)
        for source in loss.sources
        if source.location is not None
    ]
    location = located(sides.after, sorted(routes), _cause(sides, loss), related, "is no longer protected")
    share = share_of_rules(sides.after, *next(iter(routes.items()))) if len(routes) == 1 else ""
    owners = " and ".join(str(source.policy) for source in loss.sources)
    winners = tuple(winner.policy for winner in loss.by)
    unseen = _unseen_gateways(sides.after, routes)
    rest = "note: nothing else that is deployed takes its place"
    if unseen:
        rest += f"; {listing(unseen)} was not seen, and may have a policy of its own"
    subject = f"{first} loses its" if len(routes) == 1 else f"{len(routes)} routes lose their"
    return Finding(
        RULE,
        SEVERITY_OF_LOSS[loss.turned_away],
        f"{subject} {LEFT_OPEN[loss.turned_away]}{loss.purpose}{share}: {', '.join(loss.names)} of {owners}",
        location,
        resources=(first, *(source.policy for source in loss.sources), *winners),
        label=f"{winners[0]} prevails over it" if winners else f"{owners} {_is(loss.because)}",
        related=tuple(related[:_MOST_RELATED]),
        help=("fix: " + _fix(loss), rest),
        confidence="assumed" if sides.after.world.movable or unseen else "certain",
        ground=f"{listing(unseen)} was not seen" if unseen else NOT_RENDERED if sides.after.world.movable else "",
        field=",".join(loss.names),
        environments=(sides.after.world.name,),
    )


def _unseen_gateways(after: Simulation, routes: Iterable[ResourceKey]) -> list[ResourceKey]:
    """Return the Gateways and ListenerSets that routes name and that were not seen; none if a route has others only."""
    unseen: set[ResourceKey] = set()
    for key in routes:
        state = after.topology.route(key)
        above = {parent.unseen.key for parent in state.parents if parent.unseen is not None} if state else set()
        if not above:
            return []
        unseen |= above
    return sorted(unseen)


def _is(because: str) -> str:
    """Return what became of the policies, as a predicate."""
    return "is deleted" if because == "deleted" else because or "no longer applies"


def _fix(loss: _Loss) -> str:
    """Return what to do instead, one clause."""
    names = ", ".join(f"`{name}:`" for name in loss.names)
    if loss.by:
        return f"let {loss.by[0].policy.path} merge, or repeat {names} in it"
    return f"keep {names} for what needs it, here or in another policy"


def _cause(sides: Sides, loss: _Loss) -> Location | None:
    """Return where a person would edit: the policy that prevails, else the one that no longer sets it, if any."""
    for winner in loss.by:
        if winner.location is not None:
            return winner.location
    for source in loss.sources:
        state = sides.after.policies.get(sides.pairing.key(source.policy))
        if state is not None:
            return target_place(state)
    return None
