"""Write a seeded tree of many policies, of eight implementations, some of them wrong: what lint has most to do with.

usage: python bench/policies.py DIRECTORY [--documents 10000] [--seed 713]

Every team has a Gateway of one implementation; each of its applications has a route, a Service, a Deployment and two or
three policies. One policy in twelve is wrong: its target is missing, a value is refused, or it is written twice. The
same count and seed give the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from string import Template

APPS_PER_TEAM = 24
EVERY_WRONG = 12
ENVOY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  jwt:
    providers:
      - name: id
        issuer: https://id.example.com
        remoteJWKS: {uri: 'https://id.example.com/jwks'}
  cors: {allowOrigins: ['https://www.example.com'], maxAge: 10m}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  retry: {numRetries: $number}
  timeout: {http: {requestTimeout: ${number}s}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyExtensionPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  extProc:
    - backendRefs: [{name: $name, port: 8080}]
"""
ISTIO = """\
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  selector: {matchLabels: {app: $name}}
  action: ALLOW
  rules:
    - from: [{source: {principals: [cluster.local/ns/$namespace/sa/$name]}}]
      to: [{operation: {methods: [GET], paths: ['/v$number/*']}}]
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: $name, namespace: $namespace}
spec:
  selector: {matchLabels: {app: $name}}
  jwtRules: [{issuer: 'https://id.example.com', jwksUri: 'https://id.example.com/jwks'}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: $name, namespace: $namespace}
spec:
  host: $name.$namespace.svc.cluster.local
  trafficPolicy: {connectionPool: {http: {http1MaxPendingRequests: $number}}}
"""
KUADRANT = """\
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}
  defaults:
    rules:
      authentication:
        id: {jwt: {issuerUrl: 'https://id.example.com'}}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}
  limits:
    all: {rates: [{limit: $number, window: 10s}]}
---
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: $name-more, namespace: $namespace}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}
  overrides:
    limits:
      burst: {rates: [{limit: $number, window: 1s}]}
"""
KGATEWAY = """\
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  rateLimit: {local: {tokenBucket: {maxTokens: $number, tokensPerFill: 1, fillInterval: 30s}}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: $name-more, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  timeouts: {request: ${number}s}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: BackendConfigPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: '', kind: Service, name: $target}]
  connectTimeout: ${number}s
"""
NGINX = """\
apiVersion: gateway.nginx.org/v1alpha1
kind: ClientSettingsPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}
  body: {maxSize: ${number}m, timeout: 30s}
---
apiVersion: gateway.nginx.org/v1alpha2
kind: ObservabilityPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  tracing: {strategy: ratio, ratio: $number}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: UpstreamSettingsPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: '', kind: Service, name: $target}]
  zoneSize: ${number}m
"""
AGENTGATEWAY = """\
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  traffic: {timeouts: {request: ${number}s}}
---
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayPolicy
metadata: {name: $name-more, namespace: $namespace}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: $target}]
  traffic:
    authorization:
      action: Allow
      policy: {matchExpressions: ['request.path.startsWith("/v$number")']}
"""
GKE = """\
apiVersion: networking.gke.io/v1
kind: GCPBackendPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRef: {group: '', kind: Service, name: $target}
  default: {timeoutSec: $number}
---
apiVersion: networking.gke.io/v1
kind: HealthCheckPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  targetRef: {group: '', kind: Service, name: $target}
  default:
    checkIntervalSec: $number
    config: {type: HTTP, httpHealthCheck: {port: 8080, requestPath: /healthz}}
"""
CILIUM = """\
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  endpointSelector: {matchLabels: {app: $name}}
  ingress:
    - fromEntities: [ingress]
      toPorts: [{ports: [{port: '8080', protocol: TCP}]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: $name, namespace: $namespace}
spec:
  podSelector: {matchLabels: {app: $name}}
  policyTypes: [Ingress]
  ingress:
    - from: [{namespaceSelector: {matchLabels: {team: $team}}}]
      ports: [{port: 8080}]
"""
IMPLEMENTATIONS = {
    "envoy": ("gateway.envoyproxy.io/gatewayclass-controller", ENVOY),
    "istio": ("istio.io/gateway-controller", ISTIO),
    "kuadrant": ("istio.io/gateway-controller", KUADRANT),
    "kgateway": ("kgateway.dev/kgateway", KGATEWAY),
    "nginx": ("gateway.nginx.org/nginx-gateway-controller", NGINX),
    "agentgateway": ("agentgateway.dev/agentgateway", AGENTGATEWAY),
    "gke": ("networking.gke.io/gateway", GKE),
    "cilium": ("io.cilium/gateway-controller", CILIUM),
}
"""Implementation → controller of its GatewayClass, policies of each application."""
TEAM = """\
apiVersion: v1
kind: Namespace
metadata: {name: $namespace, labels: {team: $team, kubernetes.io/metadata.name: $namespace}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: $team}
spec: {controllerName: $controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: $namespace}
spec:
  gatewayClassName: $team
  listeners:
    - {name: http, protocol: HTTP, port: 80, hostname: '*.$team.example.com'}
    - {name: web, protocol: HTTP, port: 8080, hostname: '*.$team.example.com'}
"""
APP = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: $name, namespace: $namespace}
spec:
  parentRefs: [{name: edge}]
  hostnames: [$name.$team.example.com]
  rules:
    - name: api
      matches: [{path: {type: PathPrefix, value: /v$number}}]
      backendRefs: [{name: $name, port: 8080}]
    - name: rest
      backendRefs: [{name: $name, port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: $name, namespace: $namespace}
spec:
  selector: {app: $name}
  ports: [{name: http, port: 8080, targetPort: http}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: $name, namespace: $namespace, labels: {app: $name}}
spec:
  selector: {matchLabels: {app: $name}}
  template:
    metadata: {labels: {app: $name}}
    spec:
      serviceAccountName: $name
      containers:
        - {name: main, image: registry.example.com/$name:$number, ports: [{name: http, containerPort: 8080}]}
"""


def files(random: Random) -> Iterator[tuple[str, list[str]]]:
    """Yield (path, documents) without end, team by team."""
    implementations = list(IMPLEMENTATIONS.items())
    for number in count():
        title, (controller, policies) = implementations[number % len(implementations)]
        team = f"{title}-{number:03}"
        words = {"team": team, "namespace": team, "controller": controller}
        yield f"{team}/gateway.yaml", Template(TEAM).substitute(words).split("---\n")
        for app in range(APPS_PER_TEAM):
            own = words | {"name": f"app-{app:02}", "number": str(random.randrange(1, 60))}
            yield f"{team}/{own['name']}.yaml", Template(APP).substitute(own).split("---\n")
            documents = [
                written for policy in policies.split("---\n") for written in with_mistakes(policy, own, random)
            ]
            yield f"{team}/{own['name']}-policies.yaml", documents


def with_mistakes(policy: str, words: dict[str, str], random: Random) -> Iterator[str]:
    """Yield a policy, or a wrong one, or it and the same once more."""
    mistake = random.randrange(3 * EVERY_WRONG)
    own = words | {"target": f"{words['name']}-gone" if mistake == 0 else words["name"]}
    text = Template(policy).substitute(own | ({"number": "many"} if mistake == 1 else {}))
    yield text
    if mistake == 2:
        yield text.replace(f"name: {words['name']}", f"name: {words['name']}-again", 1)


def write_policies(directory: Path, documents: int = 10_000, seed: int = 713) -> Path:
    """Write the first documents of such a tree."""
    left = documents
    for file, contents in files(Random(seed)):
        path = directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\n" + "---\n".join(contents[:left]), encoding="utf-8", newline="\n")
        left -= len(contents)
        if left <= 0:
            return directory
    raise AssertionError("there is no end of them")


def main() -> None:
    """Write a tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=713)
    arguments = parser.parse_args()
    print(write_policies(arguments.directory, arguments.documents, arguments.seed))


if __name__ == "__main__":
    main()
