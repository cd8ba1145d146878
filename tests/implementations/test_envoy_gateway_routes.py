"""What Envoy Gateway writes on the parentRefs of routes.

Source: docs/design/implementations/envoy-gateway.md §2; its validate.go and route.go.
"""

from __future__ import annotations

import pytest

from policylint.implementations.envoy_gateway import overlaps
from policylint.trace import Tracer, request
from tests.implementations.worlds_envoy_gateway import CLASS, policy, told
from tests.worlds import conditions, gateway, gateway_class, manifest, route, service, simulated, state

ACCEPTED = ["Accepted=True/Accepted"]
ROUTE = policy("BTP", "route", "HTTPRoute/checkout")
SERVICE = service("s", ports="[{port: 80}]")


def test_a_hostname_that_another_listener_owns_is_not_served_by_the_wildcard() -> None:
    """§2: such a route is not accepted by the wildcard listener alone; the policy on it says nothing of that."""
    listeners = (
        "[{name: wild, port: 80, protocol: HTTP, hostname: '*.example.com', allowedRoutes: {namespaces: {from: All}}}, "
        "{name: exact, port: 80, protocol: HTTP, hostname: a.example.com, allowedRoutes: {namespaces: {from: All}}}]"
    )
    parents = "[{name: edge, namespace: infra, sectionName: wild}, {name: edge, namespace: infra, sectionName: exact}]"
    hostnames = "hostnames: [a.example.com]"
    simulation = simulated(CLASS, gateway(listeners=listeners), route(parents=parents, more=hostnames), ROUTE)
    wild, exact = simulation.topology.routes[0].parents
    assert wild.conditions[0][:3] == ("Accepted", "False", "NoMatchingListenerHostname")
    assert exact.conditions[0][:3] == ("Accepted", "True", "Accepted")
    assert told(simulation, "route")["Gateway infra/edge#wild"] == ACCEPTED


def test_a_port_that_the_service_has_not_spoils_resolved_refs() -> None:
    simulation = simulated(CLASS, gateway(), route(more="rules: [{backendRefs: [{name: s, port: 81}]}]"), SERVICE)
    (found,) = simulation.topology.routes
    assert [f"{each.type}={each.status}/{each.reason}" for each in found.parents[0].conditions] == [
        "Accepted=True/Accepted",
        "ResolvedRefs=False/PortNotFound",
    ]


def test_resolved_refs_has_the_reasons_of_all_backends_that_fail() -> None:
    """internal/gatewayapi/status/error.go: every reason once, sorted; a port is asked for before the Service."""
    backends = "{name: s, port: 81}, {name: s, port: 82}, {name: gone, port: 80}, {name: gone}, {name: s, port: 80}"
    simulation = simulated(CLASS, gateway(), route(more=f"rules: [{{backendRefs: [{backends}]}}]"), SERVICE)
    resolved = simulation.topology.routes[0].parents[0].conditions[1]
    assert resolved[:3] == ("ResolvedRefs", "False", "BackendNotFound,PortNotFound,PortNotSpecified")
    assert len(resolved.message.split("; ")) == 4


@pytest.mark.parametrize(("rules", "accepted"), [(1, True), (2, False)])
@pytest.mark.parametrize("kind", ["TCPRoute", "UDPRoute"])
def test_a_route_of_layer_4_has_one_rule(kind: str, rules: int, accepted: bool) -> None:
    """internal/gatewayapi/route.go: two rules are refused before any backend is looked at."""
    listeners = f"[{{name: a, port: 80, protocol: {kind[:3]}, allowedRoutes: {{namespaces: {{from: All}}}}}}]"
    rule = "{backendRefs: [{name: s, port: 80}]}"
    more = f"rules: [{', '.join([rule] * rules)}]"
    simulation = simulated(
        CLASS, gateway(listeners=listeners), route(kind=kind, more=more), ROUTE.replace("HTTPRoute", kind)
    )
    found = simulation.topology.routes[0].parents[0].conditions
    assert [each[:3] for each in found][:1] == [
        ("Accepted", "True", "Accepted") if accepted else ("Accepted", "False", "InvalidRule")
    ]
    assert len(found) == (2 if accepted else 1)
    assert told(simulation, "route") == {"Gateway infra/edge": ACCEPTED}


