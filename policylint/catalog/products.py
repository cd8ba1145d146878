"""What fields of products mean that decide who gets in and are not in the catalog: schemas/products.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text
from policylint.model.shipped import shipped_data
from policylint.model.weakness import Weakness, weakness
from policylint.namedtuple import NamedTuple


class ProductKind(NamedTuple):
    """A kind of a product.

    Args:
        weaker: the changes of its fields that weaken what it protects.
        guards: whether what an object refused passes once it is gone.
        exports: whether with an object something can be reached from elsewhere.
    """

    product: str
    weaker: tuple[Weakness, ...]
    guards: bool
    exports: bool

    def speaks_of(self, path: str) -> bool:
        """Tell whether a field's meaning is stated here, so that words of names add nothing."""
        steps = path.split(".")
        return any(
            len(told) == len(steps) and all(step in ("*", other) for step, other in zip(told, steps, strict=True))
            for told in (weak.path.split(".") for weak in self.weaker)
        )


@lru_cache(maxsize=1)
def product_table() -> Mapping[str, Any]:
    """Return what the file says."""
    return mapping(read(shipped_data("schemas", "products.yaml"), "products.yaml").documents[0].value)


@lru_cache(maxsize=1)
def _kinds() -> tuple[tuple[frozenset[str], re.Pattern[str], ProductKind], ...]:
    found = []
    for product in map(mapping, sequence(product_table().get("products"))):
        groups = frozenset(map(text, sequence(product.get("groups"))))
        for entry in map(mapping, sequence(product.get("kinds"))):
            weaker = tuple(weakness(mapping(each)) for each in sequence(entry.get("weaker")))
            flags = entry.get("guards", False), entry.get("exports", False)
            found.append((groups, re.compile(entry["kind"]), ProductKind(product["product"], weaker, *flags)))
    return tuple(found)


@lru_cache(maxsize=1024)
def product_kind(group: str, kind: str) -> ProductKind | None:
    """Return what is known of a kind, None where it is of no product here."""
    return next((known for groups, name, known in _kinds() if group in groups and name.fullmatch(kind)), None)


__all__ = ["ProductKind", "product_kind", "product_table"]
