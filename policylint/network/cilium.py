"""What Cilium's network policies call things; implementations/cilium/policies.py reads them."""

from __future__ import annotations

from policylint.network.rules import Entity, Peer, Pods

NAMESPACE = "io.kubernetes.pod.namespace"
NAMESPACE_LABELS = "io.cilium.k8s.namespace.labels."
ACCOUNT = "io.cilium.k8s.policy.serviceaccount"
CLUSTER = "io.cilium.k8s.policy.cluster"
_AROUND_PODS = ("everything", "all", "cluster", "unmanaged", "unread", "services")
NOTHING = "`- {}` is documented to allow nothing, and some releases read it as everything"
AUTHENTICATED = "authentication required"
"""The name of a rule for what a rule cuts that demands authentication."""
UNPROVEN = "nothing seen says that Cilium has SPIRE, without which pods cannot authenticate"

LETS_GATEWAYS = {
    "ingress": "add a rule with `fromEntities: [ingress]` for the port",
    "egress": (
        "add a CiliumClusterwideNetworkPolicy that selects {key: reserved:ingress, operator: Exists} "
        "and has egress: [{toEntities: [cluster]}]"
    ),
}
"""What lets the packets of Gateways through, on either side."""
ASKS_AT_GATEWAYS = "ask for addresses in a policy that selects {key: reserved:ingress, operator: Exists}"
LETS_API_SERVER = "open it with `toEntities: [kube-apiserver]` in a CiliumNetworkPolicy"
BESIDE_NETWORK_POLICIES = (
    "let the Gateway of Cilium in, which no selector here matches: a CiliumNetworkPolicy with `fromEntities: [ingress]`"
)


def is_unknown(label: str) -> bool:
    """Return whether a label key looks like one that Cilium makes, and is none."""
    key = bare(label)
    known = key in (NAMESPACE, ACCOUNT, CLUSTER) or key.startswith(NAMESPACE_LABELS)
    return key.startswith(("io.kubernetes.", "io.cilium.")) and not known


def bare(label: str) -> str:
    """Return a label key without the prefix that says where the label comes from."""
    return label.removeprefix("k8s:").removeprefix("any:").removeprefix("k8s.")


def may_be_pods(peer: Peer) -> bool:
    """Return whether pods may be among those whom a rule means."""
    return isinstance(peer, Pods) or (isinstance(peer, Entity) and peer.name in _AROUND_PODS)
