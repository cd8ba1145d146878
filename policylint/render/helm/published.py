"""What published charts make of Gateway API and of policies: schemas/charts.yaml, and what their values say."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from policylint.documents import read
from policylint.model import ROUTE_KINDS, mapping, text, texts
from policylint.model.resource import value_at
from policylint.model.shipped import shipped_data
from policylint.model.unseen import Kind, UnseenSource
from policylint.patterns import Pattern
from policylint.render.helm.mentions import OFF, mentions, names_read

ANY_ROUTE: Final = "*Route"
_NEXT: Final = Pattern(rb"^  [^ ]", re.MULTILINE)


def source(chart: str, values: Any, *, seen: bool = True) -> UnseenSource:
    """Return what is known of an installation of a chart that is not rendered.

    Args:
        chart: its name: the last step of its address; "" where nothing says it.
        seen: whether these are all of its values.
    """
    makes = _made(chart, values) if seen else None
    return UnseenSource("chart", mentions(values), makes, chart, names_read(values), lambda: values)


def _made(chart: str, values: Any) -> frozenset[Kind] | None:
    """Return the kinds that a chart makes of values (schemas/charts.yaml), None where that is not known."""
    kinds = _kinds(chart)
    if kinds is None:
        return None
    made: set[Kind] = set()
    for written, paths in kinds:
        if not paths or any(_is_on(value_at(mapping(values), tuple(path.split(".")))) for path in paths):
            kind, _, group = written.partition(".")
            made.update((group, each) for each in (ROUTE_KINDS if kind == ANY_ROUTE else (kind,)))
    return frozenset(made)


def _is_on(value: Any) -> bool:
    return value not in OFF and not (isinstance(value, dict) and value.get("enabled") is False)


@lru_cache(maxsize=256)
def _kinds(chart: str) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Return the kinds of a chart with the values that switch them on; its entry alone is parsed."""
    data = shipped_data("schemas", "charts.yaml")
    begin = data.find(f"\n  {chart}:".encode()) if chart else -1
    if begin < 0:
        return None
    end = _NEXT.search(data, begin + 2)
    entry = read(data[begin : end.start() if end else len(data)], "charts.yaml").documents[0]
    makes = mapping(mapping(mapping(entry.value).get(chart)).get("makes"))
    return tuple((text(kind), tuple(texts(paths))) for kind, paths in makes.items())
