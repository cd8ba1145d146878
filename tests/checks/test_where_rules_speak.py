# ruff: noqa: E501 - worlds on one line each
"""Worlds in which a rule must speak and worlds beside them in which it must not, each from what the controller documents.

They were written before they were run: of each rule two and two at least, for those that had nobody's worlds but ours.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.diff.history import commit

EDGE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec: {controllerName: CONTROLLER}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: edge
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: https, port: 443, protocol: HTTPS, hostname: "*.example.com", tls: {certificateRefs: [{name: cert}]}}
---
apiVersion: v1
kind: Secret
metadata: {name: cert, namespace: shop}
type: kubernetes.io/tls
data: {tls.crt: "", tls.key: ""}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: TARGET}]}
---
"""
EG, ISTIO = "gateway.envoyproxy.io/gatewayclass-controller", "istio.io/gateway-controller"
KGATEWAY = "kgateway.dev/kgateway"


def edge(controller: str = EG, target: str = "8080") -> str:
    return EDGE.replace("CONTROLLER", controller).replace("TARGET", target)


def route(name: str = "web", hosts: str = "[a.example.com]", parent: str = "{name: edge}", rule: str = "") -> str:
    return f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec:
  parentRefs: [{parent}]
  hostnames: {hosts}
  rules: [{{{rule}backendRefs: [{{name: web, port: 80}}]}}]
---
"""


def of_envoy(kind: str, spec: str, target: str = "HTTPRoute, name: web") -> str:
    targets = f"targetRefs: [{{group: gateway.networking.k8s.io, kind: {target}}}]"
    return f"""\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: {kind}
metadata: {{name: own, namespace: shop}}
spec: {{{targets}, {spec}}}
---
"""


MESHED = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio.io/dataplane-mode: ambient WAYPOINT}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: web, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: web}]
  rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/client]}}]}]
---
"""
WAYPOINT = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: way, namespace: shop}
spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}
---
"""


def tls_policy(section: str) -> str:
    return f"""\
apiVersion: kuadrant.io/v1
kind: TLSPolicy
metadata: {{name: tls, namespace: shop}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: {section}}}
  issuerRef: {{group: cert-manager.io, kind: ClusterIssuer, name: le}}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {{name: le}}
spec: {{selfSigned: {{}}}}
---
"""


USERS = """\
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: shop}
stringData: {.htpasswd: "a:{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc="}
---
"""
ASKED = """\
apiVersion: v1
kind: Service
metadata: {name: authz, namespace: auth}
spec: {selector: {app: authz}, ports: [{name: http, port: 8080}]}
---
"""
GRANT = """\
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: asks, namespace: auth}
spec:
  from: [{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: shop}]
  to: [{group: "", kind: Service}]
---
"""
EXT_AUTH = "extAuth: {http: {backendRefs: [{name: authz, namespace: auth, port: 8080}]}}"
SET = """\
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: shop}
spec:
  parentRef: {name: edge}
  listeners: [{name: extra, port: 8443, protocol: HTTPS, hostname: "*.example.com", tls: {certificateRefs: [{name: cert}]}}]
---
"""
PODS = """\
apiVersion: apps/v1
kind: KIND
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {initContainers: [INIT], containers: [{name: web, image: web, ports: [PORT]}]}}
---
"""


def pods(port: str = "", kind: str = "Deployment", init: str = "") -> str:
    return PODS.replace("KIND", kind).replace("PORT", port).replace("INIT", init)


def virtual_service(first: str, second: str) -> str:
    destination = "route: [{destination: {host: web.shop.svc.cluster.local, port: {number: 80}}}]"
    return f"""\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: web, namespace: shop}}
spec:
  hosts: [web.shop.svc.cluster.local]
  http: [{{match: [{{uri: {first}}}], {destination}}}, {{match: [{{uri: {second}}}], {destination}}}]
