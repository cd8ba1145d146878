"""ApplicationSets beyond the plain generators: patches on the template, selectors, generators that feed each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.trees import KUSTOMIZATION, ROUTE, SERVICE, codes, deployed, place, workspace

APPS = {
    "apps/shop/route.yaml": ROUTE,
    "apps/other/service.yaml": SERVICE.replace("name: shop", "name: other"),
    "apps/shop/config.yaml": "cluster: here\nnamespace: front\n",
    "apps/other/config.yaml": "cluster: edge\n",
}
HEAD = (
    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set, namespace: argocd}\n"
    "spec:\n  goTemplate: true\n"
)
TEMPLATE = (
    "  template:\n    metadata: {name: '{{ .path.basename }}'}\n    spec:\n      source: {path: '{{ .path.path }}'}\n"
    "      destination: {server: 'https://kubernetes.default.svc', namespace: web}\n"
)
DIRECTORIES = "  generators: [{git: {directories: [{path: apps/*}]}}]\n"
FILES = "  generators: [{git: {files: [{path: apps/*/config.yaml}]}}]\n"


def application_set(generators: str, more: str = "", template: str = TEMPLATE) -> dict[str, str]:
    return {**APPS, "argo/set.yaml": HEAD + generators + template + more}


def patched(text: str) -> str:
    return "  templatePatch: |\n" + "".join(f"    {line}\n" for line in text.splitlines())


def test_a_patch_of_the_template_is_merged_where_its_conditions_hold(tmp_path: Path) -> None:
    patch = patched("""{{- if .namespace }}
spec:
  destination:
    namespace: {{ .namespace }}
{{- end }}
{{- if eq .cluster "edge" }}
spec:
  destination:
    server: https://edge.example.com
{{- end }}""")
    found = workspace(tmp_path, application_set(FILES, patch))
    assert deployed(found) == {"edge.example.com": ["Service web/other"], "in-cluster": ["HTTPRoute front/shop"]}
    route = next(each for each in found.simulations if each.world.name == "in-cluster").world.of_kind(
        "gateway.networking.k8s.io", "HTTPRoute"
    )[0]
    assert place(route.location("metadata", "namespace"), tmp_path) == "argo/set.yaml:12"


def test_lists_of_a_patch_replace_those_of_the_template(tmp_path: Path) -> None:
    template = TEMPLATE.replace("source: {path: '{{ .path.path }}'}", "sources: [{path: gone}, {path: gone}]")
    patch = patched("spec:\n  sources:\n  - path: {{ .path.path | quote }}")
    assert deployed(workspace(tmp_path, application_set(DIRECTORIES, patch, template))) == {
        "in-cluster": ["HTTPRoute web/shop", "Service web/other"]
    }


@pytest.mark.parametrize(
    "patch",
    [
        '{{ if lookup "v1" "Secret" "a" "b" }}\nspec: {destination: {namespace: x}}\n{{ end }}',
        "{{ if .path }}\nspec: {}",
        "spec: {destination: [",
    ],
)
def test_a_patch_that_is_not_certain_is_noted_and_leaves_things_unknown(tmp_path: Path, patch: str) -> None:
    found = workspace(tmp_path, application_set(DIRECTORIES, patched(patch)))
    assert deployed(found) == {"in-cluster": ["HTTPRoute web/shop", "Service web/other"]}
    assert codes(found) == ["template-patch"]
    assert {state for each in found.simulations for state in [each.topology.routes[0].parents[0].resolution.state]} == {
        "unknown"
    }


GENERATORS = {
    "a selector": (
        "  generators: [{git: {files: [{path: apps/*/config.yaml}]}, selector: {matchLabels: {cluster: here}}}]\n",
        ["HTTPRoute web/shop"],
    ),
    "a selector by expressions": (
        (
            "  generators: [{git: {files: [{path: apps/*/config.yaml}]}, selector: {matchExpressions:"
            " [{key: cluster, operator: NotIn, values: [here]}, {key: namespace, operator: DoesNotExist}]}}]\n"
        ),
        ["Service web/other"],
    ),
    "files but one": (
        "  generators: [{git: {files: [{path: apps/*/config.yaml}, {path: apps/other/*, exclude: true}]}}]\n",
        ["HTTPRoute web/shop"],
    ),
    "a list as a text": (
        "  generators: [{list: {elementsYaml: '[{path: {path: apps/shop, basename: x}}]'}}]\n",
        ["HTTPRoute web/shop"],
    ),
    "a matrix whose second part uses the first": (
        (
            "  generators: [{matrix: {generators: [{list: {elements: [{app: shop}]}},"
            " {git: {directories: [{path: 'apps/{{ .app }}'}]}}]}}]\n"
        ),
        ["HTTPRoute web/shop"],
    ),
    "a merge over files": (
        (
            "  generators: [{merge: {mergeKeys: [cluster], generators: [{git: {files: [{path: apps/*/config.yaml}]}},"
            " {list: {elements: [{cluster: edge, path: {path: apps/shop, basename: again}}]}}]}}]\n"
        ),
        ["HTTPRoute web/shop"],
    ),
    "a matrix inside a merge": (
        (
            "  generators: [{merge: {mergeKeys: [app], generators: [{matrix: {generators: ["
            "{list: {elements: [{app: one}]}}, {git: {directories: [{path: apps/shop}]}}]}},"
            " {list: {elements: [{app: one, more: x}]}}]}}]\n"
        ),
        ["HTTPRoute web/shop"],
    ),
}


@pytest.mark.parametrize(("generators", "expected"), GENERATORS.values(), ids=GENERATORS)
def test_generators(tmp_path: Path, generators: str, expected: list[str]) -> None:
    assert deployed(workspace(tmp_path, application_set(generators))) == {"in-cluster": expected}


def test_values_and_a_prefix_of_a_git_generator(tmp_path: Path) -> None:
    generators = (
        "  generators: [{git: {pathParamPrefix: own, directories: [{path: apps/*}],"
        " values: {place: 'ns-{{ .own.path.basename }}'}}}]\n"
    )
    template = TEMPLATE.replace(".path.", ".own.path.").replace("namespace: web", "namespace: '{{ .values.place }}'")
    assert deployed(workspace(tmp_path, application_set(generators, "", template))) == {
        "in-cluster": ["HTTPRoute ns-shop/shop", "Service ns-other/other"]
    }


def test_directories_with_kustomizations_of_a_matrix_of_clusters(tmp_path: Path) -> None:
    """What the cluster is asked for stays unknown; what is deployed to each cluster is one environment."""
    generators = (
        "  generators: [{matrix: {generators: [{clusters: {selector: {matchLabels: {env: prod}}}},"
        " {git: {directories: [{path: apps/*}]}}]}}]\n"
    )
    template = TEMPLATE.replace("'https://kubernetes.default.svc'", "'{{ .server }}'")
    files = application_set(generators, "", template)
    files["apps/shop/kustomization.yaml"] = KUSTOMIZATION + "resources: [route.yaml]\n"
    assert deployed(workspace(tmp_path, files)) == {"each-cluster": ["HTTPRoute web/shop", "Service web/other"]}
