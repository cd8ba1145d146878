"""GWP904: the day up to which a suppression held is past; what it suppressed is reported again."""

from __future__ import annotations

from policylint.model import Finding
from policylint.model.suppression import Suppression

RULE = "GWP904"


def report(suppression: Suppression, name: str, **_: object) -> Finding:
    """The finding for a suppression whose date has passed."""
    return Finding(
        RULE,
        "warning",
        f"suppression of {name} has expired",
        suppression.location,
        resources=tuple(sorted(suppression.keys)),
        label=f"it held up to {suppression.expires}",
        field=name,
        help=("fix: put the finding right, or decide anew up to when it may stay",),
    )
