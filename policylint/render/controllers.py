"""How the controllers of a tree are configured: the values of their charts, and files with their own configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from policylint.catalog.releases import ReleasedProduct, Version, version
from policylint.documents import Pointer, read
from policylint.model import Location, Resource, World, mapping, sequence, text, texts
from policylint.model.resource import dotted, value_at
from policylint.namedtuple import NamedTuple
from policylint.render.in_use import Installed, Lines, charts

_IN_WORDS = {"true": True, "1": True, "false": False, "0": False}
"""Variables of the environment, which are text."""


class Configuration(NamedTuple):
    """One configuration of a controller, or the values of its chart.

    Args:
        name: as reports name it.
        locate: a pointer below the body → where that is written.
    """

    name: str
    body: Any
    locate: Callable[[Pointer], Location]


def values_of_charts(product: ReleasedProduct, world: World, path: tuple[str, ...] = ()) -> Iterator[Configuration]:
    """Yield the values of a product's charts, or what they hold at a path."""
    for _, chart in charts(product, world):
        values = value_at(chart.values, path)
        if isinstance(values, dict):
            at = (*chart.values_at, *path)
            yield Configuration(f"{chart.holder.key} ({dotted(at)})", values, locating(chart.holder, at))


def configurations(
    product: ReleasedProduct, world: World, files: Iterable[str], lines: Lines
) -> Iterator[Configuration]:
    """Yield the configurations of a product's controller: in the values of its chart, and in files, ConfigMaps as
    well."""
    kind = text(product.configuration.get("kind"))
    for path in texts(product.configuration.get("values")):
        yield from values_of_charts(product, world, tuple(path.split(".")))
    if not kind:
        return
    for file in files:
        written = "\n".join(lines(file))
        if f"kind: {kind}\n" not in f"{written}\n":
            continue
        for document in read(written.encode(), file).documents:
            body = mapping(document.value)
            if body.get("kind") == kind:
                yield Configuration(f"{kind} in {file}", body, partial(_in_document, document))
            for name, value in mapping(body.get("data")).items() if body.get("kind") == "ConfigMap" else ():
                for inner in read(text(value).encode(), file).documents if f"kind: {kind}" in text(value) else ():
                    at = Location(document, ("data", name), True)
                    yield Configuration(f"{kind} in {file}", mapping(inner.value), partial(there, at))


def settings(product: ReleasedProduct, release: Version, found: Iterable[Configuration]) -> dict[str, Any]:
    """Return what configurations say of the settings that the catalog knows, as a release reads them."""
    said: dict[str, Any] = {}
    for configuration in found:
        for entry in map(mapping, sequence(product.configuration.get("settings"))):
            value = value_at(configuration.body, tuple(text(entry.get("from")).split(".")))
            since = version(text(entry.get("since"))) or release
            is_on = value if isinstance(value, bool) else _IN_WORDS.get(text(value).lower())
            if is_on is not None and since <= release:
                said[text(entry.get("name"))] = is_on != (entry.get("inverted") is True)
    return said


def are_values_seen(product: ReleasedProduct, world: World) -> bool:
    """Tell whether all values of the charts that tell a product's release stand where they are installed."""
    telling = {text(name) for name in sequence(product.found.get("charts"))}
    holders = [chart for name, chart in charts(product, world) if name in telling and chart.values_at]
    return bool(holders) and all(map(_is_whole, holders))


def _is_whole(chart: Installed) -> bool:
    if chart.holder.spec.get("valuesFrom"):
        return False
    helm = mapping(value_at(chart.holder.body, chart.values_at[:-1])) if chart.values_at[-2:-1] == ("helm",) else {}
    return not any(helm.get(other) for other in ("valueFiles", "values", "parameters", "fileParameters"))


def there(location: Location, _pointer: Pointer) -> Location:
    """Return one place for whatever pointer."""
    return location


def locating(resource: Resource, root: Pointer = ()) -> Callable[[Pointer], Location]:
    """Return where pointers below a place of an object are written."""
    return lambda pointer: resource.location(*root, *pointer, key=True)


def _in_document(document: Any, pointer: Pointer) -> Location:
    return Location(document, pointer, True)
