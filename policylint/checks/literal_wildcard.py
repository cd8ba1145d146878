"""GWP524: a rule of an AuthorizationPolicy with a `*` that stands for itself, so that no request meets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.checks.kit.locations import path
from policylint.checks.kit.mesh_policies import action
from policylint.documents import Pointer
from policylint.model import Finding, Resource, mapping, sequence, text
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.authorizing import stands_for_itself
from policylint.simulation import Simulation

RULE = "GWP524"
_NO_PATTERNS = ("ipBlocks", "notIpBlocks", "remoteIpBlocks", "notRemoteIpBlocks", "ports", "notPorts")


def check(simulation: Simulation) -> Iterator[Finding]:
    for policy in simulation.world.of_kind(*AUTHORIZATION):
        for pointer, value in _values(policy):
            if stands_for_itself(value):
                yield _finding(policy, pointer, value)


def _values(policy: Resource) -> Iterator[tuple[Pointer, str]]:
    """Yield the texts that rules compare requests with, but for those in which a `*` is never a pattern."""
    for index, rule in enumerate(map(mapping, sequence(policy.spec.get("rules")))):
        place: Pointer = ("spec", "rules", index)
        for field, inner in (("from", "source"), ("to", "operation")):
            for number, entry in enumerate(sequence(rule.get(field))):
                for name, values in mapping(mapping(entry).get(inner)).items():
                    if name not in _NO_PATTERNS:
                        yield from _texts((*place, field, number, inner, name), values)
        for number, condition in enumerate(map(mapping, sequence(rule.get("when")))):
            if not text(condition.get("key")).endswith((".ip", ".port")):
                for name in ("values", "notValues"):
                    yield from _texts((*place, "when", number, name), condition.get(name))


def _texts(place: Pointer, values: Any) -> Iterator[tuple[Pointer, str]]:
    """Yield the texts of a list, but for those that are meant to match what another one does as Istio reads it:
    `/dex/**` and `/dex/*/keys` beside `/dex/*`."""
    listed = [value for value in sequence(values) if isinstance(value, str)]
    for index, value in enumerate(sequence(values)):
        if isinstance(value, str) and not any(_takes_all(other, value) for other in listed):
            yield (*place, index), value


def _takes_all(pattern: str, meant: str) -> bool:
    """Return whether a text that Istio reads as a pattern takes all that another one was meant to match, in which any
    `*` is one."""
    if pattern.count("*") != 1 or "*" not in meant:
        return False
    begins, _, ends = pattern.partition("*")
    return (not ends and meant.partition("*")[0].startswith(begins)) or (
        not begins and meant.rpartition("*")[2].endswith(ends)
    )


def _finding(policy: Resource, pointer: Pointer, value: str) -> Finding:
    denies, negative = action(policy) == "DENY", str(pointer[-2]).startswith("not")
    effect = "what it was meant to match is not denied" if denies else "what it was meant to match is turned away"
    if negative:
        effect = "what it was meant to leave out is not left out"
    is_path = pointer[-2] in ("paths", "notPaths")
    return Finding(
        RULE,
        "warning",
        f"{policy.key} compares {pointer[-2]} with {value}, where * is a literal character: {effect}",
        policy.location(*pointer),
        resources=(policy.key,),
        label="a wildcard stands at the start or at the end, and nowhere else",
        help=("fix: for one segment of a path write `{*}`, for any number `{**}`",) if is_path else (),
        field=path(pointer),
    )
