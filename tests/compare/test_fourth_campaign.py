"""What a fourth campaign of weakenings found silent, or sworn; each with a change beside it that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.weakenings import common_weaknesses
from policylint.compare.protection.spec import weakenings
from tests.compare.repositories import diff
from tests.worlds import gateway

WORLD = (
    gateway(of_class="eg")
    + """---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [shop.example.com]
  rules: [{timeouts: {request: 10s, backendRequest: 5s}, backendRefs: [{name: app, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: app, namespace: shop}
spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {app: app}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: c, image: registry.example.com:5000/app:1.4@sha256:aa, ports: [{containerPort: 80}]}]}
"""
)


def policy(kind: str, spec: str, name: str = "login") -> str:
    return f"""apiVersion: gateway.envoyproxy.io/v1alpha1
kind: {kind}
metadata: {{name: {name}, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}}]
  {spec}
"""


LOGIN = policy("SecurityPolicy", "basicAuth: {users: {name: users}}")
PAGES = policy("SecurityPolicy", "cors: {allowOrigins: ['https://a.example.com']}", "pages")
ASKING = policy("SecurityPolicy", "extAuth: {http: {backendRefs: [{name: app, port: 80}]}}")
LIMIT = policy(
    "BackendTrafficPolicy",
    "rateLimit: {type: Global, global: {rules: [{clientSelectors: [{headers: [{name: x, value: a, invert: true}]}], "
    "limit: {requests: 5, unit: Minute}}]}}",
)
WASM = policy(
    "EnvoyExtensionPolicy",
    "wasm: [{name: waf, rootID: waf, code: {type: Image, image: {url: a.example/waf:v1, sha256: " + "ab" * 32 + "}}}]",
)
CLIENTS = """apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: clients, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  proxyProtocol: {optional: false}
  timeout: {http: {requestReceivedTimeout: 10s, idleTimeout: 1m}}
"""
KUMA = """apiVersion: kuma.io/v1alpha1
kind: MeshTLS
metadata: {name: strict, namespace: kuma-system}
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {mode: Strict}}]
"""
PERMISSION = """apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: callers, namespace: kuma-system}
spec:
  rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://mesh/web'}}]}}]
"""
TOOLS = """apiVersion: aigateway.envoyproxy.io/v1alpha1
kind: MCPRoute
metadata: {name: tools, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  backendRefs: [{name: app, port: 80, toolSelector: {include: [read]}}]
  securityPolicy: {oauth: {issuer: 'https://id.example.com', audiences: [tools]}}
"""
AUTHENTICATION = """apiVersion: dp.wso2.com/v1alpha2
kind: Authentication
metadata: {name: tokens, namespace: shop}
spec:
  override: {disabled: false, authTypes: {jwt: {header: Authorization}}}
  targetRef: {group: dp.wso2.com, kind: API, name: shop}
"""
FILTER = """apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: limit, namespace: shop}
spec:
  workloadSelector: {labels: {app: app}}
  configPatches:
    - applyTo: HTTP_FILTER
      match: {context: SIDECAR_INBOUND}
      patch: {operation: INSERT_BEFORE, value: {name: envoy.filters.http.local_ratelimit}}
"""
ADMITTED = """apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: hosts}
spec:
  failurePolicy: Fail
  validations: [{expression: 'object.spec.hostnames.size() < 3', message: too many}]
"""
APPLICATION = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
  source: {repoURL: 'https://git.example.com/fleet', targetRevision: HEAD, path: apps}
"""
PROJECT = """apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  destinations: [{server: '*', namespace: '*'}]
  namespaceResourceWhitelist: [{group: apps, kind: '*'}, {group: gateway.envoyproxy.io, kind: '*'}]
"""
KEYS = """apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: keys, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}
  rules: {authentication: {keys: {apiKey: {selector: {matchLabels: {app: shop}}}}}}
"""
FILTERED = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: filtered, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [filtered.example.com]
  rules:
    - filters: [{type: ExtensionRef, extensionRef: {group: sold.example.com, kind: SoldPolicy, name: login}}]
      backendRefs: [{name: app, port: 80}]
