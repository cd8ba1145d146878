"""Locations of findings: the token of a reference that a person would edit, and its path as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Finding, Location, Node, Resource, mapping
from policylint.model.resource import deepest_written, value_at
from policylint.model.resource import dotted as path
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation

__all__ = ["at", "deepest_written", "entry", "path", "target_at", "target_of", "targets", "value_at"]


def entry(policy: Resource, target: Target) -> Mapping[str, Any]:
    """Return the reference to a target as written."""
    return mapping(value_at(policy.body, target.pointer))


def at(holder: Resource, pointer: Pointer, *fields: str) -> Location:
    """Return where the first of some fields of a reference is written, else where the reference is."""
    reference = mapping(value_at(holder.body, pointer))
    name = next((field for field in fields if field in reference), None)
    return holder.location(*pointer) if name is None else holder.location(*pointer, name)


def target_at(policy: Resource, target: Target) -> Location:
    """Return where the name of a target is written; for a selector its labels."""
    return at(policy, target.pointer, "name", "selector", "matchLabels", "matchExpressions", "kind")


def target_of(state: PolicyState, node: Node) -> Location:
    """Return where the target that leads a policy to a node is written, else where the policy's name is."""
    for target in state.targets:
        if node in target.nodes:
            return target_at(state.policy, target)
    return state.policy.name_location


def targets(simulation: Simulation) -> Iterator[tuple[PolicyState, Target]]:
    """Yield every target, after its policy."""
    return ((state, target) for state in simulation.policies.values() for target in state.targets)


def unknown_target(
    rule: str, message: str, state: PolicyState, target: Target, location: Location, why: str
) -> Finding:
    """Return a note on a target of which not enough is known to judge it."""
    keys = (state.key, target.key)
    return Finding(
        rule, "note", message, location, resources=keys, label=why, confidence="unknown", field=path(target.pointer)
    )
