"""Hold the conformance score: no family recorded in tests/conformance.toml may drop below its figure.

usage: python .ci/conformance.py [../shared] [--write]

Runs `tools/score` of the shared folder with the `policylint` beside this Python over the recorded families, prints its
table, and exits with 1 when a row is below what is recorded. A figure is the number of facts that hold (512) or their
share in per cent (98.5). `--write` raises the recorded figures to what was reached; it never lowers one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "conformance.toml"
ROW = re.compile(r"^(\S+) +(\d+)/(\d+) +(\d+)/(\d+) +[\d.]+%$", re.MULTILINE)

Figure = int | float


@dataclass(frozen=True, slots=True)
class Score:
    """How many facts of one row of the table hold."""

    held: int
    facts: int

    def reaches(self, figure: Figure) -> bool:
        """Whether the score is at or above a recorded figure."""
        return self.held >= figure if isinstance(figure, int) else 100 * self.held / self.facts >= figure

    def exceeds(self, figure: Figure) -> bool:
        """Whether the figure could be raised; a share is only compared to the tenth of a per cent."""
        return self.held > figure if isinstance(figure, int) else round(100 * self.held / self.facts, 1) > figure

    def __str__(self) -> str:
        """Show it as the table does."""
        return f"{self.held} of {self.facts} facts, {self.held / self.facts:.1%}"


def read_table(text: str) -> dict[str, Score]:
    """Return the rows of the table that `tools/score` prints."""
    return {name: Score(int(held), int(facts)) for name, _, _, held, facts in ROW.findall(text)}


def run_score(script: Path, families: list[str]) -> str:
    """Run the scoring script over the families and return what it printed."""
    tool = Path(sysconfig.get_path("scripts")) / "policylint"
    command = [sys.executable, str(script), *(word for family in families for word in ("--family", family))]
    done = subprocess.run(
        command, env=os.environ | {"POLICYLINT": str(tool)}, stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout


def raise_figures(text: str, record: Mapping[str, Figure], table: Mapping[str, Score]) -> str:
    """Return the record with every figure raised to what was reached, comments kept."""
    for name, figure in record.items():
        score = table.get(name)
        if score is not None and score.exceeds(figure):
            reached = score.held if isinstance(figure, int) else round(100 * score.held / score.facts, 1)
            text = re.sub(rf'(?m)^("?{re.escape(name)}"? *= *)[\d.]+', rf"\g<1>{reached}", text)
    return text


def main() -> int:
    """Score, compare, and say which figures could be raised."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--write", action="store_true", help="raise the figures in tests/conformance.toml")
    arguments = parser.parse_args()
    script = arguments.shared / "tools" / "score"
    if not script.is_file():
        print("skipped: no ../shared")
        return 0
    text = RECORD.read_text(encoding="utf-8")
    record: dict[str, Figure] = tomllib.loads(text)["facts"]
    output = run_score(script, sorted({name.partition("/")[0] for name in record}))
    print(output, end="")
    table = read_table(output)
    below = False
    for name, figure in record.items():
        score = table.get(name)
        if score is None:
            print(f"{name}: recorded in {RECORD.name}, but tools/score has no such row")
            below = True
        elif not score.reaches(figure):
            print(f"{name}: {score}, below the recorded {figure}{'' if isinstance(figure, int) else ' %'}")
            below = True
        elif score.exceeds(figure) and not arguments.write:
            print(f"{name}: {score}, above the recorded {figure}: raise it with python .ci/conformance.py --write")
    if arguments.write:
        RECORD.write_text(raise_figures(text, record, table), encoding="utf-8")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
