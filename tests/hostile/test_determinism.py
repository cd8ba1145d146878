"""The same bytes whatever the hash seed, the locale, the time zone, the order of directories and the version of Python.

`POLICYLINT_HASH_SEEDS=20` tries more seeds than three; `POLICYLINT_PYTHONS` names further interpreters that have the
dependencies, separated by `:`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEEDS = int(os.environ.get("POLICYLINT_HASH_SEEDS", "3"))
PYTHONS = [name for name in os.environ.get("POLICYLINT_PYTHONS", "").split(":") if name]
DRIVER = r"""
import contextlib, io, os, random, sys
sys.path.insert(0, sys.argv[1])
work, order = sys.argv[2], int(sys.argv[3])
scandir, listdir, walk = os.scandir, os.listdir, os.walk
if order:
    shuffled = random.Random(order)

    class Shuffled:
        def __init__(self, place):
            with scandir(place) as entries:
                self.entries = list(entries)
            shuffled.shuffle(self.entries)
        def __iter__(self): return iter(self.entries)
        def __next__(self):
            if not self.entries: raise StopIteration
            return self.entries.pop()
        def __enter__(self): return self
        def __exit__(self, *_): pass
        def close(self): pass

    os.scandir = lambda place=".": Shuffled(place)
    os.listdir = lambda place=".": [entry.name for entry in Shuffled(place)]
from policylint.cli import main
from policylint.report.formats import FORMATS

LINT = tuple(name for name in FORMATS["lint"] if name != "summary")
GRAPH = ("mermaid", "dot", "svg", "html")
SHOP = "fixtures/envoy-gateway-shop"
TREES = (SHOP, "fixtures/silent-failures", "fixtures/argo-platform", "fixtures/flux-shop", "fixtures/kuadrant-platform")
DIFF = ("diff", "--rendered-before", "fixtures/diff-example/before", "--rendered-after", "fixtures/diff-example/after")
runs = [("lint", tree, "--show-unknown", *(f"--output={form}={work}/{number}.{form}" for form in LINT))
        for number, tree in enumerate(TREES)]
runs += [(*DIFF, *(f"--output={form}={work}/diff.{form}" for form in (*LINT, "summary")))]
runs += [("graph", tree, *(f"--output={form}={work}/graph{number}.{form}" for form in GRAPH))
         for number, tree in enumerate(TREES)]
runs += [("simulate", tree, "-o", form) for tree in TREES for form in ("text", "json", "yaml")]
runs += [("simulate", SHOP, "--as", "status"), ("list", "policies", SHOP, "-o", "json"), ("list", "routes", SHOP)]
runs += [("explain", "HTTPRoute/shop/checkout", SHOP, "-o", form) for form in ("text", "json", "yaml", "markdown")]
runs += [("trace", "GET", "https://shop.example.com/checkout", SHOP, "-o", form) for form in ("text", "json")]
runs += [("kinds",), ("rule",), ("init", "-C", "fixtures/argo-platform", "--stdout")]
for number, arguments in enumerate(runs):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    here = os.getcwd()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(list(arguments))
        except SystemExit as ending:
            print("exit code", ending.code)
        out.flush()
    os.chdir(here)
    with open(f"{work}/stdout{number}", "wb") as file:
        file.write(out.buffer.getvalue())
"""
CONDITIONS: dict[str, tuple[str, int, dict[str, str]]] = {
    "hash seed 1, another order of directories, POSIX, far in the east": (
        *(sys.executable, 7),
        {"PYTHONHASHSEED": "1", "LC_ALL": "POSIX", "TZ": "Pacific/Kiritimati"},
    ),
    "hash seed 2, no locale": (
        *(sys.executable, 0),
        {"PYTHONHASHSEED": "2", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ),
    **{f"hash seed {seed}": (sys.executable, 0, {"PYTHONHASHSEED": str(seed)}) for seed in range(3, SEEDS)},
    "a locale that is not there, a narrow terminal, a third order of directories": (
        *(sys.executable, 3),
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR", "COLUMNS": "40", "TERM": "dumb", "TZ": "America/St_Johns"},
    ),
    **{f"another Python: {name}": (name, 0, {}) for name in PYTHONS},
}


def outputs(apart: Path, work: Path, python: str, order: int, **more: str) -> dict[str, bytes]:
    """Return every output of every command, by name, without what is meant to differ: durations, and where it was."""
    work.mkdir()
    plain = {"PATH": os.environ["PATH"], "HOME": str(work), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    command = [python, "-c", DRIVER, str(ROOT), str(work), str(order)]
    done = subprocess.run(command, cwd=apart, env=plain | more, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return {path.name: _steady(path.read_bytes().replace(bytes(work), b"WORK")) for path in sorted(work.iterdir())}


def _steady(data: bytes) -> bytes:
    data = re.sub(rb"\b\d+\.\d+ s\b", b"0.0 s", data)
    return re.sub(rb'("seconds": |"durationMs": |time=")[\d.]+', rb"\g<1>0", data)


@pytest.fixture(scope="module")
def first(apart: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return outputs(apart, tmp_path_factory.mktemp("first") / "work", sys.executable, 0)


def test_there_is_something_to_compare(first: dict[str, bytes]) -> None:
    assert len(first) > 80
    assert all(first.values())
    assert not [name for name, data in first.items() if b"internal error" in data]


@pytest.mark.slow
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_same_bytes(first: dict[str, bytes], apart: Path, tmp_path: Path, condition: str) -> None:
    python, order, more = CONDITIONS[condition]
    again = outputs(apart, tmp_path / "work", python, order, **more)
    assert again.keys() == first.keys()
    assert [name for name in first if again[name] != first[name]] == []
