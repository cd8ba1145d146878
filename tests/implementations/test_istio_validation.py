"""What Istio's CRDs and webhook refuse (docs/design/implementations/istio.md §0 1-2, §1, §3)."""

from __future__ import annotations

import pytest

from tests.implementations.test_istio import deployment, gateway, policy, simulated, state, to

REFUSED = [
    ("AuthorizationPolicy", f"selector: {{}}, {to('Gateway', 'edge')}", "selector-and-targets"),
    ("EnvoyFilter", f"workloadSelector: {{labels: {{app: web}}}}, {to('Gateway', 'edge')}", "selector-and-targets"),
    ("AuthorizationPolicy", f"targetRef: {{kind: Service, name: a}}, {to('Gateway', 'edge')}", "both-forms"),
    (
        "RequestAuthentication",
        "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]",
        "target-kind",
    ),
    ("WasmPlugin", "url: u, targetRefs: [{group: networking.istio.io, kind: Gateway, name: g}]", "target-kind"),
    ("Telemetry", "targetRefs: [{kind: Service, name: a, namespace: bar}]", "target-namespace"),
    ("AuthorizationPolicy", "action: DENY", "no-rules"),
    ("AuthorizationPolicy", "action: CUSTOM, provider: {name: x}, rules: []", "no-rules"),
    ("AuthorizationPolicy", "action: CUSTOM, rules: [{}]", "no-provider"),
    ("AuthorizationPolicy", "provider: {name: x}, rules: [{}]", "provider"),
    ("PeerAuthentication", "portLevelMtls: {80: {mode: STRICT}}", "ports-without-selector"),
    ("PeerAuthentication", "selector: {matchLabels: {a: b}}, portLevelMtls: {70000: {mode: STRICT}}", "port"),
    ("WasmPlugin", "phase: AUTHN", "required"),
    ("TrafficExtension", "phase: AUTHN", "extension"),
    ("TrafficExtension", "wasm: {url: u}, lua: {inlineCode: x}", "extension"),
    ("RequestAuthentication", "selector: {matchLabels: {app: 'w*'}}, jwtRules: [{issuer: a}]", "selector-wildcard"),
    ("EnvoyFilter", "workloadSelector: {labels: {app: '*'}}", "selector-wildcard"),
    ("RequestAuthentication", "jwtRules: [{audiences: [a]}]", "no-issuer"),
    ("RequestAuthentication", "jwtRules: [{issuer: a, jwks: '{}', jwksUri: 'https://a'}]", "jwks"),
    ("AuthorizationPolicy", "rules: [{from: [{source: {}}]}]", "empty-rule"),
    ("AuthorizationPolicy", "rules: [{from: [{}]}]", "empty-rule"),
    ("AuthorizationPolicy", "rules: [{to: [{operation: {methods: []}}]}]", "empty-rule"),
    ("AuthorizationPolicy", "rules: [{when: [{values: [a]}]}]", "empty-rule"),
    ("AuthorizationPolicy", "rules: [{when: [{key: source.ip}]}]", "empty-rule"),
    (
        "AuthorizationPolicy",
        "rules: [{from: [{source: {serviceAccounts: [a], namespaces: [b]}}]}]",
        "service-accounts",
    ),
    (
        "AuthorizationPolicy",
        "action: CUSTOM, provider: {name: x}, rules: [{from: [{source: {namespaces: [a]}}]}]",
        "not-with-custom",
    ),
    (
        "AuthorizationPolicy",
        "action: CUSTOM, provider: {name: x}, rules: [{when: [{key: 'request.auth.claims[a]', values: [b]}]}]",
        "not-with-custom",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "code"), REFUSED)
def test_refused(kind: str, spec: str, code: str) -> None:
    found = simulated(deployment(), gateway(), policy(kind, "one", spec))
    one = state(found, "one")
    assert (one.verdict, one.invalid_code) == ("Invalid", code)
    assert found.groups == []


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("AuthorizationPolicy", ""),  # allow nothing
        ("AuthorizationPolicy", "rules: []"),
        ("AuthorizationPolicy", "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}"),
        ("AuthorizationPolicy", "rules: [{from: [{source: {serviceAccounts: [a]}}]}]"),
        (
            "AuthorizationPolicy",
            "rules: [{when: [{key: source.ip, notValues: [10.0.0.1]}]}]",
        ),
        ("AuthorizationPolicy", "action: CUSTOM, provider: {name: x}, rules: [{to: [{operation: {paths: [/a]}}]}]"),
        ("PeerAuthentication", "selector: {matchLabels: {app: web}}, portLevelMtls: {80: {mode: STRICT}}"),
        ("RequestAuthentication", "jwtRules: [{jwksUri: 'https://a'}]"),
        ("TrafficExtension", "lua: {inlineCode: x}"),
        ("RequestAuthentication", "selector: {matchLabels: {}}, jwtRules: [{issuer: a}]"),
    ],
)
def test_accepted(kind: str, spec: str) -> None:
    assert state(simulated(deployment(), gateway(), policy(kind, "one", spec)), "one").verdict == "Enforced"


JUNK = ["null", "[]", "{}", "[null]", "[[]]", "[x]", "x", "7", "{a: [1]}", "[{a: b}]", "true"]
FIELDS = {
    "AuthorizationPolicy": ("selector", "targetRef", "targetRefs", "rules", "action", "provider"),
    "EnvoyFilter": ("workloadSelector", "targetRefs", "priority", "configPatches"),
    "PeerAuthentication": ("selector", "mtls", "portLevelMtls"),
    "ProxyConfig": ("selector", "concurrency", "environmentVariables", "image"),
    "RequestAuthentication": ("selector", "targetRefs", "jwtRules"),
    "TrafficExtension": ("selector", "targetRefs", "lua", "wasm"),
    "Telemetry": ("selector", "targetRefs", "tracing", "accessLogging", "metrics"),
    "WasmPlugin": ("selector", "url", "phase", "priority"),
}


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, fields in FIELDS.items() for field in fields])
def test_manifests_may_hold_anything_anywhere(kind: str, field: str, junk: str) -> None:
    ambient = "{apiVersion: v1, kind: Namespace, metadata: {name: foo, labels: {istio.io/dataplane-mode: ambient}}}"
    plain = deployment(namespace="bar")
    simulated(ambient, deployment(), plain, gateway(), policy(kind, "one", f"{field}: {junk}", "istio-system"))
    simulated(deployment(), policy(kind, "one", f"{field}: {junk}"), policy(kind, "two", f"{field}: {junk}"))


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "entry",
    [
        "tracing: [{providers: %s}]",
        "tracing: [{match: %s, customTags: %s}]",
        "accessLogging: [{providers: [{name: a}], match: %s, filter: %s, disabled: %s}]",
        "metrics: [{overrides: %s}]",
        "metrics: [{overrides: [{match: %s, tagOverrides: %s, disabled: %s}]}]",
    ],
)
def test_telemetry_may_hold_anything_anywhere(entry: str, junk: str) -> None:
    simulated(deployment(), policy("Telemetry", "one", entry.replace("%s", junk)))
