"""What shell completion offers: rules, kinds of policies, and the objects and environments of the tree.

A shell is no place for complaints: what cannot be read offers nothing.
"""

from __future__ import annotations

import os

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

    from policylint.workspace import Workspace


RESOURCE_FIRST = frozenset({"graph"})
"""Commands whose first PATH may be a RESOURCE."""


def rule_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Ids, and names once a small letter is typed; in a list (`GWP1,GW`) the last one is completed."""
    from click.shell_completion import CompletionItem

    from policylint.checks import RULES, name_of

    before, comma, word = incomplete.rpartition(",")
    by_name = word[:1].islower() and not word.startswith("gwp")
    found = [(name_of(rule), rule) if by_name else (rule, name_of(rule)) for rule in RULES]
    typed = word if by_name else word.upper()
    return [CompletionItem(f"{before}{comma}{name}", help=other) for name, other in found if name.startswith(typed)]


def kind_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Kinds of the catalog, with their group where several implementations use one name."""
    from collections import Counter

    from click.shell_completion import CompletionItem

    from policylint.catalog.kinds import load_catalog

    kinds = [each for each in load_catalog().kinds() if each.kind != "*"]
    number = Counter(each.kind for each in kinds)
    names = {each.kind if number[each.kind] == 1 else str(each): each.group for each in kinds}
    wanted = incomplete.lower()
    return [CompletionItem(name, help=names[name]) for name in sorted(names) if name.lower().startswith(wanted)]


def objects(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Objects of the tree as the command line takes them: by kind (`HTTPRoute/sh`), or by a part behind a slash."""
    workspace = _workspace(context)
    if workspace is None:
        return []
    from policylint.explain.subject import names

    wanted = incomplete.lower()
    return [
        each for each in _spelled(names(workspace.simulations))
        if each.lower().startswith(wanted) or f"/{wanted}" in each.lower()
    ]  # fmt: skip


def gateways(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Gateways of the tree."""
    return [each for each in objects(context, parameter, incomplete) if each.startswith("Gateway/")]


def services(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Services of the tree."""
    return [each for each in objects(context, parameter, incomplete) if each.startswith("Service/")]


def workloads(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Workloads of the tree."""
    from policylint.topology.workloads import WORKLOADS

    kinds = {kind for _, kind in WORKLOADS}
    return [each for each in objects(context, parameter, incomplete) if each.partition("/")[0] in kinds]


def paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """PATHs; where the first of them may be a RESOURCE, objects of the tree, too."""
    from click.shell_completion import CompletionItem

    is_resource = context.command.name in RESOURCE_FIRST and not context.params.get(parameter.name or "")
    found = [CompletionItem(each) for each in objects(context, parameter, incomplete)] if is_resource else []
    return [*found, CompletionItem(incomplete, type="file")]


def environments(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Names of the environments of the tree."""
    workspace = _workspace(context, every=True)
    names = [] if workspace is None else [simulation.world.name for simulation in workspace.simulations]
    return [name for name in names if name.startswith(incomplete)]


def _workspace(context: click.Context, *, every: bool = False) -> Workspace | None:
    """What the words so far name: -C, PATHs that are there, options on what is read; None where it cannot be read.

    Args:
        every: all environments, whichever were named so far: the word that is being typed is one of them.
    """
    from policylint.cli.run import ReadingOptions, Run

    said = context.params
    try:
        run = Run(**{field: said.get(field) for field in ReadingOptions._fields})
        there = tuple(path for path in run.asked.paths or () if os.path.exists(path))  # noqa: PTH110
        return run.open(run.setup(paths=there, environments=() if every else run.asked.env or ()))
    except (Exception, SystemExit):
        return None


def _spelled(names: Iterable[str]) -> list[str]:
    """Without the namespaces that the files do not say, which the command line leaves out, and without variables."""
    return list(dict.fromkeys(each.replace("/?/", "/") for each in names if "${" not in each))
