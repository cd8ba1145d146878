"""A rule that its controller does not make leaves its requests to the next one that fits, in `trace` and `reach` alike.

Predicted from the sources that schemas/doors.yaml names (`unmade`), and those of the implementations for Gateways.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.reach import all_ways, entries, ways_in
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer, ingress
from tests.doors.test_traefik import installed, traefik
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

HOST = "shop.example.com"
API, REST = f"http://{HOST}/api", f"http://{HOST}/other"
BOTH = "/api Prefix nope, / Prefix web"
NAMESPACE = manifest("v1", "Namespace", "shop", "", "")
WEB = service("web", "shop")
TO_WEB = "services: [{name: web, port: 80}]"


def router(*routes: str, kind: str = "IngressRoute", more: str = "") -> str:
    """Traefik's rules, each as `expression | what is done`."""
    entries = [f"{{kind: Rule, match: '{match}', {does}}}" for match, does in (each.split(" | ") for each in routes)]
    return manifest("traefik.io/v1alpha1", kind, "web", "shop", f"spec: {{routes: [{', '.join(entries)}]{more}}}")


def made(kind: str, name: str, spec: str) -> str:
    return manifest("traefik.io/v1alpha1", kind, name, "shop", f"spec: {spec}")


def rules(first: str, then: str = TO_WEB) -> str:
    return router(f"Host(`{HOST}`) && PathPrefix(`/api`) | {first}", f"Host(`{HOST}`) | {then}")


NAMING = "middlewares: [{name: own}], services: [{name: web, port: 80}]"
BEYOND = "services: [{name: all, kind: TraefikService}]"
OTHER = [service("other", "shop")]
TO_OTHER = "services: [{name: other, port: 80}]"


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    ("of_class", "passes"),
    [
        ("traefik", 404),
        ("haproxy-ingress", 404),
        ("skipper", 404),
        ("nginx", 503),
        ("alb", 503),
    ],
)
def test_a_path_without_its_service(of_class: str, passes: int, *, kept: bool) -> None:
    world = [NAMESPACE, WEB, ingress(paths=BOTH if kept else "/api Prefix nope", of_class=of_class)]
    asked = simulated(*world)
    assert answer(asked, API)[0] == ("web" if kept and passes == 404 else str(passes))
    assert answer(asked, REST)[0] == ("web" if kept else "404")
    regions = {way.requests: way.trace.outcome for way in all_ways(asked) if way.entry.hostname == HOST}
    takes_all = kept and passes == 404
    assert any(each.backends for each in regions.values()) is kept
    assert (len([each for each in regions.values() if each.backends]) < len(regions)) is not takes_all


@pytest.mark.parametrize("prefix", ["haproxy.org/", "haproxy-ingress.github.io/"])
def test_nothing_redirects_to_https_where_there_is_no_rule(prefix: str) -> None:
    of_class = "haproxy"
    kept = ingress(paths="/ Prefix web", of_class=of_class, prefix=prefix, tls=True, ssl_redirect="true")
    gone = ingress(paths="/ Prefix nope", of_class=of_class, prefix=prefix, tls=True, ssl_redirect="true")
    assert answer(simulated(NAMESPACE, WEB, kept), API)[0].startswith("302 https")
    assert answer(simulated(NAMESPACE, WEB, gone), API)[0] == "404"


@pytest.mark.parametrize(
    ("first", "beside"),
    [
        ("services: [{name: nope, port: 80}]", []),
        ("services: [{name: web, port: 80}, {name: nope, port: 80}]", []),
        ("services: [{name: web, port: 99}]", []),
        (NAMING, []),
        ("services: []", []),
        ("middlewares: [{name: own}]", [made("Middleware", "own", "{redirectScheme: {scheme: https}}")]),
        (NAMING, [made("Middleware", "own", "{chain: {middlewares: [{name: gone}]}}")]),
        (NAMING, [made("Middleware", "own", "{addPrefix: {prefix: /a}, stripPrefix: {prefixes: [/b]}}")]),
        (BEYOND, [made("TraefikService", "all", "{weighted: {services: [{name: nope, port: 80}]}}")]),
        (BEYOND, []),
        (
            BEYOND,
            [
                made("TraefikService", "all", "{mirroring: {kind: TraefikService, name: one, mirrors: []}}"),
                made("TraefikService", "one", "{weighted: {services: [{name: nope, port: 80}]}}"),
            ],
        ),
    ],
)
def test_a_rule_of_traefik_for_which_there_is_no_router(first: str, beside: list[str]) -> None:
    world = [NAMESPACE, WEB, *OTHER, *beside]
    assert answer(simulated(*world, rules(first, TO_OTHER)), API)[0] == "other"
    assert answer(simulated(*world, rules(first, TO_OTHER)), REST)[0] == "other"
    alone = simulated(*world, router(f"Host(`{HOST}`) | {first}"))
    assert answer(alone, API)[0] == "404"


