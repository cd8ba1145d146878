"""A policy whose targets nothing shows is judged where what it names is there, with what was not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.repositories import diff

ROOT = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, interval: 5m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge, namespace: infra}]}
"""
CHART = "apiVersion: v2\nname: shop\nversion: 0.1.0\n"


def policy(kind: str, spec: str, namespace: str = "  namespace: pay\n") -> str:
    version, _, name = kind.partition(" ")
    return f"apiVersion: {version}\nkind: {name}\nmetadata:\n  name: p\n{namespace}spec:\n{spec}"


TO_ROUTE = "  targetRefs:\n    - {group: gateway.networking.k8s.io, kind: HTTPRoute, name: pay}\n"
TO_GATEWAY = TO_ROUTE.replace("HTTPRoute, name: pay", "Gateway, name: edge")
EG = "gateway.envoyproxy.io/v1alpha1 SecurityPolicy"
KUADRANT = "kuadrant.io/v1 AuthPolicy"
ISTIO = "security.istio.io/v1 AuthorizationPolicy"
KGATEWAY = "gateway.kgateway.dev/v1alpha1 TrafficPolicy"
TLS = "gateway.networking.k8s.io/v1 BackendTLSPolicy"
KEYS = "  apiKeyAuth:\n    credentialRefs: [{name: keys}]\n    extractFrom: [{headers: [x-key]}]\n"
BASIC = (
    "  defaults:\n    rules:\n      authentication:\n        keys: {apiKey: {selector: {matchLabels: {app: pay}}}}\n"
)
CALLERS = """
  selector: {matchLabels: {app: pay}}
  rules:
    - from: [{source: {principals: [cluster.local/ns/shop/sa/web]}}]
      to: [{operation: {methods: [GET]}}]
"""
TLS_OF = """
  targetRefs: [{group: "", kind: Service, name: pay}]
  validation: {hostname: pay.pay.svc, wellKnownCACertificates: System}
"""
DATABASE = """
  podSelector: {matchLabels: {app: db}}
  ingress:
    - from: [{podSelector: {matchLabels: {app: pay}}}]
"""

