"""What a commit, a push (`lint --hook`) or a change (`diff`) takes away is missing (checks/removed.py)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from policylint.checks import removed
from policylint.cli.hook import git, is_relevant, pushed_range

if TYPE_CHECKING:
    from policylint.cli.diff_sides import Two
    from policylint.compare import Sides
    from policylint.model import Finding, ResourceKey
    from policylint.workspace import Workspace


def told(findings: list[Finding], workspace: Workspace, before: Callable[[str], Workspace | None]) -> list[Finding]:
    """The findings, those that were uncertain and are about what the change removes as errors.

    Args:
        workspace: what the findings are about.
        before: opens the state of a revision; None where there is none.
    """
    doubtful = removed.uncertain(findings)
    if not doubtful or not _removes(doubtful):
        return findings
    pushed = pushed_range(os.environ)
    former = before(pushed[0] if pushed else "HEAD")
    if former is None:
        return findings
    gone = removed.gone(former.simulations, workspace.simulations)
    return removed.told(findings, gone, "push" if pushed else "commit", _may_make)


def told_of_change(findings: list[Finding], sides: Sequence[Sides], two: Two) -> list[Finding]:
    """The findings of the later side, those that were uncertain and are about what the change removes as errors."""
    gone = {each.after.world.name: _gone(each) for each in sides}
    return removed.told(findings, gone, "change", lambda: _may_come_otherwise(two))


def _gone(sides: Sides) -> dict[ResourceKey, ResourceKey]:
    """What is there no more under its name, with the name that it has now."""
    return {key: key for key in sides.pairing.removed} | sides.pairing.renamed


def _may_come_otherwise(two: Two) -> bool:
    """Whether an object that is gone may come from where nothing was seen: a file that differs makes objects out of
    sight, or the object went where this comparison does not look."""
    from policylint.cli.judging import is_whole

    if two.directories is None and not is_whole(two.paths):
        return True
    before, after = two.contents()
    paths = [path for path in after if before.get(path) != after[path]]
    if len(paths) > removed.MOST_FILES or _templates_differ(two):
        return True
    return any(removed.may_make(path, "\n".join(two.after.source_lines(path)).encode()) for path in paths)


def _templates_differ(two: Two) -> bool:
    """Whether a file of after that was left aside, a chart's template say, is not as it was before."""
    from policylint.cli.diff_sides import content_of

    before, after = two.sources
    return any(
        content_of(before, two.of_before(path)) != content_of(after, path)
        for paths in after.skipped.values()
        for path in paths
    )


def _compared() -> list[str]:
    pushed = pushed_range(os.environ)
    return [*pushed, "--"] if pushed else ["--cached", "--"]


def _removes(findings: Sequence[Finding]) -> bool:
    """Whether lines are removed that may have made one of the objects, or kustomizations change."""
    diff = git("diff", "-U0", "--no-renames", "--no-ext-diff", "--no-color", *_compared()) or b""
    lines = b"\n".join(line for line in diff.split(b"\n") if line.startswith(b"-"))
    names = {finding.resources[-1].name.encode() for finding in findings}
    return any(name in lines for name in names) or any(removed.is_kustomization(path) for path in _changed())


def _changed(*more: str) -> list[str]:
    names = git("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", *more, *_compared()) or b""
    return [os.fsdecode(name) for name in names.split(b"\0") if name]


def _may_make() -> bool:
    """Whether the change adds or alters anything out of which objects may come that no file shows."""
    paths = [path for path in _changed("--diff-filter=d") if is_relevant(path)]
    return len(paths) > removed.MOST_FILES or any(removed.may_make(path, _staged(path)) for path in paths)


def _staged(path: str) -> bytes:
    pushed = pushed_range(os.environ)
    return git("show", f"{pushed[1] if pushed else ''}:{path}") or b""
