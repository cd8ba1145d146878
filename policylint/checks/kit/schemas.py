"""Scalars as files have them and as the cluster reads them: for GWP501 and GWP505."""

from __future__ import annotations

from policylint.model import Location
from policylint.simulation import Simulation


def written_text(simulation: Simulation, location: Location) -> str:
    """Return the text of a plain scalar or key as its file has it, "" for a quoted one or where it cannot be read."""
    from policylint.documents.tokens import token_at

    lines = simulation.world.lines(location.file)
    token = token_at("\n".join(lines), *location.at()) if lines else None
    return token.value if token is not None and token.form == "scalar" and not token.style else ""


def read_as(value: object) -> str:
    """Return a scalar as the cluster reads it, in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def is_surprising(text: str, value: object) -> bool:
    """Return whether a plain scalar says one thing to people and another to the cluster: `on`, `010`, `1e3`, `1.10`."""
    return isinstance(value, (bool, int, float)) and bool(text) and text != read_as(value)
