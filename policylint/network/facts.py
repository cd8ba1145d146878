"""What is known of a cluster's network beside its policies: from the configuration, and from how Cilium is installed.

Sources: docs.cilium.io, «Policy Enforcement Modes», «Policy Audit Mode», «IP/CIDR based»; cilium/cilium
install/kubernetes/cilium/values.yaml and templates/cilium-configmap.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.namedtuple import NamedTuple
from policylint.network.charts import APPLICATION, RELEASE, charts_of
from policylint.spaces.addresses import Range, cidr

CILIUM_CONFIG = ("kube-system", "cilium-config")
CILIUM_OPERATOR = ("cilium.io", "CiliumConfig")
"""What an operator installs Cilium from: its spec holds the values of the chart."""
_OTHER_VALUES = frozenset({"valueFiles", "values", "parameters", "fileParameters"})
"""Where an Application has values that may come before those of `valuesObject`, or after them."""
_MATCHING_PODS = ("calico", "kube-router")
"""Plugins that compare an ipBlock with the addresses of pods."""


class NetworkFacts(NamedTuple):
    """What is known of the network of one world.

    Args:
        pods, nodes: where their addresses lie; empty where that is not known.
        plugin: `cilium`, `calico`, `kube-router`; "" where it is not known.
        idle: why no network policy drops anything, "" where they are taken to be enforced.
        matches_nodes: whether Cilium lets CIDRs match nodes.
    """

    pods: tuple[Range, ...] = ()
    nodes: tuple[Range, ...] = ()
    plugin: str = ""
    idle: str = ""
    matches_nodes: bool = False

    @property
    def block_is_addresses(self) -> bool:
        """Whether an ipBlock never matches a pod."""
        return self.plugin == "cilium"

    @property
    def block_is_pods(self) -> bool:
        """Whether an ipBlock matches the pods whose addresses it holds."""
        return self.plugin in _MATCHING_PODS


def facts_of(world: World) -> NetworkFacts:
    """Return what the configuration and the manifests say of a world's network."""
    stated = world.network
    plugin, idle, matches_nodes = text(stated.get("plugin")), _idle(text(stated.get("enforcement")), ""), False
    for resource, values, _ in _cilium(world):
        plugin = plugin or "cilium"
        mode = text(values.get("policyEnforcementMode"))
        audit = values.get("policyAuditMode") in (True, "true")
        idle = idle or _idle("audit" if audit else mode, str(resource.key))
        matches_nodes |= "nodes" in texts(values.get("policyCIDRMatchMode"))
    pods, nodes = (tuple(filter(None, map(cidr, texts(stated.get(name))))) for name in ("pods", "nodes"))
    return NetworkFacts(pods, nodes, plugin, idle, matches_nodes)


def closing(world: World) -> tuple[Resource, bool] | None:
    """Return what sets Cilium's mode `always`, in which pods that no policy selects are closed, too.

    With it comes whether that is certain; None where nothing sets it, or the configuration says otherwise.
    """
    if world.network.get("enforcement") is not None:
        return None
    stated = list(_cilium(world))
    modes = [text(values.get("policyEnforcementMode")) == "always" for _, values, _ in stated]
    if not any(modes):
        return None
    return stated[modes.index(True)][0], all(modes) and all(is_whole for _, _, is_whole in stated)


def _idle(mode: str, where: str) -> str:
    by = f" ({where})" if where else ""
    if mode == "audit":
        return f"Cilium only audits: what policies deny is logged, and gets through{by}"
    return f"the network plugin is told not to enforce policies{by}" if mode == "never" else ""


def _cilium(world: World) -> Iterator[tuple[Resource, Mapping[str, Any], bool]]:
    """Yield what installs Cilium, with the values of its chart and whether these are all that are set."""
    for release in world.of_kind(*RELEASE):
        if "cilium" in charts_of(world, release):
            yield (
                release,
                mapping(release.spec.get("values")),
                not (release.spec.get("valuesFrom") or release.provisional),
            )
    for application in world.of_kind(*APPLICATION):
        for source in (application.spec.get("source"), *sequence(application.spec.get("sources"))):
            if text(mapping(source).get("chart")).rpartition("/")[2] == "cilium":
                helm = mapping(mapping(source).get("helm"))
                is_whole = not (helm.keys() & _OTHER_VALUES or application.provisional)
                yield application, mapping(helm.get("valuesObject")), is_whole
    for custom in world.of_kind(*CILIUM_OPERATOR):
        yield custom, custom.spec, not custom.provisional
    config = world.get(ResourceKey("", "ConfigMap", *CILIUM_CONFIG))
    if config is not None:
        data = mapping(config.body.get("data"))
        yield (
            config,
            {
                "policyEnforcementMode": data.get("enable-policy"),
                "policyAuditMode": data.get("policy-audit-mode"),
                "policyCIDRMatchMode": text(data.get("policy-cidr-match-mode")).split(","),
            },
            not config.provisional,
        )
