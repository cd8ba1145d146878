"""GWP320: the findings of guardrails that do not hold, that may not hold, or that guard nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from policylint.guardrails.reading import Guardrail
from policylint.guardrails.verdicts import RULE, Breach, Exempted, GuardrailVerdict, verdicts
from policylint.model import Confidence, Finding, Location
from policylint.model.words import count
from policylint.simulation import Simulation

_MOST = 3


def broken(
    simulations: Sequence[Simulation], guardrails: Sequence[Guardrail], places: object, *, whole: bool
) -> Iterator[Finding]:
    """Yield the findings of all environments.

    Args:
        places: the configuration, for where a guardrail is written.
        whole: whether everything was looked at: in a part of a repository a guardrail may guard nothing.
    """
    idle = {guardrail.number: guardrail for guardrail in guardrails}
    unneeded = {(guardrail.number, at): False for guardrail in guardrails for at in range(len(guardrail.exceptions))}
    for simulation in simulations:
        for verdict in verdicts(simulation, guardrails):
            if verdict.looked_at:
                idle.pop(verdict.guardrail.number, None)
            seen = all(not breach.unknown and not breach.ground for breach in verdict.breaches)
            for at, exempted in enumerate(verdict.exempted):
                place = (verdict.guardrail.number, at)
                if exempted.passing or not seen:
                    unneeded.pop(place, None)
                elif place in unneeded:
                    unneeded[place] |= exempted.asked
            yield from _findings(simulation, verdict)
    for guardrail in guardrails if whole and places is not None else ():
        for at in range(len(guardrail.exceptions)) if guardrail.form == "ask" and guardrail.number not in idle else ():
            if (guardrail.number, at) in unneeded:
                yield _stale(guardrail, at, unneeded[guardrail.number, at], places, simulations)
    for guardrail in idle.values() if whole and places is not None else ():
        yield Finding(
            RULE,
            "warning",
            f"guardrail `{guardrail.name}` guards nothing: {_nothing(guardrail)}",
            Location(places, ("require", guardrail.number)),  # type: ignore[arg-type]
            label="nothing here matches it",
            help=("fix: correct it, or remove it",),
            field=guardrail.name,
            environments=tuple(simulation.world.name for simulation in simulations),
        )


def _stale(guardrail: Guardrail, at: int, asked: bool, places: object, simulations: Sequence[Simulation]) -> Finding:
    """Return the finding of an exception that nothing needs: what gets its requests later is not asked, unseen."""
    pattern = guardrail.exceptions[at]
    return Finding(
        RULE,
        "warning",
        f"exemption `{pattern}` of guardrail `{guardrail.name}` exempts nothing: {Exempted(asked=asked).nothing}",
        Location(places, ("require", guardrail.number, "except", at)),  # type: ignore[arg-type]
        label="nothing needs it",
        help=("fix: remove it, so that nothing can use it unnoticed later",),
        field=f"{guardrail.name} {pattern}",
        environments=tuple(simulation.world.name for simulation in simulations),
    )


def _nothing(guardrail: Guardrail) -> str:
    if guardrail.form == "ask":
        return "it matches no request that reaches a backend"
    return f"there is no {guardrail.target}, or no such client"


def _findings(simulation: Simulation, verdict: GuardrailVerdict) -> Iterator[Finding]:
    """Yield a finding for each object that is responsible, those that rest on the unseen by themselves."""
    grouped: dict[tuple[object, bool], list[Breach]] = {}
    for breach in verdict.breaches:
        grouped.setdefault((breach.resource, bool(breach.unknown)), []).append(breach)
    for (_, is_unknown), breaches in grouped.items():
        first = breaches[0]
        listed = "; ".join(dict.fromkeys(breach.what for breach in breaches[:_MOST]))
        more = f"; and {count(len(breaches) - _MOST, 'more')}" if len(breaches) > _MOST else ""
        shows = (f"see: policylint trace {shlex.join(first.shows)}",) if first.shows else ()
        may = "may" if is_unknown else "does"
        seen: Confidence = "assumed" if first.ground else "certain"
        yield Finding(
            RULE,
            "error",
            f"guardrail `{verdict.guardrail.name}` {may} not hold: {listed}{more}: {first.why}",
            first.location,
            resources=(first.resource,),
            label=first.why,
            help=shows,
            confidence="unknown" if is_unknown else seen,
            ground=first.unknown or first.ground,
            field=verdict.guardrail.name,
            environments=(simulation.world.name,),
        )