"""
AT_WAYPOINT = """apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: bank, namespace: bank}
spec:
  targetRefs: [{group: '', kind: Service, name: bank}]
  rules: [{from: [{source: {principals: [cluster.local/ns/edge/sa/edge]}}]}]
"""
REDIS = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: redis, namespace: cache}
spec:
  podSelector: {matchLabels: {app: redis}}
  policyTypes: [Ingress]
"""
SESSION = policy(
    "SecurityPolicy",
    "oidc: {provider: {issuer: 'https://id.example.com'}, clientID: a, clientSecret: {name: a}, defaultTokenTTL: 10m}",
)
WEAKER = [
    (
        SESSION,
        "defaultTokenTTL: 10m",
        "defaultTokenTTL: 100h",
        "defaultTokenTTL of SecurityPolicy shop/login goes from 10m",
    ),
    (KEYS, "{app: shop}", "{kind: key}", "other Secrets say who gets in"),
    (
        FILTERED,
        "- filters: [{type: E",
        "- #[{type: E",
        "extensionRef in spec.rules[0].filters of HTTPRoute shop/filtered",
    ),
    (AT_WAYPOINT, "[cluster.local/ns/edge/sa/edge]", "['*']", "from the mesh except edge/edge get in"),
    (
        REDIS,
        "{app: redis}",
        "{app: redis, tier: db}",
        "is for fewer pods than before, it isolates the others no longer",
    ),
    (REDIS, "{app: redis}", "{app: cache}", "is for other pods than before, it isolates the others no longer"),
    (LOGIN, "name: login", "name: entry", "loses its authentication: basicAuth of SecurityPolicy shop/login", PAGES),
    (LOGIN, "v1alpha1", "v1alpha9", "changes to a version that no known release serves: apiVersion"),
    (LIMIT, ", invert: true", "", "it is the other requests that are limited"),
    (LIMIT, ", invert: true", ", invert: false", "invert of BackendTrafficPolicy shop/login goes from true to false"),
    (WASM, ", sha256: " + "ab" * 32, "", "whatever is found at its address runs"),
    (CLIENTS, "  proxyProtocol: {optional: false}\n", "", "the address of what stands before it is seen"),
    (CLIENTS, "requestReceivedTimeout: 10s, ", "", "slow requests hold connections for as long as they like"),
    (CLIENTS, "requestReceivedTimeout: 10s", "requestReceivedTimeout: 0s", "goes from 10s to 0s, slow requests"),
    (CLIENTS, "requestReceivedTimeout: 10s", "requestReceivedTimeout: 1h", "goes from 10s to 1h, slow requests"),
    (WORLD, "request: 10s, ", "", "request in spec.rules[0].timeouts of HTTPRoute shop/shop goes from 10s to none"),
    (WORLD, "request: 10s", "request: 0s", "goes from 10s to 0s, slow requests hold connections for ever"),
    (WORLD, "Policy: Local", "Policy: Cluster", "the address of a node is seen in place of the client's"),
    (WORLD, "5000/app:1.4", "5000/permit:1.4", "which now runs registry.example.com:5000/permit", ASKING),
    (KUMA, "Strict", "Permissive", "from[0].default.mode of MeshTLS kuma-system/strict goes from Strict to Permissive"),
    (PERMISSION, "type: Exact", "type: Prefix", "the effect on access is not known"),
    (TOOLS, ", audiences: [tools]", "", "any will do"),
    (TOOLS, "include: [read]", "include: [read, delete]", "one more tool may be called"),
    (AUTHENTICATION, "override: {disabled: false", "override: {disabled: true", "it is switched off"),
    (FILTER, "INSERT_BEFORE", "INSERT_AFTER", "what it comes after may have answered a request already"),
    (PROJECT, ", {group: gateway.envoyproxy.io, kind: '*'}", "", "what is written of these does not reach the cluster"),
    (PROJECT, "  dest", "  namespaceResourceBlacklist: [{group: a, kind: b}]\n  dest", "gains the entry with group a"),
]
AS_STRONG = [
    (SESSION, "defaultTokenTTL: 10m", "defaultTokenTTL: 5m"),
    (KEYS, "{app: shop}", "{app: shop, tier: gold}"),
    (FILTERED, "name: login", "name: 'login'"),
    (AT_WAYPOINT, "kind: Service", "kind: 'Service'"),
    (REDIS, "{app: redis}", "{app: 'redis'}"),
    (LOGIN, "name: login", "name: entry"),
    (LIMIT, "unit: Minute", "unit: 'Minute'"),
    (WASM, "rootID: waf", "rootID: 'waf'"),
    (CLIENTS, "requestReceivedTimeout: 10s", "requestReceivedTimeout: 5s"),
    (CLIENTS.replace("requestReceivedTimeout: 10s", "requestReceivedTimeout: 0s"), "requestReceivedTimeout: 0s, ", ""),
    (WORLD, "request: 10s", "request: 9s"),
    (WORLD, "Policy: Local", "Policy: 'Local'"),
    (WORLD, "app:1.4@sha256:aa", "app:1.5@sha256:bb", ASKING),
    (KUMA, "Strict", "'Strict'"),
    (TOOLS, "include: [read]", "include: ['read']"),
    (AUTHENTICATION, "header: Authorization", "header: 'Authorization'"),
    (FILTER.replace("INSERT_BEFORE", "INSERT_AFTER"), "INSERT_AFTER", "INSERT_BEFORE"),
    (ADMITTED, "message: too many", "message: fewer than three, please"),
    (PROJECT, "destinations: [{server: '*', namespace: '*'}]", "destinations: [{namespace: '*', server: '*'}]"),
]


