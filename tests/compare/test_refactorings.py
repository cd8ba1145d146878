"""What a change only writes otherwise is no change: another layout, other names, labels that nobody reads, other files.

Each of them was told as one, in trees of others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.repositories import diff

POD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata:
      labels: {app: app, sidecar.istio.io/inject: "true"}
      annotations: {linkerd.io/inject: enabled}
    spec: {containers: [{name: app, image: app}]}
---
apiVersion: v1
kind: Service
metadata: {name: app, namespace: shop}
spec: {selector: {app: app}, ports: [{port: 80}]}
"""
DENY_ALL = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: deny-all, namespace: shop}
spec: {}
"""
UNSEEN = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata:
  name: login
  namespace: shop
  labels: {example.com/team: one}
spec:
  selector: {matchLabels: {app: unseen}}
  rules: [{from: [{source: {principals: [a/ns/b/sa/c]}}]}]
"""
SERVER = """
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata:
  name: all
  namespace: shop
  labels: {example.com/team: one}
spec: {podSelector: {matchLabels: {app: app}}, port: 80}
---
apiVersion: policy.linkerd.io/v1beta1
kind: ServerAuthorization
metadata: {name: all, namespace: shop}
spec: {server: {selector: {matchLabels: {example.com/team: one}}}, client: {unauthenticated: true}}
"""
PLUGIN = """
apiVersion: configuration.konghq.com/v1
kind: KongClusterPlugin
metadata:
  name: keys
  labels: {global: "true"}
plugin: key-auth
"""
RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: app
  namespace: shop
  labels: {app: one}
spec:
  interval: 1h
  chart: {spec: {chart: app, version: 1.0.0, sourceRef: {kind: HelmRepository, name: apps}}}
  values: {route: {main: {enabled: true}}}
"""
GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
CLUSTER = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, interval: 5m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""
SCRIPT = "#!/bin/sh\nkubectl label namespace shop istio-injection=enabled\n"


def rows(printed: str) -> list[str]:
    """Return the lines that tell of a change, but for what is renamed."""
    return [line for line in printed.splitlines() if line.strip()[:2] in ("! ", "~ ", "+ ", "- ") or line[:4] == "New "]


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        pytest.param("p.yaml", DENY_ALL, DENY_ALL.replace("deny-all", "nobody"), 0, id="an empty policy is renamed"),
        pytest.param(
            "p.yaml", DENY_ALL, DENY_ALL.replace("spec: {}", "spec: {rules: [{}]}"), 1, id="and one that opens"
        ),
        pytest.param("p.yaml", UNSEEN, UNSEEN.replace("name: login", "name: sign-in"), 0, id="one of unseen pods"),
        pytest.param("p.yaml", UNSEEN, UNSEEN.replace("team: one", "team: two"), 0, id="a label of a policy"),
        pytest.param(
            "p.yaml",
            SERVER,
            SERVER.replace("{example.com/team: one}", "{example.com/team: two}", 1),
            1,
            id="of one that others select",
        ),
        pytest.param("p.yaml", PLUGIN, PLUGIN.replace('"true"', '"false"'), 1, id="a label that Kong reads"),
    ],
)
def test_a_policy(tmp_path: Path, file: str, before: str, after: str, told: int) -> None:
    printed = diff(tmp_path, {"pod.yaml": POD, file: before}, {file: after})
    assert bool(rows(printed)) == bool(told), printed


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        pytest.param("app: one", "app: two", False, id="a label"),
        pytest.param("1.0.0", "1.0.1", True, id="a version"),
    ],
)
def test_a_release_that_is_not_rendered(tmp_path: Path, old: str, new: str, told: bool) -> None:
    tree = {"clusters/prod/apps.yaml": CLUSTER, "apps/gateway.yaml": GATEWAY, "apps/release.yaml": RELEASE}
    printed = diff(tmp_path, tree, {"apps/release.yaml": RELEASE.replace(old, new, 1)})
    assert ("HelmRelease shop/app: unknown" in printed) == told, printed


@pytest.mark.parametrize(
    ("after", "told"),
    [
        pytest.param({"new/setup.sh": SCRIPT, "old/setup.sh": None}, False, id="moved"),
        pytest.param({"new/setup.sh": SCRIPT, "old/setup.sh": "#!/bin/sh\n# none\n"}, True, id="beside"),
    ],
)
def test_a_script(tmp_path: Path, after: dict[str, str | None], told: bool) -> None:
    before = {"pod.yaml": POD, "old/setup.sh": SCRIPT, "new/readme.sh": "#!/bin/sh\necho\n"}
    printed = diff(tmp_path, before, after)
    assert ("now runs" in printed) == told, printed


def test_the_layout_of_a_patch_that_nothing_deploys(tmp_path: Path) -> None:
    flow = UNSEEN.replace(
        "spec:\n  selector: {matchLabels: {app: unseen}}\n", "spec:\n  selector:\n    matchLabels:\n      app: unseen\n"
    )
    tree = {"clusters/prod/apps.yaml": CLUSTER, "apps/pod.yaml": POD, "old/login.yaml": UNSEEN}
    twice = {**tree, "older/login.yaml": UNSEEN}
    labelled = flow.replace("team: one", "team: two")
    for number, (text, told) in enumerate(
        (
            (flow, False),
            (f"# why\n{flow}", False),
            (labelled, False),
            (flow.replace("namespace: shop", "namespace: other"), True),
            (flow.replace("a/ns/b/sa/c", '"*"'), True),
        )
    ):
        for before in (tree, twice):
            printed = diff(tmp_path / f"{number}-{len(before)}", before, {"old/login.yaml": text})
            assert bool(rows(printed)) == told, printed


OUTPOST = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: outpost, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: app}]
  extAuth: {failOpen: 1, http: {backendRefs: [{name: outpost, port: 80}]}}
"""


@pytest.mark.parametrize("place", ["old/outpost.yaml", "apps/outpost.yaml"])
def test_another_sort_of_value_is_no_layout(tmp_path: Path, place: str) -> None:
    tree = {"clusters/prod/apps.yaml": CLUSTER, "apps/gateway.yaml": GATEWAY, place: OUTPOST}
    printed = diff(tmp_path, tree, {place: OUTPOST.replace("failOpen: 1", "failOpen: true")})
    assert "outpost" in "".join(rows(printed)), printed
