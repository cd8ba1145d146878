"""GWP108, 207, 209, 301, 303, 307 and 408 beyond the examples of their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, lint, only, policy, rules
from tests.worlds import GATEWAY_API, gateway_class

ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
OLDER, NEWER = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
RETRY = "retry: {numRetries: 3}"
LOGIN = "basicAuth: {users: {name: users}}"


def route(name: str, inner: str = "", host: str = "", created: str = "") -> str:
    hosts = f"hostnames: [{host or f'{name}.example.com'}]"
    rules = f"rules: [{{{inner or 'backendRefs: [{name: checkout, port: 8080}]'}}}]"
    parents = "[{name: edge, namespace: infra, sectionName: http}]"
    return worlds.route(name, parents=parents, more=f"{hosts}, {rules}", created=created)


@pytest.mark.parametrize(
    ("controller", "told"),
    [
        ("gateway.nginx.org/nginx-gateway-controller", True),
        ("istio.io/gateway-controller", True),
        (ENVOY, False),
        ("example.com/nobody-knows-it", False),
    ],
)
def test_who_serves_the_target(tmp_path: Path, controller: str, told: bool) -> None:
    on_route = policy("BackendTrafficPolicy", "retries", "kind: HTTPRoute, name: a", RETRY)
    found = lint(tmp_path, gateway_class("envoy", controller), GATEWAY, SERVICE, route("a"), on_route)
    assert ("GWP108" in rules(found)) == told


@pytest.mark.parametrize(
    ("aim", "severity"),
    [
        ("targetSelectors: [{group: %s, kind: Gateway}]", "note"),
        ("targetSelectors: [{group: %s, kind: Gateway, matchLabels: {}}]", "note"),
        ("targetSelectors: [{group: %s, kind: Gateway, matchLabels: {app: web}}]", "warning"),
        ("targetRefs: [{group: %s, kind: Gateway, name: edge}, {group: %s, kind: Gateway, name: mcp}]", "error"),
    ],
)
def test_a_policy_for_all_gateways_means_those_of_its_controller(tmp_path: Path, aim: str, severity: str) -> None:
    """Where a Gateway is named, or its labels are, somebody means it."""
    spec = f"spec: {{{aim.replace('%s', GATEWAY_API)}, {LOGIN}}}"
    login = worlds.manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "login", "infra", spec)
    classes = (gateway_class("envoy", ENVOY), gateway_class("agent", "agentgateway.dev/agentgateway"))
    doors = (worlds.gateway(name, of_class=of, labels="app: web") for name, of in (("edge", "envoy"), ("mcp", "agent")))
    assert only(lint(tmp_path, *classes, *doors, login), "GWP108").severity == severity


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (("gateway.networking.k8s.io/v1alpha2", "BackendLBPolicy"), True),
        (("gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy"), False),
    ],
)
def test_a_mesh_beside_reads_what_it_reads(tmp_path: Path, kind: tuple[str, str], told: bool) -> None:
    """Envoy Gateway reads neither, Istio one of the two: pilot/pkg/config/kube/gateway/backend_policies.go."""
    settings = "sessionPersistence: {sessionName: s}"
    sticky = worlds.policy(*kind, "sticky", "Service/checkout", settings, "shop")
    mesh = worlds.manifest(
        "security.istio.io/v1", "PeerAuthentication", "far", "far", "spec: {mtls: {mode: PERMISSIVE}}"
    )
    tree = (gateway_class("envoy", ENVOY), GATEWAY, SERVICE, route("a"), sticky)
    assert "GWP108" in rules(lint(tmp_path, *tree))
    assert ("GWP108" in rules(lint(tmp_path, *tree, mesh))) == told


def test_a_policy_of_gateway_api_itself_is_served_by_all(tmp_path: Path) -> None:
    settings = "validation: {hostname: a.example.com, wellKnownCACertificates: System}"
    tls = worlds.policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "Service/checkout", settings, "shop")
    found = lint(tmp_path, gateway_class("envoy", "istio.io/gateway-controller"), GATEWAY, SERVICE, route("a"), tls)
    assert "GWP108" not in rules(found)


def test_the_exception_is_told_and_the_rule_is_not(tmp_path: Path) -> None:
    logins = [policy("SecurityPolicy", name, f"kind: HTTPRoute, name: {name}", LOGIN) for name in ("a", "b")]
    world = (GATEWAY, SERVICE, route("a"), route("b"), route("c"), *logins)
    said = only(lint(tmp_path, *world), "GWP301")
    assert said.message == (
        "HTTPRoute shop/c requires no login, unlike 2 other routes of Listener infra/edge#http in its namespace"
    )
    assert "GWP301" not in rules(lint(tmp_path, *world, route("d")))  # two open, two closed: no exception
    elsewhere = (each.replace("namespace: shop", "namespace: blog") for each in (SERVICE, route("d")))
    assert "GWP301" not in rules(lint(tmp_path, *world[:2], route("a"), route("b"), *logins, *elsewhere))


@pytest.mark.parametrize(
    "other",
    [
        route("b", "filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]"),
        route("b", "filters: [{type: ExtensionRef, extensionRef: {group: x.io, kind: Y, name: z}}], "
        "backendRefs: [{name: checkout, port: 8080}]"),
        route("b") + "---" + policy("SecurityPolicy", "b", "kind: HTTPRoute, name: b",
        "authorization: {defaultAction: Deny}"),
        route("b") + "---" + policy("EnvoyExtensionPolicy", "b", "kind: HTTPRoute, name: b", "extProc: []"),
    ],
    ids=["redirect", "filter", "allow-list", "extension"],
)  # fmt: skip
def test_routes_of_which_nothing_is_said(tmp_path: Path, other: str) -> None:
    logins = [policy("SecurityPolicy", name, f"kind: HTTPRoute, name: {name}", LOGIN) for name in ("a", "c")]
    assert "GWP301" not in rules(lint(tmp_path, GATEWAY, SERVICE, route("a"), route("c"), other, *logins))


def test_a_login_on_the_gateway_covers_all(tmp_path: Path) -> None:
    login = policy("SecurityPolicy", "login", "kind: Gateway, name: edge", LOGIN, namespace="infra")
    assert "GWP301" not in rules(lint(tmp_path, GATEWAY, SERVICE, route("a"), route("b"), login))


def test_a_port_without_tls_beside_one_with_it_is_on_purpose(tmp_path: Path) -> None:
    service = """
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {ports: [{name: https, port: 8443}, {name: http, port: 8080}]}
"""
    tls = """
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: checkout, sectionName: https}]
  validation: {hostname: a.example.com, wellKnownCACertificates: System}
