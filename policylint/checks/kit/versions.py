"""Versions of Gateway API's own kinds that are superseded: what to write instead, and since when they are gone.

Taken from its CRDs (`deprecated: true`, or a newer version is stored) and from the release notes of what left them.
v1beta1 of ReferenceGrant is still the stored one, so it is not listed. TCPRoute and UDPRoute have a v1 only since very
lately, so that v1alpha2 of them is no more than a note.
"""

from __future__ import annotations

from policylint.model import GATEWAY_GROUP, Severity
from policylint.namedtuple import NamedTuple

X_GROUP = "gateway.networking.x-k8s.io"


class Superseded(NamedTuple):
    """What to write instead of a version, and of the kind where that has another name; which release removed it."""

    instead: str
    kind: str = ""
    gone: str = ""
    severity: Severity = "warning"


_V1 = f"{GATEWAY_GROUP}/v1"
SUPERSEDED: dict[tuple[str, str], dict[str, Superseded]] = {
    (GATEWAY_GROUP, "GatewayClass"): {
        "v1beta1": Superseded(_V1),
        "v1alpha2": Superseded(_V1, gone="v1.0"),
        "v1alpha1": Superseded(_V1, gone="v0.5"),
    },
    (GATEWAY_GROUP, "Gateway"): {
        "v1beta1": Superseded(_V1),
        "v1alpha2": Superseded(_V1, gone="v1.0"),
        "v1alpha1": Superseded(_V1, gone="v0.5"),
    },
    (GATEWAY_GROUP, "HTTPRoute"): {
        "v1beta1": Superseded(_V1),
        "v1alpha2": Superseded(_V1, gone="v1.0"),
        "v1alpha1": Superseded(_V1, gone="v0.5"),
    },
    (GATEWAY_GROUP, "GRPCRoute"): {"v1alpha2": Superseded(_V1, gone="v1.2")},
    (GATEWAY_GROUP, "TLSRoute"): {
        "v1alpha2": Superseded(_V1),
        "v1alpha3": Superseded(_V1),
    },
    (GATEWAY_GROUP, "TCPRoute"): {"v1alpha2": Superseded(_V1, severity="note")},
    (GATEWAY_GROUP, "UDPRoute"): {"v1alpha2": Superseded(_V1, severity="note")},
    (GATEWAY_GROUP, "ReferenceGrant"): {"v1alpha2": Superseded(f"{GATEWAY_GROUP}/v1beta1", gone="v1.2")},
    (GATEWAY_GROUP, "ReferencePolicy"): {
        "v1alpha2": Superseded(f"{GATEWAY_GROUP}/v1beta1", kind="ReferenceGrant", gone="v0.6")
    },
    (X_GROUP, "XListenerSet"): {"v1alpha1": Superseded(_V1, kind="ListenerSet")},
    (X_GROUP, "ListenerSet"): {"v1alpha1": Superseded(_V1)},
}
