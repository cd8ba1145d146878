"""Which kinds programs beside the implementations read their annotations from: schemas/annotations.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policylint.documents import read
from policylint.model import mapping, sequence, text, texts
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple


def readers(annotation: str, kind: str) -> tuple[str, list[str]]:
    """Return the program that does not read an annotation from a kind, and the kinds it reads it from; else ""."""
    prefix, _, name = annotation.partition("/")
    known = mapping(_table().get(prefix))
    if not known.get("others"):
        return "", []
    kinds = {each: texts(names) for each, names in mapping(known.get("kinds")).items()}
    is_read = any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in texts(known["names"]))
    places = [*(each for each, names in kinds.items() if name in names), *(texts(known["others"]) if is_read else ())]
    return ("", []) if kind in places or not places else (text(known.get("reader")), places)


def replacing() -> tuple[str, ...]:
    """Return the beginnings of annotations of which one on a route takes the place of all of them on its Service."""
    return tuple(f"{prefix}/" for prefix, known in _table().items() if mapping(known).get("replaces") is True)


class Enrolment(NamedTuple):
    """What is said to a mesh about pods.

    Args:
        name: of the annotation or label; one that ends with `*` is how they begin.
        form: as what it is read: `annotation`, `label`, or `either`.
        at: the kinds that it is read from.
        exempt: names that begin so and mean something else.
    """

    name: str
    form: str
    at: tuple[str, ...]
    reader: str
    exempt: tuple[str, ...]

    def means(self, name: str) -> bool:
        """Return whether this is what an annotation or label is."""
        begins = self.name.endswith("*") and name.startswith(self.name[:-1])
        return (begins or name == self.name) and name not in self.exempt


@lru_cache(maxsize=1)
def enrolments() -> tuple[Enrolment, ...]:
    """Return what meshes are told about pods."""
    found = []
    for each in map(mapping, sequence(_table().get("enrolments"))):
        name, form, reader = (text(each.get(field)) for field in ("name", "as", "reader"))
        found.append(Enrolment(name, form, tuple(texts(each.get("at"))), reader, tuple(texts(each.get("except")))))
    return tuple(found)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    return mapping(read(shipped_data("schemas", "annotations.yaml"), "annotations.yaml").documents[0].value)
