"""GWP304: a demand stays and demands less: effective settings that became weaker on ways that stay.

The catalog says which changes weaken (`weaker`). What is no longer demanded at all is GWP302's to report.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from policylint.catalog.weakenings import common_weaknesses
from policylint.checks.kit.locations import path, value_at
from policylint.compare.change import ContextChange, SettingChange
from policylint.compare.contexts import MOST_CONTEXTS, identity
from policylint.compare.pairing import Sides
from policylint.compare.protection.annotations import annotations_weakened
from policylint.compare.protection.anywhere import weakened_anywhere
from policylint.compare.protection.cause import (
    AffectedObjects,
    Cause,
    Path,
    RoutesBehind,
    Weakened,
    WeakenedWay,
    is_unseen,
    target_place,
)
from policylint.compare.protection.extensions import extension_weakened
from policylint.compare.protection.filters import filters_weakened
from policylint.compare.protection.gateway_api import handshakes_widened
from policylint.compare.protection.ranks import ranks_lowered
from policylint.compare.protection.sessions import replaced, sessions_compared, sessions_weakened
from policylint.compare.protection.spec import Weakening, weakenings
from policylint.compare.protection.unseen import unseen_weakened
from policylint.compare.settings import settings
from policylint.documents import Pointer
from policylint.model import Location, Node, PolicyKind, ResourceKey, mapping, sequence, text
from policylint.policy.asking import SEVERITY_OF_LOSS, TurnedAway, asked, asks, strongest
from policylint.policy.results import Attachment, Effective, holds
from policylint.simulation import Simulation
from policylint.topology.routes import rules

_CALLED: Mapping[TurnedAway, str] = {"without": "", "false": "optional", "nobody": "unenforced"}
_OF_TOKENS = ("equestPrincipals", "request.auth")
"""Words of rules that read a token."""


def weakened(sides: Sides, contexts: Iterable[ContextChange]) -> list[Weakened]:
    """Return what asks for less, with what it is concerned with."""
    routes_behind, redirects = RoutesBehind(sides.after), _RedirectRules(sides.after)
    by_cause: dict[tuple[int, str], Weakened] = {}
    others = _OtherKinds(sides.after)
    ways = chain(_weakened_settings(sides, contexts, others), extension_weakened(sides, others.serve))
    of_objects = (
        handshakes_widened(sides),
        annotations_weakened(sides),
        filters_weakened(sides),
        weakened_anywhere(sides),
        ranks_lowered(sides),
        unseen_weakened(sides),
    )
    for cause, void, way in chain(ways, *of_objects):
        if not redirects.lies_on(way):
            one = by_cause.setdefault((id(cause), void), Weakened(cause._replace(void=void), AffectedObjects()))
            one.affected.add(None if cause.own else routes_behind, way)
    pairs = sessions_compared(sides)
    kept = replaced(pairs)
    by_cause = {key: one for key, one in by_cause.items() if not _takes_tls(sides, one.cause, kept)}
    for cause, _, way in sessions_weakened(sides, pairs, [each.cause for each in by_cause.values()]):
        one = by_cause.setdefault((id(cause), ""), Weakened(cause, AffectedObjects()))
        one.affected.add(routes_behind, way)
    affected_by_cause: dict[Cause, AffectedObjects] = defaultdict(AffectedObjects)
    for cause, affected in by_cause.values():
        affected_by_cause[cause].join(affected)
    return [Weakened(cause, affected) for cause, affected in affected_by_cause.items()]


def _takes_tls(sides: Sides, cause: Cause, kept: Collection[ResourceKey]) -> bool:
    """Tell whether a cause is that a policy no longer has proxies speak TLS to backends, and something else does."""
    owners = [sides.pairing.was(owner) for owner in cause.owners]
    states = [sides.before.policies.get(owner) for owner in owners if owner in kept]
    return len(states) == len(owners) and all(
        state is not None and state.kind.secures.get("at") == cause.field for state in states
    )


def _contexts_with_tokens(side: Simulation, implementation: str) -> frozenset[Path]:
    """Return the contexts in which the rules of a policy read a token; elsewhere a request needs none."""
    found: set[Path] = set()
    for group in side.groups:
        if group.kind.implementation != implementation or not group.kind.settings.authorization:
            continue
        rules = json.dumps([attachment.policy.spec.get("rules") for attachment in group.effective.stack], default=str)
        if any(word in rules for word in _OF_TOKENS):
            found.update(map(identity, islice(group.contexts(), MOST_CONTEXTS)))
    return frozenset(found)


def _weakened_settings(sides: Sides, contexts: Iterable[ContextChange], others: _OtherKinds) -> Iterator[WeakenedWay]:
    """Yield the causes in settings of policies, each with the contexts it reaches."""
    causes_by_pair: dict[tuple[int, int], list[tuple[Cause, str]]] = {}
    with_tokens: dict[str, frozenset[Path]] = {}
    for context in contexts:
        if context.standing != "both":
            continue
        if context.after is not None and context.after.refused is not None:
            continue  # every request is answered with an error
        if context.after is None and _acts_below(sides, context):
            continue  # routes came to a place that had none, and it is asked at these now
        if context.kind.settings.asks_nobody:
            by = context.kind.implementation
            if by not in with_tokens:
                with_tokens[by] = _contexts_with_tokens(sides.after, by)
            if identity(context.path) not in with_tokens[by]:
                continue  # nothing there requires a token: a request passes without any
        pair = (id(context.before), id(context.after))
        if pair not in causes_by_pair:
            causes_by_pair[pair] = list(_causes(sides, context))
        for cause, purpose in causes_by_pair[pair]:
            yield cause, "" if purpose and others.serve(context.path, context.kind, purpose) else purpose, context.path


def _acts_below(sides: Sides, change: ContextChange) -> bool:
    """Tell whether all that acted at a place acts on ways through it now."""
    place = set(change.path)
    states = [sides.after.policies.get(sides.pairing.key(key)) for key in _keys(change.before)]
    return bool(states) and all(
        state is not None
        and any(place < set(path) for group in state.groups for path in islice(group.contexts(), MOST_CONTEXTS))
        for state in states
    )


def _causes(sides: Sides, change: ContextChange) -> Iterator[tuple[Cause, str]]:
    """Yield what is weaker between the effective policies of a context, each with the purpose it leaves unserved."""
    before = {} if change.before is None else change.before.spec
    after = {} if change.after is None else change.after.spec
    if is_unseen(sides, _keys(change.before), _keys(change.after)):
        return
    removed: set[str] = set()
    for purpose in _purposes(change.kind):
        demanded, remaining = (_demanding(change.kind, spec, purpose) for spec in (before, after))
        removed |= demanded - remaining
        if remaining and remaining < demanded:
            cause = _fewer(sides, change, sorted(demanded - remaining), sorted(remaining))
            was, now = (
                _turned_away(side, change.kind, effective, purpose)
                for side, effective in ((sides.before, change.before), (sides.after, change.after))
            )
            if was == "without" != now:
                yield cause._replace(says=f"{cause.says}, and only optionally"), purpose
            else:
                yield cause, ""
    weaknesses = [weakness for weakness in change.kind.weaker if before or weakness.without is not None]
    if before and after:
        weaknesses += common_weaknesses(change.kind.kind, before, after, change.kind)
    for weakening in weakenings(weaknesses, before, after):
        if weakening.weak.path.split(".")[0] in removed:
            continue
        cause, purpose = _cause(sides, change, weakening), weakening.weak.opens if weakening.opens else ""
        turned_away = _turned_away(sides.before, change.kind, change.before, purpose) if purpose else "without"
        if turned_away != "without":  # nobody was kept out who came with nothing
            passes = "invalid credentials are let through" if weakening.was else cause.says
            says = f"{passes} (it was {_CALLED[turned_away]})"
            cause, purpose = cause._replace(says=says, severity=SEVERITY_OF_LOSS[turned_away]), ""
        yield cause, purpose


def _purposes(kind: PolicyKind) -> Iterator[str]:
    """Yield the purposes that settings of a kind serve."""
    if kind.settings.authentication:
        yield "authentication"
    if kind.settings.authorization:
        yield "authorization"


def _demanding(kind: PolicyKind, spec: Mapping[str, Any], purpose: str) -> set[str]:
    """Return the settings that ask something for a purpose."""
    return {ask.path for ask in asks(kind, spec) if ask.purpose == purpose}


def _turned_away(side: Simulation, kind: PolicyKind, effective: Effective | None, purpose: str) -> TurnedAway:
    """Return who is turned away by what an effective policy asks; all without it, where the catalog does not say."""
    asking = [] if effective is None else asked(kind, effective, side.world, side.catalog)
    found = [ask for ask in asking if ask.purpose == purpose]
    return strongest(found) if found else "without"


def _keys(effective: Effective | None) -> list[ResourceKey]:
    """Return the policies of a stack."""
    return [] if effective is None else [attachment.key for attachment in effective.stack]


def _fewer(sides: Sides, change: ContextChange, removed: list[str], remaining: list[str]) -> Cause:
    """Return the cause that some of the settings that made demands are gone while others stay."""
    listed = settings(change.kind, change.before, change.after, sides)
    listed = [setting for setting in listed if setting.name in removed]
    sources = [source for setting in listed for source in setting.sources_before]
    winners = tuple(dict.fromkeys(winner.policy for setting in listed for winner in setting.by))
    names = ", ".join(removed)
    return Cause(
        names,
        "is gone" if len(removed) == 1 else "are gone",
        f"{' and '.join(remaining)} alone {'asks' if len(remaining) == 1 else 'ask'}",
        tuple(dict.fromkeys(source.policy for source in sources)),
        winners,
        _place(sides, listed[0]),
        next((source.location for source in sources), None),
        f"keep {', '.join(f'`{name}:`' for name in removed)} here, or in a policy on each route that needs it",
        settings=frozenset(name.partition(".")[0] for name in removed),
    )


def _place(sides: Sides, setting: SettingChange) -> Location | None:
    """Return where a person would edit to bring a setting back."""
    for responsible in (*setting.by, *setting.sources_after):
        if responsible.location is not None:
            return responsible.location
    return next((at for source in setting.sources_before if (at := _left(sides, source.policy)) is not None), None)


def _left(sides: Sides, policy: ResourceKey) -> Location | None:
    """Return the target of a policy of before, if the policy is still there."""
    state = sides.after.policies.get(sides.pairing.key(policy))
    return None if state is None else target_place(state)


def _cause(sides: Sides, change: ContextChange, weakening: Weakening) -> Cause:
    """Return the cause for a weakening between two effective policies."""
    was = None if change.before is None else written(change.before, weakening.before)
    now = None if change.after is None else written(change.after, weakening.after)
    stands = now is not None and now[2] == len(weakening.after)
    owners = [place[0] for place in (now if stands else was, now, was) if place is not None][:1]
    if not owners:
        stack = (change.after or change.before).stack  # type: ignore[union-attr]
        owners = [stack[-1].key]
    winners: tuple[ResourceKey, ...] = ()
    location = None if now is None else now[1]
    if not stands and was is not None:
        listed = settings(change.kind, change.before, change.after, sides)
        setting = next((candidate for candidate in listed if candidate.name == weakening.before[0]), None)
        if setting is not None:
            winners = tuple(winner.policy for winner in setting.by)
            location = location or _place(sides, setting)
        elif location is None:
            location = _left(sides, was[0])
        if now is not None and now[0] != sides.pairing.key(was[0]):
            winners = (now[0],)
    shown = weakening.after if stands or not weakening.before else weakening.before
    return Cause(
        path(shown if not weakening.weak.list else weakening.after[: _depth(weakening)]),
        weakening.change,
        weakening.weak.says,
        tuple(owners),
        winners,
        location,
        None if was is None else was[1],
        _fix(weakening),
        weakening.weak.severity,
        settings=frozenset({weakening.weak.path.partition(".")[0]}),
        drops="demands" in (weakening.weak.presence, weakening.weak.list)
        and any(weakening.weak.path.startswith(f"{path}.") for path in change.kind.settings.authentication),
    )


def _depth(weakening: Weakening) -> int:
    """Return the number of steps of a weakness's path."""
    return len(weakening.weak.path.split("."))


