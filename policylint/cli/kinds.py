"""`policylint kinds`: list the policy kinds that policylint knows, or explain one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from policylint.cli.completing import kind_names
from policylint.cli.options import Command, form_option

if TYPE_CHECKING:
    from policylint.model.policy_kind import PolicyKind


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint kinds                                          all of them
  policylint kinds SecurityPolicy
  policylint kinds BackendTLSPolicy.gateway.networking.k8s.io
  policylint kinds -o markdown                              the table of docs/policy-kinds.md
""",
)
@click.argument("kind", metavar="[KIND]", required=False, shell_complete=kind_names)
@form_option(("text", "json", "yaml", "markdown"), "Form of the output.")
def kinds(kind: str | None, form: str) -> None:
    """List the policy kinds of the catalog, or explain KIND in full.

    KIND is a name (SecurityPolicy), or a name with its group (SecurityPolicy.gateway.envoyproxy.io) where several
    implementations use one name.
    """
    from policylint.catalog.kinds import load_catalog
    from policylint.cli.output import put
    from policylint.report.kinds import write

    known = load_catalog().kinds()
    wanted = known if kind is None else _named(kind, known)
    put(write(form, wanted, whole=kind is not None))


def _named(name: str, known: list[PolicyKind]) -> list[PolicyKind]:
    """The kinds of a name, case and plural forgiven; a usage error with a suggestion where there is none."""
    asked = name.lower()
    found = [each for each in known if asked in (str(each).lower(), each.kind.lower(), each.plural.lower())]
    if found:
        return found
    from difflib import get_close_matches

    names = {text.lower(): text for each in known for text in (each.kind, str(each)) if each.kind != "*"}
    close = [names[each] for each in get_close_matches(asked, sorted(names), n=3)]
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `policylint kinds` lists them."
    raise click.UsageError(f"no policy kind {name!r}{hint}")
