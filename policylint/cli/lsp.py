"""`policylint lsp`: the language server, for editors."""

from __future__ import annotations

import click

from policylint.cli.options import Command


@click.command(
    cls=Command,
    examples="""\
  policylint lsp                  started by an editor: docs/editors.md
  pip install 'policylint[lsp]'
""",
)
def lsp() -> int:
    """Serve an editor over standard input and output: findings, fixes, hover, definitions, references, rename."""
    try:
        from policylint.editor.server import serve
    except ModuleNotFoundError as error:
        from policylint.cli.extras import missing

        raise missing("lsp", error) from None
    from policylint.session.settings import RunOptions

    serve(RunOptions())
    return 0
