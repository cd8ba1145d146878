"""Paths of Ingresses that look like regular expressions, and that their controllers take letter by letter."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.doors import variables
from policylint.doors.annotations import served
from policylint.doors.vendors import Vendor
from policylint.model import Resource, World, holds_variable, mapping, text
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_LIKE_EXPRESSIONS = Pattern(r".*(?:\(.*\)|\[.+\]|\.[*+]|\\[dDwWsSb./-]|\|).*")


class LiteralPath(NamedTuple):
    """A path that is no expression, with its place."""

    ingress: Resource
    pointer: Pointer
    vendor: Vendor


def literal_paths(world: World) -> Iterator[LiteralPath]:
    """Yield the paths that only look like expressions: those begin otherwise for who serves them."""
    for ingress, vendor, certain in served(world):
        mark, kind, field = vendor.mark(ingress)
        if not certain or not mark or any(each.spec.get(field) is True for each in world.of_kind(*kind)):
            continue
        for number, rule in enumerate(variables.entries(ingress, "rules")):
            for index, entry in enumerate(map(mapping, variables.entries_of(rule, "http", "paths"))):
                path = text(entry.get("path"))
                if _LIKE_EXPRESSIONS.fullmatch(path) and not path.startswith(mark) and not holds_variable(path):
                    yield LiteralPath(ingress, ("spec", "rules", number, "http", "paths", index, "path"), vendor)
