"""What an Argo CD Application gives a chart of its own repository: value files, values and parameters."""

from __future__ import annotations

from typing import Any

from policylint.model import mapping, sequence, text
from policylint.render.helm.charts import Charts, Installation
from policylint.render.helm.value_places import Layer
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, join


def installation(
    owner: Manifest, source: Any, place: Trace, directory: str, namespace: str, tree: Tree, charts: Charts
) -> Installation:
    """The release that an Application makes of a chart: `valueFiles`, over them `values` or `valuesObject`, over them
    `parameters`."""
    helm = mapping(source.get("helm"))
    at = place.child("helm")
    layers: list[Layer] = []
    for entry in map(text, sequence(helm.get("valueFiles"))):
        path = _value_file(owner, entry, directory, tree)
        if path is not None:
            layers += charts.values(path)
    if isinstance(helm.get("valuesObject"), dict):
        layers.append(Layer(helm["valuesObject"], at.child("valuesObject")))
    elif text(helm.get("values")):
        found = tree.texts.documents(helm["values"], at.child("values"))[0][:1]
        layers += [Layer(value, where) for value, where in found if isinstance(value, dict)]
    settings = []
    for each in map(mapping, sequence(helm.get("parameters"))):
        flag = "--set-string" if each.get("forceString") is True else "--set"
        value = each.get("value")
        written = str(value).lower() if isinstance(value, bool) else str(value or "")
        if text(each.get("name")):
            settings.append((flag, f"{each['name']}={written}"))
    name = text(helm.get("releaseName")) or owner.name
    inside = text(helm.get("namespace")) or namespace
    return Installation(directory, name, inside, tuple(layers), at if helm else place, tuple(settings))


def _value_file(owner: Manifest, entry: str, directory: str, tree: Tree) -> str | None:
    """The path of a value file: beside the chart, from the top of the repository (`/x`), or of a source with a name
    (`$values/x`), which is this tree if the file is there."""
    if entry.startswith("$"):
        entry = f"/{entry.partition('/')[2]}"
    if not entry.startswith("/"):
        return join(directory, entry)
    steps = tree.path_of(owner.file).split("/")[:-1]
    for depth in range(len(steps) + 1):
        path = join("/".join(steps[:depth]), entry.lstrip("/"))
        if path and tree.read(path) is not None:
            return path
    return None
