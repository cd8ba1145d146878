"""What controllers read at objects that requests pass by, and what changes in policies that act nowhere: a row."""

from __future__ import annotations

import pytest

from policylint.compare import compare, pair_sides, removed_protections
from tests.worlds import gateway, gateway_class, labelled, manifest, policy, route, service, simulated

ROUTED = [
    gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway(),
    route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
]
SELECTED = "selector: {app: checkout}"
PORTS = "[{name: http, port: 80, targetPort: 8080, protocol: TCP}]"


def ingress(annotations: str = "", tls: str = "[{hosts: [a.example.com, b.example.com], secretName: web}]") -> str:
    paths = "[{path: /, pathType: Prefix, backend: {service: {name: checkout, port: {number: 80}}}}]"
    rules = f"[{{host: a.example.com, http: {{paths: {paths}}}}}, {{host: b.example.com, http: {{paths: {paths}}}}}]"
    spec = f"spec: {{ingressClassName: nginx, tls: {tls}, rules: {rules}}}"
    return manifest("networking.k8s.io/v1", "Ingress", "www", "shop", spec, more=f"annotations: {{{annotations}}}")


def pods(annotations: str, labels: str = "app: checkout") -> str:
    metadata = f"metadata: {{labels: {{{labels}}}, annotations: {{{annotations}}}}}"
    template = f"{{{metadata}, spec: {{containers: [{{name: a, image: a}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: checkout}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", "checkout", "shop", spec)


def rows(before: str, after: str) -> tuple[list[str], bool]:
    """Return the reasons of what is not known, and whether it is said that all requests are answered as before."""
    beside = [labelled("infra"), labelled("shop")] if "kind: Namespace" not in before else [labelled("infra")]
    beside += [service()] if "kind: Service\n" not in before else []
    sides = [simulated(*ROUTED, *beside, text) for text in (before, after)]
    (environment,) = compare(pair_sides([sides[0]], [sides[1]]))
    return [each.reason for each in environment.unknown], bool(environment.requests and environment.requests.same)


def exposed(annotations: str) -> str:
    spec = "spec: {host: c.example.com, to: {kind: Service, name: checkout}}"
    return manifest("route.openshift.io/v1", "Route", "c", "shop", spec, more=f"annotations: {{{annotations}}}")


def asking(authorizer: str) -> str:
    asks = f"{{protocol: HTTP, backendRef: {{name: {authorizer}, port: 80}}, http: {{path: /a}}}}"
    filters = f"filters: [{{type: ExternalAuth, externalAuth: {asks}}}]"
    return route("asking", more=f"rules: [{{{filters}, backendRefs: [{{name: checkout, port: 80}}]}}]")


GATEWAY = gateway(
    "partners",
    listeners="[{name: https, port: 443, protocol: HTTPS, hostname: p.example.com, tls: {mode: Terminate, "
    "certificateRefs: [{group: '', kind: Secret, name: web}]}, allowedRoutes: {namespaces: {from: All}}}]",
    more="addresses: [{type: IPAddress, value: 192.0.2.7}], "
    "tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}}}",
)
NGINX = "nginx.ingress.kubernetes.io"
TOLD = [
    (ingress(f"{NGINX}/cors-allow-origin: 'https://a'"), ingress(f"{NGINX}/cors-allow-origin: '*'"), "annotation "),
    (ingress("haproxy.org/ssl-ciphers: A"), ingress(), "annotation haproxy.org/ssl-ciphers"),
    (ingress(), ingress("alb.ingress.kubernetes.io/scheme: internet-facing"), "annotation alb.ingress"),
    (ingress(f"{NGINX}/auth-tls-verify-depth: '2'"), ingress(), f"annotation {NGINX}/auth-tls"),
    (ingress("example.com/guard: a"), ingress("example.com/guard: b"), "annotation example.com/guard"),
    (ingress(), ingress(tls="[{hosts: [a.example.com, b.example.com], secretName: other}]"), "spec.tls"),
    (GATEWAY, GATEWAY.replace("name: ca}", "name: other}"), "spec.tls"),
    (GATEWAY, GATEWAY.replace("Name: any", "Name: other"), ""),
    (GATEWAY, GATEWAY.replace("name: web}]}, all", "name: other}]}, all"), "spec.listeners"),
    (GATEWAY, GATEWAY.replace("192.0.2.7", "192.0.2.8"), "spec.addresses"),
    (asking("auth"), asking("open"), "externalAuth of its rules"),
    (asking("auth"), asking("auth").replace("path: /a", "path: /b"), "externalAuth of its rules"),
    (exposed("haproxy.router.openshift.io/hsts_header: a"), exposed(""), "annotation haproxy.router"),
    (service(more=f"{SELECTED}, externalIPs: [192.0.2.1]"), service(more=f"{SELECTED}, externalIPs: [192.0.2.2]"), ""),
    (service(more=SELECTED), service(more="selector: {app: other}"), "spec.selector"),
    (service(ports=PORTS), service(ports=PORTS.replace("8080", "9090")), "spec.ports"),
    (labelled("shop", "{istio-injection: enabled}"), labelled("shop"), "label istio-injection"),
    (labelled("shop", "{istio.io/use-waypoint: a}"), labelled("shop"), "label istio.io/use-waypoint"),
    (pods("config.linkerd.io/skip-inbound-ports: '25'"), pods("config.linkerd.io/skip-inbound-ports: '80'"), "config"),
    (pods("", "app: checkout, sidecar.istio.io/inject: 'true'"), pods(""), "label sidecar.istio.io/inject"),
]
LB = "service.beta.kubernetes.io/azure-load-balancer-ipv4"
OPEN = "config.linkerd.io/skip-inbound-ports"


