"""Istio's own Gateways with VirtualServices: hosts, order of rules, redirects, TLS, and who is let in at their pods.

What is expected was written down from istio.io (reference of Gateway, VirtualService, AuthorizationPolicy) first.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.model import ResourceKey
from policylint.model.spelling import spelled
from policylint.reach.ways import all_ways
from policylint.trace import Request, Tracer
from tests import worlds
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated

HTTP = "{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}"
HTTPS = "{port: {number: 443, name: https, protocol: HTTPS}, hosts: ['*'], tls: {mode: SIMPLE, credentialName: c}}"
SHOP = "http://shop.example.com"


def gateway(servers: str = f"[{HTTP}, {HTTPS}]", name: str = "public", namespace: str = "istio-system") -> str:
    spec = f"spec: {{selector: {{istio: ingressgateway}}, servers: {servers}}}"
    return manifest("networking.istio.io/v1", "Gateway", name, namespace, spec)


def virtual(
    http: str = "[{route: [{destination: {host: web}}]}]",
    *,
    name: str = "web",
    hosts: str = "[shop.example.com]",
    gateways: str = "[istio-system/public]",
    more: str = "",
    namespace: str = "shop",
) -> str:
    fields = [f"hosts: {hosts}", f"gateways: {gateways}" if gateways else "", f"http: {http}" if http else "", more]
    spec = f"spec: {{{', '.join(filter(None, fields))}}}"
    return manifest("networking.istio.io/v1", "VirtualService", name, namespace, spec)


def pods(namespace: str = "istio-system") -> str:
    labels = "{istio: ingressgateway, sidecar.istio.io/inject: 'true'}"
    notes = "{inject.istio.io/templates: gateway}"
    template = (
        f"template: {{metadata: {{labels: {labels}, annotations: {notes}}}, spec: {{containers: [{{name: p}}]}}}}"
    )
    spec = f"spec: {{selector: {{matchLabels: {{istio: ingressgateway}}}}, {template}}}"
    return manifest("apps/v1", "Deployment", "istio-ingressgateway", namespace, spec)


def policy(spec: str, kind: str = "AuthorizationPolicy", namespace: str = "istio-system", name: str = "p") -> str:
    return manifest("security.istio.io/v1", kind, name, namespace, f"spec: {spec}")


def ends(
    *objects: str, url: str = f"{SHOP}/", client: str = "", headers: tuple[str, ...] = (), method: str = "GET"
) -> tuple[str, str]:
    services = [service("web"), service("next"), service("pay", namespace="pay")]
    return answer(simulated(*services, *objects), url, client, headers, method=method)


ORDERED = (
    "[{match: [{uri: {prefix: /api}}], route: [{destination: {host: next}}]}, {route: [{destination: {host: web}}]}]"
)
LONGER = "{match: [{uri: {prefix: /api/deep}}], directResponse: {status: 403}}"
TWO = "[{route: [{destination: {host: web}, weight: 90}, {destination: {host: next}, weight: 10}]}]"


def by(condition: str, to: str = "next", *others: str) -> str:
    """Return rules: the first for requests with a condition, then others, then one for all that are left."""
    rules = [f"{{match: [{{{condition}}}], route: [{{destination: {{host: {to}}}}}]}}", *others]
    return f"[{', '.join(rules)}, {{route: [{{destination: {{host: web}}}}]}}]"


ITSELF = virtual("[{directResponse: {status: 418}}]", name="own")


@pytest.mark.parametrize(
    ("objects", "url", "method", "end"),
    [
        # the authority, where the hosts are named
        ((gateway(), virtual(by("authority: {exact: shop.example.com}"))), SHOP, "GET", "next"),
        ((gateway(), virtual(by("authority: {exact: Shop.example.com}"))), SHOP, "GET", "next"),
        ((gateway(), virtual(by("authority: {exact: 'shop.example.com:80'}"))), SHOP, "GET", "next"),
        ((gateway(), virtual(by("authority: {exact: pay.example.com}"))), SHOP, "GET", "web"),
        ((gateway(), virtual(by("authority: {prefix: shop.}"))), SHOP, "GET", "next"),
        ((gateway(), virtual(by("authority: {prefix: pay.}"))), SHOP, "GET", "web"),
        ((gateway(), virtual(by("authority: {regex: 'sh.p[.].*'}"))), SHOP, "GET", "next"),
        ((gateway(), virtual(by("authority: {regex: 'sh.p'}"))), SHOP, "GET", "web"),
        # below a wildcard: each host that is named by an authority, with the rules for all of them
        ((gateway(), virtual(by("authority: {exact: shop.example.com}"), hosts="['*']")), SHOP, "GET", "next"),
        ((gateway(), virtual(by("authority: {exact: shop.example.com}"), hosts="['*']")), "http://a.org", "GET", "web"),
        (
            (gateway(), virtual(by("authority: {exact: shop.example.com}, uri: {prefix: /a}"), hosts="['*']")),
            f"{SHOP}/b",
            "GET",
            "web",
        ),
        (
            (gateway(), virtual(by("authority: {exact: shop.example.com}"), hosts="['*.example.com']"), ITSELF),
            SHOP,
            "GET",
            "418",
        ),
        ((gateway(), virtual(by("authority: {prefix: shop.}"), hosts="['*']")), SHOP, "GET", "not known"),
        # methods by an expression that lists them
        ((gateway(), virtual(by("method: {regex: 'GET|HEAD'}"))), SHOP, "HEAD", "next"),
        ((gateway(), virtual(by("method: {regex: '^(POST|PUT)$'}"))), SHOP, "GET", "web"),
        ((gateway(), virtual(by("method: {regex: 'P.*'}"))), SHOP, "GET", "not known"),
    ],
)
def test_conditions_beside_the_path(objects: tuple[str, ...], url: str, method: str, end: str) -> None:
    assert ends(*objects, url=f"{url}/" if url.count("/") == 2 else url, method=method)[0] == end


@pytest.mark.parametrize(
    ("objects", "url", "end"),
    [
        # bound by name, or not at all
        ((gateway(), virtual()), f"{SHOP}/", "web"),
        ((gateway(), virtual()), "https://shop.example.com/", "web"),
        ((gateway(), virtual()), "http://other.example.com/", "404"),
        ((gateway(), virtual(gateways="[public]")), f"{SHOP}/", "404"),
        ((gateway(), virtual(gateways="[mesh]")), f"{SHOP}/", "404"),
        ((gateway(), virtual(gateways="")), f"{SHOP}/", "404"),
        ((gateway(namespace="shop"), virtual(gateways="[public]")), f"{SHOP}/", "web"),
        # exportTo
        ((gateway(), virtual(more="exportTo: ['.']")), f"{SHOP}/", "404"),
        ((gateway(), virtual(more="exportTo: [istio-system]")), f"{SHOP}/", "web"),
        # hosts of servers
        ((gateway(f"[{HTTP.replace(chr(42), '*.example.com')}]"), virtual()), f"{SHOP}/", "web"),
        ((gateway(f"[{HTTP.replace(chr(42), '*.example.org')}]"), virtual()), f"{SHOP}/", "404"),
        ((gateway(f"[{HTTP.replace(chr(42), 'shop/*')}]"), virtual()), f"{SHOP}/", "web"),
        ((gateway(f"[{HTTP.replace(chr(42), 'pay/*')}]"), virtual()), f"{SHOP}/", "404"),
        ((gateway(f"[{HTTP.replace(chr(42), './*')}]"), virtual()), f"{SHOP}/", "404"),
        ((gateway(), virtual(hosts="['*.example.com']")), f"{SHOP}/", "web"),
        # order of rules; a prefix is one of the text
        ((gateway(), virtual(ORDERED)), f"{SHOP}/api/x", "next"),
        ((gateway(), virtual(ORDERED)), f"{SHOP}/apix", "next"),
        ((gateway(), virtual(ORDERED)), f"{SHOP}/", "web"),
        ((gateway(), virtual(ORDERED.replace("]}, {route", "]}, " + LONGER + ", {route"))), f"{SHOP}/api/deep", "next"),
        (
            (gateway(), virtual("[{route: [{destination: {host: web}}]}, " + ORDERED[1:])),
            f"{SHOP}/api",
            "web",
        ),
        (
            (gateway(), virtual("[{match: [{uri: {exact: /a}}], route: [{destination: {host: next}}]}]")),
            f"{SHOP}/b",
            "404",
        ),
        (
            (gateway(), virtual("[{match: [{uri: {regex: '/v[0-9]+'}}], route: [{destination: {host: next}}]}]")),
            f"{SHOP}/v1",
            "next",
        ),
        (
            (
                gateway(),
                virtual("[{match: [{uri: {exact: /A}, ignoreUriCase: true}], route: [{destination: {host: next}}]}]"),
            ),
            f"{SHOP}/a",
            "next",
        ),
        # ends
        ((gateway(), virtual(TWO)), f"{SHOP}/", "next 10%, web 90%"),
        ((gateway(), virtual("[{route: [{destination: {host: pay.pay.svc.cluster.local}}]}]")), f"{SHOP}/", "pay"),
        (
            (gateway(), virtual("[{redirect: {authority: new.example.com}}]")),
            f"{SHOP}/x",
            "301 http://new.example.com/x",
        ),
        (
            (gateway(), virtual("[{redirect: {scheme: https, redirectCode: 308}}]")),
            f"{SHOP}/x",
            "308 https://shop.example.com/x",
        ),
        ((gateway(), virtual("[{directResponse: {status: 503}}]")), f"{SHOP}/", "503"),
        # https
        (
            (gateway(f"[{HTTP[:-1]}, tls: {{httpsRedirect: true}}}}, {HTTPS}]"), virtual()),
            f"{SHOP}/x",
            "301 https://shop.example.com/x",
        ),
        (
            (gateway(f"[{HTTP[:-1]}, tls: {{httpsRedirect: true}}}}, {HTTPS}]"), virtual()),
            "https://shop.example.com/x",
            "web",
        ),
        (
            (
                gateway(f"[{HTTPS.replace('mode: SIMPLE, credentialName: c', 'mode: PASSTHROUGH')}]"),
                virtual(
                    "", more="tls: [{match: [{sniHosts: [shop.example.com]}], route: [{destination: {host: next}}]}]"
                ),
            ),
            "https://shop.example.com/",
            "next",
        ),
        # delegation
        (
            (
                gateway(),
                virtual("[{match: [{uri: {prefix: /pay}}], delegate: {name: pay, namespace: pay}}]"),
                virtual(
                    name="pay", namespace="pay", hosts="[]", gateways="", http="[{route: [{destination: {host: pay}}]}]"
                ),
            ),
            f"{SHOP}/pay",
            "pay",
        ),
    ],
)
def test_where_requests_end(objects: tuple[str, ...], url: str, end: str) -> None:
    assert ends(*objects, url=url)[0] == end


def delegating(rule: str, *inner: str) -> tuple[str, ...]:
    """Return a rule that delegates to rules of another namespace, and one behind it."""
    last = "{route: [{destination: {host: web}}]}"
    root = virtual(f"[{{{rule}, delegate: {{name: pay, namespace: pay}}}}, {last}]")
    rules = ", ".join(f"{{{each}, route: [{{destination: {{host: pay}}}}]}}" for each in inner)
    return gateway(), root, virtual(name="pay", namespace="pay", hosts="[]", gateways="", http=f"[{rules}]")


UNDER_PAY = "match: [{uri: {prefix: /pay}}]"


@pytest.mark.parametrize(
    ("rule", "inner", "path", "end"),
    [
        (UNDER_PAY, "match: [{uri: {prefix: /pay/x}}]", "/pay/x", "pay"),
        (UNDER_PAY, "match: [{uri: {exact: /pay}}]", "/pay", "pay"),
        (UNDER_PAY, "match: [{uri: {prefix: /x}}]", "/x", "web"),
        (UNDER_PAY, "match: [{uri: {prefix: /}}]", "/x", "web"),
        (UNDER_PAY, "match: [{uri: {regex: '/pay.*'}}]", "/pay", "web"),
        ("match: [{uri: {exact: /pay}}]", "match: [{uri: {prefix: /pay}}]", "/pay", "web"),
        ("match: [{uri: {prefix: /a}}, {uri: {prefix: /b}}]", "match: [{uri: {prefix: /b/c}}]", "/b/c", "pay"),
        (UNDER_PAY, "match: [{uri: {prefix: /pay}}, {uri: {prefix: /x}}]", "/pay", "web"),
        (UNDER_PAY, "match: [{method: {exact: GET}}]", "/pay", "pay"),
        (UNDER_PAY, "match: [{method: {exact: GET}}]", "/x", "web"),
        ("match: [{method: {exact: POST}}]", "match: [{method: {exact: GET}}]", "/pay", "web"),
        (UNDER_PAY, "match: [{uri: {prefix: /pay}, ignoreUriCase: true}]", "/pay", "web"),
        (UNDER_PAY, "match: [{gateways: [mesh]}]", "/pay", "web"),
        ("match: [{headers: {a: {exact: '1'}}}]", "match: [{headers: {b: {exact: '2'}}}]", "/pay", "web"),
        # what says nothing of a text is no part of what says something, nor of itself
        ("match: [{withoutHeaders: {a: {}}}]", "match: [{withoutHeaders: {a: {exact: '1'}}}]", "/pay", "web"),
        ("match: [{withoutHeaders: {a: {exact: '1'}}}]", "match: [{withoutHeaders: {a: {}}}]", "/pay", "web"),
        ("match: [{withoutHeaders: {a: {}}}]", "match: [{withoutHeaders: {a: {}}}]", "/pay", "web"),
        ("match: [{withoutHeaders: {a: {}}}]", "match: [{withoutHeaders: {b: {}}}]", "/pay", "pay"),
        ("match: [{uri: {}}]", "match: [{uri: {prefix: /pay}}]", "/pay", "web"),
    ],
)
def test_matches_of_delegates_lie_within_those_of_the_root(rule: str, inner: str, path: str, end: str) -> None:
    """One that does not takes its rule with it, whatever else the rule has (mergeHTTPMatchRequests)."""
    assert ends(*delegating(rule, inner), url=f"{SHOP}{path}")[0] == end


def test_delegates_need_the_headers_of_both() -> None:
    objects = delegating("match: [{headers: {a: {exact: '1'}}}]", "match: [{headers: {b: {exact: '2'}}}]")
    assert [ends(*objects, headers=each)[0] for each in (("a: 1", "b: 2"), ("b: 2",))] == ["pay", "web"]


def test_delegates_have_what_the_root_says_and_they_do_not() -> None:
    """Rewrites, direct responses and time limits are inherited, each as a whole (mergeHTTPRoute)."""
    answering = "directResponse: {status: 503}"
    assert ends(*delegating(f"{UNDER_PAY}, {answering}", "name: a"), url=f"{SHOP}/pay")[0] == "503"
    own = "directResponse: {status: 418}"
    assert ends(*delegating(f"{UNDER_PAY}, {answering}", own), url=f"{SHOP}/pay")[0] == "418"


def test_what_a_variable_says_of_a_delegate_is_not_known() -> None:
    for body in ("http: '${RULES}'", "http: ['${RULE}']"):
        child = manifest("networking.istio.io/v1", "VirtualService", "pay", "pay", f"spec: {{{body}}}")
        assert ends(*delegating(UNDER_PAY, "name: a")[:2], child, url=f"{SHOP}/pay")[0] == "not known"


BY_HEADER = "[{match: [{headers: {x-beta: {exact: 'on'}}}], route: [{destination: {host: next}}]}, " + ORDERED[1:]
BY_METHOD = "[{match: [{method: {exact: POST}}], route: [{destination: {host: next}}]}]"


def test_headers_and_methods_tell_rules_apart() -> None:
    assert ends(gateway(), virtual(BY_HEADER), headers=("x-beta: on",))[0] == "next"
    assert ends(gateway(), virtual(BY_HEADER))[0] == "web"
    assert ends(gateway(), virtual(BY_METHOD), method="POST")[0] == "next"
    assert ends(gateway(), virtual(BY_METHOD))[0] == "404"


MUTUAL = HTTPS.replace("SIMPLE", "MUTUAL")
SELECTED = "selector: {matchLabels: {istio: ingressgateway}}"


@pytest.mark.parametrize(
    ("objects", "client", "end"),
    [
        ((gateway(), pods()), "", ("web", "")),
        ((gateway(), pods(), policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}")), "", ("403", "")),
        (
            (
                gateway(),
                pods(),
                policy(f"{{{SELECTED}, rules: [{{from: [{{source: {{ipBlocks: [10.0.0.0/8]}}}}]}}]}}"),
            ),
            "203.0.113.9",
            ("403", ""),
        ),
        (
            (
                gateway(),
                pods(),
                policy(f"{{{SELECTED}, rules: [{{from: [{{source: {{ipBlocks: [10.0.0.0/8]}}}}]}}]}}"),
            ),
            "10.1.2.3",
            ("web", ""),
        ),
        (
            (
                gateway(),
                pods(),
                policy(f"{{{SELECTED}, rules: [{{to: [{{operation: {{hosts: [other.example.com]}}}}]}}]}}"),
            ),
            "",
            ("403", ""),
        ),
        # policies of other workloads, of other namespaces
        (
            (gateway(), pods(), policy("{selector: {matchLabels: {app: web}}, action: DENY, rules: [{}]}")),
            "",
            ("web", ""),
        ),
        (
            (gateway(), pods(), policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}", namespace="shop")),
            "",
            ("web", ""),
        ),
        # the pods were not seen
        ((gateway(),), "", ("web", "")),
        # policies of the root namespace reach them wherever they are
        ((gateway(), policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}")), "", ("403", "")),
        ((gateway(), policy("{action: DENY, rules: [{}]}")), "", ("403", "")),
        # the gateways of an installation are in no application's namespace; others may be
        (
            (gateway(namespace="shop"), policy("{}", namespace="shop")),
            "",
            ("web", ""),
        ),
        (
            (gateway(namespace="shop"), policy("{}", namespace="shop", kind="RequestAuthentication")),
            "",
            ("web", ""),
        ),
        (
            (gateway(namespace="shop-ingress"), policy("{}", namespace="shop-ingress")),
            "",
            ("web", "not known"),
        ),
        (
            (
                gateway(namespace="shop").replace("ingressgateway", "shop-gateway"),
                policy("{}", namespace="shop"),
            ),
            "",
            ("web", "not known"),
        ),
        # what selects them says in which other namespace they are, where gateways usually are
        (
            (gateway(), policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}", namespace="istio-ingress")),
            "",
            ("403", ""),
        ),
        (
            (gateway(), policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}", namespace="shop")),
            "",
            ("web", "not known"),
        ),
        (
            (
                gateway(),
                policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}", namespace="istio-ingress"),
                policy(f"{{{SELECTED}, rules: [{{}}]}}", namespace="gateways"),
            ),
            "",
            ("web", "not known"),
        ),
    ],
)
def test_what_is_asked_at_the_pods(objects: tuple[str, ...], client: str, end: tuple[str, str]) -> None:
    home = "shop-ingress" if "namespace: shop-ingress" in objects[0] else "shop"
    bound = virtual(gateways=f"[istio-system/public, {home}/public]")
    assert ends(*objects, bound, client=client) == end


def test_certificates_are_asked_for_at_the_server() -> None:
    assert ends(gateway(f"[{MUTUAL}]"), virtual(), url="https://shop.example.com/") == ("web", "clientCertificate")
    optional = HTTPS.replace("SIMPLE", "OPTIONAL_MUTUAL")
    assert ends(gateway(f"[{optional}]"), virtual(), url="https://shop.example.com/")[1] == "optionalClientCertificate?"


JWT = "{" + SELECTED + ", jwtRules: [{issuer: i, jwksUri: 'https://login.example/keys'}]}"
REQUIRED = "{" + SELECTED + ", action: DENY, rules: [{from: [{source: {notRequestPrincipals: ['*']}}]}]}"


def test_tokens_are_asked_for_at_the_pods() -> None:
    tokens = policy(JWT, "RequestAuthentication", name="jwt")
    assert ends(gateway(), pods(), virtual(), tokens)[0] == "web"
    assert ends(gateway(), pods(), virtual(), tokens, policy(REQUIRED))[0] == "403"


ROUTER = "{name: istio-proxy, args: [proxy, router]}"


WRITTEN = (
    pods()
    .replace("sidecar.istio.io/inject: 'true'", "sidecar.istio.io/inject: 'false'")
    .replace("{name: p}", ROUTER)
    .replace("inject.istio.io/templates: gateway", "a: b")
)
OTHERWISE = pods().replace("ingressgateway", "outside")


@pytest.mark.parametrize(
    "workload",
    [
        pods(),
        WRITTEN,
        OTHERWISE,
        OTHERWISE.replace("templates: gateway", "templates: 'sidecar, gateway'"),
        pods().replace("inject.istio.io/templates: gateway", "a: b"),
    ],
)
@pytest.mark.parametrize("namespace", ["istio-system", "edge"])
def test_mutual_tls_of_the_mesh_is_none_of_a_gateway(workload: str, namespace: str) -> None:
    """What listens there is what a Gateway opens (buildGatewayListeners); PeerAuthentication is of sidecars."""
    mesh = policy("{mtls: {mode: STRICT}}", "PeerAuthentication")
    own = policy("{mtls: {mode: STRICT}}", "PeerAuthentication", namespace, "own")
    objects = (text.replace("istio-system", namespace) for text in (gateway(), workload, virtual()))
    at = "outside" if "outside" in workload else "ingressgateway"
    world = [text.replace("ingressgateway", at) for text in objects]
    assert ends(*world, mesh, own)[0] == "web"


def test_mutual_tls_of_the_mesh_is_that_of_sidecars() -> None:
    web = manifest(
        "apps/v1",
        "Deployment",
        "web",
        "shop",
        "spec: {template: {metadata: {labels: {app: web, sidecar.istio.io/inject: 'true'}}}}",
    )
    published = service("web", "shop", more="type: LoadBalancer, selector: {app: web}")
    mesh = policy("{mtls: {mode: STRICT}}", "PeerAuthentication")
    outcome = Tracer(simulated(web, published, mesh)).trace(Request(host="shop.example.com", scheme="http")).outcome
    assert outcome.refused


def test_pods_that_are_gateways_by_themselves_are_proxies() -> None:
    assert ends(gateway(), WRITTEN, virtual(), policy(f"{{{SELECTED}, action: DENY, rules: [{{}}]}}"))[0] == "403"
    only = "{rules: [{from: [{source: {principals: [cluster.local/ns/istio-system/sa/default]}}]}]}"
    labels = "{app: web, sidecar.istio.io/inject: 'true'}"
    spec = f"spec: {{template: {{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: w}}]}}}}}}"
    workload = manifest("apps/v1", "Deployment", "web", "shop", spec)
    assert ends(gateway(), WRITTEN, virtual(), workload, policy(only, namespace="shop"))[0] == "web"


ROOT = "[{match: [{uri: {prefix: /}}], route: [{destination: {host: web}}]}"
LOGIN = "[{match: [{uri: {prefix: /oauth2/}}], route: [{destination: {host: next}}]}]"
POST = "[{match: [{uri: {prefix: /}, method: {exact: POST}}], route: [{destination: {host: next}}]}]"


@pytest.mark.parametrize(
    ("objects", "path", "method", "end"),
    [
        # of several VirtualServices those that take everything come last, whatever their age and name
        ((virtual(f"{ROOT}]", name="a"), virtual(LOGIN, name="b")), "/oauth2/start", "GET", "next"),
        ((virtual(f"{ROOT}]", name="a"), virtual(LOGIN, name="b")), "/oauth", "GET", "web"),
        ((virtual(name="a"), virtual(LOGIN, name="b")), "/oauth2/start", "GET", "next"),
        ((virtual(f"{ROOT}]", name="a"), virtual(POST, name="b")), "/", "POST", "next"),
        # within one they end it
        ((virtual(f"{ROOT}, {LOGIN[1:]}"),), "/oauth2/start", "GET", "web"),
        ((virtual(f"[{{route: [{{destination: {{host: web}}}}]}}, {LOGIN[1:]}"),), "/oauth2/start", "GET", "web"),
        # a match for everything under a condition does not
        ((virtual(f"{POST[:-1]}, {ROOT[1:]}, {LOGIN[1:]}"),), "/", "POST", "next"),
        ((virtual(f"{POST[:-1]}, {LOGIN[1:]}"),), "/oauth2/start", "GET", "next"),
    ],
)
def test_rules_that_take_everything(objects: tuple[str, ...], path: str, method: str, end: str) -> None:
    simulation = simulated(service("web"), service("next"), gateway(), *objects)
    assert answer(simulation, f"{SHOP}{path}", method=method)[0] == end


def test_a_gateway_is_told_from_one_of_the_same_name_in_gateway_api() -> None:
    """Whoever moves from one API to the other has both for a while."""
    both = worlds.gateway("public", "istio-system"), gateway(f"[{HTTP}]"), virtual(), service("web")
    ways = [(spelled(way.entry.gateway), *way.trace.outcome.backends) for way in all_ways(simulated(*both))]
    assert ways[1:2] == [("Gateway.networking.istio.io/istio-system/public", ResourceKey("", "Service", "shop", "web"))]


@pytest.mark.parametrize(
    ("shown", "objects", "confidence"),
    [
        ("exportTo: ['.']", (pods(),), "certain"),
        ("exportTo: ['.']", (), "assumed"),
        ("exportTo: ['.']", (pods("shop"),), ""),
        ("exportTo: [other]", (pods(),), "certain"),
        ("exportTo: [istio-system]", (pods(),), ""),
        ("exportTo: ['*']", (pods(),), ""),
        ("exportTo: ['${WHERE}']", (pods(),), ""),
        ("", (pods(),), ""),
    ],
)
def test_a_service_that_is_not_shown_to_the_pods_of_its_gateway(
    shown: str, objects: tuple[str, ...], confidence: str
) -> None:
    simulation = simulated(service("web"), gateway(), virtual(more=shown), *objects)
    found = [each for each in run(simulation, select={"GWP415"}) if "is not shown to" in each.message]
    assert [each.confidence for each in found] == ([confidence] if confidence else [])
    assert [each.location.pointer for each in found] == [("spec", "exportTo")] * len(found)
    served = answer(simulation, f"{SHOP}/")[0]
    assert (served == "404") == bool(found) or "$" in shown


@pytest.mark.parametrize(
    ("delegate", "why", "served"),
    [
        ("", "", "web"),
        ("exportTo: ['.'], ", "is not shown to namespace shop", "404"),
        ("exportTo: [shop], ", "", "web"),
        ("exportTo: ['*'], ", "", "web"),
        ("hosts: [b.example.com], ", "has `hosts`", "404"),
        (None, "is missing", "404"),
    ],
)
def test_a_delegate_is_shown_and_has_no_hosts(delegate: str | None, why: str, served: str) -> None:
    """A rule whose delegate is none is left out (mergeVirtualServicesIfNeeded)."""
    root = virtual("[{match: [{uri: {prefix: /}}], delegate: {name: child, namespace: team}}]")
    spec = f"spec: {{{delegate}http: [{{route: [{{destination: {{host: web.shop.svc.cluster.local}}}}]}}]}}"
    child = manifest("networking.istio.io/v1", "VirtualService", "other" if delegate is None else "child", "team", spec)
    simulation = simulated(service("web"), gateway(), root, child)
    found = [each for each in run(simulation, select={"GWP415"}) if "delegates to" in each.message]
    assert [why in each.message for each in found] == [True] * bool(why)
    assert answer(simulation, f"{SHOP}/")[0] == served


@pytest.mark.parametrize(
    ("match", "end"),
    [
        ("gateways: [istio-system/public]", "next"),
        ("gateways: [istio-system/other]", "web"),
        # who sends requests on are the pods of the Gateway, and nobody asks where it is named
        ("sourceLabels: {istio: ingressgateway}", "next"),
        ("sourceLabels: {app: web}", "web"),
        ("sourceLabels: {app: web}, gateways: [istio-system/public]", "next"),
        ("sourceNamespace: istio-system", "next"),
        ("sourceNamespace: shop", "web"),
        ("sourceNamespace: shop, gateways: [istio-system/public, mesh]", "next"),
    ],
)
def test_matches_that_some_proxies_alone_have(match: str, end: str) -> None:
    assert ends(gateway(), pods(), virtual(by(match)))[0] == end


def test_rules_for_one_of_two_gateways_lead_where_they_say() -> None:
    rules = [
        f"{{match: [{{gateways: [istio-system/{name}]}}], route: [{{destination: {{host: {to}}}}}]}}"
        for name, to in (("public", "web"), ("inner", "next"))
    ]
    both = virtual(f"[{', '.join(rules)}]", gateways="[istio-system/public, istio-system/inner]")
    simulation = simulated(service("web"), service("next"), gateway(), gateway(name="inner"), both)
    for name, to in (("public", "web"), ("inner", "next")):
        assert answer(simulation, f"{SHOP}/", gateway=f"Gateway/istio-system/{name}")[0] == to


@pytest.mark.parametrize(
    ("without", "headers", "end"),
    [
        ("x-canary: {exact: 'yes'}", (), "next"),
        ("x-canary: {exact: 'yes'}", ("X-Canary: yes",), "web"),
        ("X-Canary: {exact: 'yes'}", ("x-canary: no",), "next"),
        ("x-canary: {prefix: y}", ("x-canary: yes",), "web"),
        ("x-canary: {regex: '[yn].*'}", ("x-canary: no",), "web"),
        ("x-canary: {}", (), "next"),
        ("x-canary: {}", ("x-canary: no",), "web"),
    ],
)
def test_headers_that_must_not_be(without: str, headers: tuple[str, ...], end: str) -> None:
    assert ends(gateway(), virtual(by(f"withoutHeaders: {{{without}}}")), headers=headers)[0] == end


REWRITES = "route: [{destination: {host: next}}]"


@pytest.mark.parametrize(
    ("rule", "path", "sent"),
    [
        # of a path the text is replaced that the match begins with, of others the whole
        ("match: [{uri: {prefix: /a}}], rewrite: {uri: /n}", "/a/b", "/n/b"),
        ("match: [{uri: {prefix: /a}}], rewrite: {uri: /n}", "/ab", "/nb"),
        ("match: [{uri: {prefix: /a/}}], rewrite: {uri: /}", "/a/b", "/b"),
        ("match: [{uri: {exact: /a/b}}], rewrite: {uri: /n}", "/a/b", "/n"),
        ("match: [{uri: {regex: '/a.*'}}], rewrite: {uri: /n}", "/a/b", "/n"),
        ("match: [{uri: {prefix: /A}, ignoreUriCase: true}], rewrite: {uri: /n}", "/a/b", "/n/b"),
        ("rewrite: {uri: /n/}", "/a/b", "/n/a/b"),
        ("match: [{uri: {prefix: /a/b}}, {uri: {prefix: /a}}], rewrite: {uri: /n}", "/a/b", "/n"),
        ("match: [{uri: {prefix: /z}}, {uri: {exact: /a/b}}], rewrite: {uri: /n$1}", "/a/b", "/n$1"),
        ("match: [{uri: {prefix: /a}}], rewrite: {uri: /n}", "/a/b?v=1", "/n/b?v=1"),
        ("rewrite: {uriRegexRewrite: {match: '/([a-z])/', rewrite: '/x-\\1/'}}", "/a/b", "/x-a/b"),
        ("rewrite: {uriRegexRewrite: {match: '[ab]', rewrite: c}}", "/a/b", "/c/c"),
    ],
)
def test_what_a_rewrite_makes_of_a_path(rule: str, path: str, sent: str) -> None:
    simulation = simulated(service("web"), service("next"), gateway(), virtual(f"[{{{rule}, {REWRITES}}}]"))
    trace = Tracer(simulation).trace(Request(host="shop.example.com", path=path, port=80))
    assert trace.forwarded is not None
    assert trace.forwarded.path == sent


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        ("abort: {httpStatus: 418, percentage: {value: 100}}", "418"),
        ("abort: {grpcStatus: UNAVAILABLE, percentage: {value: 100}}", "503"),
        ("abort: {grpcStatus: permission_denied, percentage: {value: 100}}", "403"),
        ("abort: {grpcStatus: UNAVAILABLE, percentage: {value: 0}}", "next"),
        ("abort: {httpStatus: 418, percentage: {value: 0}}", "next"),
        ("abort: {httpStatus: 418}", "next"),
        ("delay: {fixedDelay: 5s, percentage: {value: 100}}", "next"),
    ],
)
def test_what_a_fault_answers(fault: str, end: str) -> None:
    assert ends(gateway(), virtual(f"[{{fault: {{{fault}}}, {REWRITES}}}]"))[0] == end


def test_a_fault_for_some_requests_leaves_open_what_they_get() -> None:
    rule = f"[{{fault: {{abort: {{httpStatus: 418, percentage: {{value: 50}}}}}}, {REWRITES}}}]"
    trace = Tracer(simulated(service("next"), gateway(), virtual(rule))).trace(
        Request(host="shop.example.com", port=80)
    )
    assert trace.depends
