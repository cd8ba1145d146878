"""A finding: what a rule reports about one place."""

from __future__ import annotations

from typing import Literal

from policylint.model.fix import Fix
from policylint.model.keys import ResourceKey
from policylint.model.resource import Location
from policylint.namedtuple import NamedTuple

Severity = Literal["error", "warning", "note"]
Confidence = Literal["certain", "assumed", "unknown"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first."""


class Related(NamedTuple):
    """Another place that explains a finding, with what it has to do with it."""

    message: str
    location: Location


class Finding(NamedTuple):
    """One problem that a rule reports.

    Args:
        rule: id, e.g. GWP201.
        severity, confidence: see rules/; findings of `unknown` confidence are shown only on request.
        message: one line, subject + verb + object; route first.
        location: the cause, the place a person would edit.
        label: the text under the caret, e.g. `no HTTPRoute "chekout" in namespace shop`.
        related: other places, in reading order.
        resources: the objects it is about: the subject first, then the others.
        field: the field path inside the subject that tells two findings of one rule about the same resources apart.
        help: lines such as `fix: …` or `note: …`, without the `= `.
        ground: what a finding that is not certain rests on, as a clause: every assumed one says it.
        environments: the environments in which it holds.
        fixes: edits that would put it right, the best one first.
    """

    rule: str
    severity: Severity
    message: str
    location: Location
    resources: tuple[ResourceKey, ...] = ()
    label: str = ""
    related: tuple[Related, ...] = ()
    help: tuple[str, ...] = ()
    confidence: Confidence = "certain"
    ground: str = ""
    field: str = ""
    environments: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The lines of help, and what a finding rests on that is not certain."""
        if self.confidence == "certain" or not self.ground:
            return self.help
        return (*self.help, f"note: this is {self.confidence}: {self.ground}")

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Return file, line, column, rule and message."""
        return (*self.location.sort_key(), self.rule, self.message)
