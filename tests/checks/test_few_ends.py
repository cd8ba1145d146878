"""GWP604 numbers the ends of an environment once: its doors are asked among few ends, and among all where one is shut.

What is said must be what asking all ends says, whichever way in, policy and backend there is.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from policylint.checks import gateway_cut_off
from policylint.doors import with_doors
from policylint.network import hops
from policylint.network.state import Network
from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, manifest, route


def pods(name: str, namespace: str = "shop") -> str:
    body = (
        f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, "
        "spec: {containers: [{name: web, ports: [{containerPort: 8080}]}]}}}"
    )
    return manifest("apps/v1", "Deployment", name, namespace, body)


def service(name: str, more: str = "", selector: str = "web") -> str:
    body = f"spec: {{selector: {{app: {selector}}}, {more}ports: [{{port: 80, targetPort: 8080}}]}}"
    return manifest("v1", "Service", name, "shop", body)


def ingress(controller: str, backend: str = "web") -> tuple[str, str]:
    path = f"{{path: /, pathType: Prefix, backend: {{service: {{name: {backend}, port: {{number: 80}}}}}}}}"
    body = f"spec: {{ingressClassName: here, rules: [{{host: shop.example.com, http: {{paths: [{path}]}}}}]}}"
    return (
        manifest("networking.k8s.io/v1", "IngressClass", "here", body=f"spec: {{controller: {controller}}}"),
        manifest("networking.k8s.io/v1", "Ingress", "web", "shop", body),
    )


ISTIO = (
    manifest(
        "networking.istio.io/v1", "Gateway", "own", "shop",
        "spec: {selector: {istio: ingressgateway}, servers: [{hosts: ['*'], "
        "port: {number: 80, name: http, protocol: HTTP}}]}",
    ),
    manifest(
        "networking.istio.io/v1", "VirtualService", "web", "shop",
        "spec: {hosts: ['*'], gateways: [own], http: [{route: [{destination: {host: web, port: {number: 80}}}]}]}",
    ),
)  # fmt: skip
ELSEWHERE = manifest("v1", "Service", "alias", "shop", "spec: {type: ExternalName, externalName: web.shop.svc}")
WAYS_IN = {
    "cilium": ingress("cilium.io/ingress-controller"),
    "nginx": ingress("k8s.io/ingress-nginx"),
    "alias": (*ingress("k8s.io/ingress-nginx", "alias"), ELSEWHERE),
    "published": (service("door", "type: LoadBalancer, "),),
    "unseen": (service("door", "type: LoadBalancer, ", "nobody"),),
    "istio": ISTIO,
}
POLICIES = {
    "none": "ingress: [{}]",
    "closed": "ingress: []",
    "among": "ingress: [{from: [{podSelector: {}}]}]",
    "everywhere": "ingress: [{from: [{namespaceSelector: {}}]}]",
    "outside": "ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]",
    "other port": "ingress: [{ports: [{port: 9}]}]",
    "sending": "policyTypes: [Egress], egress: []",
}
GATEWAYS = (
    gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway("edge", "shop", of_class="envoy"),
    route("web", "shop", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
)


def environment(directory: Path, way_in: str, policy: str) -> Simulation:
    closing = manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "shop", f"spec: {{podSelector: {{}}, {policy}}}")
    listed = (pods("web"), pods("other"), service("web"), *WAYS_IN[way_in], closing, *GATEWAYS)
    (directory / "world.yaml").write_text("---\n".join(listed), encoding="utf-8")
    return open_workspace([str(directory)]).simulations[0]


@pytest.mark.parametrize(("way_in", "policy"), list(product(WAYS_IN, POLICIES)))
def test_what_few_ends_say_is_what_all_say(tmp_path: Path, way_in: str, policy: str) -> None:
    simulation = environment(tmp_path, way_in, POLICIES[policy])
    assert simulation.world.partial
    whole = list(gateway_cut_off._cut_off(with_doors(simulation)))
    assert list(gateway_cut_off.check(simulation)) == whole
    if policy == "closed":
        assert whole


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_all_ends_are_numbered_once_where_nothing_is_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way_in: str
) -> None:
    simulation = environment(tmp_path, way_in, POLICIES["none"])
    numbered: list[Network] = []

    class Counting(Network):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            numbered.append(self)

    monkeypatch.setattr(hops, "Network", Counting)
    assert simulation.network  # as other rules ask it
    assert not list(gateway_cut_off.check(simulation))
    assert [any(end.key.name == "other" for end in each.universe.endpoints) for each in numbered].count(True) == 1


def test_network_policies_are_read_once_with_and_without_doors(tmp_path: Path) -> None:
    simulation = environment(tmp_path, "published", POLICIES["none"])
    doors = with_doors(simulation)
    assert doors is not simulation
    assert doors.network_policies is simulation.network_policies


@pytest.mark.parametrize(("way_in", "policy"), list(product(WAYS_IN, POLICIES)))
def test_what_is_denied_is_told_without_asking_who_refuses_nothing(tmp_path: Path, way_in: str, policy: str) -> None:
    doors = with_doors(environment(tmp_path, way_in, POLICIES[policy]))
    whole, denials = doors.hops, doors.hops.for_denials()
    sent = gateway_cut_off._sent(doors)
    places = {(holder, *gateway_cut_off._place(doors, each, holder, backend)) for each, holder, backend in sent}
    assert places
    for place in places:
        said, told = (gateway_cut_off._way(doors, each, *place) for each in (whole, denials))
        assert (said.verdict == "denied") == (told.verdict == "denied")
        if said.verdict == "denied":
            assert told == said
    for opened in gateway_cut_off._opened(doors):
        said, told = whole.to_gateway(*opened), denials.to_gateway(*opened)
        assert (said.verdict == "denied") == (told.verdict == "denied")


@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_an_end_on_which_policies_bear_perhaps_is_not_asked_what_it_is_open_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direction: str
) -> None:
    """The pods of the backend and of the Gateway are unseen: what selects labels bears on them perhaps."""
    body = f"spec: {{podSelector: {{matchLabels: {{tier: own}}}}, policyTypes: [{direction}]}}"
    closing = (manifest("networking.k8s.io/v1", "NetworkPolicy", f"own-{n}", "shop", body) for n in range(3))
    listed = (service("web", "type: LoadBalancer, "), *closing, *GATEWAYS)
    (tmp_path / "world.yaml").write_text("---\n".join(listed), encoding="utf-8")
    simulation = open_workspace([str(tmp_path)]).simulations[0]
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr(Network, "row", lambda _, subject, way: asked.append((subject, way)) or ())
    assert not list(gateway_cut_off.check(simulation))
    assert asked == []
