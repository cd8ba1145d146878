"""`policylint graph [RESOURCE] [PATH…]`: topology, policies and their effects as a picture or a page."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK, say
from policylint.cli.options import EXIT_CODES, Command, at, form_option, option, outputs, watch
from policylint.cli.reporting import output_files
from policylint.cli.run import Run, reading, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.model import Finding
    from policylint.report.graph import Drawing, GraphRequest
    from policylint.session.diff import DiffSides
    from policylint.session.settings import Setup
    from policylint.workspace import Workspace

SHOWN = "What is drawn"
LAYERS = ("policies", "network")
_NOTHING = {
    "policies": "no Gateway API object or policy is left",
    "network": "no network policy bears on anything that is left",
}


@click.command(
    cls=Command,
    options_metavar="[RESOURCE] [OPTIONS]",
    examples="""\
  policylint graph --output html=graph.html              everything, to open in a browser
  policylint graph HTTPRoute/shop/checkout -o mermaid    one route, for a README or a comment
  policylint graph SecurityPolicy/infra/edge-jwt -o svg > jwt.svg
  policylint graph --diff main..HEAD -o svg > c.svg       what a change does, marked
  policylint graph --layer network -n shop -o svg > n.svg which connections are allowed
  policylint graph -n shop -o dot clusters/prod | dot -Tpdf -o shop.pdf
""",
    exit_codes=EXIT_CODES,
)
@option(
    SHOWN, "-n", "--namespace", "namespaces", multiple=True, metavar="NAME", help="Only this namespace; repeatable."
)
@option(
    SHOWN,
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only this kind; of policies with what they are on; repeatable.",
)
@option(
    SHOWN,
    "--diff",
    "revisions",
    metavar="A..B",
    default="",
    help="What changes between two revisions (A alone: and the work tree), marked; without RESOURCE.",
)
@option(
    SHOWN,
    "--request",
    metavar="'METHOD URL'",
    default="",
    help="html: show the way of this request first: 'GET https://shop.example.com/'.",
)
@option(
    SHOWN,
    "--layer",
    type=click.Choice(LAYERS),
    default=LAYERS[0],
    help="policies: what is attached to what; network: the connections that network policies decide on.",
)
@reading
@watch
@at()
@form_option(FORMATS["graph"], "Format on stdout. Default: mermaid, unless --output is given.", None)
@outputs
@showing
def graph(
    run: Run,
    namespaces: tuple[str, ...],
    kinds: tuple[str, ...],
    revisions: str,
    request: str,
    layer: str,
    revision: str,
    form: str | None,
    outputs: tuple[str, ...],
) -> int:
    """Draw topology and policies: what is attached, effective, overridden, dangling.

    RESOURCE is Kind/name, Kind/namespace/name or a bare name: what stands above and below it, and the policies on that.
    For a policy: what it names and reaches, and its rivals. Without it: everything.

    html is one page that needs nothing else: pan, zoom, search, filter, click for the effective policy with sources.
    """
    from policylint.cli.output import put, save
    from policylint.report.graph import GraphRequest, write

    files = output_files(outputs, FORMATS["graph"])
    selection = GraphRequest({}, namespaces, kinds, layer=layer)
    shown = form or (None if files else "mermaid")
    html = "html" in {shown, *(name for name, _ in files)}
    if request:
        _check(request, html=html)
    if revisions and revision:
        raise click.UsageError("--at cannot be used with --diff: --diff A..B names both revisions")
    if layer == "network" and kinds:
        raise click.UsageError("--layer network goes with RESOURCE, --namespace and --diff, not with --kind")
    if revisions:
        from policylint.session.revisions import DiffOptions, resolve

        wanted = resolve(run.options(paths=(revisions, *run.paths)), DiffOptions())
        sides = run.open_sides(wanted)
        workspace = sides.after
        run.lap("read and simulate")
        drawing = _changes(sides, selection._replace(title=wanted.span), html=html)
        revision = wanted.end or ""
    else:
        resource, places = _split(run.paths)
        setup = run.setup(paths=places)
        workspace = run.open(setup, revision)
        run.lap("read and simulate")
        drawing = _drawing(setup, workspace, resource, selection, html=html)
    if html:
        drawing = _for_page(drawing, workspace, selection, revision, request, beside=not revisions)
    run.lap("graph")
    if not drawing.graph.nodes:
        say("nothing to draw: " + ("nothing changes" if revisions else _NOTHING[layer]))
    for piece in write(shown, drawing) if shown else ():
        put(piece)
    for name, file in files:
        save(file, "".join(write(name, drawing)))
    run.lap("report")
    run.end(workspace.coverage)
    return INCOMPLETE if workspace.coverage.cut_off else OK


def _check(request: str, *, html: bool) -> None:
    """Raise an error where a request cannot be shown."""
    from policylint.trace import from_url

    if not html:
        raise click.UsageError("--request is for the page: add -o html or --output html=FILE")
    method, _, url = request.strip().partition(" ")
    if not url.strip():
        raise click.UsageError("--request takes a method and a URL: 'GET https://shop.example.com/'")
    from_url(method, url.strip())


def _for_page(
    drawing: Drawing, workspace: Workspace, selection: GraphRequest, revision: str, request: str, *, beside: bool
) -> Drawing:
    """Return a drawing with what only the page shows.

    Args:
        revision: which the files were read of, "" for the work tree.
        beside: whether the connections between workloads are drawn as a second layer.
    """
    from functools import partial

    from policylint.report.graph import draw
    from policylint.session.forge import links
    from policylint.session.stand import stand

    network = None
    if beside and selection.layer != "network" and not (selection.kinds or drawing.title):
        network = draw(workspace.simulations, selection._replace(layer="network")).graph
    known = partial(links, workspace.root, revision)
    return drawing._replace(request=request, links=known, network=network, stand=stand(workspace.root, revision))


def _split(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return RESOURCE and PATHs: the first word is a RESOURCE unless something is there under that name."""
    import os

    if not words or words[0] == "-" or os.path.lexists(words[0]):
        return "", words
    return words[0], words[1:]


