"""What the tests of the rules share: manifests, and what the rules say of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from policylint.workspace import open_workspace

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
    - {name: admin, port: 8081, protocol: HTTP, hostname: admin.example.com}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {ports: [{name: http, port: 8080}, {name: admin, port: 9090}]}
"""


def route(name: str = "checkout", parent: str = "name: edge, namespace: infra", backend: str = "port: 8080") -> str:
    """An HTTPRoute in namespace shop."""
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec:
  parentRefs: [{{{parent}}}]
  rules:
    - name: all
      matches: [{{path: {{value: /{name}}}}}]
      backendRefs: [{{name: checkout, {backend}}}]
    - matches: [{{path: {{value: /{name}/more}}}}]
      backendRefs: [{{name: checkout, {backend}}}]
"""


def policy(kind: str, name: str, target: str, settings: str = "", *, namespace: str = "shop") -> str:
    """A policy of Envoy Gateway; `target` is the inside of a reference in flow style."""
    return f"""
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: {kind}
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]
  {settings}
"""


WORLD = (GATEWAY, route(), SERVICE)


class Said(NamedTuple):
    """A finding, flat."""

    rule: str
    severity: str
    confidence: str
    message: str
    label: str
    help: tuple[str, ...]
    related: tuple[str, ...]
    pointed_at: str


def lint(tmp_path: Path, *documents: str) -> list[Said]:
    """What all rules say of some documents in one file; `pointed_at` is the text from the caret on."""
    file = tmp_path / "world.yaml"
    file.write_text("---\n".join(documents), encoding="utf-8")
    lines = file.read_text(encoding="utf-8").splitlines()
    found = []
    for each in open_workspace([str(file)]).findings():
        line, column = each.location.at()
        pointed_at = lines[line - 1][column - 1 :]
        related = tuple(other.message for other in each.related)
        found.append(
            Said(each.rule, each.severity, each.confidence, each.message, each.label, each.notes, related, pointed_at)
        )
    return found


def only(found: list[Said], rule: str) -> Said:
    """The single finding of a rule."""
    (said,) = (each for each in found if each.rule == rule)
    return said


def rules(found: list[Said]) -> list[str]:
    """The ids of all that is known, sorted."""
    return sorted(each.rule for each in found if each.confidence != "unknown")
