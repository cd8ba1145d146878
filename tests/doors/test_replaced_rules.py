"""Entries of objects of which another one takes the place, and ports that Services do not have (GWP415).

Predicted from projectcontour/contour @ 31c4bb38e, internal/dag (computeRoutes, VirtualHost.AddRoute: what is included
comes first, the last counts), and traefik/traefik, pkg/provider/kubernetes/crd (routers are called after their match).
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

SERVICES = (service("one", "shop"), service("two", "shop"))


def proxy(spec: str, name: str = "root", *, is_root: bool = True) -> str:
    host = "virtualhost: {fqdn: shop.example.com}, " if is_root else ""
    return manifest("projectcontour.io/v1", "HTTPProxy", name, "shop", f"spec: {{{host}{spec}}}")


def to(backend: str, conditions: str = "{prefix: /a}") -> str:
    return f"{{conditions: [{conditions}], services: [{{name: {backend}, port: 80}}]}}"


def told(*objects: str) -> list[str]:
    found = run(simulated(*SERVICES, *objects), select={"GWP415"})
    return sorted(f"{each.resources[0].name} {each.field}" for each in found)


INCLUDED = "{prefix: /a}"
HEADERS = ("{header: {name: a, exact: xx}}", "{header: {name: b, exact: yy}}")


@pytest.mark.parametrize(
    ("objects", "lost", "reached"),
    [
        ((proxy(f"routes: [{to('one')}, {to('two')}]"),), ["root spec.routes[0]"], "two"),
        ((proxy(f"routes: [{to('one')}, {to('two', '{prefix: /a/}')}]"),), [], "one"),  # another prefix
        (
            (
                proxy(f"routes: [{to('one')}], includes: [{{name: child, conditions: [{INCLUDED}]}}]"),
                proxy("routes: [{services: [{name: two, port: 80}]}]", "child", is_root=False),
            ),
            ["child spec.routes[0]"],
            "one",
        ),
        (
            (
                proxy("includes: [{name: child}, {name: other}]"),
                proxy(f"routes: [{to('one')}]", "child", is_root=False),
                proxy(f"routes: [{to('two')}]", "other", is_root=False),
            ),
            ["child spec.routes[0]"],
            "two",
        ),
        (
            (proxy(f"routes: [{to('one', ', '.join(HEADERS))}, {to('two', ', '.join(reversed(HEADERS)))}]"),),
            ["root spec.routes[0]"],
            "two",
        ),
    ],
)
def test_of_routes_of_contour_with_the_same_conditions_the_last_is_made(
    objects: tuple[str, ...], lost: list[str], reached: str
) -> None:
    assert told(*objects) == lost
    world = simulated(*SERVICES, *objects)
    assert answer(world, "http://shop.example.com/a", headers=("a: xx", "b: yy"))[0] == reached


@pytest.mark.parametrize(
    ("kind", "match"), [("IngressRoute", "Host(`shop.example.com`)"), ("IngressRouteTCP", "HostSNI(`*`)")]
)
@pytest.mark.parametrize("priorities", [(30, 20), (20, 30)])
def test_of_rules_of_traefik_that_read_alike_the_last_has_a_router(
    kind: str, match: str, priorities: tuple[int, int]
) -> None:
    routes = ", ".join(
        f"{{kind: Rule, match: '{match}', priority: {priority}, services: [{{name: {name}, port: 80}}]}}"
        for name, priority in zip(("one", "two"), priorities, strict=True)
    )
    spec = f"spec: {{entryPoints: [web], routes: [{routes}]}}"
    assert told(manifest("traefik.io/v1alpha1", kind, "web", "shop", spec)) == ["web spec.routes[0].match"]


ROUTER = "{{routes: [{{kind: Rule, match: 'Host(`a.example`)', services: [{{name: one, port: {port}}}]}}]}}"
SERVER = "{{host: a.example, upstreams: [{{name: u, service: one, port: {port}}}]}}"
ROOT = "{{virtualhost: {{fqdn: a.example}}, routes: [{{services: [{{name: one, port: {port}}}]}}]}}"
WEIGHTED = "{{weighted: {{services: [{{name: one, port: {port}}}]}}}}"
KONG = "{{rules: [{{port: 9000, backend: {{serviceName: one, servicePort: {port}}}}}]}}"


@pytest.mark.parametrize(
    ("version", "kind", "spec", "field"),
    [
        ("projectcontour.io/v1", "HTTPProxy", ROOT, "spec.routes[0].services[0].port"),
        ("traefik.io/v1alpha1", "IngressRoute", ROUTER, "spec.routes[0].services[0].port"),
        ("traefik.io/v1alpha1", "TraefikService", WEIGHTED, "spec.weighted.services[0].port"),
        ("k8s.nginx.org/v1", "VirtualServer", SERVER, "spec.upstreams[0].port"),
        ("configuration.konghq.com/v1beta1", "TCPIngress", KONG, "spec.rules[0].backend.servicePort"),
    ],
)
def test_a_port_that_the_service_does_not_have(version: str, kind: str, spec: str, field: str) -> None:
    way_in = manifest(
        "projectcontour.io/v1", "HTTPProxy", "way-in", "shop", f"spec: {ROOT.format(port=80).replace('a.e', 'b.e')}"
    )
    for port, said in (("8081", [f"web {field}"]), ("80", []), ("${PORT}", [])):
        assert told(way_in, manifest(version, kind, "web", "shop", f"spec: {spec.format(port=port)}")) == said


@pytest.mark.parametrize(
    ("made", "lacking"),
    [
        (service("web", "shop"), False),
        (service("web", "shop", more="ports: [{port: 8081}]"), True),
        (service("web", "shop", more="ports: [{port: 8081, targetPort: 80}]"), False),  # ingress-nginx takes it
        (service("web", "shop", more="type: ExternalName, externalName: a.example.net, ports: [{port: 1}]"), False),
    ],
)
def test_ports_of_ingresses(made: str, lacking: bool) -> None:
    assert bool(told(made, ingress())) == lacking
