"""GWP5xx and GWP910 beyond the examples of their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.linting import SERVICE, WORLD, lint, only, policy, rules

GATEWAY_API = "gateway.networking.k8s.io"


def minimal(api_version: str, kind: str) -> str:
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x, namespace: shop}}\nspec: {{}}\n"


@pytest.mark.parametrize(
    ("api_version", "kind", "severity", "label"),
    [
        ("gateway.networking.k8s.io/v1beta1", "HTTPRoute", "warning", "use gateway.networking.k8s.io/v1"),
        ("gateway.networking.k8s.io/v1alpha2", "GRPCRoute", "warning", "use gateway.networking.k8s.io/v1"),
        ("gateway.networking.k8s.io/v1alpha3", "TLSRoute", "warning", "use gateway.networking.k8s.io/v1"),
        ("gateway.networking.k8s.io/v1alpha2", "TCPRoute", "note", "use gateway.networking.k8s.io/v1"),
        ("gateway.networking.k8s.io/v1alpha2", "ReferenceGrant", "warning", "use gateway.networking.k8s.io/v1beta1"),
        ("gateway.networking.k8s.io/v1alpha3", "BackendTLSPolicy", "warning", "use gateway.networking.k8s.io/v1"),
        (
            "gateway.networking.x-k8s.io/v1alpha1",
            "XListenerSet",
            "warning",
            "use gateway.networking.k8s.io/v1, ListenerSet",
        ),
        ("kuadrant.io/v1beta2", "AuthPolicy", "warning", "use kuadrant.io/v1"),
    ],
)
def test_superseded_versions(tmp_path: Path, api_version: str, kind: str, severity: str, label: str) -> None:
    said = only(lint(tmp_path, minimal(api_version, kind)), "GWP502")
    assert (said.severity, said.label) == (severity, label)
    assert said.pointed_at == api_version


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("gateway.networking.k8s.io/v1", "HTTPRoute"), ("gateway.networking.k8s.io/v1beta1", "ReferenceGrant")],
)
def test_current_versions(tmp_path: Path, api_version: str, kind: str) -> None:
    assert "GWP502" not in rules(lint(tmp_path, minimal(api_version, kind)))


def test_a_duplicate_says_whether_the_two_differ(tmp_path: Path) -> None:
    service = WORLD[2]
    assert only(lint(tmp_path, *WORLD, service), "GWP503").message == (
        "Service shop/checkout is deployed twice, with the same content"
    )
    other = service.replace("8080", "8081")
    assert only(lint(tmp_path, *WORLD, other), "GWP503").message == "Service shop/checkout is deployed twice"


def test_duplicates_that_kustomizations_choose_between_are_no_defect(tmp_path: Path) -> None:
    for cluster in ("one", "two"):
        folder = tmp_path / cluster
        folder.mkdir()
        (folder / "service.yaml").write_text(WORLD[2], encoding="utf-8")
        (folder / "kustomization.yaml").write_text(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [service.yaml]\n",
            encoding="utf-8",
        )
    found = open_workspace([str(tmp_path)]).findings()
    assert {each.confidence for each in found if each.rule == "GWP503"} <= {"unknown"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"apiVersion: v1\nkind: Service\nmetadata: {name: \xff\xfe}\n", "file is not UTF-8"),
        (b"apiVersion: v1\nkind: Service\nspec: [1, 2\n", "document is not valid YAML, so it was not checked"),
        (
            b"apiVersion: v1\nkind: Service\nspec: " + b"[" * 300 + b"]" * 300,
            "document is nested too deeply to be read",
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "broken.yaml"
    file.write_bytes(content)
    (finding,) = open_workspace([str(file)]).findings()
    assert (finding.rule, finding.severity, finding.message) == ("GWP910", "warning", message)


CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: thingpolicies.example.com, labels: {labels}}}
spec:
  group: example.com
  scope: Namespaced
  names:
    kind: {kind}
    plural: thingpolicies
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {spec}
            status: {{type: object, properties: {{ancestors: {{type: array, items: {{type: object}}}}}}}}
"""
ANYTHING = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
TARGETS = (
    "{type: object, properties: {targetRefs: {type: array, minItems: 1, maxItems: %s, x-kubernetes-list-type: map, "
    "items: {type: object, properties: {group: {type: string}, kind: {type: string, enum: [Gateway]}, "
    "name: {type: string}}}}, overrides: {type: object}}}"
)


