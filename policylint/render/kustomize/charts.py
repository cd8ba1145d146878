"""`helmCharts:` of a kustomization: rendered where the chart lies in the tree and helm may run, else noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model import mapping, sequence, text
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import join

if TYPE_CHECKING:
    from policylint.render.helm.charts import Charts


def inflated(
    directory: str, body: dict[str, Any], trace: Trace, charts: Charts | None, journal: Journal
) -> list[Manifest]:
    """The objects of the charts that a kustomization names; one that is not rendered is a gap in its namespace."""
    made: list[Manifest] = []
    for index, entry in enumerate(sequence(body.get("helmCharts"))):
        chart = mapping(entry)
        place = trace.child("helmCharts").child(index)
        objects = None if charts is None else _objects(directory, body, chart, place, charts, journal)
        if objects is not None:
            made += objects
            continue
        name = text(chart.get("releaseName")) or text(chart.get("name"))
        namespace = text(chart.get("namespace")) or text(body.get("namespace"))
        journal.gap(f"chart {name} may create it; charts are not rendered", namespace)
        if not any(each.code == "chart" and each.location.pointer == place.pointer for each in journal.notes):
            journal.note(f"chart {name} is not rendered", place, code="chart")
    return made


def _objects(
    directory: str, body: dict[str, Any], chart: Any, place: Trace, charts: Charts, journal: Journal
) -> list[Manifest] | None:
    from policylint.render.helm.charts import Installation
    from policylint.render.helm.value_places import Layer

    home = text(mapping(body.get("helmGlobals")).get("chartHome"), "charts")
    found = join(directory, f"{home}/{text(chart.get('name'))}")
    if not charts.holds(found):
        return None
    files = [text(chart.get("valuesFile")), *map(text, sequence(chart.get("additionalValuesFiles")))]
    paths = [path for each in files if each and (path := join(directory, each)) is not None]
    layers = [layer for path in paths for layer in charts.values(path)]
    inline = mapping(chart.get("valuesInline"))
    if inline:
        own = Layer(inline, place.child("valuesInline"))
        # `merge` lets the file win, `replace` leaves the inline values alone; `override` is the default.
        how = text(chart.get("valuesMerge"))
        layers = [own, *layers] if how == "merge" else [own] if how == "replace" else [*layers, own]
    name = text(chart.get("releaseName")) or text(chart.get("name"))
    namespace = text(chart.get("namespace")) or text(body.get("namespace"))
    return charts.objects(
        Installation(found or "", name, namespace, tuple(layers), place, bare=bool(files[0])), journal
    )
