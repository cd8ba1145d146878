"""What the rules on routing have in common: how sure, how bad, and which grant is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.model import Confidence, ResourceKey, Severity

if TYPE_CHECKING:
    from policylint.topology import ListenerState, Topology


def graded(unknown: object, severity: Severity = "error") -> tuple[Severity, Confidence]:
    """Severity and confidence: what rests on something unknown is never a defect."""
    return ("note", "unknown") if unknown else (severity, "certain")


def grant(referrer: ResourceKey, wanted: ResourceKey) -> str:
    """The ReferenceGrant that allows a reference, in words."""
    to = f"{wanted.kind} of group {wanted.group}" if wanted.group else wanted.kind
    trusted = f"from {referrer.kind} of group {referrer.group} in {referrer.namespace}"
    return f"add a ReferenceGrant to namespace {wanted.namespace}: {trusted}, to {to}"


def listeners(topology: Topology) -> Iterator[ListenerState]:
    """Every listener, those of Gateways first."""
    for gateway in topology.gateways:
        yield from gateway.listeners
    for listener_set in topology.listener_sets:
        yield from listener_set.listeners
