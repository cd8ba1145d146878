"""What the witnesses listen on and connect to: 127.0.0.0/8 alone, whatever a world says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from tests.witness.envoy import Stubs, free
from tests.witness.envoy_static import static

_HERE = Path(__file__).parent
_CONFIG = "type.googleapis.com/envoy.config"
EVERYWHERE = {"socketAddress": {"address": "0.0.0.0", "portValue": 10080}}
ELSEWHERE = {"socketAddress": {"address": "203.0.113.9", "portValue": 443}}
NAMED = {"socketAddress": {"address": "evil.example", "portValue": 443}}


def addresses(value: Any) -> Iterator[str]:
    """Every address of a configuration, wherever it stands."""
    if isinstance(value, dict):
        for field, inner in value.items():
            if field in ("socketAddress", "socket_address"):
                yield inner["address"]
            yield from addresses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from addresses(inner)


def test_envoy_listens_and_connects_on_loopback_alone() -> None:
    endpoints = [{"lbEndpoints": [{"endpoint": {"address": each}} for each in (ELSEWHERE, NAMED)]}]
    listener = {
        "name": "a",
        "address": EVERYWHERE,
        "additionalAddresses": [{"address": EVERYWHERE}, {"address": ELSEWHERE}],
    }
    cluster = {
        "name": "b",
        "type": "STRICT_DNS",
        "loadAssignment": {"clusterName": "b", "endpoints": endpoints},
        "healthChecks": [{"timeout": "1s"}],
        "upstreamBindConfig": {"sourceAddress": EVERYWHERE["socketAddress"]},
    }
    resources: dict[str, list[Any]] = {
        f"{_CONFIG}.listener.v3.Listener": [listener],
        f"{_CONFIG}.cluster.v3.Cluster": [cluster],
    }
    with Stubs() as stubs:
        config, _ = static(resources, "/dev/null", stubs.place, free, frozenset())
    found = set(addresses(config))
    assert found and all(ip_address(each).is_loopback for each in found), found
    assert {each["type"] for each in config["staticResources"]["clusters"]} == {"STATIC"}, "no DNS"


def test_no_program_of_a_witness_opens_a_port_of_its_own() -> None:
    """The controllers are libraries here, with a client that keeps the objects in memory."""
    opening = re.compile(r"net\.Listen|ListenAndServe|http\.Serve\(|grpc\.NewServer|StartTestServer|envtest")
    programs = sorted(_HERE.rglob("*.go"))
    assert len(programs) > 5
    assert [str(path) for path in programs if opening.search(path.read_text(encoding="utf-8"))] == []
