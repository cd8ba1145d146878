"""--fix, --diff and --unsafe-fixes of `policylint lint`."""

from __future__ import annotations

import os

from policylint.cli.options import option, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from policylint.edit import Plan
    from policylint.model import Finding
    from policylint.workspace import Workspace

    Judge = Callable[[], tuple[Workspace, Sequence[Finding]]]

FIXES = "What is fixed"
_ROUNDS = 5
"""A fix can bring another finding to light; this many times the tree is read again."""


fixing = together(
    option(FIXES, "--fix", is_flag=True, help="Edit the files where the right edit is certain, then report."),
    option(FIXES, "--diff", "preview", is_flag=True, help="Show what --fix would change, and change nothing."),
    option(FIXES, "--unsafe-fixes", is_flag=True, help="Also edits that change what the cluster does."),
)


def fix(judge: Judge, *, unsafe: bool) -> None:
    """Apply fixes until nothing is left to do, and say on stderr how many there were."""
    from policylint.cli.commands import say

    findings, more = 0, 0
    files: set[str] = set()
    for _ in range(_ROUNDS):
        planned = _plan(*judge(), unsafe=unsafe)
        more = planned.unsafe
        for file, data in planned.files.items():
            with open(file, "wb") as stream:  # noqa: PTH123 - links are followed, owner and mode stay
                stream.write(data)
        findings += len(planned.fixed) if planned.files else 0
        files |= planned.files.keys()
        if not planned.files:
            break
    counted = f"{findings} {'finding' if findings == 1 else 'findings'}"
    where = f" in {len(files)} {'file' if len(files) == 1 else 'files'}" if files else ""
    say(f"fixed {counted}{where}{_more(more)}")


def preview(judge: Judge, *, unsafe: bool, color: bool) -> Sequence[Finding]:
    """Print what `fix` would change first as a unified diff; returns the findings as they are."""
    from policylint.cli.commands import say
    from policylint.cli.output import put
    from policylint.edit.unified import unified
    from policylint.session.open import below_root

    workspace, findings = judge()
    planned = _plan(workspace, findings, unsafe=unsafe)
    for file, data in planned.files.items():
        put(unified(below_root(workspace.root, file) or file, planned.old[file], data, color=color))
    known = sum(each.confidence != "unknown" for each in findings)
    of = f"{known} {'finding' if known == 1 else 'findings'}"
    say(f"would fix {len(planned.fixed)} of {of}{_more(planned.unsafe)}")
    return findings


def _plan(workspace: Workspace, findings: Sequence[Finding], *, unsafe: bool) -> Plan:
    from policylint.edit import plan
    from policylint.session.open import below_root

    def read(file: str) -> bytes | None:
        """Only files of the tree itself: not stdin, nothing that a link leads out to."""
        if not below_root(workspace.root, file) or not os.path.isfile(file):  # noqa: PTH113
            return None
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib is not imported for this
            return stream.read()

    known = [each for each in findings if each.confidence != "unknown"]
    return plan(known, read, unsafe=unsafe)


def _more(number: int) -> str:
    return f" ({number} more with --unsafe-fixes)" if number else ""
