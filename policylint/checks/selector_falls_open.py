"""GWP603: a key in a selector of a network policy that no selector knows: it is dropped, and selects everything."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import path
from policylint.documents import Pointer
from policylint.model import Finding, Resource, mapping, sequence
from policylint.network.kinds import CLUSTER, NETWORK_POLICY
from policylint.simulation import Simulation

RULE = "GWP603"
_SELECTOR = ("matchLabels", "matchExpressions")


def check(simulation: Simulation) -> Iterator[Finding]:
    for kind in (NETWORK_POLICY, *CLUSTER):
        for policy in simulation.world.of_kind(*kind):
            for pointer, key in _unknown(policy):
                open_ = not any(known in mapping(_at(policy.body, pointer)) for known in _SELECTOR)
                what = "and so it selects everything" if open_ else "and the rest selects more than was meant"
                yield Finding(
                    RULE,
                    "error",
                    f"{policy.key} has {key} in a selector, which is no field of selectors: it is dropped, {what}",
                    policy.location(*pointer, key, key=True),
                    resources=(policy.key,),
                    label=_meant(pointer, key),
                    field=path((*pointer, key)),
                )


def _at(body: Any, pointer: Pointer) -> Any:
    for step in pointer:
        body = body[step]
    return body


def _meant(pointer: Pointer, key: str) -> str:
    if pointer[-1] == "namespaces" and key == "namespaceSelector":
        return "early drafts had this level; a released CRD has matchLabels here"
    return "a selector has matchLabels and matchExpressions"


def _unknown(policy: Resource) -> Iterator[tuple[Pointer, str]]:
    """Yield (selector, key) of every key that a selector does not have."""
    spec: Pointer = ("spec",)
    if policy.key.kind == NETWORK_POLICY[1]:
        yield from _others(policy.spec, (*spec, "podSelector"), _SELECTOR)
    else:
        yield from _of_pods(mapping(policy.spec.get("subject")), (*spec, "subject"))
    for direction, field in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(sequence(policy.spec.get(direction))):
            for number, peer in enumerate(sequence(mapping(rule).get(field))):
                place = (*spec, direction, index, field, number)
                if policy.key.kind == NETWORK_POLICY[1]:
                    for selector in ("podSelector", "namespaceSelector"):
                        yield from _others(mapping(peer), (*place, selector), _SELECTOR)
                else:
                    yield from _of_pods(mapping(peer), place)


def _of_pods(holder: Mapping[str, Any], place: Pointer) -> Iterator[tuple[Pointer, str]]:
    yield from _others(holder, (*place, "namespaces"), _SELECTOR)
    pods = mapping(holder.get("pods"))
    for selector in ("namespaceSelector", "podSelector"):
        yield from _others(pods, (*place, "pods", selector), _SELECTOR)


def _others(holder: Mapping[str, Any], place: Pointer, known: Collection[str]) -> Iterator[tuple[Pointer, str]]:
    for key in mapping(holder.get(str(place[-1]))):
        if key not in known:
            yield place, key
