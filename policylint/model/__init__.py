"""The vocabulary of all other rooms: keys, resources, worlds, policy kinds, findings."""

from __future__ import annotations

from policylint.model.finding import SEVERITIES, Confidence, Finding, Related, Severity
from policylint.model.keys import (
    GATEWAY_GROUP,
    ROUTE_KINDS,
    UNKNOWN_NAMESPACE,
    Node,
    ResourceKey,
    holds_variable,
    is_symbolic,
)
from policylint.model.policy_kind import PolicyKind
from policylint.model.resolution import Resolution
from policylint.model.resource import Location, Resource, Spot, integer, mapping, sequence, text, texts, value_at
from policylint.model.unseen import Unseen
from policylint.model.world import World

__all__ = [
    "GATEWAY_GROUP",
    "ROUTE_KINDS",
    "SEVERITIES",
    "UNKNOWN_NAMESPACE",
    "Confidence",
    "Finding",
    "Location",
    "Node",
    "PolicyKind",
    "Related",
    "Resolution",
    "Resource",
    "ResourceKey",
    "Severity",
    "Spot",
    "Unseen",
    "World",
    "holds_variable",
    "integer",
    "is_symbolic",
    "mapping",
    "sequence",
    "text",
    "texts",
    "value_at",
]
