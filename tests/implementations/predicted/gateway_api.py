"""Gateway API itself: who is attached, where requests end, and what stands in statuses, for a class of nobody's."""

from __future__ import annotations

import json

from tests import worlds
from tests.implementations.predicted import Predicted

_TYPES = "github.com/kubernetes-sigs/gateway-api apis/v1"
_TESTS = "github.com/kubernetes-sigs/gateway-api conformance/tests"
SOURCES = {
    "parents": f"{_TYPES}/shared_types.go @ 1c3cc4c41, ParentReference",
    "defaults": f"gateway-api.sigs.k8s.io/geps/gep-3793; {_TYPES}/shared_types.go @ 1c3cc4c41, UseDefaultGateways",
    "routes": f"{_TYPES}/gateway_types.go @ aead4456b, AllowedRoutes and RouteNamespaces",
    "hostnames": f"{_TYPES}/httproute_types.go @ 8a587c3a4, HTTPRouteSpec.Hostnames",
    "intersections": f"{_TESTS}/grpcroute-multiple-routes-attachment-same-hostname-intersection.go @ 39404a7af",
    "matches": f"{_TYPES}/httproute_types.go @ 8a587c3a4, HTTPRouteRule.Matches",
    "grants": f"{_TYPES}/referencegrant_types.go @ 1a5bab6a5",
    "references": f"{_TYPES}/httproute_types.go @ 8a587c3a4, HTTPRouteRule.BackendRefs and Filters",
    "ext-auth": f"{_TESTS}/httproute-external-auth-backendref-not-found.go @ 5a0031b75",
    "weights": f"{_TESTS}/httproute-all-backends-weight-zero.go @ 392ed3fcf",
    "listener-sets": f"{_TYPES}/listenerset_types.go @ e3e00ab0f",
    "protocols": f"{_TESTS}/gateway-listener-protocol-and-route-kind-conflicts.go @ 64e18f1ec",
    "overlaps": f"{_TESTS}/gateway-overlapping-tls-config-hostnames.go @ 003bfade6",
    "clients": f"{_TYPES}/gateway_types.go @ aead4456b, FrontendTLSConfig",
    "certificates": f"{_TESTS}/gateway-secret-missing-referenced-secret.go @ bfbf87882",
    "streams": f"{_TYPES}/tlsroute_types.go @ 24c1bd5e5; {_TESTS}/tcproute-multiple-routes-attachment.go (1.6)",
    "backends": f"{_TYPES}/backendtlspolicy_types.go @ 67ab0be08; {_TESTS}/backendtlspolicy-conflict-resolution.go",
}
REQUEST = {"host": "a.example"}
CLASS = worlds.gateway_class(controller="example.net/conformance")
GOOD = "backendRefs: [{name: checkout, port: 80}]"
BAD = "backendRefs: [{name: checkout, port: 80, weight: 0}]"
"""All requests get 500, whatever else holds."""
TO_EDGE = "{name: edge, namespace: infra"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
ALL = "allowedRoutes: {namespaces: {from: All}}"
PEM = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"


def listener(name: str = "http", port: int = 80, protocol: str = "HTTP", more: str = "", routes: str = ALL) -> str:
    return f"{{name: {name}, port: {port}, protocol: {protocol}{more and ', ' + more}, {routes}}}"


def base(*objects: str, listeners: str = "", gateway: str = "") -> tuple[str, ...]:
    """A Gateway with listeners, a Service, and the objects of a world."""
    listed = f"[{listeners or listener()}]"
    return CLASS, worlds.gateway(listeners=listed, more=gateway), worlds.service(), *objects


def route(
    name: str = "checkout", rules: str = f"{{{GOOD}}}", parent: str = "", hosts: str = "", created: str = "",
    kind: str = "HTTPRoute",
) -> str:  # fmt: skip
    hostnames = f"hostnames: [{hosts}], " if hosts else ""
    return worlds.route(
        name, parents=f"[{parent or TO_EDGE + '}'}]", kind=kind, more=f"{hostnames}rules: [{rules}]", created=created
    )


def rule(matches: str = "", outcome: str = GOOD, filters: str = "") -> str:
    return f"{{{matches and f'matches: [{matches}], '}{filters and f'filters: [{filters}], '}{outcome}}}"


