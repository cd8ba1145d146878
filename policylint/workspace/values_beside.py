"""Values of charts beside plain manifests: somebody whom the tree does not show installs a chart with them.

Terragrunt, a pipeline or a person does, into the namespace of what lies beside them. Which chart that is, the file does
not say; values of published charts tell by what they speak of whether it makes routes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policylint.documents import read
from policylint.model import Resource, mapping
from policylint.render.values_files import holds_values
from policylint.sources import SourceError, SourceFile

if TYPE_CHECKING:
    from policylint.render.journal import Gap


def values_files(files: Iterable[SourceFile]) -> list[SourceFile]:
    """Return the files that hold values of charts, by their names."""
    return [file for file in files if holds_values(file.path)]


def values_beside(objects: Iterable[Resource], files: Iterable[SourceFile]) -> Iterator[Gap]:
    """Yield what the charts may make for which values lie beside objects, in files that no deployer takes in."""
    if not files:
        return
    from policylint.render.flux.helm_releases import speaks_of_routes
    from policylint.render.helm import published
    from policylint.render.journal import Gap

    lived_in: dict[str, dict[str, None]] = defaultdict(dict)
    for each in objects:
        if each.key.namespace:
            lived_in[each.document.file.rpartition("/")[0]][each.key.namespace] = None
    for file in files:
        namespaces = lived_in.get(file.path.rpartition("/")[0], ())
        values = _content(file) if namespaces else {}
        if values and "kind" not in values:
            source = published.source("", values, seen=False)
            for namespace in namespaces:
                reason = f"a chart may create it that is installed with {file.relative}"
                yield Gap(reason, namespace, gateway_api=speaks_of_routes(values), source=source)


def _content(file: SourceFile) -> Mapping[str, Any]:
    """Return the values in a file; {} where it cannot be read."""
    try:
        found = read(file.read(), file.path).documents[:1]
    except SourceError:
        return {}
    return mapping(found[0].value) if found else {}
