"""Contour: its Envoy answers preflights of the origins that are allowed, and lets all others go on.

Source: internal/envoy/v3/listener.go, DefaultFilters; Envoy's filter `cors`, forward_not_matching_preflights.
"""

from __future__ import annotations

from policylint.implementations.generic import Implementation


class Contour(Implementation):
    """Requests are otherwise as its doors have them."""

    name = "contour"
    preflights = 200, False
