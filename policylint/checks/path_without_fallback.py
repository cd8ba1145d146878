"""GWP418: requests that end with 404 at a proxy that chooses by path alone, though a rule for a wider path waits.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path
from policylint.matches import path_of
from policylint.model import Finding, Node, Related, ResourceKey
from policylint.simulation import Simulation
from policylint.simulation.ranking import ranking
from policylint.topology.ancestry import implementation_of

if TYPE_CHECKING:
    from policylint.reach import EntryPoint
    from policylint.trace import Request, Tracer
    from policylint.trace.precedence import RuleCandidate

RULE = "GWP418"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each path whose rules leave requests to nobody that a rule for a wider one would take."""
    states = [each for each in simulation.topology.gateways if ranking(simulation, each).by.ends_at_path]
    if not states:
        return
    from policylint.catalog.releases import about
    from policylint.checks.kit.tracing import tracer_of
    from policylint.reach import entries

    titles: dict[ResourceKey, str] = {}
    for state in states:
        name = implementation_of(state, simulation.catalog)
        titles[state.gateway.key] = "the proxy" if name is None else about(name).title
    tracer = tracer_of(simulation)
    told: set[tuple[Node, Node]] = set()
    for entry in entries(tracer, titles):
        if entry.port is None or entry.scheme not in ("http", "https"):
            continue
        for holder, waiting, request in _ending(tracer, entry):
            if (holder.rule.node, waiting.rule.node) not in told:
                told.add((holder.rule.node, waiting.rule.node))
                yield _finding(holder, waiting, request, titles[entry.gateway])


def _ending(tracer: Tracer, entry: EntryPoint) -> Iterator[tuple[RuleCandidate, RuleCandidate, Request]]:
    """Yield the first match of each path, who else would take what it leaves, and a request of that."""
    from policylint.reach.dimensions import request_in
    from policylint.spaces.samples import sample

    by_path: dict[tuple[str, str], list[RuleCandidate]] = defaultdict(list)
    candidates = tracer.contenders(request_in(entry))
    for candidate in candidates:
        by_path[path_of(candidate.match.value)].append(candidate)
    for (_, value), holders in by_path.items():
        if not all(any(each.name != "path" for each in holder.match.conditions) for holder in holders):
            continue
        by_expression = any(each.name == "path" for each in holders[0].match.expressions)
        asked = request_in(entry)._replace(path=sample(value) if by_expression else value)
        trace = tracer.trace(asked)
        if trace.rule is not None or trace.outcome.status != 404:
            continue
        waiting = next((each for each in candidates if each not in holders and _would_take(each, asked)), None)
        if waiting is not None:
            yield holders[0], waiting, asked


def _would_take(candidate: RuleCandidate, request: Request) -> bool:
    """Tell whether a match would take a request if no other path came before its own."""
    own = tuple(each for each in candidate.match.conditions if not (each.negated and each.name == "path"))
    return next(candidate.match._replace(conditions=own).misses(request), None) is None


def _finding(holder: RuleCandidate, waiting: RuleCandidate, request: Request, title: str) -> Finding:
    wanted = next(each for each in holder.match.conditions if each.name != "path")
    return Finding(
        RULE,
        "warning",
        f"{request} gets 404 and never comes to {waiting.rule.node}: {title} chooses by path alone",
        holder.route.location(*holder.pointer),
        resources=(holder.route.key, waiting.route.key),
        label=f"the rules with this path take what has {wanted.needs}, and nothing takes the rest",
        related=(Related("this rule would take it elsewhere", waiting.route.location(*waiting.pointer)),),
        help=("fix: write a match with the path alone for what is to get the rest",),
        field=path(holder.pointer),
    )
