"""Kong: to it `core` is the group of Services, Secrets and ConfigMaps.

Source: Kong/kubernetes-ingress-controller internal/controllers/gateway/{backendtlspolicy_controller,gateway_utils}.go;
internal/dataplane/kongstate/route.go (overrideStripPath: routes of all kinds, Ingresses; off where nothing says so);
docs, «Annotations» (protocol, tls-verify and ca-certificates-secrets of Services; nothing is verified by default).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic import Implementation
from policylint.implementations.generic.sessions import BackendSession, against
from policylint.model import Resource, ResourceKey, World, text

_PROTOCOL, _VERIFY, _AUTHORITIES = (
    f"konghq.com/{each}" for each in ("protocol", "tls-verify", "ca-certificates-secrets")
)
_STRIPPING = "konghq.com/strip-path"


class Kong(Implementation):
    """Requests are otherwise as its catalog entry and its doors have them."""

    name = "kong"
    names_core = True

    def added_filters(self, route: Resource) -> tuple[Sequence[Mapping[str, Any]], Pointer]:
        """Return what takes the prefix that matched off the path, where the annotation says so."""
        if route.annotations.get(_STRIPPING) not in ("true", True):
            return (), ()
        path = {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}
        return [{"type": "URLRewrite", "urlRewrite": {"path": path}}], ("metadata", "annotations", _STRIPPING)

    def session(
        self,
        backend: ResourceKey,
        port: int | None,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        world: World,
        stated: BackendSession | None,
    ) -> BackendSession | None:
        service = world.get(backend)
        if stated is not None or service is None:
            return stated
        if text(service.annotations.get(_PROTOCOL)) not in ("https", "grpcs", "tls"):
            return BackendSession("plain")
        if text(service.annotations.get(_VERIFY)) != "true":
            return BackendSession("unverified", "", service, ("metadata", "annotations", _PROTOCOL))
        own = [
            f"Secret {each.strip()}" for each in text(service.annotations.get(_AUTHORITIES)).split(",") if each.strip()
        ]
        return BackendSession(
            "verified",
            against([], own or ["the authorities of the system"]),
            service,
            ("metadata", "annotations", _VERIFY),
        )
