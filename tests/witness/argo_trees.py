"""A grammar of ApplicationSets: generators, templates in both languages, and the tree that git generators read."""

from __future__ import annotations

import json
from typing import Any

from tests.witness.grammar import Draw, Manifest, manifest
from tests.witness.kustomize_trees import file

REPOSITORY = "https://example.com/fleet.git"
CLUSTERS = ("dev", "prod", "qa")
TEAMS = ("Shop_Web", "shop", "web", "web.api")
IN_GO = (
    "{{.cluster}}", "{{.cluster}}", "{{ .cluster | upper }}", "{{.cluster}}-{{.team}}", "{{.team | lower}}",
    "{{.none}}", "{{.values.size}}", "{{ default \"small\" .values.size }}", "{{.path.path}}", "{{.path.basename}}",
    "{{.path.basenameNormalized}}", "{{index .path.segments 0}}", "{{ .path.segments | join \"-\" }}", "plain",
    "{{if eq .cluster \"prod\"}}live{{else}}test{{end}}", "{{ .team | replace \"_\" \"-\" | lower }}",
    "{{normalize .team}}",
    "{{ .port }}", "{{ trimPrefix \"s\" .team }}", "{{- .cluster -}}", "{{ if .none }}a{{ end }}b",
    "{{ .cluster | quote }}",
    "{{cluster}}", "{{ .team | trunc 3 }}", "{{ printf \"%s-x\" .cluster }}", "{{range .path.segments}}/{{.}}{{end}}",
    "{{ .team | title }}", "{{ .values.deep.er }}", "{{ $.cluster }}", "{{.path.filename}}", "{{ .on }}",
    "{{ not .on }}",
    "{{ hasPrefix \"p\" .cluster }}", "{{ .cluster", "{{ ternary \"a\" \"b\" (eq .cluster \"prod\") }}",
    "{{slugify .team}}",
    "{{path.basename}}", "{{with .team}}{{.}}{{end}}", "{{ .ratio }}", "{{ .path }}", "{{ .list }}",
    "{{ .list | toJson }}",
    "{{ coalesce .none .cluster }}", "{{ .team | nospace | substr 0 2 }}", "{{ .port | toString | quote }}",
)  # fmt: skip
FAILING = ("{{cluster}}", "{{path.basename}}", "{{ .cluster", "{{ .values.deep.er }}")
"""Those of them that are no template, or stop it."""
PLAIN = (
    "{{cluster}}", "{{cluster}}", "{{ cluster }}", "{{cluster}}-{{team}}", "{{none}}", "{{values.size}}", "{{path}}",
    "{{path.basename}}", "{{path.basenameNormalized}}", "{{path[0]}}", "{{path[1]}}", "{{path[7]}}",
    "plain", "{{.cluster}}",
    "{{ .path.basename }}", "{{.path.path}}", "{{team | lower}}", "{{cluster}}{{", "{{path.filename}}",
    "{{port}}", "{{on}}",
    "{{list.0}}", "{{path.segments}}", "{{}}", "{{ if cluster }}x{{ end }}", "{{ratio}}", "{{path.filenameNormalized}}",
)  # fmt: skip
DIRECTORIES = (
    "apps/*",
    "apps/*",
    "apps/*",
    "apps/*/*",
    "*",
    "apps/**",
    "**",
    "apps/shop",
    "apps/[sw]*",
    "apps/we?",
    "./apps/*",
)
FILES = (
    "apps/*/config.yaml", "apps/*/config.yaml", "apps/**/config.yaml", "**/config.json", "apps/shop/config.yaml",
    "*.json", "apps/*/*.yaml", "apps/shop", "apps/[sw]*/config.yaml", "apps/**", "config.yaml",
)  # fmt: skip
PLACES = ("apps/shop", "apps/Web_One", "apps/web", "apps/web/inner", "apps/.hidden", "other/shop", "apps/api.v2", "")


def tree(seed: str, number: int) -> list[Manifest]:
    """Return the files of one tree, the set's first."""
    draw = Draw("argo", seed, number)
    is_go = draw.often(0.6)
    generators = [_generator(draw, is_go) for _ in range(draw.one(1, 1, 1, 2))]
    spec: dict[str, Any] = {"goTemplate": True} if is_go else draw.maybe(0.2, "goTemplate", False)
    if is_go:
        spec |= draw.maybe(
            0.4, "goTemplateOptions", [draw.one("missingkey=error", "missingkey=error", "missingkey=zero")]
        )
    spec |= {"generators": generators, "template": _template(draw, is_go, _named(generators, is_go))}
    spec |= draw.maybe(0.2, "templatePatch", _patch(draw, is_go))
    files = [file("sets/apps.yaml", manifest("argoproj.io/v1alpha1", "ApplicationSet", "apps", "argocd", spec=spec))]
    for place in draw.some(PLACES, 6, 3):
        start = f"{place}/" if place else ""
        files.append(file(f"{start}service.yaml", manifest("v1", "Service", "web", "")))
        if draw.often(0.7):
            files.append(_config(draw, start))
    return files


def _config(draw: Draw, start: str) -> Manifest:
    body = _element(draw, is_simple=False)
    several = [_element(draw, is_simple=False), _element(draw, is_simple=False)]
    value: Any = draw.one(body, body, body, several, {"cluster": {"name": draw.of(CLUSTERS)}})
    return file(f"{start}config.{draw.one('yaml', 'yaml', 'json')}", text=json.dumps(value))


