"""`policylint config show`: the configuration in force, with the origin of every value."""

from __future__ import annotations

import click

from policylint.cli.options import Command, in_directory, which_file


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  policylint config show
  policylint config show --config ci/policylint.yaml
""",
)
@click.pass_context
def config(context: click.Context) -> None:
    """Show the configuration that is in force.

    It is the first of .policylint.yaml, .policylint.yml, .config/policylint.yaml and pyproject.toml with
    [tool.policylint], from the working directory up to the git root; --config and POLICYLINT_CONFIG name another.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@config.command(
    cls=Command,
    examples="""\
  policylint config show
  policylint config show -C clusters/prod
""",
)
@in_directory
@which_file
def show(directory: str | None, config: str | None, no_config: bool) -> int:
    """Print every setting with its value and origin, as YAML."""
    import os

    from policylint.cli.output import put
    from policylint.config.show import show as shown
    from policylint.report.kit.yaml_text import visible_yaml
    from policylint.session.rules import chosen, locked
    from policylint.session.settings import RunOptions, Setup

    if directory:
        os.chdir(directory)
    setup = Setup.of(RunOptions(config=config, no_config=no_config))
    chosen(setup)  # complains about names that are no rules, and so does the next one
    locked(setup.settings)
    put(visible_yaml(shown(setup.settings, setup.origin)))
    return 0