---
"""


def limits(rules: str) -> str:
    return of_envoy("BackendTrafficPolicy", f"rateLimit: {{type: Global, global: {{rules: {rules}}}}}")


LIMIT = "limit: {requests: 5, unit: Minute}"
CSRF = """\
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: own, namespace: shop}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}], csrf: {SPEC}}
---
"""
WORLDS = [
    # Istio, "Use Layer 7 features": a policy on a Service is enforced by the waypoint that the Service uses.
    ("GWP106", "no waypoint", MESHED.replace(" WAYPOINT", ""), 1),
    ("GWP106", "a waypoint", MESHED.replace(" WAYPOINT", ", istio.io/use-waypoint: way") + WAYPOINT, 0),
    # kuadrant-operator, TLSPolicy: certificates are made for listeners with TLS.
    ("GWP106", "a listener without TLS", edge(ISTIO) + route() + tls_policy("http"), 1),
    ("GWP106", "a listener with TLS", edge(ISTIO) + route() + tls_policy("https"), 0),
    # Envoy Gateway, SecurityPolicy: a Secret that is not there, a Service without a grant, and both as they should be.
    (
        "GWP111",
        "no users",
        edge() + route() + USERS.replace(".ht", "ht") + of_envoy("SecurityPolicy", "basicAuth: {users: {name: users}}"),
        1,
    ),
    ("GWP111", "users", edge() + route() + USERS + of_envoy("SecurityPolicy", "basicAuth: {users: {name: users}}"), 0),
    ("GWP111", "no grant", edge() + route() + ASKED + of_envoy("SecurityPolicy", EXT_AUTH), 1),
    ("GWP111", "a grant", edge() + route() + ASKED + GRANT + of_envoy("SecurityPolicy", EXT_AUTH), 0),
    # Gateway API, ParentReference: `sectionName` and `port` select listeners; those of a ListenerSet are its own.
    ("GWP402", "no such section", edge() + route(parent="{name: edge, sectionName: tls}"), 1),
    ("GWP402", "no such port", edge() + route(parent="{name: edge, port: 8443}"), 1),
    ("GWP402", "a section of the set", edge() + SET + route(parent="{name: edge, sectionName: extra}"), 1),
    ("GWP402", "the set", edge() + SET + route(parent="{kind: ListenerSet, name: more, sectionName: extra}"), 0),
    ("GWP402", "section and port", edge() + route(parent="{name: edge, sectionName: https, port: 443}"), 0),
    ("GWP402", "section of another port", edge() + route(parent="{name: edge, sectionName: https, port: 80}"), 1),
    # Gateway API, Hostname: a wildcard stands for one or more labels, and for none it does not.
    ("GWP404", "another domain", edge() + route(hosts="[a.example.org]"), 1),
    ("GWP404", "the domain itself", edge() + route(hosts="[a.example.com, example.com]"), 1),
    ("GWP404", "two labels", edge() + route(hosts="[a.b.example.com]"), 0),
    ("GWP404", "a wider wildcard", edge() + route(hosts='["*.com"]'), 0),
    ("GWP404", "any host", edge() + route(hosts="[]"), 0),
    # Gateway API, HTTPRouteRule: ties go to the older route; header matches and listeners keep routes apart.
    ("GWP408", "a tie", edge() + route() + route("web2"), 1),
    (
        "GWP408",
        "one more header",
        edge() + route() + route("web2", rule="matches: [{headers: [{name: a, value: b}]}], "),
        0,
    ),
    (
        "GWP408",
        "other listeners",
        edge()
        + route(parent="{name: edge, sectionName: http}")
        + route("web2", parent="{name: edge, sectionName: https}"),
        0,
    ),
    # Istio, VirtualService: the first rule that fits; prefixes are text, paths of Gateway API are not.
    ("GWP408", "a prefix as text", edge() + virtual_service("{prefix: /shop}", "{prefix: /shopping}"), 1),
    ("GWP408", "the longer first", edge() + virtual_service("{prefix: /shopping}", "{prefix: /shop}"), 0),
    # Kubernetes, FindPort: named ports of containers, and of init containers that always restart.
    ("GWP410", "no such name", edge(target="web") + route() + pods("{name: http, containerPort: 8080}"), 1),
    ("GWP410", "of a StatefulSet", edge(target="web") + route() + pods("{containerPort: 8080}", "StatefulSet"), 1),
    ("GWP410", "a number", edge() + route() + pods(), 0),
    (
        "GWP410",
        "a sidecar",
        edge(target="web")
        + route()
        + pods(init="{name: s, image: s, restartPolicy: Always, ports: [{name: web, containerPort: 8080}]}"),
        0,
    ),
    (
        "GWP410",
        "a container that ends",
        edge(target="web") + route() + pods(init="{name: s, image: s, ports: [{name: web, containerPort: 8080}]}"),
        1,
    ),
    # Envoy Gateway, RateLimitSelectCondition, and kgateway, CSRFPolicy.
    (
        "GWP526",
        "two ranges",
        edge()
        + route()
        + limits(
            f"[{{clientSelectors: [{{sourceCIDR: {{value: 10.0.0.0/8}}}}, {{sourceCIDR: {{value: 192.168.0.0/16}}}}], {LIMIT}}}]"
        ),
        1,
    ),
    (
        "GWP526",
        "a range each",
        edge()
        + route()
        + limits(
            f"[{{clientSelectors: [{{sourceCIDR: {{value: 10.0.0.0/8}}}}], {LIMIT}}}, {{clientSelectors: [{{sourceCIDR: {{value: 192.168.0.0/16}}}}], {LIMIT}}}]"
        ),
        0,
    ),
    (
        "GWP526",
        "no share",
        edge(KGATEWAY) + route() + CSRF.replace("SPEC", "additionalOrigins: [{exact: a.example.com}]"),
        1,
    ),
    ("GWP526", "a share", edge(KGATEWAY) + route() + CSRF.replace("SPEC", "percentageEnabled: 100"), 0),
]


def told(folder: Path, rule: str, files: dict[str, str]) -> list[str]:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    found = [each for each in open_workspace([str(folder)]).findings() if each.rule == rule]
    return [each.message for each in found if each.confidence != "unknown"]


@pytest.mark.parametrize(
    ("rule", "manifests", "expected"),
    [(rule, manifests, expected) for rule, _, manifests, expected in WORLDS],
    ids=[f"{rule}: {what}" for rule, what, _, _ in WORLDS],
)
def test_a_rule_speaks_where_its_controller_says_so(tmp_path: Path, rule: str, manifests: str, expected: int) -> None:
    found = told(tmp_path, rule, {"all.yaml": manifests})
    assert len(found) == expected, found


FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec: {path: ./PATH, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}
---
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: http, port: PORT}]}
---
"""
TWO = FLUX.replace("NAME", "one").replace("PATH", "one") + FLUX.replace("NAME", "two").replace("PATH", "two")
GATEWAYS = """\
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {selector: {app: edge}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
---
"""
PATCH = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: NAME, namespace: shop}
spec: {hostnames: [b.example.com]}
"""
TREES = [
    # One object of a cluster is what was applied last.
    (
        "GWP503",
        "two paths",
        {"clusters/a/k.yaml": TWO, "one/a.yaml": route() + edge(), "two/a.yaml": route(hosts="[b.example.com]")},
        1,
    ),
    (
        "GWP503",
        "one file",
        {"a.yaml": SERVICE.replace("PORT", "80") + SERVICE.replace("PORT", "81") + edge() + route()},
        2,
    ),
    ("GWP503", "other groups", {"clusters/a/k.yaml": TWO, "one/a.yaml": route() + edge(), "two/a.yaml": GATEWAYS}, 0),
    (
        "GWP503",
        "other clusters",
        {
            "clusters/a/k.yaml": FLUX.replace("NAME", "one").replace("PATH", "one"),
            "clusters/b/k.yaml": FLUX.replace("NAME", "two").replace("PATH", "two"),
            "one/a.yaml": route() + edge(),
            "two/a.yaml": route(hosts="[b.example.com]") + edge(),
        },
        0,
    ),
    # YAML 1.2, "Indentation Spaces": no tabs indent; Helm's templates and MkDocs' configuration are no manifests.
    ("GWP910", "a tab", {"a.yaml": edge() + "apiVersion: v1\nkind: Service\nmetadata:\n\tname: a\n"}, 1),
    ("GWP910", "an open bracket", {"a.yaml": edge(), "b.yaml": route().replace("}]\n---", "\n---")}, 1),
    (
        "GWP910",
        "a chart",
        {
            "a.yaml": edge() + route(),
            "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n",
            "chart/templates/a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {{ .Values.meta }}\n{{- if .Values.a }}\nspec: {}\n{{- end }}\n",
        },
        0,
    ),
    (
        "GWP910",
        "of MkDocs",
        {"a.yaml": edge() + route(), "mkdocs.yml": "site_name: a\nx: !!python/name:a.b.c\ny: [\n"},
        0,
    ),
    # kustomize: files of `resources` must be there; a patch without a target names its object, one with a target may find none.
    ("GWP914", "no file", {"kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "a.yaml": edge() + route()}, 1),
    (
        "GWP914",
        "a patch of nothing",
        {
            "kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
            "a.yaml": edge() + route(),
            "p.yaml": PATCH.replace("NAME", "other"),
        },
        1,
    ),
    (
        "GWP914",
        "a target of nothing",
        {
            "kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: HTTPRoute, name: other}}]\n",
            "a.yaml": edge() + route(),
            "p.yaml": PATCH.replace("NAME", "other"),
        },
        0,
    ),
    (
        "GWP914",
        "a cluster that is bootstrapped later",
        {"clusters/a/kustomization.yaml": "resources: [flux-system, a.yaml]\n", "clusters/a/a.yaml": edge() + route()},
        0,
    ),
    (
        "GWP914",
        "another directory there",
        {"clusters/a/kustomization.yaml": "resources: [system, a.yaml]\n", "clusters/a/a.yaml": edge() + route()},
        1,
    ),
    # kyverno.io, «kyverno test»; kyverno.github.io/chainsaw: what they apply is for the test.
    (
        "GWP501",
        "of a test",
        {"a.yaml": edge() + route(), ".kyverno-test/r.yaml": SERVICE.replace("shop", "not_default")},
        0,
    ),
    ("GWP501", "of none", {"a.yaml": edge() + route(), "kyverno/r.yaml": SERVICE.replace("shop", "not_default")}, 1),
    (
        "GWP914",
        "a file of another repository",
        {
            "kustomization.yaml": "resources: [a.yaml, 'https://github.com/example/other//base?ref=v1']\n",
            "a.yaml": edge() + route(),
        },
        0,
    ),
]


@pytest.mark.parametrize(
    ("rule", "files", "expected"),
    [(rule, files, expected) for rule, _, files, expected in TREES],
    ids=[f"{rule}: {what}" for rule, what, _, _ in TREES],
)
def test_a_rule_speaks_of_what_a_tree_deploys(tmp_path: Path, rule: str, files: dict[str, str], expected: int) -> None:
    commit(tmp_path, dict(files))
    found = told(tmp_path, rule, {})
    assert len(found) == expected, found


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: WidgetPolicy, plural: widgets}
  scope: Namespaced
  versions:
  - {name: VERSION, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {targetRef: {type: object, x-kubernetes-preserve-unknown-fields: true}, size: {type: integer}}}}}}}
"""
WIDGET = """\
apiVersion: example.com/v1
kind: WidgetPolicy
metadata: {name: own, namespace: shop}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}, size: SIZE}
---
"""


