"""Charts that lie in the tree: rendered for what installs them, by the real helm where the user asks for that
(`--render helm`) and it is installed, as on GitHub's runners, and else by policylint itself.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from policylint.model import ResourceKey, Spot
from policylint.render.helm.value_places import HelmValues, Template, placed
from policylint.render.provenance import Provenance
from policylint.sources.git import Repository
from policylint.sources.revision import at_revision
from policylint.workspace import Workspace, open_workspace
from tests.render.trees import KUSTOMIZATION, codes, deployed, place, written

CHART = {
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
    "charts/shop/values.yaml": "gateway: edge\nsection: http\nhostnames: [shop.example.com]\n",
    "charts/shop/templates/_helpers.tpl": '{{- define "name" -}}{{ .Release.Name }}-web{{- end }}\n',
    "charts/shop/templates/route.yaml": """
{{- if .Capabilities.APIVersions.Has "gateway.networking.k8s.io/v1" }}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "name" . }}
spec:
  parentRefs:
    - name: {{ .Values.gateway }}
      namespace: infra
      sectionName: {{ .Values.section | quote }}
  {{- with .Values.hostnames }}
  hostnames:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    - backendRefs:
        - name: {{ include "name" . }}
          port: 80
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "name" . }}
spec:
  ports:
    - name: http
      port: 80
{{- end }}
""",
}
GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
"""
SYNC = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}
"""
RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: front
  namespace: shop
spec:
  chart:
    spec:
      chart: ./charts/shop
      sourceRef: {kind: GitRepository, name: flux-system}
  values:
    section: https
"""
FLUX = {**CHART, "clusters/prod/flux-system/gotk-sync.yaml": SYNC, "clusters/prod/gateway.yaml": GATEWAY}
MADE = ["HTTPRoute shop/front-web", "Service shop/front-web"]


def rendered(directory: Path, files: dict[str, str], render: str = "helm") -> Workspace:
    return open_workspace([str(written(directory, files))], render=render)


def route_of(found: Workspace) -> dict[str, object]:
    world = found.simulations[0].world
    return dict(world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0].spec)


