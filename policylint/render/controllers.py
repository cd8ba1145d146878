"""How the controllers of a tree are configured: the values of their charts, and files with their own configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from policylint.catalog.releases import ReleasedProduct, Version, version
from policylint.documents import Document, Pointer, read
from policylint.load.charts import values_of
from policylint.load.configured import in_config_maps
from policylint.load.images import image_of
from policylint.model import Location, Resource, World, holds_variable, mapping, sequence, text, texts
from policylint.model.resource import dotted, value_at
from policylint.namedtuple import NamedTuple
from policylint.render.in_use import Installed, Lines, charts

if TYPE_CHECKING:
    from policylint.catalog.shipped_file import ControllerSetting

_IN_WORDS = {"true": True, "1": True, "false": False, "0": False}
"""Variables of the environment, which are text."""
_TYPES = {"string": str, "integer": int, "array": list, "object": dict}


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
    """Yield what states how a product's controller is configured, each place by itself, for whoever looks at what
    stands there: values of its chart, files, ConfigMaps in these. What holds of them together is `in_force`."""
    for path in texts(product.configuration.get("values")):
        yield from values_of_charts(product, world, tuple(path.split(".")))
    kind = text(product.configuration.get("kind"))
    for file, document in _naming(kind, files, lines):
        body = mapping(document.value)
        if body.get("kind") == kind:
            yield Configuration(f"{kind} in {file}", body, partial(_in_document, document))
        for name, value in mapping(body.get("data")).items() if body.get("kind") == "ConfigMap" else ():
            for inner in read(text(value).encode(), file).documents if f"kind: {kind}" in text(value) else ():
                at = Location(document, ("data", name), True)
                yield Configuration(f"{kind} in {file}", mapping(inner.value), partial(there, at))


def by_themselves(product: ReleasedProduct, files: Iterable[str], lines: Lines) -> Iterator[Configuration]:
    """Yield the configurations of a product's controller that are documents of files, and no object that deploys."""
    kind = text(product.configuration.get("kind"))
    for file, document in _naming(kind, files, lines):
        if (body := mapping(document.value)).get("kind") == kind:
            yield Configuration(f"{kind} in {file}", body, partial(_in_document, document))


def _naming(kind: str, files: Iterable[str], lines: Lines) -> Iterator[tuple[str, Document]]:
    """Yield the documents of the files that name a kind, with their files."""
    for file in files if kind else ():
        written = "\n".join(lines(file))
        if f"kind: {kind}\n" in f"{written}\n":
            yield from ((file, document) for document in read(written.encode(), file).documents)


def in_force(product: ReleasedProduct, world: World) -> Iterator[tuple[Configuration, bool]]:
    """Yield the configurations of a product's controller that an environment has, each with whether it is all that
    decides: values of its chart, its own kind or a text within a ConfigMap, what installs it, variables of its
    containers."""
    stands = product.configuration
    paths = [
        tuple(filter(None, path.split("."))) for path in (*texts(stands.get("values")), *texts(stands.get("further")))
    ]
    for chart in texts(stands.get("charts")):
        for holder, values, is_whole in values_of(world, chart):
            for path in paths:
                body = mapping(value_at(values, path))
                yield Configuration(f"{holder.key}", body, partial(there, holder.name_location)), is_whole
    if kind := text(stands.get("kind")):
        for holder, body in in_config_maps(world, kind):
            yield Configuration(f"{kind} in {holder.key}", body, locating(holder)), not holds_variable(str(body))
    for entry in map(mapping, sequence(stands.get("objects"))):
        name, _, group = text(entry.get("kind")).partition(".")
        for holder in world.of_kind(group, name):
            for at in (tuple(path.split(".")) for path in texts(entry.get("at"))):
                yield Configuration(f"{holder.key}", mapping(value_at(holder.body, at)), locating(holder, at)), False
    if within := mapping(stands.get("text")):
        for holder in world.of_kind("", "ConfigMap"):
            held = mapping(holder.body.get("data")).get(text(within.get("key")))
            if isinstance(held, str) and holder.key.name.partition("-")[0] == within.get("name"):
                for document in read(held.encode(), holder.document.file).documents[:1]:
                    yield Configuration(f"{holder.key}", mapping(document.value), locating(holder)), False
    for workload, variables, is_whole in _variables(product, world):
        yield Configuration(f"{workload.key}", variables, locating(workload)), is_whole