@pytest.mark.parametrize(
    ("kind", "port", "reason"),
    [
        ("HTTPRoute", 80, "ResolvedRefs"),
        ("HTTPRoute", 53, "PortNotFound"),
        ("UDPRoute", 53, "ResolvedRefs"),
        ("UDPRoute", 80, "PortNotFound"),
        ("TCPRoute", 99, "ResolvedRefs"),  # both protocols on one number
        ("UDPRoute", 99, "ResolvedRefs"),
    ],
)
def test_a_port_counts_only_for_its_protocol(kind: str, port: int, reason: str) -> None:
    """internal/gatewayapi/validate.go: UDPRoutes go to UDP ports, all other routes to TCP ports."""
    service = """
apiVersion: v1
kind: Service
metadata: {name: s, namespace: shop}
spec:
  ports:
    - {name: c, port: 80}
    - {name: d, port: 53, protocol: UDP}
    - {name: a, port: 99, protocol: UDP}
    - {name: b, port: 99, protocol: TCP}
"""
    rule = "allowedRoutes: {namespaces: {from: All}}"
    listeners = f"[{{name: all, port: 80, protocol: {kind[:-5]}, {rule}}}]"
    to_it = f"rules: [{{backendRefs: [{{name: s, port: {port}}}]}}]"
    simulation = simulated(CLASS, gateway(listeners=listeners), route(kind=kind, more=to_it), service)
    (found,) = simulation.topology.routes
    assert [each.reason for each in found.parents[0].conditions] == ["Accepted", reason]


NAMESPACES = "".join(
    f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {each}}}\n" for each in ("default", "infra")
)
SLICE = """
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: s-1, namespace: shop, labels: {kubernetes.io/service-name: s}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1]}]
"""


@pytest.mark.parametrize(
    ("selector", "slices", "namespaces", "reason"),
    [
        ("selector: {app: s}", SLICE, NAMESPACES, "NotAllowedByListeners"),
        ("selector: {app: s}", SLICE, NAMESPACES.replace("infra", "shop"), "Accepted"),
        ("selector: {app: s}", "", NAMESPACES, "Accepted"),  # a tree in Git: tools make its Namespaces
        ("", SLICE, NAMESPACES, "Accepted"),  # an EndpointSlice that somebody wrote
        ("selector: {app: s}", SLICE, NAMESPACES.replace("default", "other"), "Accepted"),  # Namespaces not listed
    ],
)
def test_a_route_whose_namespace_is_known_not_to_be_there(
    selector: str, slices: str, namespaces: str, reason: str
) -> None:
    """§2: never allowed, even by `All`. That a Namespace is missing shows only in what a cluster itself lists."""
    backend = service("s", ports="[{port: 80}]", more=selector)
    to_it = "rules: [{backendRefs: [{name: s, port: 80}]}]"
    documents = (
        CLASS,
        gateway(),
        route(more=to_it),
        backend,
        *([slices] if slices else []),
        namespaces.removeprefix("---"),
    )
    simulation = simulated(*documents, policy("SP", "wide", "Gateway/edge", "cors: {}", namespace="infra"))
    (found,) = simulation.topology.routes
    assert found.parents[0].conditions[0].reason == reason
    assert state(simulation, "wide").verdict == ("Enforced" if reason == "Accepted" else "NoEffect")


MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: %s, port: 80}}}"
REDIRECT = "{type: RequestRedirect, requestRedirect: {scheme: https}}"
TEAPOT = "{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: %s}}"
ANSWERING = manifest(
    "gateway.envoyproxy.io/v1alpha1", "HTTPRouteFilter", "tea", "shop", "spec: {directResponse: {statusCode: 418}}"
)
SHOP = service("s", "shop", "[{port: 80}]")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (f"{MIRROR % 's'}, {REDIRECT}", "False/IncompatibleFilters True/ResolvedRefs"),
        (f"{REDIRECT}, {MIRROR % 's'}", "False/IncompatibleFilters True/ResolvedRefs"),
        (f"{MIRROR % 's'}, {TEAPOT % 'tea'}", "False/IncompatibleFilters True/ResolvedRefs"),
        (f"{MIRROR % 's'}, {TEAPOT % 'gone'}", "False/IncompatibleFilters False/UnsupportedValue"),
        (f"{TEAPOT % 'tea'}, {MIRROR % 's'}", "True/Accepted True/ResolvedRefs"),
        (f"{TEAPOT % 'tea'}, {MIRROR % 'gone'}", "True/Accepted True/ResolvedRefs"),
        (f"{MIRROR % 'gone'}, {REDIRECT}", "True/Accepted False/BackendNotFound"),
        (MIRROR % "s", "True/Accepted True/ResolvedRefs"),
    ],
)
def test_what_is_answered_or_redirected_cannot_be_mirrored(filters: str, expected: str) -> None:
    """internal/gatewayapi/filters.go: filters are looked at as far as one that answers, be it with an error."""
    rule = f"{{filters: [{filters}]}}"
    whole, part = (
        simulated(CLASS, gateway(), SHOP, ANSWERING, route(more=f"rules: [{rule}{more}]")).topology.routes[0].parents[0]
        for more in ("", ", {backendRefs: [{name: s, port: 80}]}")
    )
    assert " ".join(f"{each.status}/{each.reason}" for each in whole.conditions) == expected
    partly = [f"{each.status}/{each.reason}" for each in part.conditions if each.type == "PartiallyInvalid"]
    assert partly == (["True/IncompatibleFilters"] if "Incompatible" in expected else [])
    assert part.accepted


