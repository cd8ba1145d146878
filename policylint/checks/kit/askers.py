"""Who turns away a request that brings nothing: the policy that denies it, or that asks for a login."""

from __future__ import annotations

from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.trace import Asker, Requirements, Trace, Tracer


class TurningAway(NamedTuple):
    """A policy that turns a request away, or that asks a service outside, whose word stands in no manifest."""

    policy: PolicyState
    outside: bool


class Askers:
    """What a Gateway's requests meet when they bring nothing; traced once for all that ask."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._requirements = Requirements(tracer)

    def of(self, trace: Trace) -> TurningAway | None:
        """Return the policy that turns a request away, None where it gets through, or where nobody knows."""
        policies = self.tracer.simulation.policies
        if trace.denied is not None:
            by = policies.get(trace.denied[0]) if trace.denied[0] is not None else None
            return None if by is None else TurningAway(by, outside=False)
        asked = self._requirements.of(trace, "authentication")
        found = [
            TurningAway(policies[each.policy], _is_outside(trace, policies[each.policy], each))
            for each in (asked.demands if asked.state == "asked" else ())
            if each.must and each.policy in policies
        ]
        return min(found, key=lambda each: each.outside, default=None)

    def is_open(self, trace: Trace) -> bool:
        """Return whether a request that brings nothing gets through for certain."""
        return (
            bool(trace.outcome.backends)
            and trace.denied is None
            and self._requirements.of(trace, "authentication").state == "open"
        )


def _is_outside(trace: Trace, state: PolicyState, demand: Asker) -> bool:
    """Return whether a demand is the word of a service: it may let a request pass that brings nothing."""
    words = {path.rpartition(".")[2] for path in state.kind.settings.outside}
    return demand.setting in words | {each.decision.asks for each in trace.admissions if each.decision.asks}
