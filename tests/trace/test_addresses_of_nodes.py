"""Addresses that policies let out, and that may be a node's: to Cilium no block holds these (cilium/cilium#39573).

Predicted from docs.cilium.io, «IP/CIDR based» and «Selecting nodes with CIDR / ipBlock» (policyCIDRMatchMode).
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import request
from tests.checks.test_networks_of_nodes import BY_CIDR, CHART, CONFIG, NODES, PLAIN, WEB, cilium, policy, rule
from tests.worlds import simulated

ALL = "to: [{ipBlock: {cidr: 0.0.0.0/0}}]"


@pytest.mark.parametrize(
    ("objects", "host", "is_told"),
    [
        ((CONFIG % PLAIN, policy(rule())), "10.0.0.1", True),
        ((CHART % "", policy(rule())), "10.0.0.1", True),
        ((CHART % "", policy(rule(ALL))), "10.0.0.1", True),
        ((CHART % "policyCIDRMatchMode: [nodes]", policy(rule())), "10.0.0.1", False),
        ((CONFIG % NODES, policy(rule())), "10.0.0.1", False),
        ((policy(rule()),), "10.0.0.1", False),  # nothing says which plugin it is
        ((cilium(BY_CIDR),), "10.0.0.1", True),
        ((cilium("{toEntities: [all]}"),), "10.0.0.1", False),
        ((CHART % "", policy(rule(ALL))), "api.example.com", False),
    ],
)
def test_it_is_said(objects: tuple[str, ...], host: str, is_told: bool) -> None:
    world = simulated(WEB, *objects)
    asked = {
        "scheme": "https",
        "host": host,
        "path": "/",
        "port": 6443,
        "client": "Deployment/shop/web",
        "service": host,
    }
    outcome = Tracer(world).trace(request(asked)).outcome
    assert "let it through" in outcome.reason
    assert ("unless a node" in outcome.reason) is is_told
