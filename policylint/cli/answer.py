"""What a diff comes to: everything that its report needs, from both sides opened, or as it was kept (cli/kept.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.cli.diff_asked import Asked
    from policylint.cli.diff_sides import Two
    from policylint.cli.opening import Clock
    from policylint.compare.change import Comparison
    from policylint.config import Settings
    from policylint.model.coverage import Coverage


class Side(NamedTuple):
    """One side, as far as a report asks.

    Args:
        root: below which files are named.
        lines: of a file as shown, [] where it is not there.
    """

    root: str | None
    lines: Callable[[str], list[str]]


class Answer(NamedTuple):
    """The answer, in no format yet.

    Args:
        comparison: new findings stand where the change touches them.
        coverage: of the side after.
        suppressed: how many findings of after are.
        files_differ: how many files are not the same on both sides.
    """

    comparison: Comparison
    coverage: Coverage
    suppressed: int
    files_differ: int
    before: Side
    after: Side


def answered(asked: Asked, settings: Settings, chosen: set[str] | None, clock: Clock) -> tuple[Answer, Two]:
    """Open both sides, compare them, and ask the rules; with the sides, to keep what they are made of.

    Raises:
        click.UsageError: a path that is not there, or a configuration that cannot be used.
    """
    from policylint.cli.diff_sides import both
    from policylint.documents import loading

    with loading():  # two of everything, and all of it is needed until the end
        two = both(asked)
        clock.lap("read and simulate")

        from policylint.compare import (
            Comparison,
            compare,
            compared_findings,
            on_changed_lines,
            paired,
            removed_protections,
        )

        sides = paired(two.before.simulations, two.after.simulations)
        environments = compare(sides)
        clock.lap("compare")
        removed = removed_protections(sides, environments, chosen)
        after = two.judged_after(sides, removed, settings, chosen, strict=asked.wanted.strict)
        before = two.judged_before([each.before for each in sides], settings, chosen)
        findings = [
            each._replace(finding=on_changed_lines(each.finding, two.touched_lines)) if each.state == "new" else each
            for each in compared_findings(sides, environments, before, after.findings, two.of_after)
        ]
    answer = Answer(
        Comparison(tuple(environments), tuple(findings)),
        two.after.coverage,
        len(after.suppressed),
        two.files_that_differ(),
        Side(two.before.root, two.before.source_lines),
        Side(two.after.root, two.after.source_lines),
    )
    clock.lap("rules")
    return answer, two
