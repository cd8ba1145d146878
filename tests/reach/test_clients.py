"""`reach --from`: the requests of some clients alone, answered as `trace` answers each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.report.reach import Question, find
from policylint.simulation import Simulation
from policylint.spaces.addresses import address_set
from policylint.trace import Request, Tracer
from policylint.workspace import open_workspace
from tests import worlds
from tests.diff.history import run

WORLD = "---\n".join(
    (
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="eg"),
        worlds.route("web", more="hostnames: [shop.example.com], rules: [{backendRefs: [{name: web, port: 80}]}]"),
        worlds.service("web"),
        worlds.policy(
            "gateway.envoyproxy.io/v1alpha1",
            "SecurityPolicy",
            "office",
            "HTTPRoute/web",
            "authorization: {defaultAction: Deny, rules: [{action: Deny, principal: {clientCIDRs: [10.1.0.0/16]}}, "
            "{action: Allow, principal: {clientCIDRs: [10.0.0.0/8, '2001:db8::/32']}}]}",
            namespace="shop",
        ),
    )
)


@pytest.fixture
def simulation(tmp_path: Path) -> Simulation:
    (tmp_path / "all.yaml").write_text(WORLD)
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    return simulation


def ways(simulation: Simulation, *clients: str) -> list[tuple[str, str, str]]:
    found = find([simulation], Question(clients=address_set(clients).text))
    return [
        (row.way.requests, str(row.way.trace.outcome.status or 200), row.way.trace.request.address or "")
        for row in found.rows
    ]


@pytest.mark.parametrize(
    ("clients", "expected"),
    [
        (["10.2.0.0/16"], [("every request", "200", "10.2.0.1")]),
        (["10.1.2.3"], [("every request", "403", "10.1.2.3")]),
        (["192.0.2.0/24"], [("every request", "403", "192.0.2.1")]),
        (["2001:db8::/48"], [("every request", "200", "2001:db8::1")]),
        (["10.1.2.3", "10.2.2.3"], [("from 10.2.2.3/32", "200", "10.2.2.3"), ("from 10.1.2.3/32", "403", "10.1.2.3")]),
    ],
)
def test_the_requests_of_some_clients(
    simulation: Simulation, clients: list[str], expected: list[tuple[str, str, str]]
) -> None:
    assert ways(simulation, *clients) == expected


@pytest.mark.parametrize(
    "address", ["10.0.0.0", "10.1.0.0", "10.1.255.255", "10.2.0.0", "11.0.0.0", "2001:db8::1", "::1"]
)
def test_an_address_is_answered_as_trace_answers_it(simulation: Simulation, address: str) -> None:
    (way,) = ways(simulation, address)
    outcome = Tracer(simulation).trace(Request(host="shop.example.com", port=80, address=address)).outcome
    assert way[1] == str(outcome.status or 200)


def test_what_is_no_address(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(WORLD)
    code, _, said = run(tmp_path, "reach", "--from", "10.0.0.0/33")
    assert code == 2
    assert "'10.0.0.0/33' is neither an address nor a network such as 10.0.0.0/8" in said
