"""CPU time and peak memory of child processes, in interleaved rounds."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What children run in: an installed tool has its modules compiled, so what forbids to keep that is left out."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one child process took, with the children it waited for.

    Attributes:
        cpu: user and system time in seconds.
        peak: largest resident set of one of its processes, in MiB.
        wall: seconds on the clock.
    """

    cpu: float
    peak: float
    wall: float


class ChildFailedError(Exception):
    """A measured command did not do its work, so its time means nothing."""


def run_child(command: Sequence[str], ok: Sequence[int] = (0,)) -> Spent:
    """Run the command with its output thrown away and return what it took.

    Keep the calling process small: Linux counts the memory of the process that starts a child in the child's peak.

    Raises:
        ChildFailedError: it ended with another exit code than those of `ok`.
    """
    null = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], list(command), ENVIRONMENT, file_actions=streams)
    os.close(null)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code not in ok:
        raise ChildFailedError(f"exit {code}: {shlex.join(command)}")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wall)


def interleaved(commands: Mapping[str, Sequence[str]], rounds: int, ok: Sequence[int] = (0,)) -> dict[str, Spent]:
    """Run every command once to warm caches, then once a round; return the medians."""
    found: dict[str, list[Spent]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            spent = run_child(command, ok)
            if number:
                found[name].append(spent)
    return {
        name: Spent(median(s.cpu for s in runs), median(s.peak for s in runs), median(s.wall for s in runs))
        for name, runs in found.items()
    }
