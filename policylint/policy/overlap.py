"""Conflict by overlap: policies of one target may share no setting; of two that do the younger is off everywhere.

docs/design/implementations/kgateway-nginx-gloo.md §1.3. The verdict is on the policy, not on the attachment: who loses
on one target is off on all its targets, and no longer in anybody's way.
"""

from __future__ import annotations

from policylint.documents import Pointer
from policylint.model import Node, PolicyKind, ResourceKey
from policylint.policy.order import by_age, order_stated
from policylint.policy.results import Attachment, Refusal, holds


def overlap_claims(
    kind: PolicyKind, attached: dict[Node, list[Attachment]]
) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
    """Who keeps a node: from the oldest on, everybody who shares no conflict field with an older one on a target."""
    fields = [tuple(path.split(".")) for path in kind.conflict_fields]
    everything = by_age(each for node in sorted(attached) for each in attached[node])
    by_policy: dict[ResourceKey, list[Attachment]] = {}
    for each in everything:
        by_policy.setdefault(each.key, []).append(each)
    kept: dict[Node, list[Attachment]] = {node: [] for node in sorted(attached)}
    refused: list[Refusal] = []
    for attachments in by_policy.values():
        rivals = (older for each in attachments for older in kept[each.node] if _overlap(fields, older, each))
        rival = next(rivals, None)
        for each in attachments:
            if rival is not None:
                refused.append(Refusal(each, rival.key, order_stated(rival.policy, each.policy)))
            elif all(other.key != each.key for other in kept[each.node]):
                kept[each.node].append(each)
    return kept, refused


def _overlap(fields: list[tuple[str, ...]], one: Attachment, other: Attachment) -> bool:
    return any(_sets(one, field) and _sets(other, field) for field in fields)


def _sets(attachment: Attachment, field: Pointer) -> bool:
    return any(holds(declared.proper, field) for declared in attachment.declared)