def printed(tmp_path: Path, text: str, old: str, new: str, *beside: str) -> str:
    """What a diff says of one file, next to a world that stays, in the words of one line."""
    assert old in text
    files = {} if text == WORLD else {"world.yaml": WORLD}
    where = {PROJECT: "argocd/project.yaml", REDIS: "policies/redis.yaml"}.get(text, "apps/file.yaml")
    if where != "apps/file.yaml":
        files = {"argocd/shop.yaml": APPLICATION, "apps/world.yaml": WORLD}
    files |= {f"beside{number}.yaml": each for number, each in enumerate(beside)}
    said = diff(tmp_path, {**files, where: text}, {where: text.replace(old, new, 1)})
    return " ".join(said.split())


@pytest.mark.parametrize("case", WEAKER, ids=lambda case: case[3][:40])
def test_a_weakening_is_told(tmp_path: Path, case: tuple[str, ...]) -> None:
    text, old, new, sentence, *beside = case
    said = printed(tmp_path, text, old, new, *beside)
    assert sentence in said, said
    assert "answers all requests as before" not in said


@pytest.mark.parametrize("case", AS_STRONG, ids=lambda case: case[2][:40])
def test_what_is_as_strong_is_none(tmp_path: Path, case: tuple[str, ...]) -> None:
    said = printed(tmp_path, *case)
    assert "New" not in said, said


@pytest.mark.parametrize(
    ("was", "now", "told"), [("64Ki", "1Gi", 1), ("1Gi", "64Ki", 0), ("1m", "2M", 1), ("8k", "8K", 0)]
)
def test_sizes_are_read_as_kubernetes_and_servers_write_them(was: str, now: str, told: int) -> None:
    before, after = ({"buffer": {"maxRequestSize": size}} for size in (was, now))
    assert len(list(weakenings(common_weaknesses("TrafficPolicy", before, after), before, after))) == told
