"""Whether a rule takes requests that another one answered before (docs/design/request-precedence.md §4).

Only what is certain: of two matches that some request meets, the one that comes first gets it. Regular expressions,
whose requests nobody can enumerate, take over only what was written in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import Node, Resource, mapping, sequence, text
from policylint.topology.routes import rules
from policylint.trace.matching import Match, matches, path_of, takes_prefix

_PLAIN = ("", "Exact")


def takes_over(holder: Resource, rule: Node, former_holder: Resource, former: Node) -> bool:
    """Whether a rule of a route gets requests that a rule of the same route got before."""
    mine, theirs = _matches(holder, rule), _matches(former_holder, former)
    return any(_precedes(one, other) and _meets(one, other) for one in mine for other in theirs)


def _matches(holder: Resource, rule: Node) -> list[Match]:
    number = next((each.number for each in rules(holder) if each.node.section == rule.section), None)
    if number is None or holder.key.kind not in ("HTTPRoute", "GRPCRoute"):
        return []
    return matches(mapping(sequence(holder.spec.get("rules"))[number]), grpc=holder.key.kind == "GRPCRoute")


def _precedes(one: Match, other: Match) -> bool:
    """Of equals the first rule wins, and a new one may stand first."""
    return one.weights >= other.weights


def _meets(one: Match, other: Match) -> bool:
    """Whether there is a request that meets both."""
    if one.grpc:
        paths = _meets_call(mapping(one.value.get("method")), mapping(other.value.get("method")))
    else:
        paths = _meets_path(path_of(one.value), path_of(other.value)) and _agree(one.value, other.value)
    return paths and not any(
        _excludes(one.value.get(each), other.value.get(each)) for each in ("headers", "queryParams")
    )


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    mine, theirs = text(one.get("method")), text(other.get("method"))
    return not mine or not theirs or mine == theirs


def _meets_path(one: tuple[str, str], other: tuple[str, str]) -> bool:
    match (one[0], other[0]):
        case ("PathPrefix", "PathPrefix"):
            return takes_prefix(one[1], other[1]) or takes_prefix(other[1], one[1])
        case ("PathPrefix", "Exact"):
            return takes_prefix(one[1], other[1])
        case ("Exact", "PathPrefix"):
            return takes_prefix(other[1], one[1])
        case _:
            return one == other


def _meets_call(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    kinds = {text(each.get("type")) or "Exact" for each in (one, other)}
    if kinds != {"Exact"}:
        return one == other
    return all(not one.get(each) or not other.get(each) or one[each] == other[each] for each in ("service", "method"))


def _excludes(one: object, other: object) -> bool:
    """Whether two lists of conditions want different values of one name."""
    mine = {text(mapping(each).get("name")).lower(): mapping(each) for each in sequence(one)}
    for each in map(mapping, sequence(other)):
        twin = mine.get(text(each.get("name")).lower())
        if twin is None or text(twin.get("type")) not in _PLAIN or text(each.get("type")) not in _PLAIN:
            continue
        if twin.get("value") != each.get("value"):
            return True
    return False
