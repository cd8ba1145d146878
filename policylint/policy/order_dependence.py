"""Results that hang on a creation order which no manifest states, and what the other order would give.

Source: docs/design/semantics.md §6, trap 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from policylint.model import Node, PolicyKind, ResourceKey
from policylint.policy.folding import Merger, Stack
from policylint.policy.results import Attachment, Effective, OrderDependence


def order_dependence(kind: PolicyKind, kept: Mapping[Node, list[Attachment]], merger: Merger) -> list[OrderDependence]:
    """Return every pair of neighbours on one node whose merge comes out differently the other way round.

    Policies that act each by itself have no order.
    """
    from policylint.policy.order import order_stated

    dependent: list[OrderDependence] = []
    if kind.merge.strategy == "each":
        return dependent
    for node in sorted(kept):
        attachments = kept[node]
        for older, younger in pairwise(attachments):
            if older.key == younger.key or order_stated(older.policy, younger.policy):
                continue
            as_is = merger(Stack(kind, (older, younger)))
            reversed_ = merger(Stack(kind, (younger, older)))
            if as_is.spec != reversed_.spec:
                winner, otherwise = _differing(as_is, reversed_)
                dependent.append(OrderDependence(kind, node, (older.key, younger.key), winner, otherwise))
    return dependent


def _differing(as_is: Effective, reversed_: Effective) -> tuple[ResourceKey, ResourceKey]:
    """Return who owns the first setting that the two orders give to different policies, and who otherwise would."""
    for pointer in sorted(as_is.owners, key=str):
        other = reversed_.owners.get(pointer)
        if other is not None and other != as_is.owners[pointer]:
            return as_is.owners[pointer], other
    winner = as_is.sources[0] if as_is.sources else as_is.stack[-1].key
    return winner, next((attachment.key for attachment in as_is.stack if attachment.key != winner), winner)
