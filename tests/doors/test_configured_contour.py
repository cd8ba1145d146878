"""What Contour's configuration says for all HTTPProxies: authorizer, limit, Services that are names.

Predicted from projectcontour/contour @ 31c4bb38e, internal/dag/httpproxy_processor.go: computeRoutes,
computeSecureVirtualHostAuthorization, computeVirtualHostRateLimitPolicy; accessors.go, validateExternalName.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import answer
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

GROUP = "projectcontour.io"
LIMIT = "rateLimitService: {defaultGlobalRateLimitPolicy: {descriptors: [{entries: [{remoteAddress: {}}]}]}}"
NAME = manifest(
    "v1", "Service", "out", "shop", "spec: {type: ExternalName, externalName: a.example.net, ports: [{port: 80}]}"
)


def told(form: str, said: str, name: str = "contour") -> str:
    """Return the configuration of a Contour, in one of its forms."""
    if form == "ConfigMap":
        return manifest("v1", form, name, "projectcontour", f"data: {{contour.yaml: '{said}'}}")
    spec = said if form == "ContourConfiguration" else f"runtimeSettings: {{{said}}}"
    return manifest(f"{GROUP}/v1alpha1", form, name, "projectcontour", f"spec: {{{spec}}}")


def proxy(host: str = "", of_route: str = "", backend: str = "checkout") -> str:
    routes = f"[{{{of_route}services: [{{name: {backend}, port: 80}}]}}]"
    return manifest(
        f"{GROUP}/v1",
        "HTTPProxy",
        "shop",
        "shop",
        f"spec: {{virtualhost: {{fqdn: shop.example.com{host}}}, routes: {routes}}}",
    )


def asked(*manifests: str, url: str = "http://shop.example.com/") -> set[str]:
    """Return the settings that a request meets."""
    traced = Tracer(simulated(service(), *manifests)).trace(from_url("GET", url))
    return {setting for met in traced.policies for setting in met.spec}


FORMS = ("ConfigMap", "ContourConfiguration", "ContourDeployment")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("host", "of_route", "is_limited"),
    [
        ("", "", True),
        (", rateLimitPolicy: {local: {requests: 5, unit: minute}}", "", True),
        (", rateLimitPolicy: {global: {disabled: true}}", "", False),
        ("", "rateLimitPolicy: {global: {disabled: true}}, ", False),
    ],
)
def test_the_default_limit_is_of_hosts_without_a_global_one(
    form: str, host: str, of_route: str, is_limited: bool
) -> None:
    settings = asked(told(form, LIMIT), proxy(host, of_route))
    assert ("globalRateLimit" in settings) == is_limited
    assert "globalRateLimit" not in asked(told(form, "accesslog-format: envoy"), proxy(host, of_route))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("url", ["http://shop.example.com/", "https://shop.example.com/"])
@pytest.mark.parametrize(
    ("common", "host", "of_route", "is_asked"),
    [
        ("", "", "", True),
        (", authPolicy: {disabled: true}", "", "", False),
        (", authPolicy: {disabled: true}", "", "authPolicy: {context: {a: b}}, ", True),
        ("", "", "authPolicy: {disabled: true}, ", False),
        ("", "authorization: {authPolicy: {disabled: true}}", "", False),
        ("", "authorization: {authPolicy: {disabled: true}}", "authPolicy: {context: {a: b}}, ", True),
    ],
)
def test_who_is_asked_for_all_hosts(form: str, url: str, common: str, host: str, of_route: str, is_asked: bool) -> None:
    service_named = (
        "extensionService: projectcontour/login"
        if form == "ConfigMap"
        else "extensionRef: {namespace: projectcontour, name: login}"
    )
    configuration = told(form, f"globalExtAuth: {{{service_named}{common}}}")
    virtual = f", tls: {{secretName: cert}}{f', {host}' if host else ''}"
    insecure = f"permitInsecure: true, {of_route}"
    assert ("externalAuth" in asked(configuration, proxy(virtual, insecure), url=url)) == is_asked


def test_two_contours_that_differ_leave_it_open() -> None:
    asking = told("ContourDeployment", "globalExtAuth: {extensionRef: {namespace: a, name: login}}")
    settings = asked(asking, told("ContourDeployment", "", "other"), proxy())
    assert "unread" in settings
    assert "externalAuth" not in settings


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("said", "reached"), [("debug: true", False), ("enableExternalNameService: true", True)])
def test_a_name_is_taken_where_it_is_switched_on(form: str, said: str, reached: bool) -> None:
    world = simulated(NAME, told(form, said), proxy(backend="out"))
    assert answer(world, "http://shop.example.com/")[0] == ("out" if reached else "503")
    assert [each.rule for each in run(world, select={"GWP415"})] == ([] if reached else ["GWP415"])


def test_a_name_may_be_taken_where_no_configuration_was_seen() -> None:
    world = simulated(NAME, proxy(backend="out"))
    traced = Tracer(world).trace(from_url("GET", "http://shop.example.com/"))
    assert any("enableExternalNameService" in each for each in traced.notes)
    assert not list(run(world, select={"GWP415"}))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("said", "reason"), [("debug: true", "BackendNotFound"), ("enableExternalNameService: true", "")]
)
def test_routes_of_gateway_api_ask_the_same(form: str, said: str, reason: str) -> None:
    rules = "rules: [{backendRefs: [{name: out, port: 80}]}]"
    parts = (gateway_class("own", f"{GROUP}/gateway-controller"), gateway(of_class="own"), route(more=rules))
    (state,) = simulated(*parts, NAME, told(form, said)).topology.routes
    assert [each.reason for each in state.backends] == [reason]