@pytest.mark.parametrize(
    ("version", "size", "home", "expected"),
    [
        ("v2", "1", "vendor", []),
        ("v2", "1", "one", ["error certain"]),
        ("v1", "1", "vendor", []),
        ("v1", "1, shape: round", "vendor", ["note assumed"]),  # a later release of a stable version has more fields
        ("v1", "1, sizes: 5", "vendor", ["warning assumed"]),
        ("v1", "1, shape: round", "one", ["error certain"]),
        ("v1", "large", "vendor", ["error certain"]),  # no version that is out of alpha changes a type
        ("v1", "large", "one", ["error certain"]),
        ("v2", "large", "vendor", []),
    ],
)
def test_definitions_that_nothing_deploys(
    tmp_path: Path, version: str, size: str, home: str, expected: list[str]
) -> None:
    """What a tree keeps to look things up says nothing of the versions that a cluster serves, and of the rest nothing
    certain."""
    flux = FLUX.replace("NAME", "one").replace("PATH", "one")
    widget = WIDGET.replace("SIZE", size)
    crd = {f"{home}/crd.yaml": CRD.replace("VERSION", version)}
    commit(tmp_path, {"clusters/a/k.yaml": flux, "one/a.yaml": route() + edge() + widget, **crd})
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP501"]
    assert [f"{each.severity} {each.confidence}" for each in found] == expected


