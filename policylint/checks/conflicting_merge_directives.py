"""GWP208: defaults and overrides together, a strategy that the kind does not know, settings beside a wrapper."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP208"
CODES = {
    "both-wrappers": ("sets both defaults and overrides", "split it into two policies"),
    "unknown-strategy": ("names a merge strategy that does not exist", ""),
    "bare-and-wrapped": ("has settings both inside and outside its wrapper", "move them all inside"),
}


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        if state.invalid_code not in CODES:
            continue
        message, fix = CODES[state.invalid_code]
        pointer = state.invalid_pointer
        yield Finding(
            RULE,
            "error",
            f"{state.key} {message}, so it is refused",
            state.policy.location(*pointer, key=state.invalid_code != "unknown-strategy"),
            resources=(state.key,),
            label=state.invalid,
            help=(f"fix: {fix}",) if fix else (),
            field=path(pointer),
        )
