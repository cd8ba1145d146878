"""Digits that are no numbers: of another script, which `str.isdigit` takes and `int` does not, and too many.

What every command must bear is in corpus/digits.yaml; these trees are not checked whole, or not by every command.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.digits import whole_number
from tests.diff.history import run

LONG = "9" * 5000
DIGITS = pytest.mark.parametrize("digits", ["²", "٣", LONG])
INGRESS = """
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: alb}
spec: {controller: ingress.k8s.aws/alb}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: pay
  namespace: shop
  annotations:
    alb.ingress.kubernetes.io/group.name: shop
    alb.ingress.kubernetes.io/group.order: "DIGITS"
    alb.ingress.kubernetes.io/actions.moved: '{"type": "redirect", "redirectConfig": {"port": "DIGITS"}}'
    alb.ingress.kubernetes.io/actions.fixed: |
      {"type": "fixed-response", "fixedResponseConfig": {"statusCode": "DIGITS"}}
spec:
  ingressClassName: alb
  rules:
    - host: pay.example.com
      http:
        paths:
          - {path: /a, pathType: Prefix, backend: {service: {name: moved, port: {name: use-annotation}}}}
          - {path: /b, pathType: Prefix, backend: {service: {name: fixed, port: {name: use-annotation}}}}
"""
RELEASE = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: bjw-s, namespace: shop}
spec: {url: https://bjw-s-labs.github.io/helm-charts}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  chart: {spec: {chart: app-template, version: 4.4.0, sourceRef: {kind: HelmRepository, name: bjw-s}}}
  values:
    controllers: {web: {containers: {main: {image: {repository: web, tag: "1"}}}}}
    service: {web: {controller: web, ports: {http: {port: "DIGITS", targetPort: "DIGITS"}}}}
    route:
      web:
        hostnames: [web.example.com]
        parentRefs: [{name: edge}]
        rules: [{backendRefs: [{name: web, port: "DIGITS"}]}]
"""
PATCHED = {
    "kustomization.yaml": """
resources: [route.yaml]
patches:
  - target: {kind: HTTPRoute}
    patch: "[{op: replace, path: /spec/rules/DIGITS/name, value: other}]"
""",
    "route.yaml": """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: pay, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{name: main, backendRefs: [{name: pay, port: 80}]}]}
""",
}


def is_read(place: Path, files: dict[str, str], digits: str, *arguments: str) -> None:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text.replace("DIGITS", digits), encoding="utf-8")
    code, _, err = run(place, *arguments, "--no-config", POLICYLINT_DEBUG="1")
    assert code in (0, 1, 3) and "Traceback" not in err and "internal error" not in err, err


@DIGITS
@pytest.mark.parametrize("arguments", [("lint", "."), ("reach", "."), ("trace", "http://pay.example.com/a", ".")])
def test_annotations_of_doors(tmp_path: Path, digits: str, arguments: tuple[str, ...]) -> None:
    is_read(tmp_path, {"ingress.yaml": INGRESS}, digits, *arguments)


COUNTED = {
    "app.yaml": """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source: {path: web, repoURL: 'https://example.com/web', kustomize: {replicas: [{name: web, count: 'DIGITS'}]}}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
""",
    "web/kustomization.yaml": "resources: [route.yaml]\n",
    "web/route.yaml": PATCHED["route.yaml"],
}
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>1.0.0-DIGITS'\n",
    "chart/templates/route.yaml": PATCHED["route.yaml"],
}


@DIGITS
@pytest.mark.parametrize(
    "files", [{"release.yaml": RELEASE}, PATCHED, COUNTED, CHART], ids=["values", "patch", "replicas", "versions"]
)
def test_what_is_rendered(tmp_path: Path, files: dict[str, str], digits: str) -> None:
    is_read(tmp_path, files, digits, "lint", ".", "--render", "helm")


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("08", 8), ("65535", 65535), ("9" * 18, int("9" * 18)), ("", None), ("-1", None), ("1_0", None),
     (" 1", None), ("²", None), ("٣", None), (LONG, None)],
)  # fmt: skip
def test_a_whole_number_is_ascii_digits(text: str, number: int | None) -> None:
    assert whole_number(text) == number
