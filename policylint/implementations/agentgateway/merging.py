"""The fields of an AgentgatewayPolicy and who prevails in each.

Source: docs/design/implementations/kgateway-nginx-gloo.md §4, agentgateway.

traffic: Gateway < ListenerSet < listener < Service < route < rule; a more specific field replaces a broader one, unless
a policy with strategy.inheritance Override has set that very field, which locks it. Authorization adds up until a lock.
What acts before routing (`phase: PreRouting`) and what acts after it never meet.
backend: Gateway < listener < Service or backend < its port < route < rule < a provider of a backend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Attachment, Effective

BLOCKS = ("frontend", "traffic", "backend")
EARLY = "preRouting"
"""The block of an effective policy for what acts before routing, of fields that are set for after routing, too."""
_IN_PARTS: frozenset[Pointer] = frozenset(
    {("backend", "ai"), ("backend", "mcp"), ("traffic", "headerModifiers"), ("traffic", "rateLimit")}
)
"""Fields that hold several policies of the data plane, or one that it merges field by field (merge_llm_policies)."""
_ADDING: frozenset[Pointer] = frozenset(
    {
        ("backend", "mcp", "authorization"),
        ("frontend", "networkAuthorization"),
        ("traffic", "authorization"),
        (EARLY, "authorization"),
    }
)
_BROADEST_FIRST: Pointer = ("traffic", "buffer")
"""The field of which the broadest prevails (set_if_unset on the way from the Gateway to the rule)."""
LISTENER_SETS = ("ListenerSet", "XListenerSet")
_Settings = dict[Pointer, list[tuple[Attachment, Any]]]


def merged(stack: Stack) -> Effective:
    """Return the effective policy of a stack that runs from the least to the most specific attachment."""
    folding = Folding()
    early, late = _phases(stack.attachments)
    settings: _Settings = {}
    for block, attachments in (("frontend", stack.attachments), ("traffic", late), ("backend", stack.attachments)):
        settings |= _settings(block, attachments)
    for (_, *rest), setting in _settings("traffic", early).items():
        late_too = ("traffic", *rest) in settings
        if rest == ["phase"] and late:
            continue
        settings[(EARLY if late_too else "traffic", *rest)] = setting
    for field in sorted(settings, key=str):
        _offer(folding, field, settings[field])
    return folding.effective(stack.attachments)


def is_passed_over(attachment: Attachment) -> bool:
    """Tell whether a policy sets nothing that is looked up where it is attached: `backend` alone, on a ListenerSet."""
    blocks = attachment.declared[0].proper.keys() & set(BLOCKS)
    return attachment.node.key.kind in LISTENER_SETS and blocks == {"backend"}


def locks(attachment: Attachment) -> bool:
    """Tell whether a policy locks the fields of its `traffic` for all that is more specific."""
    inheritance = mapping(attachment.policy.spec.get("strategy")).get("inheritance")
    return inheritance == "Override" and not _is_early(attachment)


def _phases(attachments: tuple[Attachment, ...]) -> tuple[tuple[Attachment, ...], tuple[Attachment, ...]]:
    """Return the attachments with settings that act before routing, and those with settings that act after it."""
    setting = [attachment for attachment in attachments if mapping(attachment.declared[0].proper.get("traffic"))]
    early = tuple(attachment for attachment in setting if _is_early(attachment))
    return early, tuple(attachment for attachment in setting if not _is_early(attachment))


def _is_early(attachment: Attachment) -> bool:
    return mapping(attachment.policy.spec.get("traffic")).get("phase") == "PreRouting"


def _settings(block: str, attachments: tuple[Attachment, ...]) -> _Settings:
    """Return who sets each field of a block, the least specific first."""
    settings: _Settings = {}
    for attachment in _order(block, attachments):
        for field, value in _fields(block, attachment.declared[0].proper):
            settings.setdefault(field, []).append((attachment, value))
    return settings


def _order(block: str, attachments: tuple[Attachment, ...]) -> list[Attachment]:
    """Sort from the least to the most specific, of one node the oldest last."""
    nodes: dict[object, list[Attachment]] = {}
    for attachment in attachments:
        nodes.setdefault(attachment.node, []).append(attachment)
    ordered = [attachment for of_node in nodes.values() for attachment in reversed(of_node)]
    if block == "traffic":
        ordered.sort(key=_rank_of_traffic)
    elif block == "backend":
        ordered = [attachment for attachment in ordered if attachment.node.key.kind not in LISTENER_SETS]
        ordered.sort(key=_rank_of_backends)
    return ordered


def _rank_of_traffic(attachment: Attachment) -> int:
    """Rank a Service below routes (binds.rs, route_policies)."""
    kind = attachment.node.key.kind
    return 2 if kind.endswith("Route") else 0 if kind in ("Gateway", *LISTENER_SETS) else 1


def _rank_of_backends(attachment: Attachment) -> int:
    """Rank a Service or backend below routes, and a provider above them (binds.rs, internal_backend_policies).

    Providers are looked up later, and their policies laid over the others (`BackendPolicies::merge`). The comment of
    the type says that a backend wins over routes.
    """
    kind = attachment.node.key.kind
    if kind.endswith("Route"):
        return 2
    if kind == "Gateway":
        return 0
    return 3 if attachment.node.section and kind == "AgentgatewayBackend" else 1


def _fields(block: str, proper: Mapping[str, Any]) -> Iterator[tuple[Pointer, Any]]:
    for name, value in mapping(proper.get(block)).items():
        if (block, name) in _IN_PARTS and isinstance(value, dict):
            yield from (((block, name, part), inner) for part, inner in value.items())
        elif value is not None:
            yield (block, name), value


def _offer(folding: Folding, field: Pointer, setting: list[tuple[Attachment, Any]]) -> None:
    """Offer a field from its strongest policy on; `setting` runs from the least specific."""
    locked = field[0] == "traffic" and field != _BROADEST_FIRST
    lock = next((index for index, (attachment, _) in enumerate(setting) if locked and locks(attachment)), None)
    if field in _ADDING:
        adding = setting if lock is None else setting[: lock + 1]
        for attachment, value in adding:
            if len(adding) == 1:
                folding.offer(attachment, field, value)
            else:
                folding.join(attachment, field, [value])
        for attachment, value in setting[len(adding) :]:
            folding.lose(attachment, field, value, folding.holders(field))
        return
    strongest = setting if field == _BROADEST_FIRST else list(reversed(setting))
    if lock is not None:
        strongest.insert(0, strongest.pop(len(setting) - 1 - lock))
    for attachment, value in strongest:
        folding.offer(attachment, field, value)
