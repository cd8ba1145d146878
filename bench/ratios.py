"""What is measured, against what, and how far it may go: one function per benchmark, each returning its rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from changes import commit_all, write_history, write_staged
from corpus import write_corpus
from measure import Spent, interleaved
from monorepo import write_monorepo
from policies import write_policies
from wide import CHANGES, write_wide

HERE = Path(__file__).resolve().parent
LINT_CODES = (0, 1)
BARE = (sys.executable, "-I", "-c", "pass")


@dataclass(frozen=True, slots=True)
class Row:
    """One ratio.

    Attributes:
        bar: what it must not pass; None for a row that only informs.
        aim: what it should come down to, where that is set.
        skipped: why there is no value.
    """

    name: str
    what: str
    value: float = 0.0
    bar: float | None = None
    aim: float | None = None
    detail: str = ""
    skipped: str = ""

    @property
    def is_beyond(self) -> bool:
        """Whether the ratio passes its bar."""
        return self.exceeds(1.0)

    def exceeds(self, factor: float) -> bool:
        """Whether the ratio passes its bar times a factor."""
        return not self.skipped and self.bar is not None and self.value > factor * self.bar


@dataclass(frozen=True, slots=True)
class Bench:
    """What the benchmarks work on.

    Attributes:
        tool: the `policylint` that is measured, as users start it.
        scratch: an empty folder of the run.
        corpus: 10,000 generated documents.
        trees: the real repositories, where they are at hand.
    """

    tool: Path
    scratch: Path
    corpus: Path
    trees: Path | None
    quick: bool

    def rounds(self, full: int, quick: int) -> int:
        """Return how many rounds this run takes."""
        return quick if self.quick else full

    def lint(self, *paths: Path) -> list[str]:
        """Return the command of a lint."""
        return [str(self.tool), "lint", *map(str, paths)]

    def load(self, *paths: Path) -> list[str]:
        """Return the command of the process that only loads."""
        return [sys.executable, "-I", str(HERE / "load_with_pyyaml.py"), *map(str, paths)]


def _cpu(name: str, what: str, top: Spent, bottom: Spent, bar: float, aim: float | None = None) -> Row:
    detail = f"{top.cpu * 1000:,.0f} / {bottom.cpu * 1000:,.0f} ms"
    return Row(name, what, top.cpu / bottom.cpu, bar, aim, detail)


def _peak(name: str, what: str, top: Spent, bottom: Spent, bar: float) -> Row:
    return Row(name, what, top.peak / bottom.peak, bar, None, f"{top.peak:,.0f} / {bottom.peak:,.0f} MiB")


def _against_load(bench: Bench, name: str, what: str, path: Path, *options: str, bar: float = 1.0) -> list[Row]:
    commands = {"lint": [*bench.lint(path), *options], "load": bench.load(path)}
    spent = interleaved(commands, bench.rounds(7, 3), LINT_CODES)
    return [
        _cpu(f"{name}", f"lint of {what} / loading it with CSafeLoader, CPU", spent["lint"], spent["load"], bar, 0.6),
        _peak(f"{name}-memory", f"the same, peak memory of {what}", spent["lint"], spent["load"], 0.9),
    ]


def lint(bench: Bench) -> list[Row]:
    """Lint of the generated documents."""
    return _against_load(bench, "lint", "10k generated documents", bench.corpus, bar=0.8)


def policies(bench: Bench) -> list[Row]:
    """Lint of 10,000 documents of which two fifths are policies, of eight implementations, one in twelve wrong."""
    place = write_policies(bench.scratch / "policies")
    rows = _against_load(bench, "policies", "10k documents with 4,000 policies", place)
    return [replace(row, bar=bar) for row, bar in zip(rows, (2.6, 2.3), strict=True)]


def export(bench: Bench) -> list[Row]:
    """What the tables of export cost beyond a lint, those of ways left out: these are what `reach` measures."""
    tables = ("objects", "policies", "settings", "findings", "placements")
    command = [str(bench.tool), "export", str(bench.corpus), "--to", str(bench.scratch / "export")]
    command += [word for table in tables for word in ("--table", table)]
    spent = interleaved({"export": command, "lint": bench.lint(bench.corpus)}, bench.rounds(7, 3), LINT_CODES)
    what = "export without ways / lint, 10k generated documents, CPU"
    return [_cpu("export", what, spent["export"], spent["lint"], 1.2)]


def rules(bench: Bench) -> list[Row]:
    """What the rules in CEL of the shipped schemas add to a lint of the generated documents."""
    without = [sys.executable, str(HERE / "lint_without_rules.py"), str(bench.corpus)]
    spent = interleaved({"with": bench.lint(bench.corpus), "without": without}, bench.rounds(9, 4), LINT_CODES)
    what = "lint of 10k documents / the same without rules in CEL, CPU"
    return [_cpu("rules", what, spent["with"], spent["without"], 1.05)]


def trees(bench: Bench) -> list[Row]:
    """Lint of the real repositories together: of the files as they are, and with all that deploys them rendered.

    The bar is for the former, which does what it is compared with: reading. The latter is recorded beside it.
    """
    if bench.trees is None:
        return [Row("trees", "lint of the real trees / loading them", skipped="no ../shared/trees")]
    as_they_are = _against_load(bench, "trees", "the ten real trees, --render off", bench.trees, "--render", "off")
    if bench.quick:
        return [*as_they_are, Row("trees-rendered", "the same, rendered", skipped="quick run")]
    rendered = _against_load(bench, "trees-rendered", "the ten real trees, rendered", bench.trees)
    return [*as_they_are, *(replace(row, bar=None, aim=None) for row in rendered)]


def parse(bench: Bench) -> list[Row]:
    """Documents with positions against raw libyaml events."""
    found = []
    for name, what, path in (("parse", "generated", bench.corpus), ("parse-trees", "real trees", bench.trees)):
        title = f"parse with positions / raw libyaml events, {what}, CPU"
        if path is None:
            found.append(Row(name, title, skipped="no ../shared/trees"))
            continue
        command = [sys.executable, str(HERE / "parse_rounds.py"), str(bench.rounds(9, 3)), str(path)]
        times = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        read, events = median(times["read"]), median(times["events"])
        found.append(Row(name, title, read / events, 9.0, None, f"{read * 1000:,.0f} / {events * 1000:,.0f} ms"))
    return found


def start(bench: Bench) -> list[Row]:
    """Start-up, and one small file from start to end."""
    source = next(path for path in sorted(bench.corpus.rglob("route.yaml")) if b"SecurityPolicy" in path.read_bytes())
    one = bench.scratch / "one.yaml"
    one.write_bytes(source.read_bytes())
    commands: dict[str, Sequence[str]] = {
        "bare": BARE,
        "version": [str(bench.tool), "--version"],
        "one": bench.lint(one),
    }
    spent = interleaved(commands, bench.rounds(31, 11), LINT_CODES)
    return [
        _cpu("version", "policylint --version / python -I -c pass, CPU", spent["version"], spent["bare"], 4.0),
        _cpu("one-file", "lint of one file / python -I -c pass, CPU", spent["one"], spent["bare"], 8.0),
    ]


def growth(bench: Bench) -> list[Row]:
    """Ten times the documents: ten times the work, not more."""
    what = "lint of 100k documents / of 10k, CPU"
    if bench.quick:
        return [Row("growth", what, skipped="quick run")]
    large = bench.scratch / "100k"
    write_corpus(large, 100_000)
    commands = {"large": bench.lint(large), "small": bench.lint(bench.corpus)}
    spent = interleaved(commands, 3, LINT_CODES)
    return [
        _cpu("growth", what, spent["large"], spent["small"], 11.0),
        Row("growth-memory", "the same, peak memory", spent["large"].peak / spent["small"].peak, None, None,
            f"{spent['large'].peak:,.0f} / {spent['small'].peak:,.0f} MiB"),
    ]  # fmt: skip


def diff(bench: Bench) -> list[Row]:
    """A diff of which 1 % of the files changed, against a lint of the same tree."""
    found = []
    largest = None
    if bench.trees is not None:
        largest = max((each for each in bench.trees.iterdir() if each.is_dir()), key=_yaml_bytes)
    for name, what, path in (
        ("diff", "10k generated documents", bench.corpus),
        ("diff-tree", "largest real tree", largest),
    ):
        title = f"diff HEAD~1..HEAD, 1 % changed / lint, {what}, CPU"
        if path is None or (bench.quick and name == "diff-tree"):
            found.append(Row(name, title, skipped="no ../shared/trees" if path is None else "quick run"))
            continue
        place = write_history(bench.scratch / name, path)
        commands = {
            "diff": [str(bench.tool), "diff", "-C", str(place), "HEAD~1..HEAD"],
            "lint": bench.lint(place),
        }
        spent = interleaved(commands, bench.rounds(7, 3), LINT_CODES)
        bar = 1.35 if name == "diff" else None
        found.append(replace(_cpu(name, title, spent["diff"], spent["lint"], 0), bar=bar))
    return found


def wide(bench: Bench) -> list[Row]:
    """A diff of which every route changes: a policy of the Gateway of 5,000 is gone, or each gets one of its own."""
    what = "5,000 routes"
    if bench.quick:
        return [Row("diff-5k", f"diff that changes {what} / lint", skipped="quick run")]
    place = write_wide(bench.scratch / "wide")
    common = [str(bench.tool), "diff", "-C", str(place)]
    commands: dict[str, Sequence[str]] = {"lint": bench.lint(place)}
    for change in CHANGES:
        commands[change] = [*common, "-o", "text", f"base..{change}"]
    commands["json"] = [*common, "-o", "json-v1", "base..deleted"]
    spent = interleaved(commands, 3, LINT_CODES)
    rows = [
        *((f"diff-5k-{change}", f"diff, {change}: {what}, text") for change in CHANGES),
        ("diff-5k-json", f"diff, deleted: {what}, json-v1"),
    ]
    return [
        replace(_cpu(name, f"{title} / lint before, CPU", spent[name.removeprefix("diff-5k-")], spent["lint"], 0),
                bar=None)
        for name, title in rows
    ]  # fmt: skip


def monorepo(bench: Bench) -> list[Row]:
    """Lint of one application in a repository of 25,000 files, which deploys it to two clusters of a hundred."""
    title = "lint of one directory of a repository of 25,000 files / loading all, CPU"
    if bench.quick:
        return [Row("monorepo", title, skipped="quick run")]
    place = bench.scratch / "monorepo"
    part = write_monorepo(place)
    commit_all(place)
    spent = interleaved({"lint": [*bench.lint(part), "-C", str(place)], "load": bench.load(place)}, 3, LINT_CODES)
    return [
        _cpu("monorepo", title, spent["lint"], spent["load"], 0.7),
        _peak("monorepo-memory", "the same, peak memory", spent["lint"], spent["load"], 1.1),
    ]


def hook(bench: Bench) -> list[Row]:
    """The pre-commit hook where nothing that matters is staged, in a repository of 10,000 documents."""
    place = write_staged(bench.scratch / "staged", bench.corpus)
    commands = {"bare": BARE, "hook": [str(bench.tool), "lint", "--hook", "-C", str(place)]}
    spent = interleaved(commands, bench.rounds(31, 11))
    title = "lint --hook, only a text file staged / python -I -c pass, CPU with git's"
    return [_cpu("hook-idle", title, spent["hook"], spent["bare"], 5.0)]


def networks(bench: Bench) -> list[Row]:
    """10,000 workloads under 1,050 network policies, each measurement in a process of its own."""
    from networks import table

    return [
        Row(f"network-{name}", f"network policies, {name} (bench/networks.py)", value, bar, None, spent)
        for name, value, bar, spent in table(bench.rounds(3, 1), with_hostile=not bench.quick)
    ]


def reach(bench: Bench) -> list[Row]:
    """All ways in of the generated documents, of one large host, and through each Gateway of the real trees."""
    from reach import host

    def measured(place: Path) -> dict[str, float]:
        runs = [_printed(str(place)) for _ in range(bench.rounds(5, 3))]
        return {name: median(figures[name] for figures in runs) for name in runs[0]}

    linted = interleaved({"lint": bench.lint(bench.corpus)}, bench.rounds(5, 3), LINT_CODES)["lint"]
    large, wide = measured(bench.corpus), measured(host(bench.scratch / "one-host"))
    regions, peak = (replace(linted, cpu=large["regions"]), replace(linted, peak=large["peak"]))
    seconds = wide["regions"]
    return [
        _cpu("reach", "all ways in / lint, 10k generated documents, CPU", regions, linted, 0.75),
        _peak("reach-memory", "the same, peak memory", peak, linted, 1.2),
        Row("reach-host", "all ways in of one host with 1,000 rules on three headers, seconds", seconds, 0.5, None, ""),
        _slowest_gateway(bench),
    ]


def _slowest_gateway(bench: Bench) -> Row:
    """Return what the ways in without a login cost through the Gateway that takes longest, beside its tree's lint."""
    title = "reach --gateway G --without authentication / lint, the slowest of all Gateways of the ten trees, CPU"
    if bench.trees is None or bench.quick:
        return Row("reach-gateway", title, skipped="quick run" if bench.quick else "no ../shared/trees")
    rows = []
    for tree in sorted(each for each in bench.trees.iterdir() if each.is_dir()):
        ways = [str(bench.tool), "reach", str(tree), "--without", "authentication", "--gateway"]
        commands = {name: [*ways, name] for name in _printed("--gateways", str(tree))}
        spent = interleaved({**commands, "lint": bench.lint(tree)}, bench.rounds(3, 1), LINT_CODES)
        linted = spent.pop("lint")
        rows += [_cpu("reach-gateway", f"{title} ({tree.name})", took, linted, 2.0) for took in spent.values()]
    return max(rows, key=lambda row: row.value)


def _printed(*arguments: str) -> Any:
    """Return what bench/reach.py prints."""
    command = [sys.executable, str(HERE / "reach.py"), *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def _yaml_bytes(tree: Path) -> int:
    return sum(each.stat().st_size for each in tree.rglob("*.y*ml"))


BENCHMARKS: dict[str, Callable[[Bench], list[Row]]] = {
    "lint": lint,
    "policies": policies,
    "rules": rules,
    "trees": trees,
    "parse": parse,
    "start": start,
    "hook": hook,
    "monorepo": monorepo,
    "diff": diff,
    "export": export,
    "wide": wide,
    "growth": growth,
    "networks": networks,
    "reach": reach,
}
