"""Known defects of releases, as data: schemas/defects.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from policylint.catalog.releases import Place, ReleasedProduct, read_places
from policylint.documents import read
from policylint.model.resource import mapping, sequence, text, texts
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple

_FILE = "defects.yaml"
Patch = tuple[int, int, int]
"""A release with its patch."""


class Defect(NamedTuple):
    """What some releases of a product do otherwise than they should.

    Args:
        releases: the first one that has it, and the first that has it no more, in several lines of releases.
        severity: warning or note.
        says: what becomes of the object, to follow its name.
        todo: what helps beside an upgrade, "" for nothing.
        source: an address of the project's own word.
    """

    name: str
    releases: tuple[tuple[Patch, Patch], ...]
    severity: str
    says: str
    todo: str
    places: tuple[Place, ...]
    source: str

    def mended_in(self, release: Patch) -> str:
        """Return the release that mends it for one that has it, `1.16.8`; "" for one that has it not."""
        found = (end for start, end in self.releases if start <= release < end)
        return ".".join(map(str, next(found, ())))


@cache
def products() -> Mapping[str, tuple[ReleasedProduct, Mapping[str, Any]]]:
    """Return the products that have known defects, with the paths of the tag in values of charts; what the defects are
    is most of the file, and is not read."""
    head = shipped_data("schemas", _FILE).partition(b"\ndefects:")[0]
    listed = mapping(mapping(read(head, _FILE).documents[0].value).get("products"))
    return {
        name: (ReleasedProduct(name, text(about.get("title")), {}, about, (), {}, ()), mapping(about.get("tags")))
        for name, about in ((name, mapping(about)) for name, about in listed.items())
    }


@cache
def defects() -> Mapping[str, tuple[Defect, ...]]:
    """Return the defects by product."""
    listed = mapping(mapping(read(shipped_data("schemas", _FILE), _FILE).documents[0].value).get("defects"))
    return {name: tuple(_defect(mapping(entry)) for entry in sequence(entries)) for name, entries in listed.items()}


def patch(written: str) -> Patch | None:
    """Return the release that a version or a tag names to its patch; None for a range, and for what precedes one."""
    found = re.match(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?![\d.])", written)
    if found is None or re.search(r"alpha|beta|rc|[xX*<>~^]", written):
        return None
    return int(found[1]), int(found[2]), int(found[3])


def _defect(entry: Mapping[str, Any]) -> Defect:
    return Defect(
        text(entry.get("name")),
        tuple(_ranges(entry)),
        text(entry.get("severity")),
        " ".join(text(entry.get("says")).split()),
        text(entry.get("do")),
        read_places(entry.get("where")),
        text(entry.get("source")),
    )


def _ranges(entry: Mapping[str, Any]) -> Iterator[tuple[Patch, Patch]]:
    for written in texts(entry.get("releases")):
        start, _, end = written.partition(" - ")
        last = patch(end)
        if last is not None:
            yield patch(start) or (0, 0, 0), last
