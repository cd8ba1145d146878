"""How Cilium is installed in a world, as far as it changes what network policies do.

Sources: docs.cilium.io, «Policy Enforcement Modes», «Policy Audit Mode», «IP/CIDR based», «Node based»,
«Mutual Authentication»; cilium/cilium install/kubernetes/cilium/values.yaml and templates/cilium-configmap.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.load.charts import values_of
from policylint.model import Resource, ResourceKey, World, mapping, text, texts
from policylint.namedtuple import NamedTuple

PLUGIN = "cilium"
AUDITS = "Cilium only audits: what policies deny is logged, and gets through"
_ON, _OFF = (True, "true"), (False, "false")
_CONFIG = ("kube-system", "cilium-config")
_OPERATOR = ("cilium.io", "CiliumConfig")
"""What an operator installs Cilium from: its spec holds the values of the chart."""


class CiliumSettings(NamedTuple):
    """One object that installs Cilium, and what it sets.

    Args:
        mode: whether policies are enforced: `never`, `always`; "" or another word by default.
        audits: whether what policies deny is only logged.
        matches_nodes: whether CIDRs may match nodes.
        knows_nodes: whether nodes have labels that policies may ask for.
        authenticates: whether pods can prove who they are, by SPIRE.
        is_whole: whether these are all the values that are set.
    """

    resource: Resource
    mode: str
    audits: bool
    matches_nodes: bool
    knows_nodes: bool
    authenticates: bool
    is_whole: bool


def installed(world: World) -> Iterator[CiliumSettings]:
    """Yield what installs Cilium."""
    for resource, values, is_whole in _stated(world):
        mode, audits = text(values.get("policyEnforcementMode")), values.get("policyAuditMode") in _ON
        asked = mapping(values.get("authentication"))
        spire = mapping(mapping(asked.get("mutual")).get("spire")).get("enabled") in _ON
        yield CiliumSettings(
            resource,
            mode,
            audits,
            "nodes" in (texts(values.get("policyCIDRMatchMode")) or text(values.get("policyCIDRMatchMode")).split(",")),
            values.get("nodeSelectorLabels") in _ON,
            spire and asked.get("enabled") not in _OFF,
            is_whole,
        )


def _stated(world: World) -> Iterator[tuple[Resource, Mapping[str, Any], bool]]:
    """Yield what installs Cilium, with the values of its chart, and whether these are all that are set."""
    yield from values_of(world, PLUGIN)
    for custom in world.of_kind(*_OPERATOR):
        yield custom, custom.spec, not custom.provisional
    config = world.get(ResourceKey("", "ConfigMap", *_CONFIG))
    if config is not None:
        data = mapping(config.body.get("data"))
        yield (
            config,
            {
                "policyEnforcementMode": data.get("enable-policy"),
                "policyAuditMode": data.get("policy-audit-mode"),
                "policyCIDRMatchMode": data.get("policy-cidr-match-mode"),
                "nodeSelectorLabels": data.get("enable-node-selector-labels"),
                "authentication": {
                    "enabled": data.get("mesh-auth-enabled"),
                    "mutual": {"spire": {"enabled": data.get("mesh-auth-mutual-enabled")}},
                },
            },
            not config.provisional,
        )
