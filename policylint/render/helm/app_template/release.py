"""What every object of an app-template release shares: the release, its names and labels, and the texts filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.digits import whole_number
from policylint.model import mapping, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.provenance import Manifest, Provenance
from policylint.render.texts import map_texts

CHART = "app-template"
LATEST = 5
"""The major version of the chart where nothing says which one is installed."""
FOR_AN_OBJECT = 20
"""Steps of work that it costs to make one."""
_LONGEST_NAME = 63
_PRINTED_AS_WRITTEN = 1_000_000
"""Go's templates print numbers from here on as 1e+06, as values are floating-point numbers to them."""
_TEMPLATE = Pattern(
    r"(?:\{\{|(?<!\s)\{\{-)\s*\$?\.(?:Release\.(?P<release>Name|Namespace)|Values\.(?P<path>\w+(?:\.\w+)*))\s*"
    r"(?:\}\}|-\}\}(?!\s))"
)
"""One name in a template; not where its dashes take spaces around it away."""
_MAJOR = Pattern(r"[\s^~>=v]*(\d{1,3})(?:\.|$)", re.ASCII)
_NAME_LABEL, _INSTANCE_LABEL = "app.kubernetes.io/name", "app.kubernetes.io/instance"


class Release(NamedTuple):
    """One installation of the chart.

    Args:
        name, namespace: of the release.
        values: merged from all sources.
        origin: where the values are written.
        budget: the work that making its objects may cost.
        chart: the name of the chart: app-template, or another one that is made with the same library.
        major: the major version of the chart.
    """

    name: str
    namespace: str
    values: Any
    origin: Provenance
    budget: Budget
    chart: str = CHART
    major: int = LATEST


class Item(NamedTuple):
    """An entry of `route`, `service`, `controllers` …: its key, its values, and the name the chart gives it."""

    key: str
    values: Any
    origin: Provenance
    name: str


def major_of(chart: str, version: str) -> int:
    """Return the major version of the chart: the first number in a version or a range of them, such as `^4.4.0`.

    It is the latest where there is none, and for other charts of the library, which count by themselves.
    """
    match = _MAJOR.match(version) if chart == CHART else None
    return int(match[1]) if match else LATEST


def is_enabled(values: Any) -> bool:
    """Return whether an entry is made: it is a mapping, and its `enabled`, if there is one, holds for a template."""
    return isinstance(values, dict) and values.get("enabled", True) not in (False, "")


def items(release: Release, field: str) -> dict[str, Item]:
    """Return the enabled entries of a field by their keys; the only one is named as the release, several by their
    keys, too."""
    entries = mapping(mapping(release.values).get(field))
    enabled = {str(key): values for key, values in entries.items() if is_enabled(values)}
    if release.major <= 1:  # where everything but the Service `main` is off by default
        enabled = {
            key: values for key, values in enabled.items() if "enabled" in values or (field, key) == ("service", "main")
        }
    unmarked = _primary(enabled) if release.major <= 2 and field in ("service", "route") else ""
    made = {}
    for key, values in enabled.items():
        release.budget.spend(FOR_AN_OBJECT)
        name = _name(release, key, values, only=len(enabled) == 1 or key == unmarked)
        release.budget.spend_on_text(len(name))
        made[key] = Item(key, values, release.origin.at(field, key), name)
    return made


def _primary(enabled: Mapping[str, Any]) -> str:
    """Return the key of the entry that bears the bare name in versions up to 2: the primary one, else the first."""
    marked = [key for key, values in enabled.items() if values.get("primary") is True]
    return min(marked or enabled, default="")


def _name(release: Release, key: str, values: Any, *, only: bool) -> str:
    """Return the name of an entry's object.

    Versions up to 3 have `nameOverride`, later ones `prefix` and `suffix`, which stand around the key.
    Source: bjw-s common library, templates/lib/common/_determineResourceNameFromValues.tpl.
    """
    if text(values.get("forceRename")):
        return str(filled_in(values["forceRename"], release)).lower()
    name = full_name(release)
    prefix, suffix = (str(filled_in(text(values.get(field)), release)) for field in ("prefix", "suffix"))
    if prefix and prefix != name:
        name = f"{prefix}-{name}"
    override = values.get("nameOverride")
    always = _global(release).get("alwaysAppendIdentifierToResourceName") is True
    if isinstance(override, str):
        name += f"-{filled_in(override, release)}" if override else ""
    elif (always or not only) and key != name and not name.endswith(f"-{key}"):
        name += f"-{key}"
    if suffix and not name.endswith(f"-{suffix}"):
        name += f"-{suffix}"
    return name.lower()


def full_name(release: Release) -> str:
    """Return the name that all names of the release begin with (templates/lib/chart/_names.tpl)."""
    override = text(_global(release).get("fullnameOverride")) or text(release.values.get("fullnameOverride"))
    short = _short_name(release)
    if override:
        full = str(filled_in(override, release))
    else:
        full = release.name if short in release.name else f"{release.name}-{short}"
    return full[:_LONGEST_NAME].removesuffix("-")