def test_a_release_of_a_chart_in_the_tree(tmp_path: Path) -> None:
    found = rendered(tmp_path, {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    assert deployed(found) == {"prod": ["Gateway infra/edge", *MADE]}
    assert (codes(found), found.coverage.not_rendered) == ([], ())


def test_what_is_wrong_with_it_is_shown_in_the_line_a_person_edits(tmp_path: Path) -> None:
    """The section is in the release's values, the gateway in the chart's own, the port in the template."""
    found = rendered(tmp_path, {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    assert [(each.rule, place(each.location, tmp_path)) for each in found.findings() if each.severity == "error"] == [
        ("GWP402", "clusters/prod/shop.yaml:12")
    ]
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert [
        place(route.location("spec", "parentRefs", 0, "name"), tmp_path),
        place(route.location("spec", "hostnames", 0), tmp_path),
        place(route.location("spec", "rules", 0, "backendRefs", 0, "port"), tmp_path),
        place(route.name_location, tmp_path),
    ] == [
        "charts/shop/values.yaml:1",
        "charts/shop/values.yaml:3",
        "charts/shop/templates/route.yaml:18",
        "charts/shop/templates/route.yaml:5",
    ]


@pytest.mark.parametrize("render", ["builtin", "external"])
def test_without_asking_no_helm_is_started(tmp_path: Path, render: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What such a chart makes is known as far as policylint can tell by itself."""
    helm = tmp_path / "bin" / "helm"
    helm.parent.mkdir()
    helm.write_text("#!/bin/sh\ntouch $(dirname $0)/started\nexit 1\n")
    helm.chmod(0o755)
    monkeypatch.setenv("PATH", str(helm.parent), prepend=":")
    found = rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE}, render)
    assert deployed(found) == {"prod": ["Gateway infra/edge", *MADE]}
    assert found.coverage.not_rendered == ()
    assert not (helm.parent / "started").exists()


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ uuidv4 }}}\n"


def test_a_template_that_asks_for_chance_is_unknown_and_the_others_are_not(tmp_path: Path) -> None:
    """A password that is made by chance says nothing of the route beside it, and its template says that it is one."""
    by_chance = {"charts/shop/templates/secret.yaml": SECRET}
    found = rendered(tmp_path, {**FLUX, **by_chance, "clusters/prod/shop.yaml": RELEASE}, "builtin")
    assert deployed(found) == {"prod": ["Gateway infra/edge", "HTTPRoute shop/front-web", "Service shop/front-web"]}
    assert found.coverage.not_rendered == ("1 template of a chart not rendered",)
    assert [note.message for note in found.simulations[0].world.notes] == [
        "template charts/shop/templates/secret.yaml is not rendered: `uuidv4`"
    ]
    unseen = found.simulations[0].world.unseen
    assert unseen.of_routes() == []
    assert unseen.reason(ResourceKey("", "Secret", "shop", "x")) and not unseen.reason(
        ResourceKey("gateway.envoyproxy.io", "SecurityPolicy", "shop", "x")
    )


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"set.yaml": '{{ $_ := set .Values "section" "https" }}'}, id="values that change"),
        pytest.param({"all.yaml": '{{ include "name" . }}{{ uuidv4 }}'}, id="which prints anything"),
    ],
)
def test_what_may_be_anything_leaves_routes_unknown(tmp_path: Path, more: dict[str, str]) -> None:
    files = {f"charts/shop/templates/{name}": text for name, text in {"secret.yaml": SECRET, **more}.items()}
    found = rendered(tmp_path, {**FLUX, **files, "clusters/prod/shop.yaml": RELEASE}, "builtin")
    assert found.simulations[0].world.unseen.of_routes()


def test_what_it_cannot_tell_is_unknown_and_named(tmp_path: Path) -> None:
    setting = '{{ $_ := set .Values "a" 1 }}'
    by_chance = {"charts/shop/templates/secret.yaml": SECRET, "charts/shop/templates/a.yaml": setting}
    found = rendered(tmp_path, {**FLUX, **by_chance, "clusters/prod/shop.yaml": RELEASE}, "builtin")
    assert deployed(found) == {"prod": ["Gateway infra/edge"]}
    assert found.coverage.not_rendered == ("1 HelmRelease of 1 not rendered", "1 chart not rendered")
    assert [note.message for note in found.simulations[0].world.notes] == [
        "chart charts/shop is not rendered: without helm it is not known what it makes: `uuidv4`"
    ]


def test_values_of_config_maps_are_below_those_of_the_release(tmp_path: Path) -> None:
    maps = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: shop}\n"
        "data:\n  values.yaml: |\n    gateway: other\n    section: lost\n  host: a.example.com\n"
    )
    come_from = (
        "  valuesFrom:\n  - {kind: ConfigMap, name: shared}\n"
        "  - {kind: ConfigMap, name: shared, valuesKey: host, targetPath: extra.host}\n"
    )
    found = rendered(
        tmp_path, {**FLUX, "clusters/prod/shop.yaml": RELEASE + come_from, "clusters/prod/maps.yaml": maps}
    )
    assert route_of(found)["parentRefs"] == [{"name": "other", "namespace": "infra", "sectionName": "https"}]
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert place(route.location("spec", "parentRefs", 0, "name"), tmp_path) == "clusters/prod/maps.yaml:6"


def test_values_files_of_the_chart_stand_in_for_its_own(tmp_path: Path) -> None:
    more = RELEASE.replace("      sourceRef", "      valuesFiles: [./charts/shop/prod.yaml]\n      sourceRef")
    files = {**FLUX, "clusters/prod/shop.yaml": more, "charts/shop/prod.yaml": "gateway: edge\n"}
    assert "hostnames" not in route_of(rendered(tmp_path, files))


def test_post_renderers_of_a_release_change_what_its_chart_makes(tmp_path: Path) -> None:
    patch = (
        "  postRenderers:\n  - kustomize:\n      patches:\n      - target: {kind: HTTPRoute}\n"
        "        patch: |\n          - op: replace\n            path: /spec/parentRefs/0/name\n            value: x\n"
    )
    found = rendered(tmp_path, {**FLUX, "clusters/prod/shop.yaml": RELEASE + patch})
    assert route_of(found)["parentRefs"] == [{"name": "x", "namespace": "infra", "sectionName": "https"}]
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert place(route.location("spec", "parentRefs", 0, "name"), tmp_path) == "clusters/prod/shop.yaml:20"


APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: front, namespace: argocd}
spec:
  source:
    path: charts/shop
    helm:
      valueFiles: [prod.yaml, /settings/shared.yaml]
      valuesObject:
        section: https
      parameters:
        - {name: gateway, value: given}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
"""


def test_an_application_of_a_chart_in_the_tree(tmp_path: Path) -> None:
    """Parameters win over the values, they over the value files, the later file over the earlier one."""
    files = {
        **CHART,
        "argo/shop.yaml": APPLICATION,
        "charts/shop/prod.yaml": "section: lost\nhostnames: [prod.example.com]\n",
        "settings/shared.yaml": "hostnames: [shared.example.com]\n",
    }
    found = rendered(tmp_path, files)
    assert deployed(found) == {"in-cluster": MADE}
    assert route_of(found)["parentRefs"] == [{"name": "given", "namespace": "infra", "sectionName": "https"}]
    assert route_of(found)["hostnames"] == ["shared.example.com"]
    assert codes(found) == []


def test_an_application_of_a_chart_without_options(tmp_path: Path) -> None:
    bare = APPLICATION.partition("    helm:")[0] + APPLICATION[APPLICATION.index("  destination") :]
    assert deployed(rendered(tmp_path, {**CHART, "argo/shop.yaml": bare})) == {"in-cluster": MADE}


def test_charts_of_a_kustomization(tmp_path: Path) -> None:
    kustomization = KUSTOMIZATION + (
        "namespace: moved\nresources: [gateway.yaml]\nhelmGlobals: {chartHome: ../charts}\n"
        "helmCharts:\n- name: shop\n  releaseName: front\n  valuesInline: {section: http}\n"
        "- {name: elsewhere, repo: 'https://charts.example.com'}\n"
        "patches:\n- target: {kind: HTTPRoute}\n  patch: '[{op: remove, path: /spec/hostnames}]'\n"
    )
    files = {**CHART, "app/kustomization.yaml": kustomization, "app/gateway.yaml": GATEWAY}
    found = rendered(tmp_path, files)
    assert deployed(found) == {
        "default": ["Gateway moved/edge", "HTTPRoute moved/front-web", "Service moved/front-web"]
    }
    assert "hostnames" not in route_of(found)
    assert (codes(found), found.coverage.not_rendered) == (["chart"], ("1 chart not rendered",))


def test_charts_that_nothing_installs_are_installed_once_beside_plain_manifests(tmp_path: Path) -> None:
    files = {
        **CHART,
        "gateway.yaml": GATEWAY,
        "charts/common/Chart.yaml": "apiVersion: v2\nname: common\ntype: library\nversion: 0.1.0\n",
    }
    found = rendered(tmp_path, files)
    assert deployed(found) == {
        "default": ["Gateway infra/edge", "HTTPRoute default/shop-web", "Service default/shop-web"]
    }


def test_a_chart_takes_charts_of_the_tree_that_it_depends_on(tmp_path: Path) -> None:
    umbrella = "apiVersion: v2\nname: all\nversion: 0.1.0\n"
    umbrella += "dependencies: [{name: shop, version: 0.1.0, repository: 'file://../shop'}]\n"
    found = rendered(tmp_path, {**CHART, "charts/all/Chart.yaml": umbrella})
    assert "HTTPRoute default/all-web" in deployed(found)["default"]


def test_charts_of_a_revision_are_rendered_as_those_of_the_work_tree(tmp_path: Path) -> None:
    written(tmp_path, {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    source = at_revision(Repository(str(tmp_path)), "HEAD", [str(tmp_path)])
    found = open_workspace(source=source, render="helm")
    assert deployed(found) == {"prod": ["Gateway infra/edge", *MADE]}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ .Values.a.b.c }}", "nil pointer"),
        ("{{ fail `no gateway given` }}", "no gateway given"),
        ("a: b: c", "mapping values are not allowed"),
    ],
)
def test_a_chart_that_cannot_be_rendered_is_noted_with_what_helm_says(
    tmp_path: Path, template: str, words: str
) -> None:
    files = {**FLUX, "clusters/prod/shop.yaml": RELEASE, "charts/shop/templates/broken.yaml": template}
    found = rendered(tmp_path, files)
    (note,) = found.simulations[0].world.notes
    assert (note.rule, note.code) == ("GWP911", "chart")
    assert words in note.message
    assert str(tmp_path) not in note.message
    assert "/tmp" not in note.message
    assert place(note.location, tmp_path) == "clusters/prod/shop.yaml:9"
    assert deployed(found) == {"prod": ["Gateway infra/edge"]}


LISTED = """kind: HTTPRoute
spec:
  hostnames:
  {{- range .Values.hosts }}
    - {{ . | quote }}
  {{- end }}
  rules:
  - name: one
    filters: []
  - name: {{ .Values.second.name }}
"""


def test_lists_are_followed_where_the_template_writes_them_out() -> None:
    body = {"kind": "HTTPRoute", "spec": {"hostnames": ["a", "b"], "rules": [{"name": "one"}, {"name": "two"}]}}
    values = {"second": {"name": "two"}}
    template = Template("t.yaml", LISTED.splitlines())
    origin = placed(body, template, 0, 1, [HelmValues(values, Provenance(Spot("values.yaml")))])
    lines = {
        pointer: (
            origin.at(*pointer).document.file,
            origin.at(*pointer).document.position(origin.at(*pointer).pointer).line,
        )
        for pointer in (
            ("spec", "hostnames", 1),
            ("spec", "rules", 0, "name"),
            ("spec", "rules", 1, "name"),
            ("metadata", "name"),
        )
        for place in [origin.at(*pointer)]
    }
    assert lines == {
        ("spec", "hostnames", 1): ("t.yaml", 5),
        ("spec", "rules", 0, "name"): ("t.yaml", 8),
        ("spec", "rules", 1, "name"): ("values.yaml", 1),
        ("metadata", "name"): ("t.yaml", 1),
    }


HOSTILE = "{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}"


@pytest.mark.usefixtures("little_work")
def test_a_chart_that_asks_for_too_much_work_is_said_and_the_run_incomplete(tmp_path: Path) -> None:
    """Else whoever adds such a template takes a chart out of sight, and the exit code says that all was judged."""
    files = {"charts/shop/templates/loop.yaml": HOSTILE, "README.md": ""}
    written(tmp_path, {**CHART, **files, "app.yaml": APPLICATION, "gateway.yaml": GATEWAY})
    workspace = open_workspace([str(tmp_path)])
    assert workspace.coverage.cut_off
    (finding,) = (each for each in workspace.findings() if "too much work" in each.message)
    assert (finding.rule, finding.severity) == ("GWP911", "warning")


@pytest.mark.usefixtures("little_work")
def test_another_chart_is_rendered_all_the_same(tmp_path: Path) -> None:
    """One chart took the work that was meant for all, so that 21 others of a tree were «too much work», too."""
    other = {path.replace("charts/shop", "charts/other"): text for path, text in CHART.items()}
    also = APPLICATION.replace("charts/shop", "charts/other").replace("name: front", "name: other")
    files = {"charts/shop/templates/loop.yaml": HOSTILE, "app.yaml": APPLICATION, "other.yaml": also, "README.md": ""}
    written(tmp_path, {**CHART, **other, **files, "gateway.yaml": GATEWAY})
    workspace = open_workspace([str(tmp_path)])
    (finding,) = (each for each in workspace.findings() if "too much work" in each.message)
    assert finding.message.startswith("chart charts/shop ")
    assert [len(simulation.topology.routes) for simulation in workspace.simulations] == [1]
