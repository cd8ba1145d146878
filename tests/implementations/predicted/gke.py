"""GKE Gateway: policies of the load balancer, one of a kind per target."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

SOURCES = {
    "policies": "cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources (2025-10)",
    "imports": "cloud.google.com/kubernetes-engine/docs/how-to/multi-cluster-services: ServiceImports are made by GKE",
    "crds": "github.com/GoogleCloudPlatform/gke-gateway-api @ fc40d60 config/crd",
    "classes": "cloud.google.com/kubernetes-engine/docs/concepts/gateway-api, «GatewayClass»: GKE brings them",
    "iap": "the page of «policies», «Configure IAP»: of a backend service",
}
REQUEST = {"host": "shop.example"}
ONE, TWO = "{name: checkout, port: 80}", "{name: checkout, port: 80}, {name: other, port: 80}"
IMPORTED = "{group: net.gke.io, kind: ServiceImport, name: checkout, port: 80}"
POOL = "{group: inference.networking.k8s.io, kind: InferencePool, name: checkout}"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def base(backends: str = ONE, of_class: str = "any", *more: str) -> tuple[str, ...]:
    classes = (worlds.gateway_class("any", "networking.gke.io/gateway"),) if of_class == "any" else ()
    return (
        *classes,
        worlds.gateway(of_class=of_class),
        worlds.route(more=f"rules: [{{backendRefs: [{backends}]}}]"),
        worlds.service(),
        *more,
    )


BASE = base()


def of(
    kind: str, name: str, target: str, spec: str, created: str = "", namespace: str = "shop", *, one: bool = True
) -> str:
    field = "targetRef" if one else "targetRefs"
    return worlds.policy("networking.gke.io/v1", kind, name, target, spec, namespace, created, field=field)


def backend(name: str, spec: str = "", target: str = "Service/checkout", created: str = "") -> str:
    return of("GCPBackendPolicy", name, target, f"default: {{{spec or IAP}}}", created)


def client_tls(name: str, target: str) -> str:
    return of("GCPClientTLSPolicy", name, target, "tlsSettings: {mode: x}", one=False)


IAP = "iap: {enabled: true, oauth2ClientSecret: {name: s}, clientID: c}"
OTHER = worlds.service("other")
EXPORT = worlds.manifest("net.gke.io/v1", "ServiceExport", "checkout", "shop")
INFERENCE = worlds.manifest(
    "inference.networking.k8s.io/v1", "InferencePool", "checkout", "shop",
    "spec: {selector: {matchLabels: {app: x}}, targetPorts: [{number: 80}], endpointPickerRef: {name: epp}}",
)  # fmt: skip
TARGETS = "targetRefs: [{group: '', kind: Service, name: checkout}, {group: '', kind: Service, name: chekout}]"
ACROSS = (
    worlds.gateway_class("any", "networking.gke.io/gateway"), worlds.gateway(),
    worlds.route(more="rules: [{backendRefs: [{name: checkout, namespace: back, port: 80}]}]"),
    worlds.service("checkout", "back"), worlds.service("other"),
    worlds.grant("back", "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}",
                 "{group: '', kind: Service}"),
)  # fmt: skip
WORLDS = {
    "IAP is asked of every request": Predicted("iap", (backend("p"),), "allowed, iap required", {"p": "Enforced"}),
    "IAP that is switched off": Predicted(
        "iap", (backend("p", "iap: {enabled: false}"),), "allowed", {"p": "Enforced"}),
    "IAP of one of two backends": Predicted(
        "iap", (backend("p"),), "allowed, iap not required", {"p": "Enforced"},
        base=base(TWO, "any", OTHER)),
    "IAP of both": Predicted(
        "iap", (backend("p"), backend("q", target="Service/other")), "allowed, iap required",
        {"p": "Enforced", "q": "Enforced"}, base=base(TWO, "any", OTHER)),
    "IAP of the only backend that gets requests": Predicted(
        "iap", (backend("p"),), "allowed, iap required", {"p": "Enforced"},
        base=base("{name: checkout, port: 80}, {name: other, port: 80, weight: 0}", "any", OTHER)),
    "the older policy without IAP": Predicted(
        "policies", (backend("p", "timeoutSec: 5", created=OLD), backend("q", created=NEW)), "allowed",
        {"p": "Enforced", "q": "Conflicted"}),
    "IAP of a pool": Predicted(
        "crds", (backend("p", target="InferencePool.inference.networking.k8s.io/checkout"),), "allowed, iap required",
        {"p": "Enforced"}, base=base(POOL, "any", INFERENCE)),
    "IAP of a Service of another namespace": Predicted(
        "policies", (of("GCPBackendPolicy", "p", "Service/checkout", f"default: {{{IAP}}}", namespace="back"),),
        "allowed, iap required", {"p": "Enforced"}, base=ACROSS),
    "and not from the namespace of the route": Predicted(
        "policies", (backend("p"),), "allowed", {"p": "TargetNotFound"}, ("GWP101",), base=ACROSS),
    "a misspelt Service": Predicted(
        "policies", (backend("p", target="Service/chekout"),), "allowed", {"p": "TargetNotFound"}, ("GWP101",)),
    "a firewall": Predicted(
        "policies", (backend("p", "securityPolicy: armor"),), "allowed", {"p": "Enforced"}),
    "a backend policy for a route": Predicted(
        "crds", (backend("p", target="HTTPRoute/checkout"),), "allowed", {"p": "Invalid"}, ("GWP102",)),
    "a Gateway policy for a listener": Predicted(
        "crds", (of("GCPGatewayPolicy", "p", "Gateway/edge#http", "default: {sslPolicy: a}", "", "infra"),), "allowed",
        {"p": "Invalid"}, ("GWP103",)),
    "probes beside IAP": Predicted(
        "policies", (backend("p"), of("HealthCheckPolicy", "q", "Service/checkout", "default: {checkIntervalSec: 5}")),
        "allowed, iap required", {"p": "Enforced", "q": "Enforced"}),
    "IAP in another field": Predicted(
        "crds", (of("GCPBackendPolicy", "p", "Service/checkout", IAP),), "allowed"),
    "a ServiceImport that GKE makes": Predicted(
        "imports", (backend("p", target="ServiceImport.net.gke.io/checkout"),), "allowed",
        base=base(IMPORTED, "gke-l7-global-external-managed-mc", EXPORT)),
    "a class that GKE brings": Predicted(
        "classes", (backend("p"),), "allowed, iap required", {"p": "Enforced"}, base=base(ONE, "gke-l7-rilb")),
    "a class that Cilium brings": Predicted(
        "classes", (backend("p"),), "allowed", {"p": "NoEffect"}, ("GWP108",), base=base(ONE, "cilium")),
    "of the same age the first by name": Predicted(
        "policies", (backend("p", created=OLD), backend("q", "iap: {enabled: false}", created=OLD)),
        "allowed, iap required", {"p": "Enforced", "q": "Conflicted"}),
    "the older Gateway policy": Predicted(
        "policies",
        (of("GCPGatewayPolicy", "p", "Gateway/edge", "default: {sslPolicy: a}", NEW, "infra"),
         of("GCPGatewayPolicy", "q", "Gateway/edge", "default: {sslPolicy: b}", OLD, "infra")),
        "allowed", {"p": "Conflicted", "q": "Enforced"}),
    "a Gateway policy beside a backend's": Predicted(
        "policies",
        (of("GCPGatewayPolicy", "p", "Gateway/edge", "default: {sslPolicy: a}", "", "infra"), backend("q")),
        "allowed, iap required", {"p": "Enforced", "q": "Enforced"}),
    "one target of two is not there": Predicted(
        "crds",
        (worlds.manifest("networking.gke.io/v1", "GCPTrafficDistributionPolicy", "p", "shop",
                         f"spec: {{{TARGETS}, default: {{serviceLbAlgorithm: SPRAY_TO_REGION}}}}"),),
        "allowed", {"p": "PartiallyEnforced"}, ("GWP101",)),
    "TLS of the Service before that of its Namespace": Predicted(
        "crds", (client_tls("p", "Namespace/shop"), client_tls("q", "Service/checkout")), "allowed",
        {"p": "Overridden", "q": "Enforced"}, base=base(ONE, "any", worlds.labelled("shop"))),
    "TLS of the port before that of the Service": Predicted(
        "crds", (client_tls("p", "Service/checkout"), client_tls("q", "Service/checkout#http")), "allowed",
        {"p": "Overridden", "q": "Enforced"}),
    "an InferencePool": Predicted(
        "crds", (of("HealthCheckPolicy", "p", "InferencePool.inference.networking.k8s.io/checkout",
                    "default: {checkIntervalSec: 5}"),), "allowed", {"p": "Enforced"},
        base=base(POOL, "any", INFERENCE)),
    "a Service that no route names": Predicted(
        "policies", (backend("p", target="Service/other"),), "allowed", {"p": "NoEffect"}, ("GWP106",),
        base=base(ONE, "any", OTHER)),
}  # fmt: skip
