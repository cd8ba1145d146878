"""Weights of HTTPRoutes, by which they rank before all else where the controller is told so.

Source: krtcollections/policy.go, parseRoutePrecedenceWeight; translator/routeutils/sort.go, Less.
"""

from __future__ import annotations

from policylint.model import Resource

ANNOTATION = "kgateway.dev/route-weight"
_MOST_WEIGHT = 2**31 - 1


def weight_of(route: Resource) -> int:
    """Return the weight of a route: 0 where it states none, or none that is a number of 32 bits."""
    stated = str(route.annotations.get(ANNOTATION, ""))
    digits = stated.removeprefix("-").removeprefix("+")
    weight = int(stated) if digits.isascii() and digits.isdigit() and len(digits) <= len(str(_MOST_WEIGHT)) else 0
    return weight if route.key.kind == "HTTPRoute" and -_MOST_WEIGHT - 1 <= weight <= _MOST_WEIGHT else 0
