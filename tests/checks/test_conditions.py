"""What rules ask before they claim something: each case is one in which the claim of a rule does not hold, beside one
in which it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.worlds import gateway_class, manifest, route, service

EG = "gateway.envoyproxy.io/gatewayclass-controller"
LISTENERS = "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
PODS = manifest(
    "apps/v1",
    "Deployment",
    "web",
    "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, "
    "spec: {serviceAccountName: web, containers: [{name: web, image: 'example.com/web:1'}]}}}",
)


def edge(annotations: str = "", controller: str = EG, listeners: str = LISTENERS) -> str:
    spec = f"spec: {{gatewayClassName: edge, listeners: {listeners}}}"
    noted = f"annotations: {{{annotations}}}"
    own = manifest("gateway.networking.k8s.io/v1", "Gateway", "edge", "infra", spec, more=noted)
    return f"{gateway_class('edge', controller)}\n---\n{own}"


def shop(annotations: str = "") -> str:
    return manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        "web",
        "shop",
        "spec: {parentRefs: [{name: edge, namespace: infra}], rules: [{backendRefs: [{name: web, port: 80}]}]}",
        more=f"annotations: {{{annotations}}}",
    )


def chart(name: str, values: str = "{}", version: str = "1.0.0", namespace: str = "infra") -> str:
    return manifest(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        name,
        namespace,
        f"spec: {{interval: 1h, chart: {{spec: {{chart: {name}, version: {version}, "
        f"sourceRef: {{kind: HelmRepository, name: {name}}}}}}}, values: {values}}}",
    )


def told(folder: Path, rule: str, *manifests: str) -> list[str]:
    """The severity and confidence of each finding of a rule."""
    (folder / "all.yaml").write_text("\n---\n".join(manifests))
    found = [each for each in open_workspace([str(folder)]).findings() if each.rule == rule]
    return [f"{each.severity} {each.confidence}" for each in found if each.confidence != "unknown"]


TARGET = "external-dns.alpha.kubernetes.io/target"
ARGUMENTS = manifest(
    "apps/v1",
    "Deployment",
    "dns",
    "infra",
    "spec: {selector: {matchLabels: {app: dns}}, template: {metadata: {labels: {app: dns}}, spec: {containers: "
    f"[{{name: dns, image: 'example.com/dns:1', args: ['--annotation-filter={TARGET}']}}]}}}}}}",
)
COPIES = manifest(
    "kyverno.io/v1",
    "ClusterPolicy",
    "records",
    "",
    "spec: {rules: [{name: a, match: {any: [{resources: {kinds: [HTTPRoute]}}]}, mutate: {patchStrategicMerge: "
    f"{{metadata: {{labels: {{to: '{{{{ request.object.metadata.annotations.\"{TARGET}\" }}}}'}}}}}}}}}}]}}",
)
BEARS = chart("web", f"{{route: {{annotations: {{{TARGET}: inside.example.com}}}}}}")
IN_TEXT = chart("web", f"{{settings: 'annotations: {{\"{TARGET}\": inside.example.com}}'}}")


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("", 1),
        (chart("external-dns", f"{{annotationFilter: '{TARGET} in (inside.example.com)'}}"), 0),
        (ARGUMENTS, 0),
        (COPIES, 0),
        (BEARS, 1),
        (IN_TEXT, 1),
    ],
    ids=[
        "nobody",
        "a filter in values",
        "a filter in arguments",
        "an admission policy",
        "bears it",
        "bears it in a text",
    ],
)
def test_an_annotation_that_something_speaks_of_is_read(tmp_path: Path, beside: str, expected: int) -> None:
    found = told(tmp_path, "GWP114", edge(), shop(f"{TARGET}: inside.example.com"), service("web", "shop"), beside)
    assert len(found) == expected


ENTRY = "traefik.ingress.kubernetes.io/router.entrypoints"
FILTER = f"--annotation-filter={ENTRY} in (public)"
APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: dns, namespace: argocd}}
spec:
  destination: {{namespace: dns, server: https://kubernetes.default.svc}}
  project: default
  source: {source}
"""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (f"external-dns: {{extraArgs: ['{FILTER}']}}", 0),
        (f"external-dns: {{annotationFilter: {ENTRY} notin (public)}}", 0),
        (f"external-dns: {{monitor: {{selector: {{matchLabels: {{{ENTRY}: public}}}}}}}}", 0),
        (f"external-dns: {{serviceAnnotations: {{{ENTRY}: public}}}}", 1),
        (f"external-dns: {{config: '\"{ENTRY}\": public'}}", 1),
        (f"external-dns: {{extraArgs: ['{FILTER.replace('router', 'other')}']}}", 1),
    ],
)
def test_values_in_files_of_a_chart_that_is_not_rendered_speak_too(tmp_path: Path, values: str, expected: int) -> None:
    about = "apiVersion: v2\nname: dns\nversion: 1.0.0\ndependencies:\n"
    about += "- {name: external-dns, version: 1.21.1, repository: 'https://kubernetes-sigs.github.io/external-dns'}\n"
    (tmp_path / "dns").mkdir()
    (tmp_path / "dns" / "Chart.yaml").write_text(about)
    (tmp_path / "dns" / "values.yaml").write_text(values)
    origin = "repoURL: 'https://example.com/this.git', targetRevision: main"
    sources = [f"{{{origin}, path: {path}}}" for path in ("dns", "objects")]
    (tmp_path / "apps").mkdir()
    applications = [APPLICATION.format(source=source) for source in sources]
    applications[1] = applications[1].replace("name: dns, namespace: argocd", "name: objects, namespace: argocd")
    (tmp_path / "apps" / "all.yaml").write_text("\n---\n".join(applications))
    (tmp_path / "objects").mkdir()
    objects = [edge(), shop(f"{ENTRY}: public"), service("web", "shop")]
    (tmp_path / "objects" / "all.yaml").write_text("\n---\n".join(objects))
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP114"]
    assert len(found) == expected


