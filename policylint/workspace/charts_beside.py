"""Charts of the tree beside what Flux, Argo CD or kustomize deploy: a bootstrap, Terraform or a script installs them.

Its clusters have what these make, too. A chart of which something says how it is installed counts with all that it
makes; of another one only what names its own namespace, or none, has a place, and nothing is reported of it: it may be
left over. Of that nothing serves requests, or is asked of them: it is evidence of what is there, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.model import GATEWAY_GROUP, Resource
from policylint.model.unseen import Unseen, UnseenSource
from policylint.model.words import count
from policylint.network.kinds import KINDS

if TYPE_CHECKING:
    from policylint.render.environments import Environment
    from policylint.render.lone_charts import LoneChart

_DEFAULT = "default"
_EVIDENCE = frozenset({"", "apps", "batch", "networking.k8s.io", "apiextensions.k8s.io"})
"""Groups of what is taken to be there though it may be left over: workloads, what they use, and who may connect."""
_MAY_BE_LEFT_OVER = "a chart makes it that nothing here installs"
_SOMEWHERE = "nothing here says into which cluster its chart is installed"


def deployed(environments: Iterable[Environment], relative: Mapping[str, str]) -> set[str]:
    """Return the paths below the root of what environments deploy, as far as it made anything or begins there.

    Args:
        relative: the paths of files below the root, by the paths that findings show.
    """
    paths: set[str] = set()
    for environment in environments:
        paths.update(environment.charts)
        for entry, holds in environment.entries.items():
            paths.update((entry, *holds))
        files = {resource.document.file for resource in environment.resources}
        paths.update(relative.get(file, file) for file in files)
    return paths


def beside(charts: Iterable[LoneChart], environments: Sequence[Environment]) -> list[LoneChart]:
    """Return the charts that make nothing that an environment has: one application may be there as a chart and as a
    kustomization, of which a cluster has one."""
    made = {
        (resource.key.group, resource.key.kind, resource.key.name)
        for environment in environments
        for resource in environment.resources
    }
    return [
        chart
        for chart in charts
        if chart.resources
        and made.isdisjoint((each.key.group, each.key.kind, each.key.name) for each in chart.resources)
    ]


def placed(objects: Iterable[Resource]) -> list[Resource]:
    """Return objects without those of which only the one who installs a chart says into which namespace they go."""
    return [each for each in objects if each.provisional != _MAY_BE_LEFT_OVER or each.key.namespace != _DEFAULT]


def joining(charts: Iterable[LoneChart], *, alone: bool) -> list[Resource]:
    """Return what charts add to an environment, of those that nothing installs what is evidence.

    Args:
        alone: whether there is but one environment.
    """
    return [
        resource.replaced(provisional=_MAY_BE_LEFT_OVER)
        if not chart.is_asked
        else resource
        if alone
        else resource.replaced(provisional=_SOMEWHERE)
        for chart in charts
        for resource in chart.resources
        if chart.is_asked or resource.key.group in _EVIDENCE or resource.key[:2] in KINDS
    ]


def entries_of(charts: Iterable[LoneChart], objects: Iterable[Resource]) -> dict[str, set[str]]:
    """Return the directories of the charts that make some objects: at each of them a deployment begins."""
    files = {resource.document.file for resource in objects}
    return {chart.directory: chart.holds for chart in charts if not files.isdisjoint(chart.paths)}


def installed_elsewhere(charts: Sequence[LoneChart], generators: Unseen) -> tuple[str, ...]:
    """Add what charts may make that nothing here installs, and return sentences for the coverage line."""
    assumed = [chart for chart in charts if not (chart.why or chart.is_asked)]
    for chart in charts:
        for gap in chart.gaps:
            generators.add(gap.reason, gap.namespace or None, gateway_api=gap.gateway_api, source=gap.source)
        reason = f"chart {chart.name} may make it of other values than its own"
        for namespace in {resource.key.namespace for resource in chart.resources} - {""}:
            has_routes = chart.makes is None or any(group == GATEWAY_GROUP for group, _ in chart.makes)
            source = UnseenSource("values file", makes=chart.makes)
            if not chart.is_asked:
                generators.add(reason, namespace, gateway_api=has_routes, source=source)
    failed = sum(bool(chart.why) for chart in charts)
    sentences = [f"{count(failed, 'chart')} not rendered"] if failed else []
    if assumed:
        of_them = "it is" if len(assumed) == 1 else "they are"
        sentences.append(f"what installs {count(len(assumed), 'chart')}: {of_them} taken with the default values")
    return tuple(sentences)
