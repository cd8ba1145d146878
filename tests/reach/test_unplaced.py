"""What is asked at objects whose namespace nothing says: nothing, as far as seen, where no policy may be for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.diff.history import run
from tests.worlds import manifest

POD = "selector: {matchLabels: {app: app}}, template: {metadata: {labels: {app: app}}, spec: {containers: [{name: a}]}}"
APP = (
    manifest("apps/v1", "Deployment", "app", "", f"spec: {{{POD}}}"),
    manifest("v1", "Service", "app", "", "spec: {selector: {app: app}, ports: [{port: 80}]}"),
)
NODE_PORT = "spec: {type: NodePort, selector: {app: app}, ports: [{port: 80, nodePort: 30080}]}"
BACKEND = "defaultBackend: {service: {name: app, port: {number: 80}}}"
TO_APP = "spec: {host: app.example.com, to: {kind: Service, name: app}}"
DOORS = {
    "Ingress ?/app": manifest(
        "networking.k8s.io/v1", "Ingress", "app", "", f"spec: {{ingressClassName: nginx, {BACKEND}}}"
    ),
    "NodePort ?/open": manifest("v1", "Service", "open", "", NODE_PORT),
    "Route ?/app": manifest("route.openshift.io/v1", "Route", "app", "", TO_APP),
}
CLOSED = manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "", "spec: {podSelector: {}, ingress: [{}]}")
MESH = manifest(
    "security.istio.io/v1",
    "RequestAuthentication",
    "login",
    "shop",
    "spec: {jwtRules: [{issuer: 'https://a.example'}]}",
)
FAR = manifest(
    "argoproj.io/v1alpha1",
    "Application",
    "far",
    "argocd",
    "spec: {destination: {namespace: far}, source: {repoURL: 'https://git.example.com/far.git', path: far}}",
)


def logins(directory: Path, *manifests: str) -> set[tuple[str, str]]:
    """State and ground of the login of every way in."""
    (directory / "apps").mkdir(exist_ok=True)
    (directory / "apps/app.yaml").write_text("---".join((*APP, *manifests)))
    (directory / "far.yaml").write_text(FAR)
    _, out, _ = run(directory, "reach", "-o", "json", ".")
    found = [way["asked"]["authentication"] for way in json.loads(out)["ways"]]
    return {(each["state"], each.get("because") or each.get("ground")) for each in found}


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("more", [(), (CLOSED,)])
def test_where_no_policy_may_be_for_it(tmp_path: Path, name: str, more: tuple[str, ...]) -> None:
    where = f"the namespace of {name} is not known"
    assert logins(tmp_path, DOORS[name], *more) == {("open", where)}
    assert logins(tmp_path, DOORS[name], *more, MESH) == {("unknown", where)}
