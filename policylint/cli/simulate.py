"""`policylint simulate`: open the workspace, write down everything that was computed."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.options import EXIT_CODES, INPUT, OUTPUT, Command, form_option, option
from policylint.cli.run import Run, is_empty, reading, showing
from policylint.report.formats import FORMATS


@click.command(
    cls=Command,
    examples="""\
  policylint simulate clusters/prod
  policylint simulate -o json | jq '.policies[] | select(.status != "Enforced")'
  kustomize build . | policylint simulate - -o yaml
  policylint simulate --as status > status.yaml
""",
    exit_codes=EXIT_CODES,
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
@form_option(FORMATS["simulate"])
@showing
def simulate(run: Run, strict: bool, what: str, form: str) -> int:
    """Show the computed state: policy and route status, effective policies with their origins.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root. What is shown are
    the environments in which PATH has a part, as a whole.
    """
    from policylint.cli.output import put, table_width, wants_color

    workspace = run.open(run.setup(strict=strict))
    run.lap("read and simulate")
    if what == "status":
        from policylint.report.simulate import status

        pieces = status.write(form, workspace.simulations)
    else:
        from policylint.report.kit.display import Paint
        from policylint.report.simulate import write

        pieces = write(form, workspace.simulations, Paint(wants_color(run.color), table_width()))
    for piece in pieces:
        put(piece)
    run.lap("report")
    run.end(workspace.coverage)
    return INCOMPLETE if (is_empty(workspace.coverage) and strict) or workspace.coverage.cut_off else OK