CASES = [
    pytest.param(EG, TO_ROUTE + KEYS, "name: pay}", "name: other}", "HTTPRoute pay/pay loses", id="retargeted"),
    pytest.param(EG, TO_GATEWAY + KEYS, KEYS, "  cors: {allowOrigins: ['https://a.example']}\n", "loses", id="login"),
    pytest.param(
        KUADRANT,
        TO_GATEWAY.replace("targetRefs:\n    - ", "targetRef: ") + BASIC,
        "kind: Gateway, name: edge",
        "kind: Gateway, name: edges",
        "every HTTPRoute that it is for loses its authentication",
        id="kuadrant",
    ),
    pytest.param(ISTIO, CALLERS, "cluster.local/ns/shop/sa/web", "'*'", "turns fewer requests away", id="principals"),
    pytest.param(ISTIO, CALLERS, "app: pay", "app: pays", "turns fewer requests away", id="selector"),
    pytest.param(
        "security.istio.io/v1 PeerAuthentication",
        "  mtls: {mode: STRICT}\n",
        "STRICT",
        "PERMISSIVE",
        "goes from STRICT to PERMISSIVE",
        id="transport",
    ),
    pytest.param(TLS, TLS_OF, "name: pay}", "name: payed}", "nobody verifies who answers", id="backend"),
    pytest.param(
        "networking.k8s.io/v1 NetworkPolicy",
        DATABASE,
        "podSelector: {matchLabels: {app: pay}}",
        "namespaceSelector: {}",
        "allows connections that were not allowed before",
        id="network",
    ),
    pytest.param(
        KGATEWAY,
        TO_ROUTE + "  extAuth: {extensionRef: {name: login}}\n",
        "extAuth: {extensionRef: {name: login}}",
        "extAuth: {disable: {}}",
        "loses its",
        id="kgateway",
    ),
]
CASES += [
    pytest.param(
        EG,
        TO_ROUTE + "  extAuth:\n    failOpen: false\n    http: {backendRefs: [{name: auth, port: 80}]}\n",
        "failOpen: false",
        "failOpen: true",
        "goes from false to true",
        id="backend-of-a-login",
    ),
    pytest.param(
        "policy.linkerd.io/v1alpha1 AuthorizationPolicy",
        "  targetRef: {group: policy.linkerd.io, kind: Server, name: pay}\n"
        "  requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: web}]\n",
        "[{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: web}]",
        "[]",
        "loses its authorization",
        id="linkerd",
    ),
    pytest.param(
        "projectcalico.org/v3 NetworkPolicy",
        "  selector: app == 'pay'\n  types: [Ingress]\n  ingress: [{action: Deny}]\n",
        "action: Deny",
        "action: Allow",
        "what it turned away passes",
        id="calico",
    ),
]
AT_PORTS = """
  selector: {matchLabels: {app.kubernetes.io/instance: pay, tier: db}}
  rules:
    - from: [{source: {principals: [cluster.local/ns/shop/sa/web]}}]
      to: [{operation: {ports: ["8081"], paths: [/read]}}]
    - from: [{source: {namespaces: [tools]}}]
      when: [{key: destination.port, values: ["9090"]}]
"""
CASES += [  # what they open they open at ports of their own
    pytest.param(ISTIO, AT_PORTS, "cluster.local/ns/shop/sa/web", "'*'", "get in", id="principals-at-a-port"),
    pytest.param(ISTIO, AT_PORTS, "[/read]", '[/read, "/admin/*"]', "opens ~/admin/.*", id="paths-at-a-port"),
    pytest.param(ISTIO, AT_PORTS, "namespaces: [tools]", "namespaces: ['*']", "get in", id="condition-of-a-port"),
    pytest.param(
        ISTIO, AT_PORTS.replace("rules:", "action: ALLOW\n  rules:"), "ALLOW", "AUDIT", "get in", id="action-at-ports"
    ),
    pytest.param(
        "security.istio.io/v1 PeerAuthentication",
        "  selector: {matchLabels: {app: pay}}\n  mtls: {mode: STRICT}\n  portLevelMtls: {9090: {mode: STRICT}}\n",
        "{9090: {mode: STRICT}}",
        "{9090: {mode: DISABLE}}",
        "goes from STRICT to DISABLE",
        id="transport-of-a-port",
    ),
]
TWINS = [
    pytest.param(EG, TO_ROUTE + KEYS, "[x-key]", '["x-key"]', id="quotes"),
    pytest.param(ISTIO, CALLERS, "methods: [GET]", "methods: [GET], paths: [/api]", id="narrower"),
    pytest.param("networking.k8s.io/v1 NetworkPolicy", DATABASE, "podSelector: {matchLabels: {app: pay}}",
                 "podSelector: {matchLabels: {app: pay, tier: web}}", id="fewer"),
]  # fmt: skip


def places(tmp_path: Path, kind: str, spec: str, old: str, new: str) -> dict[str, str]:
    """What the diff says of one change at three places: in a file that nothing deploys, in a template, and deployed
    beside nothing that it is for."""
    assert old in spec
    deployed = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE}
    sides = [policy(kind, each) for each in (spec, spec.replace(old, new))]
    templates = [
        policy(kind, each, "  namespace: {{ .Release.Namespace }}\n") for each in (spec, spec.replace(old, new))
    ]
    said = {}
    for place, path, tree, (before, after) in (
        ("unused", "old/p.yaml", deployed, sides),
        ("template", "chart/templates/p.yaml", {**deployed, "chart/Chart.yaml": CHART}, templates),
        ("deployed", "apps/p.yaml", deployed, sides),
    ):
        root = tmp_path / place
        root.mkdir()
        said[place] = " ".join(diff(root, {**tree, path: before}, {path: after}).split())
    return said


@pytest.mark.parametrize(("kind", "spec", "old", "new", "sentence"), CASES)
def test_what_is_weaker_is_said_with_its_ground(
    tmp_path: Path, kind: str, spec: str, old: str, new: str, sentence: str
) -> None:
    said = places(tmp_path, kind, spec, old, new)
    wanted = sentence.replace("pay/pay", "pay")
    assert sentence in said["unused"], said["unused"]
    assert "this is assumed: nothing here deploys old/p.yaml" in said["unused"]
    assert wanted in said["template"].replace("{{ .Release.Namespace }}/", ""), said["template"]
    assert "this is assumed: chart/templates/p.yaml is a template that is not rendered" in said["template"]
    assert "warning[GWP3" in said["deployed"], said["deployed"]


