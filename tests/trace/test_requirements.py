"""What requests are asked for, with what that answer rests on; `trace`, `reach` and guardrails ask the same evaluator.

Predicted from: istio.io/docs/concepts/security, «Authentication policies» (a request without a token passes a
RequestAuthentication; an AuthorizationPolicy with requestPrincipals demands one) and «Authorization policies» (CUSTOM
asks the provider about what it matches); GEP-91 (client certificates); GEP-713 (a policy names its targets).
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policylint.guardrails import guardrails, verdicts
from policylint.reach import all_ways, asked
from policylint.report.kit.identity import Names
from policylint.report.trace.text import result
from policylint.simulation import Simulation
from policylint.trace import Asked, Requirements, Tracer, request
from tests import worlds
from tests.worlds import manifest

ISTIO = worlds.gateway_class("istio", "istio.io/gateway-controller")
OF_EDGE = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
TOKENS = manifest(
    "security.istio.io/v1", "RequestAuthentication", "tokens", "infra",
    f"spec: {{{OF_EDGE}, jwtRules: [{{issuer: 'https://id.example.com', jwksUri: 'https://id.example.com/keys'}}]}}",
)  # fmt: skip
ROUTE = worlds.route("web", more="rules: [{backendRefs: [{name: app, port: 80}]}]")
BASE = (ISTIO, worlds.gateway(of_class="istio"), worlds.service("app"), ROUTE)


def authorization(spec: str, name: str = "who") -> str:
    return manifest("security.istio.io/v1", "AuthorizationPolicy", name, "infra", f"spec: {{{OF_EDGE}, {spec}}}")


def everybody(simulation: Simulation) -> tuple[set[str], str, str]:
    """What `reach`, a guardrail and `trace` say of the login of requests that get to a backend."""
    requirements = Requirements(Tracer(simulation))
    ways = [way for way in all_ways(simulation) if way.trace.outcome.backends]
    reached = {str(asked(requirements, way, "authentication")) for way in ways}
    (verdict,) = verdicts(simulation, guardrails([yaml.safe_load("{name: log in, ask: authentication}")]))
    trace = Tracer(simulation).trace(request({"host": "shop.example.com"}))
    login = requirements.of(trace, "authentication")
    return reached, verdict.state, result(trace, Names.of((simulation,)), login)


WITH_TOKEN = authorization('rules: [{from: [{source: {requestPrincipals: ["*"]}}]}]')
OTHERS = authorization("action: DENY, rules: [{from: [{source: {notRequestPrincipals: ['*']}}]}]")
IN_PART = authorization(
    'rules: [{from: [{source: {requestPrincipals: ["*"]}}]}, {to: [{operation: {paths: [/open]}}]}]'
)
EXTERNAL = authorization("action: CUSTOM, provider: {name: sso}, rules: [{}]")
EXTERNAL_IN_PART = authorization("action: CUSTOM, provider: {name: sso}, rules: [{to: [{operation: {paths: [/a]}}]}]")
LOGINS = {
    "tokens alone": (
        (TOKENS,),
        {"jwtRules by infra/tokens (optional)"},
        "broken",
        "reaches shop/app, jwtRules optional",
    ),
    "only with a token": (
        (TOKENS, WITH_TOKEN),
        {"jwtRules by infra/tokens and token by infra/who"},
        "holds",
        "403: AuthorizationPolicy infra/who turns it away",
    ),
    "none without a token": (
        (TOKENS, OTHERS),
        {"jwtRules by infra/tokens and token by infra/who"},
        "holds",
        "403: AuthorizationPolicy infra/who turns it away",
    ),
    "with a token but for a path": (
        (TOKENS, IN_PART),
        {"jwtRules by infra/tokens and token by infra/who", "jwtRules by infra/tokens (optional)"},
        "broken",
        "403: AuthorizationPolicy infra/who turns it away",
    ),
    "an authorizer outside": (
        (EXTERNAL,),
        {"external authorization by infra/who"},
        "holds",
        "reaches shop/app, external authorization required",
    ),
    "an authorizer outside for a path": (
        (EXTERNAL_IN_PART,),
        {"external authorization by infra/who", "none"},
        "broken",
        "reaches shop/app, no login",
    ),
}


@pytest.mark.parametrize("world", LOGINS)
def test_what_proxies_demand_is_asked(tmp_path: Path, world: str) -> None:
    policies, reached, guardrail, traced = LOGINS[world]
    said = everybody(worlds.opened(tmp_path, *BASE, *policies))
    assert said[:2] == (reached, guardrail)
    assert said[2].startswith(traced)


def test_a_certificate_that_the_listener_demands_is_a_login(tmp_path: Path) -> None:
    tls_of = "tls: {certificateRefs: [{name: own}]}, allowedRoutes: {namespaces: {from: All}}"
    listener = f"[{{name: https, port: 443, protocol: HTTPS, {tls_of}}}]"
    tls = "tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}}}"
    edge = worlds.gateway(listeners=listener, more=tls, of_class="istio")
    pem = "-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----\\n"
    authority = manifest("v1", "ConfigMap", "ca", "infra", f'data: {{ca.crt: "{pem}"}}')
    simulation = worlds.opened(tmp_path, ISTIO, edge, authority, worlds.service("app"), ROUTE)
    tracer = Tracer(simulation)
    trace = tracer.trace(request({"host": "a.test", "scheme": "https", "clientCertificate": "me"}))
    assert str(Requirements(tracer).of(trace, "authentication")) == "client certificate by infra/edge"


CHART = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{chart: {{spec: {{chart: {chart}, sourceRef: {{kind: HelmRepository, name: r}}}}}}, values: {{{values}}}}}
"""


