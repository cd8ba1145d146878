"""HelmCharts, which K3s and RKE2 install: what is known of their charts by the values that stand in them.

Source: docs.k3s.io, «Helm»; k3s-io/helm-controller, pkg/controllers/chart/chart.go: the values of a HelmChartConfig of
the same name come over `valuesContent`, and `set` and `valuesSecrets` over both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.model import text
from policylint.render.helm import published
from policylint.render.helm.app_template.release import Release, major_of
from policylint.render.helm.layers import Layers, merged
from policylint.render.helm.unrendered import known_of
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest
from policylint.render.tree import Tree

_GROUP = "helm.cattle.io"
_FOR_A_CHART = 50
"""Steps of work that it costs to look at one."""


def installed(manifests: Iterable[Manifest], tree: Tree, journal: Journal) -> Iterator[list[Manifest]]:
    """Yield what is known of the objects of each HelmChart; that there may be others is noted as a gap.

    Raises:
        ExhaustedError: that is more than the budget of the tree allows.
    """
    own = [each for each in manifests if each.group == _GROUP]
    further = {each.name: each for each in own if each.kind == "HelmChartConfig"}
    for manifest in own:
        if manifest.kind != "HelmChart":
            continue
        with tree.budget.bounded(f"what {manifest} installs", manifest.origin.child("spec")):
            tree.budget.spend(_FOR_A_CHART + manifest.weight)
            yield _made(manifest, further.get(manifest.name), tree, journal)


def _made(manifest: Manifest, config: Manifest | None, tree: Tree, journal: Journal) -> list[Manifest]:
    spec, chart = manifest.spec, text(manifest.spec.get("chart")).rstrip("/").rpartition("/")[2]
    namespace, version = text(spec.get("targetNamespace")) or manifest.namespace or "default", text(spec.get("version"))
    layers: Layers = [({}, manifest.origin.child("spec"))]
    layers += (
        layer
        for each in (manifest, config)
        if each is not None
        for layer in tree.texts.mappings(text(each.spec.get("valuesContent")), each.origin.at("spec", "valuesContent"))
    )
    values, origin = merged(layers, tree.budget)
    known = known_of(
        Release(manifest.name, namespace, values, origin, tree.budget, chart, major_of(chart, version)), version
    )
    is_whole = not (spec.get("set") or spec.get("valuesSecrets"))
    if not known.is_whole(chart):
        left = known.rest if is_whole else values
        makes = published.source(chart, left, seen=is_whole)
        journal.gap(f"{manifest} may create it; its chart is not rendered", namespace, source=makes)
    for made in known.objects if not is_whole else ():
        made.leave_open(f"not all values of {manifest} were seen")
    return known.objects
