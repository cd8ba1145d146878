"""What makes a guardrail hold, or breaks it, as text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from policylint.guardrails import Breach, Guardrail, GuardrailVerdict, verdicts
from policylint.model.words import count
from policylint.report.kit.display import one_line, short_place, wrapped
from policylint.simulation import Simulation

_MOST = 20
_WORDS = {"holds": "holds", "broken": "does not hold", "unknown": "may not hold", "idle": "guards nothing"}


def explained(simulations: Sequence[Simulation], guardrails: Sequence[Guardrail], room: int = 0) -> str:
    """Return the verdict on guardrails in each environment, with what it rests on and what exceptions let pass.

    Args:
        room: the columns of a line, 0 for any; commands stay whole, for they are copied.
    """
    lines: list[str] = []
    for simulation in sorted(simulations, key=lambda simulation: simulation.world.name):
        where = f" in {simulation.world.name}" if len(simulations) > 1 else ""
        for verdict in verdicts(simulation, guardrails):
            lines.append(f"{verdict.guardrail.name}: {_WORDS[verdict.state]}{where}")
            lines += _reasons(verdict)
            lines += _exemptions(verdict)
    return "\n".join(fitted for line in lines for fitted in _fitted(one_line_kept(line), room)) + "\n"


def _fitted(line: str, room: int) -> list[str]:
    bare = line.lstrip()
    if not room or bare.startswith("policylint "):
        return [line]
    indent = " " * (len(line) - len(bare))
    first, *others = wrapped(bare, room - len(indent) - 4)
    return [indent + first, *(f"{indent}    {more}" for more in others)]


def _exemptions(verdict: GuardrailVerdict) -> Iterator[str]:
    """Yield what each exception of a guardrail lets pass, and why it may."""
    if verdict.guardrail.form != "ask":
        return
    for pattern, exempted in zip(verdict.guardrail.exceptions, verdict.exempted, strict=True):
        yield f"  except {pattern}: {pattern.reason or 'no reason is given'}"
        yield from (f"    {what}" for what in exempted.passing[:_MOST])
        if len(exempted.passing) > _MOST:
            yield f"    and {len(exempted.passing) - _MOST} more"
        elif not exempted.passing:
            yield f"    exempts nothing: {exempted.nothing}"


def one_line_kept(line: str) -> str:
    """Return a line that can be printed, with its indentation."""
    indent = len(line) - len(line.lstrip())
    return " " * indent + one_line(line.lstrip())


def _reasons(verdict: GuardrailVerdict) -> Iterator[str]:
    about_requests = verdict.guardrail.form == "ask" or verdict.guardrail.is_by_address
    sort = "way" if about_requests else "pair"
    for why, number in verdict.held:
        yield f"  {count(number, sort)}: {why}"
    for breach in verdict.breaches[:_MOST]:
        yield from _broken(breach)
    if len(verdict.breaches) > _MOST:
        yield f"  and {len(verdict.breaches) - _MOST} more"


def _broken(breach: Breach) -> Iterator[str]:
    yield f"  {breach.what}: {breach.why} ({short_place(breach.location)})"
    if breach.unknown:
        yield f"    not known: {breach.unknown}"
    if breach.shows:
        yield f"    policylint trace {shlex.join(breach.shows)}"