def _fix(weakening: Weakening) -> str:
    """Return what to do instead, one clause."""
    field = f"`{path(weakening.after[: _depth(weakening)])}`"
    if weakening.was:
        return f"keep {field} at {weakening.was}"
    if "demands" in (weakening.weak.presence, weakening.weak.list):
        return f"keep what {field} asked for: here, or in a policy on each route that needs it"
    return f"restore the old value of {field}, or put the wider rule on the routes that need it"


def written(effective: Effective, pointer: Pointer) -> tuple[ResourceKey, Location, int] | None:
    """Return the policy that writes what stands at a pointer of an effective spec, or nearest above it.

    Returns:
        The policy, the location and how many steps of the pointer are written; None where no policy writes any of it.
    """
    for depth in range(len(pointer), 0, -1):
        part = pointer[:depth]
        owners = sorted(
            {owner for owned, owner in effective.owners.items() if owned[:depth] == part or part[: len(owned)] == owned}
        )
        attachments = [attachment for owner in owners for attachment in effective.stack if attachment.key == owner]
        for attachment in attachments:
            location = _in(attachment, part, value_at(effective.spec, part))
            if location is not None:
                return attachment.key, location, depth
    return None


def _in(attachment: Attachment, pointer: Pointer, value: Any) -> Location | None:
    """Return where a policy writes a value of the effective spec; a merged list may have it at another index, or hold
    the policy's whole list as one of its entries."""
    *above, last = pointer
    for declared in attachment.declared:
        pointers = [pointer]
        if isinstance(last, int):
            beside = sequence(value_at(declared.proper, tuple(above)))
            pointers = [(*above, number) for number, entry in enumerate(beside) if entry == value]
            pointers += [tuple(above)] if beside == value else []
        for candidate in pointers:
            if holds(declared.proper, candidate):
                return attachment.policy.location(*declared.prefix, *candidate, key=isinstance(last, str))
    return None