BASE = base(route())
PARENT = "HTTPRoute shop/checkout"
ELSEWHERE = "backendRefs: [{name: web, namespace: back, port: 80}]"
FAR = route(rules=f"{{{ELSEWHERE}}}")
WEB = worlds.service("web", "back")
FROM_SHOP = "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}"
SERVICES = "{group: '', kind: Service}"
PERMITTED, REFUSED = "ResolvedRefs=True/ResolvedRefs", "ResolvedRefs=False/RefNotPermitted"
MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: web, namespace: back, port: 80}}}"


def authoriser(name: str, port: int = 80) -> str:
    backend = f"backendRef: {{name: {name}, port: {port}}}"
    return f"{{type: ExternalAuth, externalAuth: {{protocol: HTTP, http: {{}}, {backend}}}}}"


def selector(expression: str) -> str:
    return f"allowedRoutes: {{namespaces: {{from: Selector, selector: {{{expression}}}}}}}"


def kinds(entry: str) -> str:
    return f"allowedRoutes: {{kinds: [{{{entry}}}], namespaces: {{from: All}}}}"


SET_PARENT = "{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra, namespace: shop"
OWN = "[{name: extra, port: 8080, protocol: HTTP}]"
OLDER_SET = (
    worlds.listener_set("extra", "shop", OWN)
    .replace(f"{worlds.GATEWAY_API}/v1", "gateway.networking.x-k8s.io/v1alpha1")
    .replace("kind: ListenerSet", "kind: XListenerSet")
)
BY_SETS = "allowedListeners: {namespaces: {from: All}}"


def certificate(name: str, namespace: str = "infra") -> str:
    body = f"type: kubernetes.io/tls\nstringData: {{tls.crt: {json.dumps(PEM)}, tls.key: {json.dumps(PEM)}}}"
    return worlds.manifest("v1", "Secret", name, namespace, body)


def secured(name: str = "https", port: int = 443, hostname: str = "", secret: str = "shop") -> str:
    host = hostname and f"hostname: '{hostname}', "
    return listener(name, port, "HTTPS", f"{host}tls: {{certificateRefs: [{{name: {secret}}}]}}")


AUTHORITY = worlds.manifest("v1", "ConfigMap", "clients", "infra", f"data: {{ca.crt: {json.dumps(PEM)}}}")
VALIDATION = "validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: clients}]}"
FALLBACK = VALIDATION.replace("{ca", "{mode: AllowInsecureFallback, ca")
HTTPS = {"scheme": "https", "port": 443}


def tls(
    name: str, *targets: str, namespace: str = "shop", created: str = "", more: str = "wellKnownCACertificates: System"
) -> str:
    entries = ", ".join(map(worlds.reference, targets))
    body = f"spec: {{targetRefs: [{entries}], validation: {{hostname: x.test, {more}}}}}"
    return worlds.manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, namespace, body, created)


