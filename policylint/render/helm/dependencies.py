"""Charts that a chart of the tree depends on and that its deployer fetches: the tree has what they are given alone.

A directory with a Chart.yaml that names a published chart, values for it and a few templates of one's own is how most
trees of Argo CD are written. Helm refuses it until `helm dependency build` was run, which Argo CD and Flux do. So its
own templates are rendered, with an empty chart in each place of one that is fetched; of what that one makes is known
what is known of it where it is installed by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.budget import Budget, size_of
from policylint.model import mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.helm import published
from policylint.render.helm.app_template.release import Release, major_of
from policylint.render.helm.own import is_compatible, is_on
from policylint.render.helm.unrendered import known_of
from policylint.render.journal import Journal
from policylint.render.provenance import Manifest, Provenance

_FETCHED = ("https://", "http://", "oci://", "@", "alias:")
_NUMBER = Pattern(r"\d+(?:\.\d+){0,2}")
_NAME = Pattern(r"[A-Za-z0-9][\w.-]*")


class Dependency(NamedTuple):
    """A dependency that is not in the tree.

    Args:
        about: its entry in the Chart.yaml.
        name: of the chart.
        key: by which the values of the chart that depends on it give it its own.
    """

    about: Mapping[str, Any]
    name: str
    key: str


class Dependent(NamedTuple):
    """The release of the chart that depends on others.

    Args:
        title: what it is called in messages.
        name, namespace: of the release.
        values, origin: all that it is given, over its own.
        is_whole: whether these are all of its values.
    """

    title: str
    name: str
    namespace: str
    values: Mapping[str, Any]
    origin: Provenance
    is_whole: bool


def fetched(about: Mapping[str, Any], files: Mapping[str, bytes], directory: str) -> Iterator[Dependency]:
    """Yield the dependencies of a chart that a deployer fetches, as they are not among its files."""
    below = f"{directory}/charts/" if directory else "charts/"
    held = {path[len(below) :].partition("/")[0] for path in files if path.startswith(below)}
    for entry in map(mapping, sequence(about.get("dependencies"))):
        name = text(entry.get("name"))
        is_held = any(each == name or (each.startswith(f"{name}-") and each.endswith(".tgz")) for each in held)
        if _NAME.fullmatch(name) and not is_held and text(entry.get("repository")).startswith(_FETCHED):
            yield Dependency(entry, name, text(entry.get("alias")) or name)


def stand_in(dependency: Dependency) -> bytes | None:
    """Return the Chart.yaml of an empty chart in place of a dependency; None where no version of it is known to fit."""
    wanted = text(dependency.about.get("version"))
    for found in [*_NUMBER.findall(wanted), "1"]:
        version = ".".join([*found.split("."), "0", "0"][:3])
        for each in (wanted.removeprefix("v"), version):
            if _is_version(each) and is_compatible(wanted, each):
                return f"apiVersion: v2\nname: {dependency.name}\nversion: {each}\n".encode()
    return None


def _is_version(text_of: str) -> bool:
    return text_of.count(".") >= 2 and text_of[:1].isdigit() and not any(each in text_of for each in " <>=|,*xX^~")


def made(
    dependency: Dependency, parent: Dependent, journal: Journal, place: Provenance, budget: Budget
) -> list[Manifest]:
    """Return what is known of the objects that a dependency makes; what may be missing is noted, and a gap."""
    from policylint.render.flux.helm_releases import speaks_of_routes

    if not is_on(dependency.about, dict(parent.values), ""):
        return []
    values, name = mapping(parent.values.get(dependency.key)), dependency.name
    if isinstance(parent.values.get("global"), dict):
        values = {**values, "global": {**parent.values["global"], **mapping(values.get("global"))}}
    budget.spend(size_of(values)[0])
    version = text(dependency.about.get("version"))
    origin = parent.origin.child(dependency.key)
    release = Release(parent.name, parent.namespace or "default", values, origin, budget, name, major_of(name, version))
    about = f"chart {name}, on which {parent.title} depends,"
    found = known_of(release, version)
    if found.of_family:
        if not found.is_whole(name):
            reason = f"{about} may create it; its own values are not seen"
            journal.gap(reason, parent.namespace, source=published.source(name, values))
    else:
        may_make_routes = not parent.is_whole or speaks_of_routes(values)
        known = published.source(name, found.rest if parent.is_whole else values, seen=parent.is_whole)
        journal.gap(
            f"{about} may create it; it is not rendered", parent.namespace, gateway_api=may_make_routes, source=known
        )
        journal.note(f"{about} is not rendered", place, code="chart")
    for manifest in found.objects if not parent.is_whole else ():
        manifest.leave_open(f"not all values of {parent.title} were seen")
    return found.objects
