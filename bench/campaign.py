"""A campaign: numbered inputs tried in child processes with limits, resumable, with a reproducer of each new failure.

Every input follows from the campaign's seed and its own number, so that any of them can be tried again by itself.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

BATCH = 50
"""Inputs that one child tries: what a run keeps for good (it ends soon, as a rule) goes with the child."""
SECONDS = 10
"""CPU time of one input."""
MEGABYTES = 500
"""Memory of a child beyond what it begins with."""
PATIENCE = 12 * SECONDS
"""Seconds of its own CPU time without a new input after which a child is killed: it hangs where no Python code is run.
An input that may take more CPU time has as much more of them."""
IDLE = 20
"""By how many times as many seconds of the clock it is killed in any case: it waits for something. Other processes have
their share of the machine: beside tests of a higher priority a child had had less than a second in two minutes."""
PACKAGE = f"{os.sep}policylint{os.sep}"


class SlowError(BaseException):
    """An input took longer than SECONDS; no handler of the tool takes it for an error of its own."""


class WrongError(Exception):
    """What the tool did is not what is documented."""


class Tried(NamedTuple):
    """What was tried of one input.

    Args:
        runs: how many runs of the tool.
        failures: an exception and what reproduces it (file name → text), each.
    """

    runs: int
    failures: list[tuple[BaseException, dict[str, str]]]


Try = Callable[[Random], Tried]


class Campaign:
    """Inputs from a seed, tried in batches.

    Args:
        attempt: tries one input; it is handed the random generator of the input. Where inputs are large it says how
            many one child tries (`batch`), and how much CPU time each may take (`seconds`).
        place: directory of the state and the reproducers; what was tried there with the seed is not tried again.
    """

    def __init__(self, attempt: Try, place: Path, seed: int) -> None:
        self.attempt = attempt
        self.place = place
        self.seed = seed
        self.state: dict[str, Any] = {"seed": seed, "inputs": 0, "runs": 0, "seconds": 0.0, "failures": {}}
        place.mkdir(parents=True, exist_ok=True)
        self.file = place / f"state-{seed}.json"
        if self.file.exists():
            self.state = json.loads(self.file.read_text(encoding="utf-8"))
        self.counter = mmap.mmap(-1, 8)

    def go(self, inputs: int | None, seconds: float | None) -> int:
        """Try inputs until there were so many or the time is over; return how many kinds of failures are known."""
        state, begin, before = self.state, time.monotonic(), self.state["seconds"]
        last = state["inputs"] + inputs if inputs is not None else None
        while (last is None or state["inputs"] < last) and (seconds is None or time.monotonic() - begin < seconds):
            first = state["inputs"]
            most = getattr(self.attempt, "batch", BATCH)
            number = most if last is None else min(most, last - first)
            for failure in self._batch(first, number):
                self._note(failure)
            state["seconds"] = round(before + time.monotonic() - begin, 1)
            self.file.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        return len(state["failures"])

    def summary(self) -> str:
        """Return one line: inputs, runs, minutes, failures."""
        state = self.state
        times = sum(failure["times"] for failure in state["failures"].values())
        return (
            f"seed {self.seed}: {state['inputs']:,} inputs, {state['runs']:,} runs, "
            f"{state['seconds'] / 60:.1f} minutes, {len(state['failures'])} kinds of failures ({times} times)"
        )

    def one(self, number: int) -> Tried:
        """Try one input in this process."""
        return self.attempt(Random(f"{self.seed}/{number}"))

    def _batch(self, first: int, number: int) -> list[dict[str, Any]]:
        """Try inputs in a child; return the failures."""
        read, write = os.pipe()
        self._at(first)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                self._child(first, number, write)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(write)
        lines = self._collected(child, read)
        reached = max([first, *(line["number"] + 1 for line in lines)])
        failures = [failure for line in lines for failure in line["failures"]]
        self.state["runs"] += sum(line["runs"] for line in lines)
        if reached < first + number:  # the child died or was killed in this one
            failures.append({"number": reached, "kind": "killed: no end, or no memory", "detail": "", "files": {}})
            reached += 1
        self.state["inputs"] = reached
        return failures

    def _collected(self, child: int, read: int) -> list[dict[str, Any]]:
        """Return what a child says, and wait for its end; it is killed when it stands still."""
        os.set_blocking(read, False)
        text, seen, since, used = b"", -1, time.monotonic(), 0.0
        patience = PATIENCE * max(1, getattr(self.attempt, "seconds", SECONDS) / SECONDS)
        while True:
            try:
                piece = os.read(read, 1 << 20)
            except BlockingIOError:
                at: int = struct.unpack("q", self.counter[:8])[0]
                if at != seen:
                    seen, since, used = at, time.monotonic(), _used(child)
                waited = time.monotonic() - since
                if waited > IDLE * patience or (waited > patience and _used(child) - used > patience):
                    os.kill(child, signal.SIGKILL)
                time.sleep(0.02)
                continue
            if not piece:
                break
            text += piece
        os.close(read)
        os.waitpid(child, 0)
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]

    def _at(self, number: int) -> None:
        self.counter[:8] = struct.pack("q", number)

    def _child(self, first: int, number: int, write: int) -> None:
        """Try inputs, each within its limits, and write a line of JSON about each."""
        with open("/proc/self/statm", encoding="ascii") as pages:  # noqa: PTH123
            size = int(pages.read().split()[0]) * resource.getpagesize()
        most = size + MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        signal.signal(signal.SIGPROF, _too_slow)
        for at in range(first, first + number):
            self._at(at)
            signal.setitimer(signal.ITIMER_PROF, getattr(self.attempt, "seconds", SECONDS))
            tried = Tried(0, [])
            try:
                tried = self.one(at)
            except (SlowError, MemoryError) as error:
                tried = Tried(1, [(error, {})])
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            failures = [
                {"number": at, "kind": kind_of(error), "detail": _detail(error), "files": files}
                for error, files in tried.failures
            ]
            line = json.dumps({"number": at, "runs": tried.runs, "failures": failures}) + "\n"
            data = line.encode()
            while data:
                data = data[os.write(write, data) :]

    def _note(self, failure: dict[str, Any]) -> None:
        """Count a failure; keep the reproducer of the first and of any that is smaller."""
        known = self.state["failures"].setdefault(
            failure["kind"], {"times": 0, "number": failure["number"], "size": -1}
        )
        known["times"] += 1
        size = sum(map(len, failure["files"].values()))
        if known["size"] < 0 or size < known["size"]:
            known["number"], known["size"] = failure["number"], size
            name = "".join(letter if letter.isalnum() else "-" for letter in failure["kind"])[:100]
            place = self.place / name
            place.mkdir(exist_ok=True)
            (place / "failure.txt").write_text(f"input {failure['number']}\n{failure['detail']}", encoding="utf-8")
            for file, text in failure["files"].items():
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                (place / file).write_text(text, encoding="utf-8", errors="replace")
        if known["times"] == 1:
            print(f"input {failure['number']}: {failure['kind']}", flush=True)


def kind_of(error: BaseException) -> str:
    """Return `TypeError at checker.py:57`: what makes two failures the same."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in frame.filename]
    if not frames:
        return f"{type(error).__name__}: {error}"[:200]
    room, _, file = frames[-1].filename.rpartition(PACKAGE)[2].partition(os.sep)
    return f"{type(error).__name__} at {f'{room}/{file}' if file else room}:{frames[-1].lineno}"


def _detail(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-30))


def _used(child: int) -> float:
    """Return the seconds of CPU time that a child has had."""
    fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _too_slow(*_: object) -> None:
    raise SlowError(f"more than {SECONDS} s of CPU time")