@pytest.mark.parametrize(("filtered", "expected"), [(False, 1), (True, 0)])
def test_an_annotation_of_another_controller_may_be_for_a_filter(tmp_path: Path, filtered: bool, expected: int) -> None:
    nginx = manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: k8s.io/ingress-nginx}")
    ingress = manifest(
        "networking.k8s.io/v1",
        "Ingress",
        "web",
        "shop",
        "spec: {ingressClassName: nginx, rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, "
        "backend: {service: {name: web, port: {number: 80}}}}]}}]}",
        more=f"annotations: {{{ENTRY}: public}}",
    )
    beside = chart("external-dns", f"{{extraArgs: ['{FILTER}']}}" if filtered else "{}")
    assert len(told(tmp_path, "GWP114", nginx, ingress, service("web", "shop"), beside)) == expected


@pytest.mark.parametrize(("controller", "expected"), [(EG, 1), ("istio.io/gateway-controller", 0)])
def test_annotations_that_a_gateway_hands_on_to_its_service(tmp_path: Path, controller: str, expected: int) -> None:
    """A load balancer reads from Services what it reads from Ingresses."""
    own = edge("alb.ingress.kubernetes.io/healthcheck-path: /healthz", controller)
    assert len(told(tmp_path, "GWP114", own, shop(), service("web", "shop"))) == expected


@pytest.mark.parametrize("selects", [False, True])
def test_a_label_that_a_selector_asks_for(tmp_path: Path, selects: bool) -> None:
    label = "linkerd.io/inject: enabled" if selects else "team: shop"
    asks = f"spec: {{podSelector: {{}}, ingress: [{{from: [{{namespaceSelector: {{matchLabels: {{{label}}}}}}}]}}]}}"
    meshed = manifest("v1", "Namespace", "shop", more="labels: {linkerd.io/inject: enabled}")
    policy = manifest("networking.k8s.io/v1", "NetworkPolicy", "in", "infra", asks)
    assert bool(told(tmp_path, "GWP114", meshed, policy)) is not selects


