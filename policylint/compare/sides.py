"""The two sides of one environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.compare.pairing import Pairing
    from policylint.simulation import Simulation


class Sides(NamedTuple):
    """Both sides of an environment, and how their identities pair up."""

    before: Simulation
    after: Simulation
    pairing: Pairing
