"""Listeners without TLS on one port: who serves a host that the narrower listener has no route for."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.simulation.serving import attached
from policylint.trace import Tracer, request
from tests.worlds import gateway, gateway_class, opened, route, service, simulated

LISTENERS = (
    "[{name: any, port: 80, protocol: HTTP}, {name: api, port: 80, protocol: HTTP, hostname: api.example},"
    " {name: safe, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}},"
    " {name: api-safe, port: 443, protocol: HTTPS, hostname: api.example, tls: {certificateRefs: [{name: cert}]}}]"
)

WIDER = ("[]", "['*.example']")
"""Hostnames of a route that are no part of the narrower listener's."""


@pytest.mark.parametrize(
    ("controller", "served"),
    [
        pytest.param("kgateway.dev/kgateway", WIDER, id="kgateway"),
        pytest.param("istio.io/gateway-controller", WIDER, id="Istio"),
        pytest.param("gateway.envoyproxy.io/gatewayclass-controller", WIDER, id="Envoy Gateway"),
        pytest.param("example.net/controller", (), id="Gateway API"),
    ],
)
@pytest.mark.parametrize("hostnames", [*WIDER, "[api.example]"])
@pytest.mark.parametrize("section", ["any", "safe"])
def test_a_route_of_the_wider_listener_serves_where_proxies_share_their_routes(
    tmp_path: Path, controller: str, served: tuple[str, ...], section: str, hostnames: str
) -> None:
    """Gateway API has the narrowest listener alone serve; one route configuration for a port does not tell them apart.

    For hostnames within that of the narrower listener it serves nothing (kgateway, seen by tests/witness at v2.4.0;
    Istio, hostnameAllowedByIsolation). A TLS session is for one listener.
    """
    simulation = opened(
        tmp_path,
        gateway_class("c", controller),
        gateway("gw", "default", LISTENERS, of_class="c"),
        service("web", "default", "[{port: 80}]"),
        route(
            "all",
            "default",
            f"[{{name: gw, sectionName: {section}}}]",
            more=f"hostnames: {hostnames}, rules: [{{backendRefs: [{{name: web, port: 80}}]}}]",
        ),
    )
    scheme = "http" if section == "any" else "https"
    outcome = Tracer(simulation).trace(request({"scheme": scheme, "host": "api.example", "path": "/"})).outcome
    assert bool(outcome.backends) is (hostnames in served and section == "any")
    assert outcome.status == (None if outcome.backends else 404)


@pytest.mark.parametrize("neighbour", ["istio.io/gateway-controller", "kgateway.dev/kgateway"])
def test_a_gateway_of_another_controller_takes_no_hosts_away(neighbour: str) -> None:
    """What one controller leaves to a narrower listener is asked of its own listeners alone."""
    both = "hostnames: [api.example, www.example], rules: [{backendRefs: [{name: web, port: 80}]}]"
    own = (
        gateway_class("c", "example.net/controller"),
        gateway("gw", "default", LISTENERS, of_class="c"),
        service("web", "default", "[{port: 80}]"),
        route("all", "default", "[{name: gw, sectionName: any}]", more=both),
    )
    beside = gateway_class("other", neighbour), gateway("theirs", "default", LISTENERS, of_class="other")
    (alone,), (with_it,) = (
        [each.hostnames for _, each in attached(simulated(*manifests))] for manifests in (own, (*own, *beside))
    )
    assert alone == with_it == ("api.example", "www.example")
