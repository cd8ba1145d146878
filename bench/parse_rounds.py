"""Time parsing in one process: `policylint.documents.read` against raw libyaml events of the same bytes.

usage: python bench/parse_rounds.py ROUNDS PATH...

Prints JSON: CPU seconds of each round, the two interleaved. Only files whose whole text libyaml accepts are taken, so
that both sides do the whole work.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from yaml_files import accepts, raw_events, yaml_files

from policylint import documents


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of one call; throwing its result away is not counted."""
    gc.collect()
    start = time.process_time()
    kept = work()
    spent = time.process_time() - start
    del kept
    return spent


def main() -> None:
    """Run the rounds and print the times."""
    roots = [Path(argument) for argument in sys.argv[2:]]
    files = [(path, data) for path, data in yaml_files(roots) if accepts(raw_events, data)]

    def read() -> list[documents.FileReading]:
        with documents.loading():
            return [documents.read(data, path) for path, data in files]

    def events() -> None:
        for _, data in files:
            raw_events(data)

    times: dict[str, list[float]] = {"read": [], "events": []}
    for _ in range(int(sys.argv[1])):
        times["events"].append(cpu_seconds(events))
        times["read"].append(cpu_seconds(read))
    print(json.dumps(times))


if __name__ == "__main__":
    main()
