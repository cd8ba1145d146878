"""Who turns away a request that brings nothing: the policy that denies it, or that asks for a login."""

from __future__ import annotations

from policylint.model import PolicyKind, Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.trace import Asker, Requirements, Trace, Tracer


class TurningAway(NamedTuple):
    """A policy, or what a filter or annotation names, that turns a request away, or that asks a service outside, whose
    word stands in no manifest."""

    by: Resource
    kind: PolicyKind
    outside: bool


class Askers:
    """What a Gateway's requests meet when they bring nothing; traced once for all that ask."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._requirements = Requirements(tracer)

    def of(self, trace: Trace) -> TurningAway | None:
        """Return the policy that turns a request away, None where it gets through, or where nobody knows."""
        if trace.denied is not None:
            return None if trace.denied[0] is None else self._turning(trace, trace.denied[0], None)
        asked = self._requirements.of(trace, "authentication")
        found = [
            turning
            for each in (asked.demands if asked.state == "asked" else ())
            if each.must and each.policy is not None
            if (turning := self._turning(trace, each.policy, each)) is not None
        ]
        return min(found, key=lambda each: each.outside, default=None)

    def _turning(self, trace: Trace, key: ResourceKey, demand: Asker | None) -> TurningAway | None:
        state, named = self.tracer.simulation.policies.get(key), {each.wanted: each.kind for each in trace.extensions}
        resource = self.tracer.simulation.world.get(key) if state is None else state.policy
        kind = named.get(key) if state is None else state.kind
        if resource is None or kind is None:
            return None
        return TurningAway(resource, kind, demand is not None and _is_outside(trace, kind, demand))

    def is_open(self, trace: Trace) -> bool:
        """Return whether a request that brings nothing gets through for certain."""
        return (
            bool(trace.outcome.backends)
            and trace.denied is None
            and self._requirements.of(trace, "authentication").state == "open"
        )


def _is_outside(trace: Trace, kind: PolicyKind, demand: Asker) -> bool:
    """Return whether a demand is the word of a service: it may let a request pass that brings nothing."""
    words = {path.rpartition(".")[2] for path in kind.settings.outside}
    return demand.setting in words | {each.decision.asks for each in trace.admissions if each.decision.asks}
