"""Which kinds programs beside the implementations read their annotations from: schemas/annotations.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, text, texts
from policylint.model.shipped import shipped_data


def readers(annotation: str, kind: str) -> tuple[str, list[str]]:
    """Return the program that does not read an annotation from a kind, and the kinds it reads it from; else ""."""
    prefix, _, name = annotation.partition("/")
    known = mapping(_table().get(prefix))
    if not known.get("others"):
        return "", []
    kinds = {each: texts(names) for each, names in mapping(known.get("kinds")).items()}
    is_read = any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in texts(known["names"]))
    places = [each for each, names in kinds.items() if name in names] or (texts(known["others"]) if is_read else [])
    return ("", []) if kind in places or not places else (text(known.get("reader")), places)


def replacing() -> tuple[str, ...]:
    """Return the beginnings of annotations of which one on a route takes the place of all of them on its Service."""
    return tuple(f"{prefix}/" for prefix, known in _table().items() if mapping(known).get("replaces") is True)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "annotations.yaml"), "annotations.yaml").documents[0].value)
