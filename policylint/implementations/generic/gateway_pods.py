"""Where the pods of Istio's own Gateways run: the workloads with the labels that a Gateway asks for, and who installs
such pods without a manifest of theirs in the tree.

Source: istio/istio @ 1.27, operator/pkg/apis/types.go (GatewayComponentSpec: `namespace`, `label`), manifests/profiles,
and manifests/charts/gateway/templates/_helpers.tpl (gateway.selectorLabels).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.load.charts import values_of
from policylint.model import World, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.topology.workloads import WORKLOADS, pod_labels

_OPERATOR = ("install.istio.io", "IstioOperator")
_COMPONENTS = {"ingressGateways": "ingressgateway", "egressGateways": "egressgateway"}
_ROOT = "istio-system"
_CHART = "gateway"


def homes(world: World, wanted: Mapping[str, Any]) -> set[str]:
    """Return the namespaces of the pods that a Gateway's selector means, as far as anything tells; empty for none."""
    if not wanted:
        return set()
    seen = {
        each.key.namespace
        for kind in WORKLOADS
        for each in world.of_kind(*kind)
        if wanted.items() <= pod_labels(each).items()
    }
    return seen | {home for labels, home in _installed(world) if wanted.items() <= labels.items()}


def _installed(world: World) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the labels of gateways that something installs, with their namespace."""
    for operator in world.of_kind(*_OPERATOR):
        components = mapping(operator.spec.get("components"))
        for field, name in _COMPONENTS.items():
            for each in map(mapping, sequence(components.get(field))):
                labels = {"app": f"istio-{name}", "istio": name, **mapping(each.get("label"))}
                yield labels, text(each.get("namespace")) or text(operator.spec.get("namespace")) or _ROOT
    for release, values, _ in values_of(world, _CHART):
        called = text(values.get("name")) or text(release.spec.get("releaseName")) or release.key.name
        target = text(release.spec.get("targetNamespace"))
        home = target or text(value_at(release.spec, ("destination", "namespace"))) or release.key.namespace
        yield {"app": called, "istio": called.removeprefix("istio-"), **mapping(values.get("labels"))}, home
