"""`graph --layer network`: boxes of ends that no policy tells apart, a line for each connection that one decides on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from policylint.catalog.kinds import load_catalog
from policylint.cli import main
from policylint.report.graph import GraphRequest, connections, draw, write
from policylint.report.graph.model import Graph
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation, simulate
from tests.conftest import Golden
from tests.graph.test_changes import git
from tests.graph.worlds import FIXTURES, apart
from tests.network.worlds import manifest, random_world, world


def simulated(manifests: list[dict[str, Any]], **facts: Any) -> Simulation:
    return simulate(world(manifests, **facts), load_catalog())


def graph_of(simulation: Simulation, *namespaces: str) -> Graph:
    return connections.build(simulation, Names.of([simulation]), namespaces)


@pytest.mark.parametrize("seed", range(60))
def test_a_line_says_what_is_answered_for_each_of_its_ends(seed: int) -> None:
    simulation = simulated(random_world(seed)[0], partial=bool(seed % 3))
    network, graph = simulation.network, graph_of(simulation)
    drawn: dict[tuple[str, str], dict[str, str]] = {}
    for edge in graph.edges:
        for source in graph.nodes[edge.start].nodes or (None,):
            for target in graph.nodes[edge.end].nodes or (None,):
                if source is not None and target is not None:
                    drawn.setdefault((str(source.key), str(target.key)), {})[edge.label] = edge.effect
    for (source, target), lines in drawn.items():
        ends = network.numbers[source], network.numbers[target]
        for port in (53, 80, 443, 8080, 9090):
            for protocol in ("TCP", "UDP", "SCTP"):
                bits = network.universe.ports.at(protocol, port)
                answer = network.ask(*ends, bits).verdict
                said = [effect for words, effect in lines.items() if _holds(words, protocol, port)]
                assert said == {"allowed": ["link"], "unknown": ["unknown"], "denied": []}[answer]


def _holds(words: str, protocol: str, port: int) -> bool:
    if words == "all":
        return True
    current = ""
    for word in words.split(","):
        head, _, rest = word.strip().rpartition(" ")
        current = head or current
        low, _, high = rest.partition("-")
        if current == protocol and (rest == "all" or int(low) <= port <= int(high or low)):
            return True
    return False


def test_the_fixture_as_the_user_sees_it(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apart(FIXTURES / "network-shop"))
    said = CliRunner().invoke(main, ["graph", "--layer", "network", "."])
    golden("network-shop.mermaid", said.stdout)


def test_one_policy_or_workload_is_in_focus() -> None:
    runner = CliRunner()
    for name in ("NetworkPolicy/shop/postgres", "StatefulSet/shop/postgres"):
        said = runner.invoke(main, ["graph", name, "--layer", "network", str(apart(FIXTURES / "network-shop"))])
        assert '(isolated for ingress)"]:::focus' in said.stdout


def test_workloads_between_which_no_policy_tells_a_difference_share_a_box() -> None:
    pods = [manifest("v1", "Pod", name, "shop", labels={"app": "a"}, spec={"containers": []}) for name in "abcde"]
    rule = {"from": [{"podSelector": {}}], "ports": [{"port": 80}]}
    policy = manifest("networking.k8s.io/v1", "NetworkPolicy", "p", "shop", spec={"podSelector": {}, "ingress": [rule]})
    (box,) = graph_of(simulated([*pods, policy])).nodes
    assert (box.many, box.title) == (5, "shop/a, shop/b, shop/c and 2 more")
    assert box.state == "isolated for ingress; among themselves TCP 80"


def test_a_large_world_is_bounded_in_every_format() -> None:
    manifests = []
    for number in range(400):
        labels, spec = {"app": f"a{number}"}, {"containers": []}
        manifests.append(manifest("v1", "Pod", f"p{number}", "shop", labels=labels, spec=spec))
        peer = {"podSelector": {"matchLabels": {"app": f"a{number - 1}"}}}
        spec = {"podSelector": {"matchLabels": labels}, "ingress": [{"from": [peer]}]}
        manifests.append(manifest("networking.k8s.io/v1", "NetworkPolicy", f"n{number}", "shop", spec=spec))
    drawing = draw([simulated(manifests)], GraphRequest(layer="network"))
    assert len(drawing.graph.nodes) <= connections.MOST_BOXES
    assert any("groups of workloads" in sentence for sentence in drawing.graph.left_out)
    for form in ("mermaid", "dot", "svg", "html"):
        assert "left out" in "".join(write(form, drawing)) or form == "html"


def test_what_a_change_opens_and_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "shop"
    shutil.copytree(FIXTURES / "network-shop", place)
    monkeypatch.chdir(place)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "before")
    policies = place / "policies.yaml"
    policies.write_text(policies.read_text().replace("port: sql", "port: 5433"))
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: shop}\nspec: {containers: []}\n"
    (place / "new.yaml").write_text(pod)
    git("add", ".")
    git("commit", "-qm", "after")
    said = CliRunner().invoke(main, ["graph", "--layer", "network", "--diff", "HEAD~1..HEAD"])
    assert said.exit_code == 0, said.output
    assert '["Deployment shop/checkout"]' in said.stdout and '["StatefulSet shop/postgres"]' in said.stdout
    assert "TCP 5432 -#62; TCP 5433" in said.stdout
    assert '["+ Pod shop/new"]:::added' in said.stdout
    for form in ("svg", "dot", "html"):
        said = CliRunner().invoke(main, ["graph", "--layer", "network", "--diff", "HEAD~1..HEAD", "-o", form])
        assert "5433" in said.stdout and said.exit_code == 0
    said = CliRunner().invoke(main, ["graph", "--layer", "network", "--diff", "HEAD~1..HEAD", "-n", "infra"])
    assert "postgres" not in said.stdout
    same = CliRunner().invoke(main, ["graph", "--layer", "network", "--diff", "HEAD..HEAD"])
    assert "nothing to draw: nothing changes" in same.stderr


def test_without_network_policies_there_is_nothing_to_draw(tmp_path: Path) -> None:
    said = CliRunner().invoke(main, ["graph", "--layer", "network", str(apart(FIXTURES / "envoy-gateway-shop"))])
    assert "nothing to draw: no network policy bears on anything" in said.stderr
    wrong = CliRunner().invoke(main, ["graph", "--layer", "network", "--kind", "Service", str(tmp_path)])
    assert wrong.exit_code == 2
