"""The survey of a repository from which `init` writes a configuration that fits it."""

from __future__ import annotations

from policylint.config.init_template import RepositorySummary
from policylint.model import GATEWAY_GROUP, World
from policylint.session.open import below_root
from policylint.workspace import Workspace


def survey(workspace: Workspace) -> RepositorySummary:
    """Return what a workspace tells about its repository."""
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
        {simulation.world.name: _roots(simulation.world) for simulation in workspace.simulations},
        sorted(classes),
        sorted(missing),
        _namespaces(workspace),
        workspace.coverage.not_rendered,
        sorted({chart for simulation in workspace.simulations for chart in simulation.world.unseen.unknown_charts()}),
    )


def _directories(workspace: Workspace) -> list[str]:
    """Return the top-level directories with objects that rules judge, and those from which anything is deployed; none
    when some of them lie at the top, too."""
    directories: set[str] = set()
    at_top = False
    for simulation in workspace.simulations:
        for resource in [*simulation.world.resources.values(), *simulation.world.orphans.values()]:
            path = below_root(workspace.root, resource.document.file) or ""
            head, slash, _ = path.partition("/")
            if "gateway" in resource.key.group or simulation.catalog.get(resource.key.group, resource.key.kind):
                directories.add(head)
                at_top = at_top or not slash
        for entry in simulation.world.entries:
            directories.add(entry.partition("/")[0])
            at_top = at_top or not entry
    return [] if at_top else sorted(directories)


def _roots(world: World) -> list[str]:
    """Return the directories at which an environment begins; none where its files are plain, or it begins at the
    top."""
    inner = {
        path
        for entry, paths in world.entries.items()
        for path in paths
        if not f"{entry}/".startswith(f"{path}/")  # what lies in a directory may well deploy it
    }
    roots = sorted(entry for entry in world.entries if entry not in inner and not entry.endswith((".yaml", ".yml")))
    return [] if "" in roots else roots


def _namespaces(workspace: Workspace) -> list[str]:
    """Return namespaces of routes that have no Namespace object, where listeners select namespaces by label."""
    namespaces: set[str] = set()
    for simulation in workspace.simulations:
        world = simulation.world
        gateways = world.of_kind(GATEWAY_GROUP, "Gateway")
        if not any("'from': 'Selector'" in str(gateway.spec) for gateway in gateways):
            continue
        keys = [route.route.key for route in simulation.topology.routes]
        names = {key.namespace for key in keys if not key.unplaced}
        namespaces |= {name for name in names if world.namespace_labels(name) is None}
    return sorted(namespaces)
