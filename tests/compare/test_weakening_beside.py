"""GWP304 and GWP325 for what is no field of a policy on requests: filters, annotations, texts, clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests.checks.linting import GATEWAY, SERVICE, route
from tests.compare.test_weakening import of, sides


def changed(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """What the rules of changes say of two states, but what they say of requests."""
    pair = sides(tmp_path, before, after)
    found = removed_protections([pair], compare([pair]), {"GWP304", "GWP325"})
    return [(each.rule, each.severity, each.message) for each in found]


def filtered(filters: str) -> str:
    return route("checkout").rstrip("\n") + f"\n      filters: [{filters}]\n"


def request(change: str) -> str:
    return f"{{type: RequestHeaderModifier, requestHeaderModifier: {{{change}}}}}"


def rewrite(path: str) -> str:
    return f"{{type: URLRewrite, urlRewrite: {{path: {{type: ReplacePrefixMatch, replacePrefixMatch: {path}}}}}}}"


HSTS = "{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: Strict-Transport-Security, value: a}]}}"
MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: copies, port: 80}}}"
FILTERS = [
    (request("remove: [X-User, x-team]"), request("remove: [x-team]"), "lets x-user pass"),
    (request("remove: [x-user, x-team]"), request("remove: [X-Team, X-User]"), ""),
    (request("remove: [x-user]"), request("set: [{name: x-user, value: nobody}]"), ""),
    (
        request("set: [{name: x-user, value: nobody}]"),
        request("add: [{name: x-user, value: nobody}]"),
        "lets x-user pass",
    ),
    (request("remove: [x-user]"), HSTS, "lets x-user pass"),
    (HSTS, request("remove: [x-user]"), "no longer sends strict-transport-security"),
    (HSTS, f"{HSTS}, {MIRROR}", "copies requests to Service copies"),
    (f"{HSTS}, {MIRROR}", HSTS, ""),
    (rewrite("/public"), rewrite("/admin"), "asks for /admin now"),
    (rewrite("/public"), rewrite('"/public"'), ""),
]


@pytest.mark.parametrize(("before", "after", "expected"), FILTERS)
def test_filters_of_routes(tmp_path: Path, before: str, after: str, expected: str) -> None:
    found = changed(tmp_path, (GATEWAY, SERVICE, filtered(before)), (GATEWAY, SERVICE, filtered(after)))
    assert len(found) == bool(expected), found
    assert expected in "".join(message for _, _, message in found)


def ingress(annotations: str) -> str:
    return f"""
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: shop, namespace: shop, annotations: {{{annotations}}}}}
spec: {{ingressClassName: nginx, defaultBackend: {{service: {{name: checkout, port: {{number: 8080}}}}}}}}
"""


def balancer(annotations: str) -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: out, namespace: shop, annotations: {{{annotations}}}}}
spec: {{type: LoadBalancer, selector: {{app: out}}, ports: [{{port: 80}}]}}
"""


NGINX, AWS = "nginx.ingress.kubernetes.io", "service.beta.kubernetes.io/aws-load-balancer"
ANNOTATIONS = [
    (
        ingress(f'{NGINX}/limit-rps: "5"'),
        ingress(f'{NGINX}/limit-rps: "50"'),
        "limit-rps of Ingress shop/shop goes from 5 to 50",
    ),
    (ingress(f'{NGINX}/limit-rps: "5"'), ingress(f'{NGINX}/limit-rps: "4"'), ""),
    (ingress(f'{NGINX}/limit-rps: "5"'), ingress("a: b"), "limit-rps of Ingress shop/shop is gone"),
    (ingress(f'{NGINX}/enable-modsecurity: "true"'), ingress(f'{NGINX}/enable-modsecurity: "false"'), "switched off"),
    (ingress(f"{NGINX}/proxy-body-size: 1m"), ingress(f'{NGINX}/proxy-body-size: "0"'), "larger requests pass"),
    (balancer(f"{AWS}-scheme: internal"), balancer(f"{AWS}-scheme: internet-facing"), "the Internet reaches it"),
    (balancer(f"{AWS}-scheme: internal, team: a"), balancer(f"{AWS}-scheme: internal, team: b"), ""),
    (
        balancer('service.beta.kubernetes.io/azure-load-balancer-internal: "true"'),
        balancer('service.beta.kubernetes.io/azure-load-balancer-internal: "false"'),
        "the Internet reaches it",
    ),
    (
        balancer("networking.gke.io/load-balancer-type: Internal"),
        balancer("networking.gke.io/load-balancer-type: External"),
        "the Internet reaches it",
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), ANNOTATIONS)
def test_annotations_by_their_names(tmp_path: Path, before: str, after: str, expected: str) -> None:
    found = [each for each in changed(tmp_path, (SERVICE, before), (SERVICE, after)) if each[0] == "GWP304"]
    assert len(found) == bool(expected), found
    assert expected in "".join(message for _, _, message in found)


