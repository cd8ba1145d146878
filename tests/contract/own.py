"""Worlds of our own, each with one of the contradictions that were seen (docs/design/reach.md), and changes of them."""

from __future__ import annotations

import re

from tests.worlds import gateway, gateway_class, labelled, manifest, policy, route, service

ENVOY_GATEWAY = gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
OF_ISTIO = gateway_class("istio", "istio.io/gateway-controller")
EDGE = gateway()
ISTIO_EDGE = gateway(of_class="istio")
TO_CHECKOUT = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
OF_ALL = route(more=TO_CHECKOUT)
ROUTE = route(more=f"hostnames: [shop.example.com], {TO_CHECKOUT}")
SERVICE = service(more="selector: {app: checkout}")
STREAMS = (
    "[{name: tcp, port: 9000, protocol: TCP, allowedRoutes: {namespaces: {from: All}}}, "
    "{name: tls, port: 8443, protocol: TLS, tls: {mode: Passthrough}, allowedRoutes: {namespaces: {from: All}}}]"
)
JWT = "jwt: {providers: [{name: id, remoteJWKS: {uri: https://id.example.com/jwks}}]}"
SECURITY = ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy")
OF_NGINX, OF_ENVOY = "gateway.nginx.org/nginx-gateway-controller", "gateway.envoyproxy.io/gatewayclass-controller"
SIZE = ("gateway.nginx.org/v1alpha1", "ClientSettingsPolicy", "size")
TCP_ROUTE = route(
    "stream", kind="TCPRoute", parents="[{name: edge, namespace: infra, sectionName: tcp}]", more=TO_CHECKOUT
)
TLS_ROUTE = route(
    "session",
    kind="TLSRoute",
    parents="[{name: edge, namespace: infra, sectionName: tls}]",
    more=f"hostnames: [db.example.com], {TO_CHECKOUT}",
)


def deployment(name: str = "checkout", labels: str = "", annotations: str = "") -> str:
    """A Deployment in namespace shop, whose pods the Service of its name selects."""
    more = f", annotations: {{{annotations}}}" if annotations else ""
    pods = f"metadata: {{labels: {{app: {name}{labels and f', {labels}'}}}{more}}}"
    containers = "[{name: main, image: registry.example.com/main, ports: [{containerPort: 80}]}]"
    template = f"{pods}, spec: {{containers: {containers}}}"
    return manifest(
        "apps/v1",
        "Deployment",
        name,
        "shop",
        f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {{{template}}}}}",
    )


def authorization(name: str, spec: str, namespace: str = "infra") -> str:
    """An AuthorizationPolicy of Istio."""
    return manifest("security.istio.io/v1", "AuthorizationPolicy", name, namespace, f"spec: {{{spec}}}")


def of_kong(plugin: str, config: str, more: str = "", *, at: str = "HTTPRoute") -> tuple[str, ...]:
    """A route through Kong, it or its Service with an annotation that names a plugin; without one nothing is there."""
    named = "annotations: {konghq.com/plugins: office}"
    body = f"plugin: {plugin}\nconfig: {{{config}}}\n{more}"
    backend = manifest(
        "v1",
        "Service",
        "checkout",
        "shop",
        "spec: {ports: [{port: 80}], selector: {app: checkout}}",
        more=named if at == "Service" else "",
    )
    objects = (
        gateway_class("any", "konghq.com/kic-gateway-controller"),
        gateway(of_class="any"),
        route(more=TO_CHECKOUT, annotations="konghq.com/plugins: office" if at == "HTTPRoute" else ""),
        backend,
    )
    return (
        (*objects, manifest("configuration.konghq.com/v1", "KongPlugin", "office", "shop", body)) if plugin else objects
    )


OVER_TLS = (
    "[{name: http, port: 80, protocol: HTTPS, tls: {certificateRefs: [{name: a}]}, "
    "allowedRoutes: {namespaces: {from: All}}}]"
)
REGO = "rules: {authorization: {a: {opa: {rego: 'allow { input.x }'}}}}"
INGRESS = "{matchExpressions: [{key: 'reserved:ingress', operator: Exists}]}"


def egress(name: str, subject: str, entity: str = "cluster") -> tuple[str]:
    """A policy of Cilium by which some ends reach an entity alone."""
    spec = f"spec: {{endpointSelector: {subject}, egress: [{{toEntities: [{entity}]}}]}}"
    return (manifest("cilium.io/v2", "CiliumClusterwideNetworkPolicy", name, "", spec),)


def allow_list(networks: str, target: str = "HTTPRoute/checkout") -> str:
    """A SecurityPolicy of Envoy Gateway by which only clients from some networks are let in."""
    rules = f"rules: [{{action: Allow, principal: {{clientCIDRs: [{networks}]}}}}]"
    return policy(*SECURITY, "office", target, f"authorization: {{defaultAction: Deny, {rules}}}", "shop")


def release(values: str) -> str:
    """A HelmRelease in namespace shop of a chart that is not here."""
    chart = "chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository, name: own}}}"
    return manifest(
        "helm.toolkit.fluxcd.io/v2", "HelmRelease", "shop", "shop", f"spec: {{{chart}, values: {{{values}}}}}"
    )


CUT_OFF = manifest(
    "networking.k8s.io/v1", "NetworkPolicy", "closed", "shop", "spec: {podSelector: {}, policyTypes: [Ingress]}"
)
KGATEWAY = gateway_class("any", "kgateway.dev/kgateway")
TO_UNREAD = "rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: up}]}]"
UNREAD = manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "Backend",
    "up",
    "shop",
    "spec: {endpoints: [{fqdn: {hostname: up.example.com, port: 80}}]}",
)


def calls_and_requests(call: str, request: str) -> tuple[str, ...]:
    """A GRPCRoute and an HTTPRoute for one host, each with one match and a backend."""
    host = "hostnames: [shop.example.com]"
    return (
        route("calls", kind="GRPCRoute", more=f"{host}, rules: [{{matches: [{call}], {TO_CHECKOUT[9:-2]}}}]"),
        route("web", more=f"{host}, rules: [{{matches: [{request}], {TO_CHECKOUT[9:-2]}}}]"),
        SERVICE,
    )


MESH_ROUTE = route(parents="[{group: '', kind: Service, name: web, namespace: producer}]", more=TO_CHECKOUT)
SHOP = (ENVOY_GATEWAY, EDGE, ROUTE, SERVICE, deployment(), labelled("shop"), labelled("infra"))
ISTIO = (OF_ISTIO, ISTIO_EDGE, ROUTE, SERVICE, deployment(), labelled("shop"), labelled("infra"))
TARGET = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
LOGIN = manifest(
    "security.istio.io/v1",
    "RequestAuthentication",
    "login",
    "infra",
    f"spec: {{{TARGET}, jwtRules: [{{issuer: id, jwksUri: 'https://id.example.com/jwks'}}]}}",
)
INJECTED = labelled("shop", "{istio-injection: enabled}")
HEADERS = (
    "rules: [{matches: [{headers: [{type: Prefix, name: x-tier, value: gold}]}], "
    "backendRefs: [{name: checkout, port: 80}]}, {backendRefs: [{name: other, port: 80}]}]"
)
CERTIFIED = gateway(
    listeners="[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: own}]}, "
    "allowedRoutes: {namespaces: {from: All}}}]",
    more="tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}}}",
)
UNCERTIFIED = re.sub(r"tls: \{frontend: .*", "}", CERTIFIED).replace("Name: any", "Name: istio").replace(", }", "}")
TOKEN = authorization(
    "token", f"{TARGET}, action: ALLOW, rules: [{{from: [{{source: {{requestPrincipals: ['*']}}}}]}}]"
)
PEM = '"-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\\n"'
CERTIFICATES = (manifest("v1", "ConfigMap", "ca", "infra", f"data: {{ca.crt: {PEM}}}"),)


def to_pods(service: str = SERVICE, policy: str = "{matchLabels: {app: checkout}}") -> tuple[str, ...]:
    """A shop of two workloads, one of which a network policy isolates, with a Service."""
    spec = f"spec: {{podSelector: {policy}, policyTypes: [Ingress]}}"
    cut_off = manifest("networking.k8s.io/v1", "NetworkPolicy", "closed", "shop", spec)
    pods = deployment(labels="tier: web"), deployment("other", labels="tier: web")
    return ENVOY_GATEWAY, EDGE, ROUTE, *pods, labelled("shop"), labelled("infra"), cut_off, service


def without_pods(world: tuple[str, ...]) -> tuple[str, ...]:
    """A world whose workloads come from somewhere else."""
    return tuple(each for each in world if "kind: Deployment" not in each)


ENDPOINTS = (
    manifest("discovery.k8s.io/v1", "EndpointSlice", "checkout-1", "shop", "addressType: IPv4")
    .replace("namespace: shop", "namespace: shop, labels: {kubernetes.io/service-name: checkout}")
    .rstrip()
    + "\nports: [{name: http, port: 80}]\nendpoints: [{addresses: [192.0.2.7]}]\n"
)

AFTER: dict[str, tuple[str, ...]] = {
    "has an empty selector": (service(more="selector: {}"),),
    "has no selector": (service(),),
    "selects nobody": (service(more="selector: {app: none}"),),
    "selects others, too": (service(more="selector: {tier: web}"),),
    "selects others": (service(more="selector: {app: other}"),),
    "is headless": (service(more="selector: {app: checkout}, clusterIP: None"),),
    "stands for a host": (service(more="type: ExternalName, externalName: db.example.com"),),
    "stands for addresses that somebody wrote": (f"{service()}---{ENDPOINTS}",),
    "selects them under another label": (service(more="selector: {app: checkout, tier: web}"),),
    "has them opened": (SERVICE, "{matchLabels: {app: other}}"),
}
"""What becomes of a Service: itself, and whom the network policy isolates."""

OF_ALL_TIERS = manifest(
    "policy.networking.k8s.io/v1alpha2",
    "ClusterNetworkPolicy",
    "deny",
    body="spec: {tier: Admin, priority: 1, subject: {namespaces: {}}, "
    "ingress: [{name: 1, action: Deny, from: [{namespaces: {}}]}]}",
)
"""Refused: the name of a rule is text."""
FOR_CLUSTERS = (
    manifest(
        "policy.open-cluster-management.io/v1",
        "Policy",
        "etcd",
        "policies",
        "spec: {remediationAction: enforce, policy-templates: []}",
    ),
    manifest(
        "policy.open-cluster-management.io/v1",
        "PlacementBinding",
        "etcd",
        "policies",
        "placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}\n"
        "subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: etcd}]",
    ),
    manifest("cluster.open-cluster-management.io/v1beta1", "Placement", "all", "policies", "spec: {}"),
    manifest(
        "cluster.open-cluster-management.io/v1beta2",
        "ManagedClusterSetBinding",
        "global",
        "policies",
        "spec: {clusterSet: global}",
    ),
    manifest("cluster.open-cluster-management.io/v1", "ManagedCluster", "eu", body="spec: {hubAcceptsClient: true}"),
)
"""Refused: the policy does not say whether it is disabled."""


def at_listener(name: str) -> str:
    """The parents of a route that stands at one listener of the Gateway."""
    return f"[{{name: edge, namespace: infra, sectionName: {name}}}]"


def at_path(path: str) -> str:
    """The one rule of a route, for the requests below a path."""
    return f"rules: [{{matches: [{{path: {{type: PathPrefix, value: {path}}}}}], {TO_CHECKOUT[9:-2]}}}]"


def at_closed(
    listeners: str,
    of_class: str = ENVOY_GATEWAY,
    kind: tuple[str, str] = SECURITY,
    spec: str = JWT,
    more: str = "",
) -> tuple[str, ...]:
    """A shop with a policy at its Gateway, at each of its listeners, and at a route of each."""
    names = re.findall(r"\{name: (\w+), port", listeners)
    field = "targetRef" if kind[0].startswith("kuadrant.io/") else "targetRefs"
    attached = (
        each
        for name in names
        for each in (
            route(
                f"to-{name}",
                parents=at_listener(name),
                more=f"hostnames: [shop.example.com], {TO_CHECKOUT}",
            ),
            policy(*kind, f"at-{name}", f"Gateway/edge#{name}", spec, "infra", field=field),
            policy(*kind, f"of-{name}", f"HTTPRoute/to-{name}", spec, "shop", field=field),
        )
    )
    everywhere = policy(*kind, "everywhere", "Gateway/edge", spec, "infra", field=field)
    of_all = policy(
        "gateway.envoyproxy.io/v1alpha1",
        "EnvoyPatchPolicy",
        "patched",
        "GatewayClass/any",
        "type: JSONPatch, jsonPatches: [{name: a, type: b, operation: {op: remove, path: /a}}]",
        "infra",
        field="targetRef",
    )
    return of_class, gateway(listeners=listeners, more=more), *attached, SERVICE, everywhere, of_all


