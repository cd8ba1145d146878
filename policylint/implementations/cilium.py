"""Cilium: the routes that it accepts at none of its Gateways."""

from __future__ import annotations

from policylint.implementations.generic import Implementation
from policylint.model import Resource, mapping, sequence


class Cilium(Implementation):
    """BackendTLSPolicy is as its catalog entry says; routes are checked as a whole."""

    name = "cilium"

    def refuses(self, route: Resource) -> str:
        """Refuse routes that set the host as a header (gateway-api/routechecks/httproute.go @ 0913c4388)."""
        for rule in map(mapping, sequence(route.spec.get("rules"))):
            for filter_ in map(mapping, sequence(rule.get("filters"))):
                modifier = mapping(filter_.get("requestHeaderModifier"))
                if filter_.get("type") == "RequestHeaderModifier" and any(
                    mapping(header).get("name") == "Host" for header in sequence(modifier.get("set"))
                ):
                    return 'Invalid header modifier: "Host" header is not supported'
        return ""