def snippet(text: str) -> str:
    return of(
        "gateway.nginx.org",
        "SnippetsPolicy",
        "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]\n"
        f"  snippets: [{{context: http.server.location, value: '{text}'}}]",
        namespace="infra",
    )


NGINX_GATEWAY = GATEWAY.replace("name: envoy", "name: nginx").replace(
    "gatewayClassName: envoy", "gatewayClassName: nginx"
)
TEXTS = [
    ("allow 10.0.0.0/8; deny all;", "allow 10.0.0.0/8;", "no longer says `deny all`"),
    ("allow 10.0.0.0/8; deny all;", "deny  all; allow 10.0.0.0/8;", ""),
    ("limit_req zone=a burst=5;", "limit_req zone=a burst=2;", ""),
    ("SecRuleEngine On;", "SecRuleEngine DetectionOnly;", "no longer says `SecRuleEngine On`"),
    ("add_header X-A b;", "add_header X-A c;", ""),
    ("auth_request /verify;", "", "is gone, and with it `auth_request /verify`"),
]


@pytest.mark.parametrize(("before", "after", "expected"), TEXTS)
def test_texts_by_their_statements(tmp_path: Path, before: str, after: str, expected: str) -> None:
    world = (NGINX_GATEWAY, SERVICE, route("checkout"))
    now = (*world, snippet(after)) if after else world
    found = [
        each for each in changed(tmp_path, (*world, snippet(before)), now) if "says" in each[2] or "gone" in each[2]
    ]
    assert len(found) == bool(expected), found
    assert expected in "".join(message for _, _, message in found)


HUB = """
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: prod, namespace: policies}
spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b, namespace: policies}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: prod}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: walls}]
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: east, labels: {env: prod, cluster.open-cluster-management.io/clusterset: all}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: all, namespace: policies}
spec: {clusterSet: all}
"""
WALLS = """
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: walls, namespace: policies}
spec:
  disabled: false
  remediationAction: enforce
  policy-templates:
  - objectDefinition:
      apiVersion: policy.open-cluster-management.io/v1
      kind: ConfigurationPolicy
      metadata: {name: walls}
      spec:
        remediationAction: enforce
        namespaceSelector: {include: ["*"], exclude: [kube-system]}
        object-templates:
        - complianceType: musthave
          objectDefinition:
            apiVersion: networking.k8s.io/v1
            kind: NetworkPolicy
            metadata: {name: deny}
            spec: {podSelector: {}}
        - complianceType: musthave
          objectDefinition: {apiVersion: v1, kind: ConfigMap, metadata: {name: notes}, data: {a: b}}
"""
WORK = """
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: walls, namespace: east}
spec:
  workload:
    manifests:
    - {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
    - apiVersion: networking.k8s.io/v1
      kind: NetworkPolicy
      metadata: {name: deny, namespace: shop}
      spec: {podSelector: {}}
"""
SET_OF_WORKS = """
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: walls, namespace: hub}
spec:
  placementRefs: [{name: all}]
  manifestWorkTemplate:
    workload:
      manifests:
      - apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: deny, namespace: shop}
        spec: {podSelector: {}}
"""
CLUSTERS = [
    (SET_OF_WORKS, "{podSelector: {}}", "{podSelector: {}, ingress: [{}]}", "a weaker NetworkPolicy shop/deny"),
    (SET_OF_WORKS, "name: all", "name: 'all'", ""),
    (WALLS, "disabled: false", "disabled: true", "is no longer enforced on 1 cluster: it is not placed there any more"),
    (WALLS, "remediationAction: enforce\n  policy", "remediationAction: inform\n  policy", "is no longer enforced on"),
    (
        WALLS,
        "spec: {podSelector: {}}",
        "spec: {podSelector: {}, ingress: [{}]}",
        "a weaker NetworkPolicy deny",
    ),
    (WALLS, "spec: {podSelector: {}}", "spec: {podSelector: {}, policyTypes: [Ingress, Egress]}", ""),
    (WALLS, "complianceType: musthave", "complianceType: mustnothave", "no longer brings clusters NetworkPolicy deny"),
    (WALLS, "data: {a: b}", "data: {a: c}", ""),
    (WALLS, "[kube-system]", "[kube-system, shop]", "now leaves out namespaces shop"),
    (WALLS, "[kube-system]", "[]", ""),
    (WORK, "kind: NetworkPolicy", "kind: ConfigMap", "no longer brings clusters NetworkPolicy shop/deny"),
    (WORK, "name: walls, namespace", "labels: {a: b}, name: walls, namespace", ""),
]


