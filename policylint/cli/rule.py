"""`policylint rule [ID]`: the page of a rule in the terminal, or the list of rules."""

from __future__ import annotations

import click

from policylint.cli.completing import rule_names
from policylint.cli.options import Command, color, form_option
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.report.rule_page import RulePage


@click.command(
    cls=Command,
    examples="""\
  policylint rule                          all rules
  policylint rule GWP201
  policylint rule parent-setting-dropped
  policylint rule -o markdown              the index of docs/rules.md
""",
)
@click.argument("name", metavar="[ID]", required=False, shell_complete=rule_names)
@form_option(FORMATS["rule"], "Form of the output.")
@color
def rule(name: str | None, form: str, color: str) -> int:
    """Show what a rule means, why it matters and how to fix it. Without ID: all rules."""
    from policylint.cli.output import put, table_width, wants_color
    from policylint.report.kit.display import Paint
    from policylint.report.rule_index import write
    from policylint.report.rule_page import all_pages, page_of

    pages = all_pages() if name is None else [page for page in (page_of(name),) if page]
    if not pages:
        raise click.UsageError(_unknown(name or "", all_pages()))
    put(write(form, pages, Paint(wants_color(color), table_width()), whole=name is not None))
    return 0


def _unknown(name: str, pages: list[RulePage]) -> str:
    """Return `no such rule: 'GWP291' (did you mean GWP201?)`; the beginning of an id names the ids that begin so."""
    from difflib import get_close_matches

    spelled = name.upper() if name[:3].upper() == "GWP" else name.lower()
    family = [page.id for page in pages if len(spelled) > 3 and page.id.startswith(spelled)]
    if family:
        return f"no such rule: {name!r} (there are {', '.join(family)})"
    close = get_close_matches(spelled, [text for page in pages for text in (page.id, page.name)], 1)
    return f"no such rule: {name!r}" + (f" (did you mean {close[0]}?)" if close else "; policylint rule lists them all")