@pytest.mark.parametrize(
    ("release", "version", "expected"),
    [("gateway-helm", "v1.0.2", 0), ("gateway-helm", "v1.5.0", 1), ("other", "v1.0.2", 1)],
)
def test_the_newer_field_is_asked_of_the_release(tmp_path: Path, release: str, version: str, expected: int) -> None:
    target = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}"
    spec = f"spec: {{{target}, timeout: {{tcp: {{connectTimeout: 3s}}}}}}"
    own = manifest("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "web", "shop", spec)
    found = told(tmp_path, "GWP502", edge(), shop(), service("web", "shop"), own, chart(release, version=version))
    assert len(found) == expected


@pytest.mark.parametrize(
    ("name", "above", "severity"),
    [
        ("web", "compression: [{type: Gzip}]", "warning"),
        ("web-no-compression", "compression: [{type: Gzip}]", "note"),
        ("compression-off", "compression: [{type: Gzip}]", "note"),
        ("web-without-ratelimit", "rateLimit: {local: {rules: [{limit: {requests: 3, unit: Second}}]}}", "note"),
        ("disable-retries", "retry: {numRetries: 3}", "note"),
        ("web-no-compression", "retry: {numRetries: 3}", "warning"),
        ("web-no-compression", "compression: [{type: Gzip}], retry: {numRetries: 3}", "warning"),
        ("web-compression", "compression: [{type: Gzip}]", "warning"),
    ],
)
def test_a_name_says_what_an_empty_policy_takes_away(tmp_path: Path, name: str, above: str, severity: str) -> None:
    group = "gateway.networking.k8s.io"
    around = f"spec: {{targetRefs: [{{group: {group}, kind: Gateway, name: edge}}], {above}}}"
    own = f"spec: {{targetRefs: [{{group: {group}, kind: HTTPRoute, name: web}}]}}"
    policies = [
        manifest("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "all", "infra", around),
        manifest("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", name, "shop", own),
    ]
    found = told(tmp_path, "GWP205", edge(), shop(), service("web", "shop"), *policies)
    assert found == [f"{severity} certain"]


NAMES = manifest(
    "cilium.io/v2",
    "CiliumNetworkPolicy",
    "out",
    "shop",
    "spec: {endpointSelector: {}, egress: [{toFQDNs: [{matchName: api.example.com}]}, {toEndpoints: [{matchLabels: "
    "{k8s:io.kubernetes.pod.namespace: kube-system, k8s-app: kube-dns}}], toPorts: [{ports: "
    "[{port: '53', protocol: ANY}]}]}]}",
)


@pytest.mark.parametrize(
    ("beside", "expected"), [("", "warning certain"), (chart("rules", namespace="shop"), "warning assumed")]
)
def test_a_policy_that_was_not_seen_may_have_names_learnt(tmp_path: Path, beside: str, expected: str) -> None:
    assert told(tmp_path, "GWP619", NAMES, PODS, beside) == [expected]


@pytest.mark.parametrize(
    ("role", "expected"),
    [("view", 1), ("system:openshift:scc:anyuid", 0), ("system:image-puller", 0), ("system:auth-delegator", 1)],
)
def test_rights_that_others_look_at_ask_for_no_connection(tmp_path: Path, role: str, expected: int) -> None:
    out = "spec: {podSelector: {}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}}]}]}"
    policy = manifest("networking.k8s.io/v1", "NetworkPolicy", "out", "shop", out)
    binds = manifest(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "web",
        "shop",
        f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: '{role}'}}\n"
        "subjects: [{kind: ServiceAccount, name: web, namespace: shop}]",
    )
    assert len(told(tmp_path, "GWP623", policy, PODS, binds)) == expected


