"""Cases beside mended ones: what Traefik makes no router of, whatever names it, and who takes a name first.

Predicted from traefik/traefik v3.7, pkg/provider/kubernetes/crd (kubernetes.go, kubernetes_{http,tcp,udp}.go)
and pkg/server/router/tcp/router.go.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import RequestError
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

WEB = service("web", "shop", ports="[{port: 80}]")
OUTSIDE = manifest(
    "v1", "Service", "out", "shop", "spec: {type: ExternalName, externalName: a.example.net, ports: [{port: 80}]}"
)
CLASS = manifest(
    "networking.k8s.io/v1", "IngressClass", "traefik", "", "spec: {controller: traefik.io/ingress-controller}"
)
URL = "https://shop.example.com/api"


def traefik(*arguments: str) -> str:
    container = f"{{name: t, image: 'traefik:v3.3', args: [--providers.kubernetescrd, {', '.join(arguments)}]}}"
    template = f"template: {{metadata: {{labels: {{app: t}}}}, spec: {{containers: [{container}]}}}}"
    return manifest(
        "apps/v1", "Deployment", "t", "traefik", f"spec: {{selector: {{matchLabels: {{app: t}}}}, {template}}}"
    )


def of_traefik(kind: str, name: str, spec: str) -> str:
    return manifest("traefik.io/v1alpha1", kind, name, "shop", f"spec: {{{spec}}}")


def route(name: str, path: str, services: str, middlewares: str = "") -> str:
    match = f"Host(`shop.example.com`) && PathPrefix(`{path}`)"
    rule = f"{{kind: Rule, match: {match}, services: [{services}], middlewares: [{middlewares}]}}"
    return of_traefik("IngressRoute", name, f"entryPoints: [websecure], routes: [{rule}], tls: {{}}")


REST = service("rest", "shop", ports="[{port: 80}]")
ALL = route("all", "/", "{name: rest, port: 80}")
TO_W = route("api", "/api", "{name: w, kind: TraefikService}")
PAGES = route("api", "/api", "{name: web, port: 80}", "{name: m}")


def told(rule: str, *objects: str) -> list[str]:
    return [each.message for each in run(simulated(*objects)) if each.rule == rule]


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize(
    ("objects", "by"),
    [
        (
            (TO_W, of_traefik("TraefikService", "w", "weighted: {services: [{name: out, port: 80}]}")),
            "TraefikService shop/w",
        ),
        (
            (
                TO_W,
                of_traefik("TraefikService", "w", "mirroring: {name: web, port: 80, mirrors: [{name: out, port: 80}]}"),
            ),
            "TraefikService shop/w",
        ),
        (
            (
                TO_W,
                of_traefik("TraefikService", "w", "weighted: {services: [{name: v, kind: TraefikService}]}"),
                of_traefik(
                    "TraefikService", "v", "weighted: {services: [{name: web, port: 80}, {name: out, port: 80}]}"
                ),
            ),
            "TraefikService shop/v",
        ),
        (
            (PAGES, of_traefik("Middleware", "m", "errors: {status: ['500'], service: {name: out, port: 80}}")),
            "Middleware shop/m",
        ),
        (
            (
                PAGES,
                of_traefik("Middleware", "m", "chain: {middlewares: [{name: e}]}"),
                of_traefik("Middleware", "e", "errors: {status: ['500'], service: {name: out, port: 80}}"),
            ),
            "Middleware shop/e",
        ),
    ],
    ids=["weighted", "mirror", "two levels", "pages", "pages in a chain"],
)
def test_a_service_that_is_a_name_whatever_names_it(objects: tuple[str, ...], by: str, allowed: bool) -> None:
    proxy = traefik("--providers.kubernetescrd.allowExternalNameServices=true") if allowed else traefik()
    world = (proxy, WEB, REST, OUTSIDE, ALL, *objects)
    said = f"IngressRoute shop/api names Service shop/out, an ExternalName, by {by}, which Traefik refuses"
    assert told("GWP415", *world) == ([] if allowed else [said])
    assert (answer(simulated(*world), URL)[0] == "rest") is not allowed


def test_a_middleware_whose_page_of_errors_is_missing_makes_no_router() -> None:
    broken = of_traefik("Middleware", "m", "errors: {status: ['500'], service: {name: gone, port: 80}}")
    denied = of_traefik("Middleware", "deny", "ipAllowList: {sourceRange: [192.0.2.1/32]}")
    asking = route("api", "/api", "{name: web, port: 80}", "{name: m}, {name: deny}")
    world = (traefik(), WEB, REST, ALL, asking, broken, denied)
    assert len(told("GWP415", *world)) == 1
    assert answer(simulated(*world), URL)[0] == "rest"


@pytest.mark.parametrize("kind", ["IngressRouteTCP", "IngressRouteUDP"])
@pytest.mark.parametrize("services", ["services: []", "middlewares: []"])
def test_connections_without_a_service(kind: str, services: str) -> None:
    rule = f"{{match: HostSNI(`*`), {services}}}" if kind == "IngressRouteTCP" else f"{{{services}}}"
    asked = of_traefik(kind, "db", f"entryPoints: [db], routes: [{rule}]")
    assert told("GWP415", WEB, asked) == [f"{kind} shop/db has a rule without services"]


def streams(match: str = "HostSNI(`shop.example.com`)", more: str = "") -> str:
    rule = f"{{match: {match}, services: [{{name: web, port: 80}}]}}"
    return of_traefik(
        "IngressRouteTCP", "raw", f"entryPoints: [websecure], routes: [{rule}], tls: {{passthrough: true}}{more}"
    )


@pytest.mark.parametrize(
    ("annotations", "connections", "is_first"),
    [
        ({"router.tls": "true"}, streams(), True),
        ({"router.tls": "true", "router.entrypoints": "websecure"}, streams(), True),
        ({"router.tls": "true", "router.entrypoints": "other"}, streams(), False),
        ({}, streams(), True),  # the entry point of the chart ends TLS
        ({"router.entrypoints": "web"}, streams(), False),
        ({"router.tls": "true"}, streams("HostSNI(`*`)"), False),
        ({"router.tls": "true"}, streams("HostSNI(`other.example.com`)"), False),
    ],
)
def test_an_ingress_takes_the_name_before_connections_for_it(
    annotations: dict[str, str], connections: str, is_first: bool
) -> None:
    door = ingress(of_class="traefik", prefix="traefik.ingress.kubernetes.io/", **annotations)
    does = "IngressRouteTCP shop/raw is for shop.example.com, whose TLS Ingress shop/web takes first"
    assert told("GWP415", CLASS, WEB, door, connections) == [does] * is_first
    try:
        end = answer(
            simulated(CLASS, WEB, door, connections), "tls://shop.example.com:443", gateway="EntryPoints/websecure"
        )[0]
    except RequestError:
        end = "none"
    assert (end == "none") == is_first