def chart(values: str = "", name: str = "other", namespace: str = "shop", chart: str = "unheard-of") -> str:
    return CHART.format(name=name, namespace=namespace, chart=chart, values=values)


def login_of(tmp_path: Path, *more: str) -> Asked:
    simulation = worlds.opened(tmp_path, *BASE, *more)
    tracer = Tracer(simulation)
    return Requirements(tracer).of(tracer.trace(request({"host": "a.test"})), "authentication")


POLICY = (
    "{apiVersion: security.istio.io/v1, kind: RequestAuthentication, spec: {targetRefs: [{kind: HTTPRoute, name: X}]}}"
)
CHARTS = {
    "of which nothing is known": (chart(), "none (1 chart not rendered)"),
    "of another namespace": (chart(namespace="blog"), "none"),
    "that names other kinds": (chart("networkPolicy: {enabled: true}"), "none (1 chart not rendered)"),
    "that hangs its own route on the Gateway": (
        chart("route: {main: {parentRefs: [{name: edge, namespace: infra}]}}"),
        "none (1 chart not rendered)",
    ),
    "whose values speak of a kind that asks": (chart("securityPolicy: {oidc: {clientID: a}}"), "unknown"),
    "where it is off": (chart("securityPolicy: {enabled: false}"), "none (1 chart not rendered)"),
    "whose values speak of a login of its program": (
        chart("authentication: {type: Anonymous}"),
        "none (1 chart not rendered)",
    ),
    "whose program has such settings deep in": (
        chart("web: {config: {authentication: {enabled: true}}, policies: [a]}"),
        "none (1 chart not rendered)",
    ),
    "whose values target the Gateway under such a name": (
        chart("authentication: {targetRefs: [{kind: Gateway, name: edge}]}"),
        "unknown",
    ),
    "whose values hold an object of such a kind": (
        chart("extra: [{apiVersion: dp.wso2.com/v1alpha2, kind: Authentication, spec: {}}]"),
        "unknown",
    ),
    "whose values hold such a policy for the route": (chart(f"extra: [{POLICY.replace('X', 'web')}]"), "unknown"),
    "whose values hold such a policy for another route": (
        chart(f"extra: [{POLICY.replace('X', 'blog')}]"),
        "none (1 chart not rendered)",
    ),
    "whose templates are known to make none": (chart(chart="cert-manager"), "none"),
    "that is known and holds one in its values": (
        chart(f"extraObjects: [{POLICY.replace('X', 'web')}]", chart="cert-manager"),
        "unknown",
    ),
    "whose values target the Gateway": (chart("login: {targetRefs: [{kind: Gateway, name: edge}]}"), "unknown"),
}


@pytest.mark.parametrize("world", CHARTS)
def test_a_chart_asks_where_its_values_say_so(tmp_path: Path, world: str) -> None:
    manifests, said = CHARTS[world]
    given = login_of(tmp_path, manifests)
    assert str(given).partition(" (HelmRelease shop/other")[0] == said
    assert ("HelmRelease shop/other" in given.why) == (said == "unknown")


UNRELATED = {
    "a policy for another route": manifest(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "x", "shop",
        "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}], "
        "basicAuth: {users: {name: u}}}",
    ),
    "a policy of another kind": manifest(
        "kuadrant.io/v1", "AuthPolicy", "x", "blog",
        "spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: blog}, rules: {}}",
    ),
    "a chart elsewhere": chart("securityPolicy: {oidc: {}}", namespace="blog"),
    "a namespace": worlds.labelled("blog", "{team: blog}"),
}  # fmt: skip


@pytest.mark.parametrize("unrelated", UNRELATED)
@pytest.mark.parametrize("own", [(), (chart(),), (TOKENS, WITH_TOKEN), (chart("securityPolicy: {oidc: {}}"),)])
def test_what_is_unrelated_changes_no_answer(tmp_path: Path, own: tuple[str, ...], unrelated: str) -> None:
    first, second = tmp_path / "without", tmp_path / "with"
    first.mkdir()
    second.mkdir()
    assert login_of(first, *own) == login_of(second, *own, UNRELATED[unrelated])


@pytest.mark.parametrize(
    ("named", "state"),
    [("ed$ENV", "unknown"), ("${WHICH}", "unknown"), ("other-$ENV", "optional"), ("other-${ENV}", "optional")],
)
def test_a_placeholder_may_stand_only_for_what_the_rest_of_a_name_leaves(named: str, state: str) -> None:
    """What scripts fill in, as what renderers do: a policy for other-$ENV is never one for the Gateway edge."""
    policy = manifest(
        "security.istio.io/v1", "AuthorizationPolicy", "who", "infra",
        f"spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: '{named}'}}],"
        " rules: [{from: [{source: {requestPrincipals: ['*']}}]}]}",
    )  # fmt: skip
    simulation = worlds.simulated(*BASE, TOKENS, policy)
    tracer = Tracer(simulation)
    trace = tracer.trace(request({"host": "shop.example.com"}))
    assert Requirements(tracer).of(trace, "authentication").state == state
