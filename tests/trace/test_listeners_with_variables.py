"""Listeners with variables as hostnames: of those that may serve a host, the one whose routes name it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.reach import all_ways
from policylint.trace import Tracer, request
from tests.worlds import gateway, gateway_class, opened, route, service

TLS = "tls: {certificateRefs: [{name: cert}]}"

LISTENERS = {
    "http": ("HTTP", 80, ""),
    "https": ("HTTPS", 443, TLS),
    "tls": ("TLS", 443, "tls: {mode: Passthrough}"),
}


def listeners(scheme: str, *hostnames: str) -> str:
    protocol, port, tls = LISTENERS[scheme]
    names = zip(("one", "two", "three"), hostnames, strict=False)
    each = (f"name: {name}, port: {port}, protocol: {protocol}, hostname: '{hostname}'" for name, hostname in names)
    return "[" + ", ".join(f"{{{listener}, {tls}}}" if tls else f"{{{listener}}}" for listener in each) + "]"


@pytest.mark.parametrize("apex", ["one", "two"])
@pytest.mark.parametrize(
    ("scheme", "kind"),
    [("http", "HTTPRoute"), ("https", "HTTPRoute"), ("https", "GRPCRoute"), ("tls", "TLSRoute")],
)
@pytest.mark.parametrize("controller", ["example.net/controller", "gateway.nginx.org/nginx-gateway-controller"])
def test_a_host_of_a_route_is_served_where_the_route_is(
    tmp_path: Path, controller: str, scheme: str, kind: str, apex: str
) -> None:
    """`${DOMAIN}` itself may be any host, and is the narrower pattern: yet the route says which listener is meant."""
    hostnames = ("${DOMAIN}", "*.${DOMAIN}") if apex == "one" else ("*.${DOMAIN}", "${DOMAIN}")
    wildcard = "two" if apex == "one" else "one"
    simulation = opened(
        tmp_path,
        gateway_class("c", controller),
        gateway("gw", "default", listeners(scheme, *hostnames), of_class="c"),
        service("web", "default", "[{port: 80}]"),
        route(
            "app",
            "default",
            f"[{{name: gw, sectionName: {wildcard}}}]",
            more="hostnames: [app.corp.example], rules: [{backendRefs: [{name: web, port: 80}]}]",
        ).replace("kind: HTTPRoute", f"kind: {kind}"),
    )
    asked = request({"scheme": scheme, "host": "app.corp.example", "path": "/x.Y/z"})
    trace = Tracer(simulation).trace(asked._replace(grpc=kind == "GRPCRoute"))
    assert trace.listener is not None
    assert trace.listener.node.section == wildcard
    assert [str(key) for key in trace.outcome.backends] == ["Service default/web"]


def test_what_is_served_outright_goes_before_what_may_be(tmp_path: Path) -> None:
    """A pattern that covers the host as written serves it where it has the route; the variable is another domain."""
    simulation = opened(
        tmp_path,
        gateway_class(),
        gateway("gw", "default", listeners("https", "${DOMAIN}", "*.corp.example"), of_class="any"),
        service("web", "default", "[{port: 80}]"),
        route(
            "app",
            "default",
            "[{name: gw, sectionName: two}]",
            more="hostnames: [app.corp.example], rules: [{backendRefs: [{name: web, port: 80}]}]",
        ),
    )
    (way,) = [way for way in all_ways(simulation) if way.entry.hosts == "app.corp.example"]
    assert way.trace.listener is not None
    assert way.trace.listener.hostname == "*.corp.example"
    assert way.trace.outcome.backends