def rival(revision: str) -> str:
    labels = f", labels: {{istio.io/rev: {revision}}}" if revision else ""
    return f"""\
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {{name: all, namespace: shop{labels}}}
spec: {{action: ACTION, rules: [{{}}]}}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {{name: some, namespace: shop}}
spec: {{rules: [{{from: [{{source: {{principals: [cluster.local/ns/shop/sa/client]}}}}]}}]}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: shop, labels: {{istio.io/rev: blue}}}}
---
"""


@pytest.mark.parametrize("action", ["ALLOW", "DENY"])
@pytest.mark.parametrize(("revision", "expected"), [("", 1), ("blue", 1), ("green", 0)])
def test_a_policy_of_another_revision_decides_nothing(
    tmp_path: Path, revision: str, action: str, expected: int
) -> None:
    """istiod reads what bears the label of its own revision, or none (pkg/config, LabelsInRevision)."""
    found = told(tmp_path, "GWP210", {"a.yaml": rival(revision).replace("ACTION", action) + pods()})
    assert len(found) == expected


CLOSED = """\
apiVersion: v1
kind: Namespace
metadata: {name: app}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: closed, namespace: infra}
spec:
  gatewayClassName: edge
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {exposed: "yes"}}}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: app}
spec: {parentRefs: [{name: closed, namespace: infra}], rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]}
---
"""
OF_KYVERNO = """\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: labels}
spec:
  rules:
  - name: a
    match: {any: [{resources: {kinds: [KIND]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {+(LABEL): "yes"}}}}
"""
BY_ADMISSION = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: labels}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [namespaces]}]}
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/labels/LABEL", value: "yes"}]'}}]
"""


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("", 1),
        (OF_KYVERNO.replace("KIND", "Namespace").replace("LABEL", "exposed"), 0),
        (OF_KYVERNO.replace("KIND", "Namespace").replace("LABEL", "team"), 1),
        (OF_KYVERNO.replace("KIND", "Pod").replace("LABEL", "exposed"), 1),
        (BY_ADMISSION.replace("LABEL", "exposed"), 0),
        (BY_ADMISSION.replace("LABEL", "team"), 1),
    ],
)
def test_labels_that_admission_gives_namespaces(tmp_path: Path, beside: str, expected: int) -> None:
    assert len(told(tmp_path, "GWP403", {"a.yaml": edge() + CLOSED + beside})) == expected


OF_TRAEFIK = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: traefik, namespace: HOME}
spec: {interval: 1h, chart: {spec: {chart: traefik, version: 37.0.0, sourceRef: {kind: HelmRepository, name: traefik}}}}
---
"""
FENCE = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: own, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [FROM]}]}
---
"""


@pytest.mark.parametrize(
    ("home", "clients", "expected"),
    [
        ("traefik", "{podSelector: {}}", 1),
        ("shop", "{podSelector: {}}", 0),
        ("traefik", "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}}", 1),
        ("traefik", "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: traefik}}}", 0),
        ("", "{podSelector: {}}", 0),
    ],
)
def test_where_the_proxies_of_a_chart_run(tmp_path: Path, home: str, clients: str, expected: int) -> None:
    """Pods of a namespace that is not the policy's are selected by a namespaceSelector alone."""
    chart = OF_TRAEFIK.replace("HOME", home) if home else ""
    manifests = edge("traefik.io/gateway-controller") + route() + pods() + FENCE.replace("FROM", clients) + chart
    assert len(told(tmp_path, "GWP604", {"a.yaml": manifests})) == expected