def proxies(service: str = "", pod: str = "") -> str:
    parts = f"envoyService: {{annotations: {{{service}}}}}, envoyDeployment: {{pod: {{annotations: {{{pod}}}}}}}"
    spec = f"spec: {{provider: {{type: Kubernetes, kubernetes: {{{parts}}}}}}}"
    return manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "proxies", "infra", spec)


def of_nodes(role: str) -> str:
    spec = f"spec: {{nodeSelector: {{matchLabels: {{role: {role}}}}}, ingress: [{{fromEntities: [cluster]}}]}}"
    return manifest("cilium.io/v2", "CiliumClusterwideNetworkPolicy", "nodes", body=spec)


TOLD += [
    (proxies(f"{LB}: 192.0.2.1"), proxies(f"{LB}: 192.0.2.2"), f"annotation {LB}"),
    (proxies(pod=f"{OPEN}: '25'"), proxies(pod=f"{OPEN}: '25,80'"), f"annotation {OPEN}"),
    (of_nodes("edge"), of_nodes("none"), "spec.nodeSelector"),
]
SILENT = [
    (proxies("team: a"), proxies("team: b")),
    (proxies(pod="prometheus.io/port: '1'"), proxies(pod="prometheus.io/port: '2'")),
    (ingress(f"{NGINX}/proxy-read-timeout: '1'"), ingress(f"{NGINX}/proxy-read-timeout: '2'")),
    (ingress("argocd.argoproj.io/sync-wave: '1'"), ingress("argocd.argoproj.io/sync-wave: '2'")),
    (ingress(), ingress(tls="[{secretName: web, hosts: [b.example.com, a.example.com]}]")),
    (
        service(ports="[{name: http, port: 80}]"),
        service(ports="[{name: http, port: 80, targetPort: 80, protocol: TCP}]"),
    ),
    (service(more=SELECTED), service(more=f"{SELECTED}, type: ClusterIP, sessionAffinity: ClientIP")),
    (labelled("shop", "{team: shop}"), labelled("shop", "{team: shop, owner: web}")),
    (pods("checksum/config: a"), pods("checksum/config: b")),
    (pods("config.linkerd.io/proxy-cpu-request: 1m"), pods("config.linkerd.io/proxy-cpu-request: 2m")),
    (GATEWAY, GATEWAY.replace("addresses:", "infrastructure: {annotations: {team: edge}}, addresses:")),
    (pods("prometheus.io/scrape: 'true'"), pods("prometheus.io/scrape: 'false'")),
    # what they say where they are left out
    (ingress(f"{NGINX}/satisfy: all"), ingress()),
    (ingress(), ingress(f"{NGINX}/backend-protocol: HTTP")),
    (ingress("alb.ingress.kubernetes.io/scheme: internal"), ingress()),
    (ingress(), ingress("nginx.org/redirect-to-https: 'False'")),
]


@pytest.mark.parametrize(("before", "after", "told"), TOLD)
def test_what_controllers_read_and_nobody_evaluates_is_a_row(before: str, after: str, told: str) -> None:
    reasons, same = rows(before, after)
    assert not same
    assert told in " ".join(reasons) or (not told and reasons)


@pytest.mark.parametrize(("before", "after"), SILENT)
def test_what_nobody_on_the_way_of_requests_reads_is_none(before: str, after: str) -> None:
    assert rows(before, after)[0] == []


SECURITY = ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "login")


