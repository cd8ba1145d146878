"""Kong: to it `core` is the group of Services, Secrets and ConfigMaps.

Source: Kong/kubernetes-ingress-controller internal/controllers/gateway/{backendtlspolicy_controller,gateway_utils}.go.
"""

from __future__ import annotations

from policylint.implementations.generic import Implementation


class Kong(Implementation):
    """Requests are otherwise as its catalog entry and its doors have them."""

    name = "kong"
    names_core = True
