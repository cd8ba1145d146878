"""Expressions and globs that keep a backtracking engine busy for years: each of them is matched at once.

Every test has its time limit from the operating system, in CPU time: an engine in C looks at no Python signal handler
until it is done.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from policylint.regex import expression
from policylint.render.argo.application_sets import _any_matches
from policylint.sources.selection import exclusion
from policylint.trace.hosts import may_be
from tests.render.test_application_sets import FILES, application_set
from tests.render.trees import written

BOMBS = {
    "nested": ("(a+)+", "a" * 60 + "!"),
    "alternatives": ("(a|a|aa)*", "a" * 60 + "!"),
    "long": ("(" + "a?" * 60 + ")" + "a" * 60 + "(x+x+)+y", "a" * 60 + "x" * 60),
    "groups": ("([a-z]+)*" * 28, "a" * 60 + "!"),
}
GATEWAY = """apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: shop}
spec: {ports: [{port: 80}]}
---
"""
ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  rules: [{matches: MATCHES, backendRefs: [{name: shop, port: 80}]}]
"""
CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgetpolicies.example.com, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: WidgetPolicy, plural: widgetpolicies}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              targetRef: {type: object, x-kubernetes-preserve-unknown-fields: true}
              size: SCHEMA
"""
WIDGET = """---
apiVersion: example.com/v1
kind: WidgetPolicy
metadata: {name: w, namespace: shop}
spec: {size: VALUE, targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}}
"""


def ran(directory: Path, *arguments: str, seconds: int = 10) -> subprocess.CompletedProcess[str]:
    """Run policylint in a directory; it is killed once it has used so much CPU time."""
    command = [sys.executable, "-c", "from policylint.cli import main; main()", *arguments]
    return subprocess.run(
        command,
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )


def rules(directory: Path) -> dict[str, str]:
    """Lint a directory: the rules that were broken, each with a message."""
    output = ran(directory, "lint", "-o", "json", "--show-unknown")
    assert output.returncode in (0, 1), output.stderr
    return {finding["rule"]: finding["message"] for finding in json.loads(output.stdout)["findings"]}


@pytest.mark.parametrize(("pattern", "text"), BOMBS.values(), ids=BOMBS)
def test_a_route_match(pattern: str, text: str, tmp_path: Path) -> None:
    quoted = json.dumps(pattern)
    for matches in (
        f"[{{path: {{type: RegularExpression, value: {json.dumps('/' + pattern)}}}}}]",
        f"[{{headers: [{{type: RegularExpression, name: x, value: {quoted}}}]}}]",
        f"[{{queryParams: [{{type: RegularExpression, name: x, value: {quoted}}}]}}]",
    ):
        (tmp_path / "world.yaml").write_text(GATEWAY + ROUTE.replace("MATCHES", matches))
        output = ran(tmp_path, "trace", "GET", f"http://h/{text}?x={text}", "-H", f"x: {text}", "world.yaml")
        assert "404" in output.stdout, output.stderr


@pytest.mark.parametrize(("pattern", "text"), BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("schema", ['{{type: string, pattern: "^{}$"}}', '{{anyOf: [{{pattern: "^{}$"}}]}}'])
def test_a_pattern_of_a_schema(pattern: str, text: str, schema: str, tmp_path: Path) -> None:
    world = CRD.replace("SCHEMA", schema.format(pattern)) + WIDGET.replace("VALUE", json.dumps(text))
    (tmp_path / "world.yaml").write_text(GATEWAY + ROUTE.replace("MATCHES", "[]") + "---\n" + world)
    assert "spec.size" in rules(tmp_path)["GWP501"]


@pytest.mark.parametrize("pattern", ["(a+)+(a+)+b", "(?:a?)*" * 20 + "b", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)x"])
def test_a_target_of_kustomize(pattern: str, tmp_path: Path) -> None:
    name = "a" * 200
    (tmp_path / "route.yaml").write_text(ROUTE.replace("name: shop,", f"name: {name},").replace("MATCHES", "[]"))
    (tmp_path / "kustomization.yaml").write_text(
        f"resources: [route.yaml]\npatches: [{{target: {{name: {json.dumps(pattern)}}}, patch: '[]'}}]\n"
        f"replacements: [{{source: {{kind: HTTPRoute, name: {json.dumps(pattern)}}}, targets: []}}]\n"
    )
    assert rules(tmp_path).keys() == {"GWP401", "GWP406", "GWP914"}


@pytest.mark.parametrize("pattern", ["(?=a)a", r"(a)\1", "a(", "a{2000}"])
def test_a_target_that_kustomize_refuses_is_no_patch(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "route.yaml").write_text(ROUTE.replace("MATCHES", "[]"))
    (tmp_path / "kustomization.yaml").write_text(
        f"resources: [route.yaml]\npatches: [{{target: {{name: {json.dumps(pattern)}}},"
        ' patch: "[{op: replace, path: /spec/parentRefs/0/name, value: other}]"}]\n'
    )
    found = rules(tmp_path)
    assert "is no expression of RE2" in found["GWP911"]


@pytest.mark.parametrize(
    "glob",
    ["*a*a*a*a*a*a*a*a*a*a*a*a*b", "**/a*/**/a*/**/a*/**/a*/**/a*/**/b", "?*?*?*?*?*?*?*?*?*b", "[a-z]*" * 20 + "!"],
)
def test_a_glob(glob: str, tmp_path: Path) -> None:
    name = "a" * 200
    files = application_set(FILES.replace("apps/*/config.yaml", f'"{glob}"'))
    written(tmp_path, files)
    deep = "/".join(["aaaaaaaaaaaa"] * 15) + f"/{name}.yaml"
    written(tmp_path, {deep: ROUTE.replace("name: shop,", f"name: {name},").replace("MATCHES", "[]")})
    (tmp_path / ".policylint.yaml").write_text(
        f"exclude: ['{glob}', '!{glob}/']\nassume: ['Gateway/shop/{glob.replace('/', '')}']\n"
        f"ignore:\n- {{rule: GWP401, path: '{glob}', reason: r}}\n"
        f"- {{rule: GWP401, resource: 'HTTPRoute/shop/{glob.replace('/', '')}', reason: r}}\n"
    )
    assert "GWP401" in rules(tmp_path)
    is_excluded = exclusion([glob])
    assert is_excluded is not None
    assert not is_excluded(deep)
    assert not _any_matches([glob], deep)


def test_a_host_of_many_variables() -> None:
    assert not may_be("a" * 200 + "b", "${A}a" * 200 + "c")


def test_a_match_that_takes_too_long_is_not_decided() -> None:
    wide = expression("(a|b)*a(a|b){900}")
    assert wide.refusal == ""
    assert wide.is_whole("ab" * 1000) is False
    assert wide.is_whole("ab" * 1000 + "a") is True
    assert wide.is_whole("ab" * 100_000) is None


def test_a_route_that_is_not_decided_leaves_the_request_open(tmp_path: Path) -> None:
    matches = '[{path: {type: RegularExpression, value: "' + r"(\\pL{1000})" * 40 + '"}}]'
    (tmp_path / "world.yaml").write_text(GATEWAY + ROUTE.replace("MATCHES", matches))
    output = ran(tmp_path, "trace", "GET", "http://h/a", "world.yaml")
    assert "is not known: the expression in path is too large to be matched" in output.stdout


@pytest.mark.parametrize("pattern", ["/(?=a)a", r"/(a)\\1", "/a(", "/a{2000}"])
def test_a_match_that_envoy_refuses_takes_nothing(pattern: str, tmp_path: Path) -> None:
    matches = f'[{{path: {{type: RegularExpression, value: "{pattern}"}}}}]'
    (tmp_path / "world.yaml").write_text(GATEWAY + ROUTE.replace("MATCHES", matches))
    output = ran(tmp_path, "trace", "GET", "http://h/aa", "world.yaml")
    assert "404" in output.stdout
    assert "which is no expression of RE2" in output.stdout
