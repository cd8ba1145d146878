"""By what the requests at an entry are told apart, and the request that stands for a box of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from policylint.matches import SLASHED, Match, Term
from policylint.model import Node, ResourceKey, is_symbolic
from policylint.model.spelling import spelled
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import CLAIM, CLIENT, PRINCIPAL, SITE
from policylint.reach.entries import EntryPoint
from policylint.simulation.clients import UNMESHED
from policylint.spaces.addresses import V6
from policylint.spaces.boxes import Box
from policylint.spaces.dimension import Dimension, addresses, pairs, paths, values
from policylint.spaces.predicates import Predicate, matching
from policylint.spaces.samples import sample
from policylint.trace import Request
from policylint.trace.precedence import RuleCandidate


class Stated(NamedTuple):
    """What the matches of somebody demand.

    Args:
        predicates: by the name of their dimension.
        grpc: whether some are of calls.
        order: what each match demands, in the order in which they are asked.
        rules: whose matches they are.
        asked: whether what policies ask about requests is among it.
        bounded: whether policies ask more than is told apart.
        route: whose requests alone are wanted, where matches tell them from all others; None for those of all.
    """

    predicates: Mapping[str, Collection[Predicate]] = {}
    grpc: bool = False
    order: tuple[tuple[tuple[str, Predicate], ...], ...] = ()
    rules: frozenset[Node] = frozenset()
    asked: bool = False
    bounded: bool = False
    route: ResourceKey | None = None

    def joined(self, other: Stated) -> Stated:
        """Return what this or the other one demands, of the requests that this one is about."""
        names = dict.fromkeys((*self.predicates, *other.predicates))
        both = {name: {*self.predicates.get(name, ()), *other.predicates.get(name, ())} for name in names}
        asked, grpc = self.asked and other.asked, self.grpc or other.grpc
        return Stated(both, grpc, asked=asked, bounded=self.bounded or other.bounded, route=self.route)


def is_of_client(name: str) -> bool:
    """Return whether a dimension is of who sends requests, and not of what they are."""
    return name in (CLIENT, PRINCIPAL) or name.startswith(CLAIM)


def is_for_anybody(dimensions: Sequence[Dimension], box: Box) -> bool:
    """Return whether anybody can send requests of a box: without token and identity, from half of all addresses."""
    for dimension, bits in zip(dimensions, box, strict=True):
        if (dimension.name == PRINCIPAL or dimension.name.startswith(CLAIM)) and not bits & 1:
            return False
        if dimension.ranges and bits != dimension.all:
            intervals = (
                interval for number, ranges in enumerate(dimension.ranges) if bits >> number & 1 for interval in ranges
            )
            if sum(min(interval.high, V6) - interval.low for interval in intervals if interval.low < V6) < V6 // 2:
                return False
    return True


def is_grpc(dimensions: Sequence[Dimension]) -> bool:
    """Return whether the requests over some dimensions are gRPC calls."""
    return bool(dimensions) and dimensions[0].name == "service"


def of_rules(
    candidates: Sequence[RuleCandidate | None], gained: Sequence[list[Box]], route: ResourceKey | None = None
) -> Iterable[list[tuple[Box, RuleCandidate | None]]]:
    """Return what each rule (of a route) gets by all of its matches: boxes, each with its match; None for no rule.

    What the proxy answers by itself, since a slash is missing, stands apart from what the rule answers.
    """
    by_rule: dict[object, list[tuple[Box, RuleCandidate | None]]] = {}
    for candidate, own in zip(candidates, gained, strict=True):
        if own and (route is None or (candidate and candidate.rule.node.key == route)):
            by = candidate and (candidate.rule.node, candidate.match.value.get(SLASHED), candidate.match.doubtful)
            by_rule.setdefault(by, []).extend((box, candidate) for box in own)
    return by_rule.values()


def dimensions_of(matches: Sequence[Match], also: Stated, entry: EntryPoint, *, grpc: bool) -> tuple[Dimension, ...]:
    """Return the dimensions that some matches speak of: the first two are always there.

    Where requests come in by a Gateway hosts are those of the entry; inside the mesh clients may name any.
    """
    stated: dict[str, dict[Predicate, None]] = {}
    others = ("method", "path") if grpc else ("service", "call")
    for name, predicates in also.predicates.items():
        if name not in others and not name.startswith("rewritten "):
            stated[name] = dict.fromkeys(sorted(predicates))
    if not entry.inside:
        dividing = [each for each in stated.get("host", ()) if divides(entry, each)]
        if not dividing or (entry.hostname and not all(map(_is_of_names, dividing))):
            stated.pop("host", None)
    for match in matches:
        for condition in match.conditions:
            stated.setdefault(condition.name, {})[condition.predicate] = None
    patterns = sum(each.is_expression for predicates in stated.values() for each in predicates)
    if grpc:
        first = values("service", stated.pop("service", ()), "other.Service", expressions=patterns)
        second = values("call", stated.pop("call", ()), "Other", expressions=patterns)
    else:
        first = values("method", stated.pop("method", ()), "GET")
        second = paths(stated.pop("path", ()), expressions=patterns)
    hosts = [_hosts(entry, stated.pop("host"), patterns)] if "host" in stated else []
    named = sorted(stated.items())
    return (first, second, *hosts, *(of_name(name, predicates, patterns) for name, predicates in named))


def _hosts(entry: EntryPoint, predicates: Iterable[Predicate], expressions: int) -> Dimension:
    """Return the hosts as predicates cut them: at a Gateway those of its entry, as clients write them."""
    found = values("host", predicates, entry.host, expressions=expressions)
    if entry.inside:
        return found
    hosts = [host or "" for host in found.witnesses]
    written = (f"{'other' * host.startswith('.')}{host}{'test' * host.endswith('.')}" for host in hosts)
    alike = (
        host if all(each.takes(host) == each.takes(was) for each in found.masks) else was
        for host, was in zip(written, hosts, strict=True)
    )
    return found._replace(witnesses=tuple(alike)).only(entry.is_for)


def divides(entry: EntryPoint, predicate: Predicate) -> bool:
    """Return whether some of the hosts of an entry satisfy a predicate and others do not."""
    if predicate.type == "Present" or not entry.is_wide:
        return False
    if predicate.type == "Exact":
        return entry.is_for(predicate.value)
    return not re.escape(entry.hostname[1:]).endswith(predicate.value.removeprefix(".*"))


def _is_of_names(predicate: Predicate) -> bool:
    """Return whether a predicate is of one host, or of all below one."""
    return not predicate.is_expression or re.fullmatch(r"\.\*(\\\.[\w\\-]+)+", predicate.value) is not None


def of_name(name: str, predicates: Iterable[Predicate], expressions: int) -> Dimension:
    if name in (CLIENT, PRINCIPAL):
        return (addresses if name == CLIENT else pairs)(name, predicates)
    if not name.startswith(CLAIM):
        return values(name, predicates, expressions=expressions)
    _, wanted = _claim(name)
    value = wanted.value or "other"
    if wanted.is_expression:
        text = sample(wanted.value)
        value = next((value for value in (f"{text}-other", f"other-{text}", text) if wanted.takes(value)), text)
    return Dimension(name, (None, value), {Predicate("Present"): 0b10})


@cache
def _claim(name: str) -> tuple[str, Predicate]:
    """Return the claim of a dimension, and what its value satisfies (see `claim_name`)."""
    claim, apart, wanted = name.removeprefix(CLAIM).partition(": ")
    if not apart:
        return claim, Predicate("Present")
    return claim, matching(wanted[1:]) if wanted[:1] == "~" else Predicate("Exact", wanted)


def is_possible(dimensions: Sequence[Dimension], box: Box) -> bool:
    """Return whether a request may lie in a box: no token has a claim of a value and at the same time not the claim."""
    claims = [
        (*_claim(dimension.name), dimension, bits)
        for dimension, bits in zip(dimensions, box, strict=True)
        if dimension.name.startswith(CLAIM)
    ]
    brought = [(claim, dimension.witness(bits)) for claim, _, dimension, bits in claims if not bits & 1]
    return not any(
        bits == 1 and wanted.takes(value)
        for claim, wanted, _, bits in claims
        for name, value in brought
        if name == claim
    )


def boxes_of(matches: Iterable[Match], dimensions: Sequence[Dimension]) -> list[Box]:
    """Return for each match the requests that it takes, and those of which it is not known whether it does."""
    numbers = {dimension.name: number for number, dimension in enumerate(dimensions)}
    everything = [dimension.all for dimension in dimensions]
    found = []
    for match in matches:
        box = everything.copy()
        for condition in match.conditions:
            number = numbers[condition.name]
            if is_symbolic(condition.fault):
                box[number] &= _may_take(condition, dimensions[number])
                continue
            own = dimensions[number].masks[condition.predicate]
            if not condition.negated:
                box[number] &= own
            elif not condition.predicate.is_open:
                box[number] &= everything[number] & ~own
        found.append(tuple(box))
    return found


def _may_take(condition: Term, dimension: Dimension) -> int:
    """Return the values that a condition nobody can read may take; who lacks the property does not satisfy it."""
    missed = (condition.miss(witness) for witness in dimension.witnesses)
    return sum(1 << number for number, miss in enumerate(missed) if miss is None or miss.undecided)


def request_in(
    entry: EntryPoint, dimensions: Sequence[Dimension] = (), box: Box = (), *, grpc: bool = False
) -> Request:
    """Return one request at an entry, of a box where one is given."""
    told: dict[str, str] = {}
    for dimension, bits in zip(dimensions, box, strict=True):
        value = dimension.witness(bits)
        if value is not None:
            told[dimension.name] = value
    claims = tuple((_claim(name)[0], value) for name, value in told.items() if name.startswith(CLAIM))
    brings = any(dimension.name.startswith(CLAIM) for dimension in dimensions)
    named = {"origin": f"{entry.scheme}://{told[SITE]}"} if SITE in told else {}
    named |= {name.partition(" ")[2]: value for name, value in told.items() if name.startswith("header ")}
    query = {name.partition(" ")[2]: value for name, value in told.items() if name.startswith("query ")}
    path = f"/{told['service']}/{told['call']}" if "service" in told else told.get("path", "/")
    if query:
        from urllib.parse import urlencode

        path += f"?{urlencode(query)}"
    host, at, inside = told.get("host", entry.host), spelled(entry.gateway), entry.inside
    client = f"namespace/{entry.consumer}" if entry.consumer else ""
    is_service = entry.gateway.kind == "Service"
    given: dict[str, Any] = {} if inside else {"gateway": at}
    if inside:
        if any(dimension.name == PRINCIPAL for dimension in dimensions):
            client = f"ServiceAccount/{told[PRINCIPAL]}" if PRINCIPAL in told else UNMESHED
        given = {"client": client, ("service" if is_service else "pod"): at}
    return Request(
        scheme=entry.scheme,
        method="POST" if grpc else told.get("method", "GET"),
        host=host,
        path=path,
        headers=tuple(named.items()),
        port=entry.port,
        gateway="" if inside else at,
        client=client,
        service=at if is_service else "",
        pod=at if inside and not is_service else "",
        sni=host if entry.scheme in ("https", "tls") else "",
        grpc=grpc,
        given={**given, "scheme": entry.scheme, "host": host, "path": path, **({"headers": named} if named else {})},
        address=told.get(CLIENT, ""),
        claims=claims if brings else None,
    )
