"""GWP504: a mapping has one key twice; the API server keeps the last value without a word."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, Location, Spot
from policylint.simulation import Simulation

RULE = "GWP504"


def check(simulation: Simulation) -> Iterator[Finding]:
    for problem in simulation.world.problems:
        if problem.code == "duplicate-key":
            yield Finding(
                RULE,
                "error",
                f"{problem.message[:1].lower()}{problem.message[1:]}",
                Location(Spot(problem.file, problem.line, problem.column)),
                label="this value is used, the other one is ignored",
                help=("fix: keep one of them",),
            )
