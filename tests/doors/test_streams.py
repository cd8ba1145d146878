"""Connections at ingress controllers: IngressRouteTCP and UDP, `tcpproxy` of HTTPProxies, and kinds for streams.

What is expected was written down from the documentation of each controller first; for Traefik and Contour from their
source (pkg/server/router/tcp, internal/dag/httpproxy_processor.go).
"""

from __future__ import annotations

import pytest

from policylint.doors.peculiar import ENTRIES
from policylint.doors.vendors import stream_kinds
from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated


def traefik(match: str = "HostSNI(`*`)", more: str = "", points: str = "[dbs]", to: str = "web", tls: str = "") -> str:
    route = f"{{match: '{match}', services: [{{name: {to}, port: 80}}]{more}}}"
    spec = f"spec: {{entryPoints: {points}, routes: [{route}]{f', tls: {tls}' if tls else ''}}}"
    return manifest("traefik.io/v1alpha1", "IngressRouteTCP", to, "shop", spec)


UDP = manifest(
    "traefik.io/v1alpha1",
    "IngressRouteUDP",
    "u",
    "shop",
    "spec: {entryPoints: [dns], routes: [{services: [{name: web, port: 80}]}]}",
)


def middleware(spec: str) -> str:
    return manifest("traefik.io/v1alpha1", "MiddlewareTCP", "m", "shop", f"spec: {spec}")


LIMITED = middleware("{ipAllowList: {sourceRange: [10.0.0.0/8]}}")
BY_NAME = "HostSNI(`db.example.com`)"


def proxy(tcp: str, tls: str = "{passthrough: true}", routes: str = "", host: str = "db.example.com") -> str:
    virtual = f"virtualhost: {{fqdn: {host}, tls: {tls}}}, " if host else ""
    spec = f"spec: {{{virtual}tcpproxy: {tcp}{routes}}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "root" if host else "child", "shop", spec)


TO_WEB = "{services: [{name: web, port: 80}]}"
CHECKED = "{secretName: c, clientValidation: {caSecret: ca}}"


def kong(kind: str, rule: str, notes: str = "") -> str:
    body = f"spec: {{rules: [{rule}]}}"
    return manifest("configuration.konghq.com/v1beta1", kind, "k", "shop", body, more=f"annotations: {{{notes}}}")


def nginx(listener: str, more: str = "") -> str:
    upstreams = "upstreams: [{name: a, service: next, port: 80}, {name: b, service: web, port: 80}]"
    spec = f"spec: {{listener: {listener}, {upstreams}, action: {{pass: b}}{more}}}"
    return manifest("k8s.nginx.org/v1", "TransportServer", "t", "shop", spec)


LISTENERS = manifest(
    "k8s.nginx.org/v1",
    "GlobalConfiguration",
    "nginx",
    "nginx-ingress",
    "spec: {listeners: [{name: db, port: 5432, protocol: TCP}, {name: dns, port: 53, protocol: UDP}]}",
)
BACKEND = "backend: {serviceName: web, servicePort: 80}"


def apisix(stream: str) -> str:
    return manifest("apisix.apache.org/v2", "ApisixRoute", "a", "shop", f"spec: {{{stream}}}")


def emissary(more: str) -> str:
    return manifest("getambassador.io/v3alpha1", "TCPMapping", "e", "shop", f"spec: {{port: 9000, {more}}}")


