"""What policies of Envoy Gateway name besides their targets: there, missing, not granted, and what requests then get.

Predicted from internal/gatewayapi/{securitypolicy,envoyextensionpolicy,ext_service,validate}.go.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.trace import Tracer, request
from tests import worlds

WORLD = (
    worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
    worlds.gateway(of_class="envoy"),
    worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
    worlds.service(),
    worlds.service("auth", ports="[{name: grpc, port: 9000}]"),
    worlds.service("auth", "infra", ports="[{name: grpc, port: 9000}]"),
    worlds.manifest("v1", "Secret", "keys", "shop"),
    worlds.manifest("v1", "ConfigMap", "lua", "shop", "data: {lua: function envoy_on_request(h) end}"),
)
GRANT = worlds.grant(
    "infra",
    "{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: shop}",
    "{group: '', kind: Service, name: auth}",
)


def ext_auth(reference: str, more: str = "") -> tuple[str, str]:
    return "SecurityPolicy", f"extAuth: {{grpc: {{backendRefs: [{{{reference}}}]}}{more}}}"


WASM = "wasm: [{name: x, code: {type: Image, image: {url: oci}}}]"


def script(name: str) -> str:
    return f"lua: [{{type: ValueRef, valueRef: {{group: '', kind: ConfigMap, name: {name}}}}}]"


def ext_proc(*references: str, more: str = "") -> tuple[str, str]:
    processors = ", ".join(f"{{backendRefs: [{{{reference}}}]{more}}}" for reference in references)
    return "EnvoyExtensionPolicy", f"extProc: [{processors}]"


JWKS = "remoteJWKS: {uri: https://id/jwks, backendRefs: [{name: gone, port: 443}]}"
FINE, REFUSED, OPEN = ("Enforced", None), ("Invalid", 500), ("Invalid", None)
WORLDS = {
    "a backend": (ext_auth("name: auth, port: 9000"), FINE),
    "a backend that is missing": (ext_auth("name: gone, port: 9000"), REFUSED),
    "a port that is missing": (ext_auth("name: auth, port: 9001"), REFUSED),
    "a backend elsewhere": (ext_auth("name: auth, namespace: infra, port: 9000"), REFUSED),
    "a backend that fails open": (ext_auth("name: gone, port: 9000", ", failOpen: true"), OPEN),
    "a variable": (ext_auth("name: '${AUTH}', port: 9000"), FINE),
    "a namespace of which nothing is seen": (ext_auth("kind: Backend, group: gateway.envoyproxy.io, name: x"), FINE),
    "keys of a provider": (("SecurityPolicy", f"jwt: {{providers: [{{name: id, {JWKS}}}]}}"), REFUSED),
    "a Secret of keys": (("SecurityPolicy", "apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: []}"), FINE),
    "a Secret that is missing": (("SecurityPolicy", "basicAuth: {users: {name: gone}}"), REFUSED),
    "a processor": (ext_proc("name: auth, port: 9000"), FINE),
    "the second processor": (ext_proc("name: auth, port: 9000", "name: gone, port: 9000"), REFUSED),
    "a processor that fails open": (ext_proc("name: gone, port: 9000", more=", failOpen: true"), OPEN),
    "a script": (
        ("EnvoyExtensionPolicy", "lua: [{type: ValueRef, valueRef: {group: '', kind: ConfigMap, name: lua}}]"),
        FINE,
    ),
    "no script": (
        ("EnvoyExtensionPolicy", "lua: [{type: ValueRef, valueRef: {group: '', kind: ConfigMap, name: gone}}]"),
        REFUSED,
    ),
}


@pytest.mark.parametrize(("policy", "expected"), WORLDS.values(), ids=list(WORLDS))
def test_what_a_policy_names(policy: tuple[str, str], expected: tuple[str, int | None]) -> None:
    kind, spec = policy
    own = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "own", "HTTPRoute/checkout", spec, "shop")
    simulation = worlds.simulated(*WORLD, own)
    outcome = Tracer(simulation).trace(request({"host": "shop.example"})).outcome
    assert (worlds.state(simulation, "own").verdict, outcome.status) == expected


PARTLY = {
    "of two processors one": (
        "EnvoyExtensionPolicy",
        "extProc: [{backendRefs: [{name: gone, port: 1}], failOpen: true}, {backendRefs: [{name: auth, port: 9000}]}]",
        {"extProc": [{"backendRefs": [{"name": "auth", "port": 9000}]}]},
    ),
    "the only processor": ("EnvoyExtensionPolicy", ext_proc("name: gone, port: 1", more=", failOpen: true")[1], {}),
    "the external authorization": (
        "SecurityPolicy",
        ext_auth("name: gone, port: 9000", ", failOpen: true")[1] + ", cors: {maxAge: 1s}",
        {"cors": {"maxAge": "1s"}},
    ),
}


@pytest.mark.parametrize("name", PARTLY)
def test_only_what_fails_open_is_left_out(name: str) -> None:
    """The rest acts, and the place is held: the Gateway's policy stays out (`r.Security`, `r.EnvoyExtensions` are set).

    internal/gatewayapi/envoyextensionpolicy.go (`buildExtProcs`), securitypolicy.go (`shouldFailOpen`).
    """
    kind, spec, left = PARTLY[name]
    own = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "own", "HTTPRoute/checkout", spec, "shop")
    more = (
        "basicAuth: {users: {name: x}}"
        if kind == "SecurityPolicy"
        else "wasm: [{name: x, code: {type: Image, image: {url: oci}}}]"
    )
    above = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "above", "Gateway/edge", more, "infra")
    simulation = worlds.simulated(*WORLD, worlds.manifest("v1", "Secret", "x", "infra"), own, above)
    assert worlds.verdicts(simulation) == {"own": "Invalid", "above": "Overridden"}
    (group,) = (group for group in simulation.groups if group.routes())
    assert group.effective.spec == left
    (finding,) = (finding for finding in run(simulation) if finding.rule == "GWP111")
    partly, wholly = "this part of the policy does not take effect", "no part of this policy takes effect"
    assert finding.label == (partly if left else wholly)


def test_a_grant_lets_a_policy_name_a_backend_elsewhere() -> None:
    kind, spec = ext_auth("name: auth, namespace: infra, port: 9000")
    own = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "own", "HTTPRoute/checkout", spec, "shop")
    assert worlds.verdicts(worlds.simulated(*WORLD, own, GRANT)) == {"own": "Enforced"}


def test_a_policy_that_is_refused_keeps_the_one_of_the_gateway_out() -> None:
    kind, spec = ext_auth("name: gone, port: 9000")
    own = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "own", "HTTPRoute/checkout", spec, "shop")
    above = worlds.policy(
        "gateway.envoyproxy.io/v1alpha1", kind, "above", "Gateway/edge", "basicAuth: {users: {name: x}}", "infra"
    )
    simulation = worlds.simulated(*WORLD, own, above)
    assert worlds.state(simulation, "own").verdict == "Invalid"
    assert all("basicAuth" not in group.effective.spec for group in simulation.groups if group.routes())


EXTERNAL = worlds.manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "Backend",
    "ext",
    "shop",
    "spec: {endpoints: [{fqdn: {hostname: api.example.net, port: 443}}]}",
)
TLS = worlds.manifest(
    "gateway.networking.k8s.io/v1",
    "BackendTLSPolicy",
    "tls",
    "shop",
    "spec: {targetRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: ext, sectionName: '443'}],"
    " validation: {hostname: api.example.net, wellKnownCACertificates: System}}",
)
KEYS = worlds.manifest(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "login",
    "shop",
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}], jwt: {providers: [{name: id,"
    " remoteJWKS: {uri: 'https://api.example.net/keys', backendRefs: [{group: gateway.envoyproxy.io, kind: Backend,"
    " name: ext, port: 443}]}}]}}",
)


@pytest.mark.parametrize(
    ("port", "policy", "verdict", "secured"),
    [
        ("", "", "TargetNotFound", False),
        (", port: 443", "", "Enforced", True),
        (", port: 8443", "", "TargetNotFound", False),
        ("", KEYS, "Enforced", False),
    ],
)
def test_a_port_of_a_backend_is_that_of_the_reference(
    tmp_path: Path, port: str, policy: str, verdict: str, secured: bool
) -> None:
    """Most references to a Backend name no port, and a policy for one of its ports is not for them."""
    backend = f"{{group: gateway.envoyproxy.io, kind: Backend, name: ext{port}}}"
    simulation = worlds.opened(
        tmp_path,
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="eg"),
        worlds.route("web", parents="[{name: edge}]", more=f"rules: [{{backendRefs: [{backend}]}}]"),
        EXTERNAL,
        TLS,
        *filter(None, [policy]),
    )
    assert worlds.state(simulation, "tls").verdict == verdict
    trace = Tracer(simulation).trace(request({"host": "a.example.com", "path": "/"}))
    assert trace.backend_tls == secured
    said = [finding.label for finding in run(simulation) if finding.rule == "GWP103"]
    assert said == ([] if verdict == "Enforced" else ["no reference to Backend shop/ext that was seen names port 443"])


PEM = "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----"
KEYS = "jwt: {providers: [{name: id, localJWKS: {type: ValueRef, valueRef: {group: '', kind: ConfigMap, name: held}}}]}"
BODY = "body: {type: ValueRef, valueRef: {group: '', kind: ConfigMap, name: held}}"
HOLDERS = {
    "script": ("EnvoyExtensionPolicy", script("held")),
    "keys": ("SecurityPolicy", KEYS),
    "body": ("BackendTrafficPolicy", f"responseOverride: [{{match: {{statusCodes: []}}, response: {{{BODY}}}}}]"),
    "CAs": (
        "ClientTrafficPolicy",
        "tls: {clientValidation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: held}]}}",
    ),
    "revoked": (
        "ClientTrafficPolicy",
        "tls: {clientValidation: {mode: Request, crl: {refs: [{group: '', kind: ConfigMap, name: held}]}}}",
    ),
}
TAKEN, TURNED_DOWN = True, False


@pytest.mark.parametrize(
    ("holder", "held", "taken"),
    [
        *((holder, "", TURNED_DOWN) for holder in HOLDERS),
        ("script", "{lua: function envoy_on_request(h) end}", TAKEN),
        ("script", "{lua: return}", TURNED_DOWN),  # of no function that Envoy calls; seen by tests/witness
        ("script", "{a: envoy_on_request = nil, b: envoy_on_response = nil}", TAKEN),  # whichever comes first
        ("keys", "{jwks: '{}'}", TAKEN),
        ("keys", "{a: '{}', b: '{}'}", TAKEN),
        ("body", "{response.body: text}", TAKEN),
        ("body", "{a: text, b: text}", TAKEN),
        ("CAs", f'{{ca.crt: "{PEM}"}}', TAKEN),
        ("CAs", f'{{bundle.pem: "{PEM}"}}', TAKEN),  # the only entry is read, whatever its name
        ("CAs", f'{{bundle.pem: "{PEM}", readme: text}}', TURNED_DOWN),
        ("CAs", "{ca.crt: text}", TURNED_DOWN),
        ("CAs", "{bundle.pem: text}", TURNED_DOWN),
        ("CAs", "{ca.crt: '${CA}'}", TAKEN),
        ("revoked", f'{{ca.crl: "{PEM}"}}', TAKEN),
        ("revoked", f'{{other: "{PEM}", readme: text}}', TURNED_DOWN),
    ],
)
def test_what_a_config_map_holds(holder: str, held: str, taken: bool) -> None:
    """Asked of Envoy Gateway's translator at v1.9.1."""
    kind, spec = HOLDERS[holder]
    target, namespace = ("Gateway/edge", "infra") if kind == "ClientTrafficPolicy" else ("HTTPRoute/checkout", "shop")
    own = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "own", target, spec, namespace)
    content = worlds.manifest("v1", "ConfigMap", "held", namespace, held and f"data: {held}")
    simulation = worlds.simulated(*WORLD, content, own)
    assert (worlds.state(simulation, "own").verdict != "Invalid") is taken


def test_a_config_map_that_the_cluster_fills_says_nothing() -> None:
    kind, spec = HOLDERS["CAs"]
    own = worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, "own", "Gateway/edge", spec, "infra")
    asks = "{name: held, namespace: infra, labels: {config.openshift.io/inject-trusted-cabundle: 'true'}}"
    content = f"{{apiVersion: v1, kind: ConfigMap, metadata: {asks}}}"
    assert worlds.state(worlds.simulated(*WORLD, content, own), "own").verdict != "Invalid"
