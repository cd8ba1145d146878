"""`policylint kinds`: list the policy kinds that policylint knows, or explain one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from policylint.cli.completing import kind_names
from policylint.cli.options import Command, form_option
from policylint.report.formats import FORMATS

if TYPE_CHECKING:
    from policylint.model.policy_kind import PolicyKind


@click.command(
    cls=Command,
    examples="""\
  policylint kinds                                          all of them
  policylint kinds SecurityPolicy
  policylint kinds BackendTLSPolicy.gateway.networking.k8s.io
  policylint kinds -o markdown                              the table of docs/policy-kinds.md
""",
)
@click.argument("kind", metavar="[KIND]", required=False, shell_complete=kind_names)
@form_option(FORMATS["kinds"], "Form of the output.")
def kinds(kind: str | None, form: str) -> None:
    """List the policy kinds of the catalog, or explain KIND in full.

    KIND is a name (SecurityPolicy), or a name with its group (SecurityPolicy.gateway.envoyproxy.io) where several
    implementations use one name.
    """
    from policylint.catalog.kinds import load_catalog
    from policylint.cli.output import put, table_width
    from policylint.report.kinds import write
    from policylint.report.kit.display import Paint

    known = load_catalog().kinds()
    listed = known if kind is None else _named(kind, known)
    put(write(form, listed, Paint(on=False, room=table_width()), whole=kind is not None))


def _named(name: str, known: list[PolicyKind]) -> list[PolicyKind]:
    """Return the kinds of a name, case and plural forgiven.

    Raises:
        click.UsageError: there is none; with names that are near.
    """
    lower = name.lower()
    named = [kind for kind in known if lower in (str(kind).lower(), kind.kind.lower(), kind.plural.lower())]
    if named:
        return named
    from difflib import get_close_matches

    names = {text.lower(): text for kind in known for text in (kind.kind, str(kind)) if kind.kind != "*"}
    close = [names[match] for match in get_close_matches(lower, sorted(names), n=3)]
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `policylint kinds` lists them."
    raise click.UsageError(f"no policy kind {name!r}{hint}")
