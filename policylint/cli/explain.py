"""`policylint explain RESOURCE`: which policies act on an object, setting by setting; for a policy, where it acts."""

from __future__ import annotations

import click

from policylint.cli.commands import INCOMPLETE, OK
from policylint.cli.completing import objects
from policylint.cli.options import EXIT_CODES, Command, at, form_option, option
from policylint.cli.run import Run, reading, showing
from policylint.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from policylint.explain.subject import Subject
    from policylint.report.explain import Explained
    from policylint.report.explain.radius import Radius
    from policylint.workspace import Workspace

QUERY = "What is asked"
ITSELF = "-"
_WIDEST = 240
"""Columns beyond which a table is hard to read across, on the widest terminal too."""


@click.command(
    cls=Command,
    examples="""\
  policylint explain HTTPRoute/shop/checkout
  policylint explain checkout --rule 2 --field jwt
  policylint explain Gateway/infra/edge#https
  policylint explain SecurityPolicy/infra/edge-jwt      where it reaches, what deleting it changes
  policylint explain GWP201                             a rule
""",
    exit_codes=EXIT_CODES,
)
@click.argument("resource", shell_complete=objects)
@option(QUERY, "--rule", metavar="RULE", default="", help="Only this rule of a route: its name, or its number from 1.")
@option(QUERY, "--field", metavar="NAME", default="", help="Only this setting, e.g. jwt or timeout.http.")
@option(
    QUERY,
    "--without",
    metavar="[POLICY]",
    shell_complete=objects,
    is_flag=False,
    flag_value=ITSELF,
    default=None,
    help="Simulate the tree without a policy (RESOURCE itself if it is one) and show the change.",
)
@reading
@at()
@form_option(FORMATS["explain"])
@showing
def explain(run: Run, resource: str, rule: str, field: str, without: str | None, revision: str, form: str) -> int:
    """Explain an object: which policies act on it, where each value comes from, and what was lost to whom.

    RESOURCE is Kind/name, Kind/namespace/name, Kind.group/namespace/name, an unambiguous name, or the id of a rule. For
    a policy: its targets, where it reaches and where not, who beats it, and what changes if it is deleted.
    """
    import re

    color = run.color
    if re.fullmatch(r"GWP\d{3}", resource, re.IGNORECASE):
        from policylint.cli.rule import rule as rule_command

        return int(click.get_current_context().invoke(rule_command, name=resource, color=color) or OK)

    from policylint.cli.output import page_width, put, wants_color
    from policylint.explain.explanation import explain as explain_subject
    from policylint.explain.subject import subjects
    from policylint.report.explain import write
    from policylint.report.kit.display import Paint
    from policylint.report.kit.identity import Names

    workspace = run.open(run.setup(), revision)
    run.lap("read and simulate")
    known = subjects(resource, workspace.simulations, rule)
    findings = workspace.findings()
    run.lap("rules")
    explained: list[Explained] = [
        (explain_subject(subject, findings), _radius(subject, without, workspace)) for subject in known
    ]
    run.lap("explain")
    names = Names(key for simulation in workspace.simulations for key in simulation.world.resources)
    for piece in write(form, explained, names, Paint(wants_color(color)), page_width(widest=_WIDEST), field):
        put(piece)
    run.end(workspace.coverage)
    return INCOMPLETE if workspace.coverage.cut_off else OK


def _radius(subject: Subject, without: str | None, workspace: Workspace) -> Radius | None:
    """Return what changes without a policy: the one that is named, or the policy that is explained.

    Raises:
        UnclearError: the name is not that of one policy.
    """
    from policylint.clusters.kinds import BINDING, PLACES, SUBJECTS
    from policylint.explain.subject import UnclearError, subjects
    from policylint.model.spelling import spelled
    from policylint.network.kinds import KINDS
    from policylint.report.explain.radius import radius

    simulation, key, _ = subject
    policies_too = {*KINDS, *SUBJECTS, *PLACES, BINDING}
    if without in (None, ITSELF):
        if subject.is_policy or (without == ITSELF and key[:2] in policies_too):
            return radius(simulation, simulation.without(key), key)
        if without == ITSELF:
            raise UnclearError(f"--without wants the policy to leave out: {spelled(key)} is none")
        return None
    assert without is not None
    policies = subjects(without, workspace.simulations)
    policy = next((policy for policy in policies if policy.simulation is simulation), None)
    if policy is None:
        return None
    if not policy.is_policy and policy.key[:2] not in policies_too:
        raise UnclearError(f"--without wants a policy: {spelled(policy.key)} is none")
    return radius(simulation, simulation.without(policy.key), policy.key, None if subject.is_policy else key)
