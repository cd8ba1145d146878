"""The requests that a change answers otherwise: regions of both sides paired, their differences by their reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from policylint.compare.at_home import requests_at_home
from policylint.compare.change import ContextChange, Responsible
from policylint.compare.creation_order import unsettled
from policylint.compare.pairing import Sides
from policylint.compare.requests.answers import (
    Answers,
    Change,
    Difference,
    RequestAnswer,
    Said,
    differences,
    protections,
)
from policylint.compare.requests.kept import Kept, asking, kept
from policylint.compare.requests.named import naming
from policylint.compare.requests.reasons import Reasons
from policylint.compare.requests.touched import touched_entries
from policylint.doors import is_inside, with_doors
from policylint.guardrails.takers import Takers
from policylint.model import SEVERITIES, Node, ResourceKey, Severity
from policylint.model.words import shortened
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import KINDS
from policylint.policy.authorizing import PRINCIPAL
from policylint.reach import (
    IDENTIFIED,
    EntryPoint,
    Stated,
    WayIn,
    doors,
    in_words,
    is_grpc,
    is_possible,
    request_in,
    stated,
    ways_in,
)
from policylint.spaces.addresses import END, V6
from policylint.spaces.boxes import Box, meetings, merged
from policylint.spaces.dimension import Dimension
from policylint.topology.workloads import is_workload
from policylint.trace import PURPOSES, Request, Tracer

OPENED = "GWP324"
"""requests-opened: the rule that makes a finding of what is opened or asked less (`opened`)."""
CUT_OFF = "more hosts are touched than are compared"
MOST_TRACED = 50_000
"""Regions of one environment that are compared; the hosts beyond are unknown."""
_ORDER: tuple[Change, ...] = ("opened", "less-asked", "rerouted", "changed", "more-asked", "closed")
_MOST_WORDS = 3
_MAPPED = V6 + (0xFFFF << 32)
_FAMILIES = ((0, V6), (_MAPPED, _MAPPED + V6), (V6, END[6]))
"""The addresses of IPv4, those of IPv4 as IPv6 has them (RFC 4291, 2.5.5.2), and all of IPv6."""


class RequestSet(NamedTuple):
    """Requests to some hosts at one port of a Gateway, in words; `port` is None where the Gateway was not seen.

    For requests inside a mesh `gateway` is the Service that they are for.

    Args:
        before, after: what each side answers them.
    """

    gateway: ResourceKey
    scheme: str
    port: int | None
    hosts: tuple[str, ...]
    words: str
    before: Said = Said("")
    after: Said = Said("")

    @property
    def inside(self) -> bool:
        return is_inside(self.gateway)


class Bypass(NamedTuple):
    """A new way to a route, past what every way to it asked before.

    Args:
        kept: what is asked on the others.
        listener: that leads there, None where the rule is new itself.
    """

    route: ResourceKey
    kept: Kept
    rule: Node
    listener: Node | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is; a new rule that takes its requests from nobody only brings them."""
        return "warning" if self.listener is None and self.kept.severity == "error" else self.kept.severity


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
        kept: what kept them out before.
        named: whether a policy has a new entry that names them: so many addresses, a claim, an identity, a path.
        rules: that take them after; `taken` those of them that take them from another rule.
        listeners: that take them after.
        asks_still: whether something else is asked of all of them for the same purpose.
        past: the ways to routes that they take, past what all others ask.
        ground: what was not seen and may still keep them out; "" where nothing may.
        elsewhere: the backends that get them now, where these answered others in the same rule without it before, and
            nobody gets to those that were behind it.
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
    kept: tuple[Kept, ...] = ()
    named: bool = False
    rules: frozenset[Node] = frozenset()
    taken: frozenset[Node] = frozenset()
    listeners: frozenset[Node] = frozenset()
    asks_still: bool = False
    past: tuple[Bypass, ...] = ()
    ground: str = ""
    elsewhere: tuple[ResourceKey, ...] = ()

    @property
    def severity(self) -> Severity:
        """How bad it is: an error where whoever was kept out gets in, but for those whom a new entry names, and where
        they get to what was open."""
        if not self.kept:
            return min((each.severity for each in self.past), key=SEVERITIES.index, default="note")
        worst = min((each.severity for each in self.kept), key=SEVERITIES.index)
        return "warning" if worst == "error" and (self.named or self.asks_still or self.elsewhere) else worst

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(host for requests in self.requests for host in requests.hosts)


