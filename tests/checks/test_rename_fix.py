"""A name that a chart wrote is nowhere in the tree, so no fix writes another one over it."""

from __future__ import annotations

from policylint.checks.kit.fixes import rename
from policylint.checks.kit.wording import Spellings
from policylint.model import Location
from tests.worlds import resources, route

(ROUTE,) = resources(route())
PLACE = ROUTE.location("spec", "parentRefs", 0, "name")
NEAR = Spellings(["external"])


def test_a_name_that_is_written_here_is_renamed() -> None:
    (fix,) = rename([PLACE], "externl", "external", NEAR)
    assert fix.title == "write `name: external`"


def test_a_name_that_is_written_nowhere_is_left() -> None:
    made = Location(PLACE.document)
    assert rename([made], "externl", "external", NEAR) == ()
    assert rename([PLACE, made], "externl", "external", NEAR) == ()
