"""`policylint simulate`: open the workspace, write down everything that was computed."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.options import INPUT, OUTPUT, Command, option, reading, showing


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint simulate clusters/prod
  policylint simulate -o json | jq '.policies[] | select(.status != "Enforced")'
  kustomize build . | policylint simulate - -o yaml
  policylint simulate --as status > status.yaml

\b
Exit codes: 0, 2 wrong usage, 3 not done whole.
""",
)
@reading
@option(INPUT, "--strict", is_flag=True, help="Read every document; exit 3 if there is nothing to simulate.")
@option(
    OUTPUT,
    "--as",
    "what",
    type=click.Choice(("simulation", "status")),
    default="simulation",
    show_default=True,
    help="status: what controllers would write under `status`, as YAML (or JSON) that merges into the manifests.",
)
@option(
    OUTPUT,
    "-o",
    "--format",
    "form",
    type=click.Choice(("text", "json", "yaml")),
    default="text",
    show_default=True,
    help="Format on stdout.",
)
@showing
def simulate(
    paths: tuple[str, ...],
    directory: str | None,
    semantics: str,
    snapshot: str | None,
    strict: bool,
    what: str,
    form: str,
    color: str,
    verbose: bool,
    timing: bool,
) -> int:
    """Show the computed state: policy and route status, effective policies with their origins.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root.
    """
    from policylint.cli.opening import Clock, describe, is_empty, opened
    from policylint.cli.streams import put, say, wants_color

    clock = Clock()
    workspace = opened(paths, directory, semantics, snapshot, strict=strict)
    clock.lap("read and simulate")
    if what == "status":
        from policylint.report.simulate import status

        pieces = status.write(form, workspace.simulations)
    else:
        from policylint.report.kit.display import Paint
        from policylint.report.simulate import write

        pieces = write(form, workspace.simulations, Paint(wants_color(color)))
    for piece in pieces:
        put(piece)
    clock.lap("report")
    if verbose:
        describe(workspace.coverage)
    if timing:
        for line in clock.lines():
            say(line)
    empty = is_empty(workspace.coverage)
    return INCOMPLETE if strict and empty else OK
