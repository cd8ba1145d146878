"""Istio beside its policies: what clients see of the mesh, whose requests its routes take, protocols, revisions."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted
from tests.implementations.predicted.istio import (
    AMBIENT,
    BEHIND,
    CUSTOM,
    DENY_ADMIN,
    DENY_ALL,
    EDGE,
    FROM_CALLER,
    ID,
    IN,
    INJECTED,
    KNOWN,
    NEW,
    OF_PEER,
    OLD,
    OTHER,
    REQUEST,
    STRANGE,
    STRANGER,
    TOKEN,
    USES_INGRESS,
    VIRTUAL,
    WAYPOINTED,
    ZTUNNEL,
    base,
    deployment,
    of,
    rule,
    service,
    tls,
    to,
    tokens,
    waypoint,
)

__all__ = ["BASE", "REQUEST", "SOURCES", "STRANGER", "WORLDS"]
_ISTIO = "github.com/istio/istio @ 1.28"
SOURCES = {
    "egress": f"{_ISTIO} pilot/pkg/model/sidecar.go, convertToSidecarScope and selectServices",
    "sidecar of": f"{_ISTIO} pilot/pkg/model/push_context.go, getSidecarScope",
    "passthrough": "istio.io/latest/docs/tasks/traffic-management/egress/egress-control: plain text",
    "ingress": "istio.io/latest/docs/reference/config/networking/sidecar/#IstioIngressListener",
    "listeners": f"{_ISTIO} pilot/pkg/networking/core/listener_inbound.go, buildInboundChainConfigs",
    "destination rules": f"{_ISTIO} pilot/pkg/model/push_context.go, destinationRule, and destination_rule.go",
    "client tls": "istio.io/latest/docs/reference/config/networking/destination-rule/#ClientTLSSettings-TLSmode",
    "mesh routes": "gateway-api.sigs.k8s.io/mesh and istio.io/latest/docs/ambient/usage/l7-features",
    "virtual services": "istio.io/latest/docs/ambient/usage/l7-features: ztunnel reads no VirtualService",
    "validation": f"{_ISTIO} pkg/config/validation/validation.go and pkg/config/security/security.go",
    "model": f"{_ISTIO} pilot/pkg/security/authz/model, model.go and generator.go",
    "protocols": f"{_ISTIO} pkg/config/kube/conversion.go, ConvertProtocol, and pkg/config/protocol/instance.go",
    "tokens": f"{_ISTIO} pilot/pkg/security/authn/policy_applier.go, convertToEnvoyJwtConfig; Envoy's jwt_authn",
    "revisions": f"{_ISTIO} pkg/config/model.go, LabelsInRevision, and pilot/pkg/config/kube/crdclient",
    "capture": f"{_ISTIO} cni/pkg/util/podutil.go, PodRedirectionEnabled",
    "east-west": f"{_ISTIO} pilot/pkg/config/kube/gateway/deploymentcontroller.go: of the template of waypoints",
    "machines": "istio.io/latest/docs/reference/config/networking/workload-entry",
    "unseen pods": "istio.io/latest/docs/reference/config/security/authorization-policy: all pods of a namespace",
    "hosts": f"{_ISTIO} pilot/pkg/config/kube/gateway/conversion.go, buildDestination",
    "attachment": f"{_ISTIO} pilot/pkg/model/policyattachment.go",
    "ztunnel": f"{_ISTIO} pilot/pkg/serviceregistry/ambient/authorization.go",
    "dry run": f"{_ISTIO} pilot/pkg/security/authz/builder/builder.go, isDryRun",
}
BASE = base()
STRICT, ADMIN = (tls("STRICT"),), (rule(DENY_ADMIN),)
CALLER = (rule(FROM_CALLER),)
GETS = (rule("rules: [{to: [{operation: {methods: [GET]}}]}]"),)
OF_OTHERS = "workloadSelector: {labels: {app: b}}, "
OF_STREAMS = service().replace("name: http,", "name: tcp-web,")
NETWORKING = "networking.istio.io/v1"


def sidecar(hosts: str, namespace: str = "infra", name: str = "s", more: str = "", listener: str = "") -> str:
    """A Sidecar whose proxies see some hosts."""
    body = f"spec: {{{more and more + ', '}egress: [{{{listener and listener + ', '}hosts: [{hosts}]}}]}}"
    return worlds.manifest(NETWORKING, "Sidecar", name, namespace, body)


def taking(
    protocol: str,
    namespace: str = "shop",
    selecting: str = "workloadSelector: {labels: {app: web}}, ",
    number: int = 8080,
) -> str:
    """A Sidecar that says as which protocol the pods take a port."""
    listener = f"{{port: {{number: {number}, protocol: {protocol}, name: p}}, defaultEndpoint: '127.0.0.1:80'}}"
    return worlds.manifest(NETWORKING, "Sidecar", "s", namespace, f"spec: {{{selecting}ingress: [{listener}]}}")


def client_rule(
    policy: str, namespace: str = "infra", name: str = "d", host: str = "web.shop.svc.cluster.local", more: str = "",
    created: str = "",
) -> str:  # fmt: skip
    """A DestinationRule."""
    traffic = f", trafficPolicy: {{{policy}}}" if policy else ""
    body = f"spec: {{host: {host!r}{traffic}{more and ', ' + more}}}"
    return worlds.manifest(NETWORKING, "DestinationRule", name, namespace, body, created)


def mesh_route(namespace: str = "shop", kind: str = "HTTPRoute", rules: str = "") -> str:
    """A route of the Service for requests of the mesh; by default for one path only."""
    own = "matches: [{path: {value: /public}}], backendRefs: [{name: web, namespace: shop, port: 80}]"
    parents = "[{group: '', kind: Service, name: web, namespace: shop}]"
    return worlds.route("mesh", namespace, parents=parents, kind=kind, more=f"rules: [{{{rules or own}}}]")


def port_named(name: str, protocol: str = "") -> str:
    """The Service with another name of its port, and an appProtocol."""
    own = f"appProtocol: {protocol}, " if protocol else ""
    return service().replace("{name: http, port", f"{{{own}name: {name}, port")


def paths(*wanted: str, action: str = "ALLOW") -> str:
    listed = ", ".join(f"'{path}'" for path in wanted)
    return rule(f"action: {action}, rules: [{{to: [{{operation: {{paths: [{listed}]}}}}]}}]")


def when(key: str, values: str, action: str = "ALLOW", field: str = "values") -> str:
    return rule(f"action: {action}, rules: [{{when: [{{key: '{key}', {field}: [{values}]}}]}}]")


def source(fields: str, action: str = "ALLOW", namespace: str = "shop") -> str:
    return rule(f"action: {action}, rules: [{{from: [{{source: {{{fields}}}}}]}}]", namespace)


def operation(fields: str, action: str = "ALLOW") -> str:
    return rule(f"action: {action}, rules: [{{to: [{{operation: {{{fields}}}}}]}}]")


def labelled(policy: str, labels: str) -> str:
    return policy.replace("metadata: {", f"metadata: {{labels: {{{labels}}}, ", 1)


def without_front() -> tuple[str, ...]:
    """The usual objects but for the route to the Service."""
    return tuple(manifest for manifest in base() if "HTTPRoute" not in manifest)


def to_host(host: str) -> str:
    """A route whose backend is a host."""
    backend = f"{{group: networking.istio.io, kind: Hostname, name: {host}, port: 443}}"
    return worlds.route("ext", more=f"hostnames: [a.example], rules: [{{backendRefs: [{backend}]}}]")


HIDES, SHOWS = sidecar("./*"), sidecar("shop/*")
NEIGHBOUR = service(namespace="infra", name="near")
REGISTRY = "outboundTrafficPolicy: {mode: REGISTRY_ONLY}"
OFF, ORIGIN = "tls: {mode: DISABLE}", "tls: {mode: SIMPLE}"
PLAIN = client_rule(OFF)
FOR_US = ID.replace("}", ", audiences: [us]}")
FORWARDED = ID.replace("}", ", forwardOriginalToken: true}")
OF_US = {**IN, "claims": {"iss": "https://id", "sub": "a", "aud": "us"}}
PARAM = ID.replace("}", ", fromParams: [t]}")
COOKIE = ID.replace("}", ", fromCookies: [t]}")
ASKED = rule(to(EDGE) + TOKEN, "infra")
TWO_PLACES = (tokens(ID), tokens(ID, "", "shop", "inner"), rule(TOKEN))
INVALID = {"p": "Invalid"}
REVISED = "istio.io/rev: one"
PLANE = worlds.manifest(
    "apps/v1", "Deployment", "istiod-one", "istio-system",
    "spec: {selector: {matchLabels: {app: istiod}}, template: {metadata: {labels: {app: istiod}}, spec: {}}}",
    more="labels: {app: istiod, istio.io/rev: one}",
)  # fmt: skip
MACHINE = worlds.manifest(
    NETWORKING,
    "WorkloadEntry",
    "vm",
    "shop",
    "spec: {address: 10.0.0.1, serviceAccount: web}",
    more="labels: {app: web}",
)
ENTRY = worlds.manifest(
    NETWORKING, "ServiceEntry", "api", "shop",
    "spec: {hosts: [api.example.com], ports: [{name: tls, number: 443, protocol: TLS}], resolution: DNS}",
)  # fmt: skip
ON_OTHER = rule("selector: {matchLabels: {app: other}}, " + DENY_ALL)
ELSEWHERE = (
    deployment("other", "shop"),
    service(name="other").replace("app: web", "app: other"),
    mesh_route(kind="TCPRoute", rules="backendRefs: [{name: other, port: 80}]"),
)
EAST_WEST = worlds.gateway(
    "ew", "infra", "[{name: mesh, port: 15008, protocol: HBONE}, {name: http, port: 80, protocol: HTTP,"
    " allowedRoutes: {namespaces: {from: All}}}]", of_class="istio-east-west",
)  # fmt: skip


def seen(*more: str, shop: str = INJECTED, infra: str = INJECTED, **options: str) -> tuple[str, ...]:
    return base(shop, infra, *more, **options)


WORLDS = {
    # what a client sees of the mesh
    "a Sidecar that shows the Service": Predicted("egress", STRICT, "allowed", OF_PEER, base=seen(SHOWS)),
    "one that does not: plain text": Predicted("passthrough", STRICT, "reset", OF_PEER, base=seen(HIDES)),
    "so that the client has no identity": Predicted("passthrough", CALLER, "403", OF_PEER, base=seen(HIDES)),
    "and gets in where none is asked for": Predicted(
        "passthrough", ADMIN, "allowed", OF_PEER, base=seen(HIDES)),
    "nothing goes out but what is known": Predicted(
        "passthrough", ADMIN, "502", OF_PEER, base=seen(sidecar("./*", more=REGISTRY), NEIGHBOUR)),
    "what is known goes out": Predicted(
        "passthrough", ADMIN, "allowed", OF_PEER, base=seen(sidecar("shop/*", more=REGISTRY))),
    "a Sidecar of the mesh": Predicted(
        "sidecar of", STRICT, "reset", OF_PEER, base=seen(sidecar("./*", "istio-system"))),
    "the namespace's before the mesh's": Predicted(
        "sidecar of", STRICT, "allowed", OF_PEER, base=seen(sidecar("./*", "istio-system"), SHOWS)),
    "of other workloads": Predicted(
        "sidecar of", STRICT, "allowed", OF_PEER,
        base=seen(sidecar("./*", more="workloadSelector: {labels: {app: other}}"))),
    "the workload's before the namespace's": Predicted(
        "sidecar of", STRICT, "reset", OF_PEER,
        base=seen(SHOWS, sidecar("./*", name="own", more="workloadSelector: {labels: {app: client}}"))),
    "a selector in the root namespace is for that namespace": Predicted(
        "sidecar of", STRICT, "allowed", OF_PEER,
        base=seen(sidecar("./*", "istio-system", more="workloadSelector: {labels: {app: client}}"))),
    "the server's own Sidecar": Predicted(
        "sidecar of", STRICT, "allowed", OF_PEER, base=seen(sidecar("./*", "shop"))),
    "ztunnel reads no Sidecar": Predicted(
        "sidecar of", STRICT, "allowed", OF_PEER, base=(*ZTUNNEL, HIDES)),
    "whoever is called by an account there has one all the same": Predicted(
        "sidecar of", CALLER, "allowed", OF_PEER, request={"client": "ServiceAccount infra/client"},
        base=(*ZTUNNEL, HIDES, PLAIN)),
    "who is called by an account elsewhere is seen by a Sidecar": Predicted(
        "sidecar of", CALLER, "403", OF_PEER, request={"client": "ServiceAccount infra/client"}, base=seen(HIDES)),
    "an account is called by its workloads, as each of them sees the mesh": Predicted(
        "sidecar of", CALLER, "403", OF_PEER, request={"client": "ServiceAccount infra/client"},
        base=seen(SHOWS, sidecar("./*", name="own", more="workloadSelector: {labels: {app: client}}"))),
    "of which of its workloads the Sidecar is, an account does not say": Predicted(
        "sidecar of", CALLER, "depends", OF_PEER, request={"client": "ServiceAccount infra/client"},
        base=(*seen(SHOWS, sidecar("./*", name="own", more="workloadSelector: {labels: {app: client}}")),
              deployment("second", "infra").replace("serviceAccountName: second", "serviceAccountName: client"))),
    "nor do Gateways": Predicted(
        "sidecar of", STRICT, "allowed", OF_PEER, request=IN, base=seen(HIDES)),
    "one host of any namespace": Predicted(
        "egress", STRICT, "allowed", OF_PEER, base=seen(sidecar("'*/web.shop.svc.cluster.local'"))),
    "another host": Predicted(
        "egress", STRICT, "reset", OF_PEER, base=seen(sidecar("shop/other.shop.svc.cluster.local"))),
    "a short name is no host": Predicted(
        "egress", STRICT, "reset", OF_PEER, base=seen(sidecar("shop/web")), lint=("GWP415",)),
    "a wildcard in the host": Predicted(
        "egress", STRICT, "allowed", OF_PEER, base=seen(sidecar("'shop/*.shop.svc.cluster.local'"))),
    "nothing at all": Predicted("egress", STRICT, "reset", OF_PEER, base=seen(sidecar("'~/*'"))),
    "a listener for another port": Predicted(
        "egress", STRICT, "reset", OF_PEER, base=seen(sidecar("shop/*", listener="port: {number: 9090, protocol: HTTP,"
        " name: http}"))),
    "a listener for the port": Predicted(
        "egress", STRICT, "allowed", OF_PEER,
        base=seen(sidecar("shop/*", listener="port: {number: 80, protocol: HTTP, name: http}"))),
    "a namespace that is a variable": Predicted(
        "egress", STRICT, "depends", OF_PEER, base=seen(sidecar("'${NS}/*'"))),
    "without egress everything is seen": Predicted(
        "egress", STRICT, "allowed", OF_PEER,
        base=seen(worlds.manifest(NETWORKING, "Sidecar", "s", "infra", f"spec: {{{REGISTRY}}}"))),
    "a Service that is not shown to other namespaces": Predicted(
        "egress", STRICT, "reset", OF_PEER,
        base=seen(front=service().replace("name: web,", "name: web, annotations: {networking.istio.io/exportTo: .},"))),
    "an ingress listener of the pods": Predicted(
        "ingress", (rule(DENY_ALL),), "403", OF_PEER,
        base=seen(worlds.manifest(NETWORKING, "Sidecar", "s", "shop", "spec: {workloadSelector: {labels: {app: web}},"
                  " ingress: [{port: {number: 8080, protocol: HTTP, name: http}, defaultEndpoint: '127.0.0.1:80'}]}"))),
    "an ingress listener of connections has no paths": Predicted(
        "listeners", ADMIN, "reset", OF_PEER, base=seen(taking("TCP"))),
    "nor do methods count there": Predicted(
        "listeners", GETS, "reset", OF_PEER, base=seen(taking("HTTPS"))),
    "one of the whole mesh": Predicted(
        "listeners", GETS, "reset", OF_PEER, base=seen(taking("MySQL", "istio-system", ""))),
    "one of other pods": Predicted(
        "listeners", GETS, "allowed", OF_PEER, base=seen(taking("TCP", selecting=OF_OTHERS))),
    "an ingress listener of requests at a port of connections": Predicted(
        "listeners", GETS, "allowed", OF_PEER, base=seen(taking("HTTP"), front=OF_STREAMS)),
    "a port that no ingress listener is for": Predicted(
        "listeners", GETS, "allowed", OF_PEER, base=seen(taking("TCP", number=9090), front=OF_STREAMS)),
    "a port of connections": Predicted(
        "protocols", GETS, "reset", OF_PEER, base=seen(front=OF_STREAMS)),
    # whose TLS clients speak
    "plain text by the client's namespace": Predicted(
        "destination rules", STRICT, "reset", OF_PEER, base=seen(PLAIN)),
    "by the Service's": Predicted(
        "destination rules", STRICT, "reset", OF_PEER, base=seen(client_rule(OFF, "shop"))),
    "by the mesh's": Predicted(
        "destination rules", STRICT, "reset", OF_PEER, base=seen(client_rule(OFF, "istio-system"))),
    "a third namespace is never asked": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER, base=seen(client_rule(OFF, "outside"))),
    "a rule that is not for the client's namespace": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule(OFF, "shop", more="exportTo: [.]"))),
    "the client's before the Service's": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule("connectionPool: {}"), client_rule(OFF, "shop"))),
    "the Service's before the mesh's": Predicted(
        "destination rules", STRICT, "reset", OF_PEER,
        base=seen(client_rule("tls: {mode: ISTIO_MUTUAL}", "istio-system"), client_rule(OFF, "shop"))),
    "the host before the wildcard": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule(OFF, host="*.shop.svc.cluster.local"), client_rule("connectionPool: {}", name="e"))),
    "a wildcard alone": Predicted(
        "destination rules", STRICT, "reset", OF_PEER, base=seen(client_rule(OFF, host="*.local"))),
    "of one host the older": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule("connectionPool: {}", created=OLD), client_rule(OFF, name="e", created=NEW)),
        lint=("GWP415",)),
    "the older one says nothing": Predicted(
        "destination rules", STRICT, "reset", OF_PEER,
        base=seen(client_rule("", more="subsets: [{name: one}]", created=OLD),
                  client_rule(OFF, name="e", created=NEW))),
    "a short name is of its own namespace": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER, base=seen(client_rule(OFF, host="web")), lint=("GWP415",)),
    "for the port": Predicted(
        "destination rules", STRICT, "reset", OF_PEER,
        base=seen(client_rule(f"portLevelSettings: [{{port: {{number: 80}}, {OFF}}}]"))),
    "for another port": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule(f"portLevelSettings: [{{port: {{number: 81}}, {OFF}}}]"))),
    "a subset that nobody names": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule("", more=f"subsets: [{{name: one, trafficPolicy: {{{OFF}}}}}]"))),
    "for other clients": Predicted(
        "destination rules", STRICT, "allowed", OF_PEER,
        base=seen(client_rule(OFF, more="workloadSelector: {matchLabels: {app: other}}"))),
    "TLS without a certificate of the mesh": Predicted(
        "client tls", CALLER, "403", OF_PEER, base=seen(client_rule(ORIGIN))),
    "a certificate of the client's own": Predicted(
        "client tls", CALLER, "depends", OF_PEER, base=seen(client_rule("tls: {mode: MUTUAL}"))),
    "a Gateway is a client, too": Predicted(
        "destination rules", STRICT, "reset", OF_PEER, request=IN, base=seen(PLAIN)),
    "who is in no mesh reads none": Predicted(
        "destination rules", (rule(DENY_ADMIN),), "allowed", OF_PEER, request=STRANGE,
        base=seen(client_rule(OFF, "shop"))),
    "a mode that is a variable": Predicted(
        "destination rules", STRICT, "depends", OF_PEER, base=seen(client_rule("tls: {mode: '${MODE}'}"))),
    # whose requests the routes of the mesh take
    "a route takes the requests of sidecars": Predicted(
        "mesh routes", ADMIN, "404", OF_PEER, base=seen(mesh_route())),
    "not those of who is in no mesh": Predicted(
        "mesh routes", ADMIN, "allowed", OF_PEER, request=STRANGE, base=seen(mesh_route())),
    "nor those of ztunnel": Predicted(
        "mesh routes", (rule(DENY_ALL),), "reset", OF_PEER, base=(*ZTUNNEL, mesh_route())),
    "but for a waypoint": Predicted("mesh routes", (rule(to("Service/web") + DENY_ADMIN),), "404", OF_PEER,
                                    base=(*BEHIND, mesh_route())),
    "nor those of a Gateway": Predicted(
        "mesh routes", ADMIN, "allowed", OF_PEER, request=IN, base=seen(mesh_route())),
    "but for a waypoint that it uses": Predicted(
        "mesh routes", (rule(to("Service/web") + DENY_ADMIN),), "depends", OF_PEER, request=IN,
        base=base(WAYPOINTED, AMBIENT, waypoint(), mesh_route(), front=service(USES_INGRESS))),
    "the client's own route": Predicted(
        "mesh routes", ADMIN, "404", OF_PEER, base=seen(mesh_route("infra"))),
    "a route that leads elsewhere passes the waypoint of what is asked for": Predicted(
        "mesh routes", (rule(to("Service/web") + DENY_ALL),), "403", OF_PEER,
        base=(*BEHIND, service(name="other"), mesh_route(rules="backendRefs: [{name: other, port: 80}]"))),
    "and not that of where it leads": Predicted(
        "mesh routes", (rule(to("Service/other") + DENY_ALL),), "allowed", OF_PEER,
        base=(*BEHIND, service(name="other"), mesh_route(rules="backendRefs: [{name: other, port: 80}]"))),
    "is not for a waypoint": Predicted(
        "mesh routes", (rule(to("Service/web") + DENY_ALL),), "403", OF_PEER, base=(*BEHIND, mesh_route("infra"))),
    "a sidecar applies routes itself, whatever the waypoint": Predicted(
        "mesh routes", (rule(to("Service/web") + DENY_ADMIN),), "404", OF_PEER,
        base=base(WAYPOINTED, INJECTED, waypoint(), mesh_route())),
    "routes for calls take the whole host": Predicted(
        "mesh routes", ADMIN, "404", OF_PEER,
        base=seen(mesh_route(kind="GRPCRoute", rules="matches: [{method: {service: a.B}}], backendRefs: [{name: web,"
                             " port: 80}]"))),
    "a VirtualService for who is in no mesh": Predicted(
        "virtual services", ADMIN, "allowed", OF_PEER, request=STRANGE, base=seen(VIRTUAL), lint=("GWP415",)),
    "for ztunnel": Predicted(
        "virtual services", (rule(DENY_ALL),), "reset", OF_PEER, base=(*ZTUNNEL, VIRTUAL), lint=("GWP415",)),
    "for a waypoint": Predicted(
        "virtual services", (rule(to("Service/web") + DENY_ALL),), "403", OF_PEER,
        base=(*BEHIND, VIRTUAL), lint=("GWP415",)),
    "a delegate has no hosts": Predicted(
        "virtual services", (rule(DENY_ALL),), "403", OF_PEER, base=seen(VIRTUAL.replace("hosts: [web], ", "")),
        lint=("GWP415",)),
    # who is it
    "a ServiceAccount of another namespace": Predicted(
        "model", (source("serviceAccounts: [infra/client]"),), "allowed", OF_PEER),
    "a ServiceAccount is of the policy's namespace": Predicted(
        "model", (source("serviceAccounts: [client]"),), "403", OF_PEER),
    "not by name is anybody else": Predicted(
        "model", (source("notPrincipals: [cluster.local/ns/infra/sa/client]", "DENY"),), "403", OF_PEER,
        request=STRANGE),
    "not by name is not this one": Predicted(
        "model", (source("notPrincipals: [cluster.local/ns/infra/sa/client]", "DENY"),), "allowed", OF_PEER),
    "who has no namespace is not of it": Predicted(
        "model", (source("notNamespaces: [infra]", "DENY"),), "403", OF_PEER, request=STRANGE),
    "both ways at once": Predicted(
        "model", (source("namespaces: [infra], notPrincipals: ['*/sa/client']"),), "403", OF_PEER),
    "a condition on the namespace": Predicted("model", (when("source.namespace", "infra"),), "allowed", OF_PEER),
    "and one that is not": Predicted(
        "model", (when("source.namespace", "infra", field="notValues"),), "403", OF_PEER),
    "a condition on the port of the pods": Predicted(
        "model", (when("destination.port", "'8080'", "DENY"),), "403", OF_PEER),
    "and not that of the Service": Predicted(
        "model", (when("destination.port", "'80'", "DENY"),), "allowed", OF_PEER),
    "a method is what it is": Predicted(
        "model", (operation("methods: [get]", "DENY"),), "allowed", OF_PEER),
    "a host with its port is another": Predicted(
        "model", (operation("hosts: [web.shop]", "DENY"),), "allowed", OF_PEER,
        request={"host": "web.shop:8080"}),
    "but for any port": Predicted(
        "model", (operation("hosts: ['web.shop:*']", "DENY"),), "403", OF_PEER, request={"host": "web.shop:8080"}),
    "a host in capitals": Predicted(
        "model", (operation("hosts: [WEB.shop]", "DENY"),), "403", OF_PEER),
    "AUDIT lets everything in": Predicted("model", (rule("action: AUDIT, rules: [{}]"),), "allowed", OF_PEER),
    "an annotation that is no boolean is no dry run": Predicted(
        "dry run", (rule(DENY_ALL, annotations="istio.io/dry-run: 'yes'"),), "403", OF_PEER),
    # what is refused
    "an attribute that nobody knows": Predicted("validation", (when("request.header[x]", "a"),), "allowed", INVALID,
                                                ("GWP111",)),
    "a namespace of the destination": Predicted(
        "validation", (when("destination.namespace", "a", "DENY"),), "allowed", INVALID, ("GWP111",)),
    "a key without a name": Predicted(
        "validation", (when("request.headers[]", "a", "DENY"),), "allowed", INVALID, ("GWP111",)),
    "an address that is none": Predicted(
        "validation", (source("ipBlocks: [10.0.0.0/99]", "DENY"),), "allowed", INVALID, ("GWP111",)),
    "addresses of a condition": Predicted(
        "validation", (when("remote.ip", "example.com", "DENY"),), "allowed", INVALID, ("GWP111",)),
    "a port by name": Predicted(
        "validation", (operation("ports: [http]", "DENY"),), "allowed", INVALID, ("GWP111",)),
    "a ServiceAccount beside a namespace": Predicted(
        "validation", (source("namespaces: [infra], notServiceAccounts: [infra/client]", "DENY"),), "allowed", INVALID,
        ("GWP111",)),
    "an empty value": Predicted(
        "validation", (operation("paths: ['']", "DENY"),), "allowed", INVALID, ("GWP111",)),
    "a template with a name": Predicted(
        "validation", (paths("/{id}/{*}", action="DENY"),), "allowed", INVALID, ("GWP111",)),
    "keys from a place that is no place": Predicted(
        "validation", (tokens("{issuer: https://id, jwksUri: 'ftp://id/keys'}", name="p"), ), "allowed", INVALID,
        ("GWP111",), request=IN),
    "keys that are no keys": Predicted(
        "validation", (tokens("{issuer: https://id, jwks: 'no'}", name="p"),), "allowed", INVALID, ("GWP111",),
        request=IN),
    "a header from no claim": Predicted(
        "validation", (tokens("{issuer: https://id, outputClaimToHeaders: [{header: x, claim: ''}]}", name="p"),),
        "allowed", INVALID, ("GWP111",), request=IN),
    # protocols of ports
    "a port for connections has no paths to allow": Predicted(
        "protocols", (paths("/"),), "reset", OF_PEER, base=seen(front=port_named("tcp"))),
    "nor to deny": Predicted("protocols", ADMIN, "reset", OF_PEER, base=seen(front=port_named("tcp-web"))),
    "its protocol goes before its name": Predicted(
        "protocols", ADMIN, "allowed", OF_PEER, base=seen(front=port_named("tcp", "http"))),
    "a protocol of connections": Predicted(
        "protocols", ADMIN, "reset", OF_PEER, base=seen(front=port_named("http", "mysql"))),
    "TLS that passes through": Predicted(
        "protocols", (paths("/"),), "reset", OF_PEER, base=seen(front=port_named("https"))),
    "a name that says nothing": Predicted(
        "protocols", ADMIN, "allowed", OF_PEER, base=seen(front=port_named("web"))),
    "who calls is known of connections, too": Predicted(
        "protocols", CALLER, "allowed", OF_PEER, base=seen(front=port_named("tcp"))),
    "also behind a Gateway": Predicted(
        "protocols", ADMIN, "reset", OF_PEER, request=IN, base=seen(front=port_named("tcp"))),
    "a route of the mesh on such a port": Predicted(
        "protocols", CALLER, "allowed", OF_PEER, base=seen(mesh_route(), front=port_named("tcp"))),
    # tokens
    "a token for others": Predicted(
        "tokens", (tokens(FOR_US), ASKED), "403", {"jwt": "Enforced"},
        request={**OF_US, "claims": {"iss": "https://id", "sub": "a", "aud": "them"}}),
    "a token for us": Predicted(
        "tokens", (tokens(FOR_US), ASKED), "allowed, jwtRules and token required", OF_PEER, request=OF_US),
    "a token for nobody": Predicted("tokens", (tokens(FOR_US), ASKED), "403", request=KNOWN),
    "another rule takes it": Predicted(
        "tokens", (tokens(f"{FOR_US}, {ID}"), ASKED), "allowed, jwtRules and token required", request=KNOWN),
    "a parameter": Predicted(
        "tokens", (tokens(PARAM), ASKED), "depends", OF_PEER,
        request={**IN, "path": "/?t=a"}),
    "a cookie": Predicted(
        "tokens", (tokens(COOKIE), ASKED), "depends", OF_PEER,
        request={**IN, "headers": {"cookie": "t=a"}}),
    "another cookie": Predicted(
        "tokens", (tokens(COOKIE), ASKED), "403", OF_PEER,
        request={**IN, "headers": {"cookie": "u=a"}}),
    "the Gateway keeps the token": Predicted("tokens", TWO_PLACES, "403", OF_PEER, request=KNOWN),
    "unless it forwards it": Predicted(
        "tokens", (tokens(FORWARDED), *TWO_PLACES[1:]), "allowed, jwtRules and token required", OF_PEER, request=KNOWN),
    "it keeps no token that it does not read": Predicted(
        "tokens", (tokens(OTHER, "", "shop", "inner"), rule(TOKEN)), "allowed, jwtRules and token required", OF_PEER,
        request={**IN, "claims": {"iss": "https://other", "sub": "a"}}),
    # revisions, capture, waypoints
    "a policy for another revision": Predicted(
        "revisions", (labelled(rule(DENY_ALL), "istio.io/rev: two"),), "depends", {"p": "Unknown"},
        base=seen(PLANE, shop=REVISED)),
    "a policy for this revision": Predicted(
        "revisions", (labelled(rule(DENY_ALL), "istio.io/rev: one"),), "403", OF_PEER,
        base=seen(PLANE, shop=REVISED)),
    "a policy for a revision, and pods of the default one": Predicted(
        "revisions", (labelled(rule(DENY_ALL), "istio.io/rev: two"),), "depends", {"p": "Unknown"}),
    "an ALLOW for another revision": Predicted(
        "revisions", (labelled(paths("/x"), "istio.io/rev: two"),), "depends", {"p": "Unknown"}),
    "STRICT for another revision": Predicted(
        "revisions", (labelled(tls("STRICT"), "istio.io/rev: two"),), "depends", {"p": "Unknown"},
        request=STRANGE),
    # what is behind a Service
    "a machine behind the Service": Predicted(
        "machines", (rule(DENY_ALL),), "403", OF_PEER, base=seen(MACHINE, web="")),
    "by the labels of its spec": Predicted(
        "machines", (rule("selector: {matchLabels: {app: web}}, " + DENY_ALL),), "403", OF_PEER,
        base=seen(MACHINE.replace("labels: {app: web}", "annotations: {}").replace(
            "serviceAccount: web", "serviceAccount: web, labels: {app: web}"), web="")),
    "a machine of another Service": Predicted(
        "machines", (rule("selector: {matchLabels: {app: vm}}, " + DENY_ALL),), "allowed", OF_PEER,
        base=seen(MACHINE.replace("app: web", "app: vm"))),
    "plain text to a machine": Predicted(
        "machines", STRICT, "reset", OF_PEER, request=STRANGE, base=seen(MACHINE, web="")),
    "pods that nobody has seen": Predicted(
        "unseen pods", (rule(DENY_ALL),), "depends", base=seen(web="")),
    "and that a policy elsewhere cannot be about": Predicted(
        "unseen pods", (rule("selector: {matchLabels: {app: other}}, " + DENY_ALL),), "allowed", base=seen(web="")),
    "STRICT before unseen pods, for a client of the mesh": Predicted(
        "unseen pods", STRICT, "allowed", base=seen(web="")),
    "and for who is in none": Predicted("unseen pods", STRICT, "depends", request=STRANGE, base=seen(web="")),
    "what is only tried before unseen pods": Predicted(
        "unseen pods", (rule(DENY_ALL, annotations="istio.io/dry-run: 'true'"),), "allowed", base=seen(web="")),
    "unseen pods of a namespace that is in no mesh": Predicted(
        "unseen pods", (rule(DENY_ALL),), "allowed", base=seen(shop="istio-injection: disabled", web="")),
    # ServiceEntries
    "a policy on a ServiceEntry behind a waypoint": Predicted(
        "attachment", (rule(to("ServiceEntry.networking.istio.io/api") + DENY_ALL),), "allowed", OF_PEER,
        base=(*BEHIND, ENTRY)),
    "a policy on one that no waypoint serves": Predicted(
        "attachment", (rule(to("ServiceEntry.networking.istio.io/api") + DENY_ALL),), "allowed", {"p": "NoEffect"},
        ("GWP106",), base=seen(ENTRY)),
    "a policy on one that is not there": Predicted(
        "attachment", (rule(to("ServiceEntry.networking.istio.io/ap") + DENY_ALL),), "allowed",
        {"p": "TargetNotFound"}, ("GWP101",), base=(*BEHIND, ENTRY)),
    "a host of a ServiceEntry as a backend": Predicted(
        "hosts", (rule(DENY_ADMIN, "infra"),), "allowed", OF_PEER, request={**IN, "host": "a.example"},
        conditions={"HTTPRoute shop/ext": ("ResolvedRefs=True/ResolvedRefs",)},
        base=(*without_front(), ENTRY, to_host("api.example.com"))),
    "a host that nobody has": Predicted(
        "hosts", (rule(DENY_ADMIN, "infra"),), "500", OF_PEER, request={**IN, "host": "a.example"},
        conditions={"HTTPRoute shop/ext": ("ResolvedRefs=False/BackendNotFound",)},
        base=(*without_front(), ENTRY, to_host("nobody.example.com"))),
    # connections, and other kinds
    "a route of connections for a sidecar": Predicted(
        "mesh routes", (ON_OTHER,), "reset", OF_PEER, request={"scheme": "tcp", "port": 80},
        base=seen(*ELSEWHERE, front=port_named("tcp"))),
    "and not for ztunnel": Predicted(
        "mesh routes", (ON_OTHER,), "allowed", OF_PEER, request={"scheme": "tcp", "port": 80},
        base=base(AMBIENT, AMBIENT, *ELSEWHERE, front=port_named("tcp"))),
    "a plugin by selector": Predicted(
        "attachment", (of("WasmPlugin", "p", "selector: {matchLabels: {app: web}}, url: oci://x"),), "allowed",
        OF_PEER),
    "a plugin on a Service that no waypoint serves": Predicted(
        "attachment", (of("WasmPlugin", "p", to("Service/web") + "url: oci://x"),), "allowed", {"p": "NoEffect"},
        ("GWP106",)),
    "a filter on the class of waypoints": Predicted(
        "attachment", (of("EnvoyFilter", "p", to("GatewayClass/istio-waypoint") + "configPatches: []",
                          "istio-system"),), "allowed", base=BEHIND),
    "a Telemetry of the namespace at its waypoint": Predicted(
        "attachment", (of("Telemetry", "p", "tracing: [{randomSamplingPercentage: 1}]"),), "allowed", OF_PEER,
        base=BEHIND),
    "two Gateways of one policy": Predicted(
        "attachment", (rule(to(EDGE, "Gateway/way") + DENY_ALL, "infra"),), "403", OF_PEER, request=IN,
        base=seen(waypoint("infra"))),
    "a policy on the Gateway of the client's side only": Predicted(
        "attachment", (rule(to(EDGE) + DENY_ALL, "infra"),), "allowed", OF_PEER),
    "pods that want no capture": Predicted(
        "capture", (rule(DENY_ALL),), "allowed",
        base=base(AMBIENT, AMBIENT, web=deployment("web", "shop", "istio.io/dataplane-mode: none"))),
    "STRICT before pods that are not captured": Predicted(
        "capture", STRICT, "allowed", request=STRANGE,
        base=base(AMBIENT, AMBIENT, web=deployment("web", "shop", "istio.io/dataplane-mode: none"))),
    "a client that is not captured": Predicted(
        "capture", STRICT, "reset", OF_PEER,
        base=base(AMBIENT, AMBIENT, client=deployment("client", "infra", "istio.io/dataplane-mode: none"))),
    "behind a waypoint the pods see the waypoint": Predicted("ztunnel", CALLER, "reset", OF_PEER, base=BEHIND),
    "which is called by its Gateway's name": Predicted(
        "ztunnel", (source("principals: [cluster.local/ns/shop/sa/way]"),), "allowed", OF_PEER, base=BEHIND),
    "policies of a namespace are not its waypoint's": Predicted(
        "attachment", (paths("/"),), "reset", OF_PEER, base=BEHIND),
    "on all waypoints": Predicted(
        "attachment", (rule(to("GatewayClass/istio-waypoint") + DENY_ALL, "istio-system"),), "403", OF_PEER,
        base=BEHIND),
    "asks somebody at the waypoint": Predicted(
        "attachment", (rule(to("Service/web") + CUSTOM % "a"),), "depends", OF_PEER, base=BEHIND),
}  # fmt: skip
