"""Istio: what decides beside AuthorizationPolicies, at Gateways, sidecars, ztunnels and waypoints."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_AMBIENT = "github.com/istio/istio @ 1.28 pilot/pkg/serviceregistry/ambient"
SOURCES = {
    "attachment": "github.com/istio/istio @ 067f29f5 pilot/pkg/model/policyattachment.go, ShouldAttachPolicy",
    "auto mTLS": "the same, pilot/pkg/xds/endpoints/mtls_checker.go: no mTLS where PeerAuthentication says DISABLE",
    "authorization": "github.com/istio/istio @ 01eb2ecb pilot/pkg/security/authz/builder/builder.go",
    "binding": f"{_AMBIENT}/waypoints.go, fetchWaypointForTarget",
    "callers": (
        "github.com/istio/istio @ 1.28 pilot/pkg/xds/endpoints/endpoint_builder.go, findServiceWaypoint: sidecars "
        "never go through waypoints, Gateways where istio.io/ingress-use-waypoint says so"
    ),
    "client tls": "istio.io/latest/docs/reference/config/networking/destination-rule/#ClientTLSSettings-TLSmode",
    "routes": "istio.io/latest/docs/reference/config/networking/virtual-service: gateways are `mesh` by default",
    "capture": "github.com/istio/istio @ 0098d99f cni/pkg/util/podutil.go, PodRedirectionEnabled",
    "chains": "github.com/istio/istio @ 0d0d7255 pilot/pkg/security/authz/model/model.go, Generate for TCP",
    "injection": "github.com/istio/istio @ 1.28 pkg/kube/inject/inject.go, IgnoredNamespaces and injectRequired",
    "interception": "istio.io/latest/docs/reference/config/annotations, traffic.sidecar.istio.io (1.28)",
    "openshift": (
        "github.com/openshift/cluster-ingress-operator @ 0bc7c7a2 pkg/operator/controller/gatewayclass/istio_olm.go: "
        "PILOT_GATEWAY_API_CONTROLLER_NAME, IstioNamespace"
    ),
    "peers": "github.com/istio/istio @ 1.28 pilot/pkg/security/authn/policy_applier.go, ComposePeerAuthentication",
    "tls at ztunnel": f"{_AMBIENT}/authorization.go, convertedSelectorPeerAuthentications @ 1d486afd",
    "tokens": "github.com/istio/istio @ 1.28 pilot/pkg/security/authn/policy_applier.go, convertToEnvoyJwtConfig",
    "types": "github.com/kubernetes/community api_changes.md, «Incompatible API changes»: no field changes its type",
    "variables": "fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution",
    "validation": "github.com/istio/istio @ 1.28 pkg/config/validation/validation.go",
    "backend tls": "github.com/istio/istio @ 1.28 pilot/pkg/config/kube/gateway/backend_policies.go",
    "telemetry": "github.com/istio/istio @ 1.28 pilot/pkg/model/telemetry.go",
    "filters": "github.com/istio/istio @ 1.28 pilot/pkg/model/push_context.go, getMatchedEnvoyFilters",
}
STRANGER = {"client": "Deployment outside/stranger"}
"""A client that is in no mesh."""
REQUEST = {
    "client": "Deployment infra/client",
    "service": "Service shop/web",
    "host": "web.shop",
    "path": "/",
    "port": 80,
}
IN = {"client": "", "service": "", "host": "shop.example"}
"""A request from outside, through the Gateway."""
POD = {"service": "", "pod": "Deployment shop/web", "port": 8080}
"""A request straight to the pods."""
INJECTED, AMBIENT = "istio-injection: enabled", "istio.io/dataplane-mode: ambient"
WAYPOINTED = f"{AMBIENT}, istio.io/use-waypoint: way"
HBONE = "[{name: mesh, port: 15008, protocol: HBONE%s}]"
PORTS = "ports: [{name: http, containerPort: 8080}]"


def deployment(name: str, namespace: str, labels: str = "", annotations: str = "", pod: str = "") -> str:
    """A workload; `labels` and `annotations` are those of its pods, `pod` fields of their spec."""
    spec = f"{{{pod and pod + ', '}serviceAccountName: {name}, containers: [{{name: c, {PORTS}}}]}}"
    metadata = f"{{labels: {{app: {name}{labels and ', ' + labels}}}, annotations: {{{annotations}}}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {metadata}, spec: {spec}}}}}"
    return worlds.manifest("apps/v1", "Deployment", name, namespace, body)


def service(labels: str = "", namespace: str = "shop", name: str = "web") -> str:
    spec = f"spec: {{selector: {{app: {name}}}, ports: [{{name: http, port: 80, targetPort: 8080}}]}}"
    return worlds.manifest("v1", "Service", name, namespace, spec, more=labels and f"labels: {{{labels}}}")


def waypoint(namespace: str = "shop", more: str = "", labels: str = "") -> str:
    return worlds.gateway("way", namespace, HBONE % more, of_class="istio-waypoint", labels=labels)


def base(
    shop: str = INJECTED, infra: str = INJECTED, *more: str, web: str = deployment("web", "shop"),
    client: str = deployment("client", "infra"), front: str = service(), edge: str = worlds.gateway(of_class="istio"),
) -> tuple[str, ...]:  # fmt: skip
    """A client in namespace infra, a server in namespace shop, and a Gateway before it."""
    return (
        worlds.labelled("shop", f"{{{shop}}}"),
        worlds.labelled("infra", f"{{{infra}}}"),
        worlds.labelled("outside", "{istio-injection: disabled}"),
        deployment("stranger", "outside"),
        web,
        client,
        front,
        edge,
        worlds.route("web", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        *more,
    )


BASE = base()
ZTUNNEL = base(AMBIENT, AMBIENT)
BEHIND = base(WAYPOINTED, AMBIENT, waypoint())


def of(kind: str, name: str, spec: str, namespace: str = "shop", annotations: str = "", created: str = "") -> str:
    version = "extensions.istio.io/v1alpha1" if kind == "WasmPlugin" else "security.istio.io/v1"
    version = {"Telemetry": "telemetry.istio.io/v1", "EnvoyFilter": "networking.istio.io/v1alpha3"}.get(kind, version)
    more = annotations and f"annotations: {{{annotations}}}"
    return worlds.manifest(version, kind, name, namespace, f"spec: {{{spec}}}", created, more=more)


def rule(spec: str, namespace: str = "shop", name: str = "p", annotations: str = "") -> str:
    return of("AuthorizationPolicy", name, spec, namespace, annotations)


def to(*targets: str) -> str:
    return f"targetRefs: [{', '.join(map(worlds.reference, targets))}], "


def tls(mode: str, namespace: str = "shop", name: str = "p", more: str = "", created: str = "") -> str:
    return of("PeerAuthentication", name, f"mtls: {{mode: {mode}}}{more and ', ' + more}", namespace, created=created)


def port(mode: str, number: int = 8080) -> str:
    return f"selector: {{matchLabels: {{app: web}}}}, portLevelMtls: {{{number}: {{mode: {mode}}}}}"


def tokens(rules: str, target: str = "Gateway/edge", namespace: str = "infra", name: str = "jwt") -> str:
    return of("RequestAuthentication", name, f"{to(target) if target else ''}jwtRules: [{rules}]", namespace)


ID, OTHER = "{issuer: https://id, jwksUri: https://id/keys}", "{issuer: https://other, jwksUri: https://other/keys}"
HEADER = "{issuer: https://id, jwksUri: https://id/keys, fromHeaders: [{name: x-jwt}]}"
OUTPUT = "{issuer: https://id, jwksUri: https://id/keys, outputClaimToHeaders: [{header: x-group, claim: group}]}"
NOTHING, ALL = "{}", "rules: [{}]"
DENY_ALL, DENY_ADMIN = "action: DENY, rules: [{}]", "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]"
FROM_CALLER = "rules: [{from: [{source: {principals: [cluster.local/ns/infra/sa/client]}}]}]"
TOKEN = 'rules: [{from: [{source: {requestPrincipals: ["*"]}}]}]'
CUSTOM = "action: CUSTOM, rules: [{}], provider: {name: %s}"
EDGE, INJECT = "Gateway/edge", "sidecar.istio.io/inject:"
STRANGE = {**STRANGER}
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
EXCLUDE = 'traffic.sidecar.istio.io/excludeInboundPorts: "8080"'
INCLUDE = 'traffic.sidecar.istio.io/includeInboundPorts: "9090"'
OUT = 'traffic.sidecar.istio.io/excludeOutboundPorts: "80"'
ON_SERVICE = rule(to("Service/web") + DENY_ALL)
SKIPS = base(web=deployment("web", "shop", annotations=EXCLUDE))
OF_PEER = {"p": "Enforced"}
OF_EDGE = "selector: {matchLabels: {gateway.networking.k8s.io/gateway-name: edge}}, "


def openshift(controller: str) -> tuple[str, ...]:
    """Pods that are in no mesh behind a Gateway of the controller."""
    outside = "istio-injection: disabled"
    return base(outside, outside, worlds.gateway_class("ocp", controller), edge=worlds.gateway(of_class="ocp"))


OPENSHIFT = openshift("openshift.io/gateway-controller/v1")
TWO_LISTENERS = worlds.gateway(
    of_class="istio",
    listeners="[{name: a, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}},"
    " {name: b, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]",
)
OF_ENVOY_GATEWAY = worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
PASSTHROUGH = worlds.gateway(
    of_class="istio",
    listeners="[{name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough},"
    " allowedRoutes: {namespaces: {from: All}}}]",
)
TLS_ROUTE = worlds.manifest(
    "gateway.networking.k8s.io/v1alpha2", "TLSRoute", "web", "shop",
    "spec: {parentRefs: [{name: edge, namespace: infra}], hostnames: [shop.example],"
    " rules: [{backendRefs: [{name: web, port: 80}]}]}",
)  # fmt: skip
PASSED = tuple(each for each in base(INJECTED, INJECTED, TLS_ROUTE, edge=PASSTHROUGH) if "HTTPRoute" not in each)
STREAM = {**IN, "scheme": "tls", "port": 443, "sni": "shop.example"}
KNOWN = {**IN, "claims": {"iss": "https://id", "sub": "a"}}
OF_GROUP = rule("rules: [{when: [{key: 'request.headers[x-group]', values: [a]}]}]")
PLAIN_CLIENTS = worlds.manifest(
    "networking.istio.io/v1", "DestinationRule", "web", "shop",
    "spec: {host: web.shop.svc.cluster.local, trafficPolicy: {tls: {mode: DISABLE}}}",
)  # fmt: skip
VIRTUAL = worlds.manifest(
    "networking.istio.io/v1", "VirtualService", "web", "shop",
    "spec: {hosts: [web], http: [{route: [{destination: {host: other}}]}]}",
)  # fmt: skip


def verified(name: str, target: str = "Service/web", created: str = "") -> str:
    spec = "validation: {hostname: a.example, wellKnownCACertificates: System}"
    return worlds.policy("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, target, spec, "shop", created)


USES_INGRESS = "istio.io/ingress-use-waypoint: 'true'"

WORLDS = {
    # mTLS between peers
    "STRICT keeps those out that are in no mesh": Predicted(
        "peers", (tls("STRICT"),), "reset", OF_PEER, request=STRANGE),
    "and lets the mesh in": Predicted("peers", (tls("STRICT"),), "allowed", OF_PEER),
    "PERMISSIVE lets everybody in": Predicted("peers", (tls("PERMISSIVE"),), "allowed", OF_PEER, request=STRANGE),
    "STRICT of the mesh": Predicted("peers", (tls("STRICT", "istio-system"),), "reset", OF_PEER, request=STRANGE),
    "STRICT of the mesh below PERMISSIVE of the namespace": Predicted(
        "peers", (tls("STRICT", "istio-system"), tls("PERMISSIVE", name="q")), "allowed", {"q": "Enforced"},
        request=STRANGE),
    "UNSET takes the mode above": Predicted(
        "peers", (tls("STRICT", "istio-system"), tls("UNSET", name="q")), "reset", request=STRANGE),
    "of two in a namespace the older": Predicted(
        "peers", (tls("STRICT", created=OLD), tls("PERMISSIVE", name="q", created=NEW)), "reset", OF_PEER,
        request=STRANGE),
    "a port that takes plain text": Predicted(
        "peers", (tls("STRICT", more=port("PERMISSIVE")),), "allowed", OF_PEER, request=STRANGE),
    "a port that does not": Predicted(
        "peers", (tls("PERMISSIVE", more=port("STRICT")),), "reset", OF_PEER, request=STRANGE),
    "ports are those of the pods": Predicted(
        "peers", (tls("PERMISSIVE", more=port("STRICT", 80)),), "allowed", request=STRANGE),
    "a selector in the root namespace is ignored": Predicted(
        "peers", (tls("STRICT", "istio-system", more="selector: {matchLabels: {app: web}}"),), "allowed",
        {"p": "NoEffect"}, ("GWP106",), request=STRANGE),
    "STRICT at ztunnel": Predicted("tls at ztunnel", (tls("STRICT"),), "reset", OF_PEER, request=STRANGE, base=ZTUNNEL),
    "a port at ztunnel": Predicted(
        "tls at ztunnel", (tls("PERMISSIVE", more=port("STRICT")),), "reset", OF_PEER, request=STRANGE, base=ZTUNNEL),
    "STRICT where nothing says that the pods are in the mesh": Predicted(
        "peers", (tls("STRICT"),), "depends", request=STRANGE, base=base("team: a")),
    "the Gateway speaks mTLS": Predicted("peers", (tls("STRICT"),), "allowed", OF_PEER, request=IN),
    "whether another controller's Gateway does is not known": Predicted(
        "peers", (tls("STRICT"),), "depends", OF_PEER, request=IN,
        base=base(INJECTED, "team: a", OF_ENVOY_GATEWAY, edge=worlds.gateway(of_class="envoy"))),
    "with DISABLE nobody has an identity": Predicted(
        "auto mTLS", (tls("DISABLE", name="q"), rule(FROM_CALLER)), "403", {"p": "Enforced", "q": "Enforced"}),
    "a DestinationRule takes mTLS from clients": Predicted(
        "client tls", (tls("STRICT"),), "reset", OF_PEER, base=base(INJECTED, INJECTED, PLAIN_CLIENTS)),
    "but not from those of ztunnel": Predicted(
        "client tls", (tls("STRICT"),), "allowed", OF_PEER, base=base(AMBIENT, AMBIENT, PLAIN_CLIENTS)),
    "one for another Service does not": Predicted(
        "client tls", (tls("STRICT"),), "allowed", OF_PEER,
        base=base(INJECTED, INJECTED, PLAIN_CLIENTS.replace("host: web", "host: other")), lint=("GWP415",)),
    "a VirtualService leads elsewhere": Predicted(
        "routes", (rule(DENY_ALL),), "503", OF_PEER, base=base(INJECTED, INJECTED, VIRTUAL), lint=("GWP415",)),
    "nor does one for every host": Predicted(
        "validation", (rule(DENY_ALL),), "403", OF_PEER,
        base=base(INJECTED, INJECTED, VIRTUAL.replace("hosts: [web]", "hosts: ['*']")),
        lint=("GWP415",)),  # the webhook refuses it, ValidateVirtualService
    "nor does one that other namespaces do not see": Predicted(
        "routes", (rule(DENY_ALL),), "403", OF_PEER,
        base=base(INJECTED, INJECTED, VIRTUAL.replace("hosts:", "exportTo: [.], hosts:")), lint=("GWP415",)),
    "nor does one of a Gateway": Predicted(
        "routes", (rule(DENY_ALL),), "403", OF_PEER,
        base=base(INJECTED, INJECTED, VIRTUAL.replace("http:", "gateways: [infra/old], http:")),
        lint=("GWP415",)),
    # what the proxies do not see
    "a port that the sidecar leaves alone": Predicted(
        "interception", (rule(DENY_ALL),), "allowed", base=SKIPS),
    "also for mTLS": Predicted("interception", (tls("STRICT"),), "allowed", request=STRANGE, base=SKIPS),
    "ports that it takes, and no others": Predicted(
        "interception", (rule(DENY_ALL),), "allowed",
        base=base(web=deployment("web", "shop", annotations=INCLUDE))),
    "a client whose sidecar leaves the port alone has no identity": Predicted(
        "interception", (rule(FROM_CALLER),), "403", OF_PEER,
        base=base(client=deployment("client", "infra", annotations=OUT))),
    "pods of the node's network are in no mesh": Predicted(
        "capture", (rule(DENY_ALL),), "allowed",
        base=base(AMBIENT, AMBIENT, web=deployment("web", "shop", pod="hostNetwork: true"))),
    "nothing is injected into kube-system": Predicted(
        "injection", (rule(DENY_ALL, "kube-system"),), "allowed", request={"service": "Service kube-system/web"},
        base=base(INJECTED, INJECTED, worlds.labelled("kube-system", f"{{{INJECTED}}}"),
                  deployment("web", "kube-system"), service(namespace="kube-system"))),
    "an annotation keeps the sidecar out": Predicted(
        "injection", (rule(DENY_ALL),), "allowed",
        base=base(web=deployment("web", "shop", annotations=f"{INJECT} 'false'"))),
    "the label goes before the annotation": Predicted(
        "injection", (rule(DENY_ALL),), "403", OF_PEER,
        base=base(web=deployment("web", "shop", f"{INJECT} 'true'", f"{INJECT} 'false'"))),
    # authorization
    "two providers on one workload turn everything away": Predicted(
        "authorization", (rule(CUSTOM % "a", name="a"), rule(CUSTOM % "b", name="b")), "403"),
    "two providers whose rules take other requests": Predicted(
        "authorization",
        (rule(CUSTOM % "a", name="a").replace("[{}]", "[{to: [{operation: {paths: [/a]}}]}]"),
         rule(CUSTOM % "b", name="b").replace("[{}]", "[{to: [{operation: {paths: [/b]}}]}]")), "allowed"),
    "one provider is asked": Predicted("authorization", (rule(CUSTOM % "a"),), "depends", OF_PEER),
    "an ALLOW that is only tried": Predicted(
        "authorization", (rule(NOTHING[1:-1], annotations="istio.io/dry-run: 'true'"),), "allowed"),
    "DENY by path on a stream denies it": Predicted(
        "chains", (rule(to(EDGE) + DENY_ADMIN, "infra"),), "reset", OF_PEER, request=STREAM, base=PASSED),
    "ALLOW by path on a stream lets nothing in": Predicted(
        "chains", (rule(to(EDGE) + "rules: [{to: [{operation: {paths: [/admin]}}, {operation: {ports: ['443']}}]}]",
                        "infra"),), "reset", OF_PEER, request=STREAM, base=PASSED),
    "ALLOW by port on a stream": Predicted(
        "chains", (rule(to(EDGE) + "rules: [{to: [{operation: {ports: ['443']}}]}]", "infra"),), "allowed", OF_PEER,
        request=STREAM, base=PASSED),
    "a port of the Gateway": Predicted(
        "authorization", (rule(to(EDGE) + "action: DENY, rules: [{to: [{operation: {ports: ['8080']}}]}]", "infra"),),
        "403", OF_PEER, request={**IN, "port": 8080}, base=base(edge=TWO_LISTENERS)),
    "and not the other": Predicted(
        "authorization", (rule(to(EDGE) + "action: DENY, rules: [{to: [{operation: {ports: ['8080']}}]}]", "infra"),),
        "allowed", OF_PEER, request=IN, base=base(edge=TWO_LISTENERS)),
    "one of two targets is not there": Predicted(
        "attachment", (rule(to(EDGE, "Gateway/egde") + DENY_ALL, "infra"),), "403", {"p": "PartiallyEnforced"},
        ("GWP101",), request=IN),
    "a route is no target": Predicted(
        "validation", (rule(to("HTTPRoute/web") + DENY_ALL),), "allowed", {"p": "Invalid"},
        ("GWP102", "GWP111"), request=IN),
    "selector and targets": Predicted(
        "validation", (rule(to(EDGE) + "selector: {matchLabels: {app: web}}, " + DENY_ALL, "infra"),), "allowed",
        {"p": "Invalid"}, ("GWP111",), request=IN),
    "a Gateway of another namespace": Predicted(
        "attachment", (rule(to(EDGE) + DENY_ALL),), "allowed", {"p": "TargetNotFound"}, ("GWP101",), request=IN),
    "the class of ingress Gateways is not asked for": Predicted(
        "attachment", (rule(to("GatewayClass/istio") + DENY_ALL, "istio-system"),), "allowed", {"p": "Invalid"},
        ("GWP106",), request=IN),
    "all of the Gateway's namespace": Predicted("attachment", (rule(DENY_ALL, "infra"),), "403", OF_PEER, request=IN),
    "all of the mesh": Predicted("attachment", (rule(DENY_ALL, "istio-system"),), "403", OF_PEER, request=IN),
    "a port is a text, and a number is refused": Predicted(
        "types", (rule("action: DENY, rules: [{to: [{operation: {ports: [8080]}}]}]"),), "allowed", {"p": "Invalid"}),
    "and so is an action in small letters": Predicted(
        "types", (rule("action: deny, rules: [{}]"),), "allowed", {"p": "Invalid"}),
    "what is refused beats nobody": Predicted(
        "types", (tls("STRICT", created=NEW), tls("5", name="q", created=OLD)), "reset",
        {"p": "Enforced", "q": "Invalid"}, request=STRANGE),
    "a plugin of another type, as the CRD has it": Predicted(
        "types", (of("WasmPlugin", "p", "url: oci://x, priority: '1'"),), "allowed", {"p": "Invalid"}),
    # waypoints
    "a waypoint before a Service": Predicted(
        "binding", (ON_SERVICE,), "403", OF_PEER, base=BEHIND),
    "requests from no mesh do not pass it": Predicted(
        "callers", (ON_SERVICE,), "allowed", OF_PEER, request=STRANGE, base=BEHIND),
    "nor do those of sidecars": Predicted(
        "callers", (ON_SERVICE,), "allowed", OF_PEER, base=base(WAYPOINTED, INJECTED, waypoint())),
    "nor do those of a Gateway": Predicted(
        "callers", (ON_SERVICE,), "allowed", OF_PEER, request=IN, base=BEHIND),
    "unless the Service says so": Predicted(
        "callers", (ON_SERVICE,), "403", OF_PEER, request=IN,
        base=base(WAYPOINTED, AMBIENT, waypoint(), front=service(USES_INGRESS))),
    "or its namespace": Predicted(
        "callers", (ON_SERVICE,), "403", OF_PEER, request=IN,
        base=base(f"{WAYPOINTED}, {USES_INGRESS}", AMBIENT, waypoint())),
    "the Service before its namespace": Predicted(
        "callers", (ON_SERVICE,), "allowed", OF_PEER, request=IN,
        base=base(f"{WAYPOINTED}, {USES_INGRESS}", AMBIENT, waypoint(),
                  front=service("istio.io/ingress-use-waypoint: 'false'"))),
    "a waypoint of another namespace": Predicted(
        "binding", (ON_SERVICE,), "403", OF_PEER,
        base=base(f"{WAYPOINTED}, istio.io/use-waypoint-namespace: infra", AMBIENT,
                  waypoint("infra", ", allowedRoutes: {namespaces: {from: All}}"))),
    "a policy on the waypoint in its namespace": Predicted(
        "attachment", (rule(to("Gateway/way") + DENY_ALL, "infra"),), "403", OF_PEER,
        base=base(f"{WAYPOINTED}, istio.io/use-waypoint-namespace: infra", AMBIENT,
                  waypoint("infra", ", allowedRoutes: {namespaces: {from: All}}"))),
    "a Service that wants none": Predicted(
        "binding", (ON_SERVICE,), "allowed", {"p": "NoEffect"}, ("GWP106",),
        base=base(WAYPOINTED, AMBIENT, waypoint(), front=service("istio.io/use-waypoint: none"))),
    "a waypoint for workloads": Predicted(
        "binding", (rule(to("Gateway/way") + DENY_ALL),), "403", OF_PEER, request=POD,
        base=base(WAYPOINTED, AMBIENT, waypoint(labels="istio.io/waypoint-for: workload"))),
    "is not for Services": Predicted(
        "binding", (rule(to("Gateway/way") + DENY_ALL),), "allowed", OF_PEER,
        base=base(WAYPOINTED, AMBIENT, waypoint(labels="istio.io/waypoint-for: workload"))),
    "a waypoint for Services is not for pods": Predicted(
        "binding", (rule(to("Gateway/way") + DENY_ALL),), "allowed", OF_PEER, request=POD, base=BEHIND),
    "pods name a waypoint of their own": Predicted(
        "binding", (rule(to("Gateway/way") + DENY_ALL),), "403", OF_PEER, request=POD,
        base=base(AMBIENT, AMBIENT, waypoint(labels="istio.io/waypoint-for: all"),
                  web=deployment("web", "shop", "istio.io/use-waypoint: way"))),
    "a waypoint that lets no other namespace in": Predicted(
        "binding", (ON_SERVICE,), "allowed", {"p": "NoEffect"}, ("GWP106",),
        base=base(f"{WAYPOINTED}, istio.io/use-waypoint-namespace: infra", AMBIENT, waypoint("infra"))),
    "a waypoint whose name is a variable": Predicted(
        "binding", (ON_SERVICE,), "depends", {"p": "Unknown"},
        base=base(f"{AMBIENT}, istio.io/use-waypoint: '${{WAY}}'", AMBIENT, waypoint())),
    # variables
    "a path that is a variable": Predicted(
        "variables", (rule("action: DENY, rules: [{to: [{operation: {paths: ['${PATH}']}}]}]"),), "depends", OF_PEER),
    "beside one that fits": Predicted(
        "variables", (rule("action: DENY, rules: [{to: [{operation: {paths: ['${PATH}', /]}}]}]"),), "403", OF_PEER),
    "a principal of a variable's namespace": Predicted(
        "variables", (rule("rules: [{from: [{source: {principals: ['cluster.local/ns/${NS}/sa/client']}}]}]"),),
        "depends", OF_PEER),
    "a mode that is a variable": Predicted("variables", (tls("'${MODE}'"),), "depends", request=STRANGE),
    "an issuer that is a variable": Predicted(
        "variables", (tokens("{issuer: '${ISSUER}', jwksUri: https://id/keys}"),), "allowed, jwtRules not required",
        {"jwt": "Enforced"}, request={**IN, "claims": {"iss": "https://evil", "sub": "a"}}),
    "a Gateway whose name is a variable": Predicted(
        "variables", (rule(to("Gateway/NAME").replace("NAME", "'${EDGE}'") + DENY_ALL, "infra"),), "allowed",
        {"p": "Unknown"}, request=IN),
    # other APIs
    "a backend's TLS": Predicted("backend tls", (verified("p"),), "allowed", OF_PEER, request=IN),
    "of two the older": Predicted(
        "backend tls", (verified("p", created=NEW), verified("q", created=OLD)), "allowed",
        {"p": "Conflicted", "q": "Enforced"}, request=IN),
    "of a port and of the whole Service both": Predicted(
        "backend tls", (verified("p"), verified("q", "Service/web#http")), "allowed",
        {"q": "Enforced"}, request=IN),
    "TLS of a Service that no route names is for the mesh": Predicted(
        "backend tls", (verified("p", "Service/other"),), "allowed", OF_PEER, request=IN,
        base=base(INJECTED, INJECTED, service(name="other"))),
    # tokens
    "a token in a header of its own": Predicted(
        "tokens", (tokens(HEADER), rule(to(EDGE) + TOKEN, "infra")), "depends", OF_PEER,
        request={**IN, "headers": {"x-jwt": "abc"}}),
    "then the usual one is not read": Predicted(
        "tokens", (tokens(HEADER), rule(to(EDGE) + TOKEN, "infra")), "403", OF_PEER,
        request={**IN, "headers": {"authorization": "Bearer abc"}}),
    "another scheme is no token": Predicted(
        "tokens", (tokens(ID), rule(to(EDGE) + TOKEN, "infra")), "403", OF_PEER,
        request={**IN, "headers": {"authorization": "Basic abc"}}),
    "a token in the query": Predicted(
        "tokens", (tokens(ID), rule(to(EDGE) + TOKEN, "infra")), "depends", OF_PEER,
        request={**IN, "path": "/?access_token=abc"}),
    "an issuer that nobody trusts": Predicted(
        "tokens", (tokens(f"{ID}, {OTHER}"),), "401", {"jwt": "Enforced"},
        request={**IN, "claims": {"iss": "https://evil", "sub": "a"}}),
    "the second of two issuers": Predicted(
        "tokens", (tokens(f"{ID}, {OTHER}"), rule(to(EDGE) + TOKEN, "infra")), "allowed, jwtRules and token required",
        OF_PEER, request={**IN, "claims": {"iss": "https://other", "sub": "a"}}),
    "pods do not know what the Gateway checked": Predicted(
        "tokens", (tokens(ID), rule(TOKEN)), "403", OF_PEER, request=KNOWN),
    "a header that comes from a claim": Predicted(
        "tokens", (tokens(OUTPUT), OF_GROUP), "403", OF_PEER, request=KNOWN),  # its token has no such claim
    "the claim that is in it": Predicted(
        "tokens", (tokens(OUTPUT), OF_GROUP), "allowed, jwtRules and token required", OF_PEER,
        request={**IN, "claims": {"iss": "https://id", "sub": "a", "group": "a"}}),
    "and without a token nobody writes it": Predicted("tokens", (tokens(OUTPUT), OF_GROUP), "403", OF_PEER, request=IN),
    # other kinds
    "a Telemetry on the Gateway": Predicted(
        "telemetry", (of("Telemetry", "p", to(EDGE) + "tracing: [{randomSamplingPercentage: 1}]", "infra"),), "allowed",
        OF_PEER, request=IN),
    "a WasmPlugin on the class of waypoints": Predicted(
        "attachment", (of("WasmPlugin", "p", to("GatewayClass/istio-waypoint") + "url: oci://x", "istio-system"),),
        "allowed", OF_PEER, base=BEHIND),
    "an EnvoyFilter on a Service": Predicted(
        "filters", (of("EnvoyFilter", "p", to("Service/web") + "configPatches: []"),), "allowed", {"p": "NoEffect"},
        ("GWP106",), base=BEHIND),
    # OpenShift's ingress operator runs an istiod for its Gateways
    "OpenShift's Gateways read policies that name them": Predicted(
        "openshift", (rule(to(EDGE) + DENY_ADMIN, "infra"),), "403", OF_PEER,
        request={**IN, "path": "/admin"}, base=OPENSHIFT),
    "and those that select their pods": Predicted(
        "openshift", (rule(OF_EDGE + DENY_ADMIN, "infra"),), "403", OF_PEER,
        request={**IN, "path": "/admin"}, base=OPENSHIFT),
    "they are known by the class, too": Predicted(
        "openshift", (rule(to(EDGE) + DENY_ADMIN, "infra"),), "403", OF_PEER, request={**IN, "path": "/admin"},
        base=base("team: a", "team: a", edge=worlds.gateway(of_class="openshift-default"))),
    "before OpenShift 4.20 the name had no version": Predicted(
        "openshift", (rule(to(EDGE) + DENY_ADMIN, "infra"),), "403", OF_PEER, request={**IN, "path": "/admin"},
        base=openshift("openshift.io/gateway-controller")),
    "the root namespace of another mesh is not theirs": Predicted(
        "openshift", (rule(DENY_ALL, "istio-system"),), "allowed", request=IN, base=OPENSHIFT),
    "nor does a selector there reach them": Predicted(
        "openshift", (rule(OF_EDGE + DENY_ALL, "istio-system"),), "allowed", request=IN, base=OPENSHIFT),
    "their own root namespace is openshift-ingress": Predicted(
        "openshift", (rule(DENY_ALL, "openshift-ingress"),), "403", OF_PEER, request=IN, base=OPENSHIFT),
    "one more of another controller is nobody's": Predicted(
        "openshift", (rule(to(EDGE) + DENY_ADMIN, "infra"),), "allowed", {"p": "NoEffect"},
        request={**IN, "path": "/admin"}, base=openshift("openshift.io/ingress-to-route")),
}  # fmt: skip
