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
IN_ITSELF = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: b, namespace: argocd}\n"
    "spec: {source: {path: apps/other}, destination: {name: in-cluster, namespace: web}}\n"
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
        '{{ if genCA "a" 1 }}\nspec: {destination: {namespace: x}}\n{{ end }}',
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


@pytest.mark.parametrize(
    "patch",
    [
        '{{ if lookup "v1" "Secret" "a" "b" }}\nspec: {destination: {namespace: x}}\n{{ end }}',
        "{{ if .path }}\nspec: {}",
    ],
)
def test_a_patch_that_argo_cd_refuses_makes_no_application(tmp_path: Path, patch: str) -> None:
    other = {"argo/b.yaml": IN_ITSELF}
    found = workspace(tmp_path, {**application_set(DIRECTORIES, patched(patch)), **other})
    assert deployed(found) == {"in-cluster": ["Service web/other"]}
    assert codes(found) == ["not-generated"]


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


IN_ARGO = "    spec: {source: {path: '%s'}, destination: {name: in-cluster, namespace: %s}}\n"
ONE = "Service web/other"
BOTH = ["HTTPRoute web/shop", ONE]


def plain_set(generators: str, path: str, *, is_go: bool) -> dict[str, str]:
    head = HEAD if is_go else HEAD.replace("  goTemplate: true\n", "")
    template = f"  template:\n    metadata: {{name: '{path}'}}\n" + IN_ARGO % (path, "web")
    return {**APPS, "argo/set.yaml": head + f"  generators: [{generators}]\n" + template}


def _list(*elements: str) -> str:
    return f"{{list: {{elements: [{', '.join(elements)}]}}}}"


def _of(kind: str, *parts: str, keys: str = "") -> str:
    return f"{{{kind}: {{{keys}generators: [{', '.join(parts)}]}}}}"


@pytest.mark.parametrize(
    ("generators", "path", "is_go", "expected"),
    [
        # Each language leaves what is written in the other one.
        (_list("{a: other}"), "apps/{{.a}}", False, None),
        (_list("{a: other}"), "apps/{{a}}", False, [ONE]),
        (_list("{a: {b: other}}"), "apps/{{.a.b}}", True, [ONE]),
        # `path.Match` goes step by step, and knows classes; git's patterns of files let `*` stand for slashes.
        ("{git: {directories: [{path: '**'}]}}", "{{path}}", False, []),
        ("{git: {directories: [{path: '*/[o]*'}]}}", "{{path}}", False, [ONE]),
        ("{git: {directories: [{path: 'apps/*'}, {path: '**', exclude: true}]}}", "{{path}}", False, BOTH),
        ("{git: {files: [{path: '*/config.yaml'}]}}", "{{path}}", False, BOTH),
        ("{git: {files: [{path: apps}, {path: apps/shop, exclude: true}]}}", "{{path}}", False, [ONE]),
        # The first generator of a matrix has the last word, where its texts are Go templates; else both must agree.
        (_of("matrix", _list("{a: other}"), _list("{a: shop}")), "apps/{{.a}}", True, [ONE]),
        (_of("matrix", _list("{a: other}"), _list("{a: shop}")), "apps/{{a}}", False, None),
        (_of("matrix", _list("{a: other}")), "apps/{{a}}", False, None),
        # A merge asks for keys that tell its parameters apart.
        (
            _of("merge", _list("{k: x, a: other}", "{k: x, a: shop}"), keys="mergeKeys: [k], "),
            "apps/{{a}}",
            False,
            None,
        ),
        (_of("merge", _list("{a: other}"), keys="mergeKeys: [], "), "apps/{{a}}", False, None),
        # Without Go templates parameters are texts; one that is none stops the whole set.
        (_list("{a: other, n: 1}"), "apps/{{a}}", False, None),
        (f"{_list('{a: other}')}, {_list('{a: shop, values: {n: 1}}')}", "apps/{{a}}", False, None),
        (_list("{a: other, n: 1}"), "apps/{{.a}}", True, [ONE]),
        # A generator may have a template of its own, whose fields stand over those of the set's.
        (
            "{list: {elements: [{a: other}], template: {spec: {destination: {namespace: own}}}}}",
            "apps/{{a}}",
            False,
            ["Service own/other"],
        ),
    ],
)
def test_generators_as_argo_cd_reads_them(
    tmp_path: Path, generators: str, path: str, is_go: bool, expected: list[str] | None
) -> None:
    found = workspace(tmp_path, plain_set(generators, path, is_go=is_go))
    assert deployed(found).get("in-cluster") == expected


def test_a_field_that_must_be_there_and_is_not_leaves_the_text_as_it_is_written(tmp_path: Path) -> None:
    """`missingkey=error` stops Argo CD even before `default`."""
    path = "apps/{{ default `other` .none }}"
    lenient = plain_set(_list("{a: x}"), path, is_go=True)
    strict = {
        name: text.replace("spec:\n", "spec:\n  goTemplateOptions: [missingkey=error]\n", 1)
        for name, text in lenient.items()
    }
    assert deployed(workspace(tmp_path / "lenient", lenient)) == {"in-cluster": [ONE]}
    assert "in-cluster" not in deployed(workspace(tmp_path / "strict", strict))
