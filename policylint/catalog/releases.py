"""The release axis: what each release of a product serves, refuses and does otherwise (schemas/releases/).

A product is Gateway API or an implementation. `NAME.yaml` says how its release is told from a tree, and what changes
with which release; `NAME/KIND.GROUP.json` has the schemas of the release (schemas/make_releases.py). Nothing of it is
read unless somebody asks about releases.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from policylint.documents import read
from policylint.errors import UsageError
from policylint.model.resource import mapping, sequence, text, texts
from policylint.model.shipped import data_directory, shipped_data, shipped_files
from policylint.namedtuple import NamedTuple

Version = tuple[int, ...]
"""A minor release, as numbers: (1, 9)."""
NEEDED = frozenset({"refused", "dropped", "unserved", "needs", "off"})
"""Effects that something must be done about before an upgrade."""
CHANNELS = ("standard", "experimental")
"""The channels of a product, of which the first has fewer kinds and fields."""
STANDARD = "-standard"
"""Ends the name of a product, and of the folder of its schemas, of which the channel that has less is in use."""
EFFECTS = {
    "refused": "the API server or the controller refuses it",
    "dropped": "the field is gone, and what it says with it",
    "unserved": "the version or kind is no longer served",
    "needs": "something else must be upgraded or set first",
    "off": "a feature is off unless it is switched on",
    "default": "another default",
    "otherwise": "the same manifest does something else",
    "renamed": "generated names change that patches and dashboards refer to",
    "deprecated": "it still works, and will be removed",
}
"""What a change does to a manifest → in words."""


class Place(NamedTuple):
    """Where a change shows.

    Args:
        kind: as `Kind.group`; without a group one of `Installation` (once for the product, with what says its release
            as `uses`), `Holder` (what installs its chart), `Values` (of its chart), `Text` (any file), and the
            configuration of its controller, such as `EnvoyGateway`.
        given: a condition in CEL on the whole object.
        at: a path below the object, `*` for every entry, `**` any way down; "" for the object itself.
        when: a condition in CEL on what stands there.
        mentions: a pattern that the text of what stands there holds.
        verdict: what the simulation says of the object, such as `Invalid`.
        missing: whether an object that it refers to, in the form `parameters` or `filter`, is not there.
        targets: a kind of what it is for, whether it names that or selects it.
        untargeted: a kind of which no object targets it.
        refers: a kind of which the place names an object, and what holds of that.
        beside, unless: other places, which must all, or of which none may, be there.
    """

    kind: str
    given: str = ""
    at: str = ""
    when: str = ""
    mentions: str = ""
    verdict: str = ""
    missing: str = ""
    targets: str = ""
    untargeted: str = ""
    refers: Place | None = None
    beside: tuple[Place, ...] = ()
    unless: tuple[Place, ...] = ()


class ReleaseChange(NamedTuple):
    """What a release does otherwise.

    Args:
        name: what it is called, unique for the product.
        effect: one of EFFECTS.
        says: what becomes of the manifest, to follow the name of the object.
        todo: what to do about it.
        needs: releases of other products without which it counts.
    """

    name: str
    release: Version
    effect: str
    says: str
    todo: str
    places: tuple[Place, ...]
    needs: Mapping[str, str] = {}


class ReleasedProduct(NamedTuple):
    """Gateway API or an implementation, with its releases.

    Args:
        releases: minor release → the tag that its schemas are of.
        found: how its release is told from a tree: `charts`, `images`, `repositories`, `annotation`, `objects`; and the
            product whose CRDs its chart `bundles`.
        controllers: patterns of `spec.controllerName`.
        by_schemas: what its notes call breaking and its schemas show, in words: such changes need no entry.
        hidden: what its notes call breaking and no manifest shows, and why it does not, in words.
        with_schemas: the releases whose schemas are there.
        configuration: where the controller's own configuration stands: its kind, and the paths in the chart's values.
    """

    name: str
    title: str
    releases: Mapping[Version, str]
    found: Mapping[str, Any]
    controllers: tuple[str, ...]
    configuration: Mapping[str, Any]
    changes: tuple[ReleaseChange, ...]
    by_schemas: tuple[tuple[Version, str], ...] = ()
    hidden: tuple[tuple[Version, str, str], ...] = ()
    with_schemas: frozenset[Version] = frozenset()

    @property
    def newest(self) -> Version:
        """The newest release that is known."""
        return max(self.releases)

    def between(self, start: Version, end: Version) -> list[Version]:
        """Return the releases with schemas after one, up to another, oldest first."""
        return [release for release in sorted(self.with_schemas) if start < release <= end]

    def tag(self, release: Version) -> str:
        """Return `Envoy Gateway v1.9.0`."""
        return f"{self.title} {self.releases.get(release) or shown(release)}"


OLDER: Final = " names an older release"
"""How it is told that objects are judged by the oldest release that is known, as what is in use is older."""


def version(written: str) -> Version | None:
    """Return the minor release of a version, a tag, or a range such as `1.8.x` or `~1.8.2`; None where it says none."""
    found = re.search(r"(?<![\d.])v?([0-9]{1,9})\.([0-9]{1,9})(?![\d])", written)
    return (int(found[1]), int(found[2])) if found else None


def shown(release: Version) -> str:
    """Return `1.9`."""
    return ".".join(map(str, release))


def stated(written: Mapping[str, str]) -> dict[str, Version]:
    """Return the releases that a configuration states.

    Raises:
        UsageError: one names no product or release that is known.
    """
    return dict(parsed(name, said, f"releases.{name}: {said}") for name, said in written.items())


def parsed(name: str, written: str, whole: str) -> tuple[str, Version]:
    """Return a product and its release, for `whole` as somebody wrote it.

    Raises:
        UsageError: there is no such product, or release of it.
    """
    if name not in names():
        raise UsageError(f"{whole!r}: no releases of {name!r} (known: {', '.join(names())})")
    numbers = version(written)
    known = about(name).releases
    if numbers is None or numbers not in known:
        listed = ", ".join(map(shown, sorted(known)))
        raise UsageError(f"{whole!r}: no release {written!r} of {about(name).title} is known (known: {listed})")
    return name, numbers


def channel(name: str, written: str, whole: str) -> str:
    """Return the channel that a release names, as `1.6-standard` does; "" where it names none.

    Raises:
        UsageError: the product has no channels.
    """
    found = next((each for each in CHANNELS if written.endswith(f"-{each}")), "")
    if found and not any(path.endswith(f"{name}{STANDARD}") for path in shipped_files("schemas", "releases")):
        raise UsageError(f"{whole!r}: {about(name).title} has no channels")
    return found


@cache
def names() -> tuple[str, ...]:
    """Return the names of the products."""
    files = (path.replace("\\", "/").rpartition("/")[2] for path in shipped_files("schemas", "releases"))
    return tuple(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


@cache
def about(name: str) -> ReleasedProduct:
    """Return what is known of a product, but for what its releases change: that is most of the file."""
    file = f"{name}.yaml"
    head = shipped_data("schemas", "releases", file).partition(b"\nchanges:")[0]
    return _product(name, mapping(read(head, file).documents[0].value))


@cache
def product(name: str) -> ReleasedProduct:
    """Return what is known of a product's releases."""
    file = f"{name}.yaml"
    return _product(name, mapping(read(shipped_data("schemas", "releases", file), file).documents[0].value))


