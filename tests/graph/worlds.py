"""Worlds to draw: the fixtures, a hostile one, one with five thousand boxes."""

from __future__ import annotations

from pathlib import Path

from policylint.report.graph import Asked, Drawing, draw
from policylint.workspace import Workspace, open_workspace

FIXTURES = Path(__file__).parents[2] / "fixtures"
HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>\"`#;\\n%%{init}%%"

_EDGE = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: v1
kind: Namespace
metadata: {name: infra}
"""
_GATEWAY = """---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge-%(number)d, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: edge-%(number)d, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge-%(number)d}]
  timeout: {http: {requestTimeout: %(number)ds}}
"""
_ROUTE = """---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app-%(number)d, namespace: team-%(team)d}
spec:
  parentRefs: [{name: edge-%(gateway)d, namespace: infra}]
  hostnames: [app-%(number)d.example.com]
  rules: [{backendRefs: [{name: app-%(number)d, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: app-%(number)d, namespace: team-%(team)d}
spec: {selector: {app: app-%(number)d}, ports: [{port: 80}]}
"""
_POLICY = """---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: app-%(number)d, namespace: team-%(team)d}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: app-%(number)d}]
  timeout: {http: {requestTimeout: 7s}}
"""


def opened(*paths: Path | str) -> Workspace:
    return open_workspace([str(each) for each in paths])


def drawn(workspace: Workspace, resource: str = "") -> Drawing:
    """As the command draws it."""
    if not resource:
        return draw(workspace.simulations, Asked(), workspace.findings())
    from policylint.explain.subject import subjects

    found = subjects(resource, workspace.simulations)
    where = {id(each): number for number, each in enumerate(workspace.simulations)}
    return draw(workspace.simulations, Asked({where[id(each.simulation)]: (each.key, each.node) for each in found}))


def hostile(directory: Path) -> Workspace:
    """Names, hostnames and settings that try to leave every format."""
    quoted = "'" + HOSTILE.replace("'", "''") + "'"
    (directory / "world.yaml").write_text(
        _EDGE
        + _GATEWAY % {"number": 1}
        + f"""---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {quoted}, namespace: shop, annotations: {{note: {quoted}}}}}
spec:
  parentRefs: [{{name: edge-1, namespace: infra}}]
  rules: [{{backendRefs: [{{name: {quoted}, port: 80}}]}}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {{name: {quoted}, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {quoted}}}]
  timeout: {{http: {{requestTimeout: {quoted}}}}}
  {quoted}: {quoted}
"""
    )
    return opened(directory)


def large(directory: Path, routes: int = 1_500, every: int = 4) -> Workspace:
    """Three boxes per route (route, rule, Service) and one policy for every few of them."""
    pieces = [_EDGE, *(_GATEWAY % {"number": number} for number in range(10))]
    for number in range(routes):
        values = {"number": number, "team": number % 40, "gateway": number % 10}
        pieces.append(_ROUTE % values)
        if number % every == 0:
            pieces.append(_POLICY % values)
    (directory / "world.yaml").write_text("".join(pieces))
    return opened(directory)
