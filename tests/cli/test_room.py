"""No loop runs at the end of a piece of Python's stack, where each of its calls asks the system for another one."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import pytest

from policylint import cli

resource = pytest.importorskip("resource")
CALLS, DEPTHS = 400, 400


def nothing() -> None:
    pass


def faults(depth: int) -> int:
    """The pages that a loop of calls at a depth of the stack asks for."""
    if depth:
        return faults(depth - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        nothing()
    return int(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)


def worst(prog_name: str = "") -> int:  # noqa: ARG001 - as the command is called
    return max(map(faults, range(DEPTHS)))


def in_a_thread(run: Callable[[], object]) -> None:
    """Run on a stack of its own."""
    thread = Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="it counts pages by thread, as Linux does")
def test_no_depth_below_the_program_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    monkeypatch.setattr(cli, "main", lambda prog_name: found.append(worst(prog_name)))
    in_a_thread(cli.program)
    assert found[0] < CALLS // 2


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="it counts pages by thread, as Linux does")
def test_no_depth_below_a_test_is_slow() -> None:
    assert worst() < CALLS // 2
