"""Values of manifests in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_TELLING = ("issuer", "allowOrigins", "requests", "limit", "unit", "requestTimeout", "url", "cidr", "clientCIDRs")
"""Leaves that tell most; shown first."""
_DULL = frozenset({"name", "type", "kind", "group", "namespace", "key"})


def scalar(value: Any) -> str:
    """Return a value as YAML would write it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def telling(value: Any) -> str:
    """Return a mapping or list by the leaves that tell most."""
    if isinstance(value, dict) and {"requests", "unit"} <= value.keys():
        return f"{scalar(value['requests'])}/{scalar(value['unit']).lower()}"
    leaves = list(_leaves(value, ""))
    if not leaves:
        return "{}" if isinstance(value, dict) else "[]"
    if _is_flat(value):
        return ", ".join(map(scalar, value))
    leaves.sort(key=lambda leaf: (_TELLING.index(leaf[0]) if leaf[0] in _TELLING else 99, leaf[0] in _DULL))
    return ", ".join(f"{name} {text}".strip() for name, text in leaves[:4])


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(entry, (dict, list)) for entry in value)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif value and _is_flat(value):
        yield name, ", ".join(map(scalar, value[:3]))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif value is not None:
        yield name, scalar(value)
