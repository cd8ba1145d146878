"""The ways into environments as text, Markdown, CSV or JSON (docs/reach.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any

from policylint.documents import loading
from policylint.doors import is_door
from policylint.guardrails.takers import Takers
from policylint.model import ResourceKey
from policylint.model.words import count, listing, verb
from policylint.namedtuple import NamedTuple
from policylint.reach import (
    WayIn,
    all_ways,
    asked,
    doors,
    end_in_words,
    leading_to,
    ways_inside,
    with_routes,
)
from policylint.report.kit.display import Paint, hanging, one_line, short_place
from policylint.report.kit.escape import spoken
from policylint.report.kit.identity import MOST_INDENTED, Names, json_lines, json_place, json_text
from policylint.report.kit.tables import table_head, table_row
from policylint.report.trace.trace_v1 import outcome
from policylint.simulation import Simulation
from policylint.simulation.serving import not_served
from policylint.topology import GatewayState
from policylint.trace import PURPOSES, Asked, Request, Requirements, Tracer
from policylint.trace.request import claims_of

VERSION = "reach-v1"
_AT_ONCE = 500
"""Ways of a long document that are written together."""
_MOST_UNSERVED = 3
"""How many Gateways that no controller serves are named."""
_WIDEST = 60
"""Up to which width a cell widens its column; the words of a refusal, or many conditions, stand out in their line."""
_COLUMNS = ("host", "requests", "goes to", "login")


class Question(NamedTuple):
    """Which ways are asked for; None and "" ask for all.

    Args:
        gateways: through which they lead.
        objects: a route or rule that takes the requests, or a backend they go to.
        without: a purpose or a setting that is not demanded of them.
        clients: the networks, with commas, of the clients that are meant.
        principals: the clients in the mesh that are meant, as `--from` names them.
    """

    gateways: Collection[ResourceKey] | None = None
    objects: Collection[ResourceKey] | None = None
    without: str = ""
    clients: str = ""
    principals: tuple[str, ...] = ()

    def is_at(self, gateway: GatewayState) -> bool:
        """Return whether ways through a Gateway are asked for."""
        return self.gateways is None or gateway.gateway.key in self.gateways

    def ways(self, outside: Tracer) -> Iterator[WayIn]:
        """Yield the ways through Gateways; and those inside the mesh where an object or a client of it is named."""
        simulation = outside.simulation
        objects = None if self.objects is None else leading_to(outside, self.objects)
        found = iter(()) if self.principals else all_ways(simulation, self.gateways, self.clients, outside)
        if (objects is not None or self.principals) and self.gateways is None and not self.clients:
            tracer = Tracer(simulation, nearest=False)
            named = [pair for name in self.principals for pair in tracer.simulation.clients.identities(name)]
            services = None if objects is None else with_routes(tracer, objects)
            if named or not self.principals:
                found = chain(found, ways_inside(tracer, services, named or None))
        takers = Takers(outside.topology, {} if objects is None else doors(outside, self.gateways))
        for way in found:
            to = {*(node.key for node in way.trace.path), *(share.key for share in way.trace.outcome.shares)}
            if objects is not None and way.trace.outcome.unknown:
                to |= {*(route.key for route in takers.of(way)), *(key for key, _ in takers.backends(way))}
            if objects is None or way.cut_off or not to.isdisjoint(objects):
                yield way


class Row(NamedTuple):
    """A way, and what is asked on it for each purpose."""

    simulation: Simulation
    way: WayIn
    answers: dict[str, Asked]

    @property
    def serves(self) -> bool:
        """Whether requests may get to a backend: redirects and errors give nothing away."""
        return bool(self.way.trace.outcome.backends) or self.way.trace.outcome.unknown


class Found(NamedTuple):
    """The ways that answer a question; `ways` is how many there are with and without what it asks for."""

    rows: tuple[Row, ...]
    ways: int
    names: Names
    question: Question
    several: bool
    unseen: tuple[str, ...] = ()
    """Why there may be routes of which the ways are missing."""
    refused: tuple[ResourceKey, ...] = ()
    """What the API server refuses as it stands, and is judged by what it says all the same."""
    without: tuple[ResourceKey, ...] = ()
    """The policies that it refuses."""
    unserved: tuple[str, ...] = ()
    """Why the ways of some Gateways are missing: no controller serves them."""


def find(simulations: Sequence[Simulation], question: Question) -> Found:
    """Find the ways that a rule takes, or may take."""
    rows = []
    purposes = tuple(dict.fromkeys((*PURPOSES, *filter(None, [question.without]))))
    ways = 0
    with loading():  # ways stay until they are written, and hold no cycles either
        for simulation in sorted(simulations, key=lambda simulation: simulation.world.name):
            tracer = Tracer(simulation, nearest=False)
            requirements = Requirements(tracer)
            for way in question.ways(tracer):
                if not way.taken:
                    continue
                row = Row(simulation, way, {purpose: asked(requirements, way, purpose) for purpose in purposes})
                ways += row.serves or not question.without
                if not question.without or (row.serves and row.answers[question.without].state != "asked"):
                    rows.append(row)
    unseen = dict.fromkeys(reason for simulation in simulations for reason in simulation.world.unseen.bringing_routes())
    left, judged = _refused(simulations)
    names = Names.of(simulations)
    asked_at = [state for simulation in simulations for state in simulation.topology.gateways if question.is_at(state)]
    unserved = dict.fromkeys(filter(None, map(not_served, asked_at)))
    several = len(simulations) > 1
    return Found(tuple(rows), ways, names, question, several, tuple(unseen), judged, left, tuple(unserved))


def _refused(simulations: Sequence[Simulation]) -> tuple[tuple[ResourceKey, ...], tuple[ResourceKey, ...]]:
    """Return what the API server refuses: what takes no part here either, and what is judged as it is written."""
    refused = {(simulation, key) for simulation in simulations for key in simulation.refused}
    left = {key for simulation, key in refused if simulation.topology.world.get(key) is None}
    return tuple(sorted(left)), tuple(sorted({key for _, key in refused} - left))


def write(form: str, found: Found, paint: Paint) -> Iterator[str]:
    """Yield the pieces of the document in a format (formats.py)."""
    match form:
        case "json":
            yield from _json(found)
        case "csv":
            yield _csv(found)
        case "markdown":
            yield from _markdown(found)
        case _:
            yield from _text(found, paint)


def summary(found: Found) -> str:
    """Return `31 ways in`, or `2 of 31 ways to a backend lack authentication; 1 could not be decided`.

    Where none lacks it, the sentence says so and counts what was looked at behind.
    """
    without = found.question.without
    if not without:
        return count(found.ways, "way") + " in"
    unknown = sum(row.answers[without].state == "unknown" for row in found.rows)
    lacking = len(found.rows) - unknown
    words = f"{lacking} of {count(found.ways, 'way')} to a backend {verb(lacking, 'lacks')} {without}"
    if not lacking:
        words = f"no way to a backend lacks {without} ({found.ways} judged)"
    return words + (f"; {unknown} could not be decided" if unknown else "")


def _beside(found: Found) -> list[str]:
    """Return sentences on routes that were not seen, and on those that a cluster does not take as they stand."""
    bringing = dict.fromkeys(reason.partition(" may ")[0].partition(" makes ")[0] for reason in found.unseen)
    said = [f"not listed: routes that {listing(bringing, most=3)} may bring"] if bringing else []
    said += [f"not listed: {reason}" for reason in found.unserved[:_MOST_UNSERVED]]
    if len(found.unserved) > _MOST_UNSERVED:
        more = len(found.unserved) - _MOST_UNSERVED
        said.append(f"not listed: {count(more, 'more Gateway')} that no controller serves")
    if found.refused:
        refused = listing([str(key) for key in found.refused], most=3)
        said.append(f"{refused} as written, which the API server refuses (GWP501)")
    if found.without:
        refused = listing([str(key) for key in found.without], most=3)
        said.append(f"without {refused}, which the API server refuses (GWP501)")
    return said


def _text(found: Found, paint: Paint) -> Iterator[str]:
    rows = [[one_line(words) for words in _cells(row)] for row in found.rows]
    before = None
    columns, *lines = paint.table([[column.upper() for column in _COLUMNS], *rows], most=_WIDEST, indent=2)
    for words in columns if rows else ():
        yield paint("faint", "  " + "  ".join(words).rstrip()) + "\n"
    for row, line in zip(found.rows, lines, strict=True):
        head = _head(row, found)
        if head != before:
            yield ("\n" if before else "") + paint("strong", one_line(head)) + "\n"
            before = head
        for words in line:
            yield "  " + "  ".join(words).rstrip() + "\n"
    yield ("\n" if found.rows else "") + f"{summary(found)}\n"
    for sentence in _beside(found):
        said = hanging(one_line(sentence), paint.room, "  ") if paint.room else [one_line(sentence)]
        yield from (f"{line}\n" for line in said)


def _markdown(found: Found) -> Iterator[str]:
    yield f"{spoken(', '.join([summary(found), *_beside(found)]))}.\n"
    before = None
    for row in found.rows:
        head = _head(row, found)
        if head != before:
            yield f"\n**{spoken(head)}**\n\n{table_head(*_COLUMNS)}\n"
            before = head
        yield f"{table_row(*map(spoken, _cells(row)))}\n"


def _head(row: Row, found: Found) -> str:
    entry = row.way.entry
    where = f", environment {row.simulation.world.name}" if found.several else ""
    port = f"{entry.scheme} on port {entry.port}"
    if entry.port is None:
        port = "https, not seen here" if entry.scheme == "https" else "not seen here"
    if entry.inside:
        port += f", clients of namespace {entry.consumer}" if entry.consumer else ", inside the mesh"
    return f"{found.names.key(entry.gateway)}, {port}{where}"


def _cells(row: Row) -> list[str]:
    """Return the hosts, the requests, where they go and what is asked, in words."""
    parts = []
    goes_to, place = ending(row.way), _denied_at(row.way)
    for purpose, given in row.answers.items() if row.serves else ():
        words = "unknown" if given.why and given.why in goes_to else str(given)
        if purpose == "authentication" or given.demands:
            named = purpose == "authentication" or words.startswith(purpose)
            parts.append(words if named else f"{purpose}: {words}")
    return [row.way.entry.hosts, row.way.requests, f"{goes_to} ({place})" if place else goes_to, ", ".join(parts)]


def ending(way: WayIn) -> str:
    """Return where the requests of a way go, and why it is not known whether they get there."""
    words = end_in_words(way.trace)
    if way.trace.unsettled:
        words += f", not known whether it gets there: {way.trace.unsettled}"
    return f"{words}, not known who is let in: {way.doubt}" if way.doubt else words


def _denied_at(way: WayIn) -> str:
    """Return where it is written that the requests of a way are turned away; "" where they are not."""
    denied = way.trace.denied
    return "" if denied is None or denied[1] is None else short_place(denied[1])


def _csv(found: Found) -> str:
    """Return the exposure list: a line for each way, for spreadsheets; what starts like a formula is quoted there."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = ["environment", "gateway", "scheme", "port", "host", "requests", "clients", "goes to"]
    purposes = dict.fromkeys(purpose for row in found.rows for purpose in row.answers) or dict.fromkeys(PURPOSES)
    writer.writerow([*heads, *purposes, "route", "location", "example"])
    for row in found.rows:
        entry, trace = row.way.entry, row.way.trace
        place = "" if trace.route is None else short_place(trace.route.location(*trace.rule_pointer))
        host, requests, goes_to, _ = _cells(row)
        askers = [str(row.answers[purpose]) if row.serves else "" for purpose in purposes]
        door = str(entry.gateway) if is_door(entry.gateway) else entry.gateway.path
        cells = [row.simulation.world.name, door, entry.scheme, entry.port, host, requests]
        cells += [row.way.clients, goes_to]
        route = "" if trace.route is None else found.names.key(trace.route.key)
        example = f"{_example(trace.request)} from {trace.request.client}" if entry.inside else _example(trace.request)
        writer.writerow([_plain(value) for value in (*cells, *askers, route, place, example)])
    return out.getvalue()