OWN_CERTIFICATE = "tls: {certificateRefs: [{name: own}]}, "
FROM_ALL = "allowedRoutes: {namespaces: {from: All}}"
WIDE = f"{{name: wide, port: 80, protocol: HTTP, {FROM_ALL}}}"
NARROW = f"{{name: narrow, port: 80, protocol: HTTP, hostname: '*.example.com', {FROM_ALL}}}"
AT_WIDE = route(parents=at_listener("wide"), more=f"hostnames: [shop.example.com], {TO_CHECKOUT}")
MERGED = (
    gateway_class(
        "any", OF_ENVOY, "parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: one, namespace: infra}"
    ),
    manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "one", "infra", "spec: {mergeGateways: true}"),
)


def rival(host: str, listener: str = "narrow") -> str:
    """Return a route for one host at a listener beside the one of `AT_WIDE`."""
    return route("rival", parents=at_listener(listener), more=f"hostnames: [{host}], {TO_CHECKOUT}")


CLOSED = {
    "without a usable certificate": f"""[
        {{name: open, port: 80, protocol: HTTP, {FROM_ALL}}},
        {{name: shut, port: 443, protocol: HTTPS, {FROM_ALL},
          tls: {{certificateRefs: [{{kind: ConfigMap, name: own}}]}}}}]""",
    "with a certificate that is not here": f"""[
        {{name: tls, port: 443, protocol: HTTPS, {FROM_ALL}, tls: {{certificateRefs: [{{name: own}}]}}}}]""",
    "with a certificate that nobody grants": f"""[
        {{name: open, port: 80, protocol: HTTP, {FROM_ALL}}},
        {{name: shut, port: 443, protocol: HTTPS, {FROM_ALL},
          tls: {{certificateRefs: [{{namespace: keys, name: own}}]}}}}]""",
    "in conflict": f"""[
        {{name: one, port: 80, protocol: HTTP, {FROM_ALL}}}, {{name: two, port: 80, protocol: HTTP, {FROM_ALL}}},
        {{name: open, port: 81, protocol: HTTP, {FROM_ALL}}}]""",
    "of two protocols on a port": f"""[
        {{name: one, port: 80, protocol: HTTP, {FROM_ALL}}}, {{name: two, port: 80, protocol: TCP, {FROM_ALL}}}]""",
    "of an unknown protocol": f"""[
        {{name: open, port: 80, protocol: HTTP, {FROM_ALL}}}, {{name: shut, port: 81, protocol: SMTP, {FROM_ALL}}}]""",
}
"""Listeners that serve nothing, and one that nothing proves to be closed."""
NARROWER = {
    "one of which is for the hosts of a route": f"""[
        {{name: one, port: 80, protocol: HTTP, {FROM_ALL}}},
        {{name: two, port: 80, protocol: HTTP, hostname: shop.example.com, {FROM_ALL}}}]""",
    "one of which is for the domain of a route": f"""[
        {{name: one, port: 80, protocol: HTTP, hostname: '*.example.com', {FROM_ALL}}},
        {{name: two, port: 80, protocol: HTTP, {FROM_ALL}}}]""",
    "one of which is for a wider domain": f"""[
        {{name: one, port: 80, protocol: HTTP, hostname: '*.example.com', {FROM_ALL}}},
        {{name: two, port: 80, protocol: HTTP, hostname: '*.com', {FROM_ALL}}}]""",
    "one of which is for the hosts of a route, over TLS": f"""[
        {{name: one, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{{name: own}}]}}, {FROM_ALL}}},
        {{name: two, port: 443, protocol: HTTPS, hostname: shop.example.com, tls: {{certificateRefs: [{{name: own}}]}},
          {FROM_ALL}}}]""",
    "one of which is for hosts of nobody here": f"""[
        {{name: one, port: 80, protocol: HTTP, {FROM_ALL}}},
        {{name: two, port: 80, protocol: HTTP, hostname: a.shop.example.com, {FROM_ALL}}}]""",
    "one of which is for the hosts of a route, on another port": f"""[
        {{name: one, port: 80, protocol: HTTP, {FROM_ALL}}},
        {{name: two, port: 81, protocol: HTTP, hostname: shop.example.com, {FROM_ALL}}}]""",
}
"""Listeners of one port: of those for a host the one for the narrowest hosts takes its requests."""
LIMIT = ("kuadrant.io/v1", "RateLimitPolicy")
LIMITS = "limits: {all: {rates: [{limit: 9, window: 1m}]}}"
KUADRANT = ("kuadrant.io/v1", "AuthPolicy")
OF_KUADRANT = "rules: {authentication: {id: {jwt: {issuerUrl: 'https://id.example.com'}}}}"


OTHER = (
    route("other", more=f"hostnames: [b.example.com], {TO_CHECKOUT.replace('checkout', 'other')}"),
    service("other"),
)
"""A route for other hosts, with a backend of its own."""
NO_FILTER = {
    "DNSPolicy": ("kuadrant.io/v1", "providerRefs: [{name: dns}]"),
    "TLSPolicy": ("kuadrant.io/v1", "issuerRef: {group: cert-manager.io, kind: Issuer, name: ca}"),
    "OIDCPolicy": ("extensions.kuadrant.io/v1alpha1", "provider: {issuerURL: 'https://id.example.com', clientID: web}"),
    "PlanPolicy": ("extensions.kuadrant.io/v1alpha1", "plans: [{tier: gold, predicate: 'true', limits: {daily: 9}}]"),
    "TelemetryPolicy": ("extensions.kuadrant.io/v1alpha1", "metrics: {default: {labels: {model: request.path}}}"),
    "ThreatPolicy": ("extensions.kuadrant.io/v1alpha1", "threshold: 5"),
}
"""Kinds of Kuadrant that are not among what its filter chooses for a request, with settings."""
AUTH_POLICY = policy(*KUADRANT, "id", "HTTPRoute/checkout", OF_KUADRANT, "shop", field="targetRef")


SERVER = manifest(
    "policy.linkerd.io/v1beta3",
    "Server",
    "web",
    "shop",
    "spec: {podSelector: {matchLabels: {app: checkout}}, port: 80, proxyProtocol: HTTP/1}",
)
SERVER_ROUTE = manifest(
    "policy.linkerd.io/v1beta3",
    "HTTPRoute",
    "api",
    "shop",
    "spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], "
    "rules: [{matches: [{path: {type: PathPrefix, value: /api}}]}]}",
)


def linkerd_policy(name: str, target: str, authentication: str) -> str:
    """An AuthorizationPolicy of Linkerd in namespace shop."""
    kinds = [dict(zip(("kind", "name"), each.split("/"), strict=True)) for each in (target, authentication)]
    refs = [f"{{group: policy.linkerd.io, kind: {each['kind']}, name: {each['name']}}}" for each in kinds]
    spec = f"spec: {{targetRef: {refs[0]}, requiredAuthenticationRefs: [{refs[1]}]}}"
    return manifest("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", name, "shop", spec)


def at_all(world: tuple[str, ...]) -> tuple[str, ...]:
    """A world whose routes name no listener: they stand at all that are for their hosts."""
    return tuple(re.sub(r", sectionName: \w+\}\]", "}]", each) if "kind: HTTPRoute" in each else each for each in world)