@pytest.mark.parametrize(
    ("kind", "labels", "spec", "expected"),
    [
        ("ThingPolicy", f"{{{GATEWAY_API}/policy: Inherited}}", ANYTHING, []),
        ("ThingPolicy", f"{{{GATEWAY_API}/policy: inherited}}", ANYTHING, []),
        ("ThingPolicy", f"{{{GATEWAY_API}/policy: 'true'}}", ANYTHING, ["GWP510"]),
        ("Thing", "{}", ANYTHING, []),
        ("ThingPolicy", "{}", ANYTHING, []),
        ("Thing", f"{{{GATEWAY_API}/policy: Direct}}", ANYTHING, ["GWP511"]),
        ("ThingPolicy", f"{{{GATEWAY_API}/policy: Direct}}", TARGETS % 16, ["GWP514"]),
        ("ThingPolicy", f"{{{GATEWAY_API}/policy: Inherited}}", TARGETS % 17, ["GWP515"]),
        ("ThingPolicy", "{}", TARGETS % 16, ["GWP510"]),
    ],
)
def test_policy_crds(tmp_path: Path, kind: str, labels: str, spec: str, expected: list[str]) -> None:
    assert rules(lint(tmp_path, CRD.format(kind=kind, labels=labels, spec=spec))) == expected


def test_the_resource_of_a_policy_is_named_as_its_kind(tmp_path: Path) -> None:
    crd = CRD.format(kind="ThingPolicy", labels=f"{{{GATEWAY_API}/policy: Direct}}", spec=ANYTHING)
    said = only(lint(tmp_path, crd.replace("thingpolicies", "things")), "GWP511")
    assert (said.severity, said.pointed_at) == ("note", "things")


LOUD_CRD = {"kind": "ThingPolicy", "labels": f"{{{GATEWAY_API}/policy: 'true'}}", "spec": ANYTHING}


@pytest.mark.parametrize(
    ("change", "more"),
    [
        (("", ""), ("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: controller, namespace: x}\n",)),
        (("example.com", "extensions.kuadrant.io"), ()),
    ],
    ids=["a bundle with the controller", "a project that the catalog knows"],
)
def test_crds_that_others_wrote_are_not_judged(tmp_path: Path, change: tuple[str, str], more: tuple[str, ...]) -> None:
    crd = CRD.format(**LOUD_CRD)
    assert rules(lint(tmp_path, crd)) == ["GWP510"]
    assert rules(lint(tmp_path, crd.replace(*change), *more)) == []


KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%s]\n"


@pytest.mark.parametrize("broken", ["app/route.yaml", "app/kustomization.yaml"])
def test_a_deployed_file_that_is_no_yaml_stops_the_build(tmp_path: Path, broken: str) -> None:
    """`kustomize build` of what takes it in fails; a file that nothing deploys stops nothing."""
    files = {
        "kustomization.yaml": KUSTOMIZATION % "app",
        "app/kustomization.yaml": KUSTOMIZATION % "route.yaml",
        "app/route.yaml": WORLD[1],
        "other/values.yaml": "a: [1\nkind: Service\n",
    }
    for path, text in {**files, broken: "kind: Service\n  a: [1\napiVersion: v1\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP910"]
    assert [(each.severity, each.location.file.endswith(broken)) for each in found] == [("error", True)]


@pytest.mark.parametrize(
    ("selectors", "told"),
    [
        ("[{sourceCIDR: {value: 0.0.0.0/0, type: Distinct}}, {sourceCIDR: {value: 10.0.0.0/8, invert: true}}]", True),
        ("[{path: {value: /a}}, {path: {value: /b}}]", True),
        ("[{sourceCIDR: {value: 0.0.0.0/0, type: Distinct}}, {path: {value: /a}}]", False),
        ("[{headers: [{name: a, value: b}]}, {headers: [{name: c, value: d}]}]", False),
    ],
)
@pytest.mark.parametrize("sort", ["Global", "Local"])
def test_selectors_of_which_the_last_one_counts(tmp_path: Path, sort: str, selectors: str, told: bool) -> None:
    rule = f"{{clientSelectors: {selectors}, limit: {{requests: 5, unit: Minute}}}}"
    limit = policy(
        "BackendTrafficPolicy", "limit", "kind: HTTPRoute, name: checkout",
        f"rateLimit: {{type: {sort}, {sort.lower()}: {{rules: [{rule}]}}}}",
    )  # fmt: skip
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, limit))) == told


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("[{type: Hostname, hostname: other.example.com}]", True),
        ("[{type: Hostname, hostname: other.example.com}, {type: Hostname, hostname: a.example.com}]", False),
        ("[{type: URI, uri: 'spiffe://cluster.local/ns/shop/sa/a'}]", False),
        ("", False),
    ],
)
def test_names_of_a_certificate_that_leave_its_host_out(tmp_path: Path, names: str, told: bool) -> None:
    settings = "hostname: a.example.com, wellKnownCACertificates: System"
    tls = worlds.policy(
        "gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "Service/checkout",
        f"validation: {{{settings}{names and f', subjectAltNames: {names}'}}}", "shop",
    )  # fmt: skip
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, tls))) == told


