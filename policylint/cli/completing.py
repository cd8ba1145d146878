"""What shell completion offers for rules; objects of the tree are offered by the commands that take one."""

from __future__ import annotations

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def rule_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Ids, and names once a small letter is typed; in a list (`GWP1,GW`) the last one is completed."""
    from click.shell_completion import CompletionItem

    from policylint.checks import RULES, name_of

    before, comma, word = incomplete.rpartition(",")
    by_name = word[:1].islower() and not word.startswith("gwp")
    found = [(name_of(rule), rule) if by_name else (rule, name_of(rule)) for rule in RULES]
    typed = word if by_name else word.upper()
    return [CompletionItem(f"{before}{comma}{name}", help=other) for name, other in found if name.startswith(typed)]