FROM_INSIDE = "spec: {endpointSelector: {}, ingress: [{fromEntities: [cluster]}]}"
WORLDS: dict[str, tuple[str, ...]] = {
    "policies whose metadata no API server takes": (
        *ISTIO[:5],
        authorization("n", "{}", "shop"),
        authorization("'n'", "{}", "shop").replace("namespace: shop", "namespace: shop, labels: {app: 1}"),
        manifest("cilium.io/v2", "CiliumNetworkPolicy", "n", "shop", FROM_INSIDE),
        manifest("networking.k8s.io/v1", "NetworkPolicy", "off", "shop", "spec: {podSelector: {}}"),
    ),
    **{
        f"routes of two kinds and one name, {which or 'of one age'}: {controller}": (
            gateway_class("any", controller),
            EDGE,
            *(
                route(
                    kind=kind,
                    more="rules: [{backendRefs: [{name: checkout, port: 80}]}, "
                    "{backendRefs: [{name: other, port: 80}]}]",
                    created=f"2026-01-0{1 + (kind != which.split(' ')[0])}T00:00:00Z" if which else "",
                )
                for kind in ("HTTPRoute", "GRPCRoute")
            ),
            SERVICE,
            service("other"),
        )
        for controller in (
            "gateway.nginx.org/nginx-gateway-controller",
            "gateway.envoyproxy.io/gatewayclass-controller",
            "istio.io/gateway-controller",
            "traefik.io/gateway-controller",
            "kgateway.dev/kgateway",
            "example.net/unknown",
        )
        for which in ("", "HTTPRoute first", "GRPCRoute first")
    },
    "two rules take the same at a port of a Gateway that was not seen": (
        route(
            parents="[{name: elsewhere, port: 80}]",
            more="rules: [{backendRefs: [{name: checkout, port: 80}]}, {backendRefs: [{name: checkout, port: 80}]}]",
        ),
        service(),
    ),
    **{
        f"a policy at a listener at which another route takes all requests, of {controller}": (
            gateway_class("any", controller),
            gateway(
                of_class="any",
                listeners="[{name: one, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
                "{name: two, port: 80, protocol: HTTP, hostname: shop.example.com, "
                "allowedRoutes: {namespaces: {from: All}}}]",
            ),
            route(
                "a-first",
                parents="[{name: edge, namespace: infra, sectionName: two}]",
                more=f"hostnames: [shop.example.com], {TO_CHECKOUT}",
            ),
            route(more=TO_CHECKOUT),
            service(),
            policy(*SECURITY, "login", "Gateway/edge", JWT, "infra").replace(
                "name: edge", "name: edge, sectionName: two"
            ),
        )
        for controller in ("gateway.envoyproxy.io/gatewayclass-controller", "example.net/controller")
    },
    **{
        f"a controller that may not read a policy stands before {what}": (
            gateway_class("any", "example.net/gateway-controller"),
            gateway(of_class="any"),
            route(more=f"rules: [{{{match}backendRefs: [{{name: checkout, port: 80}}]}}]"),
            service(),
            policy(*SECURITY, "asks", "HTTPRoute/checkout", spec, "shop"),
        )
        for what, match, spec in (
            ("changes from other sites", "matches: [{method: DELETE}], ", "csrf: {}"),
            ("clients of other networks", "", "authorization: {defaultAction: Deny, rules: []}"),
        )
    },
    "an authoriser is asked by a protocol that a later release may take": (
        gateway_class("any", "example.net/gateway-controller"),
        gateway(of_class="any"),
        route(
            more="rules: [{filters: [{type: ExternalAuth, externalAuth: {protocol: HTTPS, http: {}, backendRef: "
            "{name: checkout, port: 80}}}], backendRefs: [{name: checkout, port: 80}]}]"
        ),
        service(),
    ),
    "a workload behind a route has a policy of its own beside the Gateway's": (
        *ISTIO[:5],
        authorization("opa", f"{TARGET}, action: CUSTOM, provider: {{name: opa}}, rules: [{{}}]"),
        authorization("health", "selector: {matchLabels: {app: checkout}}, rules: [{}]", "shop"),
    ),
    **{f"policies at listeners {what}": at_closed(listeners) for what, listeners in CLOSED.items()},
    **{
        f"policies of {kind[1]} at listeners {what}": at_closed(listeners, of_class, kind, spec)
        for what, listeners in (CLOSED | NARROWER).items()
        for of_class, kind, spec in (
            (KGATEWAY, ("gateway.kgateway.dev/v1alpha1", "TrafficPolicy"), "timeouts: {request: 1s}"),
            (gateway_class("any", "istio.io/gateway-controller"), KUADRANT, OF_KUADRANT),
        )
    },
    **{
        f"policies of {kind[1]} at listeners {what}, with routes of all": at_all(
            at_closed(listeners, of_class, kind, spec)
        )
        for what, listeners in NARROWER.items()
        for of_class, kind, spec in (
            (ENVOY_GATEWAY, SECURITY, JWT),
            (gateway_class("any", "istio.io/gateway-controller"), KUADRANT, OF_KUADRANT),
        )
    },
    **{
        f"policies of {kind[1]} at listeners {what}, and none at their Gateway": at_closed(
            listeners, gateway_class("any", "istio.io/gateway-controller"), kind, spec
        )[:-2]
        for what, listeners in NARROWER.items()
        for kind, spec in ((LIMIT, LIMITS), (KUADRANT, OF_KUADRANT))
    },
    **{
        f"rules with one match {where}, of {controller}": (
            gateway_class("any", controller),
            EDGE,
            SERVICE,
            service("other"),
            *routes,
        )
        for controller in ("io.cilium/gateway-controller", "istio.io/gateway-controller")
        for where, routes in {
            "in one route": (
                route(more=f"rules: [{TO_CHECKOUT[8:-1]}, {{backendRefs: [{{name: other, port: 80}}]}}]"),
            ),
            "in two routes": (route(more=TO_CHECKOUT), route("next", more=TO_CHECKOUT.replace("checkout", "other"))),
            "in a route for calls": (
                route(
                    kind="GRPCRoute",
                    more=f"rules: [{TO_CHECKOUT[8:-1]}, {{backendRefs: [{{name: other, port: 80}}]}}]",
                ),
            ),
        }.items()
    },
    **{
        f"the limit of a listener in place of that of its Gateway, {what}": (
            gateway_class("any", "istio.io/gateway-controller"),
            gateway(listeners=listeners),
            ROUTE,
            SERVICE,
            policy(*LIMIT, "all", "Gateway/edge", f"defaults: {{{LIMITS}}}", "infra", field="targetRef"),
            policy(*LIMIT, "two", "Gateway/edge#two", f"overrides: {{{LIMITS}}}", "infra", field="targetRef"),
            *OTHER,
            policy(*LIMIT, "own", "HTTPRoute/other", LIMITS, "shop", field="targetRef"),
        )
        for what, listeners in NARROWER.items()
    },
    **{
        f"{kind[1]} of a Gateway gives way to that of route {target} of two, with listeners {what}": (
            gateway_class("any", "istio.io/gateway-controller"),
            gateway(listeners=listeners),
            ROUTE,
            SERVICE,
            *OTHER,
            policy(*kind, "all", "Gateway/edge", f"defaults: {{{spec}}}", "infra", field="targetRef"),
            policy(*kind, "own", f"HTTPRoute/{target}", spec, "shop", field="targetRef"),
        )
        for what, listeners in NARROWER.items()
        for target in ("checkout", "other")
        for kind, spec in (
            (LIMIT, LIMITS),
            (KUADRANT, OF_KUADRANT),
            (("kuadrant.io/v1alpha1", "TokenRateLimitPolicy"), LIMITS),
        )
    },
    **{
        f"{kind[1]} of a route for narrower hosts than those of another, at listeners {what}, of {controller}": (
            gateway_class("any", controller),
            gateway(listeners=listeners),
            route(parents=at_listener("two"), more=f"hostnames: [shop.example.com], {TO_CHECKOUT}"),
            route("wide", parents=at_listener("one"), more=TO_CHECKOUT),
            SERVICE,
            policy(*kind, "own", "HTTPRoute/checkout", spec, "shop", field="targetRef"),
        )
        for kind, spec in ((LIMIT, LIMITS), (KUADRANT, OF_KUADRANT))
        for what, listeners in NARROWER.items()
        for controller in ("istio.io/gateway-controller", "gateway.envoyproxy.io/gatewayclass-controller")
    },
    **{
        f"{what}, of {controller}": (
            gateway_class("any", controller),
            gateway(
                listeners=f"[{{name: secure, port: 443, {listener}, allowedRoutes: {{namespaces: {{from: All}}}}}}]"
            ),
            ROUTE,
            SERVICE,
            policy(*SECURITY, "login", "HTTPRoute/checkout", JWT, "shop"),
        )
        for what, listener in (
            ("a listener of HTTPS without tls", "protocol: HTTPS"),
            ("a listener of HTTPS with options alone", "protocol: HTTPS, tls: {options: {example.com/key: own}}"),
        )
        for controller in (
            *("gateway.envoyproxy.io/gatewayclass-controller", "istio.io/gateway-controller", "kgateway.dev/kgateway"),
            *("traefik.io/gateway-controller", "networking.gke.io/gateway", "example.net/unknown"),
        )
    },
    **{
        f"{kind[1]} of a route that its filter makes act on {what} of another one": (
            gateway_class("any", "istio.io/gateway-controller"),
            gateway(
                listeners="[{name: one, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
                "{name: two, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
            ),
            route(parents=at_listener("two"), more=f"hostnames: [shop.example.com], {at_path(own)}"),
            route("other", parents=at_listener("one"), more=f"hostnames: [shop.example.com], {at_path('/')}"),
            SERVICE,
            policy(*kind, "own", "HTTPRoute/checkout", spec, "shop", field="targetRef"),
        )
        for kind, spec in ((LIMIT, LIMITS), (KUADRANT, OF_KUADRANT))
        for what, own in (("some requests", "/pay"), ("all requests", "/"))
    },
    "a set of actions for a host that a narrower listener keeps from its route": (
        gateway_class("any", "istio.io/gateway-controller"),
        gateway(
            listeners="[{name: one, port: 80, protocol: HTTP, hostname: '*.example.com', "
            "allowedRoutes: {namespaces: {from: All}}}, "
            "{name: two, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
        ),
        route(parents=at_listener("two"), more=f"hostnames: [shop.example.com], {TO_CHECKOUT}"),
        route("wide", parents=at_listener("one"), more=TO_CHECKOUT),
        SERVICE,
        policy(*KUADRANT, "own", "HTTPRoute/checkout", OF_KUADRANT, "shop", field="targetRef"),
        policy(*KUADRANT, "all", "Gateway/edge", OF_KUADRANT, "infra", field="targetRef"),
    ),
    **{
        f"{kind[1]} of a route that comes in through the Gateway of another controller alone: its own {what}": (
            OF_ISTIO,
            manifest(
                *("gateway.networking.k8s.io/v1", "Gateway", "other", "infra"),
                f"spec: {{gatewayClassName: istio, listeners: [{{name: http, port: 81, protocol: HTTP, {FROM_ALL}}}]}}",
            ),
            of_class,
            gateway(listeners=listeners),
            route(
                parents="[{name: edge, namespace: infra}, {name: other, namespace: infra}]",
                more=f"hostnames: [shop.example.com], {TO_CHECKOUT}",
            ),
            SERVICE,
            policy(*kind, "own", "HTTPRoute/checkout", spec, "shop"),
        )
        for what, of_class, listeners in (
            ("has no class", OF_ISTIO, f"[{{name: http, port: 80, protocol: HTTP, {FROM_ALL}}}]"),
            ("has no open listener", "", CLOSED["of two protocols on a port"]),
            ("gets no requests for its hosts", "", NARROWER["one of which is for the hosts of a route"]),
        )
        for by, kind, spec in (
            (ENVOY_GATEWAY, SECURITY, JWT),
            (KGATEWAY, ("gateway.kgateway.dev/v1alpha1", "TrafficPolicy"), "timeouts: {request: 1s}"),
        )
        for of_class in (of_class or by,)
    },
    **{
        f"a policy at the pods behind a route for whatever Gateway is the default, {what}": (
            *meshed,
            gateway("other"),
            deployment(),
            SERVICE,
            route(more=f"useDefaultGateways: All, hostnames: [shop.example.com], {TO_CHECKOUT}"),
            authorization(
                "at-pods", "action: DENY, rules: [{when: [{key: destination.port, values: ['8080']}]}]", "shop"
            ),
        )
        for what, meshed in (
            ("perhaps with proxies", ()),
            ("with sidecars", (labelled("shop", "{istio-injection: enabled}"),)),
            ("in an ambient mesh", (labelled("shop", "{istio.io/dataplane-mode: ambient}"),)),
        )
    },
    **{
        f"{kind[1]} of a rule whose path another one's begins with, for {what}": (
            OF_ISTIO,
            ISTIO_EDGE,
            route(
                more="hostnames: [shop.example.com], rules: ["
                f"{{name: pay, matches: [{{path: {{type: PathPrefix, value: /pay}}}}], {TO_CHECKOUT[9:-2]}}}, "
                f"{{name: more, matches: [{{path: {{type: PathPrefix, value: {other}}}}}], {TO_CHECKOUT[9:-2]}}}]"
            ),
            SERVICE,
            policy(*kind, "own", "HTTPRoute/checkout#pay", spec, "shop", field="targetRef"),
        )
        for kind, spec in ((LIMIT, LIMITS), (KUADRANT, OF_KUADRANT))
        for what, other in (("some", "/"), ("all", "/pay-later"), ("none", "/shop"))
    },
    "a route that is perhaps attached": (
        ENVOY_GATEWAY,
        gateway(
            listeners="[{name: http, port: 80, protocol: HTTP, "
            "allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {edge: 'yes'}}}}}]"
        ),
        ROUTE,
        SERVICE,
    ),
    "a limit of a route for narrower hosts than those of another at its listener": (
        OF_ISTIO,
        ISTIO_EDGE,
        ROUTE,
        route("wide", more=TO_CHECKOUT),
        SERVICE,
        policy(*LIMIT, "own", "HTTPRoute/checkout", LIMITS, "shop", field="targetRef"),
    ),
    **{
        f"{kind} at a {target} beside a filter that does not ask for it": (
            OF_ISTIO,
            CERTIFIED.replace("Name: any", "Name: istio").replace(
                "port: 443,", "port: 443, hostname: '*.example.com',"
            ),
            ROUTE,
            SERVICE,
            AUTH_POLICY,
            policy(api_version, kind, "beside", target, spec, "infra", field="targetRef"),
        )
        for kind, (api_version, spec) in NO_FILTER.items()
        for target in ("Gateway/edge", "Gateway/edge#https")
    },
    **{f"policies of SecurityPolicy at listeners {what}": at_closed(listeners) for what, listeners in NARROWER.items()},
    **{
        f"the timeout of a listener in place of that of its Gateway, {what}": (
            gateway_class("any", "agentgateway.dev/agentgateway"),
            gateway(listeners=listeners),
            ROUTE,
            SERVICE,
            *(
                policy(
                    "agentgateway.dev/v1alpha1",
                    "AgentgatewayPolicy",
                    name,
                    target,
                    "traffic: {timeouts: {request: 5s}}",
                    "infra",
                )
                for name, target in (("all", "Gateway/edge"), ("two", "Gateway/edge#two"))
            ),
        )
        for what, listeners in NARROWER.items()
    },
    **{
        f"a policy of Linkerd at a {target}, without a Service": (
            deployment(annotations="linkerd.io/inject: enabled"),
            SERVER,
            SERVER_ROUTE,
            manifest(
                "policy.linkerd.io/v1alpha1",
                "NetworkAuthentication",
                "all",
                "shop",
                "spec: {networks: [{cidr: 0.0.0.0/0}]}",
            ),
            linkerd_policy("own", target, "NetworkAuthentication/all"),
        )
        for target in ("Server/web", "HTTPRoute/api")
    },
    "policies at a Gateway whose addresses nobody takes": at_closed(
        CLOSED["in conflict"], more="addresses: [{type: example.net/none, value: here}]"
    ),
    "a network policy cuts the backend off": (*SHOP, CUT_OFF),
    "nothing says what stands behind a Service beside network policies": to_pods(service(more="selector: {}")),
    "a network policy cuts off pods that nobody saw": without_pods(to_pods()),
    "some pods of a Service are cut off": to_pods(service(more="selector: {tier: web}")),
    "a client certificate is a login": (
        ENVOY_GATEWAY,
        CERTIFIED,
        *CERTIFICATES,
        *(
            route(
                name, parents="[{name: edge, namespace: infra}]", more=f"hostnames: [{name}.example.com], {TO_CHECKOUT}"
            )
            for name in ("one", "two", "three")
        ),
        SERVICE,
        policy(*SECURITY, "one", "HTTPRoute/one", JWT, "shop"),
        policy(*SECURITY, "two", "HTTPRoute/two", JWT, "shop"),
    ),
    "names that no API server takes": (
        ENVOY_GATEWAY,
        EDGE,
        route("Admin", more=f"hostnames: [admin.example.com], {TO_CHECKOUT}"),
        route("n", more=f"hostnames: [n.example.com], {TO_CHECKOUT}"),
        ROUTE,
        SERVICE,
        policy(*SECURITY, "Login", "HTTPRoute/checkout", JWT, "shop"),
        policy(*SECURITY, "login", "HTTPRoute/Admin", JWT, "shop"),
    ),
    "policies of a route come to pods with a policy of their own": (
        ENVOY_GATEWAY,
        EDGE,
        ROUTE,
        SERVICE,
        deployment(),
        INJECTED,
        labelled("infra"),
        policy(*SECURITY, "login", "HTTPRoute/checkout", JWT, "shop"),
        authorization(
            "mesh",
            "selector: {matchLabels: {app: checkout}}, rules: [{from: [{source: {namespaces: [infra]}}]}]",
            "shop",
        ),
    ),
    "the standard login of Istio": (
        *ISTIO,
        LOGIN,
        authorization(
            "token", f"{TARGET}, action: ALLOW, rules: [{{from: [{{source: {{requestPrincipals: ['*']}}}}]}}]"
        ),
    ),
    "external authorization of Istio": (
        *ISTIO,
        authorization("opa", f"{TARGET}, action: CUSTOM, provider: {{name: opa}}, rules: [{{}}]"),
    ),
    "a policy that the API server refuses": (
        *SHOP,
        policy(
            *SECURITY,
            "nameless",
            "HTTPRoute/checkout",
            "jwt: {providers: [{remoteJWKS: {uri: https://id.example.com/jwks}}]}",
            "shop",
        ),
    ),
    **{
        f"a policy with {what} that its release has not": (
            *SHOP,
            policy(*SECURITY, "odd", "HTTPRoute/checkout", spec, "shop"),
        )
        for what, spec in {
            "a field in place of one": "jwt: {claims: [{name: groups}]}",
            "a field beside a value of another type": "jwt: {claims: [], providers: 3}",
            "another field that is misspelt": "jwt: {provider: id, claims: ['${GROUP}']}",
        }.items()
    },
    "a network policy of the tiers that the API server refuses": (*SHOP, OF_ALL_TIERS),
    "a policy for clusters that the API server refuses": FOR_CLUSTERS,
    "an external authorizer that the API server refuses": (
        *SHOP,
        policy(*SECURITY, "odd", "HTTPRoute/checkout", "extAuth: {http: {backendRefs: 7}}", "shop"),
    ),
    "addresses of clients on TCP": (
        ENVOY_GATEWAY,
        gateway(listeners=STREAMS),
        TCP_ROUTE,
        SERVICE,
        allow_list("10.0.0.0/8", "TCPRoute/stream"),
    ),
    "addresses of clients on TCP and TLS of Istio": (
        OF_ISTIO,
        gateway(of_class="istio", listeners=STREAMS),
        TCP_ROUTE,
        TLS_ROUTE,
        SERVICE,
        authorization(
            "office", f"{TARGET}, action: ALLOW, rules: [{{from: [{{source: {{ipBlocks: [10.0.0.0/8]}}}}]}}]"
        ),
    ),
    "a header match of an unknown type": (
        ENVOY_GATEWAY,
        EDGE,
        route(more=f"hostnames: [shop.example.com], {HEADERS}"),
        SERVICE,
        service("other"),
    ),
    "a rule all of whose requests another one takes": (
        ENVOY_GATEWAY,
        EDGE,
        route(
            more="hostnames: [shop.example.com], rules: ["
            "{matches: [{headers: [{name: x-tier, type: RegularExpression, value: 'g.*'}]}], "
            "backendRefs: [{name: checkout, port: 80}]}, "
            "{matches: [{headers: [{name: x-tier, value: gold}]}], backendRefs: [{name: other, port: 80}]}]"
        ),
        SERVICE,
        service("other"),
    ),
    "a proxy does not tell calls from other requests": (
        ENVOY_GATEWAY,
        EDGE,
        *calls_and_requests("{}", "{}"),
    ),
    "calls and requests are ranked apart on one listener": (
        OF_ISTIO,
        ISTIO_EDGE,
        *calls_and_requests("{method: {type: RegularExpression, method: Get}}", "{}, {headers: [{name: a, value: b}]}"),
    ),
    "a backend of a kind that is not read, of a route one of whose parents is not there": (
        KGATEWAY,
        EDGE,
        route(parents="[{name: edge, namespace: infra}, {name: gone, namespace: infra}]", more=TO_UNREAD),
        UNREAD,
    ),
    "an injected pod in an ambient namespace": (
        labelled("shop", "{istio.io/dataplane-mode: ambient}"),
        deployment(labels="sidecar.istio.io/inject: 'true'"),
        SERVICE,
        authorization("some", "rules: [{}]", "shop"),
        CUT_OFF,
    ),
    "policies of an Istio Gateway whose class is here": (
        *ISTIO,
        authorization("own", f"{TARGET}, action: DENY, rules: [{{to: [{{operation: {{paths: [/admin]}}}}]}}]"),
    ),
    **{
        f"a policy of Istio for a namespace whose Gateway {what}": (
            OF_ISTIO,
            gateway(of_class="istio", listeners=listeners),
            ROUTE,
            SERVICE,
            deployment(),
            labelled("infra"),
            authorization("nobody", ""),
            authorization("no-admin", f"{TARGET}, action: DENY, rules: [{{to: [{{operation: {{paths: [/admin]}}}}]}}]"),
        )
        for what, listeners in {
            "has no certificate": f"[{{name: https, port: 443, protocol: HTTPS, {FROM_ALL}}}]",
            "lets no route in": "[{name: http, port: 80, protocol: HTTP}]",
            "has a listener of another host for the route": f"[{{name: http, port: 80, protocol: HTTP, {FROM_ALL}, "
            "hostname: other.example.com}]",
        }.items()
    },
    **{
        f"a policy of Istio for a Service behind a waypoint {what}": (
            *gateways,
            manifest("v1", "Namespace", "shop", more="labels: {istio.io/use-waypoint: waypoint}"),
            ROUTE,
            SERVICE,
            authorization(
                "no-admin",
                "targetRefs: [{kind: Service, name: checkout}], action: DENY, "
                "rules: [{to: [{operation: {paths: [/admin]}}]}]",
                "shop",
            ),
        )
        for what, gateways in {
            "without a usable listener": (EDGE, gateway("waypoint", "shop", of_class="istio-waypoint")),
            "to which no Gateway sends requests": (
                gateway_class("istio-waypoint", "istio.io/mesh-controller"),
                gateway(
                    listeners=f"[{{name: shut, port: 443, protocol: HTTPS, {FROM_ALL}, "
                    "tls: {certificateRefs: [{kind: ConfigMap, name: own}]}}]"
                ),
                gateway("waypoint", "shop", "[{name: mesh, port: 15008, protocol: HBONE}]", of_class="istio-waypoint"),
            ),
        }.items()
    },
    **{
        f"Gateways that share a proxy, {what}": (
            *MERGED,
            gateway(listeners=one),
            gateway("second", listeners=other),
            ROUTE,
            SERVICE,
            policy(*SECURITY, "own", "HTTPRoute/checkout", JWT, "shop"),
        )
        for what, one, other in (
            (
                "one for fewer hosts",
                f"[{WIDE}]",
                f"[{NARROW}]",
            ),
            (
                "one for fewer hosts over TLS",
                OVER_TLS,
                OVER_TLS.replace("name: ", "hostname: '*.example.com', name: ", 1),
            ),
            ("listeners in conflict", f"[{WIDE}]", f"[{WIDE}]"),
        )
    },
    "a Secret under another field's name": (
        gateway_class("any", "gateway.nginx.org/nginx-gateway-controller"),
        EDGE,
        ROUTE,
        SERVICE,
        manifest("v1", "Secret", "tok", "shop", "stringData: {token: x}"),
        policy(
            "gateway.nginx.org/v1alpha1",
            "PayloadProcessor",
            "scan",
            "HTTPRoute/checkout",
            "processors: [{type: ExtProcess, "
            "extProcess: {backendRef: {name: checkout, port: 80}, authTokenRef: {name: tok}}}]",
            "shop",
            field="targetRef",
        ),
    ),
    **{
        f"a listener for narrower hosts, {what}": (
            gateway_class("any", controller),
            gateway(listeners=f"[{WIDE}, {NARROW}]"),
            AT_WIDE,
            *beside,
            SERVICE,
            policy(*own, "HTTPRoute/checkout", spec, "shop", field="targetRef"),
        )
        for what, controller, beside, own, spec in (
            ("without a route", OF_NGINX, (), SIZE, "body: {maxSize: 10m}"),
            (
                "with a route for what may be another host",
                OF_NGINX,
                (rival("'app.${DOMAIN}'"),),
                SIZE,
                "body: {maxSize: 10m}",
            ),
            ("with a route for wider hosts", OF_NGINX, (rival("'*.example.com'"),), SIZE, "body: {maxSize: 10m}"),
            (
                "with a route for other hosts",
                OF_NGINX,
                (rival("'*.very.long.example.com'"),),
                SIZE,
                "body: {maxSize: 10m}",
            ),
            ("with a route for the same host", OF_NGINX, (rival("shop.example.com"),), SIZE, "body: {maxSize: 10m}"),
            ("without a route, of Envoy Gateway", OF_ENVOY, (), (*SECURITY, "own"), JWT),
            (
                "with a route for the same host, of Envoy Gateway",
                OF_ENVOY,
                (rival("shop.example.com"),),
                (*SECURITY, "own"),
                JWT,
            ),
        )
    },
    **{
        f"listeners for ever narrower hosts, {what}": (
            gateway_class("any", OF_NGINX),
            gateway(
                listeners=f"[{WIDE}, {NARROW}, "
                f"{{name: narrowest, port: 80, protocol: HTTP, hostname: '*.shop.example.com', {FROM_ALL}}}]"
            ),
            AT_WIDE.replace("shop.example", "a.shop.example"),
            rival("a.shop.example.com", listener),
            SERVICE,
            policy(*SIZE, "HTTPRoute/checkout", "body: {maxSize: 10m}", "shop", field="targetRef"),
        )
        for what, listener in (("the route at one between", "narrow"), ("the route at the narrowest", "narrowest"))
    },
    **{
        f"{kind}, which lacks what some releases do not ask for": (
            *SHOP,
            manifest(
                "policy.networking.k8s.io/v1alpha1",
                kind,
                "all",
                "",
                "spec: {priority: 5, subject: {namespaces: {}}, ingress: "
                "[{action: Deny, from: [{pods: {namespaceSelector: {matchLabels: {team: other}}}}]}]}",
            ),
        )
        for kind in ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy")
    },
    **{
        f"an AuthPolicy of a route whose host another listener takes, over {protocol}{closed}": (
            OF_ISTIO,
            gateway(
                of_class="istio",
                listeners=f"[{{name: one, port: 443, protocol: {protocol}, {own}{FROM_ALL}}}, "
                f"{{name: two, port: 443, protocol: {protocol}, {other}hostname: shop.example.com}}]",
            ),
            ROUTE,
            route("all", more=TO_CHECKOUT),
            SERVICE,
            *(
                policy("kuadrant.io/v1", "AuthPolicy", name, target, spec, namespace, field="targetRef")
                for name, target, spec, namespace in (
                    ("whole", "Gateway/edge", f"defaults: {{{REGO}}}", "infra"),
                    ("own", "HTTPRoute/checkout", REGO, "shop"),
                )
            ),
        )
        for protocol, own, other, closed in (
            ("HTTPS", OWN_CERTIFICATE, OWN_CERTIFICATE, ""),
            ("HTTPS", OWN_CERTIFICATE, "", " if it were open"),
            ("HTTP", "", "", ""),
        )
    },
    "a call that goes on to routes for requests": (
        gateway_class("any", "kgateway.dev/kgateway"),
        EDGE,
        ROUTE,
        route(
            "calls",
            kind="GRPCRoute",
            more="hostnames: [shop.example.com], rules: [{matches: [{method: {service: pkg.Pay}}], "
            "backendRefs: [{name: checkout, port: 80}]}]",
        ),
        SERVICE,
        manifest(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "own",
            "shop",
            "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}], "
            "rbac: {action: Allow, policy: {matchExpressions: ['request.path == \"/pkg.Cart/Add\"']}}}",
        ),
    ),
    **{
        f"a prefix with a slash at its end, {what}": (
            gateway_class("any", OF_NGINX),
            EDGE,
            route(more=f"rules: [{{matches: [{matches}], backendRefs: [{{name: checkout, port: 80}}]}}]"),
            SERVICE,
        )
        for what, matches in (
            ("alone", "{path: {value: /hook/}}"),
            ("beside another path", "{path: {value: /hook/}}, {path: {type: Exact, value: /other}}"),
            ("beside an expression", "{path: {value: /hook/}}, {path: {type: RegularExpression, value: '/h.*'}}"),
        )
    },
    "what no match of a location wants": (
        gateway_class("any", "gateway.nginx.org/nginx-gateway-controller"),
        EDGE,
        route(
            more="rules: [{matches: [{path: {type: PathPrefix, value: /api}, headers: [{name: x, value: '1'}]},"
            " {path: {type: RegularExpression, value: '/a.*'}, method: POST}],"
            " backendRefs: [{name: checkout, port: 80}]}, {backendRefs: [{name: checkout, port: 80}]}]"
        ),
        SERVICE,
    ),
    **{
        f"a {kind} of which one rule counts": (
            gateway_class("any", "gateway.nginx.org/nginx-gateway-controller"),
            EDGE,
            route(kind=kind, more=f"rules: [{{matches: [{match}, {{}}]}}, {TO_CHECKOUT[8:-1]}]"),
            SERVICE,
        )
        for kind, match in (("GRPCRoute", "{method: {method: Get}}"), ("HTTPRoute", "{method: TRACE}"))
    },
    **{
        f"a policy of a namespace that is a variable, with {what}": (
            *ISTIO,
            INJECTED,
            authorization("any", spec, "'${TEAM}'"),
        )
        for what, spec in (
            ("no selector", ""),
            ("the labels of pods", "selector: {matchLabels: {app: checkout}}"),
            ("the labels of others", "selector: {matchLabels: {app: other}}"),
        )
    },
    "a ztunnel asks at pods of a Service that no route leads to": (
        labelled("shop", "{istio.io/dataplane-mode: ambient}"),
        deployment(),
        SERVICE,
        authorization("callers", "rules: [{from: [{source: {namespaces: [infra]}}]}]", "shop"),
    ),
    "a policy of one listener": (
        ENVOY_GATEWAY,
        gateway(listeners=STREAMS),
        TCP_ROUTE,
        SERVICE,
        deployment(),
        allow_list("10.0.0.0/8", "Gateway/edge#tcp").replace("namespace: shop", "namespace: infra"),
    ),
    "a policy of a class of waypoints": (
        gateway_class("istio-waypoint", "istio.io/mesh-controller"),
        labelled("shop", "{istio.io/dataplane-mode: ambient, istio.io/use-waypoint: waypoint}"),
        gateway(
            "waypoint",
            namespace="shop",
            of_class="istio-waypoint",
            listeners="[{name: mesh, port: 15008, protocol: HBONE}]",
        ),
        deployment(),
        SERVICE,
        policy(
            "security.istio.io/v1",
            "AuthorizationPolicy",
            "all",
            "GatewayClass/istio-waypoint",
            "rules: [{to: [{operation: {methods: [GET]}}]}]",
            "istio-system",
        ),
    ),
    "a policy of a Gateway, and a proxy behind it, answer one request": (
        *SHOP[:-2],
        INJECTED,
        allow_list("0.0.0.0/1"),
        authorization("own", "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]", "shop"),
    ),
    "an injected namespace without any policy": (INJECTED, SERVICE, deployment()),
    "a chart whose values speak of policies": (*SHOP, release("securityPolicy: {enabled: true}")),
    "a chart whose values say nothing": (*SHOP, release("")),
    **{
        f"two of three routes ask for a login, beside a chart whose values {what}": (
            *SHOP,
            release(values),
            *(
                each
                for name in ("cart", "pay")
                for each in (
                    route(name, more=f"hostnames: [{name}.example.com], {TO_CHECKOUT}"),
                    policy(*SECURITY, name, f"HTTPRoute/{name}", JWT, "shop"),
                )
            ),
        )
        for what, values in (("say nothing", ""), ("speak of policies", "securityPolicy: {enabled: true}"))
    },
    "a client with a Sidecar of its own": (
        INJECTED,
        SERVICE,
        deployment(),
        deployment("web"),
        service("other", "pay"),
        labelled("pay"),
        manifest(
            "networking.istio.io/v1",
            "Sidecar",
            "own",
            "shop",
            "spec: {egress: [{hosts: ['./*']}], outboundTrafficPolicy: {mode: REGISTRY_ONLY}}",
        ),
    ),
}
"""By what is special about them."""

