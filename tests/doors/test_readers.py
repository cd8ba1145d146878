"""Every kind of door is known to every reader: trace, reach, diff, guardrails, network policies, the page and explain.

The table was written first: a door in front of pods that nobody else reaches, and what each reader has to say of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from policylint.compare import compare, pair_sides
from policylint.doors import PUBLISHED, with_doors
from policylint.guardrails import guardrails, verdicts
from policylint.reach import all_ways
from policylint.report.graph import GraphRequest
from policylint.report.graph.details import details
from policylint.simulation import Simulation
from policylint.trace import Trace, Tracer
from policylint.trace.request import from_url
from tests.doors.asking import ingress
from tests.doors.test_elsewhere import proxy
from tests.doors.test_istio import gateway, virtual
from tests.doors.test_openshift import route
from tests.doors.test_published import CLOSED, deployment, of_type
from tests.doors.test_traefik import SHOP, ingress_route, to
from tests.graph.worlds import drawn
from tests.graph.worlds import opened as workspace
from tests.worlds import gateway as edge_gateway
from tests.worlds import gateway_class, opened
from tests.worlds import route as gateway_route

CLUSTER_IP = of_type("ClusterIP")
ON_NODE = deployment("hostNetwork: true, ", "[{name: http, containerPort: 80}]")
KINDS = {
    "IngressClass": (CLUSTER_IP, deployment(), ingress()),
    "Router": (CLUSTER_IP, deployment(), route()),
    "EntryPoints": (CLUSTER_IP, deployment(), ingress_route(to(SHOP))),
    "HTTPProxies": (
        CLUSTER_IP,
        deployment(),
        proxy("virtualhost: {fqdn: shop.example.com}, routes: [{services: [{name: web, port: 80}]}]"),
    ),
    "Gateway": (CLUSTER_IP, deployment(), gateway(), virtual()),
    "LoadBalancer": (of_type("LoadBalancer"), deployment()),
    "NodePort": (of_type("NodePort", port="{name: http, port: 80, nodePort: 80}"), deployment()),
    "ExternalIP": (of_type("ClusterIP", "externalIPs: [192.0.2.1]"), deployment()),
    "HostPort": (CLUSTER_IP, deployment(ports="[{name: http, containerPort: 8080, hostPort: 80}]")),
    "HostNetwork": (CLUSTER_IP, ON_NODE),
}
WITHOUT = (CLUSTER_IP, deployment())
NOBODY = "{name: closed, never: {from: 0.0.0.0/0, to: Deployment/shop/web}}"


def world(folder: Path, *objects: str) -> Simulation:
    folder.mkdir(exist_ok=True)
    return opened(folder, *objects)


def asked(simulation: Simulation, kind: str) -> Trace:
    """Return the trace of a request at the only door."""
    (door,) = {each.gateway.key for each in with_doors(simulation).topology.gateways}
    assert door.kind == kind
    named = f"{kind}/{door.path}" if kind in PUBLISHED else ""
    return Tracer(simulation, nearest=False).trace(from_url("GET", "http://shop.example.com/", (), gateway=named))


def by_trace(folder: Path, kind: str) -> None:
    ends = [key.path for key in asked(world(folder, *KINDS[kind]), kind).outcome.backends]
    assert ends == ["shop/web"]


def by_reach(folder: Path, kind: str) -> None:
    ways = all_ways(world(folder, *KINDS[kind]))
    assert kind in {way.entry.gateway.kind for way in ways if way.trace.outcome.backends}


def by_diff(folder: Path, kind: str) -> None:
    (pair,) = pair_sides([world(folder / "before", *WITHOUT)], [world(folder / "after", *KINDS[kind])])
    (environment,) = compare([pair])
    assert environment.requests is not None
    assert {change.change for change in environment.requests.changes} == {"opened"}


def by_guardrails(folder: Path, kind: str) -> None:
    simulation = world(folder, *KINDS[kind])
    (verdict,) = verdicts(simulation, guardrails([yaml.safe_load(NOBODY)]))
    assert verdict.state == "broken"
    (kept,) = verdicts(world(folder / "kept", *WITHOUT), guardrails([yaml.safe_load(NOBODY)]))
    assert kept.state == "holds"


def by_network_policies(folder: Path, kind: str) -> None:
    """One for all pods lets nobody in; a node's network it does not bind."""
    trace = asked(world(folder, *KINDS[kind], CLOSED), kind)
    assert trace.outcome.refused is (kind != "HostNetwork")


def by_the_page(folder: Path, kind: str) -> None:
    (folder / "all.yaml").write_text("\n---\n".join(KINDS[kind]), encoding="utf-8")
    opened_here = workspace(folder)
    assert any(node.label.startswith(f"{kind} ") for node in drawn(opened_here).graph.nodes)
    from policylint.report.graph import draw

    known = details(draw(opened_here.simulations, GraphRequest()))["requests"]
    assert any(kind in door["gateway"] for door in known["doors"])


READERS: dict[str, Callable[[Path, str], None]] = {
    "trace": by_trace,
    "reach": by_reach,
    "diff": by_diff,
    "guardrails": by_guardrails,
    "network policies": by_network_policies,
    "the page": by_the_page,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_knows_every_kind(tmp_path: Path, reader: str, kind: str) -> None:
    READERS[reader](tmp_path, kind)


IN_A_TREE = """
import sys
from policylint.doors import with_doors
from policylint.reach import all_ways
from policylint.workspace import open_workspace
from policylint.checks import run

for simulation in open_workspace([sys.argv[1]]).simulations:
    assert [*all_ways(simulation)]
    run(simulation)
    assert with_doors(simulation) is simulation
print(*sorted(name for name in sys.modules if name.startswith("policylint.doors.")))
"""


def test_trees_without_doors_pay_nothing(tmp_path: Path) -> None:
    """No door is made of them, and nothing that makes one is imported: what is left is a look at the kinds."""
    objects = (gateway_class(), edge_gateway(), CLUSTER_IP.replace("name: web", "name: checkout"), gateway_route())
    (tmp_path / "all.yaml").write_text("\n---\n".join(objects), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", IN_A_TREE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    looked = {f"policylint.doors.{name}" for name in ("peculiar", "vendors", "out_of_sight", "variables")}
    assert set(done.stdout.split()) <= looked