def _variables(product: ReleasedProduct, world: World) -> Iterator[tuple[Resource, dict[str, Any], bool]]:
    """Yield the variables that the containers of a product's controller are given by their values, and whether there
    are no others but those of the pod itself."""
    images = tuple(texts(product.found.get("images")))
    for image, container, workload in world.once(_containers) if images else ():
        if image.endswith(images):
            listed = [mapping(each) for each in sequence(container.get("env"))]
            own = all("value" in each or "fieldRef" in mapping(each.get("valueFrom")) for each in listed)
            is_whole = own and not container.get("envFrom") and not workload.provisional
            yield workload, {text(each.get("name")): each["value"] for each in listed if "value" in each}, is_whole


def _containers(world: World) -> list[tuple[str, Mapping[str, Any], Resource]]:
    """Return the containers of Deployments with their images; each of several products asks for them."""
    return [
        (image_of(container)[0], container, workload)
        for workload in world.of_kind("apps", "Deployment")
        for container in map(mapping, sequence(value_at(workload.spec, ("template", "spec", "containers"))))
    ]


def settings(
    product: ReleasedProduct,
    release: Version | None,
    found: Iterable[tuple[Configuration, bool]],
    known: Mapping[str, ControllerSetting],
) -> dict[str, Any]:
    """Return what configurations say of the settings that the catalog knows, as a release reads them; nothing of one
    of which they say different things.

    A setting that the catalog takes for granted where nothing was seen (`otherwise`) is what the controller makes of it
    where a whole configuration is silent.
    """
    said: dict[str, list[Any]] = {}
    silent: dict[str, Any] = {}
    entries = list(map(mapping, sequence(product.configuration.get("settings"))))
    for configuration, is_whole in found:
        for entry in entries:
            name, since = text(entry.get("name")), version(text(entry.get("since")))
            if since is not None and release is not None and release < since:
                continue
            value = value_at(configuration.body, tuple(text(entry.get("from")).split(".")))
            stated = None if value is None else _as_setting(value, known[name])
            if stated is not None:
                value = stated != (entry.get("inverted") is True) if isinstance(stated, bool) else stated
                said.setdefault(name, []).append(value)
            elif value is None and is_whole and "otherwise" in entry:
                silent[name] = entry["otherwise"]
    alike = {name: values[0] for name, values in said.items() if all(each == values[0] for each in values)}
    return {name: value for name, value in silent.items() if name not in said} | alike


def _as_setting(value: Any, setting: ControllerSetting) -> Any:
    """Return a value as a setting takes it, None where it takes no such one: variables of the environment are text."""
    if setting.schema.get("type") == "boolean":
        return value if isinstance(value, bool) else _IN_WORDS.get(text(value).lower())
    if setting.schema.get("type") == "object" and isinstance(value, str):
        documents = read(value.encode(), "value").documents
        value = documents[0].value if documents else None
    if setting.schema.get("type") == "object" and isinstance(value, dict):
        value = {**setting.default, **{name: each for name, each in value.items() if name in _fields(setting)}}
    listed, kind = setting.schema.get("enum"), _TYPES.get(text(setting.schema.get("type")))
    is_taken = value in listed if listed is not None else value.__class__ is kind
    return None if holds_variable(str(value)) or not is_taken else value


def _fields(setting: ControllerSetting) -> Mapping[str, Any]:
    return mapping(setting.schema.get("properties"))


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
