"""GWP324 requests-opened: what a change lets through, or asks less of, and no other finding tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from policylint.checks.confidence import NOT_RENDERED
from policylint.compare.change import EnvironmentChange, Responsible
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import located
from policylint.compare.requests.changes import OPENED, RequestChange
from policylint.compare.requests.words import difference_in_words, doors_in_words, example_in_words, sets_in_words
from policylint.documents import Pointer
from policylint.model import ROUTE_KINDS, Finding, Location, Related, ResourceKey
from policylint.model.words import listing, verb

_LOSSES = frozenset({"GWP201", "GWP210", "GWP302", "GWP304"})
"""Rules about settings that ask no longer, or for less."""
_MOST_RELATED = 4
_MOST_EDITS = 100
"""Places of an object that are looked through for one that is responsible."""


def requests_opened(sides: Sides, environment: EnvironmentChange, beside: Iterable[Finding]) -> Iterator[Finding]:
    """Yield one finding per reason for which requests are opened or asked less, but for those that another one tells.

    Args:
        beside: the other findings of the side after and of the change.
    """
    changes = () if environment.requests is None else environment.requests.changes
    more = [change for change in changes if change.change in ("opened", "less-asked")]
    if not more:
        return
    by_key: dict[ResourceKey, list[Finding]] = {}
    for finding in beside:
        if not finding.environments or environment.name in finding.environments:
            for key in finding.resources:
                by_key.setdefault(key, []).append(finding)
    for change in more:
        about = {who.policy for who in change.by}
        others = {key for key in about if not any(key in side.policies for side in (sides.before, sides.after))}
        named = {key for key in others if key.kind not in ROUTE_KINDS}
        if others == about:
            about.update(change.routes)
        if not any(_tells(finding, change, named) for key in about for finding in by_key.get(key, ())):
            said = _finding(sides, change)
            if said is not None:
                yield said


def _identity(change: RequestChange) -> str:
    """Return what tells a change from others by the same objects, in every run."""
    sets = (f"{','.join(requests.hosts)} {requests.words}" for requests in change.requests)
    return " ".join([change.change, change.purpose, *change.settings, "; ".join(dict.fromkeys(sets))])


def _tells(finding: Finding, change: RequestChange, named: set[ResourceKey]) -> bool:
    """Return whether a finding about one of the objects that did it says the same: that these settings ask for less.

    Requests that nothing served before have no such setting: of them it is told where the route is said to ask nothing,
    or to be reached through their Gateway without what it asks elsewhere.

    Args:
        named: those of the objects that did it that policies name: what is said of them is said of no setting.
    """
    if finding.rule in _LOSSES and not named.isdisjoint(finding.resources[1:]):
        return True
    settings = {setting.partition(".")[0] for setting in (*change.settings, *change.turned_away)}
    if not settings:
        gateways = {requests.gateway for requests in change.requests}
        is_bypass = finding.severity == "warning" or gateways.issubset(finding.resources)
        is_said = finding.rule == "GWP301" or (finding.rule == "GWP302" and is_bypass)
        return is_said and finding.resources[0] in change.routes
    return finding.rule in _LOSSES and ("" in settings or not settings.isdisjoint(re.split(r"[^\w-]", finding.field)))


def _finding(sides: Sides, change: RequestChange) -> Finding | None:
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
        "warning" if change.exposed else "note",
        f"{listing(by)} {opens}{less} {sets_in_words(change)}, {doors_in_words(change)}",
        location,
        resources=tuple(dict.fromkeys([*(who.policy for who in change.by), *change.routes])),
        label=difference_in_words(change),
        related=tuple(related[:_MOST_RELATED]),
        help=(example_in_words(change),),
        confidence="assumed" if after.movable else "certain",
        ground=NOT_RENDERED if after.movable else "",
        field=_identity(change),
        environments=(change.environment,),
    )


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
        known = set(map(_text, before))
        new = [number for number, value in enumerate(after) if _text(value) not in known]
        for number in new:
            found = True
            is_edited = len(before) == len(after) and isinstance(after[number], dict)
            yield from _differences(before[number], after[number], (*at, number)) if is_edited else [(*at, number)]
    if not found:
        yield at


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
