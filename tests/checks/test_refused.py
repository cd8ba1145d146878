"""GWP111: what a controller refuses is reported once, by the rule that knows most of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.checks.linting import lint
from tests.worlds import gateway, route, service

GATEWAY = gateway("edge", "infra", "[{name: http, port: 80, protocol: HTTP}]", of_class="%s")
ROUTE = route("app", "infra", "[{name: edge}]", more="rules: [{backendRefs: [{name: app, port: 80}]}]")
SERVICE = service("app", "infra", "[{port: 80}]")
ENVOY, NGINX = "gateway.envoyproxy.io", "gateway.nginx.org"
TLS = """
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: p, namespace: infra}
spec:
  targetRefs: [{group: "", kind: Service, name: app}]
  validation: {%s}
"""
ON_EDGE = "{group: gateway.networking.k8s.io, kind: Gateway, name: edge}"


def policy(api_version: str, kind: str, spec: str) -> str:
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: p, namespace: infra}}\nspec: {{{spec}}}\n"


def istio(kind: str, spec: str) -> str:
    return policy("security.istio.io/v1", kind, spec)


@pytest.mark.parametrize(
    ("text", "reason", "pointed_at"),
    [
        (
            istio("PeerAuthentication", "portLevelMtls: {'80': {mode: STRICT}}"),
            "portLevelMtls needs a selector",
            "portLevelMtls",
        ),
        (
            istio("AuthorizationPolicy", "rules: [{from: [{source: {}}]}]"),
            "`from.source` must not be empty",
            "{source: {}}",
        ),
        (
            policy(f"{NGINX}/v1alpha1", "ClientSettingsPolicy", f"targetRef: {ON_EDGE}, body: {{maxSize: 10x}}"),
            "'10x' is no size that NGINX reads",
            "maxSize",
        ),
        (
            policy(f"{ENVOY}/v1alpha1", "BackendTrafficPolicy", f"targetRefs: [{ON_EDGE}], mergeType: JSONMerge"),
            "mergeType works in policies for routes only, and this one targets a Gateway",
            "mergeType",
        ),
    ],
    ids=["ports", "source", "size", "merge"],
)
def test_what_the_schema_allows_and_the_controller_does_not(
    tmp_path: Path, text: str, reason: str, pointed_at: str
) -> None:
    by = "nginx" if "nginx" in text else "envoy"
    found = [each for each in lint(tmp_path, GATEWAY % by, text) if each.rule == "GWP111"]
    (said,) = found
    assert said.severity == "error"
    assert said.message.endswith(f" infra/p is refused: {reason}")
    assert said.pointed_at.startswith(pointed_at)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (TLS % "caCertificateRefs: []", "GWP501"),
        (policy(f"{ENVOY}/v1alpha1", "BackendTrafficPolicy", "retry: {numRetries: 2}"), "GWP107"),
        (
            policy(f"{ENVOY}/v1alpha1", "BackendTrafficPolicy", f"targetRefs: [{ON_EDGE}, {ON_EDGE}]"),
            "GWP107",
        ),
        (
            policy(
                "kuadrant.io/v1",
                "RateLimitPolicy",
                f"targetRef: {ON_EDGE}, defaults: {{limits: {{a: {{rates: [{{limit: 5, window: 10s}}]}}}}}}, "
                "overrides: {limits: {b: {rates: [{limit: 5, window: 10s}]}}}",
            ),
            "GWP208",
        ),
    ],
    ids=["schema", "no-target", "twice", "wrappers"],
)
def test_another_rule_that_knows_more_speaks_alone(tmp_path: Path, text: str, rule: str) -> None:
    found = {each.rule for each in lint(tmp_path, GATEWAY % "envoy", text)}
    assert rule in found
    assert "GWP111" not in found


def test_what_is_accepted_is_not_refused(tmp_path: Path) -> None:
    text = istio("PeerAuthentication", "mtls: {mode: STRICT}")
    assert "GWP111" not in {each.rule for each in lint(tmp_path, GATEWAY % "envoy", text)}


@pytest.mark.parametrize(("whole", "refused"), [(False, False), (True, True)])
def test_of_what_trees_leave_out_nothing_is_said(tmp_path: Path, whole: bool, refused: bool) -> None:
    """A CA bundle that no manifest shows: few trees hold such objects. Files that are named are the whole input."""
    tls = 'hostname: app.example.com, caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]'
    file = tmp_path / "all.yaml"
    file.write_text("---\n".join([GATEWAY % "envoy", ROUTE, SERVICE, TLS % tls]), encoding="utf-8")
    found = open_workspace([str(file if whole else tmp_path)]).findings()
    assert ("GWP111" in {each.rule for each in found}) is refused


@pytest.mark.parametrize(
    ("written", "refused"),
    [
        ("none", True),
        ("REPLACE_WITH_CA", False),
        ("-----BEGIN CERTIFICATE-----\\nREPLACE_WITH_CA\\n-----END CERTIFICATE-----", False),
        ("-----BEGIN CERTIFICATE-----\\n<paste it>\\n-----END CERTIFICATE-----", False),
        ("-----BEGIN CERTIFICATE-----\\n?\\n-----END CERTIFICATE-----", True),
    ],
)
def test_a_placeholder_for_a_certificate_is_none_that_is_broken(tmp_path: Path, written: str, refused: bool) -> None:
    tls = 'hostname: app.example.com, caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]'
    bundle = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: ca, namespace: infra}}\ndata: {{ca.crt: "{written}"}}'
    found = lint(tmp_path, GATEWAY % "envoy", ROUTE, SERVICE, TLS % tls, bundle)
    assert ("GWP111" in {each.rule for each in found}) is refused
