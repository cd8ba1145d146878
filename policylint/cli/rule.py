"""`policylint rule [ID]`: the page of a rule in the terminal, or the list of rules."""

from __future__ import annotations

import click

from policylint.cli.completing import rule_names
from policylint.cli.options import Command, color, form_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.model.rule_page import RulePage
    from policylint.report.kit.display import Paint

_WIDTH = 100


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint rule                          all rules
  policylint rule GWP201
  policylint rule parent-setting-dropped
  policylint rule -o markdown              the index of docs/rules.md
""",
)
@click.argument("name", metavar="[ID]", required=False, shell_complete=rule_names)
@form_option(("text", "json", "markdown"), "Form of the output.")
@color
def rule(name: str | None, form: str, color: str) -> int:
    """Show what a rule means, why it matters and how to fix it. Without ID: all rules."""
    from policylint.cli.output import put, wants_color
    from policylint.model.rule_page import all_pages, page_of
    from policylint.report.kit.display import Paint

    paint = Paint(wants_color(color))
    pages = all_pages() if name is None else [found for found in (page_of(name),) if found]
    if not pages:
        raise click.UsageError(_unknown(name or "", all_pages()))
    if form != "text":
        from policylint.report import rule_index

        put(rule_index.as_json(pages) if form == "json" else rule_index.markdown(pages, whole=name is not None))
    elif name is None:
        put("".join(_line(page, paint) for page in pages))
    else:
        put(_page(pages[0], paint))
    return 0


def _line(page: RulePage, paint: Paint) -> str:
    return f"{page.id}  {paint(page.severity, f'{page.severity:8}')} {page.name}\n"


def _page(page: RulePage, paint: Paint) -> str:
    """The head, then the page: paragraphs wrapped, examples indented, headings in bold where there are colours."""
    from policylint.report.kit.display import wrapped

    severity = paint(page.severity, page.severity)
    facts = [severity, page.confidence, f"since {page.since}", *(f"#{tag}" for tag in page.tags)]
    lines = [f"{paint('strong', page.id)} {paint('strong', page.name)}", " · ".join(facts), ""]
    fenced = False
    paragraph: list[str] = []
    for line in [*page.body.strip().splitlines(), ""]:
        prose = line and not fenced and not line.startswith(("#", "-", "|", ">", " ", "```"))
        if prose:
            paragraph.append(line)
            continue
        lines += wrapped(" ".join(paragraph), _WIDTH) if paragraph else []
        paragraph = []
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append(f"    {line}".rstrip())
        else:
            lines.append(paint("strong", line.lstrip("# ")) if line.startswith("#") else line)
    return "\n".join(lines).rstrip() + "\n"


def _unknown(name: str, pages: list[RulePage]) -> str:
    """`no such rule: 'GWP291' (did you mean GWP201?)`; the beginning of an id names the ids that begin so."""
    from difflib import get_close_matches

    wanted = name.upper() if name[:3].upper() == "GWP" else name.lower()
    family = [page.id for page in pages if len(wanted) > 3 and page.id.startswith(wanted)]
    if family:
        return f"no such rule: {name!r} (there are {', '.join(family)})"
    close = get_close_matches(wanted, [each for page in pages for each in (page.id, page.name)], 1)
    return f"no such rule: {name!r}" + (f" (did you mean {close[0]}?)" if close else "; policylint rule lists them all")