"""
    both = route("a", "backendRefs: [{name: checkout, port: 8443}, {name: checkout, port: 8080}]")
    assert "GWP303" not in rules(lint(tmp_path, GATEWAY, service, both, tls))
    unnamed = service.replace("name: http,", "name: api,")
    assert "GWP303" not in rules(lint(tmp_path, GATEWAY, unnamed, both, tls))
    renamed = service.replace("name: http,", "name: https-new,")
    assert only(lint(tmp_path, GATEWAY, renamed, both, tls), "GWP303").label == "covers https only"
    plain = lint(tmp_path, GATEWAY, service, route("a"), tls)
    assert only(plain, "GWP303").label == "covers https only"
    assert "GWP106" not in rules(plain)


CALLS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: calls, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  rules: [{backendRefs: [{name: checkout, port: 8080}]}]
"""
WHOLE = """
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: checkout, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: checkout}]
  validation: {hostname: a.example.com, wellKnownCACertificates: System}
"""


def test_a_kind_of_route_for_which_the_policy_is_not_read(tmp_path: Path) -> None:
    traefik = GATEWAY.replace("gatewayClassName: envoy", "gatewayClassName: traefik")
    assert traefik != GATEWAY
    said = only(lint(tmp_path, traefik, SERVICE, CALLS, WHOLE), "GWP303")
    assert said.message == (
        "GRPCRoute shop/calls reaches Service shop/checkout without TLS: "
        "traefik does not read BackendTLSPolicy shop/checkout for a GRPCRoute"
    )
    assert "GWP303" not in rules(lint(tmp_path, traefik, SERVICE, route("a"), WHOLE))
    assert "GWP303" not in rules(lint(tmp_path, GATEWAY, SERVICE, CALLS, WHOLE))


MERGED = (
    policy(
        "SecurityPolicy",
        "edge",
        "kind: Gateway, name: edge",
        "extAuth: {http: {backendRefs: [{name: auth, port: 80}]}}",
        namespace="infra",
    ),
    policy("SecurityPolicy", "own", "kind: HTTPRoute, name: a", "mergeType: StrategicMerge\n  cors: {maxAge: 1h}"),
)


