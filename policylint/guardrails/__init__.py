"""GWP320 guardrail-broken: what the configuration requires of all requests and connections (docs/guardrails.md)."""

from __future__ import annotations

from policylint.guardrails.judging import broken
from policylint.guardrails.reading import Guardrail, guardrails
from policylint.guardrails.verdicts import RULE, Breach, GuardrailVerdict, verdicts

__all__ = ["RULE", "Breach", "Guardrail", "GuardrailVerdict", "broken", "guardrails", "verdicts"]
