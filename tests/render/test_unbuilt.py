"""Clusters that nobody asks about are not built, and what is said of a PATH is what building all of them says of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import policylint
from policylint.render.flux import unbuilt
from policylint.render.kustomize.build import Kustomizer

SYNC = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: flux-system, namespace: flux-system}}
spec: {{interval: 1m, ref: {{branch: main}}, url: "ssh://git@git.example.com/platform/fleet"}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: flux-system, namespace: flux-system}}
spec: {{interval: 10m, path: ./clusters/{0}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""
DEPLOYED = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {0}, namespace: flux-system}}
spec:
  interval: 10m
  path: ./{1}
  prune: true
  sourceRef: {{kind: GitRepository, name: flux-system}}
{2}"""
PLATFORM = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
"""
INSIDE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: inside, namespace: infra}
spec: {gatewayClassName: envoy, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
APP = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {0}, namespace: shop}}
spec:
  parentRefs: {1}
  hostnames: ["{0}.example.com"]
  rules: [{{backendRefs: [{{name: {0}, port: 80}}]}}]
---
apiVersion: v1
kind: Service
metadata: {{name: {0}, namespace: shop}}
spec: {{selector: {{app: {0}}}, ports: [{{port: {2}}}]}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: {0}, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: {3}}}]
  cors: {{allowOrigins: ["https://{0}.example.com"]}}
"""
REPOSITORY = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: extra, namespace: shop}
spec: {interval: 10m, url: "https://charts.example.com"}
---
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: extra, namespace: shop}
spec: {interval: 10m, chart: {spec: {chart: extra, sourceRef: {kind: HelmRepository, name: extra}}}}
"""
VARIABLES = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: variables, namespace: flux-system}
data: {HOST: shop}
"""
BOTH = "[{name: edge, namespace: infra}, {name: inside, namespace: infra}]"


def fleet(seed: int) -> dict[str, str]:
    """Three clusters of two applications, and some of what repositories have beside them."""
    random = Random(seed)

    def chance(part: float = 0.25) -> bool:
        return random.random() < part

    files = {"platform/gateway.yaml": PLATFORM, "platform/kustomization.yaml": "resources: [gateway.yaml]\n"}
    for app in ("cart", "shop"):
        parents = BOTH if chance() else "[{name: edge, namespace: infra}]"
        target = "other" if chance() else app
        files[f"apps/{app}/base/app.yaml"] = APP.format(app, parents, 81 if chance() else 80, target)
        more = "configMapGenerator: [{name: made, literals: [a=b]}]\n" if chance() else ""
        listed = "app.yaml, missing.yaml" if chance(0.1) else "app.yaml, app.yaml" if chance(0.1) else "app.yaml"
        if chance():
            files[f"apps/{app}/base/release.yaml"], listed = REPOSITORY + RELEASE, f"{listed}, release.yaml"
        files[f"apps/{app}/base/kustomization.yaml"] = f"resources: [{listed}]\n{more}"
        for cluster in ("one", "two", "three"):
            over = ["resources: [../../base]"]
            if chance():
                over.append(f"patches: [{{target: {{kind: Service}}, path: ../../{random.choice(('up', 'no'))}.yaml}}]")
            if chance():
                over.append("components: [../../component]")
            if chance(0.1):
                over.append("transformers: [transformer.yaml]")
            files[f"apps/{app}/overlays/{cluster}/kustomization.yaml"] = "\n".join(over) + "\n"
    files["apps/up.yaml"] = "- {op: add, path: /metadata/labels, value: {a: b}}\n"
    files["apps/component/kustomization.yaml"] = (
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonLabels: {team: a}\n"
    )
    files["apps/cart/component/kustomization.yaml"] = files["apps/component/kustomization.yaml"]
    for cluster in ("one", "two", "three"):
        place = f"clusters/{cluster}"
        files[f"{place}/flux-system/sync.yaml"] = SYNC.format(cluster)
        files[f"{place}/platform.yaml"] = DEPLOYED.format("platform", "platform", "")
        for app in ("cart", "shop"):
            substituted = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: variables}]}\n" if chance() else ""
            if not chance(0.2):
                files[f"{place}/{app}.yaml"] = DEPLOYED.format(app, f"apps/{app}/overlays/{cluster}", substituted)
        if chance():
            files[f"{place}/variables.yaml"] = VARIABLES
        if chance(0.4):
            files[f"{place}/inside.yaml"] = INSIDE
    if chance(0.3):
        files["apps/left/app.yaml"] = APP.format("left", BOTH, 80, "left")
    if chance(0.15):
        files["apps/cart/base/app.yaml"] += "---\na: [\n"
    return files