@pytest.mark.parametrize(
    ("issuer", "audiences", "told"),
    [
        ("https://accounts.google.com", "", True),
        ("https://token.actions.githubusercontent.com", "audiences: [], ", True),
        ("https://accounts.google.com", "audiences: [shop], ", False),
        ("https://id.example.com", "", False),
    ],
)
def test_issuers_of_tokens_for_anybody(tmp_path: Path, issuer: str, audiences: str, told: bool) -> None:
    provider = f"{audiences}issuer: '{issuer}', remoteJWKS: {{uri: 'https://id.example.com/keys'}}"
    one = policy(
        "SecurityPolicy", "login", "kind: HTTPRoute, name: checkout", f"jwt: {{providers: [{{name: a, {provider}}}]}}"
    )
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, one))) is told
    rule = f"{audiences}issuer: '{issuer}', jwksUri: 'https://id.example.com/keys'"
    other = worlds.manifest(
        "security.istio.io/v1", "RequestAuthentication", "tokens", "shop", f"spec: {{jwtRules: [{{{rule}}}]}}"
    )
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, other))) is told


BACKEND = """
apiVersion: gateway.kgateway.dev/v1alpha1
kind: BackendConfigPolicy
metadata: {name: tls, namespace: shop}
spec: {targetRefs: [{group: "", kind: Service, name: checkout}], tls: {%s}}
"""
ORIGIN = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: origin, namespace: shop}
spec: {endpoints: [{ip: {address: 10.0.0.7, port: 443}}], tls: {%s}}
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("minio.dev.svc.cluster.local", True),
        ("minio.dev.svc", True),
        ("minio", True),
        ("nas.internal", True),
        ("api.example.com", False),
        ("'${HOST}'", False),
    ],
)
def test_names_that_no_public_authority_certifies(tmp_path: Path, name: str, told: bool) -> None:
    def verified(by: str) -> str:
        return worlds.policy(
            "gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "Service/checkout",
            f"validation: {{hostname: {name}, {by}}}", "shop",
        )  # fmt: skip

    system, own = "wellKnownCACertificates: System", "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]"
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, verified(system)))) is told
    assert "GWP526" not in rules(lint(tmp_path, *WORLD, verified(own)))
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, ORIGIN % f"{system}, sni: {name}"))) is told
    assert "GWP526" not in rules(lint(tmp_path, *WORLD, ORIGIN % f"{system}, sni: {name}, insecureSkipVerify: true"))
    settings = f"{system}, verifySubjectAltNames: [{name}%s]"
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, BACKEND % settings % ""))) is told
    assert "GWP526" not in rules(lint(tmp_path, *WORLD, BACKEND % settings % ", api.example.com"))
    assert "GWP526" not in rules(lint(tmp_path, *WORLD, BACKEND % f"{system}, sni: {name}"))  # no name is verified


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("healthCheck: {active: {type: HTTP, unhealthyThreshold: 3, http: {path: /live}}}", True),
        ("healthCheck: {active: {type: HTTP, unhealthyThreshold: 1, http: {path: /live}}}", False),
        ("healthCheck: {active: {type: HTTP, http: {path: /live}}}", False),
        (
            "healthCheck: {active: {type: HTTP, unhealthyThreshold: 3, http: {path: /live, retriableStatuses: [503]}}}",
            False,
        ),
        ("healthCheck: {active: {type: TCP, unhealthyThreshold: 3, tcp: {}}}", False),
        ("retry: {numRetries: 3, perRetry: {timeout: 500ms}}", True),
        ("retry: {numRetries: 3, perRetry: {backOff: {baseInterval: 100ms}}}", False),
    ],
)
def test_what_a_threshold_and_a_timeout_count(tmp_path: Path, settings: str, told: bool) -> None:
    limit = policy("BackendTrafficPolicy", "limit", "kind: HTTPRoute, name: checkout", settings)
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, limit))) == told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("http: {backendRefs: [{name: oauth2-proxy, port: 80}]}", True),
        ("http: {backendRefs: [{name: ory-oathkeeper-api, port: 80}]}", True),
        ("http: {backendRef: {name: authelia, port: 80}}", True),
        ("http: {backendRefs: [{name: authelia, port: 80}]}, headersToExtAuth: [x-user]", True),
        ("http: {backendRefs: [{name: authelia, port: 80}]}, headersToExtAuth: [x-user, cookie]", False),
        ("http: {backendRefs: [{name: checkout, port: 80}]}", False),  # who reads Authorization gets it
        ("grpc: {backendRefs: [{name: authelia, port: 80}]}", False),  # it is sent all headers
    ],
)
def test_logins_by_cookies_that_are_not_sent(tmp_path: Path, settings: str, told: bool) -> None:
    """What Envoy sends an authorizer over HTTP by itself (envoyproxy/gateway#5789)."""
    asking = policy("SecurityPolicy", "login", "kind: HTTPRoute, name: checkout", f"extAuth: {{{settings}}}")
    names = ("oauth2-proxy", "ory-oathkeeper-api", "authelia")
    services = [SERVICE.replace("name: checkout", f"name: {name}").replace("port: 8080", "port: 80") for name in names]
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, *services, asking))) == told


