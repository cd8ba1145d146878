"""GWP325 for what policies name: another object than before is said, unless it holds the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import pair_sides
from policylint.compare.exchanged import others_named
from tests.worlds import opened

TARGET = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]"


def messages(tmp_path: Path, before: list[str], after: list[str]) -> list[str]:
    simulations = []
    for side, manifests in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(exist_ok=True)
        simulations.append(opened(tmp_path / side, *manifests))
    (pair,) = pair_sides(simulations[:1], simulations[1:])
    return [each.message for each in others_named(pair)]


def of(group: str, kind: str, spec: str, version: str = "v1alpha1") -> str:
    return f"""
apiVersion: {group}/{version}
kind: {kind}
metadata: {{name: a, namespace: shop}}
spec: {{{spec}}}
"""


def secret(name: str, value: str) -> str:
    return f"""
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: shop}}
stringData: {{.htpasswd: "{value}"}}
"""


def service(name: str, app: str) -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{selector: {{app: {app}}}, ports: [{{port: 80}}]}}
"""


PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: authz, namespace: shop}
spec:
  selector: {matchLabels: {app: authz}}
  template: {metadata: {labels: {app: authz}}, spec: {containers: [{name: c, image: x}]}}
"""


def basic(name: str) -> str:
    return of("gateway.envoyproxy.io", "SecurityPolicy", f"{TARGET}, basicAuth: {{users: {{name: {name}}}}}")


@pytest.mark.parametrize(
    ("group", "kind", "spec", "wanted"),
    [
        ("gateway.envoyproxy.io", "SecurityPolicy", "basicAuth: {users: {name: %s}}", "Secret shop/%s"),
        ("gateway.envoyproxy.io", "SecurityPolicy", "apiKeyAuth: {credentialRefs: [{name: %s}]}", "Secret shop/%s"),
        (
            "gateway.envoyproxy.io",
            "SecurityPolicy",
            "extAuth: {grpc: {backendRefs: [{name: %s, port: 80}]}}",
            "Service shop/%s",
        ),
        (
            "gateway.kgateway.dev",
            "GatewayExtension",
            "extAuth: {grpcService: {backendRef: {name: %s}}}",
            "Service shop/%s",
        ),
        ("gateway.nginx.org", "AuthenticationFilter", "type: Basic, basic: {secretRef: {name: %s}}", "Secret shop/%s"),
    ],
)
def test_another_object(tmp_path: Path, group: str, kind: str, spec: str, wanted: str) -> None:
    target = "" if kind in ("GatewayExtension", "AuthenticationFilter") else f"{TARGET}, "
    before, after = (of(group, kind, target + spec % name) for name in ("one", "two"))
    expected = f"{kind} shop/a now uses {wanted % 'two'} instead of {wanted % 'one'}"
    assert messages(tmp_path, [before], [after]) == [expected]
    assert messages(tmp_path, [before], [before]) == []


def test_an_object_that_holds_the_same(tmp_path: Path) -> None:
    one, two = secret("one", "a:x"), secret("two", "a:x")
    assert messages(tmp_path, [basic("one"), one], [basic("two"), two]) == []
    assert len(messages(tmp_path, [basic("one"), one], [basic("two"), secret("two", "b:y")])) == 1


def test_a_service_that_stands_for_the_same_pods(tmp_path: Path) -> None:
    def asking(name: str) -> str:
        spec = f"{TARGET}, extAuth: {{http: {{backendRefs: [{{name: {name}, port: 80}}]}}}}"
        return of("gateway.envoyproxy.io", "SecurityPolicy", spec)

    before = [PODS, asking("one"), service("one", "authz")]
    assert messages(tmp_path, before, [PODS, asking("two"), service("two", "authz")]) == []
    assert len(messages(tmp_path, before, [PODS, asking("two"), service("two", "other")])) == 1


def test_what_serves_no_protection(tmp_path: Path) -> None:
    def answering(name: str) -> str:
        body = f"{{type: ValueRef, valueRef: {{group: '', kind: ConfigMap, name: {name}}}}}"
        override = f"[{{match: {{statusCodes: [{{type: Value, value: 404}}]}}, response: {{body: {body}}}}}]"
        return of("gateway.envoyproxy.io", "BackendTrafficPolicy", f"{TARGET}, responseOverride: {override}")

    assert messages(tmp_path, [answering("one")], [answering("two")]) == []


def test_what_differs_is_said(tmp_path: Path) -> None:
    before, after = (
        of("gateway.envoyproxy.io", "SecurityPolicy", f"{TARGET}, basicAuth: {{users: {{name: a{group}}}}}")
        for group in ("", ", group: other.example")
    )
    assert messages(tmp_path, [before], [after]) == [
        "SecurityPolicy shop/a now uses Secret shop/a of other.example instead of Secret shop/a of the core group"
    ]
