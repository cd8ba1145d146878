"""Worlds to draw: the fixtures, a hostile one, one with five thousand boxes."""

from __future__ import annotations

from pathlib import Path

from policylint.report.graph import Drawing, GraphRequest, draw
from policylint.workspace import Workspace, open_workspace
from tests.worlds import gateway, gateway_class, manifest, policy, route, service

FIXTURES = Path(__file__).parents[2] / "fixtures"
APART = FIXTURES
"""The same in a repository of their own."""
HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>\"`#;\\n%%{init}%%"

ENVOY = "gateway.envoyproxy.io"
_EDGE = "---".join((gateway_class("envoy", f"{ENVOY}/gatewayclass-controller"), manifest("v1", "Namespace", "infra")))


def _timeout(name: str, namespace: str, target: str, limit: str) -> str:
    spec = f"timeout: {{http: {{requestTimeout: {limit}}}}}"
    return policy(f"{ENVOY}/v1alpha1", "BackendTrafficPolicy", name, target, spec, namespace)


def _gateway(number: int) -> str:
    name = f"edge-{number}"
    return "---" + "---".join(
        (gateway(name, of_class="envoy"), _timeout(name, "infra", f"Gateway/{name}", f"{number}s"))
    )


def _route(number: int, team: int, edge: int) -> str:
    name, namespace = f"app-{number}", f"team-{team}"
    rules = f"hostnames: [{name}.example.com], rules: [{{backendRefs: [{{name: {name}, port: 80}}]}}]"
    return "---" + "---".join(
        (
            route(name, namespace, f"[{{name: edge-{edge}, namespace: infra}}]", more=rules),
            service(name, namespace, "[{port: 80}]", f"selector: {{app: {name}}}"),
        )
    )


def opened(*paths: Path | str) -> Workspace:
    return open_workspace([str(apart(Path(each))) for each in paths])


def apart(place: Path) -> Path:
    """Return where a fixture is in a repository of their own; another place as it is."""
    return APART / place.relative_to(FIXTURES) if place.is_relative_to(FIXTURES) else place


def drawn(workspace: Workspace, resource: str = "") -> Drawing:
    """As the command draws it."""
    if not resource:
        return draw(workspace.simulations, GraphRequest(), workspace.findings())
    from policylint.explain.subject import subjects

    found = subjects(resource, workspace.simulations)
    where = {id(each): number for number, each in enumerate(workspace.simulations)}
    return draw(
        workspace.simulations, GraphRequest({where[id(each.simulation)]: (each.key, each.node) for each in found})
    )


def hostile(directory: Path) -> Workspace:
    """Names, hostnames and settings that try to leave every format."""
    quoted = "'" + HOSTILE.replace("'", "''") + "'"
    (directory / "world.yaml").write_text(
        _EDGE
        + _gateway(1)
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
    pieces = [_EDGE, *(_gateway(number) for number in range(10))]
    for number in range(routes):
        team = number % 40
        pieces.append(_route(number, team, number % 10))
        if number % every == 0:
            pieces.append("---" + _timeout(f"app-{number}", f"team-{team}", f"HTTPRoute/app-{number}", "7s"))
    (directory / "world.yaml").write_text("".join(pieces))
    return opened(directory)


def team_routes(directory: Path, many: int) -> Workspace:
    """Routes of a dozen teams at two Gateways, one of which asks for a token; some lose it."""
    pieces = [_EDGE, "---" + gateway("internal", of_class="envoy"), "---" + gateway("external", of_class="envoy")]
    keys = "jwt: {providers: [{name: id, remoteJWKS: {uri: 'https://id.example.com/jwks'}}]}"
    pieces.append("---" + _security("edge-jwt", "infra", "Gateway/internal", keys))
    for number in range(many):
        name, namespace = f"app-{number}", f"team-{number % 12}"
        edge = "external" if number % 3 == 0 else "internal"
        rules = f"hostnames: [{name}.{namespace}.example.com], rules: [{{backendRefs: [{{name: {name}, port: 80}}]}}]"
        pieces.append("---" + route(name, namespace, f"[{{name: {edge}, namespace: infra}}]", more=rules))
        pieces.append("---" + service(name, namespace, "[{port: 80}]"))
        if number % 7 == 0:
            pieces.append("---" + _security(name, namespace, f"HTTPRoute/{name}", "cors: {allowMethods: [GET]}"))
    (directory / "teams.yaml").write_text("".join(pieces))
    return opened(directory / "teams.yaml")


def _security(name: str, namespace: str, target: str, spec: str) -> str:
    return policy(f"{ENVOY}/v1alpha1", "SecurityPolicy", name, target, spec, namespace)