class RequestChanges(NamedTuple):
    """What a change does to requests.

    Args:
        hosts: how many hosts it touches.
        unknown: why it is not known for some of the hosts whether they are answered otherwise, and for how many.
        same: whether all requests are certainly answered as before.
        compared: the routes whose rules take requests that were compared, and the Gateways of these requests.
        bounded: whether requests of some host were not told apart since that takes too long.
    """

    changes: tuple[RequestChange, ...] = ()
    hosts: int = 0
    unknown: tuple[tuple[str, int], ...] = ()
    same: bool = False
    compared: frozenset[ResourceKey] = frozenset()
    bounded: bool = False

    @property
    def is_cut_off(self) -> bool:
        """Whether there was too much to compare: what was not looked at is said, and ends a run as incomplete."""
        return self.bounded or any(why == CUT_OFF for why, _ in self.unknown)

    def tells(self, key: ResourceKey) -> bool:
        """Return whether all that a change of what an object asks for does to requests is among the changes."""
        return key in self.compared and not (self.unknown or self.bounded)

    @property
    def shown(self) -> frozenset[ResourceKey]:
        """The objects by which, or on whose ways, requests are answered otherwise."""
        found: set[ResourceKey] = set()
        for change in self.changes:
            found.update(who.policy for who in change.by)
            found.update(change.routes)
            found.update(node.key for node in (*change.rules, *change.listeners))
        return frozenset(found)

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
    sides = requests_at_home(sides)
    before, after = with_doors(sides.before), with_doors(sides.after)
    if (before, after) != sides[:2]:
        sides = Sides(before, after, sides.pairing.of_rules(before, after))
    tracers = Tracer(sides.before, nearest=False), Tracer(sides.after, nearest=False)
    comparison = _Comparison(sides, tracers, changed)
    for entry, former in touched_entries(sides, tracers, contexts, changed):
        comparison.add(entry, former)
    return comparison.result(whole=whole)


_Way = tuple[EntryPoint, Node]
"""An entry, and a rule that takes requests there."""


class _Gathered:
    """What one reason does: the boxes by entry, and what is shown of it."""

    __slots__ = ("boxes", "change", "ends", "new", "words")

    def __init__(self, change: RequestChange) -> None:
        self.change = change
        self.ends: dict[tuple[Node | None, frozenset[ResourceKey], frozenset[ResourceKey]], None] = {}
        self.new: dict[_Way, tuple[RequestAnswer, Node | None]] = {}
        self.words: dict[tuple[str, str], None] = {}
        self.boxes: dict[tuple[EntryPoint, bool, Said, Said], tuple[tuple[Dimension, ...], list[Box]]] = {}


