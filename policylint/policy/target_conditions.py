"""Conditions that controllers write on what their policies target: `<Kind>Affected`.

Source: GEP-713, docs/design/semantics.md §1, rule 40.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.topology import Condition, whole


class TargetCondition(NamedTuple):
    """One condition on an object that policies act on.

    Args:
        node: an object, or a listener of one.
        condition: of the type that the catalog calls `targetCondition`.
        policies: those that the condition is there for.
        controller: whose entry in status.parents of a route holds it; "" for the entries that are there anyway.
        gateway: the Gateway of that entry, None where `controller` is "".
    """

    node: Node
    condition: Condition
    policies: tuple[ResourceKey, ...]
    controller: str = ""
    gateway: ResourceKey | None = None


def of_targets(states: Iterable[PolicyState]) -> Iterator[TargetCondition]:
    """Yield the condition of one kind once for everything that its policies are attached to, whatever became of them.

    As NGINX Gateway Fabric does, which loops over all policies whose targets it has
    (docs/design/implementations/kgateway-nginx-gloo.md §1.6).
    """
    targeted: dict[Node, set[ResourceKey]] = {}
    name = kind = ""
    for state in states:
        name, kind = state.kind.target_condition, state.kind.kind
        for target in state.targets:
            for node in target.nodes:
                place = node if node.role == "Listener" or not node.section else whole(node.key)
                targeted.setdefault(place, set()).add(state.key)
    if name:
        condition = Condition(name, "True", "PolicyAffected", f"The {kind} is applied to the resource")
        for node, keys in sorted(targeted.items()):
            yield TargetCondition(node, condition, tuple(sorted(keys)))