@pytest.mark.parametrize(
    ("kind", "home", "verbs", "expected"),
    [
        ("ClusterRole", "", ["use"], 0),
        ("Role", "shop", ["use"], 0),
        ("Role", "other", ["use"], 0),
        ("Role", "shop", ["get"], 1),
        ("ClusterRole", "", ["use", "get"], 1),
        ("ClusterRole", "", ["impersonate"], 1),
    ],
)
def test_constraints_of_pods_ask_for_no_connection(
    tmp_path: Path, kind: str, home: str, verbs: list[str], expected: int
) -> None:
    """Admission looks `use` up (of SecurityContextConstraints, PodSecurityPolicies): pods ask for nothing by it."""
    out = "spec: {podSelector: {}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}}]}]}"
    policy = manifest("networking.k8s.io/v1", "NetworkPolicy", "out", "shop", out)
    rights = "rbac.authorization.k8s.io/v1"
    rules = f"rules: [{{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: {verbs}}}]"
    role = manifest(rights, kind, "constrained", home, rules)
    binds = manifest(
        rights,
        "RoleBinding",
        "web",
        "shop",
        f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: constrained}}\n"
        "subjects: [{kind: ServiceAccount, name: web, namespace: shop}]",
    )
    assert len(told(tmp_path, "GWP623", policy, PODS, role, binds)) == expected


@pytest.mark.parametrize(("name", "expected"), [("wild", []), ("other", ["warning assumed"])])
def test_somebody_else_makes_the_certificate(tmp_path: Path, name: str, expected: list[str]) -> None:
    listeners = "[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: wild}]}}]"
    issued = edge("cert-manager.io/cluster-issuer: le", listeners=listeners)
    secret = manifest(
        "external-secrets.io/v1",
        "ExternalSecret",
        name,
        "infra",
        "spec: {secretStoreRef: {name: vault, kind: ClusterSecretStore}, dataFrom: [{extract: {key: tls}}]}",
    )
    assert told(tmp_path, "GWP412", issued, secret) == expected


def generating(name: str, kind: str = "HTTPRoute") -> str:
    made = f"generate: {{apiVersion: gateway.networking.k8s.io/v1, kind: {kind}, name: '{name}', namespace: shop}}"
    rule = f"{{name: a, match: {{any: [{{resources: {{kinds: [Service]}}}}]}}, {made}}}"
    return manifest("kyverno.io/v1", "ClusterPolicy", "makes", "", f"spec: {{rules: [{rule}]}}")


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("", 1),
        (generating("made"), 0),
        (generating("{{request.object.metadata.name}}"), 0),
        (generating("other"), 1),
        (generating("made", "GRPCRoute"), 1),
    ],
)
def test_a_route_that_an_admission_policy_generates(tmp_path: Path, beside: str, expected: int) -> None:
    spec = "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: made}], cors: {maxAge: 1h}}"
    own = manifest("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "made", "shop", spec)
    assert len(told(tmp_path, "GWP101", edge(), shop(), service("web", "shop"), own, beside)) == expected


ISTIO = manifest("security.istio.io/v1", "PeerAuthentication", "all", "istio-system", "spec: {mtls: {mode: STRICT}}")


@pytest.mark.parametrize(("beside", "expected"), [("", ["warning assumed"]), (ISTIO, [])])
def test_a_mesh_that_was_not_seen_may_ask_for_no_grant(tmp_path: Path, beside: str, expected: list[str]) -> None:
    inside = route("web", "shop", "[{group: '', kind: Service, name: web}]", more="rules: [{backendRefs: [OTHER]}]")
    inside = inside.replace("OTHER", "{name: other, namespace: bank, port: 80}")
    assert told(tmp_path, "GWP405", inside, service("web", "shop"), service("other", "bank"), beside) == expected


@pytest.mark.parametrize(("port", "expected"), [("target_port", 0), ("http", 1)])
def test_a_port_that_is_to_be_filled_in(tmp_path: Path, port: str, expected: int) -> None:
    rules = f"rules: [{{backendRefs: [{{name: web, port: {port}}}]}}]"
    spec = f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], {rules}}}"
    own = manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "web", "shop", spec)
    assert len(told(tmp_path, "GWP501", edge(), own, service("web", "shop"))) == expected


