"""The fields of an AgentgatewayPolicy and who prevails in each.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4, agentgateway.

traffic: Gateway < ListenerSet < listener < Service < route < rule; a more specific field replaces a broader one, unless
a policy with strategy.inheritance Override has set that very field, which locks it. Authorization adds up until a lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Attachment, Effective

BLOCKS = ("frontend", "traffic", "backend")
_IN_PARTS: frozenset[Pointer] = frozenset({("backend", "mcp"), ("traffic", "rateLimit")})
"""Fields that hold several policies of the data plane."""
_ADDING: Pointer = ("traffic", "authorization")


def merged(stack: Stack) -> Effective:
    """Return the effective policy of a stack that runs from the least to the most specific attachment."""
    folding = Folding()
    for block in BLOCKS:
        setting: dict[Pointer, list[tuple[Attachment, Any]]] = {}
        for attachment in _order(block, stack.attachments):
            for field, value in _fields(block, attachment.declared[0].proper):
                setting.setdefault(field, []).append((attachment, value))
        for field in sorted(setting, key=str):
            _offer(folding, field, setting[field])
    return folding.effective(stack.attachments)


def _locks(attachment: Attachment) -> bool:
    """Tell whether a policy locks the fields of its `traffic` for all that is more specific."""
    return mapping(attachment.policy.spec.get("strategy")).get("inheritance") == "Override"


def _order(block: str, attachments: tuple[Attachment, ...]) -> list[Attachment]:
    """Sort from the least to the most specific, of one node the oldest last; for traffic a Service is below routes."""
    nodes: dict[object, list[Attachment]] = {}
    for attachment in attachments:
        nodes.setdefault(attachment.node, []).append(attachment)
    ordered = [attachment for of_node in nodes.values() for attachment in reversed(of_node)]
    if block == "traffic":
        ordered.sort(key=_rank)
    return ordered


def _rank(attachment: Attachment) -> int:
    kind = attachment.node.key.kind
    return 2 if kind.endswith("Route") else 0 if kind in ("Gateway", "ListenerSet", "XListenerSet") else 1


def _fields(block: str, proper: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    for name, value in mapping(proper.get(block)).items():
        if (block, name) in _IN_PARTS and isinstance(value, dict):
            yield from (((block, name, part), inner) for part, inner in value.items())
        elif value is not None:
            yield (block, name), value


def _offer(folding: Folding, field: Pointer, setting: list[tuple[Attachment, Any]]) -> None:
    """Offer a field from its strongest policy on; `setting` runs from the least specific."""
    lock = next((index for index, (each, _) in enumerate(setting) if field[0] == "traffic" and _locks(each)), None)
    if field == _ADDING:
        adding = setting if lock is None else setting[: lock + 1]
        for attachment, value in adding:
            if len(adding) == 1:
                folding.offer(attachment, field, value)
            else:
                folding.join(attachment, field, [value])
        for attachment, value in setting[len(adding) :]:
            folding.lose(attachment, field, value, folding.holders(field))
        return
    strongest = list(reversed(setting))
    if lock is not None:
        strongest.insert(0, strongest.pop(len(setting) - 1 - lock))
    for attachment, value in strongest:
        folding.offer(attachment, field, value)