ANYBODY = '"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]'


def at_all_pods(action: str) -> str:
    """An AdminNetworkPolicy about what pods of all namespaces send to those of namespace shop."""
    subject = "subject: {namespaces: {matchLabels: {kubernetes.io/metadata.name: shop}}}"
    rules = f"ingress: [{{name: all, action: {action}, from: [{{namespaces: {{}}}}]}}]"
    spec = f"spec: {{priority: 10, {subject}, {rules}}}"
    return manifest("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", "all", "", spec)


def not_from(namespaces: str) -> tuple[str, ...]:
    """Workloads of Istio's mesh that turn away whoever comes from other namespaces."""
    rules = f"rules: [{{when: [{{key: source.namespace, notValues: [{namespaces}]}}]}}]"
    mesh = labelled("shop", "{istio-injection: enabled}")
    return (mesh, deployment(), SERVICE, authorization("others", f"action: DENY, {rules}", "shop"))


def asking_ingress(annotations: str) -> str:
    """An Ingress of HAProxy's controller."""
    path = "{path: /, pathType: Prefix, backend: {service: {name: checkout, port: {number: 80}}}}"
    spec = f"spec: {{ingressClassName: haproxy, rules: [{{host: shop.example.com, http: {{paths: [{path}]}}}}]}}"
    more = f"annotations: {{{annotations}}}"
    return manifest("networking.k8s.io/v1", "Ingress", "web", "shop", spec, more=more)


