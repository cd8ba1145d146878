"""GWP603: a selector that selects everything: its key is none of a selector's, or it is left empty at a listener."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any

from policylint.checks.kit.locations import path
from policylint.documents import Pointer
from policylint.model import Finding, Resource, mapping, sequence, value_at
from policylint.network.kinds import CLUSTER, NETWORK_POLICY
from policylint.simulation import Simulation

RULE = "GWP603"
_SELECTOR = ("matchLabels", "matchExpressions")
_OF_V1ALPHA1 = ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy")
_OLD = "namespaceSelector"


def check(simulation: Simulation) -> Iterator[Finding]:
    for kind in (NETWORK_POLICY, *CLUSTER):
        for policy in simulation.world.of_kind(*kind):
            for pointer, key in _unknown(policy):
                open_ = not any(known in mapping(_at(policy.body, pointer)) for known in _SELECTOR)
                what = "and so it selects everything" if open_ else "and the rest selects more than was meant"
                was_one = _was_one(policy, pointer, key)
                if was_one and key == _OLD and not any(mapping(_at(policy.body, (*pointer, key))).values()):
                    continue  # it selected everything there, too
                yield Finding(
                    RULE,
                    "warning" if was_one else "error",
                    f"{policy.key} has {key} in a selector, which is no field of selectors: it is dropped, {what}",
                    policy.location(*pointer, key, key=True),
                    resources=(policy.key,),
                    label=_meant(pointer, key),
                    confidence="assumed" if was_one else "certain",
                    ground="the CRDs of releases up to 0.1.2 have this field" if was_one else "",
                    field=path((*pointer, key)),
                )

    for holder, place in _admitting(simulation):
        rule = mapping(mapping(value_at(holder.body, place)).get("namespaces"))
        selector = rule.get("selector")
        if rule.get("from") == "Selector" and isinstance(selector, dict) and not any(selector.values()):
            yield Finding(
                RULE,
                "note",
                f"{path(place)} of {holder.key} selects every namespace: its selector is empty",
                holder.location(*place, "namespaces", "selector", key=True),
                resources=(holder.key,),
                label="what selects nothing in particular selects all of them, as `from: All` does",
                help=("fix: write `from: All`, or the labels that are meant",),
                field=path((*place, "namespaces", "selector")),
            )


def _admitting(simulation: Simulation) -> Iterator[tuple[Resource, Pointer]]:
    """Yield the places where Gateways and ListenerSets say from which namespaces routes and ListenerSets may come."""
    topology = simulation.topology
    for gateway in topology.gateways:
        yield gateway.gateway, ("spec", "allowedListeners")
    of_sets = (state.listeners for state in topology.listener_sets)
    for listeners in chain((state.listeners for state in topology.gateways), of_sets):
        for listener in listeners:
            yield listener.holder, (*listener.pointer, "allowedRoutes")


def _at(body: Any, pointer: Pointer) -> Any:
    for step in pointer:
        body = body[step]
    return body


def _was_one(policy: Resource, pointer: Pointer, key: str) -> bool:
    """Return whether peers had a key where they name namespaces: until 0.1.5 (apis/v1alpha1/shared_types.go)."""
    is_peer = pointer[-1] == "namespaces" and "subject" not in pointer[:2]
    return is_peer and policy.key.kind in _OF_V1ALPHA1 and key in (_OLD, "sameLabels", "notSameLabels")


def _meant(pointer: Pointer, key: str) -> str:
    if pointer[-1] == "namespaces" and key == _OLD:
        return "releases up to 0.1.2 had this level in peers; later CRDs have matchLabels here"
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