@pytest.mark.parametrize(("world", "was", "now", "expected"), CLUSTERS)
def test_what_protects_clusters(tmp_path: Path, world: str, was: str, now: str, expected: str) -> None:
    found = changed(tmp_path, (HUB, world), (HUB, world.replace(was, now, 1)))
    assert len(found) == bool(expected), found
    assert expected in "".join(message for _, _, message in found)


def credential(labels: str) -> str:
    return f"""
apiVersion: v1
kind: Secret
metadata: {{name: guests, namespace: kuadrant-system, labels: {{{labels}}}}}
stringData: {{api_key: a}}
"""


def test_secrets_that_a_policy_selects_by_labels(tmp_path: Path) -> None:
    keys = "rules: {authentication: {keys: {apiKey: {selector: {matchLabels: {app: shop, tier: staff}}}}}}"
    target = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}\n  "
    world = (GATEWAY, SERVICE, route("checkout"), of("kuadrant.io", "AuthPolicy", target + keys, version="v1"))
    guests, staff, elsewhere = (credential(f"app: {app}") for app in ("shop, tier: guest", "shop, tier: staff", "blog"))
    ((rule, severity, message),) = changed(tmp_path, (*world, guests), (*world, staff))
    assert (rule, severity) == ("GWP325", "warning")
    assert "AuthPolicy shop/login now accepts the credentials of Secret" in message
    assert changed(tmp_path, (*world, guests), (*world, elsewhere)) == []
    assert changed(tmp_path, (*world, staff), (*world, guests)) == []


def cilium(port: str) -> str:
    return f"""
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {{name: db, namespace: shop}}
spec:
  endpointSelector: {{matchLabels: {{app: shop}}}}
  ingress: [{{fromEndpoints: [{{}}], toPorts: [{{ports: [{{port: '80', protocol: TCP}}]{port}}}]}}]
"""


CILIUM = [
    (", rules: {http: [{method: GET}]}", "", "requests of any sort pass"),
    (", rules: {http: [{method: GET, path: /a}]}", ", rules: {http: [{method: GET}]}", "any will do"),
    (", rules: {http: [{method: GET}]}", ", rules: {http: [{method: GET}, {method: POST}]}", "one more sort"),
    (", rules: {http: [{method: GET}]}", ", rules: {http: [{path: /a, method: GET}]}", ""),
    (", rules: {http: [{path: /a, method: GET}]}", ", rules: {http: [{path: /.*, method: GET}]}", "any will do"),
    (", rules: {http: [{path: /a, method: GET}]}", ", rules: {http: [{path: /b, method: GET}]}", "other requests pass"),
]


@pytest.mark.parametrize(("before", "after", "expected"), CILIUM)
def test_rules_of_requests_in_policies_of_cilium(tmp_path: Path, before: str, after: str, expected: str) -> None:
    found = changed(tmp_path, (SERVICE, cilium(before)), (SERVICE, cilium(after)))
    assert len(found) == bool(expected), found
    assert expected in "".join(message for _, _, message in found)


OF_LINKERD = """
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: own, namespace: shop}
spec:
  parentRefs: [{group: core, kind: %s, name: checkout}]
  rules: [{matches: [{path: {value: %s}}], filters: [%s]}]
"""


@pytest.mark.parametrize(
    ("parent", "before", "after", "is_told"),
    [
        ("Service", ("/a", ""), ("/b", ""), False),  # requests tell it
        ("Service", ("/a", request("remove: [x-user]")), ("/a", request("remove: [x-team]")), True),
        ("Server", ("/a", ""), ("/b", ""), True),
    ],
)
def test_routes_of_a_mesh_are_read_once(
    tmp_path: Path, parent: str, before: tuple[str, str], after: tuple[str, str], is_told: bool
) -> None:
    states = [OF_LINKERD % (parent, *each) for each in (before, after)]
    found = changed(tmp_path, (SERVICE, states[0]), (SERVICE, states[1]))
    assert bool(found) is is_told, found
