"""Azure, AWS, GKE, Traefik and Cilium, which are data alone: worlds predicted from their documentation.

learn.microsoft.com, Application Gateway for Containers, API specification; gateway-api-controller.eks.aws.dev;
cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources, doc.traefik.io, docs.cilium.io.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import ResourceKey
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace import Tracer, request
from tests import worlds
from tests.compare.test_weakening import weakened

CONTROLLERS = {
    "azure": "alb.networking.azure.io/alb-controller",
    "aws": "application-networking.k8s.aws/gateway-api-controller",
    "gke": "networking.gke.io/gateway",
    "traefik": "traefik.io/gateway-controller",
    "cilium": "io.cilium/gateway-controller",
    "kong": "konghq.com/kic-gateway-controller",
}
LISTENERS = "[{name: http, port: 80, protocol: HTTP}, {name: admin, port: 8080, protocol: HTTP}]"
ROUTE = "rules: [{backendRefs: [{name: web, port: 80}]}]"
GATEWAY = "group: gateway.networking.k8s.io, kind: Gateway, name: edge"
HTTP_ROUTE = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: web"
SERVICE = "group: '', kind: Service, name: web"


def base(controller: str) -> tuple[str, ...]:
    """A Gateway with two listeners, a route on both and its Service, all in namespace infra."""
    return (
        worlds.gateway_class("any", CONTROLLERS[controller]),
        worlds.gateway(listeners=LISTENERS),
        worlds.route("web", "infra", "[{name: edge}]", more=ROUTE),
        worlds.manifest("v1", "Service", "web", "infra", "spec: {selector: {app: web}, ports: [{name: h, port: 80}]}"),
    )


def of(group: str, kind: str, name: str, target: str, fields: str, created: str = "", version: str = "v1") -> str:
    spec = f"spec: {{targetRef: {{{target}}}, {fields}}}"
    return worlds.manifest(f"{group}/{version}", kind, name, "infra", spec, created)


def azure(kind: str, name: str, target: str, fields: str, created: str = "") -> str:
    return of("alb.networking.azure.io", kind, name, target, fields, created)


def aws(kind: str, name: str, target: str, fields: str, created: str = "") -> str:
    return of("application-networking.k8s.aws", kind, name, target, fields, created, "v1alpha1")


def gke(kind: str, name: str, target: str, fields: str, created: str = "") -> str:
    return of("networking.gke.io", kind, name, target, fields, created)


OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
WAF = "webApplicationFirewall: {id: own}"
HEALTH = "default: {interval: 5s}"
VERIFY = "default: {verify: {caCertificateRef: {name: ca}}}"
IAP = "default: {iap: {enabled: true, clientID: x}}"
FOREIGN = worlds.manifest(
    "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "p", "infra",
    f"spec: {{targetRefs: [{{{HTTP_ROUTE}}}], basicAuth: {{users: {{name: u}}}}}}",
)  # fmt: skip
TLS = worlds.manifest(
    "gateway.networking.k8s.io/v1", "BackendTLSPolicy", "p", "infra",
    f"spec: {{targetRefs: [{{{SERVICE}}}], validation: {{hostname: a, wellKnownCACertificates: System}}}}",
)  # fmt: skip
VERDICTS = {
    "azure: WAF of the Gateway": ("azure", (azure("WebApplicationFirewallPolicy", "p", GATEWAY, WAF),), "Enforced"),
    "azure: WAF of one listener": (
        "azure", (azure("WebApplicationFirewallPolicy", "p", f"{GATEWAY}, sectionNames: [admin]", WAF),), "Enforced"),
    "azure: WAF of the Gateway below that of the route": (
        "azure", (azure("WebApplicationFirewallPolicy", "p", GATEWAY, WAF),
                  azure("WebApplicationFirewallPolicy", "q", HTTP_ROUTE, WAF)), "Overridden"),
    "azure: WAF of the Gateway below that of a listener": (
        "azure", (azure("WebApplicationFirewallPolicy", "p", GATEWAY, WAF),
                  azure("WebApplicationFirewallPolicy", "q", f"{GATEWAY}, sectionNames: [admin]", WAF)),
        "PartiallyEnforced"),
    "azure: WAF on a Service": ("azure", (azure("WebApplicationFirewallPolicy", "p", SERVICE, WAF),), "Invalid"),
    "azure: health of a Service": ("azure", (azure("HealthCheckPolicy", "p", SERVICE, HEALTH),), "Enforced"),
    "azure: sections of a Service": (
        "azure", (azure("HealthCheckPolicy", "p", f"{SERVICE}, sectionName: h", HEALTH),), "Invalid"),
    "azure: a Service of another namespace": (
        "azure", (azure("HealthCheckPolicy", "p", f"{SERVICE}, namespace: shop", HEALTH),), "Invalid"),
    "azure: routes": ("azure", (azure("RoutePolicy", "p", HTTP_ROUTE, "default: {timeouts: {}}"),), "Enforced"),
    "azure: TLS of a listener that is not there": (
        "azure", (azure("FrontendTLSPolicy", "p", f"{GATEWAY}, sectionNames: [https]", VERIFY),), "TargetNotFound"),
    "azure: its own kind at Traefik": ("traefik", (azure("RoutePolicy", "p", HTTP_ROUTE, "default: {}"),), "NoEffect"),
    "aws: IAM of the route": ("aws", (aws("IAMAuthPolicy", "p", HTTP_ROUTE, "policy: x"),), "Enforced"),
    "aws: IAM of Gateway and route are both asked": (
        "aws", (aws("IAMAuthPolicy", "p", GATEWAY, "policy: x"), aws("IAMAuthPolicy", "q", HTTP_ROUTE, "policy: y")),
        "Enforced"),
    "aws: the older of two": (
        "aws", (aws("IAMAuthPolicy", "p", HTTP_ROUTE, "policy: x", OLD),
                aws("IAMAuthPolicy", "q", HTTP_ROUTE, "policy: y", NEW)), "Enforced"),
    "aws: the newer of two": (
        "aws", (aws("IAMAuthPolicy", "p", HTTP_ROUTE, "policy: x", NEW),
                aws("IAMAuthPolicy", "q", HTTP_ROUTE, "policy: z", OLD)), "Conflicted"),
    "aws: IAM of a Service": ("aws", (aws("IAMAuthPolicy", "p", SERVICE, "policy: x"),), "Invalid"),
    "aws: a target group": ("aws", (aws("TargetGroupPolicy", "p", SERVICE, "protocol: HTTPS"),), "Enforced"),
    "aws: TCP has no version": (
        "aws", (aws("TargetGroupPolicy", "p", SERVICE, "protocol: TCP, protocolVersion: HTTP2"),), "Invalid"),
    "aws: TCP without one": ("aws", (aws("TargetGroupPolicy", "p", SERVICE, "protocol: TCP"),), "Enforced"),
    "aws: two access logs": (
        "aws", (aws("AccessLogPolicy", "p", GATEWAY, "destinationArn: a"),
                aws("AccessLogPolicy", "q", GATEWAY, "destinationArn: b")), "Enforced"),
    "aws: two logs to buckets": (
        "aws", (aws("AccessLogPolicy", "p", GATEWAY, "destinationArn: 'arn:aws:s3:::b'"),
                aws("AccessLogPolicy", "a", GATEWAY, "destinationArn: 'arn:aws:s3:::c'", OLD)), "Conflicted"),
    "aws: two logs of two sorts": (
        "aws", (aws("AccessLogPolicy", "p", GATEWAY, "destinationArn: 'arn:aws:s3:::b'"),
                aws("AccessLogPolicy", "a", GATEWAY, "destinationArn: 'arn:aws:firehose:eu-west-1:1:x'", OLD)),
        "Enforced"),
    "aws: two logs whose ARNs are variables": (
        "aws", (aws("AccessLogPolicy", "p", GATEWAY, "destinationArn: '${A}'"),
                aws("AccessLogPolicy", "a", GATEWAY, "destinationArn: '${B}'", OLD)), "Enforced"),
    "aws: the association of a VPC": ("aws", (aws("VpcAssociationPolicy", "p", GATEWAY, "associateWithVpc: true"),),
                                      "Enforced"),
    "aws: a route that is not there": (
        "aws", (aws("IAMAuthPolicy", "p", HTTP_ROUTE.replace("web", "wbe"), "policy: x"),), "TargetNotFound"),
    "aws: its own kind at GKE": ("gke", (aws("IAMAuthPolicy", "p", HTTP_ROUTE, "policy: x"),), "NoEffect"),
    "gke: IAP of a Service": ("gke", (gke("GCPBackendPolicy", "p", SERVICE, IAP),), "Enforced"),
    "gke: the older of two": (
        "gke", (gke("GCPBackendPolicy", "p", SERVICE, IAP, OLD), gke("GCPBackendPolicy", "q", SERVICE, IAP, NEW)),
        "Enforced"),
    "gke: the newer of two": (
        "gke", (gke("GCPBackendPolicy", "p", SERVICE, IAP, NEW), gke("GCPBackendPolicy", "q", SERVICE, IAP, OLD)),
        "Conflicted"),
    "gke: two kinds on one Service": (
        "gke", (gke("GCPBackendPolicy", "p", SERVICE, IAP), gke("HealthCheckPolicy", "q", SERVICE, HEALTH)),
        "Enforced"),
    "gke: a backend policy on a Gateway": ("gke", (gke("GCPBackendPolicy", "p", GATEWAY, IAP),), "Invalid"),
    "gke: the SSL policy of a Gateway": (
        "gke", (gke("GCPGatewayPolicy", "p", GATEWAY, "default: {sslPolicy: modern}"),), "Enforced"),
    "gke: a Gateway policy on a Service": (
        "gke", (gke("GCPGatewayPolicy", "p", SERVICE, "default: {sslPolicy: modern}"),), "Invalid"),
    "gke: another namespace": (
        "gke", (gke("HealthCheckPolicy", "p", f"{SERVICE}, namespace: shop", HEALTH),), "Invalid"),
    "gke: a Service that is not there": (
        "gke", (gke("HealthCheckPolicy", "p", SERVICE.replace("web", "wbe"), HEALTH),), "TargetNotFound"),
    "gke: its own kind at Cilium": ("cilium", (gke("GCPBackendPolicy", "p", SERVICE, IAP),), "NoEffect"),
    "traefik: TLS to backends": ("traefik", (TLS,), "Enforced"),
    "traefik: another controller's policy": ("traefik", (FOREIGN,), "NoEffect"),
    "cilium: TLS to backends": ("cilium", (TLS,), "Enforced"),
    "cilium: another controller's policy": ("cilium", (FOREIGN,), "NoEffect"),
    "kong: another controller's policy": ("kong", (FOREIGN,), "NoEffect"),
}  # fmt: skip


def state(name: str) -> Simulation:
    controller, policies, _ = VERDICTS[name]
    return worlds.simulated(*base(controller), *policies)


@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict(name: str) -> None:
    assert worlds.verdicts(state(name))["p"] == VERDICTS[name][2]


@pytest.mark.parametrize("name", VERDICTS)
def test_trace_simulate_and_the_verdict_agree(name: str) -> None:
    """A request through the route meets a policy exactly where it owns a setting of a context that it passes."""
    simulation = state(name)
    traces = [Tracer(simulation).trace(request({"host": "a", "port": port})) for port in (80, 8080)]
    met = {key.name for trace in traces for each in trace.policies for key in each.group.effective.sources}
    affected = {key.name for keys in simulation.acting.affected().values() for key in keys}
    assert met == affected
    enforced = {name for name, verdict in worlds.verdicts(simulation).items() if "Enforced" in verdict}
    assert enforced == affected


def test_a_traefik_dashboard_is_a_backend() -> None:
    dashboard = "rules: [{backendRefs: [{group: traefik.io, kind: TraefikService, name: api@internal}]}]"
    simulation = worlds.simulated(
        worlds.gateway_class("any", CONTROLLERS["traefik"]), worlds.gateway(), worlds.route(more=dashboard)
    )
    outcome = Tracer(simulation).trace(request({"host": "a"})).outcome
    assert outcome.backends == {ResourceKey("traefik.io", "TraefikService", "shop", "api@internal"): 1.0}


TWO_PORTS = "spec: {selector: {app: web}, ports: [{name: tls, port: 8443}, {name: plain, port: 8080}]}"
BY_PATH = (
    "rules: [{matches: [{path: {value: /tls}}], backendRefs: [{name: web, port: 8443}]}, "
    "{backendRefs: [{name: web, port: 8080}]}]"
)


@pytest.mark.parametrize(
    ("ports", "met"),
    [
        ("", ["/tls", "/"]),
        (", ports: [{port: 8443}]", ["/tls"]),
        (", ports: [{port: 8443}, {port: 8080}]", ["/tls", "/"]),
        (", ports: [{port: 9000}]", []),
    ],
)
def test_a_backend_policy_of_azure_for_some_ports(ports: str, met: list[str]) -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("any", CONTROLLERS["azure"]),
        worlds.gateway(listeners=LISTENERS),
        worlds.route("web", "infra", "[{name: edge}]", more=BY_PATH),
        worlds.manifest("v1", "Service", "web", "infra", TWO_PORTS),
        azure("BackendTLSPolicy", "p", SERVICE, f"default: {{sni: a{ports}}}"),
    )
    traces = {path: Tracer(simulation).trace(request({"host": "a", "path": path})) for path in ("/tls", "/")}
    assert [path for path, trace in traces.items() if trace.policies] == met


def test_a_policy_of_one_listener_is_not_met_at_the_other() -> None:
    simulation = state("azure: WAF of one listener")
    http, admin = (Tracer(simulation).trace(request({"host": "a", "port": port})) for port in (80, 8080))
    assert (len(http.policies), len(admin.policies)) == (0, 1)
    route = whole(ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "infra", "web"))
    assert route in simulation.acting.affected()


TAKEN_AWAY = {
    "azure: the firewall of a Gateway": (
        "azure", azure("WebApplicationFirewallPolicy", "p", GATEWAY, WAF), "", "no firewall looks at the requests"),
    "azure: the firewall of all but one listener": (
        "azure", azure("WebApplicationFirewallPolicy", "p", GATEWAY, WAF),
        azure("WebApplicationFirewallPolicy", "p", f"{GATEWAY}, sectionNames: [admin]", WAF),
        "no firewall looks at the requests"),
    "azure: certificates of clients": (
        "azure", azure("FrontendTLSPolicy", "p", GATEWAY, VERIFY), "", "clients need not show a certificate"),
    "gke: Cloud Armor": (
        "gke", gke("GCPBackendPolicy", "p", SERVICE, "default: {securityPolicy: armor}"), "",
        "Cloud Armor does not look at the requests"),
    "gke: another timeout": (
        "gke", gke("GCPBackendPolicy", "p", SERVICE, "default: {securityPolicy: armor}"),
        gke("GCPBackendPolicy", "p", SERVICE, "default: {securityPolicy: armor, timeoutSec: 40}"), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN_AWAY)
def test_what_a_change_takes_away(name: str, tmp_path: Path) -> None:
    controller, before, after, says = TAKEN_AWAY[name]
    found = weakened(tmp_path, (*base(controller), before), (*base(controller), *filter(None, [after])))
    assert [finding.severity for finding in found] == ["warning"] * bool(says)
    assert all(says in finding.message for finding in found)
