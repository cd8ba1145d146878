"""The part of `simulation-v1` on Open Cluster Management: where policies are placed, and with which action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.report.kit.identity import Names
from policylint.simulation import Simulation

Entry = dict[str, Any]


def bindings(simulation: Simulation, names: Names) -> Iterator[Entry]:
    """Yield one entry per policy and action."""
    hub = simulation.hub
    for key, rows in hub.policies.items():
        for row in rows:
            yield {
                "policy": names.key(key),
                "clusters": hub.fleet.named(row.clusters) if row.known else None,
                "possible": hub.fleet.named(row.possible),
                "selects": row.words,
                "remediationAction": row.action or None,
                "reason": row.reason,
                "via": [names.key(other) for other in row.via],
            }
