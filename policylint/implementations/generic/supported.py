"""Filters of routes that an implementation supports, as its catalog file states them (`filters`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.model import mapping, sequence, text

_EXTENSION = "ExtensionRef"


def unsupported_filters(
    kind: str, rule: Mapping[str, Any], implementation: str, catalog: Catalog
) -> Iterator[tuple[int, str]]:
    """Yield the filters of a rule of a route that its controller does not support, each with its number among them.

    Nothing where that is not known of the kind of routes or of the controller.
    """
    supported = catalog.limits(implementation).filters
    if kind != "HTTPRoute" or not supported or "filters" not in rule:
        return
    for number, filter_ in enumerate(map(mapping, sequence(rule.get("filters")))):
        name, reference = text(filter_.get("type")), mapping(filter_.get("extensionRef"))
        named = catalog.get(text(reference.get("group")), text(reference.get("kind")))
        if name and name not in supported:
            yield number, name
        elif name == _EXTENSION and reference and (named is None or not catalog.reads(implementation, named)):
            yield number, f"of kind {text(reference.get('kind'))}"
