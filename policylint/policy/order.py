"""Creation order, and who claims a target first where only one policy may have it."""

from __future__ import annotations

from collections.abc import Iterable

from policylint.model import Node, PolicyKind, Resource, ResourceKey
from policylint.model.resource import NEW
from policylint.policy.results import Attachment, Refusal


def order_stated(one: Resource, other: Resource) -> bool:
    """Return whether the manifests themselves (or, in a diff, the change) say which of two policies is older."""
    if (one.created == NEW) != (other.created == NEW):
        return True
    return bool(one.created and other.created and one.created != other.created)


def by_age(attachments: Iterable[Attachment]) -> list[Attachment]:
    """Return attachments in creation order."""
    return sorted(attachments, key=lambda attachment: attachment.policy.age)


def claims(
    kind: PolicyKind, attached: dict[Node, list[Attachment]]
) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
    """Apply the kind's conflict rule; return by node the attachments that keep it, and those refused.

    * none: all stay, in creation order; they merge.
    * same-target: the oldest keeps the node, the others are Conflicted (GEP-713 strategy None, Envoy Gateway,
      BackendTLSPolicy). Another section of the object is another target.
    * section-first: as same-target, but whoever has a section keeps the policies on the whole object off it (GEP-713 of
      2023, «Apply Policies to Sections of a Resource»).
    * same-target-strictly-older: as same-target, but a rival of the same second refuses nobody (Kuadrant DNS and TLS,
      trap 21).
    """
    kept: dict[Node, list[Attachment]] = {}
    refused: list[Refusal] = []
    sectioned: dict[ResourceKey, Attachment] = {}
    if kind.conflict == "section-first":
        for attachments in (attached[node] for node in sorted(attached) if node.section):
            sectioned.update((attachment.node.key, attachment) for attachment in by_age(attachments)[:1])
    for node in sorted(attached):
        ordered = by_age(attached[node])
        if kind.conflict not in ("same-target", "section-first", "same-target-strictly-older"):
            kept[node] = ordered
            continue
        holder = None if node.section else sectioned.get(node.key)
        if holder is not None:
            refused += (Refusal(each, holder.key, True) for each in ordered if each.key != holder.key)
            kept[node] = [each for each in ordered if each.key == holder.key]
            continue
        staying: list[Attachment] = []
        for younger in ordered:
            rivals = (older for older in staying if older.key != younger.key and _refuses(kind, older, younger))
            rival = next(rivals, None)
            if rival is None:
                if not any(older.key == younger.key for older in staying):
                    staying.append(younger)
            else:
                refused.append(Refusal(younger, rival.key, order_stated(rival.policy, younger.policy)))
        kept[node] = staying
    return kept, refused


def _refuses(kind: PolicyKind, older: Attachment, younger: Attachment) -> bool:
    if kind.conflict != "same-target-strictly-older":
        return True
    return older.policy.created < younger.policy.created if younger.policy.created else bool(older.policy.created)
