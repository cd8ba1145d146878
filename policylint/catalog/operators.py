"""What operators make of their resources: schemas/operators.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, text, texts
from policylint.model.resource import value_at
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_FIELD = Pattern(r"\{([^{}]*)\}")


class Product(NamedTuple):
    """Objects of one kind (group, kind) that an operator makes, and the template of their names."""

    kind: tuple[str, str]
    template: str

    @property
    def ending(self) -> str:
        """Return how the names end, whatever they begin with."""
        return self.template.rpartition("}")[2]

    def is_made(self, body: Mapping[str, Any]) -> bool:
        """Return whether a resource has the value that its template asks for, if it asks for one."""
        place, _, wanted = self.template.partition(" if ")[2].partition("}")[0].partition("=")
        return not place or text(value_at(body, tuple(place.split(".")))) in wanted.split(",")

    def name(self, body: Mapping[str, Any]) -> str:
        """Return the name of what is made of a resource, "" where it does not say."""
        lacking = False

        def fill(field: re.Match[str]) -> str:
            nonlocal lacking
            paths = field[1].partition(" if ")[0]
            for path in paths.split("|") if self.is_made(body) else ():
                value = text(value_at(body, ("metadata", "name") if path == "name" else tuple(path.split("."))))
                if value:
                    return value
            lacking = True
            return ""

        name = _FIELD.sub(fill, self.template)
        return "" if lacking else name


@lru_cache(maxsize=1024)
def products(group: str, kind: str) -> tuple[Product, ...] | None:
    """Return what is made of the resources of a kind, None for a kind that nobody described."""
    if f"\n{group}:".encode() not in _data():
        return None
    kinds = _table().get(group, {})
    made = kinds.get(kind, kinds.get("*"))
    if made is None:
        return None
    return tuple(
        Product((product.partition(".")[2], product.partition(".")[0]), template)
        for product, templates in mapping(made).items()
        for template in texts(templates)
    )


@lru_cache(maxsize=1)
def _data() -> bytes:
    return shipped_data("schemas", "operators.yaml")


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Any]]:
    return mapping(read(_data(), "operators.yaml").documents[0].value)
