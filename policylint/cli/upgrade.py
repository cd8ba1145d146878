"""`policylint upgrade`: the same manifests judged by another release of Gateway API or of an implementation."""

from __future__ import annotations

import click

from policylint.cli import options
from policylint.cli.commands import FOUND, INCOMPLETE, OK
from policylint.cli.completing import releases
from policylint.cli.options import INPUT, RULES, Command, option
from policylint.cli.run import Run, gather, is_empty, showing
from policylint.report.formats import FORMATS


class UpgradeRun(Run):
    """A run of upgrade."""

    says_releases = False
    to: tuple[str, ...]
    start: tuple[str, ...]
    needed: bool
    fail_on: str | None
    form: str


@click.command(
    cls=Command,
    examples="""\
  policylint upgrade
  policylint upgrade --to gateway-api=1.6
  policylint upgrade --from gateway-api=1.4 --to gateway-api=1.6 --needed clusters/prod
  policylint upgrade --to gateway-api=1.6 -o markdown > upgrade.md
""",
    exit_codes="""0 nothing at or above --fail-on, 1 something,
2 wrong usage or unknown release, 3 incomplete.""",
)
@options.what_is_read
@option(
    INPUT,
    "--to",
    metavar="NAME=VERSION",
    multiple=True,
    shell_complete=releases,
    help="The release to go to, e.g. gateway-api=1.6, or 1.6-standard for its channel; repeatable. Default: the newest "
    "of everything whose release is known.",
)
@option(
    INPUT,
    "--from",
    "start",
    metavar="NAME=VERSION",
    multiple=True,
    shell_complete=releases,
    help="The release in use. Default: `releases` of the configuration, else what the tree says (charts, images, "
    "CRDs), else the one before.",
)
@option(RULES, "--needed", is_flag=True, help="Only what must be done first.")
@option(
    RULES,
    "--fail-on",
    type=click.Choice((*options.SEVERITIES, "never")),
    help="error (the default): what must be done first, and requests that are opened or asked less; warning: what does "
    "something else as well; note: deprecations, too.",
)
@options.form_option(FORMATS["upgrade"])
@showing
@gather(UpgradeRun)
def upgrade(run: UpgradeRun) -> int:
    """Show what another release makes of these manifests: what it refuses, drops, no longer serves, defaults or does
    otherwise, with file and line, and which requests it answers otherwise.

    NAME is gateway-api, envoy-gateway, istio, kgateway, agentgateway, kuadrant or nginx-gateway-fabric.
    """
    from policylint.catalog.releases import stated
    from policylint.cli.output import put, wants_color
    from policylint.report.kit.display import Paint
    from policylint.report.upgrade import write
    from policylint.session.upgrade import channels, newest, reaches, run_upgrade, what_is_needed
    from policylint.session.upgrade import releases as read

    chosen = read(run.to)
    setup = run.setup()
    in_use = {**stated(setup.settings.releases), **read(run.start)}
    workspace = run.open(setup)
    run.lap("read and simulate")
    result = run_upgrade(workspace, chosen or newest(workspace, in_use), in_use, run.lap, channels(run.to))
    put(write(run.form, what_is_needed(result) if run.needed else result, Paint(wants_color(run.color))))
    run.lap("report")
    run.end(workspace.coverage)
    if workspace.coverage.cut_off:
        return INCOMPLETE
    is_empty(workspace.coverage)
    return FOUND if reaches(result, run.fail_on or setup.settings.fail_on) else OK