def _product(name: str, content: Mapping[str, Any]) -> ReleasedProduct:
    releases = _tagged(content.get("releases"))
    return ReleasedProduct(
        name,
        text(content.get("title")),
        releases,
        mapping(content.get("found")),
        tuple(texts(content.get("controllers"))),
        mapping(content.get("configuration")),
        tuple(_changes(content)),
        tuple(_in_words(content.get("bySchemas"))),
        tuple(_hidden(content.get("hidden"))),
        frozenset(_tagged(content["schemas"]) if "schemas" in content else releases),
    )


def _tagged(listed: object) -> dict[Version, str]:
    return {numbers: text(tag) for tag in sequence(listed) if (numbers := version(text(tag)))}


def _in_words(by_release: object) -> Iterator[tuple[Version, str]]:
    for release, listed in mapping(by_release).items():
        for said in texts(listed):
            yield version(text(release)) or (), said


def _hidden(by_release: object) -> Iterator[tuple[Version, str, str]]:
    for release, listed in mapping(by_release).items():
        for entry in map(mapping, sequence(listed)):
            yield version(text(release)) or (), text(entry.get("says")), text(entry.get("because"))


def _changes(content: Mapping[str, Any]) -> Iterator[ReleaseChange]:
    for release, listed in mapping(content.get("changes")).items():
        for entry in map(mapping, sequence(listed)):
            yield ReleaseChange(
                text(entry.get("name")),
                version(text(release)) or (),
                text(entry.get("effect")),
                " ".join(text(entry.get("says")).split()),
                " ".join(text(entry.get("do")).split()),
                read_places(entry.get("where")),
                {name: text(least) for name, least in mapping(entry.get("needs")).items()},
            )


def read_places(listed: object) -> tuple[Place, ...]:
    return tuple(_place(mapping(entry)) for entry in sequence(listed))


def _place(entry: Mapping[str, Any]) -> Place:
    plain = ("kind", "at", "when", "mentions", "verdict", "missing", "targets", "untargeted")
    return Place(
        given=text(entry.get("if")),
        refers=_place(mapping(entry["refers"])) if entry.get("refers") else None,
        beside=read_places(entry.get("beside")),
        unless=read_places(entry.get("unless")),
        **{name: text(entry.get(name)) for name in plain},
    )


@cache
def kinds() -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the products that have a kind, and the files with its schemas, by group and kind."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for name in names():
        if not os.path.isdir(os.path.join(data_directory(), "schemas", "releases", name)):  # noqa: PTH112, PTH118
            continue
        for path in shipped_files("schemas", "releases", name):
            kind, _, group = path.replace("\\", "/").rpartition("/")[2].removesuffix(".json").partition(".")
            found[group, kind] = (name, path)
    return found


def product_of(group: str, kind: str) -> str:
    """Return the name of the product whose releases have a kind; "" where none of them does."""
    return kinds().get((group, kind), ("", ""))[0]
