"""GWP901: a suppression that no finding answers to: what it was for is gone, or it never did anything."""

from __future__ import annotations

from policylint.model import Finding
from policylint.model.suppression import Suppression

RULE = "GWP901"


def report(suppression: Suppression, name: str, *, locked: bool = False, **_: object) -> Finding:
    """The finding for a suppression of one rule; `locked` when the configuration does not let files suppress it."""
    label = f"no finding of {name} here"
    if locked:
        label = f"{name} is locked by the configuration, so this has no effect"
    return Finding(
        RULE,
        "warning",
        f"unused suppression of {name}",
        suppression.location,
        resources=tuple(sorted(suppression.keys)),
        label=label,
        field=name,
        help=("fix: remove it",),
    )