def cluster_policy(*rules: str) -> str:
    spec = f"{{priority: 10, subject: {{namespaces: {{}}}}, egress: [{', '.join(rules)}]}}"
    return manifest("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", "out", "", f"spec: {spec}")


TO_SHOP = "{name: shop, action: Allow, to: [{namespaces: {matchLabels: {kubernetes.io/metadata.name: shop}}}]}"
REST = "{name: rest, action: Deny, to: [{networks: [0.0.0.0/0]}]}"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((REST,), 1),
        ((TO_SHOP, REST), 0),  # all others are denied, pods and what is outside
        ((TO_SHOP.replace("Allow", "Deny"), REST), 1),
        ((REST, TO_SHOP), 1),
        ((TO_SHOP, REST.replace("Deny", "Allow")), 1),
        ((TO_SHOP, REST.replace("to:", "ports: [{portNumber: {protocol: TCP, port: 25}}], to:")), 1),
    ],
)
def test_what_denies_the_rest_means_pods_too(tmp_path: Path, rules: tuple[str, ...], expected: int) -> None:
    assert len(told(tmp_path, "GWP612", cluster_policy(*rules), PODS)) == expected


@pytest.mark.parametrize(
    ("service_name", "setting", "expected"),
    [
        ("edge", "originServerName: example.net", 0),
        ("edge", "noTLSVerify: true", 0),
        ("edge", "connectTimeout: 30s", 1),
        ("other", "originServerName: example.net", 1),
    ],
)
def test_a_tunnel_asks_for_another_name(tmp_path: Path, service_name: str, setting: str, expected: int) -> None:
    listeners = (
        "[{name: https, hostname: a.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: one}]}}]"
    )
    made = "spec: {secretName: one, dnsNames: [example.net], issuerRef: {name: le, kind: ClusterIssuer}}"
    certificate = manifest("cert-manager.io/v1", "Certificate", "one", "infra", made)
    leads = f"{{service: 'https://{service_name}.infra.svc', originRequest: {{{setting}}}}}"
    tunnel = chart("tunnel", f"{{config: {{ingress: [{leads}]}}}}")
    assert len(told(tmp_path, "GWP420", edge(listeners=listeners), certificate, tunnel)) == expected


LISTED = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Component\nresources: [RESOURCES]\n"
SWITCHED = manifest(
    "v1", "Service", "web", "shop", "spec: {ports: [{port: 80}]}", more="annotations: {example.com/on: true}"
)
SAYS = manifest(
    "apps/v1",
    "Deployment",
    "web",
    "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: "
    "[{name: web, image: 'example.com/web:1', env: [{name: TLS, value: yes}]}]}}}",
)


@pytest.mark.parametrize(("listed", "expected"), [("all.yaml", 0), ("other.yaml", 2)])
def test_what_a_kustomization_lists_is_applied_as_it_writes_it(tmp_path: Path, listed: str, expected: int) -> None:
    """It writes annotations as texts, and `yes` is one to it, whoever builds it."""
    (tmp_path / "kustomization.yaml").write_text(LISTED.replace("RESOURCES", listed))
    assert len(told(tmp_path, "GWP505", SWITCHED, SAYS)) == expected


@pytest.mark.parametrize(("line", "expected"), [("#@ if name == 'a':", 0), ("# by name", 1)])
def test_a_key_in_each_branch_of_a_template(tmp_path: Path, line: str, expected: int) -> None:
    """Of the branches of ytt one is left."""
    own = shop("ANNOTATIONS").replace("{ANNOTATIONS}", "{one: a,\n  " + line + "\n  one: b}")
    assert len(told(tmp_path, "GWP504", edge(), own, service("web", "shop"))) == expected
