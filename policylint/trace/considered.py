"""What a trace says beside its outcome: the rules and Gateways that were considered, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policylint.model import GATEWAY_GROUP, Node, ResourceKey
from policylint.model.words import leading
from policylint.topology import whole
from policylint.topology.hostnames import specificity
from policylint.trace.precedence import RuleCandidate, because, criterion
from policylint.trace.result import Considered, Share, Trace

_MOST_CONSIDERED = 8


def ends(shares: Iterable[Share]) -> Iterator[Node]:
    """Yield backends, and the ports of them that requests go to."""
    for share in shares:
        yield whole(share.key)
        if share.section is not None:
            yield share.section


def ambiguous(name: str, kind: str, matching: Sequence[ResourceKey], known: Iterable[ResourceKey]) -> str:
    """Return why a name is not one object: several match, or none, with the most similar one."""
    from policylint.model.spelling import alike, spelled

    if matching:
        return f"{len(matching)} objects fit {name!r}: {', '.join(map(spelled, matching[:5]))}"
    close = alike(name, known, 1)
    return f"there is no {kind} {name!r}" + (f" (did you mean {close[0]}?)" if close else "")


def preference(trace: Trace) -> tuple[int, tuple[int, ...], ResourceKey]:
    """Return a sort key: the Gateway where the request gets furthest, then the most specific listener."""
    outcome = trace.outcome
    if outcome.answered:
        rank = 0
    elif trace.rule is not None:
        rank = 1
    elif outcome.refused:
        rank = 5
    elif trace.listener is None:
        rank = 4
    else:
        rank = 2 if outcome.unknown else 3
    narrow = specificity(trace.listener.hostname) if trace.listener is not None else (-1, 0)
    key = trace.gateway or ResourceKey(GATEWAY_GROUP, "Gateway", "", "")
    return rank, tuple(-part for part in narrow), key


def other_gateways(best: Trace, traces: Sequence[Trace]) -> list[str]:
    """Return a note on the other Gateways that would answer the request."""
    others = [trace for trace in traces if trace.gateway != best.gateway and trace.rule is not None]
    names = leading((trace.gateway for trace in others), 3)
    return [f"{names} would answer it too; --gateway chooses"] if others else []


def others_considered(winner: RuleCandidate, fitting: Sequence[RuleCandidate]) -> tuple[Considered, ...]:
    """Return the other rules that match, each once, by precedence."""
    considered: dict[Node, Considered] = {}
    taking = {each.rule.node for each in (winner, *winner.equals)}
    for candidate in fitting:
        if candidate.rule.node not in taking and candidate.rule.node not in considered:
            reason = because(winner, candidate)
            considered[candidate.rule.node] = Considered(
                candidate.rule.node, reason, candidate.route, candidate.pointer
            )
    return tuple(considered.values())[:_MOST_CONSIDERED]


def notes_on(
    winner: RuleCandidate, fitting: Sequence[RuleCandidate], evaluated: Sequence[RuleCandidate]
) -> Iterable[str]:
    """Yield the assumptions behind a result: an order that no manifest states, a narrower host without a match."""
    taking = {each.route.key for each in (winner, *winner.equals)}
    second = next((candidate for candidate in fitting if candidate.route.key not in taking), None)
    if second is not None and criterion(winner, second) in ("name", "kind") and not winner.route.created:
        yield f"{second.route.key} matches as well; of equals the older route wins, and no manifest says which is"
    width = specificity(winner.hostname)
    narrower = next((each for each in evaluated if specificity(each.hostname) > width and not each.unmade), None)
    if narrower is not None:
        yield (
            f"{narrower.route.key} serves {narrower.hostname} but no rule of it matches; gateways that choose the host "
            "first answer 404 here"
        )
    stated = "precedence" in winner.rule.body and winner.route.key.group != GATEWAY_GROUP
    if not stated and any(condition.name == "path" for condition in winner.match.expressions):
        yield "where regular expressions rank is up to the implementation (HTTPPathMatch)"
