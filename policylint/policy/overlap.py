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
    """Return by node the attachments that keep it, and those refused.

    From the oldest on, every policy stays that shares no conflict field with an older one on any of its targets.
    """
    fields = [tuple(path.split(".")) for path in kind.conflict_fields]
    everything = by_age(attachment for node in sorted(attached) for attachment in attached[node])
    by_policy: dict[ResourceKey, list[Attachment]] = {}
    for attachment in everything:
        by_policy.setdefault(attachment.key, []).append(attachment)
    kept: dict[Node, list[Attachment]] = {node: [] for node in sorted(attached)}
    refused: list[Refusal] = []
    for attachments in by_policy.values():
        both = ((older, younger) for younger in attachments for older in kept[younger.node])
        rivals = (older for older, own in both if any(_sets(older, each) and _sets(own, each) for each in fields))
        rival = next(rivals, None)
        for attachment in attachments:
            if rival is not None:
                refused.append(Refusal(attachment, rival.key, order_stated(rival.policy, attachment.policy)))
            elif all(older.key != attachment.key for older in kept[attachment.node]):
                kept[attachment.node].append(attachment)
    return kept, refused


def _sets(attachment: Attachment, field: Pointer) -> bool:
    return any(holds(declared.proper, field) for declared in attachment.declared)
