"""`policylint mcp`: the same answers for AI assistants, over the Model Context Protocol."""

from __future__ import annotations

import click

from policylint.cli.options import Command


@click.command(
    cls=Command,
    examples="""\
  policylint mcp clusters/prod    started by an assistant: docs/assistants.md
  pip install 'policylint[mcp]'
""",
)
@click.argument("directory", type=click.Path(exists=True, file_okay=False, resolve_path=True), default=".")
def mcp(directory: str) -> int:
    """Answer an AI assistant over standard input and output: lint, explain, trace, reach, diff of DIRECTORY, read only.

    Nothing outside of DIRECTORY is reported on, no program but git is run on its behalf, and nothing is written.
    """
    try:
        from policylint.assistant.server import serve
    except ModuleNotFoundError as error:
        from policylint.cli.extras import missing

        raise missing("mcp", error) from None
    serve(directory)
    return 0