DEFAULTED = worlds.route(parents="", more=f"useDefaultGateways: All, rules: [{{{GOOD}}}]")
STREAM = base(
    route("newer", f"{{{BAD}}}", kind="TCPRoute", created=NEW),
    route("older", kind="TCPRoute", created=OLD), listeners=listener("tcp", 9000, "TCP"),
)  # fmt: skip
WORLDS = {
    # Parents.
    "one of two ports is no listener's": Predicted(
        "parents", (), "allowed", lint=("GWP402",), request={"port": 80},
        conditions={PARENT: ("Accepted=True/Accepted", "Accepted=False/NoMatchingParent")},
        base=base(route(parent=f"{TO_EDGE}, port: 80}}, {TO_EDGE}, port: 9090}}"))),
    "a port selects of two listeners one": Predicted(
        "parents", (), "404", request={"port": 8080},
        base=base(route(parent=f"{TO_EDGE}, port: 80}}"), listeners=f"{listener()}, {listener('alt', 8080)}")),
    "a listener of a ListenerSet": Predicted(
        "listener-sets", (), "allowed", request={"port": 8080},
        base=base(worlds.listener_set("extra", "shop", OWN), route(parent=f"{SET_PARENT}, sectionName: extra}}"),
                  gateway=BY_SETS)),
    "a ListenerSet without leave": Predicted(
        "listener-sets", (), "reset", request={"port": 8080}, lint=("GWP403",),
        conditions={"ListenerSet shop/extra": ("Accepted=False/NotAllowed",)},
        base=base(worlds.listener_set("extra", "shop", OWN), route(parent=f"{SET_PARENT}}}"))),
    "a ListenerSet that wants the Gateway's port": Predicted(
        "listener-sets", (), "404", lint=("GWP407",),
        conditions={"ListenerSet shop/extra#extra": ("Conflicted=True/HostnameConflict",),
                    "Listener infra/edge#http": ("Conflicted=False/NoConflicts",)},
        base=base(worlds.listener_set("extra", "shop", OWN.replace("8080", "80")), route(parent=f"{SET_PARENT}}}"),
                  gateway=BY_SETS)),
    "a default Gateway": Predicted(
        "defaults", (), "allowed", base=base(DEFAULTED, gateway="defaultScope: All")),
    "a Gateway that is no default one": Predicted("defaults", (), "404", base=base(DEFAULTED)),
    "a policy behind a default Gateway that was not seen": Predicted(
        "defaults", (tls("p", "Service/checkout"),), "404", {"p": "Enforced"}, base=base(DEFAULTED)),
    # Who may attach.
    "a label that a namespace has not is not in any list": Predicted(
        "routes", (), "allowed",
        base=base(route(), worlds.labelled("shop"), listeners=listener(
            routes=selector("matchExpressions: [{key: tier, operator: NotIn, values: [hidden]}]")))),
    "every namespace has its name as a label": Predicted(
        "routes", (), "allowed",
        base=base(route(), listeners=listener(routes=selector("matchLabels: {kubernetes.io/metadata.name: shop}")))),
    "and no other one": Predicted(
        "routes", (), "404", lint=("GWP403",), conditions={PARENT: ("Accepted=False/NotAllowedByListeners",)},
        base=base(route(), listeners=listener(routes=selector("matchLabels: {kubernetes.io/metadata.name: pay}")))),
    "an empty selector takes all": Predicted(
        "routes", (), "allowed", base=base(route(), listeners=listener(routes=selector("")))),
    "kinds without a group are Gateway API's": Predicted(
        "routes", (), "allowed",
        base=base(route(), listeners=listener(routes=kinds("kind: HTTPRoute")))),
    "an HTTPRoute of another group": Predicted(
        "routes", (), "404", lint=("GWP403",),
        conditions={"Listener infra/edge#http": ("ResolvedRefs=False/InvalidRouteKinds",),
                    PARENT: ("Accepted=False/NotAllowedByListeners",)},
        base=base(route(), listeners=listener(routes=kinds("group: example.net, kind: HTTPRoute")))),
    "calls only": Predicted(
        "routes", (), "404", lint=("GWP403",), conditions={PARENT: ("Accepted=False/NotAllowedByListeners",)},
        base=base(route(), listeners=listener(routes=kinds("kind: GRPCRoute")))),
    "packets are no streams": Predicted(
        "routes", (), "reset", lint=("GWP403",), request={"scheme": "tcp", "port": 9000},
        conditions={"UDPRoute shop/dns": ("Accepted=False/NotAllowedByListeners",)},
        base=base(route("dns", kind="UDPRoute"), listeners=listener("tcp", 9000, "TCP"))),
    "HTTPS takes no TLSRoute": Predicted(
        "streams", (), "404", lint=("GWP403",), request=HTTPS,
        conditions={"TLSRoute shop/checkout": ("Accepted=False/NotAllowedByListeners",)},
        base=base(route(kind="TLSRoute", hosts="a.example"), certificate("shop"), listeners=secured())),
    "a ListenerSet's own namespace is not the Gateway's": Predicted(
        "listener-sets", (), "404", lint=("GWP403", "GWP406"), request={"port": 8080},
        conditions={"HTTPRoute infra/checkout": ("Accepted=False/NotAllowedByListeners",)},
        base=base(worlds.listener_set("extra", "shop", OWN),
                  route(parent=f"{SET_PARENT}}}").replace("namespace: shop}\nspec", "namespace: infra}\nspec"),
                  gateway=BY_SETS)),
    "a set of the older kind": Predicted(
        "listener-sets", (), "allowed", request={"port": 8080},
        base=base(OLDER_SET, route(parent=SET_PARENT.replace("k8s.io, kind: L", "x-k8s.io, kind: XL") + "}"),
                  gateway=BY_SETS)),
    "which listener is meant stands in a variable": Predicted(
        "parents", (), "unknown", base=base(route(parent=f"{TO_EDGE}, sectionName: '${{LISTENER}}'}}"))),
    "and the port, too": Predicted(
        "parents", (), "allowed", base=base(route(parent=f"{TO_EDGE}, port: '${{PORT}}'}}"))),
    # Hostnames.
    "nobody's host": Predicted(
        "hostnames", (), "404", request={"host": "c.example"},
        base=base(route(), listeners=", ".join((
            listener("a", more="hostname: a.example"), listener("b", more="hostname: b.example"))))),
    "a wildcard is not its own end": Predicted(
        "hostnames", (), "404", lint=("GWP404",), request={"host": "example.com"},
        conditions={PARENT: ("Accepted=False/NoMatchingListenerHostname",)},
        base=base(route(hosts="example.com"), listeners=listener(more="hostname: '*.example.com'"))),
    "a wildcard takes names of many labels": Predicted(
        "hostnames", (), "allowed", request={"host": "a.b.example.com"},
        base=base(route(hosts="'*.example.com'"), listeners=listener(more="hostname: '*.b.example.com'"))),
    "a name before a wildcard, whatever the paths": Predicted(
        "hostnames", (), "allowed", request={"host": "a.example", "path": "/exact"},
        base=base(route("wide", rule("{path: {type: Exact, value: /exact}}", BAD), hosts="'*.example'"),
                  route(hosts="a.example"))),
    "a route's own hostname counts, not what is left of it": Predicted(
        "intersections", (), "allowed", request={"host": "abc.example.com"},
        base=base(route("older", f"{{{BAD}}}", hosts="'*.example.com'", created=OLD),
                  route("newer", hosts="abc.example.com", created=NEW),
                  listeners=listener(more="hostname: abc.example.com"))),
    "nor what is left of a wildcard": Predicted(
        "intersections", (), "allowed", request={"host": "abc.example.com"},
        base=base(route("older", f"{{{BAD}}}", hosts="'*.com'", created=OLD),
                  route("newer", hosts="'*.example.com'", created=NEW),
                  listeners=listener(more="hostname: '*.example.com'"))),
    # Matches.
    "a method before headers": Predicted(
        "matches", (), "allowed", request={"headers": {"x-a": "1", "x-b": "2"}},
        base=base(route(rules=", ".join((
            rule("{headers: [{name: x-a, value: '1'}, {name: x-b, value: '2'}]}", BAD), rule("{method: GET}")))))),
    "headers before parameters": Predicted(
        "matches", (), "allowed", request={"headers": {"x-a": "1"}, "path": "/?p=1&q=2"},
        base=base(route(rules=", ".join((
            rule("{queryParams: [{name: p, value: '1'}, {name: q, value: '2'}]}", BAD),
            rule("{headers: [{name: x-a, value: '1'}]}")))))),
    "the first of two alike": Predicted(
        "matches", (), "allowed", lint=("GWP408",), base=base(route(rules=f"{rule()}, {rule(outcome=BAD)}"))),
    "the older of two routes": Predicted(
        "matches", (), "allowed", lint=("GWP408",),
        base=base(route("a", f"{{{BAD}}}", created=NEW), route("b", created=OLD))),
    "an exact path before a longer prefix of another route": Predicted(
        "matches", (), "allowed", request={"path": "/a/b"},
        base=base(route("a", rule("{path: {value: /a/b}, method: GET}", BAD), created=OLD),
                  route("b", rule("{path: {type: Exact, value: /a/b}}"), created=NEW))),
    # References.
    "a grant for another name": Predicted(
        "grants", (), "500", lint=("GWP405",), conditions={PARENT: ("Accepted=True/Accepted", REFUSED)},
        base=base(FAR, WEB, worlds.grant("back", FROM_SHOP, "{group: '', kind: Service, name: api}"))),
    "a grant for calls": Predicted(
        "grants", (), "500", lint=("GWP405",), conditions={PARENT: (REFUSED,)},
        base=base(FAR, WEB, worlds.grant("back", FROM_SHOP.replace("HTTP", "GRPC"), SERVICES))),
    "a grant of the wrong side": Predicted(
        "grants", (), "500", lint=("GWP405",), conditions={PARENT: (REFUSED,)},
        base=base(FAR, WEB, worlds.grant("shop", FROM_SHOP, SERVICES))),
    "a grant of version 1": Predicted(
        "grants", (), "allowed", conditions={PARENT: (PERMITTED,)},
        base=base(FAR, WEB, worlds.grant("back", FROM_SHOP, SERVICES, version="v1"))),
    "a copy that may not go there": Predicted(
        "references", (), "allowed", lint=("GWP405",), conditions={PARENT: (REFUSED,)},
        base=base(route(rules=rule(filters=MIRROR)), WEB)),
    "a copy to nobody": Predicted(
        "references", (), "allowed", lint=("GWP406",), conditions={PARENT: ("ResolvedRefs=False/BackendNotFound",)},
        base=base(route(rules=rule(filters=MIRROR.replace("namespace: back, ", ""))))),
    "a port that the Service has not": Predicted(
        "references", (), "500", lint=("GWP406",), conditions={PARENT: (PERMITTED,)},
        base=base(route(rules=f"{{{GOOD.replace('80', '81')}}}"))),
    "the core group has no name": Predicted(
        "references", (), "500", lint=("GWP406",), conditions={PARENT: ("ResolvedRefs=False/InvalidKind",)},
        base=base(route(rules="{backendRefs: [{group: core, kind: Service, name: checkout, port: 80}]}"))),
    "nobody who authorises": Predicted(
        "ext-auth", (), "500", lint=("GWP406",), conditions={PARENT: ("ResolvedRefs=False/BackendNotFound",)},
        base=base(route(rules=rule(filters=authoriser("login"))))),
    "an authoriser on a port that is not there": Predicted(
        "ext-auth", (), "500", lint=("GWP406",), conditions={PARENT: ("ResolvedRefs=False/BackendNotFound",)},
        base=base(route(rules=rule(filters=authoriser("checkout", 9999))))),
    "an authoriser of another namespace": Predicted(
        "references", (), "500", lint=("GWP405",), conditions={PARENT: (REFUSED,)},
        base=base(WEB, route(rules=rule(filters=authoriser("web, namespace: back"))))),
    "an authoriser that is there": Predicted(
        "references", (), "allowed, externalAuth required",
        base=base(route(rules=rule(filters=authoriser("checkout"))))),
    "a filter that nobody has": Predicted(
        "references", (), "500", lint=("GWP406",),
        base=base(worlds.manifest("example.net/v1", "Thing", "other", "shop", "spec: {}"), route(rules=rule(
            filters="{type: ExtensionRef, extensionRef: {group: example.net, kind: Thing, name: mine}}")))),
    "all weights zero": Predicted(
        "weights", (), "500", conditions={PARENT: (PERMITTED,)}, base=base(route(rules=f"{{{BAD}}}"))),
    # Listeners.
    "HTTPS and TLS for the same hosts of a port": Predicted(
        "protocols", (), "reset", lint=("GWP407",), request={"scheme": "https", "port": 8443},
        conditions={"Listener infra/edge#https": ("Conflicted=True/ProtocolConflict",),
                    "Listener infra/edge#tls": ("Conflicted=True/ProtocolConflict",)},
        base=base(route(), certificate("shop"), listeners=", ".join((
            secured(port=8443), listener("tls", 8443, "TLS", "tls: {mode: Passthrough}"))))),
    "names that a wildcard has, too": Predicted(
        "overlaps", (), "allowed", request={**HTTPS, "host": "foo.example.com"},
        conditions={"Listener infra/edge#foo": ("OverlappingTLSConfig=True/OverlappingHostnames",),
                    "Listener infra/edge#wild": ("OverlappingTLSConfig=True/OverlappingHostnames",),
                    "Listener infra/edge#own": ("!OverlappingTLSConfig",),
                    "Listener infra/edge#other": ("!OverlappingTLSConfig",)},
        base=base(route(), certificate("shop"), listeners=", ".join((
            secured("foo", hostname="foo.example.com"), secured("wild", hostname="*.example.com"),
            secured("own", hostname="example.com"), secured("other", 9443, hostname="foo.example.com"))))),
    "a certificate is a Secret": Predicted(
        "certificates", (), "reset", request=HTTPS,
        conditions={"Listener infra/edge#https": ("ResolvedRefs=False/InvalidCertificateRef",)},
        base=base(route(), AUTHORITY, listeners=secured(secret="clients, kind: ConfigMap"))),
    "every client has to show who it is": Predicted(
        "clients", (), "reset", request=HTTPS,
        base=base(route(), certificate("shop"), AUTHORITY, listeners=secured(),
                  gateway=f"tls: {{frontend: {{default: {{{VALIDATION}}}}}}}")),
    "but on a port of its own rules": Predicted(
        "clients", (), "allowed, client certificate not required", request={**HTTPS, "port": 8443},
        base=base(route(), certificate("shop"), AUTHORITY, listeners=f"{secured()}, {secured('alt', 8443)}",
                  gateway=f"tls: {{frontend: {{default: {{{VALIDATION}}}, "
                  f"perPort: [{{port: 8443, tls: {{{FALLBACK}}}}}]}}}}")),
    "nor on one whose rules are empty": Predicted(
        "clients", (), "allowed", request={**HTTPS, "port": 8443},
        base=base(route(), certificate("shop"), AUTHORITY, listeners=f"{secured()}, {secured('alt', 8443)}",
                  gateway=f"tls: {{frontend: {{default: {{{VALIDATION}}}, perPort: [{{port: 8443, tls: {{}}}}]}}}}")),
    # Streams.
    "the older of two TCPRoutes": Predicted(
        "streams", (), "allowed", lint=("GWP408",), request={"scheme": "tcp", "port": 9000}, base=STREAM),
    "TLS that is ended, by name": Predicted(
        "streams", (), "allowed", request={"scheme": "tls", "port": 443, "host": "a.example"},
        base=base(route(kind="TLSRoute", hosts="a.example"), certificate("shop"),
                  listeners=listener("tls", 443, "TLS", "tls: {certificateRefs: [{name: shop}]}"))),
    "and of another name": Predicted(
        "streams", (), "reset", request={"scheme": "tls", "port": 443, "host": "b.example"},
        base=base(route(kind="TLSRoute", hosts="a.example"), certificate("shop"),
                  listeners=listener("tls", 443, "TLS", "tls: {certificateRefs: [{name: shop}]}"))),
    # Backends.
    "TLS for two Services": Predicted(
        "backends", (tls("p", "Service/checkout", "Service/web"),), "allowed", {"p": "Enforced"},
        base=base(route(rules="{backendRefs: [{name: checkout, port: 80}, {name: web, port: 80}]}"),
                  worlds.service("web"))),
    "of two for one Service the older, though the other has a second": Predicted(
        "backends",
        (tls("a", "Service/checkout", "Service/web", created=NEW), tls("b", "Service/checkout", created=OLD)),
        "allowed", {"a": "PartiallyEnforced", "b": "Enforced"},
        base=base(route(rules="{backendRefs: [{name: checkout, port: 80}, {name: web, port: 80}]}"),
                  worlds.service("web"))),
    "TLS for a port that no route uses": Predicted(
        "backends", (tls("p", "Service/web#admin"),), "allowed", {"p": "NoEffect"}, (),
        base=base(route(rules="{backendRefs: [{name: web, port: 80}]}"),
                  worlds.service("web", ports="[{name: http, port: 80}, {name: admin, port: 81}]"))),
    "a name of a sort that it has not": Predicted(
        "backends",
        (tls("p", "Service/checkout", more="wellKnownCACertificates: System, subjectAltNames: [{type: URI}]"),),
        "allowed", {"p": "Invalid"}, base=BASE),
    "a port has a name": Predicted(
        "backends", (tls("p", "Service/checkout#80"),), "allowed", {"p": "TargetNotFound"}, ("GWP103",), base=BASE),
    "TLS policies are of the Service's namespace": Predicted(
        "backends", (tls("p", "Service/checkout", namespace="infra"),), "allowed", {"p": "TargetNotFound"},
        ("GWP101",), base=BASE),
    "one kind of authority, not two": Predicted(
        "backends",
        (tls("p", "Service/checkout",
             more="wellKnownCACertificates: System, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]"),),
        "allowed", {"p": "Invalid"},
        base=(*BASE, worlds.manifest("v1", "ConfigMap", "ca", "shop", f"data: {{ca.crt: {json.dumps(PEM)}}}"))),
}  # fmt: skip
