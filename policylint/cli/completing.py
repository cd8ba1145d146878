"""Shell completion: rules, kinds of policies, and the objects and environments of the tree.

A shell is no place for complaints: what cannot be read offers nothing.
"""

from __future__ import annotations

import os

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.shell_completion import CompletionItem

    from policylint.workspace import Workspace


RESOURCE_FIRST = frozenset({"graph"})
"""Commands whose first PATH may be a RESOURCE."""


def rule_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Offer ids, and names once a small letter is typed; in a list (`GWP1,GW`) the last one is completed."""
    from click.shell_completion import CompletionItem

    from policylint.checks import RULES, name_of

    before, comma, word = incomplete.rpartition(",")
    by_name = word[:1].islower() and not word.startswith("gwp")
    offers = [(name_of(rule), rule) if by_name else (rule, name_of(rule)) for rule in RULES]
    typed = word if by_name else word.upper()
    return [CompletionItem(f"{before}{comma}{name}", help=text) for name, text in offers if name.startswith(typed)]


def kind_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Offer kinds of the catalog, with their group where several implementations use one name."""
    from collections import Counter

    from click.shell_completion import CompletionItem

    from policylint.catalog.kinds import load_catalog

    kinds = [kind for kind in load_catalog().kinds() if kind.kind != "*"]
    number = Counter(kind.kind for kind in kinds)
    names = {kind.kind if number[kind.kind] == 1 else str(kind): kind.group for kind in kinds}
    typed = incomplete.lower()
    return [CompletionItem(name, help=names[name]) for name in sorted(names) if name.lower().startswith(typed)]


def releases(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Offer `envoy-gateway=`, and behind the sign the releases that are known, the newest first."""
    from policylint.catalog.releases import names, product, shown

    name, sign, _ = incomplete.partition("=")
    if not sign:
        return [f"{each}=" for each in names() if each.startswith(name)]
    known = sorted(product(name).releases, reverse=True) if name in names() else []
    return [offer for release in known if (offer := f"{name}={shown(release)}").startswith(incomplete)]


def objects(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Offer objects of the tree as commands take them: by kind (`HTTPRoute/sh`), or by a part behind a slash."""
    workspace = _workspace(context)
    if workspace is None:
        return []
    from policylint.explain.subject import names

    typed = incomplete.lower()
    spelled = _spelled(names(workspace.simulations))
    return [name for name in spelled if name.lower().startswith(typed) or f"/{typed}" in name.lower()]


def of_kind(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a completion that offers the objects of one kind."""

    def offer(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in objects(context, parameter, incomplete) if name.startswith(f"{kind}/")]

    return offer


def workloads(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Offer workloads of the tree."""
    from policylint.topology.workloads import WORKLOADS

    kinds = {kind for _, kind in WORKLOADS}
    return [name for name in objects(context, parameter, incomplete) if name.partition("/")[0] in kinds]


def paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer PATHs; where the first of them may be a RESOURCE, objects of the tree, too."""
    from click.shell_completion import CompletionItem

    is_resource = context.command.name in RESOURCE_FIRST and not context.params.get(parameter.name or "")
    names = objects(context, parameter, incomplete) if is_resource else []
    return [*map(CompletionItem, names), CompletionItem(incomplete, type="file")]


def environments(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Offer the environments of the tree."""
    workspace = _workspace(context, every=True)
    names = [] if workspace is None else [simulation.world.name for simulation in workspace.simulations]
    return [name for name in names if name.startswith(incomplete)]


def _workspace(context: click.Context, *, every: bool = False) -> Workspace | None:
    """Open what the words so far name: -C, PATHs that are there, options on what is read; None where that fails.

    Args:
        every: all environments, whichever were named so far: the word that is being typed is one of them.
    """
    from policylint.cli.run import Run

    try:
        run = Run(**{field: context.params.get(field) for field in Run.fields()})
        run.live = False  # no cluster is asked while somebody types
        present = tuple(path for path in run.paths or () if os.path.exists(path))  # noqa: PTH110
        return run.open(run.setup(paths=present, environments=() if every else run.env or ()))
    except (Exception, SystemExit):
        return None


def _spelled(names: Iterable[str]) -> list[str]:
    """Return names as commands take them: without namespaces that no file states, and none with variables."""
    return list(dict.fromkeys(name.replace("/?/", "/") for name in names if "${" not in name))