class _Comparison:
    """The comparison of one environment, entry by entry."""

    def __init__(self, sides: Sides, tracers: tuple[Tracer, Tracer], changed: Collection[ResourceKey]) -> None:
        self._sides = sides
        self._tracers = tracers
        self._answers = Answers(tracers[0], sides.pairing.new), Answers(tracers[1], sides.pairing.gone)
        self._changed = frozenset(changed)
        self._reasons = Reasons(sides, self._changed)
        self._unstated = unsettled(sides)
        self._gathered: dict[object, _Gathered] = {}
        self._unknown: dict[str, set[str]] = {}
        self._hosts: set[str] = set()
        self._same = True
        self._served = False
        self._moves = False
        self._traced = 0
        self._bounded = False
        self._guards: dict[ResourceKey, dict[_Way, dict[str, Kept | None]]] = {}
        self._refusing: set[_Way] = set()
        self._compared: set[ResourceKey] = set()
        self._open: dict[tuple[str, Node], set[ResourceKey]] = {}
        self._unguarded: dict[str, set[ResourceKey]] = {purpose: set() for purpose in ("", *PURPOSES)}

    def add(self, entry: EntryPoint, former: EntryPoint) -> None:
        """Compare the requests of one entry with those of another one before, both named as they are after."""
        self._hosts.add(entry.hosts)
        self._moves = former.gateway[:2] != entry.gateway[:2]
        former = former._replace(gateway=self._sides.pairing.was(former.gateway))
        if self._traced > MOST_TRACED:
            self._doubt(entry, CUT_OFF)
            return
        matches = stated(self._tracers[0], former), stated(self._tracers[1], entry)
        both = matches[0].joined(matches[1])
        old, new = list(ways_in(self._tracers[0], former, both)), list(ways_in(self._tracers[1], entry, both))
        self._traced += len(old) + len(new)
        found = [pair for grpc in (False, True) for pair in self._pairs(_of(old, grpc=grpc), _of(new, grpc=grpc))]
        for way in (*old, *new):
            if way.undecided and not _is_alike(matches, old, new):
                self._doubt(entry, f"policylint cannot tell these requests apart: {shortened(way.undecided[0])}")
                self._bounded |= way.bounded
                break
        newly = _newly_asked(*matches)
        for pair in found:
            self._compare(entry, pair, newly)

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
                common = [box for box in meetings(way.boxes, other.boxes) if is_possible(way.dimensions, box)]
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
        request = request._replace(client_certificate=certificate)
        return way._replace(trace=tracer.past_services(request) if request.pod else tracer.trace(request))

    def _compare(self, entry: EntryPoint, pair: _Pair, new: Stated) -> None:
        before, after = pair.before, pair.after
        if before.unread != after.unread:
            before, after = before.with_doubts(), after.with_doubts()
            self._same = False
        self._guard(entry, pair)
        self._note_open(entry, before, after)
        for side in (before, after):
            if side.trace.rule is not None:
                self._compared |= {side.trace.rule.key, entry.gateway}
        if why := self._out_of_sight(before, after) or self._taken_away(after):
            self._same = False
            self._doubt(entry, why)
            return
        unknown = before.unknown or after.unknown or before.ground or after.ground
        unknown = unknown or next(
            (asked.why for side in (before, after) for asked in side.asked.values() if asked.state == "unknown"), ""
        )
        answered = (each.trace.rule is not None or (entry.inside and each.serves) for each in (before, after))
        self._served = self._served or any(answered)
        extensions = {binding.wanted for side in (before, after) for binding in side.trace.extensions}
        if unknown or before.rest != after.rest or not extensions.isdisjoint(self._changed):
            self._same = False
        if unknown and before.end == after.end and self._differs(entry, before, after):
            self._doubt(entry, unknown)
        found = [*differences(before, after), *protections(before, after, moves=self._moves)]
        for difference in found:
            if why := difference.unknown or self._unseen(entry, difference):
                self._doubt(entry, why)
            else:
                self._gather(entry, pair, difference, new)

    def _differs(self, entry: EntryPoint, before: RequestAnswer, after: RequestAnswer) -> bool:
        """Tell whether a change is about what leads to an end that is not known on either side."""
        if entry.inside:
            return before.rest != after.rest
        if before.trace.route is not None or after.trace.route is not None:
            return False
        places = entry._replace(gateway=self._sides.pairing.was(entry.gateway)), entry
        for takers, place, trace in zip(self._takers, places, (before.trace, after.trace), strict=True):
            may = [each.route for each in trace.considered]
            may = may or ([] if place.scheme in ("http", "https") else takers.at(place))
            keys = {route.key for route in may} | {key for route in may for key, _ in takers.behind(route)}
            if not keys.isdisjoint(self._changed):
                return True
        return False

    @cached_property
    def _takers(self) -> tuple[Takers, ...]:
        return tuple(Takers(tracer.topology, doors(tracer)) for tracer in self._tracers)

    def _unseen(self, entry: EntryPoint, difference: Difference) -> str:
        """Return why it is not known what opens at a Gateway that goes with the change, "" elsewhere."""
        was = self._sides.before.world.get(self._sides.pairing.was(entry.gateway))
        is_gone = was is not None and entry.gateway in self._sides.after.topology.unseen
        if not is_gone or difference.purpose or difference.change != "opened":
            return ""
        return f"{entry.gateway} is gone, and what takes its place was not seen"

    def _out_of_sight(self, before: RequestAnswer, after: RequestAnswer) -> str:
        """Return what came with the change, was not seen, and may have the route that took requests; "" for nothing."""
        if before.trace.route is None or after.trace.rule is not None:
            return ""
        key, world = self._sides.pairing.key(before.trace.route.key), self._sides.after.world
        if key in world.resources:
            return ""
        earlier = self._sides.before.world.unseen
        known = {reason for place in (key.namespace, None) for reason, _ in earlier.at(place)}
        return next(
            (
                reason
                for place in (key.namespace, None)
                for reason, making in world.unseen.at(place)
                if making.kinds is None and reason not in known
            ),
            "",
        )

    def _taken_away(self, after: RequestAnswer) -> str:
        """Return which backend is taken to be there although the change removes the one that was seen; "" for none."""
        was, now, pairing = self._sides.before.world, self._sides.after.world, self._sides.pairing
        return next(
            (
                f"the change removes {share.key}, and whether anything else makes it was not seen"
                for share in after.trace.outcome.shares
                if not share.problem
                and share.key in self._changed
                and share.key not in now.resources
                and pairing.was(share.key) in was.resources
            ),
            "",
        )

    def _gather(self, entry: EntryPoint, pair: _Pair, difference: Difference, new: Stated) -> None:
        by = self._reasons.of(difference, pair.before, pair.after)
        opens = difference.change in ("opened", "less-asked")
        found = tuple(kept(self._sides, difference, pair.before, pair.after)) if opens else ()
        if not any(self._is_policy(who.policy) for who in by):
            found = tuple(each for each in found if not self._stands(each, entry, pair.before, by))
        named = bool(found) and not difference.purpose and _is_named(pair, new)
        listener = pair.after.trace.listener
        inside = entry.gateway if entry.inside else None
        reason = (difference.change, difference.purpose, difference.settings, tuple(who.policy for who in by), inside)
        gathered = self._gathered.get(reason)
        first = gathered is None
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
        rule = pair.after.trace.rule
        if opens and not found and not difference.purpose and pair.after.serves and rule is not None:
            gathered.new[entry, rule] = (pair.after, None if listener is None else listener.node)
        gathered.ends[self._ends(pair)] = None
        place = (entry, is_grpc(pair.dimensions), pair.before.said, pair.after.said)
        gathered.boxes.setdefault(place, (pair.dimensions, []))[1].extend(pair.boxes)
        routes = {trace.route.key for trace in (pair.after.trace,) if trace.route is not None}
        routes |= {
            self._sides.pairing.key(trace.route.key) for trace in (pair.before.trace,) if trace.route is not None
        }
        change, request = gathered.change, pair.after.trace.request
        is_plain = (change.example.scheme, request.scheme) == ("http", "https") and not change.partly
        gathered.change = change._replace(
            example=request if is_plain and not (pair.before.in_part or pair.after.in_part) else change.example,
            routes=tuple(sorted({*change.routes, *routes})),
            kept=tuple(dict.fromkeys((*change.kept, *found))),
            named=named if first else change.named and named,
            rules=change.rules | {rule for rule in (pair.after.trace.rule,) if rule is not None},
            taken=change.taken | self._taken(pair),
            listeners=change.listeners | ({listener.node} if listener is not None else set()),
            asks_still=_asks_still(difference.purpose, found, pair.after),
            ground=change.ground
            or difference.ground
            or self._unsettled(pair.before)
            or (_unranked(pair.after) if self._taken(pair) else ""),
        )

    def _note_open(self, entry: EntryPoint, before: RequestAnswer, after: RequestAnswer) -> None:
        """Keep which backends requests get to without being asked: before in a rule, and after anywhere."""
        if entry.inside:
            return
        if before.serves and before.trace.rule is not None:
            rule = self._sides.pairing.node(before.trace.rule)
            unasked = [purpose for purpose in PURPOSES if before.asked[purpose].state == "open"]
            for purpose in (*unasked, *([""] if len(unasked) == len(PURPOSES) else [])):
                self._open.setdefault((purpose, rule), set()).update(before.trace.outcome.backends)
        if after.serves:
            for purpose in ("", *(each for each in PURPOSES if after.asked[each].state != "asked")):
                self._unguarded[purpose].update(after.trace.outcome.backends)

    def _ends(self, pair: _Pair) -> tuple[Node | None, frozenset[ResourceKey], frozenset[ResourceKey]]:
        """Return the rule that takes requests after, where they get to, and where they got or would have got to."""
        was, trace = self._sides.before.topology, pair.before.trace
        state, rule = None if trace.route is None else was.route(trace.route.key), trace.rule_pointer[2:3]
        behind = () if state is None else (each.wanted for each in state.backends if (each.rule,) == rule)
        after = pair.after.trace
        return after.rule, frozenset(after.outcome.backends), frozenset((*trace.outcome.backends, *behind))

    def _reached(self, side: int, backends: Iterable[ResourceKey]) -> frozenset[ResourceKey]:
        """Return backends with the workloads behind them, as they are called after."""
        acting = (self._sides.before, self._sides.after)[side].acting
        found = {key for backend in backends for key in (backend, *(each.key for each in acting.workloads(backend)))}
        return frozenset(found if side else map(self._sides.pairing.key, found))

    def _elsewhere(self, gathered: _Gathered) -> tuple[ResourceKey, ...]:
        """Return the backends that get requests now, where others got there before in the same rule without what these
        had to meet, and nobody gets to those that were behind that."""
        purpose = gathered.change.purpose
        if not gathered.change.kept:
            return ()
        unguarded = self._reached(1, self._unguarded[purpose])
        for rule, now, was in gathered.ends:
            if rule is None or not now or self._reached(0, was) & unguarded:
                return ()
            if not self._reached(1, now) <= self._reached(0, self._open.get((purpose, rule), ())):
                return ()
        reached = {key for _, now, _ in gathered.ends for key in now}
        return tuple(sorted(key for key in reached if not is_workload(key.group, key.kind)))

    def _unsettled(self, before: RequestAnswer) -> str:
        """Return why it is not certain that the policies were in force that requests met before."""
        owners = (owner for met in before.trace.policies for owner in met.group.effective.owners.values())
        return (
            next((self._unstated[owner] for owner in owners if owner in self._unstated), "") if self._unstated else ""
        )

    def _guard(self, entry: EntryPoint, pair: _Pair) -> None:
        """Keep what is asked on the ways to a route before, and where requests are refused after."""
        before, trace = pair.before, pair.before.trace
        if pair.after.denied and pair.after.trace.rule is not None:
            self._refusing.add((entry, pair.after.trace.rule))
        if trace.route is None or trace.rule is None or not (before.serves or before.denied):
            return
        way = entry, self._sides.pairing.node(trace.rule)
        guards = self._guards.setdefault(self._sides.pairing.key(trace.route.key), {}).setdefault(way, {})
        if before.serves:
            first = self._asks(before, "authentication")
            guards["authentication"] = first if guards.get("authentication", first) is not None else None
        if guards.get("authorization") is None:
            guards["authorization"] = self._asks(before, "authorization")

    def _asks(self, before: RequestAnswer, purpose: str) -> Kept | None:
        """Return what asks of a request before; None where nothing must be shown."""
        if before.serves and before.asked[purpose].state not in ("asked", "optional"):
            return None
        return next(asking(self._sides, purpose, before), None)

    def _past(self, gathered: _Gathered) -> Iterator[Bypass]:
        """Yield the new ways to routes of which every way asked before."""
        was = self._sides.before.topology
        for (entry, rule), (after, listener) in gathered.new.items():
            ways = self._guards.get(rule.key, {})
            state = was.route(self._sides.pairing.was(rule.key))
            if state is None or not ways or (entry, rule) in ways:
                continue
            for purpose in PURPOSES:
                guards = [guards.get(purpose) for guards in ways.values()]
                if None in guards or (purpose == "authorization" and (entry, rule) in self._refusing):
                    continue
                if after.asked[purpose].state not in ("open", "optional") or after.asked[purpose].demands:
                    continue
                first = guards[0]
                assert first is not None
                is_new = all(known != rule for _, known in ways)
                yield Bypass(rule.key, first, rule, None if is_new else listener)

    def _taken(self, pair: _Pair) -> set[Node]:
        """Return the rule that takes requests from another one."""
        was, now = pair.before.trace.rule, pair.after.trace.rule
        return {now} if was is not None and now is not None and self._sides.pairing.node(was) != now else set()

    def _is_policy(self, key: ResourceKey) -> bool:
        return key in self._sides.after.policies or self._sides.pairing.was(key) in self._sides.before.policies

    def _stands(self, each: Kept, entry: EntryPoint, before: RequestAnswer, by: Sequence[Responsible]) -> bool:
        """Return whether what turned requests away in a mesh stands as it did: it is the client that differs."""
        if each.at is None or self._names(who.policy for who in by):
            return False
        shares = () if any(who.policy[:2] in KINDS for who in each.owners) else before.trace.outcome.shares
        leading = (self._sides.pairing.key(share.key) for share in shares)  # connections tell of network policies
        around = (each.at, ResourceKey("", "Namespace", "", each.at.namespace), entry.gateway, *leading)
        owners = [self._sides.pairing.key(who.policy) for who in each.owners]
        return self._changed.isdisjoint((*around, *owners)) and all(self._acts(owner, each.at) for owner in owners)

    def _acts(self, owner: ResourceKey, at: ResourceKey) -> bool:
        """Return whether a policy acts at a proxy after; what is no policy does where it is written."""
        state = self._sides.after.policies.get(owner)
        groups = () if state is None else state.groups
        return state is None or any(node.key == at for group in groups for path in group.contexts() for node in path)

    def _names_changed(self) -> bool:
        """Return whether a policy names an object that changed: what that does is known of Services alone."""
        was = self._sides.pairing.was
        before, after = self._sides.before, self._sides.after
        return self._names(
            key
            for key in self._changed
            if key.kind != "Service" or not (after.world.get(key) and before.world.get(was(key)))
        )

    def _names(self, keys: Iterable[ResourceKey]) -> bool:
        """Return whether a policy of either side names one of some objects."""
        listed = list(keys)
        was = map(self._sides.pairing.was, listed)
        return bool(naming(self._sides.after, listed) or naming(self._sides.before, was))

    def _doubt(self, entry: EntryPoint, why: str) -> None:
        self._unknown.setdefault(why, set()).add(entry.hosts)
        self._same = False

    def result(self, *, whole: bool) -> RequestChanges:
        """Return what was found, what opens first."""
        changes = [
            _finished(gathered)._replace(
                past=tuple(dict.fromkeys(self._past(gathered))), elsewhere=self._elsewhere(gathered)
            )
            for gathered in self._gathered.values()
        ]
        changes.sort(
            key=lambda change: (
                _ORDER.index(change.change),
                SEVERITIES.index(change.severity),
                change.purpose,
                change.routes,
                change.requests,
            )
        )
        unknown = tuple(sorted((why, len(hosts)) for why, hosts in self._unknown.items()))
        same = whole and self._same and not self._names_changed() and self._served and not changes and not unknown
        compared = frozenset(self._compared)
        return RequestChanges(tuple(changes), len(self._hosts), unknown, same, compared, self._bounded)


