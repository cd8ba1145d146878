"""Apache APISIX: route policies of a rule that differ in priority knock each other out.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4.
"""

from __future__ import annotations

from collections import defaultdict

from policylint.implementations.generic import Attachments, Implementation
from policylint.model import PolicyKind, Resource, ResourceKey
from policylint.policy.results import Attachment, Refusal


class Apisix(Implementation):
    """HTTPRoutePolicy; the other kinds follow their catalog entries."""

    name = "apisix"

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Refuse all policies of a rule, or of its route, that differ in priority: a rule has only one."""
        kept, refused = super().claims(kind, attached)
        if kind.kind != "HTTPRoutePolicy":
            return kept, refused
        by_object: dict[ResourceKey, list[Attachment]] = defaultdict(list)
        for node, attachments in kept.items():
            by_object[node.key] += attachments
        rivals: dict[ResourceKey, ResourceKey] = {}
        for attachments in by_object.values():
            for section in {attachment.node.section for attachment in attachments}:
                together = [each.policy for each in attachments if each.node.section in ("", section)]
                for policy in together:
                    rival = next((each for each in together if _priority(each) != _priority(policy)), None)
                    if rival is not None:
                        rivals.setdefault(policy.key, rival.key)
        for node, attachments in kept.items():  # the age of neither matters, so that there is no order to state
            refused += [Refusal(each, rivals[each.key], True) for each in attachments if each.key in rivals]
            kept[node] = [each for each in attachments if each.key not in rivals]
        return kept, refused


def _priority(policy: Resource) -> object:
    return policy.spec.get("priority") or 0
