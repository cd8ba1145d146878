"""Traefik's IngressRoutes: rules, priorities, entry points, TLS, and what Middlewares ask.

What is expected was written down from doc.traefik.io (IngressRoute, rules and priorities) first.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.doors import with_doors
from policylint.doors.traefik_rules import Matcher, alternatives
from policylint.reach import end_in_words, entries, stated, ways_in
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated


def ingress_route(*routes: str, more: str = "", name: str = "web") -> str:
    fields = [more, f"routes: [{', '.join(routes)}]"]
    spec = f"spec: {{{', '.join(filter(None, fields))}}}"
    return manifest("traefik.io/v1alpha1", "IngressRoute", name, "shop", spec)


def to(match: str, backend: str = "web", more: str = "") -> str:
    fields = [f"match: '{match}'", "kind: Rule", f"services: [{{name: {backend}, port: 80}}]", more]
    return f"{{{', '.join(filter(None, fields))}}}"


def middleware(spec: str, name: str = "m") -> str:
    return manifest("traefik.io/v1alpha1", "Middleware", name, "shop", f"spec: {spec}")


def ends(
    *objects: str, url: str = "http://shop.example.com/", client: str = "", method: str = "GET"
) -> tuple[str, str]:
    return answer(simulated(service("web"), service("next"), *objects), url, client, method=method)


def ended(*objects: str) -> tuple[str, str]:
    """Return where a request ends, and what is noted about that."""
    trace = Tracer(simulated(service("web"), service("next"), *objects), nearest=False).trace(
        from_url("GET", "http://shop.example.com/")
    )
    return next((key.path for key in trace.outcome.backends), str(trace.outcome.status)), "; ".join(trace.notes)


SHOP = "Host(`shop.example.com`)"


@pytest.mark.parametrize(
    ("objects", "url", "end"),
    [
        ((ingress_route(to(SHOP)),), "http://shop.example.com/x", "web"),
        ((ingress_route(to(SHOP)),), "http://other.example.com/x", "404"),
        ((ingress_route(to("PathPrefix(`/`)")),), "http://other.example.com/x", "web"),
        ((ingress_route(to("Host(`a.example`) || Host(`b.example`)")),), "http://b.example/", "web"),
        ((ingress_route(to("Host(`a.example`, `b.example`)")),), "http://b.example/", "web"),
        # a prefix is one of the text; the longer rule first
        (
            (ingress_route(to(SHOP), to(f"{SHOP} && PathPrefix(`/api`)", "next")),),
            "http://shop.example.com/apix",
            "next",
        ),
        ((ingress_route(to(SHOP), to(f"{SHOP} && PathPrefix(`/api`)", "next")),), "http://shop.example.com/", "web"),
        ((ingress_route(to(f"{SHOP} && Path(`/api`)", "next")),), "http://shop.example.com/api/x", "404"),
        (
            (ingress_route(to(SHOP, more="priority: 100"), to(f"{SHOP} && PathPrefix(`/api`)", "next")),),
            "http://shop.example.com/api",
            "web",
        ),
        (
            (ingress_route(to(f"{SHOP} && (Path(`/a`) || Path(`/b`))")),),
            "http://shop.example.com/b",
            "web",
        ),
        # entry points and TLS
        ((ingress_route(to(SHOP), more="entryPoints: [websecure]"),), "http://shop.example.com/", "404"),
        ((ingress_route(to(SHOP), more="entryPoints: [websecure], tls: {}"),), "https://shop.example.com/", "web"),
        ((ingress_route(to(SHOP), more="tls: {secretName: c}"),), "http://shop.example.com/", "404"),
        ((ingress_route(to(SHOP), more="entryPoints: [web]"),), "https://shop.example.com/", "404"),
    ],
)
def test_where_requests_end(objects: tuple[str, ...], url: str, end: str) -> None:
    assert ends(*objects, url=url)[0] == end


def test_methods_tell_rules_apart() -> None:
    objects = ingress_route(to(f"{SHOP} && Method(`POST`)"))
    assert [ends(objects, method=method)[0] for method in ("POST", "GET")] == ["web", "404"]


NAMED = "middlewares: [{name: m}]"


@pytest.mark.parametrize(
    ("objects", "end"),
    [
        ((ingress_route(to(SHOP)),), ("web", "")),
        ((ingress_route(to(SHOP, more=NAMED)), middleware("{basicAuth: {secret: s}}")), ("web", "basicAuth")),
        (
            (ingress_route(to(SHOP, more=NAMED)), middleware("{forwardAuth: {address: 'http://a'}}")),
            ("web", "forwardAuth"),
        ),
        ((ingress_route(to(SHOP, more=NAMED)), middleware("{compress: {}}")), ("web", "")),
        ((ingress_route(to(SHOP, more="middlewares: [{name: m@file}]")),), ("web", "not known")),
    ],
)
def test_what_middlewares_ask(objects: tuple[str, ...], end: tuple[str, str]) -> None:
    assert ends(*objects) == end


BOTH = "middlewares: [{name: a}, {name: b}]"
TO_HTTPS, OFFICE, LOGIN = (
    "{redirectScheme: {scheme: https, permanent: true}}",
    "{ipAllowList: {sourceRange: [10.0.0.0/8]}}",
    "{basicAuth: {secret: s}}",
)


@pytest.mark.parametrize(
    ("first", "second", "over_http", "over_https"),
    [
        (TO_HTTPS, OFFICE, "301 https://shop.example.com/", "403"),
        (OFFICE, TO_HTTPS, "403", "403"),
        (TO_HTTPS, LOGIN, "301 https://shop.example.com/", "web"),
        (LOGIN, TO_HTTPS, "301 https://shop.example.com/", "web"),
        ("{ipAllowList: {sourceRange: [10.0.0.0/8], rejectStatusCode: 404}}", "{compress: {}}", "404", "404"),
        ("{redirectScheme: {scheme: https, port: '8443'}}", LOGIN, *["302 https://shop.example.com:8443/"] * 2),
    ],
)
def test_middlewares_act_in_order(first: str, second: str, over_http: str, over_https: str) -> None:
    objects = (ingress_route(to(SHOP, more=BOTH)), middleware(first, "a"), middleware(second, "b"))
    ends_of = [
        ends(*objects, url=f"{scheme}://shop.example.com/", client="203.0.113.9") for scheme in ("http", "https")
    ]
    assert [end for end, _ in ends_of] == [over_http, over_https]


def test_what_stands_behind_a_redirect_asks_for_nothing() -> None:
    objects = (ingress_route(to(SHOP, more=BOTH)), middleware(TO_HTTPS, "a"), middleware(LOGIN, "b"))
    world = simulated(service("web"), *objects)
    asked = [
        [each.wanted.name for each in Tracer(world).trace(from_url("GET", f"{scheme}://shop.example.com/")).extensions]
        for scheme in ("http", "https")
    ]
    assert asked == [[], ["b"]]


MOVED = "{redirectRegex: {regex: 'REGEX', replacement: 'https://new.example.com/$1'}}"


@pytest.mark.parametrize(
    ("regex", "told"),
    [
        ("^https?://shop.example.com/old/(.*)", {"~/old/(.*).*": "302", "~/.* except ~/old/(.*).*": "shop/web"}),
        ("^https?://[^/]+/(.*)", {"every request": "302"}),
        ("^https?://www\\.(.*)", {"every request": "shop/web"}),
        ("^http://other.example.com/(.*)", {"every request": "shop/web"}),
        ("/old/(.*)$", {"~.*(?:/old/(.*))": "302", "~/.* except ~.*(?:/old/(.*))": "shop/web"}),
        # where it is found hangs on more than the path, or cannot be told from the host: what is said is of one request
        ("^https?://(.*)/old", {"every request": "not known"}),
    ],
)
def test_requests_are_told_apart_by_where_an_expression_is_found(regex: str, told: dict[str, str]) -> None:
    objects = (ingress_route(to(SHOP, more=NAMED), more="tls: {}"), middleware(MOVED.replace("REGEX", regex)))
    tracer = Tracer(simulated(service("web"), *objects))
    entry = next(each for each in entries(tracer) if each.host == "shop.example.com" and each.scheme == "https")
    ways = [way for way in ways_in(tracer, entry, stated(tracer, entry)) if way.trace.rule is not None]
    assert {way.requests: "not known" if way.undecided else end_in_words(way.trace).split()[0] for way in ways} == told


def traefik(*arguments: str) -> str:
    container = f"{{name: traefik, image: traefik, args: [{', '.join(arguments)}]}}"
    template = f"{{metadata: {{labels: {{app: t}}}}, spec: {{containers: [{container}]}}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: t}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", "traefik", "traefik", body)


SECURE = "--entryPoints.websecure.address=:8443/tcp"
ENDING = "--entryPoints.websecure.http.tls"


@pytest.mark.parametrize(
    ("arguments", "more", "plain"),
    [
        # as the chart has it, where none are seen
        ((), "", False),
        ((SECURE, f"{ENDING}=true"), "", False),
        ((SECURE, f"{ENDING}.certResolver=le"), "", False),
        # the router of a route without `tls` is one for plain HTTP, at whichever port
        ((SECURE,), "", True),
        ((SECURE, f"{ENDING}=false"), "", True),
        ((SECURE,), "tls: {}", False),
        # those of which nothing is seen here are as before
        (("--entryPoints.web.address=:8000/tcp",), "", False),
        ((SECURE, "--configFile=/etc/traefik.yml"), "", False),
    ],
)
def test_routes_without_tls_where_their_entry_point_ends_none(
    arguments: tuple[str, ...], more: str, plain: bool
) -> None:
    route = ingress_route(to(SHOP), more=", ".join(filter(None, ("entryPoints: [websecure]", more))))
    objects = (route, traefik(*(f'"{each}"' for each in arguments)))
    assert ends(*objects, url="https://shop.example.com/")[0] == ("404" if plain else "web")
    assert (ends(*objects, url="http://shop.example.com:443/")[0] == "web") is plain


CRDS, CROSSING = "--providers.kubernetescrd", "--providers.kubernetescrd.allowCrossNamespace=true"
ASKING = middleware("{basicAuth: {secret: s}}").replace("namespace: shop", "namespace: other")
ELSEWHERE = {
    "Middleware other/m of another namespace": (
        to(SHOP, more="middlewares: [{name: m, namespace: other}]"),
        ASKING,
    ),
    "Middleware other-m@kubernetescrd of another namespace": (
        to(SHOP, more="middlewares: [{name: other-m@kubernetescrd}]"),
        ASKING,
    ),
    "Middleware other/login, by its chain shop/m, of another namespace": (
        to(SHOP, more=NAMED),
        middleware("{chain: {middlewares: [{name: login, namespace: other}]}}"),
        middleware("{basicAuth: {secret: s}}", "login").replace("namespace: shop", "namespace: other"),
    ),
    "Service other/web of another namespace": (to(SHOP).replace("port: 80", "port: 80, namespace: other"),),
}


@pytest.mark.parametrize("named", ELSEWHERE)
def test_objects_of_other_namespaces_are_taken_where_that_is_allowed(named: str) -> None:
    rule, *others = ELSEWHERE[named]
    objects = (ingress_route(rule), *others, service("web", "other"))
    end, note = ended(*objects)
    assert end.endswith("/web")
    assert note.startswith(
        f"IngressRoute shop/web may not be attached: it names {named}, which Traefik takes only with"
    )
    assert ended(*objects, traefik(CRDS)) == ("404", "")
    assert ended(*objects, traefik(CRDS, CROSSING)) == (end, "")


def installed(values: str, more: str = "") -> str:
    chart = "chart: {spec: {chart: traefik, version: 28.0.0, sourceRef: {kind: HelmRepository, name: traefik}}}"
    spec = f"spec: {{interval: 1h, {chart}, values: {values}{more}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "traefik", "traefik", spec)


@pytest.mark.parametrize(
    ("release", "taken"),
    [
        (installed("{}"), False),  # traefik/traefik-helm-chart, values.yaml: false
        (installed("{providers: {kubernetesCRD: {allowCrossNamespace: false}}}"), False),
        (installed("{providers: {kubernetesCRD: {allowCrossNamespace: true}}}"), True),
        (installed(f"{{additionalArguments: ['{CROSSING}']}}"), True),
        (installed("{}", ", valuesFrom: [{kind: Secret, name: unseen}]"), None),
        (installed("{providers: {kubernetesCRD: {allowCrossNamespace: '${CROSS}'}}}"), None),
    ],
)
def test_the_chart_says_whether_other_namespaces_are_taken(release: str, taken: bool | None) -> None:
    rule, *others = ELSEWHERE["Middleware other/m of another namespace"]
    end, note = ended(ingress_route(rule), *others, release)
    assert (end == "404") is (taken is False)
    assert bool(note) is (taken is None)


@pytest.mark.parametrize("named", [name for name in ELSEWHERE if name.startswith("Middleware")])
def test_middlewares_of_other_namespaces_ask(named: str) -> None:
    rule, *others = ELSEWHERE[named]
    assert ends(ingress_route(rule), *others, traefik(CRDS, CROSSING)) == ("web", "basicAuth")


def test_a_middleware_of_another_namespace_that_is_not_there() -> None:
    elsewhere = to(SHOP, more="middlewares: [{name: m, namespace: other}]")
    assert ends(ingress_route(elsewhere), traefik(CRDS, CROSSING))[0] == "404"  # the router is in error


def test_a_middleware_of_another_provider_is_named() -> None:
    world = simulated(service("web"), ingress_route(to(SHOP, more="middlewares: [{name: m@file}, {name: n@file}]")))
    trace = Tracer(world, nearest=False).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.may_ask == ["m@file, n@file of shop/web"]


def test_the_other_rules_of_the_object_are_there() -> None:
    elsewhere = to(f"{SHOP} && Path(`/a`)", more="middlewares: [{name: m, namespace: other}]")
    objects = ingress_route(elsewhere, to(f"{SHOP} && PathPrefix(`/b`)", "next"))
    assert ends(objects, url="http://shop.example.com/b")[0] == "next"


def test_certificates_are_asked_for_by_tls_options() -> None:
    option = manifest(
        "traefik.io/v1alpha1",
        "TLSOption",
        "o",
        "shop",
        "spec: {clientAuth: {clientAuthType: RequireAndVerifyClientCert}}",
    )
    objects = ingress_route(to(SHOP), more="entryPoints: [websecure], tls: {options: {name: o}}")
    assert ends(objects, option, url="https://shop.example.com/") == ("web", "clientCertificate")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Host(`a`) && !Path(`/b`)", [(Matcher("Host", ("a",)), Matcher("Path", ("/b",), True))]),
        ("!(Host(`a`) || Host(`b`))", [(Matcher("Host", ("a",), True), Matcher("Host", ("b",), True))]),
        ("!(Host(`a`) && Host(`b`))", [(Matcher("Host", ("a",), True),), (Matcher("Host", ("b",), True),)]),
        ("Host(`a`", None),
        ("Host(`a`) Host(`b`)", None),
        ("", None),
    ],
)
def test_rules_are_read(written: str, expected: object) -> None:
    assert alternatives(written) == expected


@pytest.mark.parametrize(
    "deep", ["(" * 5000 + "Host(`a`)" + ")" * 5000, "!" * 5000 + "Host(`a`)", "!(" * 60 + "Host(`a`)" + ")" * 60]
)
def test_a_rule_that_is_too_deep_is_not_read(deep: str) -> None:
    """It ended `reach` and `diff` with an internal error."""
    assert alternatives(deep) is None
    assert alternatives("!(!(" * 20 + "Host(`a`)" + "))" * 20) == [(Matcher("Host", ("a",), False),)]


OUTSIDE = manifest(
    "v1", "Service", "outside", "shop", "spec: {type: ExternalName, externalName: a.example.net, ports: [{port: 80}]}"
)
EXTERNAL = "--providers.kubernetescrd.allowExternalNameServices"


@pytest.mark.parametrize(
    ("settings", "end", "is_noted"),
    [
        ((), "outside", True),
        ((traefik(CRDS),), "404", False),
        ((traefik(CRDS, f"{EXTERNAL}=true"),), "outside", False),
        ((traefik(CRDS, EXTERNAL.lower()),), "outside", False),
        ((traefik(CRDS, CROSSING),), "404", False),
        ((installed("{}"),), "404", False),
        ((installed("{providers: {kubernetesCRD: {allowExternalNameServices: true}}}"),), "outside", False),
        ((installed("{providers: {kubernetesCRD: {allowExternalNameServices: '${NAMES}'}}}"),), "outside", True),
    ],
)
def test_a_service_that_is_a_name_is_taken_where_that_is_allowed(
    settings: tuple[str, ...], end: str, *, is_noted: bool
) -> None:
    found, note = ended(ingress_route(to(SHOP, "outside")), OUTSIDE, *settings)
    assert found.rpartition("/")[2] == end
    why = "Service shop/outside, an ExternalName, which Traefik takes only with allowExternalNameServices"
    assert (why in note) is is_noted


def test_connections_go_past_services_that_are_names() -> None:
    """kubernetes_tcp.go leaves out what it cannot use, and makes no router without any."""
    for more, is_open in (("", False), (", {name: other, port: 80}", True)):
        services = f"services: [{{name: outside, port: 80}}{more}]"
        spec = f"spec: {{entryPoints: [tcp], routes: [{{match: 'HostSNI(`*`)', {services}}}]}}"
        routed = manifest("traefik.io/v1alpha1", "IngressRouteTCP", "web", "shop", spec)
        world = simulated(OUTSIDE, service("other"), routed, traefik(CRDS))
        states = [each for each in with_doors(world).topology.routes if each.route.key.kind == "IngressRouteTCP"]
        assert [backend.wanted.name for state in states for backend in state.backends] == ["other"] * is_open


def test_a_rule_for_a_service_that_is_a_name_is_told() -> None:
    world = simulated(OUTSIDE, ingress_route(to(SHOP, "outside")), traefik(CRDS))
    told = [finding.message for finding in run(world) if finding.rule == "GWP415"]
    assert any("an ExternalName, which Traefik refuses" in message for message in told)