PLACEHOLDER = "apiVersion: v1\nkind: Namespace\nmetadata: {name: overridden.by.namespace}\n"
BASE = {"base/ns.yaml": PLACEHOLDER, "base/kustomization.yaml": "resources: [ns.yaml]\n"}
OVERLAY = {"over/kustomization.yaml": "resources: [../base]\nnamespace: shop\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (BASE, 0),
        ({**BASE, **OVERLAY}, 0),
        ({**BASE, "clusters/a/k.yaml": FLUX.replace("NAME", "one").replace("PATH", "base")}, 1),
        ({"base/ns.yaml": PLACEHOLDER}, 1),
        ({**BASE, "base/ns.yaml": route().replace("name: web,", "name: Web_1,", 1)}, 1),
    ],
    ids=["a base", "with an overlay", "deployed as it is", "a file", "another kind"],
)
def test_names_of_namespaces_that_overlays_replace(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    """Kustomize, namespaceTransformer: `namespace:` is the name of Namespaces, too, and of no other kind."""
    commit(tmp_path, {"all.yaml": edge() + route(), **files} if "clusters/a/k.yaml" not in files else {**files})
    assert len(told(tmp_path, "GWP501", {})) == expected


def installed_gateways(home: str, labels: str) -> str:
    return f"""\
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: {{name: ingress, namespace: istio-system}}
spec: {{components: {{ingressGateways: [{{name: ingressgateway, namespace: {home}, enabled: true, label: {labels}}}]}}}}
---
"""


def by_chart(home: str, name: str) -> str:
    return OF_TRAEFIK.replace("traefik", "gateway").replace("HOME", home).replace("name: gateway,", f"name: {name},", 1)


BOUND = """\
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {selector: {istio: ingressgateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec:
  exportTo: [EXPORTED]
  hosts: [a.example.com]
  gateways: [edge]
  http: [{route: [{destination: {host: web}}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
"""


@pytest.mark.parametrize(
    ("exported", "beside", "expected"),
    [
        ("edges", installed_gateways("edges", "{istio: ingressgateway}"), 0),
        ("others", installed_gateways("edges", "{istio: ingressgateway}"), 1),
        ("edges", by_chart("edges", "istio-ingressgateway"), 0),
        ("others", by_chart("edges", "istio-ingressgateway"), 1),
        ("others", installed_gateways("edges", "{istio: other}"), 0),
        ("others", "", 0),
        (".", installed_gateways("edges", "{istio: ingressgateway}"), 1),
    ],
)
def test_where_the_pods_of_gateways_are_installed(tmp_path: Path, exported: str, beside: str, expected: int) -> None:
    """A VirtualService that names namespaces names those of the proxies: where none of these is seen, nothing is wrong."""
    found = told(tmp_path, "GWP415", {"a.yaml": BOUND.replace("EXPORTED", f'"{exported}"') + beside})
    assert len(found) == expected, found


def ingress_route(name: str, of_class: str, match: str = "Host(`a.example.com`)", point: str = "websecure") -> str:
    said = "" if of_class.startswith("kubernetes.io") or not of_class else f"ingressClassName: {of_class}, "
    noted = f", annotations: {{{of_class}}}" if of_class.startswith("kubernetes.io") else ""
    return f"""\
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {{name: {name}, namespace: {name}{noted}}}
spec: {{{said}entryPoints: [{point}], routes: [{{kind: Rule, match: {match}, services: [{{name: web, port: 80}}]}}], tls: {{}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: {name}}}
spec: {{ports: [{{port: 80}}]}}
---
"""


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", 1),
        ("edge", "edge", 1),
        ("", "edge", 0),
        ("lan", "edge", 0),
        ("", "traefik", 1),
        ("'kubernetes.io/ingress.class': edge", "edge", 1),
        ("'kubernetes.io/ingress.class': lan", "edge", 0),
    ],
)
def test_routes_of_several_traefiks_are_in_no_order(tmp_path: Path, one: str, other: str, expected: int) -> None:
    one = one.replace("'kubernetes.io/ingress.class'", "kubernetes.io/ingress.class")
    manifests = ingress_route("one", one) + ingress_route("two", other)
    assert len(told(tmp_path, "GWP526", {"a.yaml": manifests})) == expected


