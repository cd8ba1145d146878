"""What kgateway's controller refuses beyond its CRDs: Accepted=False/Invalid, Attached=False/Pending.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2, last item;
the constructors of extensions2/plugins/{trafficpolicy,listenerpolicy,backendconfigpolicy}.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.implementations.test_kgateway import policy, said, simulate
from tests.worlds import grant, manifest

HASH = "{SHA}" + "a" * 28


def secret(name: str, content: str, app: str = "", namespace: str = "default") -> str:
    return manifest("v1", "Secret", name, namespace, content, more=app and f"labels: {{app: {app}}}")


def config_map(name: str, data: str) -> str:
    return manifest("v1", "ConfigMap", name, "default", f"data: {{{data}}}")


BASIC = f'.htpasswd: "alice:{HASH}", weak: "bob:$2y$10$abc", none: "# nobody", tls.crt: "-----BEGIN CERTIFICATE"'
PRESENT = (
    secret("users", f"stringData: {{{BASIC}}}"),
    secret("keys", "stringData: {client: secret}", "one"),
    secret("more-keys", "data: {other: c2VjcmV0, third: dGhpcmQ=}", "two"),
    secret("far-keys", "stringData: {client: secret}", "far", "far"),
    secret("granted-keys", "stringData: {client: secret}", "near", "near"),
    grant(
        "near", "{group: gateway.kgateway.dev, kind: TrafficPolicy, namespace: default}", "{group: '', kind: Secret}"
    ),
    config_map("no-keys", "keys: x"),
    config_map("bad-keys", "jwks: no JSON"),
    config_map("good-keys", """jwks: '{"keys": [{"kty": "RSA", "n": "x", "e": "AQAB"}]}'"""),
)


def extension(spec: str) -> str:
    return manifest("gateway.kgateway.dev/v1alpha1", "GatewayExtension", "ext", "default", f"spec: {{{spec}}}")


def jwt(local: str) -> str:
    return f"jwt: {{providers: [{{name: a, issuer: b, jwks: {{local: {local}}}}}]}}"


def verdict(path: Path, *parts: str, name: str = "it") -> str:
    return said(simulate(path, *PRESENT, *parts), name)[0]


@pytest.mark.parametrize(
    ("field", "spec", "valid"),
    [
        ("extAuth", "extAuth: {grpcService: {backendRef: {name: web, port: 80}}}", True),
        ("extAuth", "extAuth: {grpcService: {backendRef: {name: web, port: 81}}}", False),
        ("extAuth", "extAuth: {httpService: {backendRef: {name: absent, port: 80}}}", False),
        ("extAuth", "extProc: {grpcService: {backendRef: {name: web, port: 80}}}", False),
        ("jwtAuth", jwt("{configMapRef: {name: good-keys}}"), True),
        ("jwtAuth", jwt("{configMapRef: {name: bad-keys}}"), False),
        ("jwtAuth", jwt("{configMapRef: {name: no-keys}}"), False),
        ("jwtAuth", jwt("{configMapRef: {name: absent}}"), False),
        ("jwtAuth", jwt('{inline: \'{"kty": "RSA", "n": "x", "e": "AQAB"}\'}'), True),
        ("jwtAuth", jwt("{inline: '-----BEGIN PUBLIC KEY-----'}"), True),
        ("jwtAuth", jwt("{inline: '-----BEGIN CERTIFICATE-----'}"), False),
        ("jwtAuth", jwt("{inline: '{\"keys\": []}'}"), False),
        ("jwtAuth", "jwt: {providers: [{jwks: {remote: {url: x, backendRef: {name: absent, port: 80}}}}]}", False),
        (
            "oauth2",
            "oauth2: {backendRef: {name: web, port: 80}, credentials: {clientSecretRef: {name: absent}}}",
            False,
        ),
        ("oauth2", "oauth2: {backendRef: {name: web, port: 80}, credentials: {clientSecretRef: {name: keys}}}", False),
        ("oauth2", "oauth2: {backendRef: {name: web, port: 80}, redirectURI: 'https://shop.example.com'}", False),
    ],
)
def test_an_extension_with_a_fault_takes_its_policies_along(tmp_path: Path, field: str, spec: str, valid: bool) -> None:
    """gateway_extension.go: of another type than the field needs, or with an error of its own."""
    named = policy("it", "HTTPRoute/shop", f"{field}: {{extensionRef: {{name: ext}}}}")
    assert verdict(tmp_path, extension(spec), named) == ("Enforced" if valid else "Invalid")


@pytest.mark.parametrize(
    ("spec", "valid"),
    [
        (f"basicAuth: {{users: ['alice:{HASH}', '# a comment', 'alice:{HASH}']}}", True),
        (f"basicAuth: {{users: ['alice:{HASH}', 'alice:{{SHA}}{'b' * 28}']}}", False),
        ("basicAuth: {users: ['alice:$apr1$x']}", False),
        ("basicAuth: {users: [alice]}", False),
        ("basicAuth: {users: ['${USERS}']}", True),
        ("basicAuth: {secretRef: {name: users}}", True),
        ("basicAuth: {secretRef: {name: users, key: weak}}", False),
        ("basicAuth: {secretRef: {name: users, key: none}}", False),
        ("basicAuth: {secretRef: {name: users, key: absent}}", False),
        ("apiKeyAuth: {secretRef: {name: keys}}", True),
        ("apiKeyAuth: {secretSelector: {matchLabels: {app: two}}}", True),
        ("apiKeyAuth: {secretSelector: {matchLabels: {}}}", False),
        ("apiKeyAuth: {secretSelector: {matchLabels: {app: near}}}", True),
        ("apiKeyAuth: {secretSelector: {matchLabels: {app: far}}}", False),
        ("headerModifiers: {request: {set: [{name: client, secretRef: {name: keys}}]}}", True),
        ("headerModifiers: {request: {set: [{secretRef: {name: keys}}]}}", True),
        ("headerModifiers: {request: {add: [{name: X-Key, secretRef: {name: keys, key: client}}]}}", True),
        ("headerModifiers: {response: {set: [{name: X-Key, secretRef: {name: keys}}]}}", False),
        ("headerModifiers: {request: {set: [{name: client, secretRef: {name: far-keys, namespace: far}}]}}", False),
    ],
)
def test_credentials_that_envoy_could_not_use(tmp_path: Path, spec: str, valid: bool) -> None:
    """basic_auth_policy.go, api_key_auth.go (two clients with one key; Secrets elsewhere where a grant permits
    it), header_modifiers.go."""
    assert verdict(tmp_path, policy("it", "HTTPRoute/shop", spec)) == ("Enforced" if valid else "Invalid")


def test_content_that_is_not_known_is_no_fault(tmp_path: Path) -> None:
    """Encrypted by SOPS, or left out of the tree: nothing is said."""
    secret = """
apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: default}
MORE
"""
    sealed = secret.replace("NAME", "sealed").replace("MORE", "data: {x: 'ENC[AES256]'}\nsops: {version: '3'}")
    (tmp_path / "tree").mkdir()
    simulation = simulate(
        tmp_path / "tree", sealed, policy("it", "HTTPRoute/shop", "apiKeyAuth: {secretRef: {name: sealed}}")
    )
    assert said(simulation, "it")[0] == "Enforced"
    (tmp_path / "tree" / "bare.yaml").write_text(secret.replace("NAME", "bare").replace("MORE", ""))
    (tmp_path / "tree" / "policy.yaml").write_text(
        policy("other", "HTTPRoute/shop", "basicAuth: {secretRef: {name: bare}}")
    )
    assert said(open_workspace([str(tmp_path / "tree")]).simulations[0], "other")[0] == "Enforced"


@pytest.mark.parametrize(
    ("kind", "target", "spec", "valid"),
    [
        (
            "TrafficPolicy",
            "HTTPRoute/shop",
            "acl: {defaultAction: deny, rules: [{action: allow, cidrs: [172.16.0.0/12, 10.1.2.3]}]}",
            True,
        ),
        ("TrafficPolicy", "HTTPRoute/shop", "acl: {rules: [{action: allow, cidrs: [172.18.0.0/12]}]}", False),
        ("TrafficPolicy", "Gateway/gw", "acl: {rules: [{action: deny, cidrs: [10.0.0.0/40]}]}", False),
        ("TrafficPolicy", "Gateway/gw", "rbac: {policy: {matchExpressions: ['request.path == \"/\"']}}", True),
        ("TrafficPolicy", "Gateway/gw", "rbac: {policy: {matchExpressions: ['request.path ==']}}", False),
        (
            "ListenerPolicy",
            "Gateway/gw",
            "default: {httpSettings: {http2ProtocolOptions: {initialStreamWindowSize: 64Ki}}}",
            True,
        ),
        (
            "ListenerPolicy",
            "Gateway/gw",
            "perPort: [{port: 80, listener: {httpSettings: {http2ProtocolOptions: {initialStreamWindowSize: 1Ki}}}}]",
            False,
        ),
        (
            "ListenerPolicy",
            "Gateway/gw",
            "default: {httpSettings: {useRemoteAddress: false, xffTrustedCIDRs: [10.1.0.0/8]}}",
            True,
        ),
        (
            "ListenerPolicy",
            "Gateway/gw",
            "default: {httpSettings: {useRemoteAddress: false, xffTrustedCIDRs: [10.0.0.1]}}",
            False,
        ),
        (
            "ListenerPolicy",
            "Gateway/gw",
            "default: {httpSettings: {accessLog: [{grpcService: {logName: a, backendRef: {name: absent, port: 1}}}]}}",
            False,
        ),
        ("BackendConfigPolicy", "Service/web", "tls: {secretRef: {name: absent}}", False),
        ("BackendConfigPolicy", "Service/web", "tls: {secretRef: {name: users}}", False),
        ("BackendConfigPolicy", "Service/web", "tls: {secretRef: {name: users}, simpleTLS: true}", True),
        ("BackendConfigPolicy", "Service/web", "tls: {sni: a, verifySubjectAltNames: [a]}", False),
        (
            "BackendConfigPolicy",
            "Service/web",
            "tls: {wellKnownCACertificates: System, verifySubjectAltNames: [a]}",
            True,
        ),
        ("BackendConfigPolicy", "Service/web", "tls: {insecureSkipVerify: true, verifySubjectAltNames: [a]}", True),
    ],
)
def test_values_that_the_controller_refuses(tmp_path: Path, kind: str, target: str, spec: str, valid: bool) -> None:
    """http_acl_plugin.go (no host bits), rbac.go, listenerpolicy/http.go, backendconfigpolicy/tls.go."""
    it = policy("it", target, spec, kind=kind).replace(
        "group: gateway.networking.k8s.io, kind: Service", "kind: Service"
    )
    assert verdict(tmp_path, it) == ("Enforced" if valid else "Invalid")
