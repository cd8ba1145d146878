"""Measure policylint against fixed yardsticks, all in one run, and print the ratios.

usage: python bench/run.py [--quick] [--only NAME] [--check] [--json FILE] [--write]

Both sides of a ratio run in turns in the same minutes on the same machine, so that a slow or busy machine moves both.
Times are CPU time (user and system, children included), memory is the peak resident set; every figure is the median of
its rounds after one round of warming up. `--check` ends with 1 when a ratio passes its bar in two measurements;
`--write` puts the table into bench/README.md. policylint must be installed beside this Python (or named with `--tool`).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from corpus import Written, write_corpus
from ratios import BENCHMARKS, HERE, Bench, Row

README = HERE / "README.md"
TABLE = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end of table -->)", re.DOTALL)
TREES = HERE.parent.parent / "shared" / "trees"


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, without the 100k documents: under 90 s")
    parser.add_argument("--only", action="append", choices=sorted(BENCHMARKS), help="only this one (repeatable)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a ratio passes its bar")
    parser.add_argument(
        "--slack",
        type=float,
        default=0.0,
        metavar="PERCENT",
        help="let --check pass ratios that are this much beyond their bar: a quick run on a shared machine is noisy",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows as JSON")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    parser.add_argument("--tool", type=Path, default=Path(sysconfig.get_path("scripts")) / "policylint")
    parser.add_argument("--trees", type=Path, default=TREES, help="folder of real repositories")
    found = parser.parse_args(arguments)
    if found.write and (found.quick or found.only):
        parser.error("--write wants the whole run: without --quick and --only")
    if not found.tool.is_file():
        parser.error(f"no {found.tool}: install the project first (pip install --no-deps -e .)")
    return found


def measure(chosen: argparse.Namespace) -> tuple[Written, list[Row]]:
    """Write the corpus and run the benchmarks, each row printed as soon as it is known."""
    with tempfile.TemporaryDirectory(prefix="policylint-bench-") as scratch:
        corpus = Path(scratch) / "10k"
        written = write_corpus(corpus)
        trees = chosen.trees if chosen.trees.is_dir() else None
        bench = Bench(chosen.tool.absolute(), Path(scratch), corpus, trees, chosen.quick)
        rows: list[Row] = []
        for name in chosen.only or BENCHMARKS:
            start = time.monotonic()
            found = BENCHMARKS[name](bench)
            for row in found:
                print(line(row), flush=True)
            print(f"  ({name}: {time.monotonic() - start:.0f} s)", flush=True)
            if chosen.check and any(row.exceeds(1 + chosen.slack / 100) for row in found):
                print(f"  ({name}: measured again, in case the machine was busy)", flush=True)
                again = Path(tempfile.mkdtemp(dir=scratch))
                found = better(found, BENCHMARKS[name](replace(bench, scratch=again)))
                for row in found:
                    print(line(row), flush=True)
            rows += found
    return written, rows


def better(first: Sequence[Row], second: Sequence[Row]) -> list[Row]:
    """Return, of two runs of one benchmark, the lower row of each name."""
    return [min(pair, key=lambda row: row.value) for pair in zip(first, second, strict=True)]


def line(row: Row) -> str:
    """Return a row as the terminal shows it."""
    if row.skipped:
        return f"{row.name:14} skipped: {row.skipped}"
    bar = f"<= {row.bar:g}" if row.bar is not None else ""
    verdict = "BEYOND THE BAR" if row.is_beyond else "ok" if row.bar is not None else ""
    return f"{row.name:14} {row.value:6.2f}  {bar:7} {verdict:15} {row.detail:22} {row.what}"


def table(written: Written, rows: Sequence[Row]) -> str:
    """Return the rows as Markdown, under the machine and the day."""
    packages = ", ".join(f"{name} {version_of(name)}" for name in ("PyYAML", "click"))
    today = datetime.datetime.now(datetime.UTC)
    head = [
        f"{today:%d %B %Y}, {machine()}, CPython {platform.python_version()}, {packages}.",
        f"Generated corpus: {written}.",
        "",
        "| ratio | value | must | aim | measured | what |",
        "|---|---|---|---|---|---|",
    ]
    body = [
        f"| {row.name} | {row.skipped or format(row.value, '.2f')} | {bound(row.bar)} | {bound(row.aim)} "
        f"| {row.detail} | {row.what} |"
        for row in rows
    ]
    return "\n".join([*head, *body, ""])


def bound(value: float | None) -> str:
    """Return a bar or an aim as a cell."""
    return "" if value is None else f"≤ {value:g}"


def machine() -> str:
    """Return the processor, the number of cores and the load before the run."""
    names = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return f"{os.cpu_count()} cores ({names[0] if names else platform.machine()}), load {os.getloadavg()[0]:.1f}"


def version_of(package: str) -> str:
    """Return the installed version of a package; imported late, the measuring process stays small."""
    from importlib.metadata import version

    return version(package)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report, and say whether everything is within its bar."""
    chosen = options(arguments)
    written, rows = measure(chosen)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    if chosen.write:
        text = README.read_text(encoding="utf-8")
        README.write_text(TABLE.sub(lambda _: table(written, rows), text), encoding="utf-8")
    beyond = [row.name for row in rows if row.is_beyond]
    if beyond:
        print(f"beyond the bar: {', '.join(beyond)}")
    failing = [row.name for row in rows if row.exceeds(1 + chosen.slack / 100)]
    return 1 if failing and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