PLAIN = "{backendRefs: [{name: s, port: 80}]}"
PREFIX = "{path: {type: PathPrefix, value: /admin}}"
NO_EXPRESSION = "{headers: [{name: x-a, type: RegularExpression, value: '['}]}"


def shop(rules: str, *more: str) -> tuple[list[str], str]:
    """The conditions of the only route, and the answer to a request for /admin."""
    simulation = simulated(CLASS, gateway(), SHOP, *more, route(more=f"rules: [{rules}]"))
    outcome = Tracer(simulation).trace(request({"host": "shop.example", "path": "/admin"})).outcome
    ends = "fails" if outcome.failing else "reaches" if outcome.backends else str(outcome.status)
    return conditions(simulation.topology.routes[0].parents[0].conditions), ends


@pytest.mark.parametrize(
    ("matches", "filters", "said", "alone", "beside"),
    [
        (PREFIX, "", "", "reaches", "reaches"),
        # What is left out leaves its requests to the other rule, whatever else it matches.
        (f"{PREFIX}, {NO_EXPRESSION}", "", "UnsupportedValue", "404", "reaches"),
        (PREFIX, "{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: a}]}}", "", "", ""),
        (PREFIX, "{type: RequestHeaderModifier, requestHeaderModifier: {add: [{name: x-a, value: ' '}]}}", "", "", ""),
        (PREFIX, "{type: ResponseHeaderModifier, responseHeaderModifier: {remove: ['x/a']}}", "", "", ""),
        (PREFIX, "{type: ExtensionRef, extensionRef: {group: example.net, kind: Own, name: a}}", "", "", ""),
        (PREFIX, f"{{type: URLRewrite, urlRewrite: {{hostname: a.example}}}}, {TEAPOT % 'away'}", "", "", ""),
        (PREFIX, TEAPOT % "lookahead", "", "", ""),
        (PREFIX, f"{{type: URLRewrite, urlRewrite: {{hostname: a.example}}}}, {TEAPOT % 'path'}", "-", "reaches", ""),
    ],
)
def test_a_rule_that_is_not_accepted_is_left_out_or_answers_500(
    matches: str, filters: str, said: str, alone: str, beside: str
) -> None:
    """internal/gatewayapi/{route,filters}.go: which of the two hangs on what is wrong with it."""
    rewrites = {
        "away": "hostname: {type: Backend}",
        "path": "path: {type: ReplaceRegexMatch, replaceRegexMatch: {pattern: a, substitution: b}}",
        "lookahead": "path: {type: ReplaceRegexMatch, replaceRegexMatch: {pattern: '(?=a)', substitution: b}}",
    }
    more = [
        manifest(
            "gateway.envoyproxy.io/v1alpha1",
            "HTTPRouteFilter",
            name,
            "shop",
            f"spec: {{urlRewrite: {{{rewrite}}}}}",
        )
        for name, rewrite in rewrites.items()
    ]
    said = said or ("UnsupportedValue" if filters else "-")
    alone = alone or "500"
    rule = f"{{matches: [{matches}], filters: [{filters}], backendRefs: [{{name: s, port: 80}}]}}"
    refused = said == "UnsupportedValue"
    accepted = "Accepted=True/Accepted"
    resolved = "ResolvedRefs=True/ResolvedRefs"
    assert shop(rule, *more) == (["Accepted=False/UnsupportedValue" if refused else accepted, resolved], alone)
    partly = [f"PartiallyInvalid=True/{said}"] if refused else []
    assert shop(f"{rule}, {PLAIN}", *more) == ([accepted, resolved, *partly], beside or alone)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        ("{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-a, value: a}]}}", ""),
        (
            "{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: a}]}}",
            "InvalidBackendFilters",
        ),
        (TEAPOT % "gone", "InvalidBackendFilters"),
        ("{type: URLRewrite, urlRewrite: {hostname: a.example}}", ""),
        ("{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /a}}}", "UnsupportedRefValue"),
        ("{type: ExtensionRef, extensionRef: {group: example.net, kind: Own, name: a}}", "UnsupportedRefValue"),
    ],
)
def test_filters_of_a_backend_fail_the_requests_to_it(filters: str, reason: str) -> None:
    told_of, ends = shop(f"{{backendRefs: [{{name: s, port: 80, filters: [{filters}]}}]}}", ANSWERING)
    assert told_of[1] == (f"ResolvedRefs=False/{reason}" if reason else "ResolvedRefs=True/ResolvedRefs")
    assert ends == ("fails" if reason else "reaches")


