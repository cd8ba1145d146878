"""The hops of a traced request through the network, as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.model import ResourceKey
from policylint.network.hops import Hop, Way
from policylint.network.walk import TierStep
from policylint.report.kit.display import short_place
from policylint.report.kit.identity import Names

_WORDS = {"allowed": "allowed", "denied": "DENIED", "unknown": "not known"}
_MOST = 8


def rows(way: Way, names: Names) -> Iterator[tuple[str, str, str]]:
    """Yield a row per hop, and one per end that any policy is about: head, words, place."""
    for hop in way.hops[:_MOST]:
        idle = f": {hop.because}" if hop.because and hop.verdict != "unknown" else ""
        words = f"{hop.port}  {_WORDS[hop.verdict]}{idle}".strip()
        yield f"      {source(hop, names)} to {end(hop, names)}", words, ""
        for direction, walk in (("egress", hop.egress), ("ingress", hop.ingress)):
            if any(step.policy is not None for step in walk):
                yield f"        {direction}", " > ".join(step_words(step, names) for step in walk), _place(walk)
    if len(way.hops) > _MOST:
        yield f"      and {len(way.hops) - _MOST} more", "-o json shows all", ""


def step_words(step: TierStep, names: Names) -> str:
    """Return `[NetworkPolicy] shop/deny-all: isolates, no rule lets it in`, `[Admin] tenants ingress[2] Pass`."""
    if step.policy is None:
        return f"[{step.tier}] {step.action}"
    perhaps = "" if step.certain else "perhaps "
    name = step.policy.key.path if step.policy.key.kind == step.tier else names.key(step.policy.key)
    if step.rule is None:
        return f"[{step.tier}] {name}: {perhaps}isolates, no rule lets it through"
    called = f" «{step.rule.name}»" if step.rule.name else ""
    http = ", where its L7 rules let the request through" if _may_refuse(step) else ""
    return f"[{step.tier}] {name} {step.rule.direction}[{step.rule.position}]{called} {perhaps}{step.action}{http}"


def _place(walk: Iterable[TierStep]) -> str:
    for step in reversed(list(walk)):
        if step.policy is not None:
            pointer = step.policy.pointer if step.rule is None else step.rule.pointer
            return short_place(step.policy.resource.location(*(pointer or ("metadata", "name"))))
    return ""


def condition(way: Way | None, names: Names) -> str:
    """Return on what it rests that a request gets through, beyond layers 3 and 4: L7 rules of which it is not known."""
    steps = [step for hop in way.hops for step in hop.egress + hop.ingress] if way is not None else []
    policies = dict.fromkeys(step.policy.key for step in steps if _may_refuse(step) and step.policy is not None)
    return f", where L7 rules of {', '.join(map(names.key, policies))} let it through" if policies else ""


def _may_refuse(step: TierStep) -> bool:
    return step.action == "Allow" and step.rule is not None and step.rule.calls is not None


def result(way: Way, backends: Iterable[ResourceKey], names: Names) -> str:
    """Return one sentence on a request that does not get through for certain."""
    to = ", ".join(dict.fromkeys(key.path for key in backends))
    denied = [hop for hop in way.hops if hop.verdict == "denied"]
    if way.verdict == "partly" and denied:
        cut = ", ".join(dict.fromkeys(f"{end(hop, names)} by {_stopper(hop, names)}" for hop in denied))
        return f"reaches {to} in part; cut off: {cut}."
    return f"not known: goes to {to}, and {way.doubt}."


def _stopper(hop: Hop, names: Names) -> str:
    step = hop.deciding
    return "a network policy" if step is None or step.policy is None else names.key(step.policy.key)


def source(hop: Hop, names: Names) -> str:
    """Name where a hop begins."""
    return "clients" if hop.source is None else names.key(hop.source.key) + hop.source.suffix


def end(hop: Hop, names: Names) -> str:
    """Name where a hop ends."""
    return names.key(hop.target.key) + hop.target.suffix
