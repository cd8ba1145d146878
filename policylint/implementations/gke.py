"""GKE Gateway: routes that its controller does not accept, and how its load balancers connect to pods.

Source: kserve/kserve#5311 (2026): `timeouts` give Accepted False, UnsupportedValue; the conformance reports of Gateway
API list HTTPRouteRequestTimeout and HTTPRouteBackendTimeout among what it does not support. cloud.google.com, «Secure a
Gateway», «Load balancer to application TLS» (`appProtocol` HTTPS, HTTP2), and «Encryption to the backends»
(certificates of backends are not verified); «GKE Ingress for Application Load Balancers» (app-protocols).
"""

from __future__ import annotations

import json

from policylint.implementations.generic import Implementation
from policylint.implementations.generic.sessions import BackendSession, by_port, port_of_service
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.model.kinds import INGRESS
from policylint.topology.workloads import Labels

_PROTOCOLS = "cloud.google.com/app-protocols"
_ENCRYPTED = ("https", "http2")


class Gke(Implementation):
    """Refuses routes with settings that it does not support."""

    name = "gke"

    def refuses(self, route: Resource) -> str:
        """Refuse routes with `timeouts`."""
        rules = map(mapping, sequence(route.spec.get("rules"))) if route.key.kind == "HTTPRoute" else ()
        has_timeouts = any(rule.get("timeouts") for rule in rules)
        return "timeouts are not supported (a GCPBackendPolicy has `timeoutSec`)" if has_timeouts else ""

    def session(
        self,
        backend: ResourceKey,
        port: int | None,
        caller: Resource | None,
        world: World,
        stated: BackendSession | None,
        labels: Labels = (),  # noqa: ARG002
    ) -> BackendSession | None:
        service = world.get(backend)
        own = stated or by_port(service, port, _ENCRYPTED, "unverified")
        if service is None or own is None or own.state != "plain" or caller is None or caller.key[:2] != INGRESS:
            return own
        written = text(service.annotations.get(_PROTOCOLS))
        try:
            spoken = mapping(json.loads(written or "{}")).get(text(port_of_service(service, port).get("name")))
        except ValueError:
            return None
        if text(spoken).lower() in _ENCRYPTED:
            return BackendSession("unverified", "", service, ("metadata", "annotations", _PROTOCOLS))
        return own
