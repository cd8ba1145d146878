"""What changes where the proxies of Gateways run, and not where the Gateways are, is a change of their requests."""

from __future__ import annotations

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.compare import compare, pair_sides
from policylint.compare.requests import RequestChanges
from policylint.simulation import simulate
from tests.contract.own import ENVOY_GATEWAY, ROUTE, SERVICE, deployment
from tests.worlds import gateway, labelled, manifest, world

PLACED = {"data-planes": [{"gateway": "infra/edge", "namespace": "proxies", "labels": {"app": "envoy"}}]}
SHOP = (ENVOY_GATEWAY, gateway(), ROUTE, SERVICE, deployment(), labelled("infra"))


def network_policy(namespace: str, spec: str = "podSelector: {}, policyTypes: [Ingress]") -> str:
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "closed", namespace, f"spec: {{{spec}}}")


OF_CILIUM = manifest(
    "cilium.io/v2", "CiliumNetworkPolicy", "closed", "proxies", "spec: {endpointSelector: {}, ingress: [{}]}"
)
FROM_EDGE = network_policy(
    "shop", "podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {edge: 'yes'}}}]}]"
)


def changes(before: tuple[str, ...], after: tuple[str, ...]) -> RequestChanges:
    sides = []
    for manifests in (before, after):
        side = world(*manifests)
        side.network = PLACED
        sides.append(simulate(side, load_catalog()))
    found = compare(pair_sides(sides[:1], sides[1:]))[0].requests
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("closed", "open_"),
    [
        ((network_policy("proxies"),), ()),
        ((network_policy("proxies"),), (network_policy("elsewhere"),)),
        ((OF_CILIUM,), ()),
        (
            (FROM_EDGE, labelled("proxies", "{edge: 'no'}")),
            (FROM_EDGE, labelled("proxies", "{edge: 'yes'}")),
        ),
    ],
)
def test_a_policy_at_the_proxies_is_met_by_all_requests(closed: tuple[str, ...], open_: tuple[str, ...]) -> None:
    opened, shut = changes((*SHOP, *closed), (*SHOP, *open_)), changes((*SHOP, *open_), (*SHOP, *closed))
    assert [each.change for each in opened.changes] == ["opened"]
    assert [each.change for each in shut.changes] == ["closed"]


def test_one_that_selects_none_of_them_is_not() -> None:
    found = changes((*SHOP, network_policy("elsewhere")), SHOP)
    assert (found.changes, found.unknown, found.hosts) == ((), (), 0)
