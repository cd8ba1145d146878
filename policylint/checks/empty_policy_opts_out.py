"""GWP205: a policy that sets nothing switches the inherited one off, or does nothing at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.checks.kit.locations import target_at, target_of
from policylint.checks.kit.losses import drops
from policylint.model import Finding, Related
from policylint.model.words import listing
from policylint.patterns import Pattern
from policylint.simulation import Simulation

RULE = "GWP205"
_MEANT = Pattern(
    r"(?:^|[-.])(?:(?:public|open)$|(?:anonymous|exempt(?:ed|ion)?|exception|bypass|disabled|opt-?out|unauthenticated"
    r"|unprotected|no-?(?:auth[nz]?|login|oidc))(?:$|[-.]))"
)
"""Names that say what an empty policy is for: nothing else can be done with one."""
_WITHOUT = Pattern(r"(?:^|-)(?:no|non|without|disabled?|skip|off)-?([a-z0-9-]+)|([a-z0-9-]+?)-?(?:off|disabled?)$")
_WORD = 4
"""Letters in which a word of a name and a field must agree: `compression`, `retries` and `retry`."""
_FIX = "fix: remove the policy, or set in it what should be different"


def check(simulation: Simulation) -> Iterator[Finding]:
    winners = set()
    for drop in drops(simulation).values():
        if not drop.empty:
            continue
        winner, loser, fields = drop.winner, drop.loser, list(drop.fields.values())
        winners.add(winner.key)
        is_meant = _MEANT.search(winner.key.name) is not None or _names(winner.key.name, drop.fields)
        yield Finding(
            RULE,
            "note" if is_meant else "warning",
            f"{winner.key} sets nothing, which turns {loser.key} off for {winner.node}",
            target_at(winner.policy, winner.target),
            resources=(winner.key, winner.node.key, loser.key),
            label=f"{listing(drop.fields)} no longer {'applies' if len(drop.fields) == 1 else 'apply'} here",
            related=tuple(Related(f"this no longer applies to {winner.node}", field) for field in fields[:4]),
            help=("note: its name says that it is meant",) if is_meant else (_FIX,),
        )
    for state in simulation.policies.values():
        if state.is_inert and state.key not in winners:
            yield Finding(
                RULE,
                "warning",
                f"{state.key} sets nothing, and has no effect",
                target_of(state, state.targets[0].nodes[0]),
                resources=(state.key,),
                label="there is nothing but the target",
                help=("fix: remove the policy, or set something in it",),
            )


def _names(name: str, fields: Iterable[str]) -> bool:
    """Tell whether a name says that it takes away just what is lost: `dozzle-no-compression`, `web-retries-off`."""
    words = ["".join(filter(None, found.groups())).replace("-", "") for found in _WITHOUT.finditer(name)]
    asked = [field.lower() for field in fields]
    return bool(words) and all(any(field[:_WORD] in word for word in words) for field in asked)