EACH = "{clientSelectors: [{headers: [{name: x-user, type: Distinct}]}], limit: {requests: 10, unit: Second}}"
BUT = EACH.replace("Distinct}", "Distinct}, {name: x-user, value: b, invert: true}")
ANY = "{limit: {requests: 10, unit: Second}}"


def of_client(requests: int, unit: str = "Second", header: str = "x-user") -> str:
    selectors = f"[{{headers: [{{name: {header}, value: b}}]}}]"
    return f"{{clientSelectors: {selectors}, limit: {{requests: {requests}, unit: {unit}}}}}"


@pytest.mark.parametrize(
    ("several", "told"),
    [
        ([EACH, of_client(20)], True),
        ([of_client(20), EACH], True),
        ([ANY, of_client(20)], True),
        ([EACH, of_client(5)], False),
        ([EACH, of_client(20, unit="Minute")], False),
        ([EACH, of_client(20, header="x-tenant")], False),
        ([BUT, of_client(20)], False),
        ([EACH], False),
    ],
)
def test_a_limit_that_a_wider_rule_reaches_first(tmp_path: Path, several: list[str], told: bool) -> None:
    settings = f"rateLimit: {{type: Global, global: {{rules: [{', '.join(several)}]}}}}"
    limit = policy("BackendTrafficPolicy", "limit", "kind: HTTPRoute, name: checkout", settings)
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, limit))) == told


TOKENS, USERS = (
    "providers: [{name: a, remoteJWKS: {uri: 'https://id.example.com'}}]",
    "basicAuth: {users: {name: users}}",
)
ELSEWHERE = TOKENS.replace("name: a,", "name: a, extractFrom: {headers: [{name: X-Token}]},")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (f"jwt: {{{TOKENS}}}\n  {USERS}", True),
        (f"jwt: {{{TOKENS}, optional: true}}\n  {USERS}", False),
        (f"jwt: {{{ELSEWHERE}}}\n  {USERS}", False),
        (f"jwt: {{{TOKENS}}}", False),
        (USERS, False),
    ],
)
def test_two_logins_in_one_header(tmp_path: Path, settings: str, told: bool) -> None:
    hashed = "stringData: {.htpasswd: 'a:{SHA}d95o2uzYI7q7tY7bHI4U1xBug7s='}"
    users = worlds.manifest("v1", "Secret", "users", "shop", hashed)
    login = policy("SecurityPolicy", "login", "kind: HTTPRoute, name: checkout", settings)
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, users, login))) == told