class _OtherKinds:
    """The kinds of policy that serve each purpose on rules and routes after the change."""

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._nodes: dict[tuple[Node, str], set[tuple[str, str]]] | None = None
        self._above: dict[tuple[Node, str], set[tuple[str, str]]] = defaultdict(set)

    def serve(self, way: Path, kind: PolicyKind, purpose: str = "") -> bool:
        """Return whether policies of another kind serve a purpose, or any, on a way."""
        if self._nodes is None:
            self._nodes = defaultdict(set)
            for group in self._after.groups:
                for ask in asks(group.kind, group.effective.spec):
                    served = (group.kind.group, group.kind.kind)
                    for node in group.nodes:
                        self._nodes[node, ask.purpose].add(served)
                    if group.kind.effective_at == "listener" and ask.must:
                        for path in group.contexts():
                            self._above[path[-1], ask.purpose].add(served)
        wanted = (purpose,) if purpose else ("authentication", "authorization")
        kinds = set().union(*(self._nodes.get((way[-1], served), ()) for served in wanted))
        kinds |= set().union(*(self._above.get((node, served), ()) for node in way for served in wanted))
        return bool(kinds - {(kind.group, kind.kind)})


class _RedirectRules:
    """Rules that only redirect: a demand there keeps nobody out."""

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._redirects: dict[Node, bool] = {}

    def lies_on(self, way: Path) -> bool:
        """Return whether a way ends in such a rule."""
        rule = next((node for node in way if node.role.endswith("Rule")), None)
        if rule is None:
            return False
        if rule not in self._redirects:
            state = self._after.topology.route(rule.key)
            listed = () if state is None else rules(state.route)
            filters = (sequence(each.body.get("filters")) for each in listed if each.node == rule)
            types = {text(mapping(route_filter).get("type")) for route_filter in next(filters, [])}
            self._redirects[rule] = "RequestRedirect" in types
        return self._redirects[rule]
