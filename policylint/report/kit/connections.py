"""Connections that open and close, as diff and explain say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model.words import leading
from policylint.report.kit.identity import Names

if TYPE_CHECKING:
    from policylint.compare.connections import ConnectionChange


def connection_entry(change: ConnectionChange, names: Names) -> dict[str, Any]:
    """Return a change of connections as data."""
    return {
        "environment": change.environment,
        "from": list(change.sources),
        "to": list(change.targets),
        "before": change.before,
        "after": change.after,
        "change": change.change,
        "by": names.keys(change.by),
        "because": change.because,
        **({"ground": change.ground} if change.ground else {}),
    }


def connection_in_words(change: ConnectionChange) -> str:
    """Return `Deployment shop/web to StatefulSet db/postgres: none -> TCP 5432`."""
    if not change.targets:
        return f"{leading(change.sources, 3)}: {change.because}"
    ends = f"{leading(change.sources, 3)} to {leading(change.targets, 3)}"
    carried = f" ({change.change} by a mesh: policies see the port of its tunnel)" if change.because == "mesh" else ""
    return f"{ends}: {change.before} -> {change.after}{carried}"
