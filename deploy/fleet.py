"""Export many repositories as Parquet, a task of Ray each, on one machine or a cluster of them (docs/fleet.md).

usage: python deploy/fleet.py OUT REPOSITORY...        (pip install ray 'policylint[parquet]')
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ray


@ray.remote(num_cpus=1)
def export(repository: str, out: str) -> tuple[str, int, str]:
    """Write the tables of one checkout, in a process of its own: a worker lives on, and so would what it read."""
    name = Path(repository).name
    arguments = ("-C", repository, "--to", str(Path(out).resolve() / name), "--repository", name, "-o", "parquet")
    done = subprocess.run([sys.executable, "-m", "policylint", "export", *arguments], capture_output=True, text=True)
    return name, done.returncode, done.stderr.strip()


def main(out: str, *repositories: str) -> int:
    """Start all tasks, and say as they end which were incomplete; return the worst exit code."""
    waiting, worst = [export.remote(str(Path(each).resolve()), str(Path(out).resolve())) for each in repositories], 0
    while waiting:
        (done,), waiting = ray.wait(waiting)
        name, code, said = ray.get(done)
        worst = max(worst, code)
        print(f"{name}: {'exported' if code == 0 else f'exit {code}: {said}'}", flush=True)
    return worst


if __name__ == "__main__":
    ray.init(ignore_reinit_error=True)
    sys.exit(main(*sys.argv[1:]))
