"""What PeerAuthentications of a mesh state: the modes of mutual TLS of pods and of single ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import mapping, text


def modes(spec: Mapping[str, Any]) -> list[str]:
    """Return the modes that a policy, or what is effective of several, states for all ports and for single ones."""
    slots = (spec.get("mtls"), *mapping(spec.get("portLevelMtls")).values())
    return [text(mapping(slot).get("mode")) for slot in slots if slot]
