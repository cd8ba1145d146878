"""`policylint config show`: the configuration in force, with the origin of every value."""

from __future__ import annotations

import click

from policylint.cli.options import INPUT, Command, option, which_file


@click.group(
    epilog="""\b
Examples:
  policylint config show
  policylint config show --config ci/policylint.yaml
""",
)
def config() -> None:
    """Show the configuration that is in force.

    It is the first of .policylint.yaml, .policylint.yml, .config/policylint.yaml and pyproject.toml with
    [tool.policylint], from the working directory up to the git root; --config and POLICYLINT_CONFIG name another.
    """


@config.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint config show
  policylint config show -C clusters/prod
""",
)
@option(
    INPUT,
    "-C",
    "directory",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Run as if started in DIR, as git does.",
)
@which_file
def show(directory: str | None) -> int:
    """Print every setting with its value and the place it comes from, as YAML."""
    from policylint.cli import configured
    from policylint.cli.opening import enter
    from policylint.cli.streams import put
    from policylint.config.show import show as shown

    enter(directory)
    found = configured.settings()
    configured.check(found)
    put(shown(found, configured.origin() if found.file else ""))
    return 0
