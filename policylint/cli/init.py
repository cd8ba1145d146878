"""`policylint init`: look at the repository and write a commented configuration that fits it."""

# ruff: noqa: PTH118 - paths as seen from here

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from policylint.cli.options import OUTPUT, Command, in_directory, option

if TYPE_CHECKING:
    from policylint.config.init_template import RepositorySummary
    from policylint.workspace import Workspace

FILE = ".policylint.yaml"


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  policylint init                 write .policylint.yaml at the git root
  policylint init --stdout        print it instead
  policylint init --force         write it anew
""",
)
@in_directory
@option(OUTPUT, "--stdout", "printed", is_flag=True, help="Print the configuration, write no file.")
@option(OUTPUT, "--force", is_flag=True, help="Replace a configuration that is there.")
def init(directory: str | None, printed: bool, force: bool) -> int:
    """Write .policylint.yaml at the git root, with what was found in the repository as comments."""
    from policylint import __version__
    from policylint.cli.output import put, save
    from policylint.config import Settings
    from policylint.config.discovery import discover
    from policylint.config.init_template import configuration
    from policylint.session.settings import RunOptions, Setup
    from policylint.workspace import open_workspace

    if directory:
        os.chdir(directory)
    top = Setup(RunOptions(), Settings()).top
    place = os.path.normpath(os.path.join(top, FILE))
    found = discover(top)
    if found and not force and not printed:
        raise click.UsageError(f"there is a configuration already: {found} (--force replaces it)")
    text = configuration(seen(open_workspace([top])), __version__)
    if printed:
        put(text)
        return 0
    save(place, text)
    put(f"{place} written; next: policylint lint\n")
    return 0


def seen(workspace: Workspace) -> RepositorySummary:
    """What the workspace tells about the repository."""
    from policylint.config.init_template import RepositorySummary

    missing: dict[str, None] = {}
    classes: dict[str, None] = {}
    for finding in workspace.findings({"GWP101", "GWP401", "GWP406", "GWP409"}):
        if finding.confidence == "unknown" or len(finding.resources) < 2:
            continue
        key = finding.resources[-1]
        if key.kind == "GatewayClass":
            classes[key.name] = None
        elif not key.unplaced:
            missing[str(key)] = None
    return RepositorySummary(
        _directories(workspace),
        [each.world.name for each in workspace.simulations],
        sorted(classes),
        sorted(missing),
        _namespaces(workspace),
        workspace.coverage.not_rendered,
    )


def _directories(workspace: Workspace) -> list[str]:
    """Top-level directories with objects that rules judge; none when such objects lie at the top, too."""
    from policylint.session.open import below_root

    judged: set[str] = set()
    at_top = False
    for simulation in workspace.simulations:
        for resource in [*simulation.world.resources.values(), *simulation.world.orphans.values()]:
            path = below_root(workspace.root, resource.document.file) or ""
            head, slash, _ = path.partition("/")
            known = "gateway" in resource.key.group or simulation.catalog.get(resource.key.group, resource.key.kind)
            if known:
                judged.add(head)
                at_top = at_top or not slash
    return [] if at_top else sorted(judged)


def _namespaces(workspace: Workspace) -> list[str]:
    """Namespaces of routes without a Namespace object, where listeners of the tree select namespaces by label."""
    from policylint.model import GATEWAY_GROUP

    found: set[str] = set()
    for simulation in workspace.simulations:
        world = simulation.world
        if not any("'from': 'Selector'" in str(each.spec) for each in world.of_kind(GATEWAY_GROUP, "Gateway")):
            continue
        keys = [each.route.key for each in simulation.topology.routes]
        names = {key.namespace for key in keys if not key.unplaced}
        found |= {name for name in names if world.namespace_labels(name) is None}
    return sorted(found)
