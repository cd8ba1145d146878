"""`lint --hook`: what a commit or a push takes away is missing, and no longer merely unseen.

A reference to an object that no file has is uncertain while there are charts that were not rendered: one of them may
make it. But an object that was deployed from a file before the change is made by no chart, and if the change touches
nothing that makes objects out of sight, it is made by none afterwards. So whoever deletes a Gateway is told of the
routes that hang on it, whatever else the repository holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from policylint.cli.hook import git, is_relevant, pushed_range

if TYPE_CHECKING:
    from policylint.model import Finding, ResourceKey
    from policylint.workspace import Workspace

RULES = frozenset({"GWP101", "GWP401", "GWP406"})
"""Rules about one object that a reference names: the last of a finding's resources."""
MOST_FILES = 200
"""A change of more files than that is not looked through."""
_MAKERS = re.compile(
    rb"(?m)^[ ]*kind:[ ]*[\"']?(?:Helm\w+|OCIRepository|GitRepository|Bucket|Application|ApplicationSet|ResourceSet\w*|"
    rb"FluxInstance|Kustomization|Component|ConfigMap|Secret|\w*ExternalSecret)\b"
)
"""Kinds out of which objects come that no file shows, and those that charts take values from."""
_REMOTE = re.compile(rb"helmCharts|helmChartInflation|generators|://|github\.com|\?ref=")
_KIND = re.compile(rb"(?m)^kind:")


def told(findings: list[Finding], workspace: Workspace, before: Callable[[str], Workspace | None]) -> list[Finding]:
    """The findings, those that were uncertain and are about what the change removes as errors.

    Args:
        workspace: what the findings are about.
        before: opens the state of a revision; None where there is none.
    """
    uncertain = [each for each in findings if each.confidence == "unknown" and each.rule in RULES and each.resources]
    if not uncertain or not _removes(uncertain) or _may_make():
        return findings
    pushed = pushed_range(os.environ)
    former = before(pushed[0] if pushed else "HEAD")
    if former is None:
        return findings
    now = {each.world.name: each.world.resources for each in workspace.simulations}
    gone = {
        (each.world.name, key)
        for each in former.simulations
        for key in each.world.resources
        if key not in now.get(each.world.name, {})
    }
    what = "push" if pushed else "commit"
    return [_missing(each, what) if each in uncertain and _is_gone(each, gone) else each for each in findings]


def _is_gone(finding: Finding, gone: set[tuple[str, ResourceKey]]) -> bool:
    return all((name, finding.resources[-1]) in gone for name in finding.environments)


def _missing(finding: Finding, what: str) -> Finding:
    key = finding.resources[-1]
    said = finding.message.removesuffix(", which was not seen")
    return finding._replace(
        severity="error",
        confidence="assumed",
        message=f"{said}, which this {what} removes"
        if said != finding.message
        else f"{said}: this {what} removes {key}",
        label=f"{key} was deployed before",
        help=(*finding.help, f"fix: keep {key}, or take this reference away as well"),
    )


def _compared() -> list[str]:
    pushed = pushed_range(os.environ)
    return [*pushed, "--"] if pushed else ["--cached", "--"]


def _removes(findings: Sequence[Finding]) -> bool:
    """Whether lines are removed that may have made one of the objects, or kustomizations change."""
    diff = git("diff", "-U0", "--no-renames", "--no-ext-diff", "--no-color", *_compared()) or b""
    removed = b"\n".join(line for line in diff.split(b"\n") if line.startswith(b"-"))
    names = {finding.resources[-1].name.encode() for finding in findings}
    return any(name in removed for name in names) or any(_is_kustomization(path) for path in _changed())


def _changed(*more: str) -> list[str]:
    names = git("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", *more, *_compared()) or b""
    return [os.fsdecode(name) for name in names.split(b"\0") if name]


def _is_kustomization(path: str) -> bool:
    return path.rpartition("/")[2].lower() in ("kustomization.yaml", "kustomization.yml", "kustomization")


def _may_make() -> bool:
    """Whether the change adds or alters anything out of which objects may come that no file shows."""
    paths = [path for path in _changed("--diff-filter=d") if is_relevant(path)]
    return len(paths) > MOST_FILES or any(map(_makes, paths))


def _makes(path: str) -> bool:
    pushed = pushed_range(os.environ)
    data = git("show", f"{pushed[1] if pushed else ''}:{path}") or b""
    if _is_kustomization(path):
        return bool(_REMOTE.search(data))
    return not _KIND.search(data) or bool(_MAKERS.search(data))
