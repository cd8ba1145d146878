"""What another release of Gateway API or of an implementation makes of the same objects (docs/upgrading.md).

`in_use` tells which release a tree is for, `schemas` compares what the CRDs of two releases take, `changes` looks for
what releases do otherwise beyond schemas. Whatever a release changes is data (`catalog.releases`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from policylint.catalog.releases import NEEDED, ReleasedProduct, Version
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.compare.requests import RequestChanges
    from policylint.render.in_use import InUse

Severity = Literal["error", "warning", "note"]


class Consequence(NamedTuple):
    """What becomes of an object, or of a place in a file, with another release.

    Args:
        product: the name of the product that changes.
        release: the first release that does so.
        effect: one of `catalog.releases.EFFECTS`.
        change: the name of the change in the catalog, or of the comparison of schemas that found it.
        subject: the object, as reports name it; the file where it is a line of one.
        says: what becomes of it, to follow the subject.
        todo: what to do about it, "" where nothing is to be done.
        pointer: the place in the object, dotted; "" for a line.
        file, line: where that is written; "" and 0 where nothing in the tree holds it.
        environments: where it is so.
    """

    product: str
    release: Version
    effect: str
    change: str
    subject: str
    says: str
    todo: str
    pointer: str
    file: str
    line: int
    environments: tuple[str, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether something must be done about it."""
        return self.effect in NEEDED

    @property
    def severity(self) -> Severity:
        """How much it matters: what is lost, what is done otherwise, what will be."""
        return "error" if self.needed else "note" if self.effect == "deprecated" else "warning"


GROUNDS = ("stated", "read", "assumed")
"""Why a release is taken to be in use: the command or the configuration says so, the tree does, or nothing does."""


class Move(NamedTuple):
    """One product that goes from a release to another one, in one environment.

    Args:
        ground: one of GROUNDS.
        uses: what the tree says of the release in use, the oldest first.
        channels: the channel in use, and the one to go to; None where none is named.
    """

    environment: str
    product: ReleasedProduct
    start: Version
    end: Version
    ground: str
    uses: tuple[InUse, ...] = ()
    channels: tuple[str, str] | None = None


class Upgrade(NamedTuple):
    """The result of an upgrade.

    Args:
        moves: per environment and product, in the order in which they were asked for.
        consequences: what becomes of the objects: what must be done first.
        requests: per environment what is answered otherwise; None where nothing that is modelled changes.
        absent: products of which no environment has anything.
        already: products that are at the release, or past it, somewhere, with what says so.
    """

    moves: tuple[Move, ...]
    consequences: tuple[Consequence, ...]
    requests: tuple[tuple[str, RequestChanges | None], ...]
    absent: tuple[str, ...] = ()
    already: tuple[tuple[str, InUse], ...] = ()
