"""The step of docs/rendering.md that renders charts in CI: run as it is written there, by the real helm and yq."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.diff.history import commit, run
from tests.worlds import gateway, gateway_class

ROOT = Path(__file__).parents[2]
HELM = shutil.which("helm")


def _has_yq() -> bool:
    """Tell whether the `yq` that runners have is here, written in Go; Debian's is another program of that name."""
    yq = shutil.which("yq")
    if yq is None:
        return False
    said = subprocess.run([yq, "--help"], capture_output=True, text=True, check=False)
    return "eval-all" in said.stdout


pytestmark = pytest.mark.skipif(HELM is None or not _has_yq(), reason="no helm, or no yq that is written in Go")
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: cart\nversion: 1.2.3\n",
    "values.yaml": "route: {enabled: false, host: cart.example.com}\n",
    "templates/route.yaml": """\
{{- if and .Values.route.enabled (.Capabilities.APIVersions.Has "gateway.networking.k8s.io/v1/HTTPRoute") }}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: {{ .Release.Name }}}
spec:
  parentRefs: [{name: edge}]
  hostnames: [{{ .Values.route.host }}]
  rules: [{}]
{{- end }}
""",
}
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./kubernetes/apps, sourceRef: {kind: GitRepository, name: flux-system}}
"""
OF_REPOSITORY = "chart: {spec: {chart: cart, version: 1.2.3, sourceRef: {kind: HelmRepository, name: charts}}}"
OF_REGISTRY = "chartRef: {kind: OCIRepository, name: charts}"
REPOSITORY = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: shop}
spec: {url: 'http://127.0.0.1:PORT', interval: 1h}
"""
IN_REGISTRY = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: charts, namespace: shop}
spec: {url: 'oci://registry.example/cart', ref: {tag: 1.2.3}, interval: 1h}
"""
KINDS = {"helmrepository.yaml": (OF_REPOSITORY, REPOSITORY), "ocirepository.yaml": (OF_REGISTRY, IN_REGISTRY)}
APP = "kubernetes/apps/shop/cart/app"
REGISTRY = """#!/bin/sh
# What lies in the registry is here; all else is asked of the real program.
for each in "$@"; do
  shift
  test "$each" = oci://registry.example/cart && each=PACKAGE
  set -- "$@" "$each"
done
exec HELM "$@"
"""


@pytest.fixture
def charts(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A repository of charts, with its port."""
    assert HELM is not None
    for name, text in CHART.items():
        place = tmp_path / "cart" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    shelf = tmp_path / "shelf"
    subprocess.run([HELM, "package", str(tmp_path / "cart"), "-d", str(shelf)], check=True, capture_output=True)
    subprocess.run([HELM, "repo", "index", str(shelf)], check=True, capture_output=True)
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(shelf))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield shelf, server.server_port
        server.shutdown()


def step() -> str:
    """The script of the page."""
    page = (ROOT / "docs" / "rendering.md").read_text()
    (script,) = re.findall(r"- name: Render charts\n.*?  run: \|\n(.*?)\n- uses: example/policylint", page, re.S)
    return re.sub(r"^    ", "", script, flags=re.M)


def laid_out(tmp_path: Path, port: int, file: str, version: str = "1.2.3") -> Path:
    """A repository with one release, and what it takes its chart from."""
    chart, source = KINDS[file]
    release = f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: cart, namespace: shop}}
spec:
  {chart.replace("1.2.3", version)}
  values: {{route: {{enabled: true, host: pay.example.com}}}}
"""
    files = {
        "kubernetes/flux/apps.yaml": FLUX,
        f"{APP}/helmrelease.yaml": release,
        f"{APP}/{file}": source.replace("PORT", str(port)),
        "kubernetes/apps/edge.yaml": "---\n".join((gateway_class(), gateway(namespace="shop"))),
    }
    commit(tmp_path / "tree", files)
    return tmp_path / "tree"


def not_rendered(tree: Path, *arguments: str) -> list[str]:
    found: list[str] = json.loads(run(tree, "lint", "-o", "json", *arguments)[1])["coverage"]["not_rendered"]
    return found


@pytest.mark.parametrize("file", KINDS)
def test_the_step_renders_what_lint_then_sees(tmp_path: Path, charts: tuple[Path, int], file: str) -> None:
    shelf, port = charts
    tree = laid_out(tmp_path, port, file)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "helm").write_text(
        REGISTRY.replace("PACKAGE", str(shelf / "cart-1.2.3.tgz")).replace("HELM", str(HELM))
    )
    (programs / "helm").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HELM_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run(["bash", "-e", "-c", step()], cwd=tree, env=environment, check=True, timeout=60)
    assert not_rendered(tree) == ["1 HelmRelease of 1 not rendered"]
    assert not_rendered(tree, "--rendered", "rendered") == []
    assert "pay.example.com" in run(tree, "list", "routes", "--rendered", "rendered")[1]


def test_a_chart_that_cannot_be_had_stays_unseen(tmp_path: Path, charts: tuple[Path, int]) -> None:
    tree = laid_out(tmp_path, charts[1], "helmrepository.yaml", version="9.9.9")
    environment = {**os.environ, "HELM_CACHE_HOME": str(tmp_path / "cache")}
    command = ["bash", "-e", "-c", step()]
    done = subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, text=True, timeout=60)
    assert "9.9.9" in done.stderr
    assert not list((tree / "rendered").rglob("*.yaml"))
    assert "1 HelmRelease of 1 not rendered" in not_rendered(tree, "--rendered", "rendered")
