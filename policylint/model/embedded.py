"""JSON that stands in a text of an object: key sets, documents of rules, configuration."""

from __future__ import annotations

from typing import Any


def json_in(value: object) -> Any:
    """Return the mapping or list that a text holds as JSON; None where it holds none, or one nested too deep."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return None
    import json

    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