def test_a_reference_in_a_list_is_moved_too(tmp_path: Path) -> None:
    found = lint(tmp_path, GATEWAY, SERVICE, route("a"), *MERGED)
    said = only(found, "GWP209")
    assert said.severity == "note"  # recent releases of Envoy Gateway look in the right namespace
    assert said.label == "infra/auth is meant, shop/auth is looked up"
    assert said.pointed_at.startswith("auth, port: 80")
    there = MERGED[0].replace("name: auth", "name: auth, namespace: infra")
    assert "GWP209" not in rules(lint(tmp_path, GATEWAY, SERVICE, route("a"), there, MERGED[1]))


def matching(inner: str) -> str:
    return f"matches: [{{{inner}}}], backendRefs: [{{name: checkout, port: 8080}}]"


@pytest.mark.parametrize(
    ("one", "other", "shadowed"),
    [
        ("path: {value: /a}", "path: {type: PathPrefix, value: /a/}", True),
        ("path: {type: Exact, value: /a}", "path: {type: Exact, value: /a/}", False),
        ("path: {value: /a}", "path: {type: Exact, value: /a}", False),
        ("path: {value: /a}", "path: {value: /A}", False),
        ("method: GET", "method: GET", True),
        ("method: GET", "method: POST", False),
        ("headers: [{name: X-A, value: b}]", "headers: [{name: x-a, value: b}, {name: X-a, value: c}]", True),
        ("headers: [{name: x, value: b}]", "headers: [{name: x, value: b}, {name: y, value: c}]", False),
        ("queryParams: [{name: a, value: b}]", "queryParams: [{name: A, value: b}]", False),
        ("path: {type: RegularExpression, value: /a.*}", "path: {type: RegularExpression, value: /a.+}", True),
    ],
)
def test_only_what_ties_on_all_counts_is_shadowed(tmp_path: Path, one: str, other: str, shadowed: bool) -> None:
    routes = (route("a", matching(one), "shop.example.com"), route("b", matching(other), "shop.example.com"))
    assert ("GWP408" in rules(lint(tmp_path, GATEWAY, SERVICE, *routes))) == shadowed


def test_other_hostnames_are_other_requests(tmp_path: Path) -> None:
    assert "GWP408" not in rules(lint(tmp_path, GATEWAY, SERVICE, route("a"), route("b")))
    wide = route("b", host='"*.example.com"')
    assert "GWP408" not in rules(lint(tmp_path, GATEWAY, SERVICE, route("a"), wide))


@pytest.mark.parametrize(
    ("rules_", "is_told"),
    [
        ("[{matches: [{path: {type: PathPrefix, value: /a}}, {path: {type: PathPrefix, value: /a/}}]}]", False),
        (
            "[{matches: [{path: {type: PathPrefix, value: /a}}]}, {matches: [{path: {type: PathPrefix, value: /a/}}]}]",
            True,
        ),
        ("[{matches: [{path: {type: PathPrefix, value: /a}}, {path: {type: PathPrefix, value: /a}}]}]", True),
    ],
)
def test_a_slash_more_in_one_rule_takes_nothing_away(tmp_path: Path, rules_: str, is_told: bool) -> None:
    own = f"""
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: a, namespace: shop}}
spec: {{parentRefs: [{{name: edge, namespace: infra}}], rules: {rules_}}}
"""
    assert ("GWP408" in rules(lint(tmp_path, GATEWAY, SERVICE, own))) == is_told


def test_the_older_route_wins_where_ages_are_stated(tmp_path: Path) -> None:
    young = route("a", host="shop.example.com", created="2026-02-01T00:00:00Z")
    old = route("b", host="shop.example.com", created="2026-01-01T00:00:00Z")
    said = only(lint(tmp_path, GATEWAY, SERVICE, young, old), "GWP408")
    assert said.confidence == "certain"
    assert said.message.startswith("HTTPRouteRule shop/a#rule-1 can never win against HTTPRouteRule shop/b#rule-1")
    unstated = only(
        lint(tmp_path, GATEWAY, SERVICE, route("a", host="x.example.com"), route("b", host="x.example.com")), "GWP408"
    )
    assert unstated.confidence == "assumed"
    assert "is in a tie against" in unstated.message
    half = only(lint(tmp_path, GATEWAY, SERVICE, route("a", host="shop.example.com"), old), "GWP408")
    assert half.message.startswith("HTTPRouteRule shop/a#rule-1 is in a tie against HTTPRouteRule shop/b#rule-1")