HERE = "endpoints: [{ip: {address: 192.0.2.9, port: 80}}]"
ELSEWHERE = "{name: a, namespace: infra}"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("endpoints: [{fqdn: {hostname: up.example, port: 80}}]", ""),
        ("endpoints: [{fqdn: {hostname: localhost, port: 80}}]", "InvalidAddress"),
        ("endpoints: [{ip: {address: 127.0.0.9, port: 80}}]", "InvalidAddress"),
        ("endpoints: [{ip: {address: 192.0.2.9, port: 80}, hostname: up}]", "InvalidAddress"),
        (f"{HERE}, tls: {{insecureSkipVerify: true, clientCertificateRef: {{name: gone}}}}", "InvalidBackendTLS"),
        (f"{HERE}, tls: {{insecureSkipVerify: true, clientCertificateRef: {ELSEWHERE}}}", "InvalidBackendRef"),
    ],
)
def test_a_backend_is_refused_for_its_address_and_its_certificate(spec: str, reason: str) -> None:
    backend = manifest("gateway.envoyproxy.io/v1alpha1", "Backend", "up", "shop", f"spec: {{{spec}}}")
    secret = manifest("v1", "Secret", "other", "shop", "data: {}")
    rule = "{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: up}]}"
    told_of, ends = shop(rule, backend, secret)
    assert told_of[1] == (f"ResolvedRefs=False/{reason}" if reason else "ResolvedRefs=True/ResolvedRefs")
    assert ends == ("fails" if reason else "reaches")


@pytest.mark.parametrize(("named", "served"), [("up", True), ("down", False)])
def test_a_policy_may_name_the_ca_that_a_backend_does_not(named: str, served: bool) -> None:
    """What both say is joined before a CA is missed (applyBackendTLSSetting)."""
    spec = f"spec: {{{HERE}, tls: {{insecureSkipVerify: false}}}}"
    backend = manifest("gateway.envoyproxy.io/v1alpha1", "Backend", "up", "shop", spec)
    target = f"targetRefs: [{{group: gateway.envoyproxy.io, kind: Backend, name: {named}}}]"
    checks = "validation: {wellKnownCACertificates: System, hostname: up.example}"
    tls = manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "shop", f"spec: {{{target}, {checks}}}")
    rule = "{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: up}]}"
    assert shop(rule, backend, tls)[1] == ("reaches" if served else "fails")


@pytest.mark.parametrize(
    ("match", "kind", "more", "alike"),
    [
        ("{path: {type: PathPrefix, value: /admin/}}", "HTTPRoute", "", True),
        ("{path: {type: PathPrefix, value: /admin}, method: GET}", "HTTPRoute", "", False),
        ("{path: {type: PathPrefix, value: /admin}}", "HTTPRoute", "hostnames: [a.example]", False),
        ("{method: {service: admin}}", "GRPCRoute", "", True),
        (f"{{path: {{type: PathPrefix, value: /admin}}}}, {NO_EXPRESSION}", "HTTPRoute", "", False),
    ],
)
def test_routes_that_match_the_same_requests_say_so(match: str, kind: str, more: str, alike: bool) -> None:
    """internal/gatewayapi/route.go, checkRouteOverlaps: calls are requests for their paths."""
    other = route("other", kind=kind, more=f"{more and more + ', '}rules: [{{matches: [{match}]}}]")
    one = route(more=f"rules: [{{matches: [{PREFIX}]}}]")
    states = simulated(CLASS, gateway(), one, other).topology.routes
    expected = ["RouteRulesOverlap=True/RouteRulesOverlap"] if alike else []
    for each_route in states:
        found = [each for each in each_route.parents[0].conditions if each.type == "RouteRulesOverlap"]
        assert conditions(found) == expected


def test_only_routes_at_gateways_of_its_own_are_held_against_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    of_another = gateway_class("another", "istio.io/gateway-controller")
    rule = f"rules: [{{matches: [{PREFIX}]}}]"
    routes = [route(f"own-{number}", more=rule) for number in range(2)]
    away = "[{name: away, namespace: infra}]"
    routes += [route(f"other-{number}", parents=away, more=rule) for number in range(4)]
    read: list[str] = []
    keys = overlaps._keys
    monkeypatch.setattr(overlaps, "_keys", lambda each, *more: read.append(each.key.name) or keys(each, *more))
    assert simulated(CLASS, gateway(), of_another, gateway("away", of_class="another"), *routes)
    assert sorted(read) == ["own-0", "own-1"]
