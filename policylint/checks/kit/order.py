"""Whether it matters which of two policies was there first."""

from __future__ import annotations

from typing import Final

from policylint.policy.results import OrderDependence

BY_ISSUER: Final = "RequestAuthentication"
"""A kind of which all policies apply, but of two rules for one issuer only the first."""


def decides(dependence: OrderDependence) -> bool:
    """Return whether one of two policies alone acts, the older one: where all apply, they do so in whichever order."""
    return dependence.kind.merge.strategy != "union" or dependence.kind.kind == BY_ISSUER
