"""GWP902: a suppression names no rule, or one that does not exist, so it does nothing."""

from __future__ import annotations

from collections.abc import Collection

from policylint.model import Finding
from policylint.model.suppression import Suppression

RULE = "GWP902"


def report(suppression: Suppression, name: str, *, known: Collection[str] = (), **_: object) -> Finding:
    """The finding for one name; `known` are the names and ids of all rules."""
    from policylint.checks.kit.wording import near

    message = f"suppression of an unknown rule {name}" if name else "suppression without a rule"
    guess = near(name.lower(), known) if name else ""
    label = "name the rules: `ignore[GWP201] reason`"
    if name:
        label = f"no rule {name}" + (f" (did you mean {guess}?)" if guess else "")
    if name.upper().startswith("GWP") and len(name) < len("GWP101"):
        label = f"{name} is a family; name the rules"
    return Finding(
        RULE,
        "warning",
        message,
        suppression.location,
        resources=tuple(sorted(suppression.keys)),
        label=label,
        field=name,
    )
