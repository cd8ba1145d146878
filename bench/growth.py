"""Measure how CPU time and memory grow with the size of an input, one row for each shape that was ever suspected.

usage: python bench/growth.py [--shape NAME]... [--sizes 500,1000,2000] [--check] [--json FILE]

Every module of bench/shapes/ names its shapes in SHAPES: functions that write an input whose size in bytes is linear
in the number that they are given, and return the arguments of policylint. A shape starts small and is doubled until a
run takes long enough to fit a power of the size to what it takes beyond the start-up. An exponent of 1 is linear; one
above 1.2 is marked, and `--check` then ends with 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import linear_regression

from measure import ChildFailedError, Spent, run_child

HERE = Path(__file__).resolve().parent
Shape = Callable[[Path, int], list[str]]
OK = (0, 1, 3)
"""Exit codes of a run that did its work: clean, findings, incomplete (which is how a budget ends)."""
BAR = 1.2
FIRST = 250
"""The size that doubling starts from."""
LARGEST = 16_000
LONG = 10.0
"""Seconds of CPU time after which a shape is not doubled again."""
SHORT = 0.15
"""Seconds beyond the start-up below which a run says nothing of growth."""
LIMIT = 120
"""Seconds of CPU time after which a run is ended."""


@dataclass(frozen=True, slots=True)
class Run:
    """One size of one shape.

    Attributes:
        documents: YAML documents in the input.
        cpu: seconds of user and system time, children included.
        peak: MiB.
    """

    size: int
    documents: int
    cpu: float
    peak: float


@dataclass(frozen=True, slots=True)
class Row:
    """One shape.

    Attributes:
        exponent: the power of the size that CPU time beyond the start-up grows with; None where it stayed too short.
        failed: how the last run ended, where it did not do its work.
    """

    shape: str
    runs: tuple[Run, ...]
    exponent: float | None
    failed: str = ""

    @property
    def is_beyond(self) -> bool:
        """Whether the shape grows too fast, or did not get to its end."""
        return bool(self.failed) or (self.exponent is not None and self.exponent > BAR)


def shapes() -> dict[str, Shape]:
    """Return the shapes of all modules of bench/shapes/, by name."""
    modules = (importlib.import_module(f"shapes.{file.stem}") for file in sorted((HERE / "shapes").glob("[!_]*.py")))
    return {shape.__name__.replace("_", "-"): shape for module in modules for shape in module.SHAPES}


def measure(tool: Path, name: str, shape: Shape, sizes: Sequence[int], start_up: float) -> Row:
    """Run the tool on the shape in the sizes given, or doubled until a run is long."""
    runs: list[Run] = []
    failed = ""
    for size in sizes or _doublings():
        try:
            documents, spent = _run(tool, shape, size)
        except ChildFailedError as error:
            failed = f"size {size}: {str(error).partition(':')[0]}"
            break
        runs.append(Run(size, documents, spent.cpu, spent.peak))
        if not sizes and spent.cpu > LONG:
            break
    return Row(name, tuple(runs), exponent([(run.size, run.cpu - start_up) for run in runs]), failed)


def _doublings() -> Iterator[int]:
    size = FIRST
    while size <= LARGEST:
        yield size
        size *= 2


def _run(tool: Path, shape: Shape, size: int) -> tuple[int, Spent]:
    """Write the shape into a folder of its own and run the tool on it, under a limit of CPU time."""
    folder = Path(tempfile.mkdtemp(prefix="policylint-growth-"))
    try:
        arguments = shape(folder, size)
        limited = ["sh", "-c", 'ulimit -t "$0" && exec "$@"', str(LIMIT), str(tool), *arguments]
        return _documents(folder), run_child(limited, OK)
    finally:
        shutil.rmtree(folder)


def _documents(folder: Path) -> int:
    files = [file for file in folder.rglob("*.yaml") if file.is_file()]
    return sum(sum(line.startswith("kind:") for line in file.open(encoding="utf-8")) for file in files)


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """Return the slope of log seconds over log size, fitted to the last three sizes that took long enough."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points if seconds > SHORT][-3:]
    return linear_regression(*zip(*logs, strict=True)).slope if len(logs) > 1 else None


def start_up(tool: Path) -> float:
    """Return the seconds that a lint of one empty object takes."""
    with tempfile.TemporaryDirectory(prefix="policylint-growth-") as folder:
        Path(folder, "one.yaml").write_text(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n", encoding="utf-8"
        )
        return min(run_child([str(tool), "lint", folder], OK).cpu for _ in range(3))


HEADER = (
    "| shape | size | documents | CPU s | ms per document | exponent | peak MiB | |",
    "|---|---|---|---|---|---|---|---|",
)


def line(row: Row) -> str:
    """Return a row of the table: the largest size, and the growth up to it."""
    if not row.runs:
        return f"| {row.shape} | | | | | | | FAILED {row.failed} |"
    last = row.runs[-1]
    growth = "-" if row.exponent is None else f"{row.exponent:.2f}"
    mark = f"FAILED {row.failed}" if row.failed else f"> {BAR}" if row.is_beyond else ""
    return (
        f"| {row.shape} | {last.size:,} | {last.documents:,} | {last.cpu:.2f} "
        f"| {last.cpu * 1000 / max(1, last.documents):.2f} | {growth} | {last.peak:.0f} | {mark} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the shapes and print a row for each as soon as it is known."""
    known = shapes()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--shape", action="append", choices=sorted(known), help="only this one (repeatable)")
    parser.add_argument("--sizes", type=_sizes, default=(), metavar="N,N,…", help="instead of doubling")
    parser.add_argument("--check", action="store_true", help=f"exit 1 when an exponent passes {BAR}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows as JSON")
    parser.add_argument("--tool", type=Path, default=Path(sysconfig.get_path("scripts")) / "policylint")
    chosen = parser.parse_args(arguments)
    beginning = start_up(chosen.tool)
    rows = []
    print(*HEADER, sep="\n", flush=True)
    for name in chosen.shape or known:
        rows.append(measure(chosen.tool, name, known[name], chosen.sizes, beginning))
        print(line(rows[-1]), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    return 1 if chosen.check and any(row.is_beyond for row in rows) else 0


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(","))


if __name__ == "__main__":
    sys.exit(main())