def test_a_rule_without_services_has_routers_below_it() -> None:
    parent = router(f"Host(`{HOST}`) | middlewares: [{{name: own}}]")
    child = router(f"PathPrefix(`/api`) | {TO_WEB}", more=", parentRefs: [{name: web}]").replace(
        "name: web, n", "name: child, n"
    )
    beside = [made("Middleware", "own", "{redirectScheme: {scheme: https}}"), WEB, NAMESPACE]
    told = [finding for finding in run(simulated(*beside, parent)) if "without services" in finding.message]
    assert len(told) == 1
    assert not [each for each in run(simulated(*beside, parent, child)) if "without services" in each.message]


def test_what_is_asked_where_there_is_no_router_is_asked_of_nobody() -> None:
    login = made("Middleware", "own", "{basicAuth: {secret: users}}")
    asked = "middlewares: [{name: own}], services: [{name: nope, port: 80}]"
    secret = manifest("v1", "Secret", "users", "shop", "stringData: {users: 'a:b'}")
    world = simulated(NAMESPACE, WEB, login, secret, rules(asked))
    assert answer(world, API) == ("web", "")
    ended = Tracer(world).trace(from_url("GET", API, ()))
    assert [each.because for each in ended.considered] == ["no rule is made of it: nothing deploys Service shop/nope"]
    told = [finding.label for finding in run(world) if finding.rule == "GWP415"]
    assert told == ["no rule is made of it: its requests go to another one that fits, else they are answered with 404"]


@pytest.mark.parametrize(("services", "ends"), [("nope", "web"), ("nope, gone", "web"), ("other, nope", "other")])
def test_connections_of_a_router_without_any_service(services: str, ends: str) -> None:
    named = ", ".join(f"{{name: {name}, port: 80}}" for name in services.split(", "))
    of_tls = router(
        f"HostSNI(`{HOST}`) | services: [{named}]",
        f"HostSNI(`*`) | {TO_WEB}",
        kind="IngressRouteTCP",
        more=", entryPoints: [websecure], tls: {}",
    )
    assert answer(simulated(NAMESPACE, WEB, *OTHER, of_tls), f"tls://{HOST}:443")[0] == ends


OF_CILIUM = gateway_class("any", "io.cilium/gateway-controller")
OF_GKE = gateway_class("any", "networking.gke.io/gateway")
OF_ENVOY = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
OF_TRAEFIK = gateway_class("any", "traefik.io/gateway-controller")
SETS_HOST = "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: a}]}}]"
EXTENDED = "filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: gone}}]"


@pytest.mark.parametrize(
    ("of_class", "first"),
    [
        (OF_CILIUM, SETS_HOST),
        (OF_GKE, "timeouts: {request: 1s}"),
        (OF_ENVOY, "sessionPersistence: {idleTimeout: 1h}"),
        (OF_TRAEFIK, EXTENDED),
    ],
)
@pytest.mark.parametrize("kept", [True, False])
def test_a_rule_of_gateway_api_of_which_nothing_is_made(of_class: str, first: str, *, kept: bool) -> None:
    to_api = "matches: [{path: {value: /api}}], backendRefs: [{name: web, port: 80}]"
    named = f"hostnames: [{HOST}], rules: [{{{to_api}, {first}}}]"
    other = route("other", more=f"hostnames: [{HOST}], rules: [{{backendRefs: [{{name: other, port: 80}}]}}]")
    world = simulated(
        NAMESPACE,
        WEB,
        *OTHER,
        of_class,
        gateway(of_class="any"),
        route("first", more=named),
        *([other] if kept else ()),
    )
    assert answer(world, API)[0] == ("other" if kept else "404")


