"""Whether two values say the same, however they are written: `60s` and `1m`, `1Gi` and `1024Mi`, networks in halves,
blanks at ends."""

from __future__ import annotations

import json
from typing import Any

from policylint.model.quantities import milliseconds, number_of_bytes
from policylint.spaces.addresses import cidr, joined

_SUFFIXES = ("k", "M", "G", "i")
"""How quantities end that other ones may equal: `1Gi` is `1024Mi`."""


def same_value(left: Any, right: Any) -> bool:
    """Return whether two values are equal as JSON has it, `1` is not `true`, or say the same."""
    return encoded(left) == encoded(right) or encoded(meaning(left)) == encoded(meaning(right))


def encoded(value: object) -> str:
    """Return a value as a text that equal values alone share, whatever the order of their fields."""
    return json.dumps(value, sort_keys=True, default=str)


def meaning(value: Any) -> Any:
    """Return a value as one of all that say the same."""
    if isinstance(value, dict):
        return {name: meaning(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return _addresses(value) or [meaning(each) for each in value]
    if not isinstance(value, str):
        return value
    length = milliseconds(value)
    if length is not None:
        return f"{length}ms"
    if value[-1:] in _SUFFIXES and (size := number_of_bytes(value)) is not None:
        return size
    if networks := _addresses([each.strip() for each in value.split(",")]):
        return ",".join(networks)
    return "\n".join(line.rstrip() for line in value.rstrip().split("\n"))


def same_addresses(left: list[Any], right: list[Any]) -> bool:
    """Tell whether two lists of networks hold the same addresses."""
    was, now = _addresses(left), _addresses(right)
    return bool(was) and was == now


def _addresses(listed: list[Any]) -> list[str]:
    """Return the ranges of addresses that a list of networks holds, nothing where it is no such list."""
    if not all(isinstance(each, str) and "/" in each for each in listed):
        return []
    ranges = [cidr(each) for each in listed]
    return [] if None in ranges else [str(each) for each in joined(filter(None, ranges))]


__all__ = ["encoded", "meaning", "same_addresses", "same_value"]
