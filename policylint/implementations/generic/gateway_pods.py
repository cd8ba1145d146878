"""The pods that a Gateway of Istio's own selects by labels, in any namespace: workloads with these labels, and those of
who installs such pods without a manifest of theirs in the tree.

Source: istio/istio @ 1.27, operator/pkg/apis/types.go (GatewayComponentSpec: `namespace`, `label`), manifests/profiles,
and manifests/charts/gateway/templates/_helpers.tpl (gateway.selectorLabels).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from policylint.load.charts import name_of, namespace_of, values_of
from policylint.model import Resource, World, mapping, sequence, text
from policylint.model.kinds import WORKLOADS

OWN_GATEWAY = ("networking.istio.io", "Gateway")
"""Istio's own, which is a door like others: it has the name of a kind of Gateway API."""
COMPONENTS = {"ingressGateways": "ingressgateway", "egressGateways": "egressgateway"}
"""The fields of an IstioOperator that install gateways, with the label `istio` of these."""
ROOT = "istio-system"
"""Where Istio's profiles install them."""
_OPERATOR = ("install.istio.io", "IstioOperator")
_CHART = "gateway"


@lru_cache(maxsize=64)
def selected(world: World, gateway: Resource) -> tuple[Resource, ...]:
    """Return the workloads at whose pods the requests of a Gateway of Istio's own come in, in any namespace."""
    from policylint.topology.workloads import pod_labels

    wanted = mapping(gateway.spec.get("selector"))
    if gateway.key[:2] != OWN_GATEWAY or not wanted:
        return ()
    workloads = chain.from_iterable(world.of_kind(*kind) for kind in WORKLOADS)
    return tuple(each for each in workloads if wanted.items() <= pod_labels(each).items())


def homes(world: World, gateway: Resource) -> set[str]:
    """Return the namespaces of the pods that a Gateway of Istio's own selects, as far as anything tells; else none.

    They are where workloads have these labels, where something installs such pods, or where a Service selects them.
    """
    wanted = mapping(gateway.spec.get("selector"))
    if not wanted:
        return set()
    seen = {each.key.namespace for each in selected(world, gateway)}
    seen |= {home for labels, home in world.once(_installed) if wanted.items() <= labels.items()}
    services = (each for each in world.of_kind("", "Service") if not seen)
    return seen | {
        each.key.namespace for each in services if wanted.items() <= mapping(each.spec.get("selector")).items()
    }


def _installed(world: World) -> list[tuple[Mapping[str, Any], str]]:
    """Return the labels of gateways that something installs, with their namespace."""
    found: list[tuple[Mapping[str, Any], str]] = []
    for operator in world.of_kind(*_OPERATOR):
        components = mapping(operator.spec.get("components"))
        for field, name in COMPONENTS.items():
            for each in map(mapping, sequence(components.get(field))):
                labels = {"app": f"istio-{name}", "istio": name, **mapping(each.get("label"))}
                home = text(each.get("namespace")) or text(operator.spec.get("namespace")) or ROOT
                found.append((labels, home))
    for release, values, _ in values_of(world, _CHART):
        called = text(values.get("name")) or name_of(release)
        labels = {"app": called, "istio": called.removeprefix("istio-"), **mapping(values.get("labels"))}
        found.append((labels, namespace_of(release) or release.key.namespace))
    return found
