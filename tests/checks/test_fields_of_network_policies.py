"""GWP501: fields of network policies that are none where they stand (cilium/cilium#44452)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, simulated

DNS = "{matchLabels: {k8s-app: kube-dns}"


def told(api: str, kind: str, spec: str, field: str = "spec") -> list[tuple[str, str, str]]:
    namespace = "" if "Clusterwide" in kind else "shop"
    simulation = simulated(manifest(api, kind, "some", namespace, f"{field}: {spec}"))
    found = run(simulation, select={"GWP501"})
    return [(each.field, each.help[0] if len(each.help) > 1 else "", each.confidence) for each in found]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("{podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]}", []),
        (
            "{podSelector: {}, ingress: [{from: [{podSelector: {}, ports: [{port: 80}]}]}]}",
            [("spec.ingress[0].from[0].ports", "fix: write it in spec.ingress[0]", "certain")],
        ),
        (
            "{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {a: b}, podSelector: {}}}]}]}",
            [
                (
                    "spec.ingress[0].from[0].namespaceSelector.podSelector",
                    "fix: write it in spec.ingress[0].from[0]",
                    "certain",
                )
            ],
        ),
        ("{podSelector: {}, egress: [{from: [{podSelector: {}}]}]}", [("spec.egress[0].from", "", "certain")]),
        (
            "{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, exept: [10.1.0.0/16]}}]}]}",
            [("spec.ingress[0].from[0].ipBlock.exept", "fix: write `except`", "certain")],
        ),
        ("{podSelector: {}, ingress: [{${PEERS}: []}]}", []),
    ],
)
def test_network_policies(spec: str, found: list[tuple[str, str, str]]) -> None:
    assert told("networking.k8s.io/v1", "NetworkPolicy", spec) == found


@pytest.mark.parametrize("kind", ["CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"])
@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (
            f"{{endpointSelector: {{}}, egress: [{{toEndpoints: [{DNS}}}], toPorts: [{{ports: [{{port: '53'}}]}}]}}]}}",
            [],
        ),
        (
            f"{{endpointSelector: {{}}, egress: [{{toEndpoints: [{DNS}, toPorts: []}}]}}]}}",
            [("spec.egress[0].toEndpoints[0].toPorts", "fix: write it in spec.egress[0]", "certain")],
        ),
        (
            "{endpointSelector: {}, ingress: [{fromEndpoints: [{}], toPorts: [{ports: [{port: '80', rules: {}}]}]}]}",
            [("spec.ingress[0].toPorts[0].ports[0].rules", "fix: write it in spec.ingress[0].toPorts[0]", "certain")],
        ),
        (
            "{endpointSelector: {}, ingress: [{fromEndpoints: [{}], somethingNew: 1}]}",
            [("spec.ingress[0].somethingNew", "", "assumed")],
        ),
    ],
)
def test_policies_of_cilium(kind: str, spec: str, found: list[tuple[str, str, str]]) -> None:
    assert told("cilium.io/v2", kind, spec) == found


def test_several_of_one_object() -> None:
    one = "{endpointSelector: {}, ingress: [{fromEntities: [world]}]}"
    [(field, _, _)] = told(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        f"[{one}, {{endpointSelector: {{}}, egress: [{{}}], fromEntities: [world]}}]",
        "specs",
    )
    assert field == "specs[1].fromEntities"
