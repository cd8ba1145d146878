"""`policylint lint --fix` and `--diff`: edit the files of a tree, or show what would be edited."""

from __future__ import annotations

import os

from policylint.cli.commands import say
from policylint.cli.output import put, save
from policylint.edit import Plan, plan
from policylint.edit.unified import unified
from policylint.model.words import count
from policylint.outside import goes_through_link
from policylint.report.kit.display import one_line, printable
from policylint.report.kit.secrets import without_secrets
from policylint.session.open import below_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from policylint.model import Finding
    from policylint.session.lint import LintResult

    Judge = Callable[[Mapping[str, bytes]], LintResult]
    """Judges the tree with the files given edited so; none as it is."""

_ROUNDS = 5
"""A fix can bring another finding to light; this many times the tree is read again."""


def fix(judge: Judge, *, unsafe: bool) -> None:
    """Apply fixes until nothing is left to do, and say on stderr how many there were."""
    fixed, more = 0, 0
    files: set[str] = set()
    for _ in range(_ROUNDS):
        planned = _plan(judge, judge({}), unsafe=unsafe)
        more = planned.unsafe
        if not planned.files:
            break
        for file, data in planned.files.items():
            save(file, data)
        fixed += len(planned.fixed)
        files |= planned.files.keys()
    where = f" in {count(len(files), 'file')}" if files else ""
    say(f"fixed {count(fixed, 'finding')}{where}{_more(more)}")


def preview(judge: Judge, *, unsafe: bool, color: bool) -> LintResult:
    """Print what `fix` would change first as a unified diff; return the findings as they are."""
    result = judge({})
    planned = _plan(judge, result, unsafe=unsafe)
    for file, data in planned.files.items():
        path = one_line(below_root(result.workspace.root, file) or file)
        put(unified(path, planned.old[file], data, color=color, shown=_shown))
    say(f"would fix {len(planned.fixed)} of {count(len(result.known), 'finding')}{_more(planned.unsafe)}")
    return result


def _shown(lines: list[str]) -> list[str]:
    """Return the lines of a file without what would disturb a terminal, and without the values of Secrets."""
    ends = ["\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else "" for line in lines]
    bare = without_secrets([line.removesuffix("\n").removesuffix("\r") for line in lines])
    return [printable(line) + end for line, end in zip(bare, ends, strict=True)]


def _plan(judge: Judge, result: LintResult, *, unsafe: bool) -> Plan:
    """Plan the fixes of a tree, without those that would bring about another error or warning."""

    def read(file: str) -> bytes | None:
        """Read only files of the tree itself: not stdin, nothing that a link leads to."""
        if not below_root(result.workspace.root, file) or not os.path.isfile(file):  # noqa: PTH113
            return None
        if goes_through_link(file):
            return None
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib is not imported for this
            return stream.read()

    def sound(findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings whose fixes bring nothing about; by halves, as most trees have none that do."""
        planned = plan(findings, read, unsafe=unsafe)
        if not planned.files or not _problems(judge(planned.files)) - known:
            return list(findings)
        half = len(findings) // 2
        return [*sound(findings[:half]), *sound(findings[half:])] if half else []

    known = _problems(result)
    fixable = [finding for finding in result.known if finding.fixes]
    return plan(sound(fixable), read, unsafe=unsafe)


def _problems(result: LintResult) -> set[tuple[object, ...]]:
    """Return what errors and warnings are known by; not by their fields, which edits move."""
    return {(finding.rule, finding.resources) for finding in result.known if finding.severity != "note"}


def _more(number: int) -> str:
    return f" ({number} more with --unsafe-fixes)" if number else ""