def _of(ways: Iterable[WayIn], *, grpc: bool) -> list[WayIn]:
    return [way for way in ways if is_grpc(way.dimensions) == grpc]


def _is_alike(matches: tuple[Stated, Stated], old: Sequence[WayIn], new: Sequence[WayIn]) -> bool:
    """Return whether the same is asked in the same order on both sides, and each rule has requests."""
    if _newly_asked(*matches).predicates or _newly_asked(*reversed(matches)).predicates:
        return False
    if matches[0].order != matches[1].order or [way.boxes for way in old] != [way.boxes for way in new]:
        return False
    pairs = zip(matches, (old, new), strict=True)
    return all(said.rules <= {way.trace.rule for way in ways} for said, ways in pairs)


def _asks_still(purpose: str, found: Collection[Kept], after: RequestAnswer) -> bool:
    """Return whether all of the requests are still asked for the same purpose, or for another one that stands."""
    purposes = PURPOSES if all(each.stands for each in found) else (purpose,)
    return not after.serves or (bool(purpose) and any(after.asked[each].state == "asked" for each in purposes))


def _unranked(after: RequestAnswer) -> str:
    """Return why it is not certain that the rule takes the requests: implementations rank expressions otherwise."""
    return next((note for note in after.trace.notes if note.startswith("where regular expressions rank")), "")


