"""What a pull request brings may be large: the work grows with its size, and what would not is cut off and said."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from cProfile import Profile
from importlib import import_module
from pathlib import Path
from pstats import Stats

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.simulation import selected
from policylint.topology.delegation import MOST_LEVELS

BENCH = Path(__file__).parents[2] / "bench"
SMALL, LARGE = 64, 192
Shape = Callable[[Path, int], list[str]]


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Shape]:
    """The shapes of the benchmark."""
    monkeypatch.chdir(tmp_path)  # -C leaves it
    monkeypatch.syspath_prepend(str(BENCH))
    found: dict[str, Shape] = import_module("growth").shapes()
    return found


def calls(shape: Shape, folder: Path, size: int) -> int:
    """Return how many functions a run calls: what a busy machine does not change."""
    place = folder / str(size)
    place.mkdir()
    arguments = shape(place, size)
    profile = Profile()
    profile.enable()
    result = CliRunner().invoke(main, arguments)
    profile.disable()
    assert result.exit_code in (0, 1, 3), result.output
    total: int = Stats(profile).total_calls  # type: ignore[attr-defined]
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("label-selectors", "target-selectors", "listener-sets", "hostnames-and-listeners", "one-path"),
        *("missing-targets", "ports-of-one-service", "reference-grants", "add-ignore"),
        *("suppression-comments", "configured-ignores", "configured-patterns"),
        *("kgateway-one-target", "policies-without-backends", "explain-gateway", "traces", "diff-findings"),
        *("policies-on-one-gateway", "reach-gateways", "argo-applications", "replacements"),
        *("server-names", "network-policies", "booleans-and-words"),
    ],
)
def test_the_work_grows_with_the_input(name: str, shapes: dict[str, Shape], tmp_path: Path) -> None:
    calls(shapes[name], tmp_path, 1)  # imports
    start = calls(shapes[name], tmp_path, 2)
    small, large = (calls(shapes[name], tmp_path, size) - start for size in (SMALL, LARGE))
    assert math.log(large / small) / math.log(LARGE / SMALL) <= 1.2


def test_what_selectors_select_is_cut_off_and_said(
    shapes: dict[str, Shape], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selected, "MOST_SELECTED", 35)
    arguments = shapes["target-selectors-all"](tmp_path, 10)
    result = CliRunner().invoke(main, [*arguments, "-o", "concise", "--select", "GWP911"])
    assert result.exit_code == 3
    assert "what SecurityPolicy shop/cors-00003 and 6 more select was left out" in result.output
    found = CliRunner().invoke(main, ["explain", "SecurityPolicy/shop/cors-00003", str(tmp_path)]).output
    assert "verdict   Unknown" in found and "not in the tree" not in found


def test_delegation_is_followed_so_far_and_that_is_said(shapes: dict[str, Shape], tmp_path: Path) -> None:
    for size, ends in ((MOST_LEVELS, 0), (1_500, 3)):
        place = tmp_path / str(size)
        place.mkdir()
        result = CliRunner().invoke(main, [*shapes["kgateway-delegation-chain"](place, size), "-o", "concise"])
        assert result.exit_code == ends, result.output
    assert f"HTTPRoute shop/link-00{MOST_LEVELS} delegates below {MOST_LEVELS} levels of routes" in result.output


def test_only_as_many_listeners_are_tried_as_a_gateway_may_have(shapes: dict[str, Shape], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*shapes["policies-on-listeners"](tmp_path, 70), "-o", "concise"])
    assert result.exit_code == 0
    assert [line.partition(" ")[2].partition("]")[0] for line in result.output.splitlines()[:-1]] == ["warning[GWP501"]
    explained = CliRunner().invoke(main, ["explain", "HTTPRoute/shop/site-00069", str(tmp_path)]).output
    assert "Gateway shop/edge has more than 64 listeners, and the rest were left out" in " ".join(explained.split())


def test_the_benchmark_says_what_grows(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / "growth.py"), "--shape", "one-path", "--sizes", "3,6"]
    table = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert "| one-path | 6 | 10 |" in table
