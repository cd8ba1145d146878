"""Objects that stand whole in values files of charts: `extraObjects`, `extraDeploy`, `extraManifests`.

Who installs a chart by hand writes beside its settings what goes with it, and the chart puts it out as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from policylint.documents import read
from policylint.model import mapping, text
from policylint.model.unseen import Custom
from policylint.patterns import Pattern

if TYPE_CHECKING:
    from policylint.render.scripts import Scripts

_VALUES = Pattern(r"(?:(?:[\w.-]*[._-])?values|[\w.-]*Values)(?:[A-Z0-9._-][\w.-]*)?\.ya?ml")
"""`values.yaml`, `values-prod.yaml`, `redis-values.yaml`, `prod.values.yml`, `values_prod.yaml`, `prodValues.yaml`."""
_NAME = Pattern(r"[a-z0-9][a-z0-9.-]*")
_OBJECT = Pattern(rb"(?m)^[^#\n]*\bapiVersion\b")
_CHART = "Chart.yaml"
_MOST = 300
"""Values files that are looked into."""


def holds_values(path: str) -> bool:
    """Return whether a file is called as values of a chart are: by a name with that word in it."""
    return _VALUES.fullmatch(path.rpartition("/")[2]) is not None


def may_be_put_out(scripts: Scripts) -> Iterator[Custom]:
    """Yield the objects in values files beside which there is no chart."""
    from policylint.render.by_hand import ACTS

    charts = {path.rpartition("/")[0] for path in scripts.files if path.rpartition("/")[2] == _CHART}
    files = [each for each in scripts.files if holds_values(each) and each.rpartition("/")[0] not in charts]
    for path in files[:_MOST]:
        data = scripts.read(path) or b""
        for document in read(data, path).documents if _OBJECT.search(data) else ():
            values = mapping(document.value)
            for group, kind, name, namespace in () if "kind" in values else _objects(values):
                if _NAME.fullmatch(name) and not ACTS.search(kind):
                    place = namespace if _NAME.fullmatch(namespace) else ""
                    maker = f"a chart with the values of {path}, which hold {kind} {name},"
                    yield Custom("", place, "", frozenset({(group, kind)}), maker, name)


def _objects(values: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield group, kind, name and namespace of what is written out, as YAML or as text of it."""
    if isinstance(values, str):
        from policylint.documents.written import written

        for each in written(values) if "apiVersion:" in values else ():
            if each.group is not None:
                yield each.group, each.kinds[0], each.name, each.namespace
    elif isinstance(values, list):
        for each in values:
            yield from _objects(each)
    elif isinstance(values, dict):
        kind, metadata = text(values.get("kind")), mapping(values.get("metadata"))
        if kind and (version := text(values.get("apiVersion"))):
            group = version.rpartition("/")[0]
            yield group, kind, text(metadata.get("name")), text(metadata.get("namespace"))
        else:
            for each in values.values():
                yield from _objects(each)
