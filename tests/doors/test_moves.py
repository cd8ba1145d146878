"""What `diff` says of requests where an Ingress changes, goes, or stands beside a route for the same host."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run as lint
from policylint.compare import compare, pair_sides, removed_protections
from policylint.simulation import Simulation
from tests.doors.asking import ingress
from tests.worlds import gateway, gateway_class, manifest, opened, policy, route, service

LISTENERS = """[
  {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}},
  {name: https, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}},
   tls: {certificateRefs: [{name: c}]}}]"""
EG = (
    gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway(of_class="envoy", listeners=LISTENERS),
    service("web"),
    service("next"),
)
HOST = "shop.example.com"


def routed(section: str = "", path: str = "/", host: str = HOST) -> str:
    parents = f"[{{name: edge, namespace: infra{section and f', sectionName: {section}'}}}]"
    rules = f"rules: [{{matches: [{{path: {{value: {path}}}}}], backendRefs: [{{name: web, port: 80}}]}}]"
    return route("web", parents=parents, more=f"hostnames: [{host}], {rules}")


def secured(spec: str) -> str:
    return policy("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "web", "HTTPRoute/web", spec, "shop")


def limited(spec: str) -> str:
    return policy("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "web", "HTTPRoute/web", spec, "shop")


EXT_AUTH = "extAuth: {http: {backendRefs: [{name: next, port: 80}]}}"
OFFICE = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
LIMIT = "rateLimit: {type: Local, local: {rules: [{limit: {requests: 5, unit: Second}}]}}"
REDIRECT = route(
    "to-https",
    parents="[{name: edge, namespace: infra, sectionName: http}]",
    more=f"hostnames: [{HOST}], rules: [{{filters: [{{type: RequestRedirect, requestRedirect: {{scheme: https}}}}]}}]",
)


def told(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], around: tuple[str, ...] = EG
) -> tuple[set[str], list[str]]:
    """Return the changes of requests, each with what is asked otherwise, and the findings of warning or above."""
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir()
        simulations.append(opened(tmp_path / side, *around, *manifests))
    return compared(*simulations)


def compared(before: Simulation, after: Simulation) -> tuple[set[str], list[str]]:
    """Return what `told` returns, of simulations."""
    (pair,) = pair_sides([before], [after])
    (environment,) = diff = compare([pair])
    assert environment.requests is not None
    said = {
        f"{each.change} {each.purpose or ', '.join(each.settings)}".strip() for each in environment.requests.changes
    }
    found = removed_protections([pair], diff, None, list(lint(pair.after)))
    return said, [f"{each.severity} {each.rule}" for each in found if each.severity != "note"]


BACKEND_TLS = manifest(
    "gateway.networking.k8s.io/v1",
    "BackendTLSPolicy",
    "web",
    "shop",
    "spec: {targetRefs: [{group: '', kind: Service, name: web}],"
    " validation: {hostname: web.example.com, wellKnownCACertificates: System}}",
)
SSO = {"auth_url": "http://sso/"}


@pytest.mark.parametrize(
    ("before", "after", "changes", "findings"),
    [
        ((ingress(),), (routed(),), set(), []),
        (
            (ingress(**SSO),),
            (routed(),),
            {"opened authentication"},
            ["error GWP302"],
        ),
        (
            (ingress(**SSO),),
            (routed(), secured(EXT_AUTH)),
            {"changed authentication"},
            [],
        ),
        (
            (ingress(auth_type="basic", auth_secret="users"),),
            (routed(),),
            {"opened authentication"},
            ["error GWP302"],
        ),
        (
            (ingress(whitelist_source_range="10.0.0.0/8"),),
            (routed(),),
            {"opened"},
            ["error GWP302"],
        ),
        ((ingress(whitelist_source_range="10.0.0.0/8"),), (routed(), secured(OFFICE)), set(), []),
        (
            (ingress(limit_rps="5"),),
            (routed(),),
            {"less-asked rateLimit"},
            [],
        ),
        ((ingress(limit_rps="5"),), (routed(), limited(LIMIT)), set(), []),
        # TLS to the backends
        ((ingress(backend_protocol="HTTPS"),), (routed(),), {"less-asked backendTLS"}, []),
        ((ingress(backend_protocol="GRPCS"),), (routed(),), {"less-asked backendTLS"}, []),
        ((ingress(backend_protocol="HTTPS"),), (routed(), BACKEND_TLS), {"more-asked validation"}, []),
        ((ingress(backend_protocol="GRPC"),), (routed(),), set(), []),
        (
            (ingress(tls=True),),
            (routed(),),
            {"opened"},
            [],
        ),
        (
            (ingress(tls=True),),
            (routed("https"), REDIRECT),
            {"changed"},
            [],
        ),
        (
            (ingress(tls=True),),
            (routed("https"), REDIRECT.replace(f"hostnames: [{HOST}], ", "")),
            {"changed"},
            [],
        ),
        (
            (ingress(paths="/api ImplementationSpecific web", of_class="kong"),),
            (routed(path="/api"),),
            {"closed"},
            [],
        ),
        (
            (ingress(paths="/api Prefix web", use_regex="true"),),
            (routed(path="/api"),),
            {"closed"},
            [],
        ),
        (
            (ingress(**SSO),),
            (ingress(**SSO), routed()),
            {"opened authentication"},
            ["error GWP302"],
        ),
        ((ingress(**SSO),), (ingress(**SSO), routed(), secured(EXT_AUTH)), None, []),
        ((routed(), secured(EXT_AUTH)), (ingress(),), {"opened authentication"}, ["error GWP302"]),
        ((ingress(**SSO),), (ingress(),), {"opened authentication"}, ["error GWP302"]),
        (
            (ingress(whitelist_source_range="10.0.0.0/8"),),
            (ingress(whitelist_source_range="10.0.0.0/8,192.168.0.0/16"),),
            {"opened"},
            ["warning GWP324"],
        ),
        (
            (ingress(tls=True),),
            (ingress(tls=True, ssl_redirect="false"),),
            {"opened"},
            [],
        ),
        (
            (ingress(),),
            (ingress(), ingress("canary", "/ Prefix next", canary="true", canary_weight="20")),
            {"rerouted"},
            [],
        ),
        (
            (
                ingress(),
                manifest("v1", "ConfigMap", "ingress-nginx-controller", "i", "data: {global-auth-url: 'http://s'}"),
            ),
            (ingress(), manifest("v1", "ConfigMap", "ingress-nginx-controller", "i", "data: {}")),
            {"opened authentication"},
            ["error GWP302"],
        ),
    ],
    ids=[
        "the same requests",
        "login lost",
        "login kept by a policy",
        "password lost",
        "addresses lost",
        "addresses kept",
        "limit lost",
        "limit kept",
        "TLS to the backends lost",
        "TLS to gRPC backends lost",
        "TLS to the backends kept",
        "plain gRPC",
        "redirect lost",
        "redirect kept",
        "redirect of all hosts",
        "text prefix",
        "expressions",
        "side by side without the login",
        "side by side with it",
        "back to an Ingress",
        "an annotation goes",
        "one network more",
        "no redirect any more",
        "a canary",
        "the login of all",
    ],
)
def test_moves(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], changes: set[str] | None, findings: list[str]
) -> None:
    said, found = told(tmp_path, before, after)
    if changes is not None:
        assert said == changes
    assert found == findings
