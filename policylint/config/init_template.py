"""The text of a first configuration: commented, with what was seen of the repository filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policylint.model.words import leading
from policylint.namedtuple import NamedTuple

_MOST = 12
"""Environments that are written out."""


class RepositorySummary(NamedTuple):
    """The facts about a repository that its first configuration mentions.

    Args:
        directories: top-level directories that hold Gateway API objects or policies, or deploy others.
        environments: the environments that were found: names, and the directories at which each begins.
        classes: GatewayClasses that Gateways name and no manifest declares.
        missing: other objects (`Kind namespace/name`) that references name and nothing deploys.
        namespaces: namespaces of routes whose labels no manifest shows, where a listener selects by label.
        not_rendered: sentences on what was not seen.
        charts: charts of which nothing says what they make.
    """

    directories: Sequence[str] = ()
    environments: Mapping[str, Sequence[str]] = {}
    classes: Sequence[str] = ()
    missing: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    not_rendered: Sequence[str] = ()
    charts: Sequence[str] = ()


def configuration(summary: RepositorySummary, version: str, home: str = "") -> str:
    """Return the text of the file; as it stands it changes nothing.

    Args:
        home: the address of the project, whose schema editors are pointed to; "" where it is not known.
    """
    return "\n".join(
        [
            *([f"# yaml-language-server: $schema={home}/raw/main/schemas/config.json"] if home else []),
            f"# Configuration of policylint {version}. `policylint config show` prints what is in force; every key is",
            "# described in docs/configuration.md. What is commented out shows the default or an example.",
            "",
            *_paths(summary),
            "",
            "# Files to leave out, as in .gitignore (which is heeded anyway).",
            "# exclude: [tests/, '*.generated.yaml']",
            "",
            *_environments(summary),
            "",
            *_assume(summary),
            "",
            *_namespaces(summary),
            "",
            *_complete(summary),
            *_unseen(summary),
            "# Lowest severity for which the exit code is 1: error, warning, note, never.",
            "fail-on: error",
            "",
            "# Other severities, by id, name or family; `off` does not run the rule.",
            "# severity:",
            "#   GWP201: error",
            "#   policy-partially-overridden: off",
            "",
            "# Single findings that are fine. Comments in the manifests do the same, where one may edit them:",
            "#   name: checkout  # policylint: ignore[GWP201] JWT is checked by the app",
            "# ignore:",
            "#   - {rule: GWP201, resource: HTTPRoute/shop/*, reason: JWT is checked by the app, expires: 2027-01-31}",
            "",
            "# Rules that comments and annotations cannot suppress.",
            "# locked: [GWP3]",
            "",
        ]
    )


def _paths(summary: RepositorySummary) -> list[str]:
    """Return the lines about `paths`."""
    if not summary.directories:
        return [
            "# What to report on where no PATH is named; all of the repository is read. Default: everything.",
            "# paths: [clusters, apps]",
        ]
    return [
        "# What to report on where no PATH is named; all of the repository is read. Default: everything. Found here:",
        f"# paths: [{', '.join(map(_quoted, summary.directories))}]",
    ]


def _environments(summary: RepositorySummary) -> list[str]:
    """Return the lines about `environments`."""
    lines = ["# Clusters, each simulated by itself."]
    if len(summary.environments) > 1:
        lines[0] += f" Found without being told: {leading(summary.environments, 6)}."
    found = {name: roots for name, roots in summary.environments.items() if roots}
    if len(found) < 2:
        found = {"prod": ["clusters/prod"], "staging": ["clusters/staging"]}
    shown = [
        f"#   - {{name: {_quoted(name)}, roots: [{', '.join(map(_quoted, roots))}]}}"
        for name, roots in list(found.items())[:_MOST]
    ]
    return [*lines, "# environments:", *shown]


def _assume(summary: RepositorySummary) -> list[str]:
    """Return the lines about `assume`."""
    lines = ["# Objects that exist but are not in this repository; what refers to them is not missing."]
    entries = [
        f"#   - {{kind: GatewayClass, name: {gateway_class}, controllerName: …}}"
        for gateway_class in summary.classes[:5]
    ]
    entries += [f"#   - {missing}" for missing in summary.missing[:10]]
    if entries:
        lines.append("# These were referred to and not found: mistakes, or made by somebody else?")
    return [*lines, "# assume:", *(entries or ["#   - Gateway infra/edge", "#   - Service media/*"])]


def _namespaces(summary: RepositorySummary) -> list[str]:
    """Return the lines about `namespaces`."""
    lines = ["# Labels of namespaces that no manifest shows; listeners that select by label look at them."]
    entries = [f"#   {namespace}: {{team: …}}" for namespace in summary.namespaces[:10]]
    return [*lines, "# namespaces:", *(entries or ["#   shop: {team: checkout}"])]


def _complete(summary: RepositorySummary) -> list[str]:
    """Return the lines about `complete`."""
    if not summary.not_rendered:
        return []
    lines = [
        "# What is all in this repository: no chart, operator or other repository makes any, so that answers about",
        "# it are certain, and one that is not here is missing. `all`, `policies` (every kind of policies), or kinds.",
        "# complete:",
        "#   - policies",
    ]
    if summary.charts:
        lines.append(
            "#   # Charts that policylint does not know, and the kinds of Gateway API and of policies that each makes:"
        )
    return [*lines, *(f"#   - {{chart: {_quoted(chart)}, makes: []}}" for chart in summary.charts[:_MOST]), ""]


def _unseen(summary: RepositorySummary) -> list[str]:
    """Return the lines about what was not seen, and what can be done about it."""
    if not summary.not_rendered:
        return []
    return [
        "# Not seen: " + "; ".join(summary.not_rendered[:4]) + ".",
        "# A dump of the cluster (kubectl get -A -o yaml) shows what they make, and real creation times.",
        "# snapshot: cluster.yaml",
        "",
    ]


def _quoted(name: str) -> str:
    """Return a name as a YAML scalar."""
    import re

    return name if re.fullmatch(r"[A-Za-z][\w./-]*", name) else f"'{name}'"
