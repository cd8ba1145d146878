"""`policylint graph [RESOURCE] [PATH…]`: topology, policies and their effects as a picture or a page."""

from __future__ import annotations

import click

from policylint.cli.commands import OK
from policylint.cli.options import INPUT, OUTPUT, Command, option, reading, showing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.cli.diff_sides import Two
    from policylint.model import Finding
    from policylint.report.graph import Asked, Drawing
    from policylint.workspace import Workspace

SHOWN = "What is drawn"
FORMATS = ("mermaid", "dot", "svg", "html")


@click.command(
    cls=Command,
    options_metavar="[RESOURCE] [OPTIONS]",
    epilog="""\b
Examples:
  policylint graph --output html=graph.html              everything, to open in a browser
  policylint graph HTTPRoute/shop/checkout -o mermaid    one route, for a README or a comment
  policylint graph SecurityPolicy/infra/edge-jwt -o svg > jwt.svg
  policylint graph --diff main..HEAD -o svg > c.svg       what a change does, marked
  policylint graph -n shop -o dot clusters/prod | dot -Tpdf -o shop.pdf

\b
Exit codes: 0, 2 wrong usage, 3 not done whole.
""",
)
@option(
    SHOWN, "-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Only this namespace; repeatable."
)
@option(SHOWN, "--kind", "kinds", multiple=True, metavar="KIND", help="Only objects of this kind; repeatable.")
@option(
    SHOWN,
    "--policy",
    "policies",
    multiple=True,
    metavar="POLICY",
    help="Only policies of this kind or name; repeatable.",
)
@option(
    SHOWN,
    "--diff",
    "revisions",
    metavar="A..B",
    default="",
    help="What changes between two revisions (A alone: and the work tree), marked; without RESOURCE.",
)
@reading
@option(INPUT, "--at", "revision", metavar="REV", default="", help="As of this git revision, not the work tree.")
@option(
    OUTPUT,
    "-o",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=None,
    help="Format on stdout. Default: mermaid, unless --output is given.",
)
@option(
    OUTPUT, "--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write FORMAT to FILE; repeatable."
)
@showing
def graph(
    paths: tuple[str, ...],
    directory: str | None,
    semantics: str | None,
    snapshot: str | None,
    namespaces: tuple[str, ...],
    kinds: tuple[str, ...],
    policies: tuple[str, ...],
    revisions: str,
    revision: str,
    form: str | None,
    outputs: tuple[str, ...],
    color: str,  # noqa: ARG001 - the formats have their own colours
    verbose: bool,
    timing: bool,
) -> int:
    """Draw topology and policies: what is attached, effective, overridden, dangling.

    RESOURCE is Kind/name, Kind/namespace/name or a bare name: what stands above and below it, and the policies on that.
    For a policy: what it names and reaches, and its rivals. Without it: everything.

    html is one page that needs nothing else: pan, zoom, search, filter, click for the effective policy with sources.
    """
    from policylint.cli.opening import Clock, describe, enter
    from policylint.cli.streams import put, save, say
    from policylint.report.graph import Asked, write

    clock = Clock()
    enter(directory)
    files = [_output(each) for each in outputs]
    asked = Asked({}, namespaces, kinds, policies)
    shown = form or (None if files else "mermaid")
    html = "html" in {shown, *(name for name, _ in files)}
    if revisions and revision:
        raise click.UsageError("--at and --diff exclude each other: --diff A..B names both revisions")
    if revisions:
        from policylint.cli.diff_asked import Wanted, resolved
        from policylint.cli.diff_sides import both

        two = both(resolved(Wanted((revisions, *paths), semantics=semantics, snapshot=snapshot)))
        workspace = two.after
        clock.lap("read and simulate")
        drawing = _changes(two, asked._replace(title=two.span), html=html)
    else:
        from policylint.cli.trace_at import opened_at

        resource, places = _split(paths)
        workspace = opened_at(revision, places, None, semantics, snapshot)
        clock.lap("read and simulate")
        drawing = _drawing(workspace, resource, asked, html=html)
    clock.lap("graph")
    if not drawing.graph.nodes:
        say("nothing to draw: " + ("nothing changes" if revisions else "no Gateway API object or policy is left"))
    for piece in write(shown, drawing) if shown else ():
        put(piece)
    for name, file in files:
        save(file, "".join(write(name, drawing)))
    clock.lap("report")
    if verbose:
        describe(workspace.coverage)
    if timing:
        for line in clock.lines():
            say(line)
    return OK


def _split(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """RESOURCE and PATHs: the first word is a RESOURCE unless something is there under that name."""
    import os

    if not words or words[0] == "-" or os.path.lexists(words[0]):
        return "", words
    return words[0], words[1:]


def _drawing(workspace: Workspace, resource: str, asked: Asked, *, html: bool) -> Drawing:
    """Everything, or what is around the object in each environment.

    Raises:
        click.UsageError: nothing or too much is called that.
    """
    from policylint.explain.subject import UnclearError, subjects
    from policylint.report.graph import draw

    if resource:
        try:
            found = subjects(resource, workspace.simulations)
        except UnclearError as error:
            raise click.UsageError(str(error)) from None
        where = {id(simulation): number for number, simulation in enumerate(workspace.simulations)}
        about = {where[id(each.simulation)]: (each.key, each.node) for each in found}
        asked = asked._replace(subjects=about, title=str(found[0].node))
    return draw(workspace.simulations, asked, _findings(workspace) if html else ())


def _changes(two: Two, asked: Asked, *, html: bool) -> Drawing:
    """What changes between two revisions."""
    from policylint.compare import compare, paired
    from policylint.report.graph import draw_changes

    sides = paired(two.before.simulations, two.after.simulations)
    return draw_changes(sides, compare(sides), asked, _findings(two.after) if html else ())


def _findings(workspace: Workspace) -> list[Finding]:
    """What lint says, suppressions and configured severities heeded."""
    from policylint.cli import configured
    from policylint.cli.judging import judge

    settings = configured.settings()
    return [
        each
        for each in judge(workspace, settings, configured.chosen(settings, [], [])).findings
        if each.confidence != "unknown"
    ]


def _output(text: str) -> tuple[str, str]:
    """`svg=out.svg` in its two parts."""
    name, equals, file = text.partition("=")
    if not equals or not file or name not in FORMATS:
        raise click.BadParameter(f"{text!r} is not FORMAT=FILE with one of {', '.join(FORMATS)}", param_hint="--output")
    return name, file
