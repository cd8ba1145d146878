"""Kinds and versions that are superseded: what to write instead, and which release removed them.

Those of Gateway API are taken from its CRDs (`deprecated: true`, or a newer version is stored) and from the release
notes of kinds that left it. v1beta1 of ReferenceGrant is still the stored one, so it is not listed. TCPRoute and
UDPRoute have a v1 only since a late release, so that v1alpha2 of them is a note; so is a PlacementRule of Open Cluster
Management, which still works.
"""

from __future__ import annotations

from policylint.model import GATEWAY_GROUP, Severity
from policylint.namedtuple import NamedTuple

X_GROUP = "gateway.networking.x-k8s.io"


class Superseded(NamedTuple):
    """The replacement of a version, with the kind's new name if it has one, and the release that removed it."""

    instead: str
    kind: str = ""
    gone: str = ""
    severity: Severity = "warning"


_V1 = f"{GATEWAY_GROUP}/v1"
_OLDEST = {
    "v1beta1": Superseded(_V1),
    "v1alpha2": Superseded(_V1, gone="v1.0"),
    "v1alpha1": Superseded(_V1, gone="v0.5"),
}
SUPERSEDED: dict[tuple[str, str], dict[str, Superseded]] = {
    (GATEWAY_GROUP, "GatewayClass"): _OLDEST,
    (GATEWAY_GROUP, "Gateway"): _OLDEST,
    (GATEWAY_GROUP, "HTTPRoute"): _OLDEST,
    (GATEWAY_GROUP, "GRPCRoute"): {"v1alpha2": Superseded(_V1, gone="v1.2")},
    (GATEWAY_GROUP, "TLSRoute"): {"v1alpha2": Superseded(_V1), "v1alpha3": Superseded(_V1)},
    (GATEWAY_GROUP, "TCPRoute"): {"v1alpha2": Superseded(_V1, severity="note")},
    (GATEWAY_GROUP, "UDPRoute"): {"v1alpha2": Superseded(_V1, severity="note")},
    (GATEWAY_GROUP, "ReferenceGrant"): {"v1alpha2": Superseded(f"{GATEWAY_GROUP}/v1beta1", gone="v1.2")},
    (GATEWAY_GROUP, "ReferencePolicy"): {
        "v1alpha2": Superseded(f"{GATEWAY_GROUP}/v1beta1", kind="ReferenceGrant", gone="v0.6")
    },
    (X_GROUP, "XListenerSet"): {"v1alpha1": Superseded(_V1, kind="ListenerSet")},
    (X_GROUP, "ListenerSet"): {"v1alpha1": Superseded(_V1)},
    ("apps.open-cluster-management.io", "PlacementRule"): {
        "v1": Superseded("cluster.open-cluster-management.io/v1beta1", kind="Placement", severity="note")
    },
}
