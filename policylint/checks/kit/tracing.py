"""The tracer that all rules share which ask what becomes of requests: what one needs is indexed when it is made."""

from __future__ import annotations

from typing import cast

from policylint.simulation import Simulation
from policylint.trace import Tracer


def tracer_of(simulation: Simulation) -> Tracer:
    """Return the tracer of an environment that rules share; it is kept until the environment is judged."""
    if simulation.kept_tracer is None:
        simulation.kept_tracer = Tracer(simulation, nearest=False)
    return cast("Tracer", simulation.kept_tracer)