@pytest.mark.parametrize(
    ("controller", "ages", "message"),
    [
        (
            "example.net/other",
            (OLDER, NEWER),
            "HTTPRoute shop/web gets no requests on Listener infra/edge#http: GRPCRoute",
        ),
        (
            "example.net/other",
            (NEWER, OLDER),
            "GRPCRoute shop/api gets no requests on Listener infra/edge#http: HTTPRoute",
        ),
        (
            "example.net/other",
            ("", ""),
            "HTTPRoute shop/web gets no requests on Listener infra/edge#http: GRPCRoute shop/a",
        ),
        (ENVOY, (OLDER, NEWER), "GRPCRouteRule shop/api#rule-1 can never win against HTTPRouteRule shop/web#rule-1"),
    ],
)
def test_of_both_kinds_of_routes_one_gets_a_hostname(
    tmp_path: Path, controller: str, ages: tuple[str, str], message: str
) -> None:
    api, web = (
        worlds.route(name, kind=kind, created=created, more="hostnames: [a.example], rules: [{}]")
        for name, kind, created in (("api", "GRPCRoute", ages[0]), ("web", "HTTPRoute", ages[1]))
    )
    found = lint(tmp_path, gateway_class(controller=controller), worlds.gateway(), api, web)
    said = [each for each in found if each.rule == "GWP408"]
    assert [each.message.startswith(message) for each in said] == [True]
    assert {each.confidence for each in said} == {"certain" if controller == ENVOY else "assumed"}


OFFICE = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {%s}}]}"
BY_ADDRESS = OFFICE % "clientCIDRs: [10.0.0.0/8]"


@pytest.mark.parametrize(
    ("settings", "expected", "pointed_at"),
    [
        ("clientIPDetection: {xForwardedFor: {trustedCIDRs: [10.0.0.0/8, 0.0.0.0/0]}}", "warning certain", "0.0.0.0/0"),
        ("clientIPDetection: {xForwardedFor: {trustedCIDRs: ['::/0']}}", "warning certain", "'::/0'"),
        ("proxyProtocol: {optional: true}", "warning certain", "true"),
        ("clientIPDetection: {xForwardedFor: {numTrustedHops: 1}}", "note assumed", "1"),
        ("clientIPDetection: {customHeader: {name: x-real-ip}}", "note assumed", "x-real-ip"),
        ("clientIPDetection: {xForwardedFor: {numTrustedHops: 0}}", "warning certain", "0"),
        ("clientIPDetection: {xForwardedFor: {trustedCIDRs: [10.0.0.0/8]}}", "", ""),
        ("clientIPDetection: {directSourceIP: {}}", "", ""),
        ("proxyProtocol: {optional: false}", "", ""),
    ],
)
def test_addresses_that_clients_can_forge(tmp_path: Path, settings: str, expected: str, pointed_at: str) -> None:
    client = policy("ClientTrafficPolicy", "client", "kind: Gateway, name: edge", settings, namespace="infra")
    allowed = policy("SecurityPolicy", "office", "kind: HTTPRoute, name: a", BY_ADDRESS)
    world = (gateway_class("envoy", ENVOY), GATEWAY, SERVICE, route("a"), client)
    found = [said for said in lint(tmp_path, *world, allowed) if said.rule == "GWP307"]
    assert [f"{said.severity} {said.confidence}" for said in found] == ([expected] if expected else [])
    assert all(said.pointed_at.startswith(pointed_at) for said in found)
    for other in (LOGIN, OFFICE % "clientCIDRs: [10.0.0.0/8], jwt: {provider: a, scopes: [b]}"):
        login = policy("SecurityPolicy", "office", "kind: HTTPRoute, name: a", other)
        assert "GWP307" not in rules(lint(tmp_path, *world, login))


