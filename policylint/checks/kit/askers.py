"""Who turns away a request that brings nothing: the policy that denies it, or that asks for a login."""

from __future__ import annotations

from policylint.policy.results import PolicyState
from policylint.trace import Requirements, Trace, Tracer


class Askers:
    """What a Gateway's requests meet when they bring nothing; traced once for all that ask."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._requirements = Requirements(tracer)

    def of(self, trace: Trace) -> PolicyState | None:
        """Return the policy that turns a request away, None where it gets through, or where nobody knows."""
        by = None if trace.denied is None else trace.denied[0]
        if trace.denied is None:
            asked = self._requirements.of(trace, "authentication")
            demands = asked.demands if asked.state == "asked" else ()
            by = next((each.policy for each in demands if each.must and each.policy is not None), None)
        return None if by is None else self.tracer.simulation.policies.get(by)

    def is_open(self, trace: Trace) -> bool:
        """Return whether a request that brings nothing gets through for certain."""
        return (
            bool(trace.outcome.backends)
            and trace.denied is None
            and self._requirements.of(trace, "authentication").state == "open"
        )
