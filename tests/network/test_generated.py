# ruff: noqa: E501 - worlds on one line each
"""Network policies that Kyverno makes: those that a rule states whole act where it makes them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import ResourceKey
from policylint.workspace import open_workspace

WORLD = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: istio}
spec: {controllerName: istio.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge, namespace: infra}], rules: [{backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web, ports: [{containerPort: 8080}]}]}}
---
"""
HOME = "apiVersion: v1\nkind: Namespace\nmetadata: {name: infra}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: app}}\n---\n"
OPEN = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: open, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: 8080}]}]}
---
"""
CLOSED = "spec: {podSelector: {}, policyTypes: [Ingress]}"


def policy(
    match: str = "any: [{resources: {kinds: [Namespace]}}]",
    more: str = "",
    existing: str = "true",
    data: str = CLOSED,
    namespace: str = "{{request.object.metadata.name}}",
) -> str:
    return f"""\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {{name: closed}}
spec:
  generateExisting: {existing}
  rules:
  - name: close
    match: {{{match}}}
    {more}
    generate: {{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, name: closed, namespace: "{namespace}", data: {{{data}}}}}
---
"""


def asked(label: str, value: str, operator: str = "Equals") -> str:
    key = f"{{{{ request.object.metadata.labels.\"{label}\" || 'false' }}}}".replace('"', '\\"')
    when = "{key: \"{{ request.operation || 'BACKGROUND' }}\", operator: AnyIn, value: [CREATE, UPDATE]}"
    return f'preconditions: {{all: [{when}, {{key: "{key}", operator: {operator}, value: "{value}"}}]}}'


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        (policy() + HOME, "denied"),
        (policy(), "denied"),
        (policy() + HOME + OPEN, "allowed"),
        (
            policy(match="any: [{resources: {kinds: [v1/Namespace], selector: {matchLabels: {tier: app}}}}]") + HOME,
            "denied",
        ),
        (
            policy(match="any: [{resources: {kinds: [Namespace], selector: {matchLabels: {tier: data}}}}]") + HOME,
            "allowed",
        ),
        (policy(match="any: [{resources: {kinds: [Namespace], selector: {matchLabels: {tier: app}}}}]"), "unknown"),
        (policy(match="all: [{resources: {kinds: [Namespace], names: ['sh*']}}]") + HOME, "denied"),
        (policy(match="resources: {kinds: [Namespace], names: [other]}") + HOME, "allowed"),
        (policy(more="exclude: {any: [{resources: {names: [shop, infra]}}]}") + HOME, "allowed"),
        (policy(more="exclude: {any: [{resources: {kinds: [Namespace], names: [other]}}]}") + HOME, "denied"),
        (policy(data="spec: {podSelector: {}, ingress: [{}]}") + HOME, "allowed"),
        (policy(existing="false") + HOME, "unknown"),
        (policy(existing="false", match="any: [{resources: {kinds: [Namespace], names: [other]}}]") + HOME, "allowed"),
        (policy(more=asked("tier", "data")) + HOME, "allowed"),
        (policy(more=asked("tier", "app")) + HOME, "unknown"),
        (policy(more=asked("tier", "app")) + HOME.replace("tier", "rank"), "allowed"),
        (policy(more=asked("tier", "app", operator="NotEquals")) + HOME, "unknown"),  # of the proxies' namespace
        (
            policy(more=asked("tier", "app", operator="NotEquals"))
            + HOME.replace("{name: infra}", "{name: infra, labels: {tier: app}}"),
            "allowed",
        ),
        (policy(more=asked("fenced", "false")) + HOME, "unknown"),
        (policy(more=asked("tier", "data")), "unknown"),
        (policy(more="preconditions: {all: [{key: a, operator: Equals, value: b}]}") + HOME, "unknown"),
        (policy(match="any: [{resources: {kinds: [Namespace]}, subjects: [{kind: User, name: a}]}]") + HOME, "unknown"),
        (policy(namespace="shop") + HOME, "unknown"),
        (policy(data="spec: {podSelector: {matchLabels: {a: '{{request.object.metadata.name}}'}}}") + HOME, "unknown"),
    ],
)
def test_what_a_rule_makes_in_namespaces(tmp_path: Path, manifests: str, expected: str) -> None:
    (tmp_path / "all.yaml").write_text(WORLD + manifests)
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    gateway = ResourceKey("gateway.networking.k8s.io", "Gateway", "infra", "edge")
    backend = ResourceKey("", "Service", "shop", "web")
    assert simulation.hops.from_gateway(gateway, None, backend, 80).verdict == expected
    told = [
        each
        for each in open_workspace([str(tmp_path)]).findings()
        if each.rule == "GWP604" and "blocks clients" not in each.message
    ]
    assert bool(told) == (expected == "denied")
