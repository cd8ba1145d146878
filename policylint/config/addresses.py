"""Addresses of clients in a configuration: an address or a network, one or a list (docs/guardrails.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policylint.documents import Pointer

EVERYWHERE = ("0.0.0.0/0", "::/0")
"""Either is taken for everybody, as it is in policies."""


def is_network(text: str) -> bool:
    """Return whether a text is meant as an address or a network: kinds of objects begin with a letter."""
    return text[:1].isdigit() or ":" in text


def listed(value: str | list[str]) -> tuple[str, ...]:
    """Return the entries of what may be one or a list."""
    return tuple(value) if isinstance(value, list) else (value,)


def wrong_addresses(guardrails: list[Mapping[str, Any]]) -> Iterator[tuple[Pointer, str]]:
    """Yield where guardrails name clients in a way that means nothing, and why."""
    from policylint.spaces.addresses import address_set

    for number, entry in enumerate(guardrails):
        patterns = [("requests",), *(("except", index) for index in range(len(entry.get("except", ()))))]
        for place in (*patterns, ("never",), ("only",)):
            holder: Any = entry
            for step in place:
                holder = holder[step] if isinstance(step, int) else holder.get(step, {})
            sources = listed(holder.get("from", []))
            addresses = sources if place[0] in ("requests", "except") else tuple(filter(is_network, sources))
            at: Pointer = ("require", number, *place, "from")
            if len(addresses) < len(sources) and addresses:
                yield at, f"{place[0]}.from names addresses and objects: make two guardrails of it"
            elif wrong := address_set(addresses).doubtful:
                yield at, f"{place[0]}.from: {wrong!r} is neither an address nor a network such as 10.0.0.0/8"