ASKING_BEHIND = (
    labelled("shop", "{istio-injection: enabled}"),
    deployment(),
    SERVICE,
    manifest(
        "networking.k8s.io/v1", "IngressClass", "haproxy", "", "spec: {controller: haproxy.org/ingress-controller}"
    ),
    manifest(
        "security.istio.io/v1", "RequestAuthentication", "jwt", "shop", "spec: {jwtRules: [{issuer: id, jwks: '{}'}]}"
    ),
    authorization(
        "token",
        "action: DENY, rules: [{from: [{source: {notRequestPrincipals: ['*']}}], "
        "to: [{operation: {notPaths: [/healthz]}}]}]",
        "shop",
    ),
)


WORLDS["a policy of a class of waypoints, beside a Gateway some of whose listeners nothing gets to"] = (
    *WORLDS["a policy of a class of waypoints"],
    OF_ISTIO,
    ROUTE,
    gateway(
        of_class="istio",
        listeners="[{name: one, port: 80, protocol: HTTP, hostname: '*.example.com', "
        "allowedRoutes: {namespaces: {from: All}}}, {name: two, port: 80, protocol: HTTP, hostname: '*.com', "
        "allowedRoutes: {namespaces: {from: All}}}]",
    ),
)


BY_KUADRANT = manifest(
    "kuadrant.io/v1",
    "AuthPolicy",
    "id",
    "shop",
    "spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}, "
    "rules: {authentication: {id: {jwt: {issuerUrl: 'https://id.example.com'}}}}}",
)


def about_requests(http: str) -> tuple[str, ...]:
    """A network policy that lets some requests of a Gateway in."""
    spec = (
        "spec: {endpointSelector: {matchLabels: {app: checkout}}, ingress: [{fromEntities: [ingress], toPorts: "
        f"[{{ports: [{{port: '80', protocol: TCP}}], rules: {{http: [{http}]}}}}]}}]}}"
    )
    return (
        gateway_class("any", "io.cilium/gateway-controller"),
        gateway(of_class="any"),
        ROUTE,
        SERVICE,
        deployment(),
        manifest("cilium.io/v2", "CiliumNetworkPolicy", "calls", "shop", spec),
    )


def in_turn(order: int, *more: str) -> tuple[str, ...]:
    """A policy of Calico that denies what comes from Gateways, and one for all pods that lets everything in."""
    own = "{action: Deny, source: {namespaceSelector: projectcalico.org/name == 'envoy-gateway-system'}}"
    kind = ("projectcalico.org/v3", "GlobalNetworkPolicy")
    return (
        *(ENVOY_GATEWAY, gateway(of_class="any"), ROUTE, SERVICE, deployment()),
        manifest(*kind, "fence", "", f"spec: {{order: {order}, types: [Ingress], ingress: [{own}]}}"),
        manifest(*kind, "open", "", "spec: {order: 200, types: [Ingress], ingress: [{action: Allow}]}"),
        *more,
    )


WORLDS["rules of a network policy about requests"] = about_requests(
    "{method: GET, path: '/public/.*'}, {path: /admin, headers: ['X-Team: a']}"
)
WORLDS["network policies that are tried in turn, a denial first"] = in_turn(100)
WORLDS["network policies that are tried in turn, a denial behind"] = in_turn(300)


WORLDS["rules of a network policy about requests that come by TLS"] = (
    *WORLDS["rules of a network policy about requests"],
    manifest(
        "gateway.networking.k8s.io/v1",
        "BackendTLSPolicy",
        "checkout",
        "shop",
        "spec: {targetRefs: [{group: '', kind: Service, name: checkout}], "
        "validation: {hostname: checkout.example.com, wellKnownCACertificates: System}}",
    ),
)


def beside_an_ingress_route(*listeners: str) -> tuple[str, ...]:
    """A Gateway of Traefik, and an IngressRoute for the host that a route of the Gateway is for."""
    served = "allowedRoutes: {namespaces: {from: All}}"
    rule = "{match: 'Host(`shop.example.com`)', kind: Rule, services: [{name: checkout, port: 80}]}"
    return (
        gateway_class("any", "traefik.io/gateway-controller"),
        gateway(listeners=f"[{', '.join(f'{{{each}, {served}}}' for each in listeners)}]"),
        ROUTE,
        SERVICE,
        manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", f"spec: {{routes: [{rule}]}}"),
    )


BEHIND = (ROUTE, SERVICE, deployment(), labelled("shop"), labelled("infra"))
DELETING = route(more=f"rules: [{{matches: [{{method: DELETE}}], {TO_CHECKOUT[9:-2]}}}]")
TO_BACKEND_TLS = policy(
    "gateway.networking.k8s.io/v1",
    "BackendTLSPolicy",
    "tls",
    "Service/checkout",
    "validation: {hostname: h.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}",
    "shop",
)


def at_traefik(admin: str, more: str = "") -> tuple[str, ...]:
    """Two rules of Traefik for a host: one for a path, behind a login, and one for all others."""
    rules = (
        f"{{kind: Rule, match: 'Host(`a.example.com`) && Path(`/admin`)', {admin}, middlewares: [{{name: login}}]}}",
        "{kind: Rule, match: 'Host(`a.example.com`)', services: [{name: checkout, port: 80}]}",
    )
    return (
        SERVICE,
        manifest("v1", "Namespace", "shop", "", ""),
        manifest("v1", "Secret", "users", "shop", "stringData: {users: 'a:b'}"),
        manifest("traefik.io/v1alpha1", "Middleware", "login", "shop", "spec: {basicAuth: {secret: users}}"),
        manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", f"spec: {{routes: [{', '.join(rules)}]}}"),
        *((more,) if more else ()),
    )


ADMIN = service("admin", more="selector: {app: admin}")
WORLDS["a rule of Traefik for which there is no router, before one for all"] = at_traefik(
    "services: [{name: admin, port: 80}]"
)

CHANGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **{
        f"what may make a missing CA comes, of {what}, {where}": tuple(
            (of_class, *world, *BEHIND, *more)
            for more in (
                (),
                tuple(manifest("example.net/v1", "Maker", "any", home, "spec: {}") for home in ("shop", "infra")),
            )
        )
        for where, of_class in (
            ("at Envoy Gateway", ENVOY_GATEWAY),
            ("at an unknown controller", gateway_class("any", "example.net/gateway-controller")),
        )
        for what, world in (
            ("a backend", (EDGE, TO_BACKEND_TLS)),
            ("clients", (CERTIFIED,)),
        )
    },
    **{
        f"what may make a missing Service comes, behind an {kind}": (
            (labelled("shop"), service("other"), door),
            (labelled("shop"), service("other"), door, manifest("example.net/v1", "Maker", "any", "shop", "spec: {}")),
        )
        for kind, door in (
            (
                "IngressRouteUDP",
                manifest(
                    *("traefik.io/v1alpha1", "IngressRouteUDP", "one", "shop"),
                    "spec: {entryPoints: [dns], routes: [{services: [{name: checkout, port: 53}]}]}",
                ),
            ),
            (
                "IngressRoute",
                manifest(
                    *("traefik.io/v1alpha1", "IngressRoute", "one", "shop"),
                    "spec: {entryPoints: [web], routes: [{kind: Rule, match: Host(`a.example.com`), "
                    "services: [{name: checkout, port: 80}]}]}",
                ),
            ),
            (
                "Ingress",
                manifest(
                    *("networking.k8s.io/v1", "Ingress", "one", "shop"),
                    "spec: {ingressClassName: nginx, rules: [{host: a.example.com, http: {paths: [{path: /, "
                    "pathType: Prefix, backend: {service: {name: checkout, port: {number: 80}}}}]}}]}",
                ),
            ),
        )
    },
    "a policy of a namespace that is a variable comes": (
        (*ISTIO, INJECTED),
        (*ISTIO, INJECTED, authorization("any", "", "'${TEAM}'")),
    ),
    **{
        f"scripts of other sites may send requests: {what}": (
            (
                ENVOY_GATEWAY,
                EDGE,
                DELETING,
                SERVICE,
                policy(*SECURITY, "asks", "HTTPRoute/checkout", "csrf: {}", "shop"),
            ),
            after,
        )
        for what, after in (
            ("the policy is gone", (ENVOY_GATEWAY, EDGE, DELETING, SERVICE)),
            (
                "the controller is another one",
                (
                    KGATEWAY,
                    EDGE,
                    DELETING,
                    SERVICE,
                    policy(*SECURITY, "asks", "HTTPRoute/checkout", "csrf: {}", "shop"),
                ),
            ),
        )
    },
    "another network policy that may keep clients from proxies of which nobody knows where they run": tuple(
        (
            gateway_class("any", "example.net/gateway-controller"),
            EDGE,
            *BEHIND,
            manifest(
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "closed",
                home,
                "spec: {podSelector: {}, policyTypes: [Ingress]}",
            ),
        )
        for home in ("one", "two")
    ),
    "a network policy lets more requests in": (
        about_requests("{method: GET, path: '/public/.*'}"),
        about_requests("{path: '/public/.*'}"),
    ),
    "a network policy lets fewer requests in": (about_requests("{}"), about_requests("{method: GET}")),
    "a network policy comes behind one that lets everybody in": (in_turn(100), in_turn(300)),
    **{
        f"pods come, and {what} that would cut them off goes": (
            (ENVOY_GATEWAY, gateway(of_class="any"), ROUTE, SERVICE, labelled("shop"), closed),
            (ENVOY_GATEWAY, gateway(of_class="any"), ROUTE, SERVICE, labelled("shop"), deployment()),
        )
        for what, closed in (
            ("the NetworkPolicy", CUT_OFF),
            (
                "the policy of Cilium",
                manifest(
                    "cilium.io/v2", "CiliumNetworkPolicy", "n", "shop", "spec: {endpointSelector: {}, ingress: [{}]}"
                ),
            ),
            (
                "the policy of Calico",
                manifest("projectcalico.org/v3", "GlobalNetworkPolicy", "n", "", "spec: {types: [Ingress]}"),
            ),
        )
    },
    **{
        f"{plugin} of Kong, which no trace judges: {what}": (
            of_kong(plugin, config, at=at),
            of_kong(*after, at=at),
        )
        for plugin, config in (("ip-restriction", "allow: [10.0.0.0/8]"), ("acl", "allow: [staff]"), ("opa", ""))
        for what, at, after in (
            ("it is gone", "HTTPRoute", ("", "")),
            ("it is gone from a Service", "Service", ("", "")),
            ("it is switched off", "HTTPRoute", (plugin, config, "disabled: true")),
            ("another one has its name", "HTTPRoute", ("cors", "")),
        )
    },
    "a policy of Linkerd for a route of a Server that selects no port of its pods names another one": tuple(
        (
            labelled("shop"),
            deployment(annotations="linkerd.io/inject: enabled"),
            SERVICE,
            manifest(
                *("policy.linkerd.io/v1beta3", "Server", "web", "shop"),
                "spec: {podSelector: {matchLabels: {app: checkout}}, port: other, proxyProtocol: HTTP/1}",
            ),
            manifest(
                *("policy.linkerd.io/v1beta3", "HTTPRoute", "probes", "shop"),
                "spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], "
                "rules: [{matches: [{path: {type: Exact, value: /live}}]}]}",
            ),
            manifest(
                *("policy.linkerd.io/v1alpha1", "NetworkAuthentication", "all", "shop"),
                "spec: {networks: [{cidr: 0.0.0.0/0}]}",
            ),
            manifest(
                *("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", "lets", "shop"),
                f"spec: {{targetRef: {{group: policy.linkerd.io, kind: HTTPRoute, name: {name}}}, "
                "requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: NetworkAuthentication, name: all}]}",
            ),
        )
        for name in ("probes", "gone")
    ),
    "a Gateway with a login at a Service, which a mesh has too, gets another controller": tuple(
        (
            gateway_class("any", controller),
            gateway(of_class="any"),
            route(more=TO_CHECKOUT),
            service(),
            labelled("shop", "{istio.io/dataplane-mode: ambient}"),
            policy(
                *("agentgateway.dev/v1alpha1", "AgentgatewayPolicy", "login", "Service/checkout"),
                "backend: {extAuth: {backendRef: {name: gone, port: 80}, grpc: {}}}",
                "shop",
            ),
        )
        for controller in ("agentgateway.dev/agentgateway", "gateway.envoyproxy.io/gatewayclass-controller")
    ),
    "a filter makes the login of a route act on fewer requests of another one": tuple(
        (
            gateway_class("any", "istio.io/gateway-controller"),
            gateway(
                listeners="[{name: one, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
                "{name: two, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
            ),
            route(parents=at_listener("two"), more=f"hostnames: [shop.example.com], {at_path(own)}"),
            route("other", parents=at_listener("one"), more=f"hostnames: [shop.example.com], {at_path('/')}"),
            SERVICE,
            policy(*KUADRANT, "own", "HTTPRoute/checkout", OF_KUADRANT, "shop", field="targetRef"),
        )
        for own in ("/", "/pay")
    ),
    "pods come into the mesh of Linkerd, which has a policy for their port": tuple(
        (
            *SHOP[:4],
            deployment(annotations=inject),
            *SHOP[5:],
            manifest(
                "policy.linkerd.io/v1beta3",
                "Server",
                "web",
                "shop",
                "spec: {podSelector: {matchLabels: {app: checkout}}, port: 80, proxyProtocol: HTTP/1}",
            ),
        )
        for inject in ("", "linkerd.io/inject: enabled")
    ),
    "a route leaves its listener and its controller, and gets one more rule for all hosts": (
        (gateway_class("any", "istio.io/gateway-controller"), CERTIFIED, ROUTE, SERVICE, AUTH_POLICY),
        (
            gateway_class("any", "gateway.nginx.org/nginx-gateway-controller"),
            EDGE,
            route(more=f"rules: [{{matches: [{{path: {{value: /api}}}}], {TO_CHECKOUT[9:-2]}}}, {TO_CHECKOUT[8:-1]}]"),
            SERVICE,
            AUTH_POLICY,
        ),
    ),
    "a policy gets a label that is no text": tuple(
        (*ISTIO[:5], authorization("closed", "{}", "shop").replace("namespace: shop", f"namespace: shop, {labels}"))
        for labels in ("labels: {app: '1'}", "labels: {app: 1}")
    ),
    "a policy of Cilium gets a name that is no text": tuple(
        (
            *SHOP[:3],
            SERVICE,
            deployment(),
            manifest("cilium.io/v2", "CiliumNetworkPolicy", name, "shop", FROM_INSIDE),
        )
        for name in ("'no'", "no")
    ),
    "pods that nobody saw may be stopped by a network policy, and are let in by the mesh": (
        (*not_from("shop"), at_all_pods("Deny")),
        (*not_from("shop, other"), at_all_pods("Deny")),
    ),
    "an Ingress asks for no password before workloads that turn away who has no token": (
        (*ASKING_BEHIND, asking_ingress("haproxy.org/auth-type: basic-auth, haproxy.org/auth-secret: shop/users")),
        (*ASKING_BEHIND, asking_ingress("haproxy.org/auth-secret: shop/users")),
    ),
    "a Gateway has one more port for a host beside an IngressRoute": (
        beside_an_ingress_route("name: one, port: 80, protocol: HTTP"),
        beside_an_ingress_route("name: one, port: 80, protocol: HTTP", "name: two, port: 81, protocol: HTTP"),
    ),
    "a Gateway has another scheme for a host beside an IngressRoute": (
        beside_an_ingress_route("name: one, port: 80, protocol: HTTP"),
        beside_an_ingress_route("name: one, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: own}]}"),
    ),
    "the Service of a rule of Traefik behind a login goes, before one for all": (
        at_traefik("services: [{name: admin, port: 80}]", ADMIN),
        at_traefik("services: [{name: admin, port: 80}]"),
    ),
    "one of two logins goes, and with it that of a route that gets no request": tuple(
        (
            ENVOY_GATEWAY,
            EDGE,
            ROUTE,
            route("next", more=f"hostnames: [shop.example.com], {TO_CHECKOUT}"),
            SERVICE,
            *logins,
        )
        for logins in (
            (BY_KUADRANT, policy(*SECURITY, "login", "Gateway/edge", JWT, "infra")),
            (BY_KUADRANT,),
        )
    ),
    "a network policy passes on what it denied": (
        (ENVOY_GATEWAY, EDGE, ROUTE, deployment(), SERVICE, at_all_pods("Deny")),
        (ENVOY_GATEWAY, EDGE, ROUTE, deployment(), SERVICE, at_all_pods("Pass")),
    ),
    "the network policy that cuts a backend off is deleted": ((*SHOP, CUT_OFF), SHOP),
    "the network policy that cuts off pods that nobody saw is deleted": (
        without_pods(to_pods()),
        tuple(each for each in without_pods(to_pods()) if "NetworkPolicy" not in each),
    ),
    "the network policy that cuts off pods that nobody saw selects others": (
        without_pods(to_pods()),
        without_pods(to_pods(policy="{matchLabels: {app: other}}")),
    ),
    **{
        f"a Service whose pods a network policy cuts off {what}": (to_pods(), to_pods(*others))
        for what, others in AFTER.items()
    },
    "a Gateway goes that is one parent of a route to a backend of a kind that is not read": tuple(
        (
            KGATEWAY,
            EDGE,
            *others,
            route(parents="[{name: edge, namespace: infra}, {name: other, namespace: infra}]", more=TO_UNREAD),
            UNREAD,
        )
        for others in ((gateway("other"),), ())
    ),
    "a Gateway goes that serves a host beside an IngressRoute": tuple(
        (
            gateway_class("any", "traefik.io/gateway-controller"),
            *edge,
            route(more=f"hostnames: [shop.example.com], {TO_CHECKOUT}"),
            manifest(
                "traefik.io/v1alpha1",
                "IngressRoute",
                "web",
                "shop",
                "spec: {routes: [{match: 'Host(`shop.example.com`)', kind: Rule, "
                "services: [{name: checkout, port: 80}]}]}",
            ),
            SERVICE,
        )
        for edge in ((EDGE,), ())
    ),
    "the only class that is here goes, which no Gateway names": (
        (ENVOY_GATEWAY, gateway(of_class="other"), ROUTE, SERVICE),
        (gateway(of_class="other"), ROUTE, SERVICE),
    ),
    "a workload comes where a network policy keeps others apart": (
        (*SHOP, CUT_OFF),
        (*SHOP, CUT_OFF, deployment("new")),
    ),
    "a workload goes and another comes where a network policy keeps others apart": (
        (*SHOP, CUT_OFF, deployment("old", "tier: web")),
        (*SHOP, CUT_OFF, deployment("new")),
    ),
    **{
        f"a login goes, and {what} still asks for one": (before, after)
        for what, before, after in (
            (
                "a list of Istio",
                (*ISTIO, LOGIN, TOKEN),
                (
                    *ISTIO,
                    TOKEN,
                    LOGIN.replace(", jwtRules: [{issuer: id, jwksUri: 'https://id.example.com/jwks'}]", ""),
                ),
            ),
            (
                "a policy of Kuadrant",
                (OF_ISTIO, CERTIFIED.replace("Name: any", "Name: istio"), *CERTIFICATES, ROUTE, SERVICE, AUTH_POLICY),
                (OF_ISTIO, UNCERTIFIED, *CERTIFICATES, ROUTE, SERVICE, AUTH_POLICY),
            ),
            (
                "a client certificate",
                (
                    ENVOY_GATEWAY,
                    CERTIFIED,
                    *CERTIFICATES,
                    ROUTE,
                    SERVICE,
                    policy(*SECURITY, "login", "HTTPRoute/checkout", JWT, "shop"),
                ),
                (ENVOY_GATEWAY, CERTIFIED, *CERTIFICATES, ROUTE, SERVICE),
            ),
        )
    },
    **{
        f"requests that a mesh turns away get in by {what}": (
            (*in_mesh, *before),
            (*in_mesh, *after),
        )
        for what, in_mesh, before, after in (
            (
                "who the client is",
                (deployment(annotations="linkerd.io/inject: enabled"), SERVICE, SERVER),
                (),
                (
                    SERVER_ROUTE,
                    linkerd_policy("own", "HTTPRoute/api", "MeshTLSAuthentication/nobody"),
                ),
            ),
            (
                "what pods there are",
                (
                    manifest("security.istio.io/v1", "PeerAuthentication", "p", "shop", "spec: {mtls: {mode: STRICT}}"),
                    INJECTED,
                    deployment(),
                ),
                (SERVICE,),
                (service(more="selector: {app: other}"),),
            ),
        )
    },
    **{
        f"a login goes at a Gateway {what}": (
            (ENVOY_GATEWAY, EDGE, *more, policy(*SECURITY, "login", "Gateway/edge", JWT, "infra")),
            (ENVOY_GATEWAY, EDGE, *more),
        )
        for what, more in {"that has no route": (), "whose route has no rule": (route(more="rules: []"),)}.items()
    },
    "a Service of which nobody knows what stands behind it, beside one policy for another": tuple(
        (ISTIO_EDGE, ROUTE, service(), manifest("networking.k8s.io/v1", "NetworkPolicy", name, "shop", "spec: {}"))
        for name in ("one", "two")
    ),
    **{
        f"{what} in a mesh of which nothing but a route to another one is here": (
            (service("other"), MESH_ROUTE),
            (after, MESH_ROUTE),
        )
        for what, after in {
            "a Service loses its ports": service("other", ports="[]"),
            "a Service stands for a host": service("other", more="type: ExternalName, externalName: db.example.com"),
        }.items()
    },
    **{
        f"{what} goes, and a workload comes": (
            (*shown, route(parents="[{name: web}]", more=TO_CHECKOUT), *login),
            (route(parents="[{name: web}]", more=TO_CHECKOUT), deployment()),
        )
        for what, shown, login in (
            ("the only Gateway of a namespace", (gateway("edge", "shop"),), ()),
            (
                "the only Gateway of a namespace with a login at the route of another one",
                (gateway("edge", "shop"),),
                (policy(*SECURITY, "login", "HTTPRoute/checkout", JWT, "shop"),),
            ),
        )
    },
    "a Service in a mesh loses its ports": (
        (INJECTED, SERVICE, deployment(), authorization("closed", "action: ALLOW", "shop")),
        (
            INJECTED,
            service(ports="[]", more="selector: {app: checkout}"),
            deployment(),
            authorization("closed", "action: ALLOW", "shop"),
        ),
    ),
    "a limit loses its rates": tuple(
        (
            *ISTIO,
            policy(
                "kuadrant.io/v1",
                "RateLimitPolicy",
                "few",
                "HTTPRoute/checkout",
                f"limits: {{each: {{rates: {rates}}}}}",
                "shop",
                field="targetRef",
            ),
        )
        for rates in ("[{limit: 5, window: 1m}]", "[]")
    ),
    "a Gateway goes with the login that stands at it": (
        (*SHOP, policy(*SECURITY, "login", "Gateway/edge", JWT, "infra")),
        tuple(each for each in SHOP if each != EDGE),
    ),
    "a login goes and a client certificate comes": (
        (
            ENVOY_GATEWAY,
            gateway(
                listeners="[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: own}]}, "
                "allowedRoutes: {namespaces: {from: All}}}]"
            ),
            *CERTIFICATES,
            ROUTE,
            SERVICE,
            policy(*SECURITY, "login", "HTTPRoute/checkout", JWT, "shop"),
        ),
        (ENVOY_GATEWAY, CERTIFIED, *CERTIFICATES, ROUTE, SERVICE),
    ),
    "the only AuthorizationPolicy of an injected namespace is deleted": (
        (INJECTED, SERVICE, deployment(), authorization("closed", "action: ALLOW", "shop")),
        (INJECTED, SERVICE, deployment()),
    ),
    "a network policy lets all pods in that let some": tuple(
        (
            *to_pods(policy="{matchLabels: {app: other}}"),
            manifest(
                "networking.k8s.io/v1",
                "NetworkPolicy",
                "some",
                "shop",
                f"spec: {{podSelector: {{matchLabels: {{app: checkout}}}}, ingress: [{{from: [{who}]}}]}}",
            ),
        )
        for who in ("{podSelector: {matchLabels: {app: nobody}}}", "{podSelector: {}}")
    ),
    "a list of clients goes as a login comes": (
        (*SHOP, allow_list("10.0.0.0/8")),
        (*SHOP, policy(*SECURITY, "office", "HTTPRoute/checkout", JWT, "shop")),
    ),
    "a policy goes that let everybody in": tuple(
        (gateway_class("any", "application-networking.k8s.aws/gateway-api-controller"), *SHOP[1:], *more)
        for more in (
            (
                policy(
                    "application-networking.k8s.aws/v1alpha1",
                    "IAMAuthPolicy",
                    "everybody",
                    "HTTPRoute/checkout",
                    f"policy: '{{{ANYBODY}}}'",
                    "shop",
                    field="targetRef",
                ),
            ),
            (),
        )
    ),
    "another route takes what one answered and what it failed to answer": tuple(
        (
            *SHOP,
            service("other"),
            route("rest", more=f"hostnames: [shop.example.com], {TO_CHECKOUT.replace('checkout', 'other')}"),
            *more,
        )
        for more in (
            (
                route(
                    "all",
                    more="hostnames: [shop.example.com], rules: [{matches: [{path: {value: /api}}]}, "
                    "{matches: [{path: {value: /cart}}], backendRefs: [{name: checkout, port: 80}]}]",
                ),
            ),
            (),
        )
    ),
    "an allow-list is deleted": ((*SHOP, allow_list("10.0.0.0/8")), SHOP),
    "an allow-list is opened to everybody": ((*SHOP, allow_list("10.0.0.0/8")), (*SHOP, allow_list("0.0.0.0/0"))),
    "an allow-list is opened to two halves of everybody": (
        (*SHOP, allow_list("10.0.0.0/8")),
        (*SHOP, allow_list("0.0.0.0/1, 128.0.0.0/1")),
    ),
    "a path of a list of Istio takes what begins with it": (
        (
            *ISTIO,
            authorization("paths", f"{TARGET}, action: ALLOW, rules: [{{to: [{{operation: {{paths: [/charge]}}}}]}}]"),
        ),
        (
            *ISTIO,
            authorization(
                "paths", f"{TARGET}, action: ALLOW, rules: [{{to: [{{operation: {{paths: ['/charge*']}}}}]}}]"
            ),
        ),
    ),
    "a route of the same match comes": (
        SHOP,
        (
            *SHOP,
            service("other"),
            route("aaa", more="hostnames: [shop.example.com], rules: [{backendRefs: [{name: other, port: 80}]}]"),
        ),
    ),
    "a port of a TCP route is opened to everybody": (
        (
            ENVOY_GATEWAY,
            gateway(listeners=STREAMS),
            TCP_ROUTE,
            SERVICE,
            allow_list("10.0.0.0/8", "TCPRoute/stream"),
        ),
        (ENVOY_GATEWAY, gateway(listeners=STREAMS), TCP_ROUTE, SERVICE),
    ),
    "a Gateway gets another implementation, whose proxies a network policy lets through": tuple(
        (
            gateway_class("any", controller),
            *SHOP[1:],
            *egress("closed", "{}", "kube-apiserver"),
            *egress("ingress", INGRESS),
        )
        for controller in ("example.net/gateway-controller", "io.cilium/gateway-controller")
    ),
    **{
        f"the first policy of a mesh {what}, where no pods are seen": pair
        for what, pair in (
            ("comes", (SHOP[:4], (*SHOP[:4], authorization("closed", "selector: {}", "shop")))),
            ("goes", ((*SHOP[:4], authorization("closed", "selector: {}", "shop")), SHOP[:4])),
        )
    },
    "the first policy of a mesh comes, and the port of the Service has no number any more": (
        (*SHOP[:3], service(ports="[{name: http, port: 80}]", more="selector: {app: checkout}"), deployment()),
        (
            *SHOP[:3],
            service(ports="[{name: http}]", more="selector: {app: checkout}"),
            deployment(),
            manifest("security.istio.io/v1", "PeerAuthentication", "own", "shop", "spec: {mtls: {mode: STRICT}}"),
        ),
    ),
    "a policy of Linkerd goes that is about another port than the Service leads to": tuple(
        (
            *SHOP[:3],
            service(ports="[{name: http, port: 160}]", more="selector: {app: checkout}"),
            deployment(annotations="linkerd.io/inject: enabled"),
            manifest(
                "policy.linkerd.io/v1beta3",
                "Server",
                "web",
                "shop",
                "spec: {podSelector: {matchLabels: {app: checkout}}, port: 80, proxyProtocol: HTTP/1}",
            ),
            manifest(
                "policy.linkerd.io/v1beta3",
                "HTTPRoute",
                "api",
                "shop",
                "spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], "
                "rules: [{matches: [{path: {type: PathPrefix, value: /api}}]}]}",
            ),
            *own,
        )
        for own in (
            (
                manifest(
                    "policy.linkerd.io/v1alpha1",
                    "AuthorizationPolicy",
                    "own",
                    "shop",
                    "spec: {targetRef: {group: policy.linkerd.io, kind: HTTPRoute, name: api}, "
                    "requiredAuthenticationRefs: "
                    "[{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: nobody}]}",
                ),
            ),
            (),
        )
    ),
    "a policy goes that answers requests itself": tuple(
        (
            gateway_class("any", "agentgateway.dev/agentgateway"),
            EDGE,
            ROUTE,
            SERVICE,
            policy("agentgateway.dev/v1alpha1", "AgentgatewayPolicy", "p", "HTTPRoute/checkout", spec, "shop"),
        )
        for spec in ("traffic: {directResponse: {status: 418}}", "traffic: {}")
    ),
    **{
        f"Gateways share a proxy, and {what}": tuple(
            (*MERGED, gateway(listeners=f"[{listener}]"), gateway("second", listeners=f"[{second}]"), *routes, SERVICE)
            for listener, routes in sides
        )
        for what, second, sides in (
            (
                "a listener comes to conflict with that of another one",
                WIDE.replace("80", "81"),
                ((WIDE, (OF_ALL,)), (WIDE.replace("80", "81"), (OF_ALL,))),
            ),
            (
                "a listener goes that was in conflict with that of another one",
                WIDE,
                ((WIDE, (OF_ALL,)), (WIDE.replace("80", "81"), (OF_ALL,))),
            ),
            ("a route of one comes", WIDE, ((WIDE, ()), (WIDE, (OF_ALL,)))),
            (
                "a route of one comes for a host that is another one's",
                WIDE.replace("80,", "80, hostname: shop.example.com,"),
                ((WIDE, ()), (WIDE, (OF_ALL,))),
            ),
            (
                "a route of one goes to another port",
                WIDE,
                ((WIDE, (OF_ALL,)), (WIDE, (OF_ALL.replace("port: 80", "port: 81"),))),
            ),
        )
    },
    "a Gateway goes at which a route was not served": tuple(
        (ENVOY_GATEWAY, *edge, ROUTE, SERVICE)
        for edge in ((gateway(listeners="[{name: http, port: 80, protocol: HTTP}]"),), ())
    ),
    "a listener speaks HTTPS from now on, and a login comes": (
        (OF_ISTIO, ISTIO_EDGE, ROUTE, SERVICE),
        (
            OF_ISTIO,
            gateway(of_class="istio", listeners=OVER_TLS),
            ROUTE,
            SERVICE,
            policy("kuadrant.io/v1", "AuthPolicy", "own", "HTTPRoute/checkout", REGO, "shop", field="targetRef"),
        ),
    ),
    "a port goes while the first policy of a mesh comes": (
        SHOP[:5],
        (*SHOP[:3], SERVICE.replace("port: 80", "port: 81"), SHOP[4], authorization("closed", "selector: {}", "shop")),
    ),
    **{
        f"a DestinationRule goes by which clients of the mesh show no certificate{beside}": tuple(
            (
                *ISTIO[:5],
                *(labelled(namespace, "{istio-injection: enabled}") for namespace in ("shop", "infra")),
                manifest("security.istio.io/v1", "PeerAuthentication", "p", "shop", "spec: {mtls: {mode: STRICT}}"),
                *rule,
            )
            for rule in (
                (
                    manifest(
                        "networking.istio.io/v1",
                        "DestinationRule",
                        "d",
                        "infra",
                        "spec: {host: '*.local', trafficPolicy: {tls: {mode: DISABLE}}}",
                    ),
                ),
                comes,
            )
        )
        for beside, comes in (
            ("", ()),
            (
                " while a health check comes",
                (
                    policy(
                        "networking.gke.io/v1", "HealthCheckPolicy", "health", "Service/checkout", "default: {}", "shop"
                    ),
                ),
            ),
        )
    },
}
"""By what changes: before and after."""

