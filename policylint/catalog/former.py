"""Kinds that controllers read once: schemas/former-kinds.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from policylint.documents import read
from policylint.model import mapping, sequence, text, texts
from policylint.model.shipped import shipped_data
from policylint.namedtuple import NamedTuple

_TABLE = "former-kinds.yaml"


class FormerKind(NamedTuple):
    """A kind that is read no more.

    Args:
        reader: who read it.
        since: the release of it that does not.
        instead: what is read today, in words.
        told: what scripts say before the release in use.
    """

    reader: str
    since: str
    instead: str
    told: tuple[str, ...] = ()


def former_kinds(present: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], FormerKind]:
    """Return those of some kinds, each as group and name, that are read no more; without any the table stays unread."""
    data = shipped_data("schemas", _TABLE)
    named = [key for key in present if f"{key[0]}/{key[1]},".encode() in data]
    return {key: _table()[key] for key in named if key in _table()}


@lru_cache(maxsize=1)
def _table() -> Mapping[tuple[str, str], FormerKind]:
    entries = map(mapping, sequence(read(shipped_data("schemas", _TABLE), _TABLE).documents[0].value))
    found = {}
    for entry in entries:
        group, _, kind = text(entry.get("kind")).rpartition("/")
        reader, since, instead = (text(entry.get(field)) for field in ("reader", "since", "instead"))
        found[group, kind] = FormerKind(reader, since, instead, tuple(texts(entry.get("told"))))
    return found
