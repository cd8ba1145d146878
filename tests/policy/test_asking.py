"""What settings ask of requests, by the documentation of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.catalog.kinds import load_catalog
from policylint.documents import read
from policylint.policy.asking import asked, asks
from tests import worlds

KINDS = {
    "agentgateway": ("agentgateway.dev", "AgentgatewayPolicy"),
    "envoy": ("gateway.envoyproxy.io", "SecurityPolicy"),
    "gke": ("networking.gke.io", "GCPBackendPolicy"),
    "istio": ("security.istio.io", "RequestAuthentication"),
    "kgateway": ("gateway.kgateway.dev", "TrafficPolicy"),
    "kuadrant": ("kuadrant.io", "AuthPolicy"),
}
ASKED = [
    ("envoy", "jwt: {providers: []}", "must jwt"),
    ("envoy", "jwt: {optional: false, providers: []}", "must jwt"),
    ("envoy", "jwt: {optional: true, providers: []}", "may jwt (jwt.optional)"),
    ("envoy", "jwt: {failOpen: true, providers: []}", "may jwt (jwt.failOpen)"),
    ("envoy", "{jwt: {optional: true}, basicAuth: {users: {name: x}}}", "may jwt (jwt.optional), must basicAuth"),
    ("envoy", "extAuth: {failOpen: true, http: {}}", "must extAuth"),
    ("envoy", "authorization: {defaultAction: Deny}", "must authorization"),
    ("envoy", "authorization: {defaultAction: Allow}", "may authorization (authorization.defaultAction)"),
    ("envoy", "cors: {allowOrigins: ['*']}", ""),
    ("kgateway", "extAuth: {disable: {}}", ""),
    ("kgateway", "jwtAuth: {disable: {}, extensionRef: {name: x}}", ""),
    ("kgateway", "basicAuth: {users: [x]}", "must basicAuth"),
    ("agentgateway", "traffic: {jwtAuthentication: {providers: []}}", "must jwtAuthentication"),
    (
        "agentgateway",
        "traffic: {jwtAuthentication: {mode: Optional}}",
        "may jwtAuthentication (traffic.jwtAuthentication.mode)",
    ),
    (
        "agentgateway",
        "traffic: {apiKeyAuthentication: {mode: Permissive}}",
        "may apiKeyAuthentication (traffic.apiKeyAuthentication.mode)",
    ),
    ("agentgateway", "traffic: {timeouts: {request: 1s}}", ""),
    ("gke", "iap: {enabled: true, oauth2ClientSecret: {name: x}}", "must iap"),
    ("gke", "iap: {enabled: false, oauth2ClientSecret: {name: x}}", ""),
    ("istio", "jwtRules: [{issuer: x}]", "may jwtRules (jwtRules)"),
    ("kuadrant", "rules: {authentication: {keys: {apiKey: {}}}}", "must authentication"),
    ("kuadrant", "rules: {authorization: {none: {opa: {rego: allow = false}}}}", "must authorization"),
    (
        "kuadrant",
        "rules: {authentication: {all: {anonymous: {}}}}",
        "may authentication (rules.authentication.*.anonymous)",
    ),
    (
        "kuadrant",
        "{when: [{predicate: x}], rules: {authentication: {keys: {apiKey: {}}}}}",
        "may authentication (when)",
    ),
]


def spec(text: str) -> Any:
    return read(text.encode(), "spec.yaml").documents[0].value


@pytest.mark.parametrize(("kind", "settings", "expected"), ASKED)
def test_what_a_spec_asks(kind: str, settings: str, expected: str) -> None:
    known = load_catalog().get(*KINDS[kind])
    assert known is not None
    found = [
        f"{'must' if ask.must else 'may'} {ask.name}" + (f" ({ask.unless})" if ask.unless else "")
        for ask in asks(known, spec(settings))
    ]
    assert ", ".join(found) == expected


@pytest.mark.parametrize(("mode", "must"), [("Strict", True), ("AllowMissing", False)])
def test_an_object_that_a_setting_names_decides(mode: str, must: bool) -> None:
    extension = worlds.manifest(
        "gateway.kgateway.dev/v1alpha1", "GatewayExtension", "id", "shop", f"spec: {{jwt: {{validationMode: {mode}}}}}"
    )
    policy = worlds.policy(
        "gateway.kgateway.dev/v1alpha1",
        "TrafficPolicy",
        "login",
        "HTTPRoute/checkout",
        "jwtAuth: {extensionRef: {name: id}}",
        "shop",
    )
    gateway = worlds.gateway(of_class="kgateway")
    classes = worlds.gateway_class("kgateway", "kgateway.dev/kgateway")
    found = worlds.simulated(classes, gateway, worlds.route(), worlds.service(), extension, policy)
    ((ask,),) = [asked(group.kind, group.effective, found.world, found.catalog) for group in found.groups]
    assert (ask.name, ask.must) == ("jwtAuth", must)