def _newly_asked(before: Stated, after: Stated) -> Stated:
    """Return what policies ask about requests on the side after alone."""
    of_matches = {(name, predicate) for match in (*before.order, *after.order) for name, predicate in match}
    found = {
        name: [
            each
            for each in predicates
            if each not in before.predicates.get(name, ()) and (name, each) not in of_matches
        ]
        for name, predicates in after.predicates.items()
    }
    return Stated({name: predicates for name, predicates in found.items() if predicates})


def _is_named(pair: _Pair, new: Stated) -> bool:
    """Return whether all requests satisfy something that policies newly ask and that only some satisfy.

    A network of half of all addresses, and a glob that every identity satisfies, name nobody.
    """
    names = [
        (number, dimension, dimension.masks[each])
        for number, dimension in enumerate(pair.dimensions)
        for each in new.predicates.get(dimension.name, ())
        if each in dimension.masks
    ]
    names = [
        (number, dimension, mask)
        for number, dimension, mask in names
        if mask != dimension.all and _names_some(dimension, mask)
    ]
    return bool(pair.boxes) and all(any(not box[number] & ~mask for number, _, mask in names) for box in pair.boxes)


def _names_some(dimension: Dimension, mask: int) -> bool:
    """Return whether a set of a dimension is of some clients and not of anybody."""
    if dimension.name == PRINCIPAL:
        return mask != dimension.masks.get(IDENTIFIED)
    if not dimension.ranges:
        return True
    intervals = [each for number, ranges in enumerate(dimension.ranges) if mask >> number & 1 for each in ranges]
    return all(
        sum(max(0, min(each.high, high) - max(each.low, low)) for each in intervals) < (high - low) // 2
        for low, high in _FAMILIES
    )


def _finished(gathered: _Gathered) -> RequestChange:
    """Return a change with its requests in the fewest words, hosts of which the same is said together."""
    alike: dict[tuple[ResourceKey, str, int | None, str, Said, Said], list[str]] = {}
    for (entry, _, was, now), (dimensions, boxes) in gathered.boxes.items():
        words = in_words(dimensions, merged(boxes))
        place = (entry.gateway, entry.scheme, entry.port, words, was, now)
        hosts = alike.setdefault(place, [])
        if entry.hosts not in hosts:
            hosts.append(entry.hosts)
    sets = tuple(
        RequestSet(gateway, scheme, port, tuple(sorted(hosts)), words, was, now)
        for (gateway, scheme, port, words, was, now), hosts in alike.items()
    )
    before, after = (
        "; ".join(sides[:_MOST_WORDS]) + (f"; and {len(sides) - _MOST_WORDS} more" if len(sides) > _MOST_WORDS else "")
        for sides in (list(dict.fromkeys(side)) for side in zip(*gathered.words, strict=True))
    )
    return gathered.change._replace(before=before, after=after, requests=sets)