@pytest.mark.parametrize(
    ("objects", "url", "gateway", "end"),
    [
        # Traefik: by server name where there is TLS
        ((traefik(),), "tcp://:0", "EntryPoints/dbs", "web"),
        ((traefik(tls="{}"),), "tls://a.example.com:0", "EntryPoints/dbs", "web"),
        ((traefik(BY_NAME, tls="{passthrough: true}"),), "tls://db.example.com:0", "EntryPoints/dbs", "web"),
        ((traefik(BY_NAME, tls="{}"),), "tls://a.example.com:0", "EntryPoints/dbs", "refused"),
        ((traefik(BY_NAME), traefik(to="next", tls="{}")), "tcp://:0", "EntryPoints/dbs", "refused"),
        (
            (traefik(tls="{}"), traefik(BY_NAME, to="next", tls="{}")),
            "tls://db.example.com:0",
            "EntryPoints/dbs",
            "next",
        ),
        ((traefik("HostSNI(`a.b`) || HostSNI(`c.d`)", tls="{}"),), "tls://c.d:0", "EntryPoints/dbs", "web"),
        ((traefik(points="[websecure]", tls="{}"),), "tls://a.b:443", "EntryPoints/websecure", "web"),
        ((UDP,), "udp://:0", "EntryPoints/dns", "web"),
        # Contour: `tcpproxy` in place of routes where there is TLS
        ((proxy(TO_WEB),), "tls://db.example.com:443", "HTTPProxies/contour", "web"),
        ((proxy(TO_WEB),), "https://db.example.com/", "HTTPProxies/contour", "web"),
        ((proxy(TO_WEB, "{secretName: c}"),), "tls://db.example.com:443", "HTTPProxies/contour", "web"),
        ((proxy(TO_WEB),), "tls://a.example.com:443", "HTTPProxies/contour", "404"),
        (
            (proxy("{include: {name: child}}"), proxy(TO_WEB, host="")),
            "tls://db.example.com:443",
            "HTTPProxies/contour",
            "web",
        ),
        (
            (proxy(TO_WEB, routes=", routes: [{services: [{name: next, port: 80}], permitInsecure: true}]"),),
            "http://db.example.com/",
            "HTTPProxies/contour",
            "next",
        ),
        # Kong
        ((kong("TCPIngress", f"{{port: 9000, {BACKEND}}}"),), "tcp://:9000", "", "web"),
        ((kong("TCPIngress", f"{{port: 9000, host: a.b, {BACKEND}}}"),), "tls://a.b:9000", "", "web"),
        ((kong("TCPIngress", f"{{port: 9000, host: a.b, {BACKEND}}}"),), "tls://c.b:9000", "", "refused"),
        ((kong("UDPIngress", f"{{port: 53, {BACKEND}}}"),), "udp://:53", "", "web"),
        # NGINX: by the listener of a GlobalConfiguration, or the one for TLS that is passed on
        ((nginx("{name: db, protocol: TCP}"), LISTENERS), "tcp://:5432", "", "web"),
        ((nginx("{name: dns, protocol: UDP}"), LISTENERS), "udp://:53", "", "web"),
        ((nginx("{name: db, protocol: TCP}"),), "tcp://:0", "Streams/nginx-inc-db", "web"),
        ((nginx("{name: tls-passthrough, protocol: TLS_PASSTHROUGH}", ", host: a.b"),), "tls://a.b:443", "", "web"),
        # APISIX, Emissary, HAProxy
        ((apisix(f"stream: [{{protocol: TCP, match: {{ingressPort: 9000}}, {BACKEND}}}]"),), "tcp://:9000", "", "web"),
        ((apisix(f"stream: [{{protocol: UDP, match: {{ingressPort: 53}}, {BACKEND}}}]"),), "udp://:53", "", "web"),
        ((emissary("service: 'web:80'"),), "tcp://:9000", "", "web"),
        ((emissary("service: 'tcp://web.shop.svc:80', host: a.b"),), "tls://a.b:9000", "", "web"),
        (
            (
                manifest(
                    "ingress.v1.haproxy.org/v1",
                    "TCP",
                    "h",
                    "shop",
                    "spec: [{frontend: {binds: [{port: 9000}]}, service: {name: web, port: 80}}]",
                ),
            ),
            "tcp://:9000",
            "",
            "web",
        ),
    ],
)
def test_where_connections_end(objects: tuple[str, ...], url: str, gateway: str, end: str) -> None:
    assert answer(simulated(service("web"), service("next"), *objects), url, gateway=gateway)[0] == end


@pytest.mark.parametrize(
    ("objects", "client", "end"),
    [
        ((traefik(more=", middlewares: [{name: m}]"), LIMITED), "10.1.2.3", "web"),
        ((traefik(more=", middlewares: [{name: m}]"), LIMITED), "203.0.113.9", "refused"),
        ((traefik(more=", middlewares: [{name: m}]"), middleware("{inFlightConn: {amount: 1}}")), "203.0.113.9", "web"),
    ],
)
def test_who_is_let_in_by_address(objects: tuple[str, ...], client: str, end: str) -> None:
    assert answer(simulated(service("web"), *objects), "tcp://:0", client, gateway="EntryPoints/dbs")[0] == end


@pytest.mark.parametrize(
    ("objects", "url", "state"),
    [
        ((traefik(),), "tcp://:0", "open"),
        ((traefik(more=", middlewares: [{name: m}]"),), "tcp://:0", "unknown"),
        ((traefik("ClientIP(`10.0.0.0/8`)"),), "tcp://:0", "unknown"),
        ((proxy(TO_WEB, CHECKED),), "tls://db.example.com:443", "asked"),
        ((kong("TCPIngress", f"{{port: 9000, {BACKEND}}}"),), "tcp://:9000", "open"),
        ((kong("TCPIngress", f"{{port: 9000, {BACKEND}}}", "konghq.com/plugins: acl"),), "tcp://:9000", "unknown"),
    ],
)
def test_what_is_asked(objects: tuple[str, ...], url: str, state: str) -> None:
    tracer = Tracer(simulated(service("web"), *objects))
    trace = tracer.trace(from_url("GET", url))
    assert Requirements(tracer).of(trace, "authentication").state == state


def test_every_kind_that_takes_connections_is_looked_for() -> None:
    assert set(stream_kinds()) < set(ENTRIES)


def test_requests_that_kinds_which_nobody_reads_may_take_are_said_to_be_such() -> None:
    mapping = manifest("getambassador.io/v3alpha1", "Mapping", "v", "shop", "spec: {hostname: a.b, prefix: /}")
    trace = Tracer(simulated(service("web"), traefik(), mapping)).trace(from_url("GET", "http://a.b/"))
    assert "Mappings of Emissary may take it, and are not read" in trace.notes
