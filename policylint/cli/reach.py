"""`policylint reach`: every way into an environment, for all requests at once, and what is asked on each."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.completing import objects as known_objects
from policylint.cli.completing import of_kind, workloads
from policylint.cli.options import EXIT_CODES, Command, at, form_option, option
from policylint.cli.run import Run, reading, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from policylint.guardrails import Guardrail
    from policylint.model import ResourceKey
    from policylint.session.settings import Setup
    from policylint.simulation import Simulation

QUERY = "What is asked"
EVERY = "-"


@click.command(
    cls=Command,
    examples="""\
  policylint reach
  policylint reach --to Service/shop/checkout
  policylint reach --gateway infra/public --without authentication
  policylint reach --from 203.0.113.0/24
  policylint reach --from ServiceAccount/shop/web --to Service/pay/payments
  policylint reach --without jwt -o csv > exposure.csv
""",
    exit_codes=EXIT_CODES,
)
@option(
    QUERY,
    "--gateway",
    "gateways",
    metavar="GATEWAY",
    multiple=True,
    shell_complete=of_kind("Gateway"),
    help="Only through this Gateway; repeatable.",
)
@option(
    QUERY,
    "--to",
    "objects",
    metavar="OBJECT",
    multiple=True,
    shell_complete=known_objects,
    help="Only through this route or to this backend; repeatable.",
)
@option(
    QUERY,
    "--from",
    "clients",
    metavar="CLIENT",
    multiple=True,
    shell_complete=workloads,
    help="Only requests of clients with this address, or of this network (10.0.0.0/8); or in the mesh those of "
    "ServiceAccount/NAMESPACE/NAME, a workload, namespace/NAME, or 'unmeshed'; repeatable.",
)
@option(
    QUERY,
    "--without",
    metavar="PURPOSE",
    default="",
    help="Only ways to a backend that do not demand it: authentication, authorization, or a setting such as jwt.",
)
@option(
    QUERY,
    "--explain",
    metavar="[NAME]",
    is_flag=False,
    flag_value=EVERY,
    default="",
    help="Say what makes a guardrail of the configuration hold, or what breaks it, and what its exemptions let pass; "
    "without NAME of all of them.",
)
@reading
@at()
@form_option(FORMATS["reach"])
@showing
def reach(
    run: Run,
    gateways: tuple[str, ...],
    objects: tuple[str, ...],
    clients: tuple[str, ...],
    without: str,
    explain: str,
    revision: str,
    form: str,
) -> int:
    """List every way in: which requests get where through which Gateway, and what they are asked for.

    PATH is a directory, a file, or `-` for rendered YAML on stdin. Default: the git root.
    """
    from policylint.cli.output import put, table_width, wants_color
    from policylint.report.kit.display import Paint
    from policylint.report.reach import Question, find, write

    networks, principals = _told_apart(clients)
    setup = run.setup()
    workspace = run.open(setup, revision)
    run.lap("read and simulate")
    found = workspace.simulations
    if explain:
        from policylint.report.reach.guardrails import explained

        put(explained(found, _guardrails(explain, setup), table_width()))
        run.end(workspace.coverage)
        return INCOMPLETE if workspace.coverage.cut_off else OK
    _known(principals, found)
    question = Question(_meant(gateways, found), _meant(objects, found), without, networks, principals)
    ways = find(found, question)
    for piece in write(form, ways, Paint(wants_color(run.color), table_width())):
        put(piece)
    run.lap("report")
    run.end(workspace.coverage)
    bounded = any(row.way.bounded for row in ways.rows)
    return INCOMPLETE if workspace.coverage.cut_off or bounded else OK


def _told_apart(clients: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return addresses and networks as one set, in the form in which predicates hold it, and clients in the mesh.

    Raises:
        click.UsageError: one is none of these, or both sorts are named.
    """
    from policylint.simulation.clients import UNMESHED
    from policylint.spaces.addresses import address_set

    inside = tuple(client for client in clients if client == UNMESHED or (client[:1].isalpha() and "/" in client))
    meant = address_set(tuple(client for client in clients if client not in inside))
    if meant.doubtful:
        forms = "an address nor a network such as 10.0.0.0/8, nor a client such as ServiceAccount/shop/web"
        raise click.UsageError(f"--from: {meant.doubtful!r} is neither {forms}")
    if inside and meant.ranges:
        raise click.UsageError("--from takes addresses or clients in the mesh, not both at once")
    return meant.text, inside


def _known(principals: tuple[str, ...], simulations: Sequence[Simulation]) -> None:
    """Look whether clients in the mesh are known in any environment; what a ServiceAccount is called needs no manifest.

    Raises:
        click.UsageError: one is not.
    """
    from policylint.trace import Tracer

    tracers = [Tracer(simulation, nearest=False) for simulation in simulations] if principals else []
    for name in principals:
        if not any(tracer.simulation.clients.identities(name) for tracer in tracers):
            raise click.UsageError(f"--from: there is no workload {name!r}")


def _guardrails(name: str, setup: Setup) -> list[Guardrail]:
    """Return the guardrail of a name, or every one.

    Raises:
        click.UsageError: the configuration states none.
    """
    from policylint.guardrails import guardrails

    known = {guardrail.name: guardrail for guardrail in guardrails(setup.settings.require)}
    if known and name == EVERY:
        return list(known.values())
    if name in known:
        return [known[name]]
    listed = ", ".join(map(repr, known)) or "none"
    what = "no guardrail" if name == EVERY else f"no guardrail {name!r}"
    raise click.UsageError(f"{what}; the configuration states {listed}")


def _meant(names: tuple[str, ...], simulations: Sequence[Simulation]) -> frozenset[ResourceKey] | None:
    """Return the objects that some names mean in any environment; None where nothing is named.

    Raises:
        click.UsageError: a name means no object.
    """
    if not names:
        return None
    from policylint.model.spelling import alike, find

    known = {key for simulation in simulations for key in (*simulation.world.resources, *simulation.topology.unseen)}
    meant: set[ResourceKey] = set()
    for name in names:
        keys = find(name, known)
        if not keys:
            close = alike(name, known, 1)
            raise click.UsageError(f"no object named {name!r}" + (f"; did you mean {close[0]}?" if close else ""))
        meant.update(keys)
    return frozenset(meant)
