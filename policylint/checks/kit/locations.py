"""Where findings point: the token of a reference that a person would edit, and its path as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Location, Node, Resource, mapping
from policylint.policy.results import PolicyState, Target


def value_at(body: object, pointer: Pointer) -> Any:
    """The value at a pointer, None where nothing is."""
    for step in pointer:
        if isinstance(body, dict):
            body = body.get(step)
        elif isinstance(body, list) and isinstance(step, int) and step < len(body):
            body = body[step]
        else:
            return None
    return body


def written(body: object, pointer: Pointer) -> Pointer:
    """A pointer as far down as something is written."""
    while pointer and value_at(body, pointer) is None:
        pointer = pointer[:-1]
    return pointer


def entry(policy: Resource, target: Target) -> Mapping[str, Any]:
    """The reference as written."""
    return mapping(value_at(policy.body, target.pointer))


def at(holder: Resource, pointer: Pointer, *fields: str) -> Location:
    """The value of the first of the fields that a reference has, else the reference itself."""
    written = mapping(value_at(holder.body, pointer))
    name = next((each for each in fields if each in written), None)
    return holder.location(*pointer) if name is None else holder.location(*pointer, name)


def target_at(policy: Resource, target: Target) -> Location:
    """The name of a target; for a selector its labels."""
    return at(policy, target.pointer, "name", "selector", "matchLabels", "matchExpressions", "kind")


def target_of(state: PolicyState, node: Node) -> Location:
    """The reference through which a policy came to a node."""
    for target in state.targets:
        if node in target.nodes:
            return target_at(state.policy, target)
    return state.policy.name_location


def path(pointer: Pointer) -> str:
    """`spec.targetRefs[1].name`."""
    text = ""
    for step in pointer:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
