"""GWP415: ServiceProfiles that are called after no Service (linkerd/website#183)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, service, simulated


@pytest.mark.parametrize(
    ("name", "namespace", "confidence", "fix"),
    [
        ("web.shop.svc.cluster.local", "shop", "", ""),
        ("web.shop.svc.cluster.local", "clients", "", ""),
        ("web.default.svc.cluster.local", "shop", "certain", "call it web.shop.svc.cluster.local"),
        ("wbe.shop.svc.cluster.local", "shop", "certain", "name a Service that is there"),
        ("web", "shop", "certain", "call it web.shop.svc.cluster.local"),
        ("web.shop", "shop", "certain", "call it web.shop.svc.cluster.local"),
        ("api.example.com", "shop", "", ""),
        ("${NAME}.shop.svc.cluster.local", "shop", "", ""),
    ],
)
def test_profiles(name: str, namespace: str, confidence: str, fix: str) -> None:
    profile = manifest("linkerd.io/v1alpha2", "ServiceProfile", name, namespace, "spec: {routes: []}")
    found = list(run(simulated(service("web", "shop"), profile), select={"GWP415"}))
    assert [(each.confidence, each.help[0]) for each in found] == ([(confidence, f"fix: {fix}")] if fix else [])
