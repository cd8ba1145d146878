"""`lint --timing`: where the rules' part of a run went, rule by rule, the slowest first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WORTH_A_LINE = 0.0005
"""Seconds: rules below would show as 0.000; they are counted together."""


def by_rule(spent: Mapping[str, float]) -> Iterator[str]:
    """`0.012 s    GWP501 schema-violation` for each rule that took noticeable time, then one line for the others.

    Args:
        spent: seconds by rule, over all environments, the import of the rule's module included.
    """
    from policylint.checks import name_of

    ordered = sorted(spent.items(), key=lambda each: (-each[1], each[0]))
    shown = [each for each in ordered if each[1] >= WORTH_A_LINE]
    for rule, seconds in shown:
        yield f"{seconds:8.3f} s    {rule} {name_of(rule)}"
    rest = ordered[len(shown) :]
    if rest:
        rules = "rule" if len(rest) == 1 else "rules"
        yield f"{sum(seconds for _, seconds in rest):8.3f} s    {len(rest)} {'other ' if shown else ''}{rules}"
