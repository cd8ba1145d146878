"""Colours and dashes of effects, the same in every format; colour never says anything alone."""

from __future__ import annotations

COLORS = {
    "link": "#57606a",
    "namespace": "#57606a",
    "effective": "#1a7f37",
    "partial": "#9a6700",
    "overridden": "#6e7781",
    "attached": "#0969da",
    "refused": "#8250df",
    "dangling": "#cf222e",
    "unknown": "#6e7781",
}
"""By effect; readable on white."""
DASHES = {
    "namespace": "2 4",
    "partial": "8 3",
    "overridden": "4 4",
    "refused": "2 2",
    "dangling": "6 4",
    "unknown": "2 5",
}
STATES = {
    "Enforced": "effective",
    "PartiallyEnforced": "partial",
    "Overridden": "overridden",
    "NoEffect": "attached",
    "Conflicted": "refused",
    "Invalid": "refused",
    "TargetNotFound": "dangling",
    "Unknown": "unknown",
    "missing": "dangling",
    "unknown": "unknown",
}
"""The state of a box → the effect whose colour it has."""
CHANGES = {"added": "#1a7f37", "removed": "#cf222e", "changed": "#bf8700"}
"""Colours of what came, went or is not what it was."""
