"""A grammar of trees for Argo CD: Applications with sources of every type, and the directories that these name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from tests.witness.grammar import Draw, Manifest, manifest
from tests.witness.kustomize_trees import NAMES, an_object, file, link

REPOSITORY = "https://example.com/fleet.git"
GLOBS = (
    "*.yaml", "*.yaml", "**/*.yaml", "*", "**", "{*.yml,*.yaml}", "object*", "*/object*.yaml", "sub/*", "sub/**",
    "{sub/*,*.json}", "[a-n]*", "[!o]*", "?bject0.yaml", "*.json", "object0.yaml", "sub", "/object0.yaml",
    "./object0.yaml", "*.{yaml,yml}", "{object,more}*.{yaml,json}", "**/sub/*", "{*", "[", "*}", "object{0,1}.*",
    "object[0-1].yaml", "{object0.yaml}", "sub/deep/*", "{sub,sub/deep}/*", "*deep*", "{sub/{deep/*,object*},more*}",
    "[^o]*", "object?.y*ml", "**.yaml", "*.y{a,}ml", ".*",
)  # fmt: skip
PATHS = ("apps/{}",) * 12 + ("./apps/{}", "apps/{}/", "apps/../apps/{}", "apps/{}/sub", "apps/{}//")
WRONG_PATHS = ("/apps/{}", "apps/none", "apps/{}/object0.yaml", "../apps/{}", "apps/{}/../../..")
HOOKS = (
    "PreSync", "Sync", "PostSync", "SyncFail", "Skip", "PreSync,PostSync", "Sync, Skip", "PostDelete", "PreDelete",
    "presync", "", "PreSync,Nothing", "SyncFail,PostDelete", "Skip,Skip",
)  # fmt: skip
HOOKS_OF_HELM = (
    "pre-install", "post-install,post-upgrade", "pre-delete", "post-delete", "test", "crd-install", "pre-rollback",
    "pre-upgrade, test", "",
)  # fmt: skip
DELETIONS = ("HookSucceeded", "HookFailed", "BeforeHookCreation", "HookSucceeded,HookFailed", "hook-succeeded", "")
DELETIONS_OF_HELM = ("hook-succeeded", "before-hook-creation", "hook-succeeded,hook-failed", "HookSucceeded")
BROKEN = (
    "a: [b\n", "apiVersion: v1\nkind: Service\nmetadata: {name: broken\n", "key: value\n", "", "# nothing\n",
    '{"a": 1}\n', "---\n---\n", "replicas: 2\nimage: {tag: x}\n", "- a\n- b\n", "text\n",
    "{{ if .Values.on }}\na: b\n{{ end }}\n",
    "apiVersion: v1\nmetadata: {name: kindless}\n", "kind: Service\nmetadata: {name: versionless}\n",
    "apiVersion: v1\nkind: Service\n", "a: b\na: c\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tab}\n\tx: y\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice}\nmetadata: {name: again}\n", "null\n", "...\n",
    "apiVersion: v1\nkind: ''\nmetadata: {name: blank}\n", "%YAML 1.1\n---\na: b\n",
)  # fmt: skip
"""Texts of files that hold no object, or not what they should."""
SKIPPED = "# +argocd:skip-file-rendering\n"
KUSTOMIZATIONS = ("kustomization.yaml",) * 4 + ("kustomization.yml", "Kustomization", "Kustomization.yaml")
CHARTS = ("Chart.yaml", "Chart.yaml", "MyChart.yaml", "chart.yaml", "Chart.yml")


def tree(seed: str, number: int) -> list[Manifest]:
    """Return the files of one tree, that of its Applications first."""
    draw = Draw("argo-sources", seed, number)
    names = draw.some(NAMES, 3)
    files: list[Manifest] = []
    for index, name in enumerate(names):
        files += _directory(draw, f"apps/{name}", 2 * index)
    if draw.often(0.15):
        part = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "namePrefix": "part-"}
        files.append(file("parts/prefix/kustomization.yaml", part))
    owners = [_application(draw, name) for name in names]
    for index, owner in enumerate(owners):
        if f"{owner['metadata']['name']}-two" in json.dumps(owner):
            files += _directory(draw, f"apps/{owner['metadata']['name']}-two", 2 * index + 1)
    if draw.often(0.15):
        children = [_application(draw, f"{name}-child") for name in draw.some(names, 2)]
        for index, child in enumerate(children):
            files.append(file(f"children/{child['metadata']['name']}.yaml", child))
            files += _directory(draw, f"apps/{child['metadata']['name']}", 7 + index)
        root = _application(draw, "root")
        root["spec"].pop("sources", None)
        root["spec"]["source"] = {"repoURL": REPOSITORY, "path": "children"}
        owners.append(root)
    return [file("argo/apps.yaml", *owners), *files]


def _application(draw: Draw, name: str) -> Manifest:
    made = manifest("argoproj.io/v1alpha1", "Application", name, "argocd")
    spec: dict[str, Any] = {"project": "default"}
    spec["destination"] = {
        "server": "https://kubernetes.default.svc",
        **draw.maybe(0.8, "namespace", draw.one("shop", "web")),
    }
    if draw.often(0.2):
        parts = draw.one((name,), (name, f"{name}-two"), (name, f"{name}-two"), (name, f"{name}-two"), (name, name))
        spec["sources"] = [_source(draw, part) for part in parts]
        for source in spec["sources"]:
            source |= draw.maybe(0.15, "ref", draw.one("values", "values", "a.b"))
            if "ref" in source and draw.often(0.5):
                for field in ("path", "directory", "kustomize", "helm"):
                    source.pop(field, None)
    if "sources" not in spec or draw.often(0.1):
        spec["source"] = _source(draw, name)
    made["spec"] = spec
    return made


def _source(draw: Draw, name: str) -> dict[str, Any]:
    path = draw.of(WRONG_PATHS if draw.often(0.03) else PATHS).format(name)
    source: dict[str, Any] = {"repoURL": REPOSITORY, "targetRevision": "HEAD", "path": path}
    if draw.often(0.45):
        source["directory"] = _of_directory(draw)
    if draw.often(0.2 if "directory" not in source else 0.03):
        source["kustomize"] = _of_kustomize(draw)
    if draw.often(0.03):
        source["helm"] = draw.one({}, {"releaseName": "web"}, {"valueFiles": ["$values/apps/values.yaml"]})
    if draw.often(0.02):
        source["plugin"] = draw.one({}, {"name": "mine"})
    return source


def _of_directory(draw: Draw) -> dict[str, Any]:
    return {
        **draw.maybe(0.6, "recurse", draw.one(True, True, False)),
        **draw.maybe(0.35, "include", draw.of(GLOBS)),
        **draw.maybe(0.35, "exclude", draw.of(GLOBS)),
        **draw.maybe(0.05, "jsonnet", draw.one({}, {"tlas": [{"name": "a", "value": "b"}]})),
    }


def _of_kustomize(draw: Draw) -> dict[str, Any]:
    pairs = {draw.one("team", "tier", "new"): draw.one("a", "b", "$ARGOCD_APP_NAME", "${ARGOCD_APP_PROJECT_NAME}-x")}
    operation = {"op": "add", "path": "/metadata/annotations", "value": {"patched": "yes"}}
    patches = [
        draw.one(
            {"target": {"kind": draw.one("Service", "Deployment", "HTTPRoute")}, "patch": json.dumps([operation])},
            {
                "target": {"kind": "Service"},
                "patch": json.dumps(manifest("v1", "Service", "any", spec={"type": "NodePort"})),
            },
        )
    ]
    images = ["nginx:9", "nginx=mirror/nginx:3", "busybox@sha256:ab", "nginx:$ARGOCD_APP_NAME", "web=other", "nginx"]
    return {
        **draw.maybe(0.25, "namePrefix", "pre-"),
        **draw.maybe(0.15, "nameSuffix", "-suf"),
        **draw.maybe(0.25, "namespace", "other"),
        **draw.maybe(0.3, "images", draw.some(images[: 5 if draw.often(0.8) else 6], 2)),
        **draw.maybe(0.15, "replicas", [{"name": draw.of(NAMES), "count": draw.one(3, "4")}]),
        **draw.maybe(0.3, "commonLabels", pairs),
        **draw.maybe(0.1, "forceCommonLabels", True),
        **draw.maybe(0.1, "labelWithoutSelector", True),
        **draw.maybe(0.1, "labelIncludeTemplates", True),
        **draw.maybe(0.2, "commonAnnotations", pairs),
        **draw.maybe(0.1, "forceCommonAnnotations", True),
        **draw.maybe(0.1, "commonAnnotationsEnvsubst", True),
        **draw.maybe(0.2, "patches", patches),
        **draw.maybe(0.1, "components", [draw.one("../../parts/prefix", "../../parts/none")]),
        **draw.maybe(0.05, "ignoreMissingComponents", True),
        **draw.maybe(0.02, "version", "v5.0.0"),
    }


def _directory(draw: Draw, path: str, index: int) -> list[Manifest]:
    files, named = [], []
    for number in range(draw.number(1, 4)):
        place = draw.one("", "", "", "", "sub/", "sub/deep/", ".hidden/")
        form = draw.one("yaml", "yaml", "yaml", "yml", "json")
        name = f"{place}{draw.one('object', 'object', 'more', '.dot')}{number}.{form}"
        named.append(name)
        files.append(file(f"{path}/{name}", text=_content(draw, form, f"{index}{number}")))
    files += _others(draw, path)
    if draw.often(0.3):
        files += _kustomization(draw, path, named)
    if draw.often(0.06):
        about = "apiVersion: v2\nname: chart\nversion: 1.0.0\n"
        files.append(file(f"{path}/{draw.one('', '', 'sub/')}{draw.of(CHARTS)}", text=about))
    if draw.often(0.12):
        own = path.rpartition("/")[2]
        name = draw.one(".argocd-source.yaml", f".argocd-source-{own}.yaml", ".argocd-source-other.yaml")
        files.append(file(f"{path}/{name}", text=_parameters(draw)))
    return files


def _others(draw: Draw, path: str) -> list[Manifest]:
    """Return files beside the objects: broken ones, other languages, and links."""
    files = []
    if draw.often(0.1):
        name = f"{draw.one('', '', 'sub/')}other.{draw.one('yaml', 'yaml', 'json', 'txt', 'YAML', 'tpl')}"
        files.append(file(f"{path}/{name}", text=draw.of(BROKEN)))
    if draw.often(0.04):
        body = json.dumps(manifest("v1", "ConfigMap", "of-jsonnet", data={"a": "b"}))
        files.append(file(f"{path}/{draw.one('main.jsonnet', 'lib.libsonnet')}", text=draw.one(body, f"[{body}]")))
    if draw.often(0.1):
        target = draw.one("../shop/object0.yaml", "object0.yaml", "../web/sub", "none.yaml", "sub", "../api/more1.yml")
        files.append(link(f"{path}/linked{draw.one('.yaml', '.yaml', '', '.json')}", target))
    if draw.often(0.002):
        files.append(link(f"{path}/out.yaml", draw.one("../../../out.yaml", "/etc/out.yaml")))
    if draw.often(0.03):
        files.append(file(f"{path}/.argocd-allow-concurrency", text=""))
    return files


def _kustomization(draw: Draw, path: str, named: Sequence[str]) -> list[Manifest]:
    inside = draw.one("", "", "", "sub/")
    those = [each.removeprefix(inside) for each in named if each.startswith(inside)]
    body: dict[str, Any] = {
        **draw.maybe(0.6, "apiVersion", "kustomize.config.k8s.io/v1beta1"),
        **draw.maybe(0.6, "kind", "Kustomization"),
        "resources": those if draw.often(0.8) else those[:1],
        **draw.maybe(0.2, "namespace", draw.one("base", "web")),
        **draw.maybe(0.2, "namePrefix", "b-"),
        **draw.maybe(0.2, "commonLabels", {"team": "base"}),
        **draw.maybe(0.15, "labels", [{"pairs": {"tier": "base"}, **draw.maybe(0.5, "includeSelectors", True)}]),
        **draw.maybe(0.15, "commonAnnotations", {"team": "base"}),
        **draw.maybe(0.2, "images", [{"name": "nginx", "newTag": "1"}]),
        **draw.maybe(0.1, "replicas", [{"name": draw.of(NAMES), "count": 5}]),
        **draw.maybe(0.1, "patches", [{"target": {"kind": "Service"}, "patch": '[{"op":"remove","path":"/spec"}]'}]),
    }
    files = [file(f"{path}/{inside}{draw.of(KUSTOMIZATIONS)}", body)]
    if draw.often(0.02):
        files.append(file(f"{path}/{inside}kustomization.yml", {"resources": those[:1]}))
    return files


def _content(draw: Draw, form: str, mark: str) -> str:
    """Return the text of a file of a form."""
    objects = [_marked(draw, an_object(draw)) for _ in range(draw.one(1, 1, 1, 2))]
    for number, each in enumerate(objects):
        if draw.often(0.9):
            each["metadata"]["name"] += f"-{mark}{number}"
    if draw.often(0.12):
        kind = draw.one("List", "List", "ServiceList", "ConfigMapList")
        items: Any = draw.one(objects, objects, objects, [], None)
        objects = [{"apiVersion": "v1", "kind": kind, "items": items, **draw.maybe(0.2, "metadata", {})}]
    if draw.often(0.02):
        objects[-1].pop(draw.one("kind", "apiVersion", "metadata"), None)
    is_json = form == "json" or draw.often(0.08)
    if is_json:
        texts = [json.dumps(each, indent=1) + "\n" for each in objects]
    else:
        texts = [yaml.safe_dump(each, sort_keys=False).replace(": y\n", ": 'y'\n") for each in objects]
    if form == "json":
        whole = f"[{','.join(texts)}]" if draw.often(0.03) else "".join(texts[:1] if draw.often(0.9) else texts)
    else:
        between = (
            "---\n"
            if is_json
            else draw.one("---\n", "---\n", "--- # next\n", "---\n---\n", "---\n# only a comment\n---\n", "...\n---\n")
        )
        whole = between.join(texts)
        whole = draw.one("", "", "", "---\n", "# about\n", "# about\n---\n", "\ufeff", "\n\n") + whole
        whole += draw.one("", "", "", "---\n", "...\n", "---\nnot: an object\n") if draw.often(0.3) else ""
    if draw.often(0.05) and form != "json":
        whole = draw.one(SKIPPED + whole, whole + SKIPPED, whole + "#+argocd:skip-file-rendering\n")
    return whole


def _marked(draw: Draw, made: Manifest) -> Manifest:
    """Add what Argo CD reads of annotations."""
    marks: dict[str, str] = {}
    if draw.often(0.12):
        marks |= {"argocd.argoproj.io/hook": draw.of(HOOKS)}
    if draw.often(0.06):
        marks |= {"helm.sh/hook": draw.of(HOOKS_OF_HELM)}
    if marks or draw.often(0.03):
        marks |= draw.maybe(0.35, "argocd.argoproj.io/hook-delete-policy", draw.of(DELETIONS))
        marks |= draw.maybe(0.2, "helm.sh/hook-delete-policy", draw.of(DELETIONS_OF_HELM))
    marks |= draw.maybe(0.05, "argocd.argoproj.io/sync-wave", draw.one("-1", "5", "x"))
    marks |= draw.maybe(0.04, "argocd.argoproj.io/sync-options", draw.one("Prune=false", "Replace=true,Validate=false"))
    marks |= draw.maybe(0.03, "argocd.argoproj.io/compare-options", "IgnoreExtraneous")
    marks |= draw.maybe(0.02, "kustomize.config.k8s.io/behavior", "merge")
    metadata = made["metadata"]
    if marks:
        metadata["annotations"] = {**metadata.get("annotations", {}), **marks}
    if draw.often(0.02):
        metadata["generateName"] = metadata.pop("name") + "-"
        metadata["name"] = ""
    return made


def _parameters(draw: Draw) -> str:
    """Return what a file of parameters in the directory says of its source."""
    body = draw.one(
        {"kustomize": _of_kustomize(draw)},
        {"kustomize": _of_kustomize(draw)},
        {"directory": _of_directory(draw)},
        {"directory": None},
        {"kustomize": None},
        {"directory": {"recurse": None}},
        {"path": "apps/none", "targetRevision": "v2"},
        {"helm": {"releaseName": "x"}},
        {"kustomize": {"namePrefix": None}},
        {"directory": {"recurse": "yes"}},
        {"unknown": {"a": "b"}},
    )
    return draw.one(*[json.dumps(body)] * 8, "a: [b\n", "", "# nothing\n", "- a\n", f"{json.dumps(body)}\n---\n{{}}\n")
