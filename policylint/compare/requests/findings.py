"""GWP302, GWP304 and GWP324: what a change lets through, or asks less of, one finding for each reason.

A request is answered otherwise for one of four reasons, which say what the finding is called: what asked, or refused,
is not there any more (GWP302); it is there and demands less, in words that the catalog has for it, or at the proxies of
a mesh (GWP304); or whatever else lets requests through (GWP324). How bad it is follows from who gets in alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from policylint.checks.confidence import NOT_RENDERED
from policylint.checks.kit.locations import at
from policylint.compare.attachment import rules_of
from policylint.compare.change import EnvironmentChange, Responsible
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import Weakened, located, share_of_rules, target_place
from policylint.compare.protection.cause import finding as finding_of_cause
from policylint.compare.requests.answers import Demands
from policylint.compare.requests.changes import OPENED, RequestChange
from policylint.compare.requests.kept import CERTIFICATE, Kept, gone
from policylint.compare.requests.words import difference_in_words, doors_in_words, example_in_words, sets_in_words
from policylint.compare.sameness import encoded
from policylint.compare.subjects import subject_of
from policylint.documents import Pointer
from policylint.doors.vendors import closest
from policylint.model import ROUTE_KINDS, SEVERITIES, Finding, Location, Node, Related, ResourceKey, Severity
from policylint.model.kinds import INGRESS
from policylint.model.words import count, listing, verb
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import TurnedAway, asks
from policylint.topology.ancestry import implementation_of
from policylint.topology.routes import rules
from policylint.trace import PURPOSES

REMOVED, WEAKENED = "GWP302", "GWP304"
_MOST_RELATED = 4
_UNSEEN = "no request to it was seen"
_WHOLE = (("spec",), ("metadata.name",))
"""The names under which a policy as a whole stands: nothing in it, or all of it, turned requests away."""
_MOST_EDITS = 100
"""Places of an object that are looked through for one that is responsible."""
_LEFT_OPEN: dict[TurnedAway, str] = {"without": "", "false": "optional ", "nobody": "unenforced "}
"""What such a login is called before the word for its purpose."""


def findings_of_requests(
    sides: Sides, environment: EnvironmentChange, weakened: Sequence[Weakened], beside: Iterable[Finding]
) -> Iterator[Finding]:
    """Yield one finding per reason for which requests are opened or asked less.

    Args:
        weakened: the settings that ask for less, in the words of the catalog.
        beside: the other findings of the side after: GWP301 says of a new route that it asks for nothing.
    """
    changes = () if environment.requests is None else environment.requests.changes
    said = {key for finding in beside if finding.rule == "GWP301" for key in finding.resources[:1]}
    worst: dict[int, Severity] = {}
    opens: set[int] = set()
    lost: dict[_Loss, list[RequestChange]] = {}
    openings = []
    for change in changes:
        if change.change not in ("opened", "less-asked"):
            continue
        told = [number for number, each in enumerate(weakened) if _explains(sides, each, change)]
        opens.update(told if change.change == "opened" else ())
        for number in told:
            worst[number] = min(worst.get(number, "note"), change.severity, key=SEVERITIES.index)
        if told:
            continue
        losses = list(_losses(sides, change))
        for loss in losses:
            lost.setdefault(loss, []).append(change)
        if not losses and (change.kept or said.isdisjoint(change.routes)):
            openings.append(change)
    for number, each in enumerate(weakened):
        yield finding_of_cause(sides, each, worst.get(number), opens=number in opens)
    everywhere = {
        (loss.kept.purpose, loss.kept.names, _keys(loss)) for loss in lost if loss.rule is None and not loss.new
    }
    by_policy: dict[ResourceKey, list[RequestChange]] = {}
    for change in changes if lost else ():
        for who in change.by:
            by_policy.setdefault(who.policy, []).append(change)
    for loss, routes in _unseen_losses(sides, environment).items():
        yield _finding(sides, loss, (), sorted(routes))
    for losses in _of_one_cause(lost):
        loss, of_loss = losses[0], [*{id(each): each for loss in losses for each in lost[loss]}.values()]
        if not loss.new or (loss.kept.purpose, loss.kept.names, _keys(loss)) not in everywhere:
            own = set(map(id, of_loss))
            rest = {id(each): each for key in _keys(loss) for each in by_policy.get(key, ()) if id(each) not in own}
            at = [each.kept.at for each in losses if each.kept.at is not None]
            yield _finding(sides, loss, of_loss, at=at, beside=[*rest.values()])
    yield from filter(None, (_opening(sides, change) for change in openings))


def _explains(sides: Sides, weakened: Weakened, change: RequestChange) -> bool:
    """Return whether a setting that asks for less is why requests are asked less, or get in."""
    after = sides.pairing.key
    names = {name.partition(".")[0] for name in change.settings}
    names |= {name.removeprefix("spec.").partition(".")[0] for each in change.kept for name in each.names}
    cause = weakened.cause
    # A demand that is gone, and a new entry that names whom it lets in, are more than words of the catalog say.
    if (
        change.change == "opened"
        and SEVERITIES.index(cause.severity) > SEVERITIES.index(change.severity)
        and (change.named or (not cause.settings and any(not kept.stands for kept in change.kept)))
    ):
        return False
    owners = {after(who.policy) for each in change.kept for who in each.owners} | {who.policy for who in change.by}
    if not owners.intersection(map(after, (*cause.owners, *cause.winners))):
        return False
    return not cause.settings or not names.isdisjoint({*cause.settings, CERTIFICATE})


class _Loss(NamedTuple):
    """What is not there any more for some requests.

    Args:
        rule: that takes them from another one, or is new, where what kept them out stands elsewhere.
        listener: that leads past it.
        new: whether nothing took the requests before.
    """

    kept: Kept
    rule: Node | None = None
    listener: Node | None = None
    new: bool = False


def _of_one_cause(lost: Mapping[_Loss, Sequence[RequestChange]]) -> Iterable[list[_Loss]]:
    """Return losses by their cause: what one policy turned away at several workloads is one, and as bad at each."""
    found: dict[object, list[_Loss]] = {}
    for loss, changes in lost.items():
        is_of_workload = loss.kept.at is not None and loss.rule is None and loss.listener is None
        worst = min((_severity(loss, each) for each in changes), key=SEVERITIES.index)
        cause = (worst, loss._replace(kept=loss.kept._replace(at=None))) if is_of_workload else loss
        found.setdefault(cause, []).append(loss)
    return found.values()


def _keys(loss: _Loss) -> tuple[ResourceKey, ...]:
    return tuple(owner.policy for owner in loss.kept.owners)


def _losses(sides: Sides, change: RequestChange) -> Iterator[_Loss]:
    """Yield what kept the requests of a change out and is gone; nothing where it only lets more in."""
    for past in change.past:
        yield _Loss(past.kept, None if past.listener is not None else past.rule, past.listener, new=True)
    if change.named:
        return
    for kept in change.kept:
        if kept.at is not None or not kept.stands:
            taken = next(iter(sorted(change.taken)), None) if _acts(sides, kept) else None
            yield _Loss(kept, taken)


def _acts(sides: Sides, kept: Kept) -> bool:
    """Return whether the policies that asked still act, as they did before."""
    for owner in kept.owners:
        if not kept.because and _named_by(sides, owner.policy):
            continue
        now, was = sides.after.policies.get(sides.pairing.key(owner.policy)), sides.before.policies.get(owner.policy)
        if now is None or was is None or now.policy.spec != was.policy.spec or now.verdict != was.verdict:
            return False
    return kept.at is None and bool(kept.owners)


def _named_by(sides: Sides, key: ResourceKey) -> str:
    """Return what still names an object that acts where it is named: `filter`, an annotation; "" for any other."""
    after = sides.pairing.key(key)
    return next((each.by for each in sides.after.bindings if each.wanted == after and each.form != "target"), "")


def _unseen_losses(sides: Sides, environment: EnvironmentChange) -> dict[_Loss, set[ResourceKey]]:
    """Return what routes lose of which no request was seen: their parents are elsewhere, or not seen."""
    lost: dict[_Loss, set[ResourceKey]] = {}
    compared = frozenset() if environment.requests is None else environment.requests.compared
    for context in environment.contexts:
        route = subject_of(context.path)
        if context.standing != "both" or context.before is None or route in compared or route.kind not in ROUTE_KINDS:
            continue
        if context.after is not None and context.after.refused is not None:
            continue  # every request is answered with an error
        asked = list(asks(context.kind, context.before.spec))
        left = () if context.after is None else {ask.purpose for ask in asks(context.kind, context.after.spec)}
        for purpose in PURPOSES:
            own = [ask for ask in asked if ask.purpose == purpose]
            if own and purpose not in left:
                found = gone(sides, context, purpose, own)
                lost.setdefault(_Loss(found), set()).add(route)
    return lost


def _finding(
    sides: Sides,
    loss: _Loss,
    changes: Sequence[RequestChange],
    of_routes: Sequence[ResourceKey] = (),
    at: Sequence[ResourceKey] = (),
    beside: Sequence[RequestChange] = (),
) -> Finding:
    """Return the finding of what is not there any more.

    Args:
        at: the workloads or proxies of a mesh that asked.
        beside: what else the same objects change.
        of_routes: that lose it, where no request of theirs was seen.
    """
    kept = loss.kept
    after = sides.after.world
    if loss.new:
        routes = sorted({past.route for each in changes for past in each.past if past.kept == kept})
    else:
        found = {key for each in changes for key in each.routes if after.get(key) is not None}
        routes = sorted(found) or list(of_routes)
    affected = list(at) or routes
    affected = affected or [key for each in changes for key in sorted(_gateways(each))]
    first = affected[0]
    severity = min((_severity(loss, each) for each in changes), key=SEVERITIES.index, default=kept.severity)
    names = ", ".join(kept.names)
    owners = listing([str(owner.policy) for owner in kept.owners]) or "the default"
    what = owners if kept.names in _WHOLE else f"{names} of {owners}"
    subject = str(first) if len(affected) == 1 else count(len(affected), "route")
    purpose = f"{_LEFT_OPEN[kept.turned_away]}{kept.purpose}"
    ground = next((each.ground for each in changes if each.ground), "" if changes else _UNSEEN)
    related: list[Related] = []
    if kept.at is not None:
        became = "turns fewer requests away" if kept.stands else "is gone"
        ends = "get in" if changes[0].change == "opened" else "are turned away by others alone"
        subject, is_ = (f"{first} and {len(at) - 1} more", "are") if len(at) > 1 else (str(first), "is")
        message = f"{subject} {is_} less protected: {what} {became}, {_let_in(changes)} {ends}"
        location = next((_edited(sides, who) for each in changes for who in each.by if _is_there(sides, who)), None)
    elif loss.listener is not None:
        possessive = "its" if len(affected) == 1 else "their"
        message = f"{subject} can be reached without {possessive} {purpose} through {loss.listener}"
        message += f": {what} does not apply there"
        location, related = _leading(sides, affected, loss.listener)
    elif loss.rule is not None:
        holder, section = loss.rule.key, loss.rule.section
        if loss.new:
            message = f"{holder} gains rule {section} without the {purpose} of its other rules"
        elif affected == [holder]:
            new = "" if sides.pairing.origin(loss.rule) in rules_of(sides.before, sides.pairing.was(holder)) else "new "
            message = f"{holder} loses its {purpose} for what its {new}rule {section} takes over"
        else:
            others = listing([str(key) for key in affected if key != holder])
            message = f"{holder} takes requests of {others} without their {purpose}"
            affected, first = [holder, *(key for key in affected if key != holder)], holder
        message += f": {what} does not apply there"
        location = _of_rule(sides, loss.rule)
    else:
        possessive = "loses its" if len(affected) == 1 else "lose their"
        of_rules = {rule for each in changes for rule in each.rules if rule.key == first}
        share = (
            share_of_rules(sides.after, first, of_rules & rules_of(sides.after, first)) if len(affected) == 1 else ""
        )
        to = _open_ends(changes)
        where = f" for requests that go to {listing(list(map(str, to)), most=1)} now" if to else ""
        message = f"{subject} {possessive} {purpose}{share}{where}: {what}"
        location = _place_of_loss(sides, kept)
    if loss.rule is None and loss.listener is None:
        related += [
            Related(f"`{kept.names[0]}` came from here before the change", owner.location)
            for owner in kept.owners
            if owner.location is not None
        ]
        location = located(sides.after, affected, location, related, "is no longer protected")
    else:
        for owner in kept.owners:
            state = sides.after.policies.get(sides.pairing.key(owner.policy))
            if state is not None:
                related.append(Related(f"{state.key} applies on the other ways", target_place(state)))
        location = located(sides.after, affected, location, [], "")
    winners = tuple(winner.policy for winner in kept.by)
    ways = () if loss.listener is None else (loss.listener.key,)
    return Finding(
        REMOVED if kept.at is None else WEAKENED,
        severity,
        message,
        location,
        resources=(*(at or (first,)), *(owner.policy for owner in kept.owners), *winners, *ways),
        label=_label(loss, owners, winners),
        related=tuple(related[:_MOST_RELATED]),
        help=(
            f"fix: {_fix(sides, loss, owners, changes)}",
            _note(loss, changes, beside, ground),
            *(example_in_words(each) for each in changes[:1]),
        ),
        confidence="assumed" if sides.after.world.movable or ground else "certain",
        ground=ground or (NOT_RENDERED if sides.after.world.movable else ""),
        field=",".join(kept.names) + _suffix(loss),
        environments=(sides.after.world.name,),
    )


def _severity(loss: _Loss, change: RequestChange) -> Severity:
    if not loss.new:
        return change.severity
    own = (past for past in change.past if (past.kept, past.listener) == (loss.kept, loss.listener))
    return next((past.severity for past in own if loss.rule in (None, past.rule)), change.severity)


def _suffix(loss: _Loss) -> str:
    """Return what tells a loss from another one of the same settings."""
    way = loss.listener or loss.rule
    return f" {way.section}" if way is not None else ""


def _label(loss: _Loss, owners: str, winners: Collection[ResourceKey]) -> str:
    if loss.listener is not None:
        return "it is attached here"
    if loss.rule is not None:
        return "nothing asks for it here"
    if winners:
        return f"{next(iter(winners))} prevails over it"
    because = loss.kept.because
    is_gone = because in ("deleted", "no longer deployed") or because.startswith("no longer named")
    return f"{owners} {f'is {because}' if is_gone else because or 'no longer applies'}"


_MENDED = {
    "deleted": "keep {}",
    "no longer deployed": "deploy {} again",
    "its selector": "restore the labels that {} selects",
    "its target": "correct the target of {}",
    "now invalid": "make {} valid again",
    "no longer named": "name {} again",
}
"""How each fate of a policy begins, and what takes it back."""


def _fix(sides: Sides, loss: _Loss, owners: str, changes: Sequence[RequestChange]) -> str:
    """Return what to do instead, one clause."""
    if any(owner.policy[:2] == INGRESS for owner in loss.kept.owners):
        found = (_closest(sides, name, change) for change in changes[:1] for name in loss.kept.names)
        if own := list(dict.fromkeys(filter(None, found))):
            return f"what comes closest is {'; '.join(own)}"
    names = ", ".join(f"`{name}:`" for name in loss.kept.names)
    if loss.listener is not None:
        detach = "detach the route from it"
        return detach if CERTIFICATE in loss.kept.names else f"attach {owners} to {loss.listener.key} too, or {detach}"
    if loss.rule is not None:
        if by := next(filter(None, (_named_by(sides, owner.policy) for owner in loss.kept.owners)), ""):
            return f"name {owners} by {by} in rule {loss.rule.section} of {loss.rule.key}, too"
        return f"attach {owners} to {loss.rule.key} too, or a policy of its own with {names}"
    if loss.kept.names in _WHOLE:
        return f"keep {owners} as it was"
    if loss.kept.by:
        return f"let {loss.kept.by[0].policy.path} merge, or repeat {names} in it"
    because = loss.kept.because
    mended = next((fix.format(owners) for cause, fix in _MENDED.items() if because.startswith(cause)), "")
    if because.startswith("no longer named"):
        return mended  # no policy sets what such an object does
    kept, added = (
        (mended, names) if mended else (f"keep {names} in {owners}", "them" if len(loss.kept.names) > 1 else "it")
    )
    return f"{kept}, or add {added} to a policy on each route that needs it"


def _closest(sides: Sides, setting: str, change: RequestChange) -> str:
    """Return what comes closest to a setting of an Ingress at the Gateway that takes the requests now."""
    state = next(
        (each for sets in change.requests if (each := sides.after.topology.gateway(sets.gateway)) is not None), None
    )
    return closest(setting, None if state is None else implementation_of(state, sides.after.catalog))


def _note(loss: _Loss, changes: Sequence[RequestChange], others: Sequence[RequestChange], ground: str) -> str:
    if loss.rule is not None or loss.listener is not None:
        return "note: every way to it asked before" if loss.new else "note: these requests had to meet it before"
    if not changes:
        return f"note: {ground}"  # what else may be asked was not looked at
    if loss.rule is None and (to := _open_ends(changes)):
        whom = listing(list(map(str, to)))
        return f"note: others got to {whom} without it before, in the same rule; what it was for is not reached past it"
    left = _demands(changes)
    asked, elsewhere = (
        "; ".join([*dict.fromkeys(f"{each.words} by {each.by}" for each in listed if each.state == "asked")][:2])
        for listed in (left, _demands([each for each in others if each.purpose == loss.kept.purpose]))
    )
    found = "no other policy in this repository replaces it"
    if asked:
        some = "" if all(demands.state == "asked" for demands in left) else "some of "
        found = f"{some}these requests still have to meet {asked}"
    elif elsewhere:
        found = f"nothing replaces it for these requests; others still have to meet {elsewhere}"
    return f"note: {found}" + (f"; {ground}" if ground else "")


def _open_ends(changes: Sequence[RequestChange]) -> list[ResourceKey]:
    """Return the backends that get all of the requests now, and were open before; none where others get some."""
    ends = [each.elsewhere for each in changes]
    return list(dict.fromkeys(key for each in ends for key in each)) if all(ends) else []


def _demands(changes: Sequence[RequestChange]) -> list[Demands]:
    """Return what is asked after the changes, for the purpose of each."""
    return [
        sets.after.login if change.purpose == "authentication" else sets.after.authorization
        for change in changes
        if change.purpose in ("authentication", "authorization")
        for sets in change.requests
    ]


def _let_in(changes: Sequence[RequestChange]) -> str:
    words = list(dict.fromkeys(map(sets_in_words, changes)))
    return "; ".join(words[:2]) + (f" and {len(words) - 2} more" if len(words) > 2 else "")


def _gateways(change: RequestChange) -> set[ResourceKey]:
    return {requests.gateway for requests in change.requests}


def _is_there(sides: Sides, who: Responsible) -> bool:
    return sides.after.world.get(who.policy) is not None


def _place_of_loss(sides: Sides, kept: Kept) -> Location | None:
    """Return where a person would edit: the policy that prevails, else the one that no longer sets it, if any."""
    for winner in kept.by:
        if winner.location is not None:
            return winner.location
    for owner in kept.owners:
        state = sides.after.policies.get(sides.pairing.key(owner.policy))
        if state is not None:
            return target_place(state)
    return None


def _of_rule(sides: Sides, node: Node) -> Location | None:
    """Return the place of a rule of a route."""
    route = sides.after.world.get(node.key)
    found = [] if route is None else [rule for rule in rules(route) if rule.node.section == node.section]
    assert route is not None
    return at(route, ("spec", "rules", found[0].number), "name", "matches", "backendRefs") if found else None


def _leading(sides: Sides, routes: Iterable[ResourceKey], listener: Node) -> tuple[Location | None, list[Related]]:
    """Return where routes are led to a listener, and the listener itself."""
    found: list[tuple[Location, str]] = []
    for key in islice(routes, _MOST_RELATED):
        now, was = sides.after.topology.route(key), sides.before.topology.route(sides.pairing.was(key))
        if now is None or was is None:
            continue
        parent = next((parent for parent in now.parents if listener in parent.attached), None)
        if parent is not None:
            place = at(now.route, parent.pointer, "sectionName", "name")
            found.append((place, f"{key} is attached to {listener} here"))
        if was.hostnames != now.hostnames and "hostnames" in now.route.spec:
            place = now.route.location("spec", "hostnames", key=True)
            found.append((place, f"{listener} serves one of these"))
    state = sides.after.topology.listener(listener)
    if state is not None:
        found.append((at(state.holder, state.pointer, "name"), f"{listener} asks for none of it"))
    if not found:
        return None, []
    return found[0][0], [Related(text, place) for place, text in found[1:]]


def _identity(change: RequestChange) -> str:
    """Return what tells a change from others by the same objects, in every run."""
    sets = (f"{','.join(requests.hosts)} {requests.words}" for requests in change.requests)
    return " ".join([change.change, change.purpose, *change.settings, "; ".join(dict.fromkeys(sets))])


def _opening(sides: Sides, change: RequestChange) -> Finding | None:
    """Return the finding of one reason, None where nothing that is written has to do with it."""
    after = sides.after.world
    gone = {who.policy for who in change.by if after.get(who.policy) is None}
    by = [f"removing {who.policy}" if who.policy in gone else str(who.policy) for who in change.by]
    by = by or ["the change"]
    opens = verb(len(by), "opens" if change.change == "opened" else "asks")
    less = "" if change.change == "opened" else " less of"
    here = [who for who in change.by if who.policy not in gone]
    written = [_edited(sides, who) for who in here]
    location = next(filter(None, written), None)
    related = [Related(str(who.policy), place) for who, place in zip(here, written, strict=True) if place is not None][
        1:
    ]
    related += [
        Related(f"{who.policy} was written here before the change", who.location)
        for who in change.by
        if who.policy in gone and who.location is not None
    ]
    taking = change.routes or tuple(dict.fromkeys(requests.gateway for requests in change.requests))
    if all(after.get(key) is None for key in taking):  # nothing that is deployed takes them: where it was written
        location = location or next((who.location for who in change.by if who.location is not None), None)
    if location is None and all(after.get(key) is None for key in taking):
        return None
    location = located(sides.after, taking, location, related, "takes them")
    return Finding(
        OPENED,
        change.severity,
        f"{listing(by)} {opens}{less} {sets_in_words(change)}, {doors_in_words(change)}",
        location,
        resources=tuple(dict.fromkeys([*(who.policy for who in change.by), *change.routes])),
        label=difference_in_words(change),
        related=tuple(related[:_MOST_RELATED]),
        help=(*_instead(sides, change), example_in_words(change)),
        confidence="assumed" if after.movable or change.ground else "certain",
        ground=change.ground or (NOT_RENDERED if after.movable else ""),
        field=_identity(change),
        environments=(change.environment,),
    )


def _instead(sides: Sides, change: RequestChange) -> list[str]:
    """Return what to do about a limit that an Ingress had."""
    found = [_closest(sides, name, change) for name in change.settings] if change.change == "less-asked" else []
    return [f"fix: what comes closest is {each}" for each in filter(None, found)] if not change.purpose else []


def _edited(sides: Sides, who: Responsible) -> Location | None:
    """Return the first place that the change edits in an object, if there is one within what is responsible there.

    Code scanning shows an alert in a pull request only on a line that it changes.
    """
    was, now = sides.before.world.get(sides.pairing.was(who.policy)), sides.after.world.get(who.policy)
    if was is None or now is None:
        return who.location
    places = [now.location(*pointer) for pointer in islice(_differences(was.body, now.body), _MOST_EDITS)]
    own = who.location
    within = (place for place in places if own is not None and _is_within(place, own))
    return next(within, None) or next(iter(places), own)


def _is_within(place: Location, other: Location) -> bool:
    return place.document is other.document and place.pointer[: len(other.pointer)] == other.pointer


def _differences(before: Any, after: Any, at: Pointer = ()) -> Iterator[Pointer]:
    """Yield where a value is new or another one; where something is only gone, the place around it."""
    found = False
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(after, key="metadata".__eq__) if not at else after:
            if name not in before or before[name] != after[name]:
                found = True
                yield from _differences(before[name], after[name], (*at, name)) if name in before else [(*at, name)]
    elif isinstance(before, list) and isinstance(after, list):
        known = set(map(encoded, before))
        new = [number for number, value in enumerate(after) if encoded(value) not in known]
        for number in new:
            found = True
            is_edited = len(before) == len(after) and isinstance(after[number], dict)
            yield from _differences(before[number], after[number], (*at, number)) if is_edited else [(*at, number)]
    if not found:
        yield at
