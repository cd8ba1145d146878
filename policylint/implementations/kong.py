"""Kong: to it `core` is the group of Services, Secrets and ConfigMaps.

Source: Kong/kubernetes-ingress-controller internal/controllers/gateway/{backendtlspolicy_controller,gateway_utils}.go;
internal/dataplane/kongstate/route.go (overrideStripPath: routes of all kinds, Ingresses; off where nothing says so).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic import Implementation
from policylint.model import Resource

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
