"""Images of containers: which program they are, and which release of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import text


def image_of(container: Mapping[str, Any]) -> tuple[str, str]:
    """Return the repository of a container's image, and its tag, "" without one: a digest is none, nor is the port of a
    registry."""
    name = text(container.get("image")).partition("@")[0]
    repository, colon, tag = name.rpartition(":")
    return (repository, tag) if colon and "/" not in tag else (name, "")
