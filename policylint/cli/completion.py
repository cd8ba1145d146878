"""`policylint completion bash|zsh|fish`: what makes a shell complete commands, options and rules."""

from __future__ import annotations

import click

from policylint.cli.options import Command


@click.command(
    cls=Command,
    examples="""\
  policylint completion bash > ~/.local/share/bash-completion/completions/policylint
  policylint completion zsh  > ~/.zfunc/_policylint
  policylint completion fish > ~/.config/fish/completions/policylint.fish
""",
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the completion script for a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    click.echo(kind(context.find_root().command, {}, "policylint", "_POLICYLINT_COMPLETE").source())
    return 0
