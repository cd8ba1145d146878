"""The protocol of implementations, and its defaults (GEP-713), which each module may override: four small ones."""

from __future__ import annotations

from policylint.implementations.generic.attaching import Attaching, Attachments, resolved_to, unresolved
from policylint.implementations.generic.evaluating import Evaluating, placed, walk
from policylint.implementations.generic.reporting import Reporting, controller_above, fault_of
from policylint.implementations.generic.traffic import Traffic


class Implementation(Attaching, Evaluating, Traffic, Reporting):
    """The evaluation of policies by one implementation; modules override what differs."""


__all__ = [
    "Attachments",
    "Implementation",
    "Traffic",
    "controller_above",
    "fault_of",
    "placed",
    "resolved_to",
    "unresolved",
    "walk",
]
