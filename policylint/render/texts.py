"""Texts anywhere in a value, as templates fill them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def map_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a value with every text in it, keys left out, replaced by what `change` returns for it."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: map_texts(inner, change) for name, inner in value.items()}
    return [map_texts(item, change) for item in value] if isinstance(value, list) else value