def cors(origin: str, target: str = "HTTPRoute/checkout", more: str = "") -> str:
    return policy(*SECURITY, target, f"cors: {{allowOrigins: ['{origin}']}}{more}", "shop")


TWICE = ", targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}"


@pytest.mark.parametrize(
    ("target", "more", "ending"),
    [
        ("HTTPRoute/gone", "", "in a policy that acts on nothing seen, before and after"),
        ("HTTPRoute/checkout", TWICE, "in a policy that is refused before and after"),
    ],
)
def test_a_policy_that_acts_nowhere_does_not_change_unsaid(target: str, more: str, ending: str) -> None:
    one, other = (cors(origin, target, more) for origin in ("https://a.example.com", "https://b.example.com"))
    reasons, same = rows(one, other)
    assert not same
    assert [reason.endswith(ending) for reason in reasons] == [True], reasons
    assert rows(one, f"{one}\n# the same\n") == ([], True)


PLUGIN = manifest("configuration.konghq.com/v1", "KongPlugin", "login", "shop", "plugin: key-auth")
ENTRY = manifest("networking.istio.io/v1", "ServiceEntry", "api", "shop", "spec: {hosts: [a.example.com]}")
SIDECAR = manifest("networking.istio.io/v1", "Sidecar", "s", "shop", "spec: {egress: [{hosts: ['./*']}]}")
BACKEND = manifest("cloud.google.com/v1", "BackendConfig", "b", "shop", "spec: {securityPolicy: {name: armor}}")


@pytest.mark.parametrize("text", [PLUGIN, ENTRY, SIDECAR, BACKEND])
def test_what_is_gone_and_nobody_evaluates_is_a_row(text: str) -> None:
    other = (
        text.replace("name: login", "name: next").replace("name: api", "name: next").replace("name: s,", "name: n2,")
    )
    assert rows(text, "") == (["is gone, and what that does is not evaluated"], False)
    assert rows(text, f"{text}---\n{other}")[0] in ([], ["is new, and what that does is not evaluated"])


def test_what_goes_with_its_application_is_none() -> None:
    assert rows(f"{pods('')}---\n{PLUGIN}", "")[0] == []


def cilium(rule: str) -> str:
    spec = f"spec: {{endpointSelector: {{matchLabels: {{app: checkout}}}}, {rule}}}"
    return manifest("cilium.io/v2", "CiliumNetworkPolicy", "web", "shop", spec)


NAMES = "[{port: '443'}], serverNames: [a.example.com]"
CONNECTIONS = [
    (f"ingress: [{{toPorts: [{{ports: {NAMES}}}]}}]", "serverNames: [a.example.com]", "serverNames: ['*.example.com']"),
    ("ingress: [{fromEntities: [cluster], authentication: {mode: required}}]", "required", "disabled"),
    ("egress: [{toFQDNs: [{matchName: a.example.com}]}]", "matchName: a", "matchName: b"),
]


@pytest.mark.parametrize(("rule", "old", "new"), CONNECTIONS)
def test_what_network_policies_ask_beside_connections(rule: str, old: str, new: str) -> None:
    assert not rows(cilium(rule), cilium(rule.replace(old, new)))[1]


def from_client(source: str, action: str = "ALLOW") -> str:
    spec = f"spec: {{action: {action}, rules: [{{from: [{{source: {{{source}}}}}]}}]}}"
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "who", "shop", spec)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (from_client("trustDomains: [cluster.local]"), from_client("trustDomains: [cluster.local, far.example]")),
        (from_client("notTrustDomains: [far.example, x]"), from_client("notTrustDomains: [x]")),
        (
            from_client("principals: [cluster.local/ns/a/sa/b]"),
            from_client("principals: [cluster.local/ns/a/sa/b, far.example/ns/a/sa/b]"),
        ),
        (from_client("trustDomains: [far.example, x]", "DENY"), from_client("trustDomains: [x]", "DENY")),
    ],
)
def test_clients_of_other_trust_domains(before: str, after: str) -> None:
    world = [
        gateway_class("any", "istio.io/gateway-controller"),
        *ROUTED[1:],
        labelled("shop", "{istio-injection: enabled}"),
        labelled("infra"),
        service(more=SELECTED),
        pods(""),
    ]
    pairs = pair_sides([simulated(*world, before)], [simulated(*world, after)])
    found = removed_protections(pairs, compare(pairs), {"GWP304"})
    assert [(each.severity, "trust domain" in each.message or "client" in each.message) for each in found] == [
        ("note", True)
    ]
    back = pair_sides([simulated(*world, after)], [simulated(*world, before)])
    assert removed_protections(back, compare(back), {"GWP304"}) == []