TOKEN = "jwtAuthentication: {providers: [{issuer: a, jwks: {inline: '{}'}}]}"
PASSWORD, KEY = "basicAuthentication: {users: ['a:b']}", "apiKeyAuthentication: {secretRef: {name: keys}}"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ([TOKEN, PASSWORD], True),
        ([TOKEN, KEY], True),
        ([TOKEN.replace("{providers", "{mode: Optional, providers"), PASSWORD], False),
        ([TOKEN, KEY.replace("{secretRef", "{location: {header: {name: X-Key}}, secretRef")], False),
        ([PASSWORD], False),
    ],
)
def test_two_logins_in_one_header_of_another_gateway(tmp_path: Path, settings: list[str], told: bool) -> None:
    login = worlds.policy(
        "agentgateway.dev/v1alpha1", "AgentgatewayPolicy", "login", "HTTPRoute/checkout",
        f"traffic: {{{', '.join(settings)}}}", "shop",
    )  # fmt: skip
    assert ("GWP526" in rules(lint(tmp_path, *WORLD, login))) == told


PLAIN, SECURE = "{name: plain, port: 80, protocol: HTTP}", "{name: secure, port: 443, protocol: HTTPS, tls: {}}"
STREAM = "{name: stream, port: 9000, protocol: TCP}"
DEMAND = "clientCertificateValidation: {mode: Require, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}"
ENVOY, KGATEWAY = "gateway.envoyproxy.io/v1alpha1/ClientTrafficPolicy", "gateway.kgateway.dev/v1alpha1/ListenerPolicy"


@pytest.mark.parametrize(
    ("kind", "listeners", "target", "settings", "unused"),
    [
        (ENVOY, [PLAIN], "Gateway/edge", "tls: {minVersion: '1.3'}", ["tls"]),
        (ENVOY, [PLAIN], "Gateway/edge", "tls: {minVersion: '1.3'}, http1: {}", ["tls"]),
        (ENVOY, [PLAIN, SECURE], "Gateway/edge", "tls: {minVersion: '1.3'}, http3: {}", []),
        (ENVOY, [PLAIN, SECURE], "Gateway/edge#plain", "http3: {}", ["http3"]),
        (ENVOY, [STREAM], "Gateway/edge", "http1: {}, timeout: {tcp: {idleTimeout: 1m}}", ["http1"]),
        (ENVOY, [STREAM], "Gateway/edge", "proxyProtocol: {}, tcpKeepalive: {}", []),
        (KGATEWAY, [SECURE], "Gateway/edge", f"default: {{{DEMAND}}}", ["default.clientCertificateValidation"]),
        (KGATEWAY, [SECURE], "Gateway/edge#secure", f"default: {{{DEMAND}}}", []),
        (KGATEWAY, [PLAIN], "Gateway/edge#plain", f"default: {{{DEMAND}}}", ["default.clientCertificateValidation"]),
        (KGATEWAY, [SECURE], "Gateway/edge", "default: {proxyProtocol: {}}", []),
    ],
)
def test_settings_that_no_listener_of_the_target_takes(
    tmp_path: Path, kind: str, listeners: list[str], target: str, settings: str, unused: list[str]
) -> None:
    """translateClientTrafficPolicyForListener of Envoy Gateway 1.9; getCertValidationFromAttached of kgateway 2.4."""
    controllers = {ENVOY: "gateway.envoyproxy.io/gatewayclass-controller", KGATEWAY: "kgateway.dev/kgateway"}
    group, _, name = kind.rpartition("/")
    world = [
        worlds.gateway_class("any", controllers[kind]),
        worlds.gateway(listeners=f"[{', '.join(listeners)}]"),
        worlds.policy(group, name, "of-clients", target, settings, "infra"),
    ]
    told = [finding for finding in lint(tmp_path, *world) if finding.rule == "GWP526"]
    assert [finding.message.partition(" of ")[0] for finding in told] == [f"spec.{field}" for field in unused]
    assert {finding.severity for finding in told} <= {"warning"}


@pytest.mark.parametrize(("chart", "is_told"), [("charts/shop/Chart.yaml", False), ("Chart.yaml", False), ("", True)])
def test_a_template_of_a_chart_is_one_wherever_it_lies(tmp_path: Path, chart: str, is_told: bool) -> None:
    manifests = tmp_path / "charts" / "shop" / "managed"
    manifests.mkdir(parents=True)
    if chart:
        (tmp_path / chart).write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n"
    (manifests / "rbac.yaml").write_text(f"{role}---\n{{{{ if .Values.more }}}}\n{role}{{{{ end }}}}\n")
    workspace = open_workspace([str(tmp_path)])
    assert ("GWP910" in [each.rule for each in workspace.findings()]) == is_told
    assert ("1 template file not rendered" in workspace.coverage.not_rendered) != is_told
