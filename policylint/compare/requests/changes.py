"""The requests that a change answers otherwise: regions of both sides paired, their differences by their reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from policylint.compare.at_home import backends_at_home
from policylint.compare.change import ContextChange, Responsible
from policylint.compare.pairing import Sides
from policylint.compare.requests.answers import Answers, Change, Difference, RequestAnswer, differences
from policylint.compare.requests.named import naming
from policylint.compare.requests.reasons import Reasons
from policylint.compare.requests.touched import touched_entries
from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import strongest
from policylint.reach import (
    EntryPoint,
    Stated,
    WayIn,
    in_words,
    is_for_anybody,
    is_grpc,
    is_possible,
    request_in,
    stated,
    ways_in,
)
from policylint.spaces import Box, Dimension, intersect, is_empty, merged
from policylint.trace import Request, Tracer

OPENED = "GWP324"
"""requests-opened: the rule that makes a finding of what is opened or asked less (`opened`)."""
MOST_TRACED = 50_000
"""Regions of one environment that are compared; the hosts beyond are unknown."""
_ORDER: tuple[Change, ...] = ("opened", "less-asked", "rerouted", "changed", "more-asked", "closed")
_MOST_WORDS = 3


class RequestSet(NamedTuple):
    """Requests to some hosts at one port of a Gateway, in words; `port` is None where the Gateway was not seen.

    For requests inside a mesh `gateway` is the Service that they are for.
    """

    gateway: ResourceKey
    scheme: str
    port: int | None
    hosts: tuple[str, ...]
    words: str

    @property
    def inside(self) -> bool:
        return self.gateway.kind == "Service"


class RequestChange(NamedTuple):
    """What is answered otherwise for one reason.

    Args:
        purpose: authentication or authorization where another thing is asked, "" where requests end elsewhere.
        before, after: the end, or what is asked; of several the first ones.
        settings: the names of the settings that ask otherwise.
        by: the objects that did it, with the places to look at.
        requests: all requests that it concerns.
        example: one of them, that `trace` shows to be answered so on both sides.
        routes: whose rules take them, as they are called after.
        partly: whether policies may answer others of the requests otherwise, and this is said of the example.
        turned_away: the settings by which policies denied them before.
        exposed: whether a policy stood in their way before, and anybody can send some of them now: without a login,
            from any address.
    """

    environment: str
    change: Change
    purpose: str
    before: str
    after: str
    settings: tuple[str, ...]
    by: tuple[Responsible, ...]
    requests: tuple[RequestSet, ...]
    example: Request
    routes: tuple[ResourceKey, ...] = ()
    partly: bool = False
    turned_away: tuple[str, ...] = ()
    exposed: bool = False

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(host for requests in self.requests for host in requests.hosts)


class RequestChanges(NamedTuple):
    """What a change does to requests.

    Args:
        hosts: how many hosts it touches.
        unknown: why it is not known for some of the hosts whether they are answered otherwise, and for how many.
        same: whether all requests are certainly answered as before.
    """

    changes: tuple[RequestChange, ...] = ()
    hosts: int = 0
    unknown: tuple[tuple[str, int], ...] = ()
    same: bool = False

    @property
    def opens(self) -> tuple[RequestChange, ...]:
        return tuple(change for change in self.changes if change.change == "opened")


class _Pair(NamedTuple):
    """The requests that one region of each side has in common, and both answers."""

    boxes: tuple[Box, ...]
    dimensions: tuple[Dimension, ...]
    before: RequestAnswer
    after: RequestAnswer


def request_changes(
    sides: Sides, contexts: Iterable[ContextChange], changed: Collection[ResourceKey], *, whole: bool
) -> RequestChanges:
    """Return what requests a change answers otherwise.

    Args:
        changed: the objects that differ between the sides, by their identity after, or before where they are gone.
        whole: whether all that changes was seen.
    """
    if not changed:
        return RequestChanges(same=whole and bool(sides.after.topology.routes))
    sides = backends_at_home(sides)
    tracers = Tracer(sides.before, nearest=False), Tracer(sides.after, nearest=False)
    comparison = _Comparison(sides, tracers, changed)
    for entry in touched_entries(sides, tracers, contexts, changed):
        comparison.add(entry)
    return comparison.result(whole=whole)


class _Gathered:
    """What one reason does: the boxes by entry, and what is shown of it."""

    __slots__ = ("boxes", "change", "words")

    def __init__(self, change: RequestChange) -> None:
        self.change = change
        self.words: dict[tuple[str, str], None] = {}
        self.boxes: dict[tuple[EntryPoint, bool], tuple[tuple[Dimension, ...], list[Box]]] = {}


class _Comparison:
    """The comparison of one environment, entry by entry."""

    def __init__(self, sides: Sides, tracers: tuple[Tracer, Tracer], changed: Collection[ResourceKey]) -> None:
        self._sides = sides
        self._tracers = tracers
        self._answers = Answers(tracers[0]), Answers(tracers[1])
        self._changed = frozenset(changed)
        self._reasons = Reasons(sides, self._changed)
        self._gathered: dict[object, _Gathered] = {}
        self._unknown: dict[str, set[str]] = {}
        self._hosts: set[str] = set()
        self._same = True
        self._served = False
        self._traced = 0

    def add(self, entry: EntryPoint) -> None:
        """Compare the requests of one entry, named as it is after."""
        self._hosts.add(entry.hosts)
        former = entry._replace(gateway=self._sides.pairing.was(entry.gateway))
        if self._traced > MOST_TRACED:
            self._doubt(entry, "more hosts are touched than are compared")
            return
        matches = stated(self._tracers[0], former), stated(self._tracers[1], entry)
        both = matches[0].joined(matches[1])
        old, new = list(ways_in(self._tracers[0], former, both)), list(ways_in(self._tracers[1], entry, both))
        self._traced += len(old) + len(new)
        found = [pair for grpc in (False, True) for pair in self._pairs(_of(old, grpc=grpc), _of(new, grpc=grpc))]
        for way in (*old, *new):
            if way.undecided and not _is_alike(matches, old, new):
                self._doubt(entry, f"requests are not told apart by {way.undecided[0]}")
                break
        for pair in found:
            self._compare(entry, pair)

    def _pairs(self, old: Sequence[WayIn], new: Sequence[WayIn]) -> Iterator[_Pair]:
        """Yield what regions of both sides have in common where they differ."""
        by_boxes = {way.boxes: way for way in new}
        apart = []
        for way in old:
            twin = by_boxes.pop(way.boxes, None)
            if twin is None:
                apart.append(way)
            else:
                yield self._pair(way.boxes, way, twin)
        for way in apart:
            for other in by_boxes.values():
                meeting = (intersect(left, right) for left in way.boxes for right in other.boxes)
                common = [box for box in meeting if not is_empty(box) and is_possible(way.dimensions, box)]
                if common:
                    boxes = tuple(merged(common))
                    yield self._pair(boxes, self._at(0, way, common[0]), self._at(1, other, common[0]))

    def _pair(self, boxes: tuple[Box, ...], before: WayIn, after: WayIn) -> _Pair:
        return _Pair(boxes, after.dimensions, self._answers[0].of(before), self._answers[1].of(after))

    def _at(self, side: int, way: WayIn, box: Box) -> WayIn:
        """Return a way with the trace of a request of one of its boxes."""
        tracer = self._tracers[side]
        request = request_in(way.entry, way.dimensions, box, grpc=is_grpc(way.dimensions))
        if request._replace(client_certificate=way.trace.request.client_certificate) == way.trace.request:
            return way
        if not tracer.knows(way.entry.gateway):
            return way._replace(trace=way.trace._replace(request=request))
        certificate = "client" if way.certificate else ""
        return way._replace(trace=tracer.trace(request._replace(client_certificate=certificate)))

    def _compare(self, entry: EntryPoint, pair: _Pair) -> None:
        before, after = pair.before, pair.after
        if before.unread != after.unread:
            before, after = before.with_doubts(), after.with_doubts()
            self._same = False
        unknown = before.unknown or after.unknown
        unknown = unknown or next(
            (asked.why for side in (before, after) for asked in side.asked.values() if asked.state == "unknown"), ""
        )
        answered = (each.trace.rule is not None or (entry.inside and each.serves) for each in (before, after))
        self._served = self._served or any(answered)
        extensions = {binding.wanted for side in (before, after) for binding in side.trace.extensions}
        if unknown or before.rest != after.rest or not extensions.isdisjoint(self._changed):
            self._same = False
        if entry.inside and unknown and before.end == after.end and before.rest != after.rest:
            self._doubt(entry, unknown)
        for difference in differences(before, after):
            if difference.unknown:
                self._doubt(entry, difference.unknown)
            else:
                self._gather(entry, pair, difference)

    def _gather(self, entry: EntryPoint, pair: _Pair, difference: Difference) -> None:
        by = self._reasons.of(difference, pair.before, pair.after)
        inside = entry.gateway if entry.inside else None
        reason = (difference.change, difference.purpose, difference.settings, tuple(who.policy for who in by), inside)
        gathered = self._gathered.get(reason)
        if gathered is None:
            partly = pair.before.in_part or pair.after.in_part
            gathered = self._gathered[reason] = _Gathered(
                RequestChange(
                    self._sides.after.world.name,
                    difference.change,
                    difference.purpose,
                    "",
                    "",
                    difference.settings,
                    by,
                    (),
                    pair.after.trace.request,
                    partly=partly,
                )
            )
        gathered.words[difference.before, difference.after] = None
        place = (entry, is_grpc(pair.dimensions))
        gathered.boxes.setdefault(place, (pair.dimensions, []))[1].extend(pair.boxes)
        routes = {trace.route.key for trace in (pair.after.trace,) if trace.route is not None}
        routes |= {
            self._sides.pairing.key(trace.route.key) for trace in (pair.before.trace,) if trace.route is not None
        }
        change = gathered.change
        gathered.change = change._replace(
            routes=tuple(sorted({*change.routes, *routes})),
            turned_away=tuple(sorted({*change.turned_away, *_turned_away(pair.before)})),
            exposed=change.exposed or _is_exposed(pair),
        )

    def _names_changed(self) -> bool:
        """Return whether a policy names an object that changed: what that does is known of Services alone."""
        was = self._sides.pairing.was
        before, after = self._sides.before, self._sides.after
        keys = {
            key
            for key in self._changed
            if key.kind != "Service" or not (after.world.get(key) and before.world.get(was(key)))
        }
        return bool(naming(after, keys) or naming(before, map(was, keys)))

    def _doubt(self, entry: EntryPoint, why: str) -> None:
        self._unknown.setdefault(why, set()).add(entry.hosts)
        self._same = False

    def result(self, *, whole: bool) -> RequestChanges:
        """Return what was found, what opens first."""
        changes = [_finished(gathered) for gathered in self._gathered.values()]
        changes.sort(
            key=lambda change: (
                _ORDER.index(change.change),
                not change.exposed,
                change.purpose,
                change.routes,
                change.requests,
            )
        )
        unknown = tuple(sorted((why, len(hosts)) for why, hosts in self._unknown.items()))
        same = whole and self._same and not self._names_changed() and self._served and not changes and not unknown
        return RequestChanges(tuple(changes), len(self._hosts), unknown, same)


def _of(ways: Iterable[WayIn], *, grpc: bool) -> list[WayIn]:
    return [way for way in ways if is_grpc(way.dimensions) == grpc]


def _is_alike(matches: tuple[Stated, Stated], old: Sequence[WayIn], new: Sequence[WayIn]) -> bool:
    """Return whether the same matches are asked in the same order on both sides, and each rule has requests."""
    if matches[0].order != matches[1].order or [way.boxes for way in old] != [way.boxes for way in new]:
        return False
    pairs = zip(matches, (old, new), strict=True)
    return all(said.rules <= {way.trace.rule for way in ways} for said, ways in pairs)


def _turned_away(before: RequestAnswer) -> Iterator[str]:
    """Yield the settings by which policies denied a request; "" for what proxies of a mesh decide by whole policies."""
    if before.denied:
        judged = [each.decision.pointer[0] for each in before.trace.judged if each.decision.answer == "denied"]
        yield from map(str, judged or [""])


def _is_exposed(pair: _Pair) -> bool:
    """Return whether a policy stood in the way of requests, and anybody can send some of them now.

    An optional login stands in the way of those that come with something false.
    """
    before, after = pair.before, pair.after
    stood = before.denied or any(given.state == "asked" for given in before.asked.values())
    if after.serves and after.asked["authentication"].state == "open":
        asking = (ask for met in before.trace.policies for ask in met.asks if ask.purpose == "authentication")
        stood = stood or strongest(asking) == "false"
    return (
        stood
        and after.serves
        and after.asked["authentication"].state in ("open", "optional")
        and after.asked["authorization"].state == "open"
        and any(is_for_anybody(pair.dimensions, box) for box in pair.boxes)
    )


def _finished(gathered: _Gathered) -> RequestChange:
    """Return a change with its requests in the fewest words, hosts of which the same is said together."""
    alike: dict[tuple[ResourceKey, str, int | None, str], list[str]] = {}
    for (entry, _), (dimensions, boxes) in gathered.boxes.items():
        words = in_words(dimensions, merged(boxes))
        place = (entry.gateway, entry.scheme, entry.port, words)
        hosts = alike.setdefault(place, [])
        if entry.hosts not in hosts:
            hosts.append(entry.hosts)
    sets = tuple(
        RequestSet(gateway, scheme, port, tuple(sorted(hosts)), words)
        for (gateway, scheme, port, words), hosts in alike.items()
    )
    before, after = (
        "; ".join(sides[:_MOST_WORDS]) + (f"; and {len(sides) - _MOST_WORDS} more" if len(sides) > _MOST_WORDS else "")
        for sides in (list(dict.fromkeys(side)) for side in zip(*gathered.words, strict=True))
    )
    return gathered.change._replace(before=before, after=after, requests=sets)
