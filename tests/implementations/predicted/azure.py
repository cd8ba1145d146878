"""Azure Application Gateway for Containers: policies of its own, with sections in a list."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_TYPES = "the types of alb.networking.azure.io/v1 (ALB Controller 1.7)"
_PAGES = "learn.microsoft.com/azure/application-gateway/for-containers"
SOURCES = {
    "references": f"{_TYPES}, CustomTargetRef: a section that does not exist keeps the policy from attaching",
    "routes": f"{_TYPES}, RoutePolicyReasonSectionNamesNotPermitted and …OverrideNotSupported",
    "balancing": f"{_TYPES}, BackendLoadBalancingPolicySpec: a list of targets, each with a targetRef and ports",
    "firewall": f"{_PAGES}/web-application-firewall (2025-11), «Kubernetes custom resource»",
    "frontend": f"{_TYPES}, FrontendTLSPolicyConfig",
    "backend": f"{_PAGES}/api-specification-kubernetes (2025-11), BackendTLSPolicy",
    "health": f"{_PAGES}/custom-health-probe (2025-11)",
    "conflicts": f"{_TYPES}: «Conflicted: the target ref conflicts with a pre-existing policy target»",
    "example": f"{_PAGES}/session-affinity (7/2/2025): its RoutePolicy has `group: ''` for an HTTPRoute, while the"
    " types have RoutePolicyReasonInvalidGroup: what becomes of it is not known",
    "schema": "the CRDs of alb.networking.azure.io (v1): group, kind and name of a targetRef are required",
    "grants": f"{_TYPES}, RefNotPermitted; gateway-api.sigs.k8s.io/api-types/referencegrant",
}
REQUEST = {"host": "shop.example"}
GROUP = "alb.networking.azure.io"
ONE = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
NAMED = "rules: [{name: a, backendRefs: [{name: checkout, port: 80}]}]"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
LISTENERS = (
    "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}},"
    " {name: admin, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
)


def base(route: str = ONE, controller: str = f"{GROUP}/alb-controller", *more: str) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", controller), worlds.gateway(listeners=LISTENERS), worlds.route(more=route),
        worlds.service(), *more,
    )  # fmt: skip


BASE = base()
EDGE = "group: gateway.networking.k8s.io, kind: Gateway, name: edge"
ROUTE = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout"
SERVICE = "group: '', kind: Service, name: checkout"


def of(kind: str, name: str, target: str, spec: str, namespace: str = "shop", created: str = "") -> str:
    body = f"spec: {{targetRef: {{{target}}}, {spec}}}"
    return worlds.manifest(f"{GROUP}/v1", kind, name, namespace, body, created)


def wall(name: str, target: str, namespace: str = "infra", created: str = "") -> str:
    spec = f"webApplicationFirewall: {{id: {name}}}"
    return of("WebApplicationFirewallPolicy", name, target, spec, namespace, created)


def timeouts(name: str, target: str = ROUTE, under: str = "default", created: str = "", namespace: str = "shop") -> str:
    spec = f"{under}: {{timeouts: {{routeTimeout: 5s}}}}"
    return of("RoutePolicy", name, target, spec, namespace, created)


def front(name: str, target: str, spec: str = "default: {verify: {caCertificateRef: {name: ca}}}") -> str:
    return of("FrontendTLSPolicy", name, target, spec, "infra")


def health(name: str, target: str = SERVICE, namespace: str = "shop") -> str:
    return of("HealthCheckPolicy", name, target, "default: {interval: 5s}", namespace)


def balancing(name: str, *targets: str, spec: str = "loadBalancing: {strategy: least-request}") -> str:
    entries = ", ".join(f"{{targetRef: {{{target}}}, ports: [{{port: 80}}]}}" for target in targets)
    body = f"spec: {{targetRefs: [{entries}], {spec}}}"
    return worlds.manifest(f"{GROUP}/v1", "BackendLoadBalancingPolicy", name, "shop", body)


GRANT = worlds.grant(
    "shop", f"{{group: {GROUP}, kind: HealthCheckPolicy, namespace: infra}}", "{group: '', kind: Service}"
)
VERIFY = "default: {sni: a.example, verify: {caCertificateRef: {name: ca}, subjectAltName: a.example}}"
GRPC = worlds.manifest(
    "gateway.networking.k8s.io/v1", "GRPCRoute", "calls", "shop",
    "spec: {parentRefs: [{name: edge, namespace: infra}], hostnames: [calls.example],"
    " rules: [{backendRefs: [{name: checkout, port: 80}]}]}",
)  # fmt: skip
OF_GRPC = "group: gateway.networking.k8s.io, kind: GRPCRoute, name: calls"
OTHER = worlds.service("other")
BOTH = f"{EDGE}, sectionNames: [http, admin]"
WALLS = {"p": "Overridden", "q": "Enforced"}

WORLDS = {
    "a firewall for the Gateway": Predicted("firewall", (wall("p", EDGE),), "allowed", {"p": "Enforced"}),
    "a firewall for a listener": Predicted(
        "firewall", (wall("p", f"{EDGE}, sectionNames: [http]"),), "allowed", {"p": "Enforced"}),
    "a firewall for two listeners by name": Predicted(
        "firewall", (wall("p", BOTH),), "allowed", {"p": "Enforced"}),
    "which leaves nothing to that of the Gateway": Predicted(
        "firewall", (wall("p", EDGE), wall("q", BOTH)), "allowed", WALLS),
    "a firewall for a route goes before that of a listener": Predicted(
        "firewall", (wall("p", BOTH), wall("q", ROUTE, "shop")), "allowed", WALLS),
    "one listener of two is not there": Predicted(
        "references", (wall("p", f"{EDGE}, sectionNames: [http, https]"),), "allowed", {"p": "PartiallyEnforced"},
        ("GWP103",)),
    "no listener is there": Predicted(
        "references", (wall("p", f"{EDGE}, sectionNames: [https]"),), "allowed", {"p": "TargetNotFound"}, ("GWP103",)),
    "a firewall for a Service": Predicted(
        "firewall", (wall("p", SERVICE, "shop"),), "allowed", {"p": "Invalid"}, ("GWP102",)),
    "a firewall at another controller's Gateway": Predicted(
        "firewall", (wall("p", EDGE),), "allowed", {"p": "NoEffect"}, ("GWP108",),
        base=base(ONE, "io.cilium/gateway-controller")),
    "a firewall whose listener is a variable": Predicted(
        "firewall", (wall("p", f"{EDGE}, sectionNames: ['${{NAME}}']"),), "allowed", {"p": "Unknown"}),
    "timeouts of a route": Predicted("routes", (timeouts("p"),), "allowed", {"p": "Enforced"}),
    "timeouts of a GRPCRoute": Predicted(
        "routes", (timeouts("p", OF_GRPC),), "allowed", {"p": "Enforced"},
        base=base(f"hostnames: [shop.example], {ONE}", f"{GROUP}/alb-controller", GRPC)),
    "override is not supported": Predicted(
        "routes", (timeouts("p", under="override"),), "allowed", {"p": "Invalid"}, ("GWP111",)),
    "rules are no sections": Predicted(
        "routes", (timeouts("p", f"{ROUTE}, sectionNames: [a]"),), "allowed", {"p": "Invalid"}, ("GWP103",),
        base=base(NAMED)),
    "of two the one that was there": Predicted(
        "conflicts", (timeouts("p", created=NEW), timeouts("q", created=OLD)), "allowed",
        {"p": "Conflicted", "q": "Enforced"}),
    "timeouts of a Gateway": Predicted(
        "routes", (timeouts("p", EDGE, namespace="infra"),), "allowed", {"p": "Invalid"}, ("GWP102",)),
    "certificates of clients": Predicted("frontend", (front("p", EDGE),), "allowed", {"p": "Enforced"}),
    "certificates of clients of one listener": Predicted(
        "frontend", (front("p", f"{EDGE}, sectionNames: [admin]"),), "allowed", {"p": "Enforced"}),
    "a set of ciphers protects as the default does": Predicted(
        "frontend", (front("p", EDGE, "default: {policyType: {type: predefined, name: 2023-06-S}}"),), "allowed",
        {"p": "Enforced"}),
    "a verified backend": Predicted(
        "backend", (of("BackendTLSPolicy", "p", SERVICE, VERIFY),), "allowed", {"p": "Enforced"}),
    "probes": Predicted("health", (health("p"),), "allowed", {"p": "Enforced"}),
    "probes of another namespace": Predicted(
        "grants", (health("p", f"{SERVICE}, namespace: shop", "infra"),), "allowed", {"p": "Invalid"}, ("GWP104",)),
    "and with a grant": Predicted(
        "grants", (health("p", f"{SERVICE}, namespace: shop", "infra"), GRANT), "allowed", {"p": "Enforced"}),
    "probes of a Service that no route names": Predicted(
        "health", (health("p", SERVICE.replace("checkout", "other")),), "allowed", {"p": "NoEffect"}, ("GWP106",),
        base=base(ONE, f"{GROUP}/alb-controller", OTHER)),
    "the example of the documentation": Predicted(
        "example", (timeouts("p", "group: '', kind: HTTPRoute, name: checkout"),), "allowed", {"p": "Unknown"},
        ("GWP102",)),
    "another kind of route without a group": Predicted(
        "example", (timeouts("p", "group: '', kind: GRPCRoute, name: calls"),), "allowed", {"p": "Invalid"},
        ("GWP102",), base=base(f"hostnames: [shop.example], {ONE}", f"{GROUP}/alb-controller", GRPC)),
    "a Gateway without a group": Predicted(
        "schema", (front("p", "group: '', kind: Gateway, name: edge"),), "allowed", {"p": "Invalid"}, ("GWP102",)),
    "a group that is left out": Predicted(
        "schema", (timeouts("p", "kind: HTTPRoute, name: checkout"),), "allowed", {"p": "Invalid"}, ("GWP107",)),
    "that of a Service, too": Predicted(
        "schema", (health("p", "kind: Service, name: checkout"),), "allowed", {"p": "Invalid"}, ("GWP107",)),
    "and in a list": Predicted(
        "schema", (balancing("p", "kind: Service, name: checkout"),), "allowed", {"p": "Invalid"},
        ("GWP107",)),
    "a group that is a variable": Predicted(
        "schema", (timeouts("p", "group: '${{GROUP}}', kind: HTTPRoute, name: checkout"),), "allowed",
        {"p": "Unknown"}),
    "balancing": Predicted("balancing", (balancing("p", SERVICE),), "allowed", {"p": "Enforced"}),
    "balancing of two Services, one of which is not there": Predicted(
        "balancing", (balancing("p", SERVICE, SERVICE.replace("checkout", "chekout")),), "allowed",
        {"p": "PartiallyEnforced"}, ("GWP101",)),
    "balancing of a route": Predicted(
        "balancing", (balancing("p", ROUTE),), "allowed", {"p": "Invalid"}, ("GWP102",)),
}  # fmt: skip
