"""The ways into an environment: regions of requests, which one rule takes each, with what `trace` says of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from typing import Final

from policylint.implementations.generic.calls import met_by_calls
from policylint.model import ResourceKey
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import CLAIM, CLIENT, PRINCIPAL, RequestQuestion
from policylint.reach.dimensions import (
    Stated,
    boxes_of,
    dimensions_of,
    divides,
    is_grpc,
    is_of_client,
    of_name,
    of_rules,
    request_in,
)
from policylint.reach.entries import EntryPoint, entries
from policylint.reach.inside import doubt, entries_inside, of_consumers, parts, told_apart
from policylint.simulation import Simulation
from policylint.spaces.boxes import Box, intersect, meetings, merged, regions, widened
from policylint.spaces.dimension import Dimension, most_pairs
from policylint.spaces.predicates import Predicate
from policylint.spaces.words import EVERY_REQUEST, described
from policylint.trace import Outcome, Trace, Tracer
from policylint.trace.precedence import RuleCandidate

_UNTOLD: Final = "which calls the paths of HTTPRoutes are for"
CUT_OFF: Final = "too many matches"
"""What is undecided of a host whose regions would take too long; where its requests end is unknown."""
_MOST_STEPS: Final = 20_000_000
"""Comparisons of boxes for the rules of one host, and dimensions of boxes that are left over."""
_MOST_CELLS: Final = 1_000_000
"""Matches of one host times the properties that they speak of."""
_STEPS_FOR_A_RULE: Final = 2_000
_FREE_RULES: Final = 100
_MOST_CONTENDERS: Final = 50_000
"""Matches that are asked for the hosts of one question: those of a wildcard are asked again for each host below it."""
_MOST_QUESTIONS: Final = 400_000
"""Questions of policies about the requests of one host, by which its regions are cut."""
_MOST_QUESTIONS_OF_ALL: Final = 1_500_000
"""The same about the requests of all hosts of one question: rules times rules times hosts."""
_MOST_PREDICATES: Final = 3_000
"""What policies may say of one property of the requests of a host; of more nothing is told apart."""
_ATOMS_OF_PAIRS: Final = 10
"""Into how many atoms of identities each of these predicates may cut them on average."""
_QUESTIONS_OF_A_TRACE: Final = 20
"""What following a request takes, in questions."""
_MOST_BOXES: Final = 3
_MOST_WIDENED: Final = 12
_MOST_NAMED: Final = 10
_MOST_RIVALS: Final = 50


class WayIn(NamedTuple):
    """A region of requests and its outcome.

    Args:
        boxes: the region, over `dimensions`.
        trace: of one request of the region.
        certificate: whether the listener demands a client certificate, which the request that is traced has; inside the
            mesh, whether nobody is let in without an identity.
        undecided: regular expressions of the host that may have requests in common with others that are not told apart
            here, the first ones by name.
        rivals: where expressions are undecided in what routes match alone, a trace for each rule of the host, one of
            which takes the requests; empty where a rule has no trace, or policies look at the requests.
        around: of requests that policies turn away in several boxes, the region of their rule: they are all the others
            of it.
        cells: what policies asked about the requests, a list for each part of which all requests are answered alike.
        bounded: whether the requests were not told apart since that takes too long: a run that says so is incomplete.
        doubt: of requests inside the mesh, on what it depends whether they are let in.
    """

    entry: EntryPoint
    boxes: tuple[Box, ...]
    dimensions: tuple[Dimension, ...]
    trace: Trace
    certificate: bool = False
    undecided: tuple[str, ...] = ()
    rivals: tuple[Trace, ...] = ()
    around: tuple[Box, ...] = ()
    cells: tuple[tuple[RequestQuestion, ...], ...] = ()
    doubt: str = ""
    bounded: bool = False

    @property
    def requests(self) -> str:
        """The region in words, without the host."""
        if self.around:
            return f"{in_words(self.dimensions, self.around)}, all others"
        return in_words(self.dimensions, self.boxes) if self.dimensions else ""

    @property
    def cut_off(self) -> bool:
        """Whether the requests of the host were not told apart, since that takes too long."""
        return CUT_OFF in self.undecided

    @property
    def taken(self) -> bool:
        """Whether a rule takes the requests, or may take them."""
        named = self.entry.port is not None or self.entry.scheme not in ("http", "https") or self.trace.considered
        unknown = self.trace.outcome.unknown and bool(named)
        return self.trace.rule is not None or unknown or self.cut_off or (self.entry.inside and bool(self.trace.path))

    @property
    def clients(self) -> str:
        """Who sends the requests, as far as policies ask: addresses and claims; "" for everybody."""
        if self.around:
            return "all others"
        free = tuple(0 if is_of_client(dimension.name) else dimension.all for dimension in self.dimensions)
        told = [tuple(map(or_, box, free)) for box in self.boxes]
        whole = tuple(dimension.all for dimension in self.dimensions)
        return "" if whole in told or not told else in_words(self.dimensions, merged(told))


def all_ways(
    simulation: Simulation,
    gateways: Iterable[ResourceKey] | None = None,
    clients: str = "",
    tracer: Tracer | None = None,
) -> Iterator[WayIn]:
    """Yield the ways through some Gateways of an environment, or through all; see `ways_in`.

    Args:
        clients: the networks, with commas, of the clients whose requests are meant; "" for all clients.
        tracer: of the environment, which no other question was asked; None for a new one.
    """
    tracer = tracer or Tracer(simulation, nearest=False)
    wanted = [Predicate("Network", clients)] if clients else []
    for entry in entries(tracer, gateways):
        yield from _of_clients(tracer, entry, CLIENT, wanted, everybody=not clients)


def ways_to(tracer: Tracer, at: Iterable[EntryPoint], route: ResourceKey) -> Iterator[WayIn]:
    """Yield the ways on which a rule of a route takes requests through Gateways.

    Args:
        at: the entries whose hosts it names.
    """
    for entry in at:
        ways = ways_in(tracer, entry, Stated(route=route))
        yield from (way for way in ways if way.trace.rule and way.trace.rule.key == route)


def ways_inside(
    tracer: Tracer, services: Collection[ResourceKey] | None = None, principals: Collection[str] | None = None
) -> Iterator[WayIn]:
    """Yield the ways from clients in the mesh to some Services, or to all that are in it; see `ways_in`.

    Args:
        principals: the identities of the clients that are meant, "" for clients without any; None for all clients.
    """
    wanted = [Predicate("Pair", pair) for pair in principals or ()]
    for entry in entries_inside(tracer, services):
        yield from _of_clients(tracer, entry, PRINCIPAL, wanted, everybody=principals is None)


def _of_clients(
    tracer: Tracer, entry: EntryPoint, name: str, wanted: Collection[Predicate], *, everybody: bool
) -> Iterator[WayIn]:
    """Yield the ways at an entry, as far as some clients send requests."""
    stated_of = Stated() if everybody else Stated({name: [each for each in wanted if each.value]})
    for way in ways_in(tracer, entry, stated_of):
        if everybody:
            yield way
        elif (meant := _sent_by(way, name, wanted)) is not None:
            yield meant


def _sent_by(way: WayIn, name: str, wanted: Collection[Predicate]) -> WayIn | None:
    """Return the requests of a way that some clients send, None if it has none of them.

    What all of these clients may send says nothing of who they are.
    """
    number = next((n for n, dimension in enumerate(way.dimensions) if dimension.name == name), None)
    if number is None:
        return way
    dimension = way.dimensions[number]
    inside = reduce(or_, (dimension.masks[each] if each.value else 1 for each in wanted))
    own = [box for box in way.boxes if box[number] & inside]
    if not own:
        return None
    first = (*own[0][:number], own[0][number] & inside, *own[0][number + 1 :])
    witness = request_in(way.entry, way.dimensions, first, grpc=is_grpc(way.dimensions))
    witness = witness._replace(client_certificate=way.trace.request.client_certificate)
    boxes = [
        (*box[:number], dimension.all if box[number] & inside == inside else box[number] & inside, *box[number + 1 :])
        for box in own
    ]
    return way._replace(boxes=tuple(merged(boxes)), trace=way.trace._replace(request=witness))


def stated(tracer: Tracer, entry: EntryPoint) -> Stated:
    """Return what the matches of the rules at an entry demand, and what the policies behind them ask."""
    if not tracer.knows(entry.gateway):
        return Stated(asked=True)
    if not (entry.inside or entry.scheme in ("http", "https")):
        return _asked(tracer, entry, Stated())
    found: dict[str, set[Predicate]] = {}
    calls = tracer.contenders(request_in(entry, grpc=True))
    candidates = (*tracer.contenders(request_in(entry)), *calls)
    below = tracer.delegated(candidates, request_in(entry))
    order = tuple(
        tuple((condition.name, condition.predicate) for condition in candidate.match.conditions)
        for candidate in (*candidates, *below)
    )
    for name, predicate in chain.from_iterable(order):
        found.setdefault(name, set()).add(predicate)
    own = Stated(found, bool(calls)).joined(_asked(tracer, entry, Stated()))
    rules = frozenset(candidate.rule.node for candidate in (*candidates, *below))
    return own._replace(order=order, rules=rules, asked=True)


def _asked(
    tracer: Tracer, entry: EntryPoint, also: Stated, *, nameless: bool = False, blanks: list[WayIn] | None = None
) -> Stated:
    """Return what policies may ask about requests at an entry: each is asked about one of each rule, unanswered.

    Args:
        blanks: takes the ways of the requests that they were asked about.
    """
    clients = told_apart(tracer, entry)
    apart = {PRINCIPAL: clients} if clients else {}
    found = {name: set(predicates) for name, predicates in apart.items()}
    spent = tracer.questions > _MOST_QUESTIONS_OF_ALL
    before = tracer.contended
    if tracer.authorizes and not spent:
        for way in _ways(tracer, entry, also.joined(Stated(apart)), blank=True):
            tracer.questions += len(way.trace.questions)
            if blanks is not None:
                blanks.append(way)
            for question in way.trace.questions:
                if not (nameless and is_of_client(question.name)):
                    found.setdefault(question.name, set()).update(question.predicates)
    if blanks is None:
        tracer.contended = before
    most = max(*map(len, found.values()), most_pairs(found.get(PRINCIPAL, ())) // _ATOMS_OF_PAIRS, 0)
    spent = spent or most > _MOST_PREDICATES
    return Stated(apart if spent else found, asked=True, bounded=spent)


def ways_in(
    tracer: Tracer, entry: EntryPoint, also: Stated | None = None, *, nameless: bool = False
) -> Iterator[WayIn]:
    """Yield the regions of the requests at an entry: disjoint, and together all of them.

    Args:
        also: what somebody asks about: no region of the dimensions lies on both sides of a predicate.
        nameless: whether nothing is known of who sends requests: neither addresses nor tokens tell them apart.
    """
    also = also or Stated()
    blanks: list[WayIn] = []
    before = tracer.contended
    whole = also if also.asked else also.joined(_asked(tracer, entry, also, nameless=nameless, blanks=blanks))
    if blanks and not entry.inside and not whole.bounded and _are_whole(blanks):
        for way in blanks:  # nothing hung on who asks: these are the ways of requests that answer, too
            yield way._replace(trace=way.trace._replace(request=way.trace.request._replace(blank=False)))
        return
    tracer.contended = before
    found = _ways(tracer, entry, whole, blank=False, nameless=nameless)
    yield from _identified(list(found)) if entry.inside else found


def _are_whole(blanks: Iterable[WayIn]) -> bool:
    """Return whether policies asked nothing about requests, so that with answers the ways would be the same ones."""
    return not any(way.trace.questions or way.trace.admissions or way.bounded for way in blanks)


def _identified(ways: Sequence[WayIn]) -> Iterator[WayIn]:
    """Yield the ways of clients in the mesh, with whether all who send such requests must show an identity there."""
    apart: list[tuple[WayIn, list[Box]]] = []
    strangers: list[Box] = []
    for way in ways:
        place = next((n for n, dimension in enumerate(way.dimensions) if dimension.name == PRINCIPAL), 0)
        boxes = [(*box[:place], *box[place + 1 :]) for box in way.boxes]
        apart.append((way, boxes))
        if way.trace.denied is None:
            strangers += (rest for rest, box in zip(boxes, way.boxes, strict=True) if box[place] & 1)
    for way, boxes in apart:
        alike = [box for box in strangers if len(box) == len(boxes[0])]
        open_to_all = any(True for _ in meetings(alike, boxes))
        yield way._replace(certificate=way.trace.denied is None and not open_to_all)


def _ways(tracer: Tracer, entry: EntryPoint, also: Stated, *, blank: bool, nameless: bool = False) -> Iterator[WayIn]:
    """Yield the regions of the requests at an entry.

    Args:
        blank: whether policies are only asked what they would ask: the regions are those of the rules.
    """
    known = tracer.knows(entry.gateway)
    if entry.scheme not in ("http", "https") and not entry.inside:
        yield from _connections(tracer, entry, also, blank=blank, nameless=nameless)
        return
    for grpc in (False, True):
        spent = known and tracer.contended > _MOST_CONTENDERS
        asked = request_in(entry, grpc=grpc)
        candidates = tracer.contenders(asked) if known and not spent else []
        if grpc and not candidates and not also.grpc:
            return
        below = tracer.delegated(candidates, asked)
        # a call that no GRPCRoute takes is a request like any other
        further = tracer.contenders(request_in(entry)) if grpc and known and not (spent or entry.inside) else []
        on_calls = [(each, met_by_calls(each.match)) for each in further]
        plain = [candidate._replace(match=met) for candidate, met in on_calls if met]
        dimensions = dimensions_of(
            [candidate.match for candidate in (*candidates, *below, *plain)], also, entry, grpc=grpc
        )
        universe = tuple(dimension.all for dimension in dimensions)
        tracer.contended += len(candidates) + len(plain)
        candidates = [*candidates, *plain]
        spent = spent or len(candidates) * len(dimensions) > _MOST_CELLS
        boxes = [] if spent else boxes_of((candidate.match for candidate in candidates), dimensions)
        takers: list[RuleCandidate | None] = list(candidates)
        if entry.inside and known and not spent:
            number = next(number for number, dimension in enumerate(dimensions) if dimension.name == PRINCIPAL)
            own = of_consumers(tracer, entry, dimensions[number])
            universe = (*universe[:number], own, *universe[number + 1 :])
            taken, boxes, takers = list(zip(boxes, takers, strict=True)), [], []
            for clients, led in parts(tracer, entry, dimensions[number]):
                part = (*universe[:number], clients & own, *universe[number + 1 :])
                met = [] if led is None else [each for each in taken if each[1] is not None and led.is_led_by(each[1])]
                met = met or [(part, None)]
                boxes += (intersect(box, part) for box, _ in met)
                takers += (taker for _, taker in met)
        steps = min(_MOST_STEPS, _STEPS_FOR_A_RULE * (len(boxes) + _FREE_RULES))
        found = None if spent else regions(boxes, universe, steps)
        if found is None:
            unknown = Outcome(unknown=True, reason=f"{CUT_OFF} to tell the requests of this host apart")
            trace = Trace(asked, unknown, entry.gateway)
            certificate = tracer.demands_certificate(asked)
            yield WayIn(entry, (universe,), dimensions, trace, certificate, (CUT_OFF,), bounded=True)
            continue
        undecided = tuple(
            sorted({pattern for dimension in dimensions for pattern in dimension.undecided})[:_MOST_NAMED]
        )
        untold = (*undecided, _UNTOLD) if any(met is None for _, met in on_calls) else undecided
        gained, left = found
        doubtful = [candidate for candidate in candidates if candidate.match.doubtful]
        cells = Cells(tracer, entry, dimensions, also, nameless=nameless)
        found_here: list[WayIn] = []
        alone = None if undecided or doubtful or below else also.route
        for gains in of_rules(takers, gained, alone):
            boxes_of_rule = tuple(merged(box for box, _ in gains))
            first, winner = gains[0]
            among = _among(dimensions, winner, doubtful)
            open_here = undecided if winner is not None and winner.match.grpc else untold
            way = _whole(tracer, entry, dimensions, boxes_of_rule, first, among, blank=blank)
            if blank and entry.inside:
                found_here += (_whole(tracer, entry, dimensions, (box,), box, blank=True) for box, _ in gains)
            elif (not way.trace.questions and not entry.inside) or blank:
                found_here.append(way._replace(undecided=open_here) if open_here else way)
            else:
                found_here += (
                    cell._replace(undecided=(*cell.undecided, *open_here)) for cell in cells.of(way, gains, doubtful)
                )
        if left and alone is None:
            unrouted = _whole(tracer, entry, dimensions, tuple(merged(left)), left[0])
            found_here.append(unrouted._replace(undecided=untold) if untold else unrouted)
        rivals = _rivals(found_here, candidates) if undecided else ()
        yield from (way._replace(rivals=rivals) for way in found_here) if rivals else found_here


def _among(
    dimensions: Sequence[Dimension], winner: RuleCandidate | None, doubtful: Sequence[RuleCandidate]
) -> list[RuleCandidate] | None:
    """Return the matches that may take a request of a region; None where all are tried, as of calls that those on paths
    take."""
    is_of_paths = winner is not None and is_grpc(dimensions) and not winner.match.grpc
    return None if winner is None or is_of_paths else [*doubtful, winner]


def _rivals(ways: Sequence[WayIn], candidates: Sequence[RuleCandidate]) -> tuple[Trace, ...]:
    """Return a trace of each way of the rules that may take requests of a host, none where one lacks or policies look
    at them."""
    found = {way.trace.rule for way in ways}
    whole = len(ways) <= _MOST_RIVALS and all(candidate.rule.node in found for candidate in candidates)
    return tuple(way.trace for way in ways) if whole and not any(way.trace.questions for way in ways) else ()


def _connections(tracer: Tracer, entry: EntryPoint, also: Stated, *, blank: bool, nameless: bool) -> Iterator[WayIn]:
    """Yield the regions of the connections at an entry that no proxy reads: by who opens them alone."""
    stated_of = {name: also.predicates[name] for name in (CLIENT,) if name in also.predicates}
    dimensions = tuple(of_name(name, sorted(predicates), 0) for name, predicates in stated_of.items())
    universe = tuple(dimension.all for dimension in dimensions)
    way = _whole(tracer, entry, dimensions, (universe,) if dimensions else (), universe, blank=blank)
    if blank or not way.trace.questions:
        yield way
        return
    for cell in Cells(tracer, entry, dimensions, also, nameless=nameless).of(way, [(universe, None)], ()):
        yield cell if dimensions else cell._replace(boxes=())


def in_words(dimensions: Sequence[Dimension], boxes: Sequence[Box]) -> str:
    """Return requests in words, those of the first boxes."""
    if 1 < len(boxes) <= _MOST_WIDENED:
        boxes = widened(boxes, tuple(dimension.all for dimension in dimensions))
    words = " or ".join(described(dimensions, box) for box in boxes[:_MOST_BOXES])
    if not dimensions or (words == EVERY_REQUEST and dimensions[0].name == CLIENT):
        return "every connection"
    return words + (f" or {len(boxes) - _MOST_BOXES} more" if len(boxes) > _MOST_BOXES else "")


def end_in_words(trace: Trace) -> str:
    """Return where a request ends: `shop/checkout (90%), shop/canary (10%)`, `301 redirect to https`."""
    ended = trace.outcome
    if ended.redirect is not None:
        to = ended.redirect
        same = to.host == trace.request.host
        return f"{to.status} redirect to {to.scheme}" + ("" if same else f"://{to.host}")
    backends = [
        key.path + (f" ({share:.0%})" if len(ended.backends) > 1 or ended.failing else "")
        for key, share in ended.backends.items()
    ]
    if backends:
        return listing(backends) + (f", an error ({ended.failing:.0%})" if ended.failing else "")
    if trace.is_cut_off:
        return ended.reason
    word = "refused" if ended.refused else "not known" if ended.unknown else str(ended.status or "an error")
    return f"{word}: {ended.reason}" if ended.reason else word


def _whole(
    tracer: Tracer,
    entry: EntryPoint,
    dimensions: tuple[Dimension, ...],
    boxes: tuple[Box, ...],
    first: Box = (),
    among: Sequence[RuleCandidate] | None = None,
    *,
    blank: bool = False,
) -> WayIn:
    """Return a way that some boxes take, with the trace of a request of one of them.

    Args:
        among: the matches that may take this request, None for any; those of delegated routes are looked for again.
        blank: whether policies are only asked what they would ask.
    """
    witness = request_in(entry, dimensions if first else (), first, grpc=is_grpc(dimensions))
    if not tracer.knows(entry.gateway):
        absent = Outcome(refused=True, reason=f"there is no {entry.gateway}")
        return WayIn(entry, boxes, dimensions, Trace(witness, absent))
    certificate = tracer.demands_certificate(witness)
    if certificate or blank:
        witness = witness._replace(client_certificate="client" if certificate else "", blank=blank)
    among = None if tracer.responder.is_flat(entry.gateway) else among
    trace = tracer.trace(witness, among) if not witness.pod else tracer.past_services(witness)
    return WayIn(entry, boxes, dimensions, trace, certificate, doubt=doubt(trace) if entry.inside else "")


class Cells:
    """Cuts the regions of rules by what policies ask about requests: within a cell all answers are the same.

    A request of a region is traced; each question about it that divides the region cuts off the part of which the
    answer is another one, which is looked at later. Where no question divides a cell, all of its requests are answered
    like the one that was traced, since nothing else was asked about it.
    """

    __slots__ = ("_bounded", "_dimensions", "_entry", "_left", "_masks", "_nameless", "_numbers", "_tracer")

    def __init__(
        self, tracer: Tracer, entry: EntryPoint, dimensions: tuple[Dimension, ...], also: Stated, *, nameless: bool
    ) -> None:
        self._tracer, self._entry, self._dimensions, self._nameless = tracer, entry, dimensions, nameless
        self._numbers = {dimension.name: number for number, dimension in enumerate(dimensions)}
        self._masks: dict[tuple[str, tuple[Predicate, ...]], int | None] = {}
        self._bounded = also.bounded
        self._left = min(_MOST_QUESTIONS, _MOST_QUESTIONS_OF_ALL - tracer.questions)

    def of(
        self, way: WayIn, own: Sequence[tuple[Box, RuleCandidate | None]], doubtful: Sequence[RuleCandidate]
    ) -> list[WayIn]:
        """Return the ways of one rule, those that are answered alike together.

        Args:
            way: the whole region, with the trace of a request of its first box.
            own: the boxes that the rule gains, each by which match.
            doubtful: the matches of which it is not known what they take.
        """
        found: dict[object, list[WayIn]] = {}
        waiting = list(reversed(own))
        while waiting:
            box, winner = waiting.pop()
            cell = way  # a request of the first box was traced for it
            if box is not own[0][0]:
                among = _among(self._dimensions, winner, doubtful)
                cell = _whole(self._tracer, self._entry, self._dimensions, (box,), box, among)
            left = list(box)
            spent = len(cell.trace.questions) + _QUESTIONS_OF_A_TRACE
            self._left -= spent
            self._tracer.questions += spent
            if self._left < 0:
                return [_not_told(way, "too many rules of authorization", bounded=True)]
            for question in cell.trace.questions:
                if self._nameless and is_of_client(question.name):
                    continue
                number = self._numbers.get(question.name)
                mask = None if number is None else self._mask(number, question)
                if number is None or mask is None:
                    if self._may_differ(question):
                        why = f"authorization asks for the {question.name}, which is not told apart"
                        return [_not_told(way, why, bounded=self._bounded)]
                    continue
                bits = left[number]
                inside = question.answer if question.name.startswith(CLAIM) else bool(bits & -bits & mask)
                same, other = (bits & mask, bits & ~mask) if inside else (bits & ~mask, bits & mask)
                if not same:  # no token has such claims, and one the other side of which is the same box does not end
                    break
                if other:
                    waiting.append(((*left[:number], other, *left[number + 1 :]), winner))
                left[number] = same
            else:
                box = tuple(left)
                said = _answers(cell.trace, cell.undecided), _brings_token(self._dimensions, box)
                found.setdefault(said, []).append(cell._replace(boxes=(box,)))
        ways = [
            cells[0]._replace(
                boxes=tuple(merged(cell.boxes[0] for cell in cells)),
                cells=tuple(cell.trace.questions for cell in cells),
            )
            for cells in found.values()
        ]
        ways.sort(key=lambda cell: (cell.trace.denied is not None, len(cell.boxes)))
        last = ways[-1]
        if len(ways) > 1 and last.trace.denied and len(last.boxes) > 1:
            ways[-1] = last._replace(around=way.boxes)
        return ways

    def _mask(self, number: int, question: RequestQuestion) -> int | None:
        """Return the atoms of which the answer is yes, None where the dimension is not cut by the question."""
        place = (question.name, question.predicates)
        if place not in self._masks:
            known = self._dimensions[number].masks
            masks = [known.get(predicate) for predicate in question.predicates]
            self._masks[place] = None if None in masks else reduce(or_, filter(None, masks), 0)
        return self._masks[place]

    def _may_differ(self, question: RequestQuestion) -> bool:
        """Return whether a question that cuts no dimension may have several answers for the requests at the entry."""
        if question.name == "host" and not self._entry.inside:
            return any(divides(self._entry, predicate) for predicate in question.predicates)
        return question.name != "method"  # calls are all POST


def _answers(trace: Trace, undecided: tuple[str, ...]) -> object:
    """Return what is said of the requests of a cell: two cells of which the same is said are one way."""
    judged = {(each.policy, each.decision.answer, each.decision.why) for each in trace.judged}
    placed = {(each.at.path, each.decision.answer, each.decision.why) for each in trace.admissions}
    told = frozenset(said for said in (*judged, *placed) if said[1] != "allowed")
    asked = tuple((id(met.group), met.doubt, met.backend, met.asks, met.skipped) for met in trace.policies)
    return trace.rule, trace.outcome, told, asked, trace.filters_asking, undecided


def _brings_token(dimensions: Sequence[Dimension], box: Box) -> bool:
    """Return whether all requests of a box bring a token: what it takes to be let in differs from that of others."""
    return any(
        dimension.name.startswith(CLAIM) and not bits & 1 for dimension, bits in zip(dimensions, box, strict=True)
    )


def _not_told(way: WayIn, why: str, *, bounded: bool) -> WayIn:
    """Return a way of which the end is not known."""
    trace = way.trace._replace(outcome=Outcome(unknown=True, reason=why))
    return way._replace(trace=trace, undecided=(*way.undecided, why), bounded=bounded)