def test_the_listener_with_its_own_policy_is_not_forged(tmp_path: Path) -> None:
    wide = "proxyProtocol: {optional: true}"
    clients = (
        policy("ClientTrafficPolicy", "client", "kind: Gateway, name: edge", wide, namespace="infra"),
        policy(
            "ClientTrafficPolicy", "http", "kind: Gateway, name: edge, sectionName: http", "connection: {}",
            namespace="infra",
        ),
    )  # fmt: skip
    allowed = policy("SecurityPolicy", "office", "kind: HTTPRoute, name: a", BY_ADDRESS)
    assert "GWP307" not in rules(lint(tmp_path, GATEWAY, SERVICE, route("a"), *clients, allowed))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("default: {httpSettings: {useRemoteAddress: false, xffTrustedCIDRs: [0.0.0.0/0]}}", "warning certain"),
        ("default: {httpSettings: {useRemoteAddress: false}}", "warning certain"),
        ("default: {proxyProtocol: {allowRequestsWithoutProxyProtocol: true}}", "warning certain"),
        ("default: {httpSettings: {xffNumTrustedHops: 2}}", "note assumed"),
        ("default: {httpSettings: {useRemoteAddress: false, xffTrustedCIDRs: [10.0.0.0/8]}}", ""),
        ("default: {httpSettings: {useRemoteAddress: true}}", ""),
        ("default: {proxyProtocol: {}}", ""),
    ],
)
def test_addresses_that_clients_of_kgateway_can_forge(tmp_path: Path, settings: str, expected: str) -> None:
    group = "gateway.kgateway.dev/v1alpha1"
    of_gateway, of_route = f"Gateway.{GATEWAY_API}/edge", f"HTTPRoute.{GATEWAY_API}/a"
    listener = worlds.policy(group, "ListenerPolicy", "addresses", of_gateway, settings, "infra")
    acl = "acl: {defaultAction: deny, rules: [{cidrs: [10.0.0.0/8], action: allow}]}"
    allowed = worlds.policy(group, "TrafficPolicy", "office", of_route, acl, "shop")
    world = (gateway_class("envoy", "kgateway.dev/kgateway"), GATEWAY, SERVICE, route("a"), listener, allowed)
    found = [said for said in lint(tmp_path, *world) if said.rule == "GWP307"]
    assert [f"{said.severity} {said.confidence}" for said in found] == ([expected] if expected else [])


SNIPPETS = 'snippets: [{context: http.server.location, value: "%s"}]'
ALLOWED = SNIPPETS % "allow 10.0.0.0/8; deny all;"
EVERYONE = "trustedAddresses: [{type: CIDR, value: 10.0.0.0/8}, {type: CIDR, value: 0.0.0.0/0}]"
LIMIT = "rateLimit: {local: {rules: [{key: %s, rate: 5r/s, zoneSize: 10m}]}}"


def nginx_proxy(name: str, rewriting: str) -> str:
    return f"""
apiVersion: gateway.nginx.org/v1alpha2
kind: NginxProxy
metadata: {{name: {name}, namespace: infra}}
spec: {{rewriteClientIP: {{{rewriting}}}}}
"""


@pytest.mark.parametrize(
    ("of_class", "of_gateway", "expected"),
    [
        (f"mode: XForwardedFor, setIPRecursively: true, {EVERYONE}", "", "warning certain"),
        (f"mode: XForwardedFor, {EVERYONE}", "", "warning certain"),
        (f"mode: ProxyProtocol, {EVERYONE}", "", "note assumed"),
        ("mode: XForwardedFor, trustedAddresses: [{type: CIDR, value: 10.0.0.0/8}]", "", ""),
        ("", f"mode: XForwardedFor, {EVERYONE}", "warning certain"),
        (f"mode: ProxyProtocol, {EVERYONE}", f"mode: XForwardedFor, {EVERYONE}", "warning certain"),
        (f"mode: XForwardedFor, {EVERYONE}", "trustedAddresses: [{type: IPAddress, value: 10.1.2.3}]", ""),
    ],
)
def test_addresses_that_clients_of_nginx_can_forge(
    tmp_path: Path, of_class: str, of_gateway: str, expected: str
) -> None:
    reference = "parametersRef: {group: gateway.nginx.org, kind: NginxProxy, name: %s%s}"
    own_class = gateway_class(
        "envoy", "gateway.nginx.org/nginx-gateway-controller", reference % ("all", ", namespace: infra")
    )
    gateway = GATEWAY.replace("spec:\n", f"spec:\n  infrastructure: {{{reference % ('own', '')}}}\n")
    group, on_gateway, on_route = (
        "gateway.nginx.org/v1alpha1",
        f"Gateway.{GATEWAY_API}/edge",
        f"HTTPRoute.{GATEWAY_API}/a",
    )
    filtered = f"""
apiVersion: {group}
kind: SnippetsFilter
metadata: {{name: office, namespace: shop}}
spec: {{{ALLOWED}}}
"""
    limit = LIMIT % "$binary_remote_addr"
    reference = "extensionRef: {group: gateway.nginx.org, kind: SnippetsFilter, name: office}"
    through_filter = f"filters: [{{type: ExtensionRef, {reference}}}], backendRefs: [{{name: checkout, port: 8080}}]"
    deciding = (
        (route("a"), worlds.policy(group, "SnippetsPolicy", "office", on_gateway, ALLOWED, "infra")),
        (route("a"), worlds.policy(group, "RateLimitPolicy", "slow", on_route, limit, "shop")),
        (route("a", through_filter), filtered),
    )
    proxies = (nginx_proxy("all", of_class), nginx_proxy("own", of_gateway))
    for own in deciding:
        found = [said for said in lint(tmp_path, own_class, *proxies, gateway, SERVICE, *own) if said.rule == "GWP307"]
        assert [f"{said.severity} {said.confidence}" for said in found] == ([expected] if expected else [])
    for settings, kind in ((SNIPPETS % "deny all;", "SnippetsPolicy"), (LIMIT % "$http_x_user", "RateLimitPolicy")):
        other = worlds.policy(group, kind, "other", on_gateway, settings, "infra")
        assert "GWP307" not in rules(lint(tmp_path, own_class, *proxies, gateway, SERVICE, route("a"), other))