_OF_RATES = "limits: {all: {rates: [{limit: 9, window: 1m}]}}"
WORLDS["limits of Kuadrant for a host that only a closed listener is for"] = (
    ENVOY_GATEWAY,
    gateway(
        of_class="any",
        listeners="[{name: one, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: own}]}}, "
        "{name: two, port: 443, protocol: HTTPS, hostname: shop.example.com}]".replace(
            "name: one,", "name: one, allowedRoutes: {namespaces: {from: All}},"
        ).replace("name: two,", "name: two, allowedRoutes: {namespaces: {from: All}},"),
    ),
    ROUTE.replace("name: edge, namespace: infra", "name: edge, namespace: infra, sectionName: two"),
    route("wide", more=TO_CHECKOUT),
    SERVICE,
    policy("kuadrant.io/v1", "RateLimitPolicy", "own", "HTTPRoute/checkout", _OF_RATES, "shop", field="targetRef"),
    policy("kuadrant.io/v1", "RateLimitPolicy", "edge", "Gateway/edge", _OF_RATES, "infra", field="targetRef"),
)

_UNREADABLE = '{headers: [{type: RegularExpression, name: a, value: "("}]}'
for _beside in ("", ", {path: {value: /}}", ", {headers: [{name: b, value: c}]}"):
    WORLDS[f"a header by an expression that nobody reads{_beside}"] = (
        gateway(of_class="nginx", listeners=f"[{{name: http, port: 80, protocol: HTTP, {FROM_ALL}}}]"),
        ROUTE.replace("rules: [{", f"rules: [{{matches: [{_UNREADABLE}{_beside}], ", 1),
        SERVICE,
    )


def _of_mesh(http: str, more: str = "", name: str = "v") -> str:
    """A VirtualService for Service checkout in a mesh."""
    return manifest(
        "networking.istio.io/v1", "VirtualService", name, "shop", f"spec: {{hosts: [checkout]{more}, {http}}}"
    )