def written(directory: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(content, encoding="utf-8")
    subprocess.run(["git", "init", "-q", directory], check=True)


def said(place: str) -> list[Any]:
    found = policylint.lint(place).findings
    return [(*each[:3], each.location.sort_key(), each.environments, each.ground, each.help) for each in found]


def everything(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], list[Any]]) -> list[Any]:
    """Ask with all clusters built."""

    class Whole(unbuilt.Unbuilt):
        def __init__(self, has_part: unbuilt.HasPart | None) -> None:  # noqa: ARG002
            super().__init__(None)

    with monkeypatch.context() as patching:
        patching.setattr("policylint.render.environments.Unbuilt", Whole)
        return ask()


PLACES = ("apps/cart/overlays/two", "apps/shop", "clusters/one", "platform", "apps/cart/base/app.yaml")


@pytest.mark.parametrize("seed", range(24))
def test_the_same_is_said_of_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    written(tmp_path, fleet(seed))
    monkeypatch.chdir(tmp_path)
    place = PLACES[seed % len(PLACES)]
    assert said(place) == everything(monkeypatch, lambda: said(place))


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The directories whose kustomizations are built."""
    places: set[str] = set()

    base = Kustomizer.base

    def noting(self: Kustomizer, directory: str, above: tuple[str, ...]) -> Any:
        places.add(directory)
        return base(self, directory, above)

    monkeypatch.setattr(Kustomizer, "base", noting)
    return places


def plain(*, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Three clusters with nothing odd about them."""
    files = {"platform/gateway.yaml": PLATFORM, "platform/kustomization.yaml": "resources: [gateway.yaml]\n"}
    for cluster in ("one", "two", "three"):
        files[f"clusters/{cluster}/flux-system/sync.yaml"] = SYNC.format(cluster)
        files[f"clusters/{cluster}/platform.yaml"] = DEPLOYED.format("platform", "platform", "")
        files[f"clusters/{cluster}/apps.yaml"] = DEPLOYED.format("apps", f"apps/{cluster}", "")
        files[f"apps/{cluster}/kustomization.yaml"] = "resources: [app.yaml]\n"
        files[f"apps/{cluster}/app.yaml"] = APP.format("cart", "[{name: edge, namespace: infra}]", 80, "cart")
    return {**files, **(more or {})}


def test_clusters_without_a_part_are_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: set[str]
) -> None:
    written(tmp_path, plain())
    monkeypatch.chdir(tmp_path)
    said("apps/two")
    assert "apps/two" in built
    assert built.isdisjoint({"apps/one", "apps/three"})


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("HelmRepository", "source.toolkit.fluxcd.io/v1"),
        ("Receiver", "notification.toolkit.fluxcd.io/v1"),
        ("HelmRelease", "helm.toolkit.fluxcd.io/v2"),
        ("ConfigMap", "v1"),
    ],
)
def test_what_decides_of_nothing_else_is_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: set[str], kind: str, version: str
) -> None:
    more = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: extra, namespace: shop}}\nspec: {{}}\n"
    written(
        tmp_path, plain(more={"apps/one/more.yaml": more, "apps/one/kustomization.yaml": "resources: [more.yaml]\n"})
    )
    monkeypatch.chdir(tmp_path)
    said("apps/two")
    assert "apps/one" not in built


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("apps/one/kustomization.yaml", "resources: [app.yaml]\ngenerators: [a.yaml]\n"),
        ("apps/one/kustomization.yaml", "resources: [app.yaml, not-there.yaml]\n"),
        ("apps/one/app.yaml", DEPLOYED.format("more", "platform", "")),
        ("apps/one/app.yaml", SYNC.format("one").partition("---")[0]),
        ("apps/one/kustomization.yaml", "resources: [app.yaml]\npatches: [{path: not-there.yaml}]\n"),
        ("apps/one/app.yaml", "apiVersion: v1\nkind: List\nitems: []\n"),
        ("apps/one/app.yaml", RELEASE.replace("chart: {", "valuesFrom: [{kind: ConfigMap, name: a}], chart: {", 1)),
    ],
)
def test_what_is_not_plain_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: set[str], file: str, content: str
) -> None:
    written(tmp_path, plain(more={file: content}))
    monkeypatch.chdir(tmp_path)
    said("apps/two")
    assert "apps/one" in built
    assert "apps/three" not in built


def test_what_others_hold_is_known_where_it_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A route that two clusters share, of whose Gateways one alone has both."""
    shared = {"apps/two/kustomization.yaml": "resources: [../shared]\n", "clusters/one/inside.yaml": INSIDE}
    shared |= {
        "apps/one/kustomization.yaml": "resources: [../shared]\n",
        "apps/shared/kustomization.yaml": "resources: [app.yaml]\n",
    }
    shared["apps/shared/app.yaml"] = APP.format("cart", BOTH, 80, "cart")
    written(tmp_path, plain(more=shared))
    monkeypatch.chdir(tmp_path)
    assert said("clusters/two") == everything(monkeypatch, lambda: said("clusters/two"))