@pytest.mark.parametrize("kind", ["IngressRouteTCP", "IngressRouteUDP"])
@pytest.mark.parametrize(
    ("services", "shares"),
    [
        ("{name: web, port: 80, weight: 1}, {name: nope, port: 80, weight: 3}", {"web": 1.0}),
        ("{name: web, port: 80, weight: 1}, {name: other, port: 81, weight: 3}", {"web": 1.0}),
        ("{name: web, port: 80, weight: 1}, {name: other, port: 80, weight: 3}", {"web": 0.25, "other": 0.75}),
        ("{name: nope, port: 80, weight: 1}, {name: none, port: 80, weight: 3}", {}),
    ],
    ids=["a missing Service", "a missing port", "both are there", "none is there"],
)
def test_connections_go_to_the_services_that_are_there(kind: str, services: str, shares: dict[str, float]) -> None:
    """Traefik leaves out what it cannot use (kubernetes_tcp.go and kubernetes_udp.go), and weighs the others."""
    match = "match: 'HostSNI(`shop.example.com`)', " if kind == "IngressRouteTCP" else ""
    tls = ", tls: {passthrough: true}" if kind == "IngressRouteTCP" else ""
    spec = f"spec: {{routes: [{{{match}services: [{services}]}}]{tls}}}"
    world = simulated(NAMESPACE, WEB, *OTHER, manifest("traefik.io/v1alpha1", kind, "web", "shop", spec))
    tracer = Tracer(world)
    points = [each for each in entries(tracer) if each.scheme in ("tls", "udp")]
    (way,) = [way for entry in points[:1] for way in ways_in(tracer, entry)][:1]
    outcome = way.trace.outcome
    assert ({key.name: share for key, share in outcome.backends.items()}, outcome.failing > 0) == (shares, not shares)


@pytest.mark.parametrize(("of_class", "beside"), [("traefik", "404"), ("nginx", "other"), ("haproxy-ingress", "other")])
@pytest.mark.parametrize("rules_of", ["paths", "none"])
def test_a_default_backend_beside_rules(of_class: str, beside: str, rules_of: str) -> None:
    """Traefik reads it where an Ingress has no rules alone (kubernetes.go, loadConfigurationFromIngresses, v3.7)."""
    default = "defaultBackend: {service: {name: other, port: {number: 80}}}"
    paths = "/api Prefix web" if rules_of == "paths" else ""
    world = simulated(NAMESPACE, WEB, *OTHER, ingress(paths=paths, of_class=of_class, more=default))
    assert answer(world, API)[0] == ("web" if paths else "other")
    assert answer(world, REST)[0] == (beside if paths else "other")


OPTION = "providers.kubernetesIngress.allowExternalNameServices"
NAME = manifest(
    "v1", "Service", "name", "shop", "spec: {type: ExternalName, externalName: a.example.net, ports: [{port: 80}]}"
)


@pytest.mark.parametrize(
    ("of_class", "settings", "end", "sure"),
    [
        ("traefik", (), "name", False),
        ("traefik", (traefik("--providers.kubernetesingress"),), "web", True),
        ("traefik", (traefik(f"--{OPTION}=true"),), "name", True),
        ("traefik", (traefik("--providers.kubernetescrd.allowExternalNameServices=true"),), "name", False),
        ("traefik", (installed("{}"),), "web", True),
        ("traefik", (installed("{providers: {kubernetesIngress: {allowExternalNameServices: true}}}"),), "name", True),
        ("nginx", (traefik("--providers.kubernetesingress"),), "name", True),
    ],
)
def test_a_path_for_a_service_that_is_a_name(of_class: str, settings: tuple[str, ...], end: str, *, sure: bool) -> None:
    """kubernetes.go, loadService (v3.7): the path is skipped, and another one takes its requests."""
    world = simulated(
        NAMESPACE, WEB, NAME, ingress(paths="/api Prefix name, / Prefix web", of_class=of_class), *settings
    )
    assert answer(world, API)[0] == end
    assert answer(world, REST)[0] == "web"
    takes = f"its controller takes only with --{OPTION}"
    told = [each.message for each in run(world, select={"GWP415"})]
    is_told = [f"Ingress shop/web sends requests to Service shop/name, an ExternalName, which {takes}"]
    assert told == (is_told if end == "web" else [])
    notes = Tracer(world, nearest=False).trace(from_url("GET", API)).notes
    assert any(takes in note for note in notes) is (of_class == "traefik" and not sure)


def test_a_default_backend_that_is_not_read_may_be_a_name() -> None:
    more = "defaultBackend: {service: {name: name, port: {number: 80}}}"
    of_traefik = traefik("--providers.kubernetesingress")
    read = simulated(NAMESPACE, WEB, NAME, ingress(paths="", of_class="traefik", more=more), of_traefik)
    assert [each.rule for each in run(read, select={"GWP415"})] == ["GWP415"]
    unread = simulated(NAMESPACE, WEB, NAME, ingress(paths="/ Prefix web", of_class="traefik", more=more), of_traefik)
    assert not list(run(unread, select={"GWP415"}))
