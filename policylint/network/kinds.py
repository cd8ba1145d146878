"""The kinds of network policies; a world without any of them has nothing else of this room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.model import Resource, World, mapping, sequence, text

NETWORK_POLICY = ("networking.k8s.io", "NetworkPolicy")
GROUP = "policy.networking.k8s.io"
CLUSTER_NETWORK_POLICY = (GROUP, "ClusterNetworkPolicy")
CLUSTER = ((GROUP, "AdminNetworkPolicy"), (GROUP, "BaselineAdminNetworkPolicy"), CLUSTER_NETWORK_POLICY)
CILIUM = (("cilium.io", "CiliumNetworkPolicy"), ("cilium.io", "CiliumClusterwideNetworkPolicy"))
CALICO = (
    ("crd.projectcalico.org", "GlobalNetworkPolicy"),
    ("crd.projectcalico.org", "NetworkPolicy"),
    ("projectcalico.org", "GlobalNetworkPolicy"),
    ("projectcalico.org", "NetworkPolicy"),
)
DIALECTS = {"cilium": CILIUM, "calico": CALICO}
"""Implementation → the kinds of network policies that it reads by rules of its own."""
EVALUATED = (NETWORK_POLICY, *CLUSTER, *CILIUM, *CALICO)
WITH_ACCOUNTS = (*CILIUM, *CALICO)
"""Kinds that may select by service account, which their selectors see as a label."""
OUTWARD = (("k8s.ovn.org", "EgressFirewall"), ("network.openshift.io", "EgressNetworkPolicy"))
"""Kinds that only say what pods may send out of the cluster."""
SENDING = (*OUTWARD, ("networking.gke.io", "FQDNNetworkPolicy"))
"""Kinds that only say what pods may send."""
UNREAD = (
    ("crd.antrea.io", "ClusterNetworkPolicy"),
    ("crd.antrea.io", "NetworkPolicy"),
    *SENDING,
    ("networking.k8s.aws", "ApplicationNetworkPolicy"),
    ("networking.k8s.aws", "ClusterNetworkPolicy"),
)
"""Kinds of other engines, which are not evaluated: what may select a pod makes every answer about it unknown."""
ORDERED = (*CALICO, ("crd.antrea.io", "ClusterNetworkPolicy"), ("crd.antrea.io", "NetworkPolicy"))
"""Kinds of which the policies and their rules are tried one after the other, by `order` or `priority`."""
GENERATING = (
    ("kyverno.io", "ClusterPolicy"),
    ("kyverno.io", "Policy"),
    ("policies.kyverno.io", "GeneratingPolicy"),
    ("policies.kyverno.io", "NamespacedGeneratingPolicy"),
)
"""Kinds of which some objects make network policies, which nobody sees: as good as policies that are not evaluated."""
NOT_EVALUATED = (*UNREAD, *GENERATING)
OTHER_WORKLOADS = (("apps.openshift.io", "DeploymentConfig"), ("kubevirt.io", "VirtualMachine"))
"""What else than Kubernetes' own workloads runs pods."""
KINDS = (*EVALUATED, *NOT_EVALUATED)
PODLESS = (".k8s.io", ".fluxcd.io", "cilium.io")
"""How the groups end of which no object makes pods."""
MATCHING_ADDRESSES = ("cilium",)
"""Plugins that never compare an ipBlock with the addresses of pods."""
MATCHING_PODS = ("calico", "kube-router")
"""Plugins that do."""


def unevaluated(world: World) -> list[Resource]:
    """Return what rules connections and is not evaluated, by kind, namespace and name."""
    generators = (resource for kind in GENERATING for resource in world.of_kind(*kind) if _generates(resource.spec))
    return [*(resource for kind in UNREAD for resource in world.of_kind(*kind)), *generators]


def has_policies(world: World) -> bool:
    """Return whether a world holds a network policy, or what makes some, or closes pods without any."""
    from policylint.network.facts import closing

    stated = any(world.of_kind(*kind) for kind in EVALUATED) or bool(unevaluated(world))
    return stated or closing(world) is not None


def _generates(spec: Mapping[str, Any]) -> bool:
    """Return whether a Kyverno policy generates network policies, from data or as copies.

    Source: Kyverno's documentation, "Generate Rules" (`generate.kind`, `cloneList.kinds`, `foreach`); GeneratingPolicy
    makes what its CEL expressions say.
    """
    for rule in sequence(spec.get("rules")):
        generate = mapping(mapping(rule).get("generate"))
        for made in (generate, *map(mapping, sequence(generate.get("foreach")))):
            kinds = (made.get("kind"), *sequence(mapping(made.get("cloneList")).get("kinds")))
            if any(text(kind).endswith("NetworkPolicy") for kind in kinds):
                return True
    return any("NetworkPolicy" in text(mapping(step).get("expression")) for step in sequence(spec.get("generate")))