def _drawing(setup: Setup, workspace: Workspace, resource: str, selection: GraphRequest, *, html: bool) -> Drawing:
    """Draw everything, or what is around the object in each environment.

    Raises:
        UnclearError: nothing or too much is called that.
    """
    from policylint.explain.subject import subjects
    from policylint.report.graph import draw

    if resource:
        known = subjects(resource, workspace.simulations)
        numbers = {id(simulation): number for number, simulation in enumerate(workspace.simulations)}
        about = {numbers[id(subject.simulation)]: (subject.key, subject.node) for subject in known}
        selection = selection._replace(subjects=about, title=str(known[0].node))
    return draw(workspace.simulations, selection, _findings(setup, workspace) if html else ())


def _changes(sides: DiffSides, selection: GraphRequest, *, html: bool) -> Drawing:
    """Draw what changes between two revisions."""
    from policylint.compare import compare, pair_sides
    from policylint.compare.within import within
    from policylint.report.graph import draw_changes

    pairs = pair_sides(sides.before.simulations, sides.after.simulations)
    changes = compare(pairs)
    if sides.scope is not None:
        scopes = sides.scopes()
        changes = within(changes, scopes)
        pairs = [pair for pair in pairs if pair.after.world.name in scopes]
    findings = _findings(sides.request.setup, sides.after) if html else ()
    return draw_changes(pairs, changes, selection, findings)


def _findings(setup: Setup, workspace: Workspace) -> list[Finding]:
    """Return what lint says, suppressions and configured severities heeded."""
    from policylint.session.lint import judge
    from policylint.session.rules import chosen

    return judge(setup, workspace, chosen(setup)).known