def _example(request: Request) -> str:
    return str(request) if request.can_be_sent else ""


def _plain(value: object) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    words = "" if value is None else one_line(str(value))
    return f"'{words}" if words[:1] in ("=", "+", "-", "@") else words


def _json(found: Found) -> Iterator[str]:
    """Yield the document; a long one is not held as a whole, and has one way on each line."""
    if len(found.rows) <= MOST_INDENTED:
        yield json_text({"version": VERSION, "ways": [entry_of(row, found) for row in found.rows]})
        return
    yield f'{{\n  "version": "{VERSION}",\n  "ways": [\n    '
    for start in range(0, len(found.rows), _AT_ONCE):
        entries = [entry_of(row, found) for row in found.rows[start : start + _AT_ONCE]]
        yield (",\n    " if start else "") + json_lines(entries, ",\n    ")
    yield "\n  ]\n}\n"


def entry_of(row: Row, found: Found) -> dict[str, Any]:
    """Return one way of `reach-v1`."""
    entry, trace, names = row.way.entry, row.way.trace, found.names
    content: dict[str, Any] = {"environment": row.simulation.world.name} if found.several else {}
    content |= {
        "gateway": None if entry.inside else names.key(entry.gateway),
        "scheme": entry.scheme,
        "port": entry.port,
        "host": entry.hosts,
        "requests": row.way.requests,
        "clients": row.way.clients,
        "outcome": outcome(trace.outcome, names),
        "asked": {purpose: _answer(given, names) for purpose, given in row.answers.items()} if row.serves else {},
        "route": None if trace.route is None else names.key(trace.route.key),
        "rule": None if trace.rule is None else names.node(trace.rule),
        "example": _example(trace.request),
        "headers": dict(trace.request.headers),
    }
    if trace.request.address:
        content["address"] = trace.request.address
    if trace.request.client_certificate:
        content["clientCertificate"] = trace.request.client_certificate
    if entry.inside:
        content |= {"service": names.key(entry.gateway), "client": trace.request.client}
        content |= {"depends": row.way.doubt} if row.way.doubt else {}
    if trace.unsettled:
        content["unsettled"] = trace.unsettled
    if trace.request.claims is not None:
        content["claims"] = claims_of(trace.request)
    if trace.denied is not None:
        by, place = trace.denied
        content["denied"] = {"by": None if by is None else names.key(by)}
        content["denied"] |= {} if place is None else {"location": json_place(place)}
    if trace.route is not None:
        content["location"] = json_place(trace.route.location(*trace.rule_pointer))
    if row.way.undecided:
        content["undecided"] = list(row.way.undecided)
    return content


def _answer(given: Asked, names: Names) -> dict[str, Any]:
    demands = [
        {
            "setting": demand.setting,
            "policy": None if demand.policy is None else names.key(demand.policy),
            "required": demand.must,
        }
        for demand in given.demands
    ]
    return {
        "state": given.state,
        "by": demands,
        **({"because": given.why} if given.why else {}),
        **({"ground": given.ground} if given.ground else {}),
    }