HOOK = """\
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: hook, namespace: shop}
spec:
  endpointSelector: {matchLabels: {app: web}}
  ingress: [{fromEntities: [ENTITIES], toPorts: [{ports: [{port: hook, protocol: TCP}]}]}]
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 443, targetPort: hook}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks:
- name: hook.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: hook, namespace: shop, path: /}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
---
"""


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        ("kube-apiserver", 0),
        ("'host', remote-node", 0),
        ("host", 0),
        ("remote-node", 0),
        ("cluster", 0),
        ("world", 0),
        ("health", 1),
        ("ingress", 1),
    ],
)
def test_entities_that_an_api_server_is_among(tmp_path: Path, entities: str, expected: int) -> None:
    """Cilium, «Entities based»: it has the label of nodes where it runs on one, and that of the world elsewhere."""
    manifests = HOOK.replace("ENTITIES", entities) + pods("{name: hook, containerPort: 9443}")
    assert len(told(tmp_path, "GWP605", {"a.yaml": manifests})) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{networkPolicy: {create: true}}", []),
        ("{server: {networkPolicy: {enabled: true}}}", []),
        ("{replicas: 2}", ["warning"]),
        ("", ["error"]),
    ],
    ids=["says so", "says so below", "does not say", "no chart"],
)
def test_charts_whose_values_speak_of_network_policies(tmp_path: Path, values: str, expected: list[str]) -> None:
    """What a chart says that it makes may let the proxies in; what it might make in principle lowers confidence."""
    spec = f"spec: {{interval: 1h, chart: {{spec: {{chart: web, version: 1.0.0}}}}, values: {values}}}"
    head = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n"
    chart = f"{head}{spec}\n---\n" if values else ""
    fence = FENCE.replace("[FROM]", "[{podSelector: {matchLabels: {app: other}}}]")
    (tmp_path / "a.yaml").write_text(edge(ISTIO) + route() + pods() + fence + chart)
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP604"]
    assert [each.severity for each in found if each.confidence != "unknown"] == expected


OF_NGINX = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: outer, namespace: HOME}
spec:
  interval: 1h
  chart: {spec: {chart: ingress-nginx, version: 4.13.0, sourceRef: {kind: HelmRepository, name: nginx}}}
  values: {controller: {ingressClassResource: {name: outer, controllerValue: k8s.io/outer}}}
---
"""
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {ingressClassName: outer, rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
"""


@pytest.mark.parametrize(
    ("home", "clients", "expected"),
    [
        ("edges", "{podSelector: {}}", 1),
        ("shop", "{podSelector: {}}", 0),
        ("edges", "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: edges}}}", 0),
        ("edges", "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}}", 1),
        ("", "{podSelector: {}}", 0),
    ],
)
def test_where_the_proxies_of_ingresses_run(tmp_path: Path, home: str, clients: str, expected: int) -> None:
    chart = OF_NGINX.replace("HOME", home) if home else ""
    manifests = (
        INGRESS + pods() + FENCE.replace("FROM", clients) + chart + edge().rpartition("---\n")[0].rpartition("---\n")[2]
    )
    assert len(told(tmp_path, "GWP604", {"a.yaml": manifests})) == expected
