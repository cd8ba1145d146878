"""What published charts make of Gateway API and of policies: schemas/charts.yaml, and what their values say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text, texts
from policylint.model.resource import value_at
from policylint.model.shipped import shipped_data
from policylint.model.unseen import Kind, UnseenSource
from policylint.render.helm.mentions import OFF, mentions


def source(chart: str, values: Any) -> UnseenSource:
    """Return what is known of an installation of a chart that is not rendered.

    Args:
        chart: its name: the last step of its address; "" where nothing says it.
    """
    return UnseenSource("chart", mentions(values), _made(chart, values))


def _made(chart: str, values: Any) -> frozenset[Kind] | None:
    """Return the kinds of Gateway API and of policies that a chart makes of values, None where that is not known."""
    known = _charts().get(chart) if f"\n  {chart}:".encode() in _data() else None
    if known is None:
        return None
    made: set[Kind] = set()
    for entry in map(mapping, sequence(known.get("makes"))):
        paths = texts(entry.get("from"))
        if not paths or any(_is_on(value_at(mapping(values), tuple(path.split(".")))) for path in paths):
            kind, _, group = text(entry.get("kind")).partition(".")
            made.add((group, kind))
    return frozenset(made)


def _is_on(value: Any) -> bool:
    return value not in OFF and not (isinstance(value, dict) and value.get("enabled") is False)


@lru_cache(maxsize=1)
def _data() -> bytes:
    return shipped_data("schemas", "charts.yaml")


@lru_cache(maxsize=1)
def _charts() -> Mapping[str, Any]:
    document = read(_data(), "charts.yaml").documents[0]
    return mapping(mapping(document.value).get("charts"))
