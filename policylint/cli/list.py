"""`policylint list WHAT`: tables of policies, routes, Gateways, backends, connections, placements."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.options import EXIT_CODES, Command, at, form_option, option
from policylint.cli.run import Run, reading, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLES = ("policies", "routes", "gateways", "listeners", "backends", "connections", "placements")
SHOWN = "What is shown"
_PLURALS = {**{name.removesuffix("s"): name for name in TABLES}, "policy": "policies"}


class _Tables(click.Choice[str]):
    """The tables, each in the singular, too."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        return super().convert(_PLURALS.get(value, value), param, context)


@click.command(
    "list",
    cls=Command,
    examples="""\
  policylint list policies
  policylint list routes -n shop -o wide
  policylint list policies --kind SecurityPolicy -l team=shop
  policylint list policies -o json | jq '.policies[] | select(.verdict != "Enforced")'
""",
    exit_codes=EXIT_CODES,
)
@click.argument("what", type=_Tables(TABLES))
@option(SHOWN, "-n", "--namespace", metavar="NAME", default="", help="Only objects of this namespace.")
@option(SHOWN, "--kind", metavar="KIND", default="", help="Only this kind, e.g. SecurityPolicy or HTTPRoute.")
@option(
    SHOWN, "-l", "--selector", metavar="LABELS", default="", help="Only objects with these labels: a=b,c!=d,e in (f,g)."
)
@reading
@at()
@form_option(FORMATS["list"], "Format on stdout; wide has more columns.")
@showing
def list_(run: Run, what: str, namespace: str, kind: str, selector: str, revision: str, form: str) -> int:
    """List policies with their targets, verdicts and reach; routes, Gateways, listeners, backends with their policies;
    the connections that network policies leave open (-n: to or from a namespace); the placements of policies for
    clusters.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root.
    """
    from policylint.cli.output import put, table_width, wants_color
    from policylint.report.kit.display import Paint
    from policylint.report.list.listing import ListRequest, entries, write

    labels = _labels(selector) if selector else None
    workspace = run.open(run.setup(), revision)
    run.lap("read and simulate")
    rows = entries(what, workspace.simulations, ListRequest(namespace, kind, labels, workspace.scope))
    for piece in write(form, what, rows, Paint(wants_color(run.color), table_width())):
        put(piece)
    run.lap("report")
    run.end(workspace.coverage)
    return INCOMPLETE if workspace.coverage.cut_off else OK


def _labels(text: str) -> dict[str, Any]:
    """Return a label selector as kubectl takes it, as a LabelSelector.

    Raises:
        click.UsageError: a requirement is none.
    """
    import re

    expressions: Any = []
    for part in map(str.strip, re.findall(r"[^,(]+(?:\([^)]*\))?", text)):
        if sets := re.fullmatch(r"([\w./-]+)\s+(in|notin)\s+\(([^)]*)\)", part):
            operator = "In" if sets[2] == "in" else "NotIn"
            values = [value.strip() for value in sets[3].split(",")]
            expressions.append({"key": sets[1], "operator": operator, "values": values})
        elif equals := re.fullmatch(r"([\w./-]+)\s*(==?|!=)\s*([\w.-]*)", part):
            operator = "NotIn" if equals[2] == "!=" else "In"
            expressions.append({"key": equals[1], "operator": operator, "values": [equals[3]]})
        elif key := re.fullmatch(r"(!?)\s*([\w./-]+)", part):
            expressions.append({"key": key[2], "operator": "DoesNotExist" if key[1] else "Exists"})
        else:
            raise click.UsageError(f"{part!r} is not a label selector such as a=b, c!=d, e in (f,g)")
    return {"matchExpressions": expressions}


list = list_  # noqa: A001 - the commands are looked up by their names
