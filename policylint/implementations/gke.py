"""GKE Gateway: routes that its controller does not accept.

Source: kserve/kserve#5311 (2026): `timeouts` give Accepted False, UnsupportedValue; the conformance reports of Gateway
API list HTTPRouteRequestTimeout and HTTPRouteBackendTimeout among what it does not support.
"""

from __future__ import annotations

from policylint.implementations.generic import Implementation
from policylint.model import Resource, mapping, sequence


class Gke(Implementation):
    """Refuses routes with settings that it does not support."""

    name = "gke"

    def refuses(self, route: Resource) -> str:
        """Refuse routes with `timeouts`."""
        rules = map(mapping, sequence(route.spec.get("rules"))) if route.key.kind == "HTTPRoute" else ()
        has_timeouts = any(rule.get("timeouts") for rule in rules)
        return "timeouts are not supported (a GCPBackendPolicy has `timeoutSec`)" if has_timeouts else ""