def _short_name(release: Release) -> str:
    """Return what the chart is called: app-template calls itself as its release, unless that is overridden."""
    name = text(_global(release).get("nameOverride"))
    if not name:
        is_own = release.chart == CHART
        name = release.name if is_own else text(release.values.get("nameOverride")) or release.chart
    return str(filled_in(name, release))[:_LONGEST_NAME].removesuffix("-")


def _global(release: Release) -> Any:
    return mapping(release.values.get("global"))


def global_labels(release: Release) -> dict[str, Any]:
    """Return the labels that the values ask for on everything."""
    return {str(name): filled_in(value, release) for name, value in mapping(_global(release).get("labels")).items()}


def selector_labels(release: Release, controller: str) -> dict[str, Any]:
    """Return the labels by which the Pods of a controller are selected, its `extraSelectorLabels` included."""
    labels: dict[str, Any] = {_NAME_LABEL: _short_name(release), _INSTANCE_LABEL: release.name}
    if release.major > 1:  # before, a release has one controller
        labels[f"app.kubernetes.io/{'controller' if release.major > 3 else 'component'}"] = controller
    values = mapping(mapping(release.values.get("controllers")).get(controller))
    return {**labels, **extra_selector_labels(values, release)}


def extra_selector_labels(values: Any, release: Release) -> dict[str, Any]:
    """Return `extraSelectorLabels` of an entry, templates in names and values filled in."""
    extra = mapping(mapping(values).get("extraSelectorLabels"))
    return {str(filled_in(name, release)): filled_in(value, release) for name, value in extra.items()}


def filled_in(value: Any, release: Release) -> Any:
    """Return a value with the templates in its texts filled in that name the release or a scalar of its values.

    Other ones stay, symbolic.
    """
    known = {"Name": release.name, "Namespace": release.namespace}

    def replaced(match: re.Match[str]) -> str:
        written = known[match["release"]] if match["release"] else _printed(release.values, match["path"])
        if written is None:
            return match[0]
        release.budget.spend_on_text(len(written))
        return written

    return map_texts(value, lambda written: _TEMPLATE.sub(replaced, written) if "{{" in written else written)


def _printed(values: Any, path: str) -> str | None:
    """Return what a template prints for a scalar among the values; None where that is not certain."""
    for step in path.split("."):
        values = values.get(step) if isinstance(values, dict) else None
    if isinstance(values, bool):
        return "true" if values else "false"
    if isinstance(values, int) and abs(values) < _PRINTED_AS_WRITTEN:
        return str(values)
    return values if isinstance(values, str) and "{{" not in values else None


def as_number(value: Any) -> Any:
    """Return a value as it is read again after a template printed it: a text of digits is a number."""
    number = whole_number(value) if isinstance(value, str) else None
    return value if number is None else number


def made(
    release: Release,
    item: Item,
    api_version: str,
    kind: str,
    content: Mapping[str, Any],
    places: Mapping[Any, Provenance],
    namespace: str = "",
) -> Manifest:
    """Return an object of an entry, with the metadata that the chart gives it.

    Args:
        content: the fields beside the metadata: spec, data.
        places: where those fields of the spec are written that are not below the entry as in the spec.
        namespace: if it is not that of the release.
    """
    labels = {
        _NAME_LABEL: _short_name(release),
        _INSTANCE_LABEL: release.name,
        "app.kubernetes.io/managed-by": "Helm",
        **global_labels(release),
        **filled_in(mapping(item.values.get("labels")), release),
    }
    size = size_of(dict(content))[0]
    release.budget.spend(FOR_AN_OBJECT + size_of(labels)[0])
    metadata = {"name": item.name, "namespace": namespace or release.namespace, "labels": labels}
    annotations = {**mapping(_global(release).get("annotations")), **mapping(item.values.get("annotations"))}
    if annotations:
        metadata["annotations"] = filled_in(annotations, release)
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
    origin = entry_origin(item.origin, item.origin.with_children(dict(places)))
    return Manifest(body, origin, weight=FOR_AN_OBJECT + size)


def entry_origin(entry: Provenance, spec: Provenance) -> Provenance:
    """Return the provenance of an object that a chart makes of one entry of its values.

    Its name and namespace stand nowhere: their place is the entry, which is what people would point at.
    """
    own = {field: entry.child(field) for field in ("labels", "annotations")}
    metadata = entry.with_children({"name": entry, "namespace": entry, **own})
    return entry.with_children({"metadata": metadata, "spec": spec})


def enabled_keys(values: Any) -> Iterable[str]:
    """Return the keys of the enabled entries of a mapping, sorted, as templates go through it."""
    return sorted(str(key) for key, entry in mapping(values).items() if is_enabled(entry))
