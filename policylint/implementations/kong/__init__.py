"""Kong: to it `core` is the group of Services, Secrets and ConfigMaps.

Source: Kong/kubernetes-ingress-controller internal/controllers/gateway/{backendtlspolicy_controller,gateway_utils}.go;
internal/dataplane/kongstate/route.go (overrideStripPath: routes of all kinds, Ingresses; off where nothing says so);
docs, «Annotations» (protocol, tls-verify and ca-certificates-secrets of Services; nothing is verified by default).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.implementations.generic import Implementation
from policylint.implementations.generic.sessions import BackendSession, against
from policylint.model import Resource, ResourceKey, World, text
from policylint.topology.workloads import Labels

if TYPE_CHECKING:
    from policylint.implementations.generic.dead_ends import DeadEnd

_PROTOCOL, _VERIFY, _AUTHORITIES = (
    f"konghq.com/{each}" for each in ("protocol", "tls-verify", "ca-certificates-secrets")
)
_STRIPPING = "konghq.com/strip-path"
_PROTOCOLS = "konghq.com/protocols"
_FORCING = "ingress.kubernetes.io/force-ssl-redirect"
_CODE = "konghq.com/https-redirect-status-code"
_UPGRADE = 426
_CODES = (301, 302, 307, 308, _UPGRADE)


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

    def in_the_clear(self, route: Resource) -> tuple[int, str] | None:
        """Return how a route, or an Ingress, answers requests without TLS where annotations let it take TLS alone.

        Source: internal/dataplane/kongstate/route.go, overrideHTTPSRedirectCode and overrideProtocols @ 1fa68f864.
        """
        protocols = {each.strip() for each in text(route.annotations.get(_PROTOCOLS)).split(",")} - {""}
        is_forced = text(route.annotations.get(_FORCING)) == "true"
        if protocols != {"https"} and (protocols or not is_forced):
            return None
        code = whole_number(text(route.annotations.get(_CODE)).strip())
        status = code if code in _CODES else 302 if is_forced else _UPGRADE
        return status, f"{route.key} takes https alone"

    def dead_ends(self, world: World) -> Iterable[DeadEnd]:
        """Return the credentials of KongConsumers that Kong makes nothing of."""
        from policylint.implementations.kong.credentials import unusable

        return unusable(world)

    def session(
        self,
        backend: ResourceKey,
        port: int | None,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        world: World,
        stated: BackendSession | None,
        labels: Labels = (),  # noqa: ARG002
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
