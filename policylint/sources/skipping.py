"""Files that are no Kubernetes manifests by their path, and what they are instead.

A name alone proves little: kubectl, Flux and Argo CD deploy a `codecov.yaml` like any other file. So where the name
says what a file is, its content may say otherwise (`Skip.unless_object`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from policylint.namedtuple import NamedTuple

HELM_TEMPLATE: Final = "Helm template"
HELM_CHART: Final = "Helm chart metadata"
HELM_VALUES: Final = "Helm values"
TEMPLATE: Final = "template"
CI: Final = "CI configuration"
TOOL: Final = "tool configuration"
COMPOSE: Final = "Docker Compose"
PACKAGES: Final = "package metadata"
SCHEMA: Final = "JSON Schema"

JSONNET: Final = "jsonnet"
CUE: Final = "CUE"
TERRAFORM: Final = "Terraform"
_LANGUAGES: Final = {"jsonnet": JSONNET, "libsonnet": JSONNET, "cue": CUE, "tf": TERRAFORM}
_TEMPLATE_SUFFIXES: Final = frozenset(
    {"tftpl", "tmpl", "template", "tpl", "j2", "jinja", "jinja2", "gotmpl", "erb", "ftl", "mako"}
)
# Names without their extension. Those in the first set count with and without a leading dot, those in the second only
# with it: `trivy.yaml` may well be a manifest, `.trivy.yaml` is not.
_NAMES: Final = {
    **dict.fromkeys(("azure-pipelines", "bitbucket-pipelines", "cloudbuild", "appveyor", "codecov"), CI),
    **dict.fromkeys(
        ("mkdocs", "renovate", "goreleaser", "taskfile", "taskfile.dist", "policylint", "mise", "markdownlint"), TOOL
    ),
    **dict.fromkeys(("markdownlint-cli2", "prettierrc", "eslintrc", "dependabot", "_config", "lefthook"), TOOL),
    **dict.fromkeys(("readthedocs", "buf", "buf.gen", "buf.work", "lychee", "kube-linter"), TOOL),
    **dict.fromkeys(("package", "package-lock", "pnpm-lock", "pnpm-workspace", "composer", "flake"), PACKAGES),
    **dict.fromkeys(("deno", "jsconfig", "pubspec", "galaxy"), PACKAGES),
}
_DOTTED: Final = {
    **dict.fromkeys((".gitlab-ci", ".travis", ".drone", ".woodpecker"), CI),
    **dict.fromkeys((".pre-commit-config", ".pre-commit-hooks", ".golangci", ".yamllint", ".sops"), TOOL),
    **dict.fromkeys((".krew", ".mergify", ".trivy"), TOOL),
}
_JSON_ONLY: Final = frozenset({"renovate", "package", "package-lock", "composer", "flake", "deno", "jsconfig"})
_CI_DIRECTORIES: Final = frozenset({".github", ".gitlab", ".circleci", ".forgejo", ".gitea", ".woodpecker", ".tekton"})
_TOOL_DIRECTORIES: Final = frozenset({".vscode", ".devcontainer", ".idea", ".taskfiles", ".renovate", "node_modules"})
# Tekton's directory holds Kubernetes objects.
_NO_MANIFESTS: Final = _CI_DIRECTORIES - {".tekton"}


class Skip(NamedTuple):
    """What a file is instead of a manifest.

    Args:
        reason: for the report: `CI configuration`.
        unless_object: whether it is read after all where it may hold a Kubernetes object.
    """

    reason: str
    unless_object: bool


def reasons_of_directory(
    directory: str, is_chart: Callable[[str], bool], named: str = ""
) -> tuple[Skip | None, Skip | None]:
    """Return what all files of a directory are by its path: whatever their names, and unless these say otherwise.

    Args:
        directory: posix, relative to the root or as shown.
        named: the part of it that the user named: what lies there is meant, whatever the directories are called.
    """
    directories = directory.split("/") if directory else []
    by_directory = None
    for depth, step in enumerate(directories):
        reason = CI if step in _NO_MANIFESTS else TOOL if step in _TOOL_DIRECTORIES else None
        if reason is not None:
            # Flux and Argo CD do not enter hidden directories; one that they are told to deploy is looked into again.
            is_named = depth < len(named.split("/")) if named else False
            by_directory = Skip(reason, is_named or not step.startswith("."))
            break
    for depth, step in enumerate(directories):
        if step in ("templates", "files", "ci", "tests") and is_chart("/".join(directories[:depth])):
            return by_directory, Skip(HELM_TEMPLATE if step == "templates" else HELM_VALUES, False)
    return by_directory, None


def reason_by_name(
    name: str, directory: str, reasons: tuple[Skip | None, Skip | None], is_chart: Callable[[str], bool]
) -> Skip | None:
    """Return what a file is if no Kubernetes manifest; None where it may be one.

    Args:
        directory: posix, relative to the root or as shown: those above it may make the file part of a chart.
        reasons: of the directory (`reasons_of_directory`).
        is_chart: whether a posix directory, the empty string for the top, holds a Chart.yaml.
    """
    by_name = _by_name(name)
    if by_name == TEMPLATE:
        return Skip(TEMPLATE, True)
    by_directory, of_chart = reasons
    if by_directory or by_name:
        return by_directory or Skip(by_name or "", True)
    # Charts: `templates/` is Go template, `files/` what it includes, the rest metadata and values; `crds/` is YAML
    # and stays.
    if name in ("Chart.yaml", "Chart.yml", "requirements.yaml", "artifacthub-repo.yml") and is_chart(directory):
        return Skip(HELM_CHART, False)
    if name.startswith("values") and is_chart(directory):
        return Skip(HELM_VALUES, False)
    return of_chart


def is_called_otherwise(path: str) -> bool:
    """Tell whether a file is something else than a manifest by its name, or by those of its directories."""
    *directories, name = path.split("/")
    return _by_name(name) is not None or not (_NO_MANIFESTS | _TOOL_DIRECTORIES).isdisjoint(directories)


@cache
def _by_name(name: str) -> str | None:
    """Return what a file is by its name alone."""
    stem, _, extension = name.lower().rpartition(".")
    if extension in _TEMPLATE_SUFFIXES or stem.rpartition(".")[2] in _TEMPLATE_SUFFIXES:
        return TEMPLATE
    if extension in _LANGUAGES:
        return _LANGUAGES[extension]
    plain = stem.removeprefix(".")
    if extension == "json":
        if stem.endswith(".schema"):
            return SCHEMA
        if stem.startswith("tsconfig"):
            return PACKAGES
    elif plain in _JSON_ONLY:
        return None
    if stem.endswith(".lock"):
        return PACKAGES
    if extension != "json" and stem.startswith(("compose", "docker-compose")):
        rest = stem.removeprefix("docker-").removeprefix("compose")
        if not rest or rest[0] in ".-":
            return COMPOSE
    return _DOTTED.get(stem) or _NAMES.get(plain)