_ELSEWHERE = "route: [{destination: {host: second}}]"
_CLIENTS = (
    SERVICE,
    deployment(),
    deployment("second"),
    deployment("asking", "tier: front"),
    service("second", "shop", "[{port: 80, name: http}]", more="selector: {app: second}"),
    *(labelled(namespace, "{istio-injection: enabled}") for namespace in ("shop", "infra")),
    authorization(
        "some", "selector: {matchLabels: {app: second}}, rules: [{from: [{source: {namespaces: [infra]}}]}]", "shop"
    ),
)
_IN_MESH = {
    "all requests": _of_mesh(f"http: [{{{_ELSEWHERE}}}]"),
    "some paths": _of_mesh(f"http: [{{match: [{{uri: {{prefix: /a}}}}], {_ELSEWHERE}}}]"),
    "pods with a label": _of_mesh(f"http: [{{match: [{{sourceLabels: {{tier: front}}}}], {_ELSEWHERE}}}]"),
    "clients of a namespace": _of_mesh(f"http: [{{match: [{{sourceNamespace: infra}}], {_ELSEWHERE}}}]"),
    "its own namespace": _of_mesh(f"http: [{{{_ELSEWHERE}}}]", ", exportTo: ['.']"),
    "what it answers itself": _of_mesh(
        f"http: [{{match: [{{uri: {{exact: /}}}}], directResponse: {{status: 403}}}}, {{{_ELSEWHERE}}}]"
    ),
    "another host": _of_mesh("http: [{redirect: {authority: pay}}]"),
    "nobody": _of_mesh("http: [{route: [{destination: {host: nobody}}]}]"),
    "either of two": _of_mesh(f"http: [{{{_ELSEWHERE}}}]")
    + "---\n"
    + _of_mesh("http: [{directResponse: {status: 404}}]", name="w"),
}
_OF_CONNECTIONS = service("checkout", "shop", "[{port: 80, name: tcp}]", more="selector: {app: checkout}")
_OF_TLS = service("checkout", "shop", "[{port: 80, name: tls}]", more="selector: {app: checkout}")
for _which, _stream, _rules in (
    ("all connections", _OF_CONNECTIONS, f"tcp: [{{{_ELSEWHERE}}}]"),
    (
        "connections of some pods",
        _OF_CONNECTIONS,
        f"tcp: [{{match: [{{sourceLabels: {{tier: front}}}}], {_ELSEWHERE}}}]",
    ),
    ("connections of a namespace", _OF_CONNECTIONS, f"tcp: [{{match: [{{sourceNamespace: infra}}], {_ELSEWHERE}}}]"),
    (
        "connections to some addresses",
        _OF_CONNECTIONS,
        f"tcp: [{{match: [{{destinationSubnets: [10.0.0.0/8]}}], {_ELSEWHERE}}}]",
    ),
    ("one server", _OF_TLS, f"tls: [{{match: [{{sniHosts: [a.example]}}], {_ELSEWHERE}}}]"),
    ("servers of a domain", _OF_TLS, f"tls: [{{match: [{{sniHosts: ['*.example']}}], {_ELSEWHERE}}}]"),
):
    _streams = (_stream, *_CLIENTS[1:])
    WORLDS[f"a VirtualService of the mesh for {_which}"] = (*_streams, _of_mesh(_rules))
    CHANGES[f"a VirtualService of the mesh for {_which} comes"] = (_streams, (*_streams, _of_mesh(_rules)))
for _which, _virtual in _IN_MESH.items():
    WORLDS[f"a VirtualService of the mesh for {_which}"] = (*_CLIENTS, _virtual)
    CHANGES[f"a VirtualService of the mesh for {_which} comes"] = (_CLIENTS, (*_CLIENTS, _virtual))

_SAID = manifest("security.istio.io/v1", "KIND", "said", "shop", "spec: '${SPEC}'")
_SUBSETS = manifest(
    *("networking.istio.io/v1", "DestinationRule", "checkout", "shop"),
    "spec: {host: checkout, subsets: [{name: old, labels: {version: v1}}, "
    "{name: new, labels: {version: v2}, trafficPolicy: {tls: {mode: DISABLE}}}]}",
)
WORLDS["a variable for all that a policy says"] = (*ISTIO, INJECTED, _SAID.replace("KIND", "AuthorizationPolicy"))
WORLDS["a variable for all that another one says"] = (*ISTIO, INJECTED, _SAID.replace("KIND", "RequestAuthentication"))
_FOR_INFRA = "rules: [{from: [{source: {namespaces: [infra]}}]}]"
_VERSIONS = (
    *_CLIENTS,
    deployment("checkout-v1", "version: v1").replace("app: checkout-v1", "app: checkout"),
    deployment("checkout-v2", "version: v2").replace("app: checkout-v2", "app: checkout"),
    authorization("old", f"selector: {{matchLabels: {{version: v1}}}}, {_FOR_INFRA}", "shop"),
    manifest(
        *("networking.k8s.io/v1", "NetworkPolicy", "new", "shop"),
        "spec: {podSelector: {matchLabels: {version: v2}}, ingress: [{from: [{podSelector: {}}]}]}",
    ),
    _SUBSETS,
)
for _which, _to in {
    "one version": "{destination: {host: checkout, subset: old}}",
    "the other version": "{destination: {host: checkout, subset: new}}",
    "both versions": "{destination: {host: checkout, subset: old}, weight: 9}, "
    "{destination: {host: checkout, subset: new}, weight: 1}",
    "a version that is none": "{destination: {host: checkout, subset: none}}",
}.items():
    _virtual = _of_mesh(f"http: [{{route: [{_to}]}}]")
    WORLDS[f"a VirtualService for {_which}"] = (*_VERSIONS, _virtual)
    CHANGES[f"a VirtualService for {_which} comes"] = (_VERSIONS, (*_VERSIONS, _virtual))

_OUTSIDE = manifest(
    *("apps/v1", "Deployment", "db", "data"),
    "spec: {selector: {matchLabels: {app: db}}, template: "
    "{metadata: {labels: {app: db, sidecar.istio.io/inject: 'false'}}, spec: {containers: [{name: db, image: db}]}}}",
)
_ROUTED_INSIDE = manifest(
    "networking.istio.io/v1", "VirtualService", "checkout", "shop", "spec: {hosts: [checkout.shop.svc.cluster.local]}"
)
for _where, _named in (
    ("by its name", (gateway(of_class="istio"),)),
    ("by its controller", (gateway_class("any", "istio.io/gateway-controller"), gateway(of_class="any"))),
    ("by nothing", ()),
):
    for _home, _comes in (("", _OUTSIDE), (" of the Service's namespace", _OUTSIDE.replace("data", "shop"))):
        _without = (*_named, _ROUTED_INSIDE, SERVICE)
        _told = f"a workload{_home} that is kept out of a mesh, which is told {_where}"
        CHANGES[f"{_told}, comes"] = (_without, (*_without, _comes))
        CHANGES[f"{_told}, goes"] = ((*_without, _comes), _without)
CHANGES["a network policy for whatever a variable says goes"] = (
    to_pods(policy="'${WHICH}'"),
    tuple(each for each in to_pods() if "NetworkPolicy" not in each),
)
CHANGES["a network policy becomes one for whatever a variable says"] = (to_pods(), to_pods(policy="'${WHICH}'"))
for _action in ("ALLOW", "DENY"):
    for _rule in (
        "to: [{operation: {paths: ['${PATH}', /]}}]",
        "to: [{operation: {hosts: ['a.${DOMAIN}', a.example.com]}}]",
        "to: [{operation: {methods: ['${METHOD}', GET]}}]",
        "to: [{operation: {notPaths: ['/${PART}/*', /other]}}]",
        "from: [{source: {principals: ['cluster.local/ns/${HOME}/sa/web', cluster.local/ns/infra/sa/client]}}]",
        "from: [{source: {namespaces: ['${HOME}', infra]}}]",
        "when: [{key: 'request.headers[x-team]', values: ['${TEAM}', blue]}]",
        "when: [{key: 'request.auth.claims[group]', values: ['${GROUP}', admin]}]",
        "from: [{source: {remoteIpBlocks: ['${CIDR}', 10.0.0.0/8]}}]",
    ):
        WORLDS[f"a variable next to what is stated, {_action}, {_rule}"] = (
            *ISTIO,
            INJECTED,
            SERVICE,
            deployment("checkout"),
            *(deployment("client").replace("namespace: shop", f"namespace: {_home}") for _home in ("infra", "outside")),
            authorization("beside", f"action: {_action}, rules: [{{{_rule}}}]", "shop"),
        )
_OF_OTHERS = manifest(
    *("gateway.nginx.org/v1alpha1", "SnippetsPolicy", "other", "shop"),
    "spec: {targetRefs: [{group: '', kind: Service, name: checkout}], snippets: [{context: main, value: 'aio on;'}]}",
)
_LEADING_INSIDE = _ROUTED_INSIDE.replace("]}", "], http: [{route: [{destination: {host: checkout}}]}]}", 1)
for _whose, _virtual in (("that leads", _LEADING_INSIDE), ("that leads nowhere", _ROUTED_INSIDE)):
    for _kept in ("nothing", "sidecar.istio.io/inject: 'true'", "sidecar.istio.io/inject: 'false'", "tier: front"):
        _all = (ISTIO_EDGE, _virtual, SERVICE, deployment("client", "" if _kept == "nothing" else _kept))
        _told = f"the mesh of a VirtualService {_whose}, with a client labelled by {_kept}"
        CHANGES[f"what else tells of {_told}, goes"] = (_all, _all[1:])
        CHANGES[f"what else tells of {_told}, comes"] = (_all[1:], _all)
        CHANGES[f"all that tells of {_told}, goes"] = (_all[1:], _all[2:])
        CHANGES[f"the client in {_told}, goes as a policy comes"] = (_all[1:], (*_all[1:-1], _OF_OTHERS))
CHANGES["a Service loses its ports, and whom a VirtualService is for becomes a variable"] = (
    (_ROUTED_INSIDE.replace("[checkout.", "[other."), SERVICE),
    (_ROUTED_INSIDE.replace("[checkout.shop.svc.cluster.local]", "'${HOSTS}'"), service(ports="[]")),
)


def _of_linkerd(identity: str) -> tuple[str, ...]:
    """Workloads of Linkerd's mesh and a stranger, who call a Service that lets some identity in."""
    spaces = {"shop": "enabled", "infra": "enabled", "outside": "disabled"}
    kind = "policy.linkerd.io/v1alpha1"
    server = "targetRef: {group: policy.linkerd.io, kind: Server, name: checkout}"
    who = "requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: who}]"
    return (
        *(
            manifest("v1", "Namespace", name, more=f"annotations: {{linkerd.io/inject: {is_in}}}")
            for name, is_in in spaces.items()
        ),
        deployment(),
        *(deployment("client").replace("namespace: shop", f"namespace: {name}") for name in ("infra", "outside")),
        SERVICE,
        manifest(
            *("policy.linkerd.io/v1beta3", "Server", "checkout", "shop"),
            "spec: {podSelector: {matchLabels: {app: checkout}}, port: 80}",
        ),
        manifest(kind, "AuthorizationPolicy", "lets", "shop", f"spec: {{{server}, {who}}}"),
        manifest(kind, "MeshTLSAuthentication", "who", "shop", f"spec: {{identities: ['{identity}']}}"),
    )


_OF_SHOP = "{}.serviceaccount.identity.linkerd.cluster.local"
CHANGES |= {
    f"who is let in by Linkerd becomes {identity}": (_of_linkerd("*"), _of_linkerd(identity))
    for identity in (
        "${IDENTITY}",
        _OF_SHOP.format("nobody.shop"),
        _OF_SHOP.format("*.infra"),
        _OF_SHOP.format("web.${NAMESPACE}"),
    )
}
_WITH_VARIABLE = "{matches: [{path: {value: '${PART}'}}], backendRefs: [{name: checkout, port: 80}]}"
_WITHOUT_VARIABLE = "{matches: [{path: {value: /a}}], backendRefs: [{name: checkout, port: 80}]}"
_EXACT = _WITHOUT_VARIABLE.replace("value: /a", "type: Exact, value: /b")
WORLDS |= {
    f"a rule whose path is a variable, {where}": (ENVOY_GATEWAY, EDGE, route(more=f"rules: [{rules}]"), *more, SERVICE)
    for where, rules, more in (
        ("alone", _WITH_VARIABLE, ()),
        ("behind an exact one", f"{_EXACT}, {_WITH_VARIABLE}", ()),
        ("before another one", f"{_WITH_VARIABLE}, {_WITHOUT_VARIABLE}", ()),
        ("between others", f"{_EXACT}, {_WITH_VARIABLE}, {_WITHOUT_VARIABLE}", ()),
        ("of another route", _WITH_VARIABLE, (route("other", more=TO_CHECKOUT),)),
    )
}
_AUTHENTICATED = "rules: {authentication: {id: {jwt: {issuerUrl: 'https://id.example.com'}}}}"
WORLDS["a policy of Kuadrant at a route whose host another listener takes, for a route of all hosts"] = (
    gateway_class("any", "other.io/gateway-controller"),
    gateway(
        listeners="[{name: one, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
        "{name: two, port: 80, protocol: HTTP, hostname: shop.example.com, allowedRoutes: {namespaces: {from: All}}}]"
    ),
    *(
        part
        for name in ("one", "two")
        for part in (
            route(
                f"to-{name}",
                parents=f"[{{name: edge, namespace: infra, sectionName: {name}}}]",
                more=f"hostnames: [shop.example.com], {TO_CHECKOUT}",
            ),
            policy(*KUADRANT, f"of-{name}", f"HTTPRoute/to-{name}", _AUTHENTICATED, "shop", field="targetRef"),
            policy(*KUADRANT, f"at-{name}", f"Gateway/edge#{name}", _AUTHENTICATED, "infra", field="targetRef"),
        )
    ),
    route("web", more=TO_CHECKOUT),
    SERVICE,
)