@pytest.mark.parametrize(("kind", "spec", "old", "new"), TWINS)
def test_what_is_not_weaker_is_a_row_at_most(tmp_path: Path, kind: str, spec: str, old: str, new: str) -> None:
    for said in places(tmp_path, kind, spec, old, new).values():
        assert "warning[" not in said, said
        assert "error[" not in said, said


def test_policies_for_other_pods_of_the_namespace_stay_theirs(tmp_path: Path) -> None:
    """Each stands for pods of its own, that have no name here: what is open beside them closes nothing at them."""
    others = policy(ISTIO, "  selector: {matchLabels: {tier: front}}\n  rules: [{}]\n").replace(
        "name: p\n", "name: a\n"
    )
    tree = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE, "apps/a.yaml": others}
    before, after = (
        policy(ISTIO, AT_PORTS.replace("rules:", f"action: {action}\n  rules:")) for action in ("ALLOW", "AUDIT")
    )
    said = " ".join(diff(tmp_path, {**tree, "apps/p.yaml": before}, {"apps/p.yaml": after}).split())
    assert (
        "every Deployment that it is for is less protected: AuthorizationPolicy pay/p turns fewer requests away" in said
    )


def test_what_is_deleted_where_nothing_deploys_it_is_a_row(tmp_path: Path) -> None:
    tree = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE}
    before = {**tree, "old/p.yaml": policy(EG, TO_ROUTE + KEYS)}
    said = " ".join(diff(tmp_path, before, {"old/p.yaml": ""}).split())
    assert "goes, and nothing here deploys old/p.yaml" in said
    assert "warning[" not in said


def namespace(says: str) -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: pay, {says}}}\n"


TRANSPORT = policy("security.istio.io/v1 PeerAuthentication", "  mtls: {mode: STRICT}\n")
OF_LINKERD = "\n---\n".join((
    policy("policy.linkerd.io/v1beta3 Server", "  podSelector: {matchLabels: {app: pay}}\n  port: 8080\n"),
    policy(
        "policy.linkerd.io/v1alpha1 AuthorizationPolicy",
        "  targetRef: {group: policy.linkerd.io, kind: Server, name: p}\n"
        "  requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: web}]\n",
    ),
))  # fmt: skip
ENROLLED = [
    pytest.param(TRANSPORT, "labels: {istio.io/dataplane-mode: ambient}", "labels: {team: a}", id="ambient"),
    pytest.param(TRANSPORT, "labels: {istio-injection: enabled}", "labels: {istio-injection: disabled}", id="sidecars"),
    pytest.param(
        policy(ISTIO, AT_PORTS),
        "labels: {istio-injection: enabled}",
        "labels: {istio-injections: enabled}",
        id="callers",
    ),
    pytest.param(
        OF_LINKERD,
        "annotations: {linkerd.io/inject: enabled}",
        "annotations: {linkerd.io/inject: disabled}",
        id="linkerd",
    ),
]


@pytest.mark.parametrize(("policies", "inside", "outside"), ENROLLED)
def test_a_namespace_that_leaves_a_mesh_takes_its_unseen_pods_along(
    tmp_path: Path, policies: str, inside: str, outside: str
) -> None:
    tree = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE, "apps/p.yaml": policies}
    said = {}
    for name, (before, after) in {"leaves": (inside, outside), "joins": (outside, inside)}.items():
        (tmp_path / name).mkdir()
        space = {"apps/namespace.yaml": namespace(before)}
        found = diff(tmp_path / name, {**tree, **space}, {"apps/namespace.yaml": namespace(after)})
        said[name] = " ".join(found.split())
    assert "warning[GWP304] every Deployment that it is for is less protected" in said["leaves"], said["leaves"]
    assert "this is assumed: no" in said["leaves"]
    assert "warning[" not in said["joins"], said["joins"]


def test_labels_that_no_mesh_reads_are_a_row(tmp_path: Path) -> None:
    tree = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE, "apps/p.yaml": TRANSPORT}
    both = "labels: {istio-injection: enabled, team: %s}"
    before = {**tree, "apps/namespace.yaml": namespace(both % "a")}
    said = " ".join(diff(tmp_path, before, {"apps/namespace.yaml": namespace(both % "b")}).split())
    assert "Namespace pay: unknown" in said
    assert "warning[" not in said