REMOTE = "rules: [{from: [{source: {remoteIpBlocks: [10.0.0.0/8]%s}}]}]"
TOPOLOGY = 'infrastructure: {annotations: {proxy.istio.io/config: \'{"gatewayTopology": {"numTrustedProxies": %s}}\'}}'


@pytest.mark.parametrize(
    ("settings", "rule", "in_mesh_config", "expected"),
    [
        (TOPOLOGY % 1, REMOTE % "", 0, ["Gateway infra/edge"]),
        (TOPOLOGY % 1, "rules: [{when: [{key: remote.ip, values: [10.0.0.0/8]}]}]", 0, ["Gateway infra/edge"]),
        (TOPOLOGY % 0, REMOTE % "", 2, []),
        ("infrastructure: {}", REMOTE % "", 2, ["Gateway infra/edge"]),
        ("infrastructure: {}", REMOTE % "", 0, []),
        (TOPOLOGY % 1, REMOTE % ", principals: [a/ns/b/sa/c]", 0, []),
        (TOPOLOGY % 1, REMOTE.replace("10.0.0.0/8", "0.0.0.0/0") % "", 0, []),
        (TOPOLOGY % 1, REMOTE.replace("remoteIpBlocks", "ipBlocks") % "", 0, []),
        (TOPOLOGY.replace('{"gate', '["gate') % 1, REMOTE % "", 0, []),
    ],
)
def test_addresses_that_some_clients_of_istio_can_forge(
    tmp_path: Path, settings: str, rule: str, in_mesh_config: int, expected: list[str]
) -> None:
    gateway = GATEWAY.replace("spec:\n", f"spec:\n  {settings}\n")
    target = f"targetRefs: [{{group: {GATEWAY_API}, kind: Gateway, name: edge}}]"
    allowed = f"""
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {{name: office, namespace: infra}}
spec: {{{target}, {rule}}}
"""
    world = (gateway_class("envoy", "istio.io/gateway-controller"), gateway, SERVICE, route("a"), allowed)
    (tmp_path / "all.yaml").write_text("---\n".join(world))
    opened = open_workspace([str(tmp_path / "all.yaml")], settings={"istio": {"numTrustedProxies": in_mesh_config}})
    found = [finding for finding in opened.findings() if finding.rule == "GWP307"]
    assert [str(finding.resources[-1]) for finding in found] == expected
    assert all((finding.severity, finding.confidence) == ("note", "assumed") for finding in found)


@pytest.mark.parametrize(
    ("labels", "forged"),
    [("app: a", ["Deployment shop/a"]), ("app: a, istio: ingressgateway", [])],
    ids=["a sidecar", "a gateway"],
)
def test_a_sidecar_takes_the_address_from_a_header(tmp_path: Path, labels: str, forged: list[str]) -> None:
    workload = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: a}}}}
  template: {{metadata: {{labels: {{{labels}}}}}, spec: {{containers: []}}}}
"""
    allowed = f"""
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {{name: office, namespace: shop}}
spec: {{selector: {{matchLabels: {{app: a}}}}, {REMOTE % ""}}}
"""
    (tmp_path / "all.yaml").write_text(f"{workload}---\n{allowed}")
    found = [finding for finding in open_workspace([str(tmp_path / "all.yaml")]).findings() if finding.rule == "GWP307"]
    assert [str(finding.resources[-1]) for finding in found] == forged
