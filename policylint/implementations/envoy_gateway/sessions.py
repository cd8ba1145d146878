"""How Envoy Gateway connects to backends: by a BackendTLSPolicy, by `tls` of its own Backends, else in the clear.

Source: docs/design/implementations/envoy-gateway.md §7; internal/gatewayapi/backendtlspolicy.go,
applyBackendTLSSetting: a Backend that switches verification off voids the policy on it.
"""

from __future__ import annotations

from policylint.implementations.envoy_gateway.managed import GROUP
from policylint.implementations.generic.sessions import BackendSession, of_object
from policylint.model import ResourceKey, World
from policylint.model.kinds import SERVICE


def session(backend: ResourceKey, world: World, stated: BackendSession | None) -> BackendSession | None:
    """Return how a backend is connected to; None where that is not known."""
    own = world.get(backend) if backend[:2] == (GROUP, "Backend") else None
    said = None if own is None else of_object(own)
    if said is not None and (stated is None or said.state == "unverified"):
        return said
    return stated or (BackendSession("plain") if own is not None or backend[:2] == SERVICE else None)
