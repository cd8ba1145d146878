"""Apache APISIX: route policies of a rule that differ in priority knock each other out.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4.
"""

from __future__ import annotations

from collections import defaultdict

from policylint.implementations.generic import Implementation
from policylint.model import Node, PolicyKind, ResourceKey
from policylint.policy.results import Attachment, Refusal


class Apisix(Implementation):
    """HTTPRoutePolicy; the other kinds behave as the catalog says."""

    name = "apisix"

    def claims(
        self, kind: PolicyKind, attached: dict[Node, list[Attachment]]
    ) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
        """A rule has one priority: where policies of it, or of its route, name two, none of them is taken."""
        kept, refused = super().claims(kind, attached)
        if kind.kind != "HTTPRoutePolicy":
            return kept, refused
        by_object: dict[ResourceKey, list[Attachment]] = defaultdict(list)
        for node, attachments in kept.items():
            by_object[node.key] += attachments
        rivals: dict[ResourceKey, ResourceKey] = {}
        for attachments in by_object.values():
            for section in {each.node.section for each in attachments}:
                together = [each for each in attachments if each.node.section in ("", section)]
                for each in together:
                    other = next((one for one in together if _priority(one) != _priority(each)), None)
                    if other is not None:
                        rivals.setdefault(each.key, other.key)
        for attachments in kept.values():  # the age of neither matters, so that there is no order to state
            refused += [Refusal(each, rivals[each.key], True) for each in attachments if each.key in rivals]
        staying = {node: [each for each in of if each.key not in rivals] for node, of in kept.items()}
        return staying, refused


def _priority(attachment: Attachment) -> object:
    return attachment.policy.spec.get("priority") or 0
