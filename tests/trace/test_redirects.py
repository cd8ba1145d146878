"""Redirects are followed as clients follow them; a circle is said by `trace` and by GWP411."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.report.kit.display import Paint
from policylint.report.trace import Traced, write
from policylint.simulation import Simulation
from policylint.trace import Tracer, from_url
from policylint.trace.redirects import followed
from tests.worlds import opened

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
    - {name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: edge}]},
       allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: v1
kind: Secret
metadata: {name: edge, namespace: infra}
type: kubernetes.io/tls
"""
SERVICE = "{apiVersion: v1, kind: Service, metadata: {name: app, namespace: shop}, spec: {ports: [{port: 80}]}}\n"
APP = "backendRefs: [{name: app, port: 80}]"


def route(name: str, *rules: str, host: str = "shop.example.com", section: str = "") -> str:
    parent = "{name: edge, namespace: infra" + (f", sectionName: {section}" if section else "") + "}"
    body = "".join(f"    - {{{rule}}}\n" for rule in rules)
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec:
  parentRefs: [{parent}]
  hostnames: [{host}]
  rules:
{body}"""


def redirect(to: str, match: str = "") -> str:
    return f"{match}filters: [{{type: RequestRedirect, requestRedirect: {{{to}}}}}]"


def at(prefix: str) -> str:
    return f"matches: [{{path: {{type: PathPrefix, value: {prefix}}}}}], "


def loops(simulation: Simulation) -> list[str]:
    return [finding.message for finding in run(simulation, select={"GWP411"})]


def met(simulation: Simulation, url: str) -> tuple[list[str], bool]:
    tracer = Tracer(simulation)
    outcome = followed(tracer, tracer.trace(from_url("GET", url)))
    return [str(trace.request) for trace in outcome.traces], outcome.loops


def test_a_redirect_to_https_on_both_listeners_leads_to_itself(tmp_path: Path) -> None:
    world = opened(tmp_path, GATEWAY, route("up", redirect("scheme: https")))
    assert met(world, "http://shop.example.com/a") == (["GET https://shop.example.com/a"], True)
    assert met(world, "https://shop.example.com/a") == ([], True)
    assert loops(world) == ["HTTPRoute shop/up redirects GET https://shop.example.com/ to itself: a loop"]


def test_on_the_http_listener_alone_it_leads_to_the_application(tmp_path: Path) -> None:
    up, app = route("up", redirect("scheme: https"), section="http"), route("app", APP, section="https")
    world = opened(tmp_path, GATEWAY, up, app, SERVICE)
    assert met(world, "http://shop.example.com/a") == (["GET https://shop.example.com/a"], False)
    assert loops(world) == []


def test_where_another_route_takes_the_requests_on_https_there_is_no_loop(tmp_path: Path) -> None:
    up = route("up", redirect("scheme: https"), host="'*.example.com'")
    world = opened(tmp_path, GATEWAY, up, route("app", APP), SERVICE)
    assert met(world, "http://shop.example.com/")[1] is False
    assert loops(world) == ["HTTPRoute shop/up redirects GET https://other.example.com/ to itself: a loop"]


def test_a_circle_by_way_of_another_host(tmp_path: Path) -> None:
    there = route("there", redirect("hostname: www.example.com"))
    back = route("back", redirect("hostname: shop.example.com"), host="www.example.com")
    world = opened(tmp_path, GATEWAY, there, back)
    assert met(world, "https://shop.example.com/a") == (["GET https://www.example.com/a"], True)
    by_way = sorted(message.partition(" by way of ")[2] for message in loops(world))
    assert by_way == ["HTTPRouteRule shop/back#rule-1: a loop", "HTTPRouteRule shop/there#rule-1: a loop"]


@pytest.mark.parametrize(
    "rule",
    [
        redirect("path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}", at("/old")),
        redirect("path: {type: ReplaceFullPath, replaceFullPath: /}", at("/old")),
        redirect("hostname: elsewhere.example.org"),
        redirect("scheme: https, port: 8443"),
    ],
    ids=["another prefix", "another path", "another host", "a port that nothing here listens on"],
)
def test_redirects_that_end(rule: str, tmp_path: Path) -> None:
    world = opened(tmp_path, GATEWAY, route("app", rule, f"{at('/new')}{APP}"), SERVICE)
    assert loops(world) == []


def test_a_path_that_is_put_before_itself_grows_and_is_given_up(tmp_path: Path) -> None:
    rule = redirect("path: {type: ReplacePrefixMatch, replacePrefixMatch: /a/b}", at("/a"))
    world = opened(tmp_path, GATEWAY, route("app", rule))
    requests, is_loop = met(world, "https://shop.example.com/a")
    assert (len(requests), is_loop) == (20, False)


@pytest.mark.parametrize("scheme", ["ftp", "other", "''"])
def test_a_scheme_that_no_gateway_serves_is_not_followed(tmp_path: Path, scheme: str) -> None:
    simulation = opened(tmp_path, GATEWAY, route("web", redirect(f"scheme: {scheme}")), SERVICE)
    trace = Tracer(simulation).trace(from_url("GET", "http://shop.example.com/"))
    assert followed(Tracer(simulation), trace).traces == ()
    assert [finding.rule for finding in run(simulation) if finding.rule == "GWP999"] == []


def test_the_case_of_a_scheme_does_not_matter(tmp_path: Path) -> None:
    web = route("web", redirect("scheme: HTTPS"), section="http")
    app = route("app", APP, section="https")
    simulation = opened(tmp_path, GATEWAY, web, app, SERVICE)
    (after,) = followed(
        Tracer(simulation), Tracer(simulation).trace(from_url("GET", "http://shop.example.com/"))
    ).traces
    assert after.listener is not None
    assert after.listener.name == "https"


def test_what_follows_says_whether_a_login_is_asked_for(tmp_path: Path) -> None:
    simulation = opened(
        tmp_path,
        GATEWAY,
        SERVICE,
        route("plain", redirect("scheme: https"), section="http"),
        route("app", APP, section="https"),
    )
    traced = Traced.of([simulation], [(from_url("GET", "http://shop.example.com/"), {})])
    said = "".join(write("text", traced, Paint(False), 100))
    assert "Then    GET https://shop.example.com/: reaches shop/app, no login." in said