def _element(draw: Draw, *, is_simple: bool) -> dict[str, Any]:
    element: dict[str, Any] = {"cluster": draw.of(CLUSTERS), **draw.maybe(0.7, "team", draw.of(TEAMS))}
    element |= draw.maybe(0.3, "values", {"size": draw.one("big", "")})
    if not is_simple or draw.often(0.05):
        element |= {
            **draw.maybe(0.5, "port", draw.one("8080", 8080)),
            **draw.maybe(0.3, "on", draw.one(True, False)),
            **draw.maybe(0.2, "ratio", draw.one(0.5, 1000000, 12.0)),
            **draw.maybe(0.2, "list", ["a", "b"]),
        }
    return element


def _list(draw: Draw, is_go: bool) -> dict[str, Any]:
    elements = [_element(draw, is_simple=not is_go) | {"id": str(number)} for number in range(draw.number(1, 3))]
    if draw.often(0.1):
        return {"list": {"elements": [], "elementsYaml": json.dumps(elements)}}
    return {"list": {"elements": elements}}


def _git(draw: Draw, is_go: bool) -> dict[str, Any]:
    field, globs = draw.one(("directories", DIRECTORIES), ("directories", DIRECTORIES), ("files", FILES))
    entries = [{"path": glob} for glob in draw.some(globs, 2)]
    entries += [{"path": draw.of(globs), "exclude": True}] if draw.often(0.35) else []
    value = draw.one("{{.path.basename}}", "{{.cluster}}") if is_go else draw.one("{{path.basename}}", "{{cluster}}")
    return {
        "git": {
            "repoURL": REPOSITORY,
            "revision": "HEAD",
            field: entries,
            **draw.maybe(0.15, "pathParamPrefix", "my"),
            **draw.maybe(0.2, "values", {"size": draw.one("big", value)}),
        }
    }


def _generator(draw: Draw, is_go: bool) -> dict[str, Any]:
    kind = draw.one("list", "git", "git", "matrix", "merge")
    if kind == "matrix":
        second = draw.one(_list, _git)(draw, is_go)
        parts = [draw.one(_list, _git)(draw, is_go), second]
        if "git" in second and draw.often(0.4):
            second["git"]["directories"] = [{"path": "apps/{{.team}}" if is_go else "apps/{{team}}"}]
            second["git"].pop("files", None)
        made: dict[str, Any] = {"matrix": {"generators": parts}}
    elif kind == "merge":
        keys = [draw.one("id", "id", "cluster", "path" if not is_go else "id", "none")]
        made = {"merge": {"mergeKeys": keys, "generators": [_list(draw, is_go), _list(draw, is_go)]}}
    else:
        made = (_list if kind == "list" else _git)(draw, is_go)
    if draw.often(0.15):
        expression = {
            "key": draw.one("cluster", "team", "none"),
            "operator": draw.one("In", "NotIn"),
            "values": ["prod", "shop"],
        }
        made["selector"] = draw.one({"matchLabels": {"cluster": "prod"}}, {"matchExpressions": [expression]})
    if draw.often(0.1) and kind != "merge":
        made[kind]["template"] = {
            "metadata": {"labels": {"own": "yes"}},
            "spec": {"project": "own", "destination": {"namespace": "own"}},
        }
    return made


def _named(generators: list[dict[str, Any]], is_go: bool) -> str:
    """Return a name of which each set of parameters makes another one."""
    kinds = [kind for generator in generators for kind in generator if kind in ("list", "git", "matrix", "merge")]
    inner = [
        kind for generator in generators for part in generator.get("matrix", {}).get("generators", ()) for kind in part
    ]
    dot = "." if is_go else ""
    parts = []
    if {"list", "merge"} & {*kinds, *inner}:
        parts.append(f"{{{{{dot}id}}}}")
    if "git" in {*kinds, *inner}:
        parts.append(f"{{{{{dot}path.basenameNormalized}}}}")
    return "-".join(parts)


def _template(draw: Draw, is_go: bool, name: str) -> dict[str, Any]:
    texts = [
        each for each in (IN_GO if is_go else PLAIN) if "basename" in name or "path" not in each or draw.often(0.05)
    ]
    if is_go and draw.often(0.8):
        texts = [each for each in texts if each not in FAILING]
    path = draw.one("{{.path.path}}", "apps/{{.cluster}}") if is_go else draw.one("{{path}}", "apps/{{cluster}}")
    directory = {"recurse": True, "include": draw.of(texts)}
    return {
        "metadata": {"name": f"{name}-app", **draw.maybe(0.6, "labels", {"a": draw.of(texts), draw.of(texts): "b"})},
        "spec": {
            "project": "default",
            "source": {
                "repoURL": REPOSITORY,
                "targetRevision": "HEAD",
                "path": draw.one(path, draw.of(texts)),
                **draw.maybe(0.3, "directory", directory),
            },
            "destination": {"server": "https://kubernetes.default.svc", "namespace": draw.of(texts)},
        },
    }


def _patch(draw: Draw, is_go: bool) -> str:
    cluster = "{{.cluster}}" if is_go else "{{cluster}}"
    condition = '{{- if eq .cluster "prod" }}\n{}\n{{- end }}' if is_go else "{}"
    body = draw.one(
        {"spec": {"source": {"path": f"other/{cluster}"}}},
        {"metadata": {"labels": {"a": None, "patched": cluster}}},
        {"spec": {"project": "evil", "destination": {"namespace": cluster}}},
        {"spec": {"source": {"helm": {"valueFiles": [f"{cluster}.yaml"]}}}},
        {"metadata": {"name": "renamed", "namespace": "elsewhere"}},
        {"spec": {"syncPolicy": {"automated": {"prune": True}}}},
    )
    return draw.one("{}", condition).replace("{}", json.dumps(body))
