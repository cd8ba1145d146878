"""The answers that the page holds for requests: per Gateway and host the matches by precedence, and the way of each.

A way is what `reach` says of all requests that a rule takes, of whose clients nothing is known. Where authorization
answers them otherwise by what they are, a rule has several ways, each with what policies ask. request.js reads them as
`policylint trace` would; what hangs on more of a request than that is named, and left to that command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from policylint.doors import PUBLISHED
from policylint.matches import FOREIGN, Term
from policylint.model import Node, ResourceKey, is_symbolic, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.reach import (
    Door,
    EntryPoint,
    Named,
    WayIn,
    asked,
    doors,
    entries_at,
    is_grpc,
    is_of_client,
    request_in,
    ways_in,
)
from policylint.regex import expression
from policylint.report.graph.model import fields_by_policy
from policylint.report.kit.display import place
from policylint.report.kit.identity import Names
from policylint.report.trace.text import result
from policylint.spaces.predicates import Predicate
from policylint.topology.hostnames import EVERY
from policylint.topology.routes import rules
from policylint.trace import PURPOSES, Asked, Requirements, Trace, Tracer
from policylint.trace.considered import preference
from policylint.trace.hosts import parts_of, serves
from policylint.trace.precedence import RuleCandidate

if TYPE_CHECKING:
    from policylint.simulation import Simulation

MOST_MATCHES: Final = 2_000
"""Matches whose ways are put into a page that nobody asked them of."""
_ALL_MATCHES: Final = 200_000
_ELSEWHERE: Final = "other.invalid"
_LONGEST: Final = 300
_MOST_LOOPS, _MOST_WAYS = 3, 64
"""Repetitions in an expression that a browser may try, and ways through its alternatives."""
_PART: Final = Pattern(
    r"""(?: \\[dwsDWS] | \\[^a-zA-Z0-9\s] | [a-zA-Z0-9/_\-=:;,<>!@#%&~`'" .]
      | \[ \^? (?: [a-fA-F0-9]-[fzFZ9] | \\[dws] | \\[^a-zA-Z0-9\s] | [a-zA-Z0-9/_=:;,<>!@#%~ .*+?(){}|$] )+ -? \] )
    (?P<loop> [*+]\?? | \{\d{1,2}(?:,\d{0,2})?\} )? \??
      | \((?:\?:)? | (?P<close>\)) (?: \?(?!\?) | (?![*+{]) ) | \|""",
    re.VERBOSE,
)
_Numbers = Mapping[tuple[str, Any], Sequence[int]]


_IGNORING_CASE: Final = "(?i)"
_VARIABLE = "variable"


class Boxes(NamedTuple):
    """The boxes of a graph, by environment and node, object, or the name under which something absent is drawn."""

    of_node: _Numbers
    of_key: _Numbers
    of_absent: _Numbers


def answers(simulations: Sequence[Simulation], names: Names, boxes: Boxes, asked_first: str = "") -> dict[str, Any]:
    """Return the data of request.js.

    Args:
        asked_first: a request that the page begins with; the answers are then there whatever room they take.
    """
    writing = _Writing(names, boxes, _ALL_MATCHES if asked_first else MOST_MATCHES)
    if sum(map(_matches, simulations)) <= writing.most:
        for simulation in simulations:
            writing.add(simulation)
    else:
        writing.left = 0
    if writing.left <= 0:
        why = f"The hosts of this world have more than {writing.most:,} matches: the ways of requests were left out"
        more = "." if asked_first else "; policylint graph --request 'GET https://…' -o html puts them in."
        return {"leftOut": why + more}
    return {"leftOut": "", **writing.tables, "doors": writing.doors}


def _matches(simulation: Simulation) -> int:
    """Return how many matches the attached routes of an environment have, each of which is written at least once."""
    attached = (state.route for state in simulation.topology.routes if any(p.accepted for p in state.parents))
    return sum(max(1, len(sequence(rule.body.get("matches")))) for route in attached for rule in rules(route))


class _Writing:
    """The tables in the making: what is said many times stands in them once."""

    def __init__(self, names: Names, boxes: Boxes, most: int) -> None:
        self.names, self.boxes = names, boxes
        self.most = self.left = most
        self.doors: list[dict[str, Any]] = []
        self.tables: dict[str, list[Any]] = {"predicates": [], "ways": [], "forks": []}
        self._known: dict[tuple[str, str], int] = {}
        self._requirements: Requirements
        self._delegating: set[Node] = set()

    def add(self, simulation: Simulation) -> None:
        """Add the doors of an environment until there is no more room."""
        tracer = Tracer(simulation, nearest=False)
        self._requirements, self._delegating = Requirements(tracer), _delegating(simulation)
        spoken = _spoken(tracer)
        # as in a trace: what is published by itself has an address of its own
        own = {door: named for door, named in spoken.items() if door[0].kind not in PUBLISHED} or spoken
        for (gateway, scheme, port), named in sorted(own.items(), key=lambda door: door[0][0]):
            patterns = sorted(named)
            numbers = {pattern: number for number, pattern in enumerate(patterns)}
            loose = [pattern for pattern in patterns if not pattern or pattern.startswith("*.") or is_symbolic(pattern)]
            door = (gateway, scheme, port)
            entries = []
            for entry in chain(entries_at(door, named), _elsewhere(door, named)):
                serving = {numbers[pattern] for pattern in loose if serves(entry.host, pattern)}
                serving |= {numbers[entry.host]} if entry.host in numbers else set()
                entries.append([sorted(serving), *self._entry(simulation, tracer, entry)])
                self.left -= len(loose) // 100  # as much work as a match
                if self.left <= 0:
                    return
            self.doors.append(
                {
                    "environment": simulation.world.name,
                    "gateway": self.names.key(gateway),
                    "boxes": list(self.boxes.of_key.get((simulation.world.name, gateway), ())),
                    "scheme": scheme,
                    "port": port,
                    "vague": port is None and _names_ports(simulation, gateway),
                    "patterns": [
                        [pattern, parts_of(pattern) if is_symbolic(pattern) else None] for pattern in patterns
                    ],
                    "entries": entries,
                }
            )

    def _entry(self, simulation: Simulation, tracer: Tracer, entry: EntryPoint) -> tuple[Any, Any]:
        """Return the matches and the way of what none takes, for requests and for gRPC calls (None: as the others)."""
        ways: tuple[list[WayIn], list[WayIn]] = ([], [])
        for way in ways_in(tracer, entry, nameless=True):
            ways[is_grpc(way.dimensions)].append(way)
        lists = []
        for grpc in (False, True):
            known = tracer.knows(entry.gateway) and entry.scheme in ("http", "https")
            candidates = tracer.contenders(request_in(entry, grpc=grpc)) if known else []
            self.left -= len(candidates)
            winners, rest = _winners(ways[grpc], candidates)
            numbers = {rule: self._fork(simulation, tracer, taken) for rule, taken in winners.items()}
            listed = [
                [[*map(self._demand, candidate.match.conditions)], numbers.get(candidate.rule.node, -1)]
                for candidate in candidates
            ]
            lists.append([listed, -1 if rest is None else self._way(simulation, tracer, rest)])
        return lists[0], lists[1] if lists[1][0] else None

    def _fork(self, simulation: Simulation, tracer: Tracer, ways: Sequence[WayIn]) -> int | list[int]:
        """Return the way of a rule; of several the fork, in a list."""
        if len(ways) == 1:
            return self._way(simulation, tracer, ways[0])
        branches = [
            [
                self._way(simulation, tracer, way),
                [
                    [
                        [[self._predicate(question.name, each) for each in question.predicates], question.answer]
                        for question in dict.fromkeys(cell)
                        if not is_of_client(question.name) and (question.name != "host" or way.entry.is_wide)
                    ]
                    for cell in way.cells
                ],
            ]
            for way in ways
        ]
        return [self._number("forks", branches)]

    def _demand(self, condition: Term) -> int:
        """Return the number of the predicate that a match demands; below 0 (`~number`) where it must not hold."""
        if condition.fault == FOREIGN:  # nobody reads it
            return self._number(
                "predicates", [condition.name, *condition.predicate[:1], None, condition.predicate.value]
            )
        number = self._predicate(condition.name, condition.predicate)
        return ~number if condition.negated else number

    def _predicate(self, dimension: str, predicate: Predicate) -> int:
        kind, value = predicate
        if predicate.is_open:
            wide = predicate.widest
            return self._number("predicates", [dimension, wide.type, as_javascript(wide.value), value, _VARIABLE])
        if predicate.is_expression and value.startswith(_IGNORING_CASE):
            bare = value.removeprefix(_IGNORING_CASE)
            return self._number("predicates", [dimension, kind, as_javascript(bare), value, "i"])
        if predicate.is_expression:
            return self._number("predicates", [dimension, kind, as_javascript(value), value])
        return self._number("predicates", [dimension, kind, value])

    def _way(self, simulation: Simulation, tracer: Tracer, way: WayIn) -> int:
        trace, environment = way.trace, simulation.world.name
        reached = [share for share in trace.outcome.shares if share.share]
        own = {*trace.path, *(share.section for share in reached if share.section is not None)}
        if trace.listener is not None and not trace.path:
            own |= set(tracer.path(trace.listener))
        boxes = {box for node in own for box in self.boxes.of_node.get((environment, node), ())}
        for share in reached:
            boxes.update(self.boxes.of_key.get((environment, share.key), ()))
            boxes.update(self.boxes.of_absent.get((environment, self.names.key(share.key)), ()))
        rank, narrow, _ = preference(trace)
        policies = self._policies(trace, environment)
        redirect = trace.outcome.redirect
        to = "" if redirect is None else f"{redirect.status} redirect to {redirect.scheme}."
        at_match = None if trace.route is None else trace.route.location(*trace.rule_pointer)
        return self._number(
            "ways",
            {
                "listener": "" if trace.listener is None else self.names.node(trace.listener.node),
                "rule": "" if trace.rule is None else self.names.node(trace.rule),
                "place": "" if at_match is None else place(at_match),
                "result": to or _anywhere(result(trace, self.names, self._login(way)), way.entry),
                "answered": trace.outcome.answered,
                "rank": 4 if way.certificate else rank,
                "narrow": narrow,
                "boxes": sorted(boxes),
                "policies": policies,
                "asked": [
                    [purpose, str(self._asked(way, purpose))]
                    for purpose in (PURPOSES if trace.outcome.backends else ())
                ],
                "notes": [_anywhere(note, way.entry) for note in trace.notes],
                "certificate": way.certificate,
                "cors": _has_cors(trace),
                "depends": _depends(self._delegating, way),
            },
        )

    def _login(self, way: WayIn) -> Asked | None:
        return self._asked(way, "authentication") if way.trace.outcome.backends else None

    def _asked(self, way: WayIn, purpose: str) -> Asked:
        """Return what is asked of one request: which match takes it the page tells, or that it can't."""
        return asked(self._requirements, way._replace(undecided=()), purpose)

    def _policies(self, trace: Trace, environment: str) -> list[list[Any]]:
        """Return the policies that requests meet: name, box, settings in force, and the backend they are for."""
        rows = []
        for met in trace.policies:
            only = "" if met.backend is None else self.names.key(met.backend)
            kept, _ = fields_by_policy(met.group.effective)
            for key, fields in kept.items():
                box = next(iter(self.boxes.of_key.get((environment, key), ())), -1)
                rows.append([self.names.key(key), box, ", ".join(sorted(filter(None, fields))), only])
        judges = [judged.policy for judged in trace.judged]
        judges += [admission.decision.by.key for admission in trace.admissions if admission.decision.by is not None]
        for key in dict.fromkeys(judges):
            if not any(row[0] == self.names.key(key) for row in rows):
                rows.append(
                    [self.names.key(key), next(iter(self.boxes.of_key.get((environment, key), ())), -1), "", ""]
                )
        return rows

    def _number(self, table: str, entry: Any) -> int:
        text = json.dumps(entry, default=str)
        if (table, text) not in self._known:
            self._known[table, text] = len(self.tables[table])
            self.tables[table].append(entry)
        return self._known[table, text]


def _spoken(tracer: Tracer) -> dict[Door, Named]:
    """Return the doors for HTTP; a listener that passes TLS through takes https requests as well."""
    found: dict[Door, Named] = {}
    for (gateway, scheme, port), named in doors(tracer).items():
        if scheme in ("http", "https", "tls"):
            patterns = found.setdefault((gateway, "http" if scheme == "http" else "https", port), {})
            for pattern, routes in named.items():
                patterns[pattern] = patterns.get(pattern, set()) | routes
    return found


def _anywhere(words: str, entry: EntryPoint) -> str:
    """Return words in which `{host}` stands for a host that was made up to trace one of many."""
    return words if entry.host == entry.hostname else words.replace(entry.host, "{host}")


def _names_ports(simulation: Simulation, gateway: ResourceKey) -> bool:
    """Return whether a route names a port of a Gateway that was not seen: then its requests hang on the port."""
    parents = (parent for route in simulation.topology.routes for parent in route.parents)
    return any(
        parent.unseen is not None and parent.unseen.key == gateway and parent.port is not None for parent in parents
    )


def _elsewhere(door: Door, named: Iterable[str]) -> Iterable[EntryPoint]:
    """Yield the entry of hosts that nobody at a door names."""
    gateway, scheme, port = door
    if EVERY not in named:
        yield EntryPoint(gateway, scheme, port, EVERY, _ELSEWHERE)


def _winners(
    ways: Iterable[WayIn], candidates: Sequence[RuleCandidate]
) -> tuple[dict[Node, list[WayIn]], WayIn | None]:
    """Return the ways of each rule that takes some requests, and that of the others, None where it is not known.

    Ways come in the order of the first match that takes some of their requests, but for those of one rule.
    """
    winners: dict[Node, list[WayIn]] = {}
    rest = None
    number = 0
    for way in ways:
        if "too many matches" in way.undecided:
            return {}, None
        request, at = way.trace.request, 0 if way.cells else number
        while at < len(candidates) and not all(miss.undecided for miss in candidates[at].match.misses(request)):
            at += 1
        if at < len(candidates):
            winners.setdefault(candidates[at].rule.node, []).append(way)
        else:
            rest = way
        number = number if way.cells else at
    return winners, rest


def _delegating(simulation: Simulation) -> set[Node]:
    """Return the rules that delegate to other routes."""
    found = set()
    for delegation in simulation.topology.delegations:
        state = simulation.topology.route(delegation.parent)
        of_route = () if state is None else rules(state.route)
        found |= {rule.node for rule in of_route if rule.number == delegation.rule}
    return found


def _depends(delegating: Set[Node], way: WayIn) -> list[str]:
    """Return on what the end of a request hangs beside the rule that takes it.

    Args:
        delegating: the rules that delegate to other routes.
    """
    trace = way.trace
    if trace.rule is None:
        return []
    found = []
    if not delegating.isdisjoint(trace.path):
        found.append("the rules of the routes that it delegates to")
    if trace.questions and trace.outcome.unknown and way.undecided:
        found.append("authorization, which looks at more of the request")
    return found


def _has_cors(trace: Trace) -> bool:
    """Return whether the gateway itself may answer preflights of the rule."""
    if trace.route is None or trace.rule is None:
        return False
    number = trace.rule_pointer[2] if len(trace.rule_pointer) > 2 else -1
    bodies = (rule.body for rule in rules(trace.route) if rule.number == number)
    return any(mapping(entry).get("type") == "CORS" for body in bodies for entry in sequence(body.get("filters")))


def as_javascript(pattern: str) -> str | bool | None:
    """Return an expression that says of printable ASCII in a browser what RE2 says, in time that nobody notices.

    False for one that matches nothing, None where the two may disagree: only expressions of parts that both read alike
    are taken, without loops around loops.
    """
    if expression(pattern).refusal:
        return False
    bare = pattern.removeprefix("^")
    bare = bare[:-1] if bare.endswith("$") and not bare.endswith("\\$") else bare
    if len(pattern) > _LONGEST or (bare != pattern and "|" in bare):
        return None
    position = loops = 0
    ways, open_groups = 1, [1]
    while position < len(bare):
        part = _PART.match(bare, position)
        if part is None:
            return None
        loops += bool(part["loop"])
        position = part.end()
        if part[0].startswith("("):
            open_groups.append(1)
        elif part[0] == "|":
            open_groups[-1] += 1
        elif part["close"]:
            ways *= open_groups.pop()
        ways *= 2 if part[0].endswith("?") and len(part[0]) > 1 and not part["loop"] and part[0] != "\\?" else 1
    return bare if loops <= _MOST_LOOPS and ways * open_groups[0] <= _MOST_WAYS else None
