"""Sources of Argo CD: of which type, with which options, of which files, and what keeps all of it from being applied.

Each case is what Argo CD's repo server does (tests/witness/argo_sources.py asks it about thousands more).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import policylint
from policylint.model import Finding
from tests.render.test_argo import application
from tests.render.trees import ROUTE, SERVICE, deployed, workspace

ROUTE_ALONE = {"in-cluster": ["HTTPRoute web/shop"]}
BOTH = {"in-cluster": ["HTTPRoute web/shop", "Service web/shop"]}
KUSTOMIZATION = "resources: [route.yaml]\n"


def tree(source: str, **files: str) -> dict[str, str]:
    """An Application of `apps/app/` with a source, and its route."""
    return {"argo/app.yaml": application("app", source), "apps/app/route.yaml": ROUTE, **files}


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ("*.yaml", "", True),
        ("sub/*", "", True),
        ("**/*.yaml", "", True),
        ("*", "", True),
        ("service.yaml", "", False),
        ("{sub,other}/*", "", True),
        ("{sub/{a,service}.*,x}", "", True),
        ("sub/[!s]*", "", False),
        ("sub/[^s]*", "", True),  # a `^` is a letter like others
        ("sub/{service.yaml", "", True),  # an open brace closes at the end
        ("[", "", False),
        ("/sub/*", "", False),
        ("", "sub/*", False),
        ("", "*.yml", True),
        ("sub/*", "sub/s*", False),
    ],
)
def test_globs_of_a_directory(tmp_path: Path, include: str, exclude: str, expected: bool) -> None:
    options = json.dumps({"recurse": True, **({"include": include} if include else {}), "exclude": exclude})
    files = {
        "argo/app.yaml": application("app", f"{{path: apps/app, directory: {options}}}"),
        "apps/app/sub/service.yaml": SERVICE,
    }
    assert deployed(workspace(tmp_path, files)) == {"in-cluster": ["Service web/shop"] if expected else []}


@pytest.mark.parametrize(
    ("source", "more", "expected"),
    [
        ("{path: apps/app}", {"apps/app/kustomization.yml": KUSTOMIZATION}, ROUTE_ALONE),
        ("{path: apps/app, directory: {}}", {"apps/app/kustomization.yml": KUSTOMIZATION}, BOTH),
        ("{path: apps/app, directory: {recurse: false}}", {"apps/app/kustomization.yml": KUSTOMIZATION}, BOTH),
        ("{path: apps/app}", {"apps/app/Kustomization.yaml": KUSTOMIZATION}, BOTH),  # no name of a kustomization
        ("{path: apps/app, kustomize: {namePrefix: a-}}", {"apps/app/kustomization.yaml": KUSTOMIZATION},
         {"in-cluster": ["HTTPRoute web/a-shop"]}),
        ("{path: ./apps/app/}", {}, BOTH),
        ("{path: other/../apps/app}", {}, BOTH),
    ],
)  # fmt: skip
def test_the_type_of_a_source(
    tmp_path: Path, source: str, more: dict[str, str], expected: dict[str, list[str]]
) -> None:
    assert deployed(workspace(tmp_path, tree(source, **{"apps/app/service.yaml": SERVICE}, **more))) == expected


REFUSED = {
    "a document without kind behind an object": ("{path: apps/app}", {"apps/app/route.yaml": f"{ROUTE}---\nname: x\n"}),
    "an object without kind": (
        "{path: apps/app}",
        {"apps/app/x.yaml": "apiVersion: v1\nmetadata: {name: x}\n# kind: A\n"},
    ),
    "JSON that is no object": ("{path: apps/app}", {"apps/app/dashboard.json": '{"panels": []}'}),
    "several objects in JSON": ("{path: apps/app}", {"apps/app/x.json": '{"kind": "A"}{"kind": "B"}'}),
    "a template": (
        "{path: apps/app, directory: {recurse: true}}",
        {"apps/app/t/x.yaml": "{{ if .x }}\napiVersion: v1\nkind: A\nmetadata: {}\n{{ end }}\n"},
    ),
    "two types": ("{path: apps/app, directory: {}, kustomize: {}}", {}),
    "an absolute path": ("{path: /apps/app}", {}),
    "a path out of the repository": ("{path: ../apps/app}", {}),
    "parameters that are no mapping": ("{path: apps/app}", {"apps/app/.argocd-source.yaml": "- a\n"}),
    "parameters without anything": ("{path: apps/app}", {"apps/app/.argocd-source-app.yaml": "# nothing\n"}),
    "parameters of another shape": (
        "{path: apps/app}",
        {"apps/app/.argocd-source.yaml": "directory: {recurse: 'yes'}\n"},
    ),
    "an image without a change": (
        "{path: apps/app, kustomize: {images: [nginx]}}",
        {"apps/app/kustomization.yaml": KUSTOMIZATION},
    ),
    "a label that is there": (
        "{path: apps/app, kustomize: {commonLabels: {a: b}}}",
        {"apps/app/kustomization.yaml": f"{KUSTOMIZATION}commonLabels: {{a: c}}\n"},
    ),
    "an object without a name in a kustomization": (
        "{path: apps/app}",
        {
            "apps/app/kustomization.yaml": "resources: [route.yaml, x.yaml]\n",
            "apps/app/x.yaml": "apiVersion: v1\nkind: Service\n",
        },
    ),
}


def refusals(directory: Path, files: dict[str, str]) -> list[Finding]:
    workspace(directory, files)
    return [each for each in policylint.lint(directory).findings if each.rule == "GWP914"]


@pytest.mark.parametrize(("source", "more"), REFUSED.values(), ids=REFUSED)
def test_what_keeps_argo_cd_from_applying_anything(tmp_path: Path, source: str, more: dict[str, str]) -> None:
    other = {"argo/other.yaml": application("other", "{path: other}"), "other/service.yaml": SERVICE}
    (found,) = refusals(tmp_path, {**tree(source), **other, **more})
    assert found.message.startswith("Argo CD cannot apply")


TAKEN = {
    "values beside it": ("{path: apps/app}", {"apps/app/values.yaml": "image: {tag: x}\nkind:\n  a: b\n"}),
    "what is no YAML and no manifest": ("{path: apps/app}", {"apps/app/notes.yml": "a: [b\n"}),
    "a file that is skipped": ("{path: apps/app}", {"apps/app/x.json": "[] // +argocd:skip-file-rendering"}),
    "a file that is excluded": ("{path: apps/app, directory: {exclude: '*.json'}}", {"apps/app/x.json": "[]"}),
    "documents of comments": ("{path: apps/app}", {"apps/app/x.yaml": f"# a\n---\n# b\n---\n{SERVICE}---\n"}),
    "a forced label": (
        "{path: apps/app, kustomize: {commonLabels: {a: b}, forceCommonLabels: true}}",
        {"apps/app/kustomization.yaml": f"{KUSTOMIZATION}commonLabels: {{a: c}}\n"},
    ),
    "another revision": ("{path: apps/app, targetRevision: v1.0.0}", {"apps/app/dashboard.json": "{}"}),
    "another Application's parameters": ("{path: apps/app}", {"apps/app/.argocd-source-b.yaml": "- a\n"}),
}


@pytest.mark.parametrize(("source", "more"), TAKEN.values(), ids=TAKEN)
def test_what_does_not_keep_it_from_that(tmp_path: Path, source: str, more: dict[str, str]) -> None:
    assert refusals(tmp_path, tree(source, **more)) == []


def test_one_source_that_is_refused_takes_the_others_with_it(tmp_path: Path) -> None:
    sources = "spec:\n  sources: [{path: apps/app}, {path: more}]\n  destination: {name: in-cluster, namespace: web}\n"
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app, namespace: argocd}\n"
    files = {"argo/app.yaml": head + sources, "apps/app/route.yaml": ROUTE, "more/x.json": "[]"}
    found = workspace(tmp_path, files)
    assert [
        each.provisional for each in found.simulations[0].world.resources.values() if each.key.kind != "Application"
    ]


def test_sources_take_the_place_of_a_source(tmp_path: Path) -> None:
    spec = (
        "spec:\n  source: {path: apps/app}\n  sources: [{path: more}, {ref: values}]\n  destination: {namespace: web}\n"
    )
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: app, namespace: argocd}\n"
    files = {"argo/app.yaml": head + spec, "apps/app/route.yaml": ROUTE, "more/service.yaml": SERVICE}
    assert deployed(workspace(tmp_path, files)) == {"in-cluster": ["Service web/shop"]}


def test_kustomize_options_as_kustomize_edits_them(tmp_path: Path) -> None:
    options = (
        "{images: ['nginx=mirror/nginx:2', 'redis:$ARGOCD_APP_NAME'], replicas: [{name: shop, count: '3'}],"
        " commonAnnotations: {by: $ARGOCD_APP_NAME}, commonLabels: {by: $ARGOCD_APP_NAME}, labelWithoutSelector: true}"
    )
    pod = "spec: {template: {spec: {containers: [{name: a, image: nginx}, {name: b, image: redis}]}}}"
    files = {
        "argo/app.yaml": application("app", f"{{path: apps/app, kustomize: {options}}}"),
        "apps/app/kustomization.yaml": "resources: [d.yaml]\nimages: [{name: nginx, newTag: '1'}]\n",
        "apps/app/d.yaml": f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: shop}}\n{pod}\n",
    }
    (made,) = workspace(tmp_path, files).simulations[0].world.of_kind("apps", "Deployment")
    assert [each["image"] for each in made.body["spec"]["template"]["spec"]["containers"]] == [
        "mirror/nginx:2",
        "redis:app",
    ]
    assert made.body["spec"]["replicas"] == 3
    assert made.body["metadata"]["labels"] == {"by": "app"}
    assert made.body["metadata"]["annotations"] == {"by": "$ARGOCD_APP_NAME"}


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ("argocd.argoproj.io/hook: 'Sync, Skip'", True),
        ("argocd.argoproj.io/hook: Nothing", False),
        ("helm.sh/hook: post-install, helm.sh/hook-delete-policy: HookSucceeded", True),  # no name of Helm's
        ("argocd.argoproj.io/hook: PostSync, helm.sh/hook-delete-policy: hook-succeeded", False),
        ("argocd.argoproj.io/hook-delete-policy: HookSucceeded", True),  # no hook
        ("helm.sh/hook: ''", False),
        ("helm.sh/hook: crd-install", True),
        ("helm.sh/hook: 'pre-install,test'", True),
        ("helm.sh/hook: test", False),
    ],
)
def test_hooks_that_stay(tmp_path: Path, annotations: str, expected: bool) -> None:
    route = ROUTE.replace("metadata: {", f"metadata: {{annotations: {{{annotations}}}, ")
    if route == ROUTE:
        route = ROUTE.replace("  name: shop", f"  name: shop\n  annotations: {{{annotations}}}")
    files = tree("{path: apps/app}", **{"apps/app/route.yaml": route, "apps/app/service.yaml": SERVICE})
    assert deployed(workspace(tmp_path, files)) == (BOTH if expected else {"in-cluster": ["Service web/shop"]})


def test_jsonnet_may_make_anything(tmp_path: Path) -> None:
    found = workspace(tmp_path, tree("{path: apps/app}", **{"apps/app/main.jsonnet": "{}"}))
    assert {each.parents[0].resolution.state for each in found.simulations[0].topology.routes} == {"unknown"}


def test_files_that_no_application_deploys_are_judged_as_they_are_where_another_one_is_refused(tmp_path: Path) -> None:
    files = {
        "argo/app.yaml": application("app", "{path: apps/app}"),
        "apps/app/x.json": "[]",
        "infra/route.yaml": ROUTE,
    }
    workspace(tmp_path, files)
    assert policylint.lint(tmp_path).coverage.checked == 1


@pytest.mark.parametrize("options", ["kustomize: {namePrefix: a-}", "helm: {}"])
def test_a_directory_of_another_type_is_refused_where_it_is_certainly_the_one(tmp_path: Path, options: str) -> None:
    here = "repoURL: https://git.example.com/fleet"
    child = application("app", f"{{{here}, path: apps/app, {options}}}")
    files = {"argo/app.yaml": child, "apps/app/route.yaml": ROUTE, "apps/more/service.yaml": SERVICE}
    more = application("more", f"{{{here}, path: apps/more}}")
    assert refusals(tmp_path / "other", {**files, "argo/more.yaml": more}) == []
    root = application("root", f"{{{here}, path: argo}}", "{name: in-cluster, namespace: argocd}")
    (found,) = refusals(tmp_path / "own", {**files, "argo/more.yaml": more, "root.yaml": root})
    assert found.message.startswith("Argo CD cannot apply apps/app")


def test_a_short_path_may_be_one_of_another_repository(tmp_path: Path) -> None:
    files = {"argo/app.yaml": application("app", "{repoURL: 'https://git.example.com/app', path: .}"), "a.json": "{}"}
    other = {"argo/b.yaml": application("b", "{path: apps/b}"), "apps/b/service.yaml": SERVICE}
    assert refusals(tmp_path, {**files, **other}) == []


@pytest.mark.parametrize(
    ("plugin", "files", "made"),
    [
        ("kustomize-build-with-helm", {}, ["HTTPRoute web/shop"]),
        ("argocd-vault-plugin-kustomize-v1.0", {}, ["HTTPRoute web/shop"]),
        ("cdk8s", {}, []),
        ("kustomized-helm", {"apps/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n"}, []),
    ],
)
def test_a_plugin_that_runs_kustomize_makes_what_kustomize_does(
    tmp_path: Path, plugin: str, files: dict[str, str], made: list[str]
) -> None:
    """What it puts into the output beyond that is not known: nothing is missing there."""
    source = f"{{path: apps/shop, plugin: {{name: {plugin}}}}}"
    shop = {"apps/shop/kustomization.yaml": "resources: [route.yaml]\n", "apps/shop/route.yaml": ROUTE}
    opened = workspace(tmp_path, {**shop, **files, "argo/shop.yaml": application("shop", source)})
    assert deployed(opened) == {"in-cluster": made}
    assert [finding.rule for finding in opened.findings() if finding.severity != "note"] == []


@pytest.mark.parametrize("address", ["cnoe://web", "cnoe://./web", "cnoe://../{stack}/web", "cnoe://web/"])
def test_a_directory_beside_an_application_is_that_of_its_own_stack(tmp_path: Path, address: str) -> None:
    """idpbuilder pushes it to a repository of its own."""
    files = {}
    for stack in ("one", "two"):
        source = f"{{repoURL: '{address.format(stack=stack)}', path: manifests}}"
        files[f"{stack}/web.yaml"] = application(f"web-{stack}", source)
        files[f"{stack}/web/manifests/route.yaml"] = ROUTE.replace("name: shop", f"name: {stack}")
    assert deployed(workspace(tmp_path, files)) == {"in-cluster": ["HTTPRoute web/one", "HTTPRoute web/two"]}


@pytest.mark.parametrize("address", ["cnoe://gone", "cnoe://../..", "https://example.com/web"])
def test_a_directory_that_is_not_beside_it_is_not_seen(tmp_path: Path, address: str) -> None:
    files = {
        "one/web.yaml": application("web", f"{{repoURL: '{address}', path: manifests}}"),
        "one/web/manifests/route.yaml": ROUTE,
    }
    assert "HTTPRoute web/shop" not in {key for keys in deployed(workspace(tmp_path, files)).values() for key in keys}
