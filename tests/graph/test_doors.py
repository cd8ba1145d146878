"""Ways in that are no Gateways are drawn: the door, what lets requests in there, where they go, and what is asked."""

from __future__ import annotations

from pathlib import Path

from policylint.report.graph.exposure import exposures
from policylint.simulation import Simulation
from tests.doors.asking import ingress
from tests.graph.worlds import drawn, opened
from tests.worlds import manifest, service, simulated

PUBLISHED = manifest(
    "v1", "Service", "direct", "shop", "spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}"
)


def lines(folder: Path, *manifests: str) -> set[tuple[str, str, str, str]]:
    (folder / "all.yaml").write_text("\n---\n".join(manifests), encoding="utf-8")
    graph = drawn(opened(folder)).graph
    return {
        (graph.nodes[each.start].label, each.effect, each.label, graph.nodes[each.end].label) for each in graph.edges
    }


def test_an_ingress_stands_between_its_class_and_its_service(tmp_path: Path) -> None:
    found = lines(tmp_path, service("web"), ingress(auth_url="http://sso/"))
    assert found == {
        ("IngressClass nginx", "effective", "externalAuth", "Ingress shop/web"),
        ("Ingress shop/web", "link", "", "Service shop/web"),
    }


def test_an_ingress_that_asks_nothing_is_a_plain_line(tmp_path: Path) -> None:
    assert ("IngressClass nginx", "link", "", "Ingress shop/web") in lines(tmp_path, service("web"), ingress())


def test_a_backend_that_is_not_there_is_drawn_so(tmp_path: Path) -> None:
    found = lines(tmp_path, service("other"), ingress(paths="/ Prefix gone"))
    assert ("Ingress shop/web", "dangling", "not found", "Service shop/gone") in found


def test_a_published_service_is_a_door_of_its_own(tmp_path: Path) -> None:
    assert lines(tmp_path, PUBLISHED) == {("LoadBalancer shop/direct", "link", "", "Service shop/direct")}


def test_a_virtual_service_stands_below_istios_own_gateway(tmp_path: Path) -> None:
    gateway = manifest(
        "networking.istio.io/v1",
        "Gateway",
        "public",
        "infra",
        "spec: {selector: {istio: ingress}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}",
    )
    virtual = manifest(
        "networking.istio.io/v1",
        "VirtualService",
        "web",
        "shop",
        "spec: {hosts: [a.example.com], gateways: [infra/public],"
        " http: [{route: [{destination: {host: web, port: {number: 80}}}]}]}",
    )
    found = lines(tmp_path, service("web"), gateway, virtual)
    assert ("VirtualService shop/web", "link", "", "Service shop/web") in found
    assert {start for start, _, _, end in found if end == "VirtualService shop/web"} == {"Gateway infra/public"}


def told(simulation: Simulation) -> list[tuple[str, str, str]]:
    return [(str(each.gateway), str(each.route), each.state) for each in exposures([simulation]) or ()]


def test_the_page_says_who_may_reach_them() -> None:
    simulation = simulated(service("web"), ingress(auth_url="http://sso/"), PUBLISHED)
    assert told(simulation) == [
        ("IngressClass nginx", "Ingress shop/web", "login"),
        ("LoadBalancer shop/direct", "LoadBalancer shop/direct", "open"),
    ]