DOORS = {
    "Ingress": """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/8
    nginx.ingress.kubernetes.io/auth-type: basic
    nginx.ingress.kubernetes.io/auth-secret: people
    argocd.argoproj.io/sync-wave: "1"
spec:
  ingressClassName: nginx
  rules:
    - host: a.example
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
""",
    "IngressRoute": """
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: web, namespace: shop}
spec:
  entryPoints: [websecure]
  routes:
    - match: Host(`a.example`)
      kind: Rule
      middlewares: [{name: login}]
      services: [{name: web, port: 80}]
""",
    "HTTPProxy": """
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: web, namespace: shop}
spec:
  virtualhost:
    fqdn: a.example
    ipAllowPolicy: [{source: Remote, cidr: 10.0.0.0/8}]
  routes: [{conditions: [{prefix: /}], services: [{name: web, port: 80}]}]
""",
}


@pytest.mark.parametrize(
    ("kind", "old", "new", "sentence"),
    [
        ("Ingress", "10.0.0.0/8", "0.0.0.0/0", "warning[GWP3"),
        ("Ingress", "10.0.0.0/8", "10.0.0.0/7", "opens a.example from 11.0.0.0/8"),
        ("Ingress", "whitelist-source-range", "denylist-source-range", "loses its authorization"),
        ("Ingress", "    nginx.ingress.kubernetes.io/auth-type: basic\n", "", "loses its authentication"),
        ("HTTPProxy", "10.0.0.0/8", "0.0.0.0/0", "warning[GWP3"),
        ("IngressRoute", "      middlewares: [{name: login}]\n", "", "nothing here deploys old/web.yaml"),
    ],
)
def test_a_way_in_that_nothing_deploys_is_judged_as_policies_are(
    tmp_path: Path, kind: str, old: str, new: str, sentence: str
) -> None:
    tree, door = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE}, DOORS[kind]
    assert old in door
    changed = door.replace(old, new)
    said = " ".join(diff(tmp_path, {**tree, "old/web.yaml": door}, {"old/web.yaml": changed}).split())
    assert sentence in said
    assert "nothing here deploys old/web.yaml" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [('wave: "1"', 'wave: "2"'), ("basic\n", "basic\n    nginx.ingress.kubernetes.io/auth-realm: a\n")],
)
def test_what_a_way_in_says_to_nobody_on_the_way_is_no_row(tmp_path: Path, old: str, new: str) -> None:
    tree, door = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE}, DOORS["Ingress"]
    said = diff(tmp_path, {**tree, "old/web.yaml": door}, {"old/web.yaml": door.replace(old, new)})
    assert "deploys old/web.yaml" not in said


@pytest.mark.parametrize(
    ("kind", "spec", "old", "new", "ways"),
    [
        (
            "networking.k8s.io/v1 NetworkPolicy",
            f"{DATABASE}  egress: [{{}}]\n  policyTypes: [Ingress, Egress]\n",
            "[Ingress, Egress]",
            "[Egress]",
            "ingress",
        ),
        (
            "networking.k8s.io/v1 NetworkPolicy",
            f"{DATABASE}  policyTypes: [Ingress, Egress]\n",
            "[Ingress, Egress]",
            "[Ingress]",
            "egress",
        ),
        (
            "projectcalico.org/v3 NetworkPolicy",
            "  selector: app == 'pay'\n  types: [Ingress, Egress]\n  egress: [{action: Allow}]\n",
            "[Ingress, Egress]",
            "[Egress]",
            "ingress",
        ),
        (
            "cilium.io/v2 CiliumNetworkPolicy",
            "  endpointSelector: {matchLabels: {app: pay}}\n  ingress: [{}]\n  egress: [{toEntities: [cluster]}]\n",
            "  ingress: [{}]\n",
            "",
            "ingress",
        ),
    ],
)
def test_a_direction_that_a_network_policy_limits_no_longer_is_told(
    tmp_path: Path, kind: str, spec: str, old: str, new: str, ways: str
) -> None:
    said = places(tmp_path, kind, spec, old, new)
    for place in ("unused", "template"):
        assert f"no longer limits {ways} of the pods that it selects" in said[place], said[place]
