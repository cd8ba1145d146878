"""Which objects that nothing reads by itself a change touches: `policylint diff` reads their kinds on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.catalog.content import Edited
from policylint.documents import read
from policylint.load.facts import is_kustomization_path, names_in, own_name
from policylint.patterns import Pattern

_KIND = Pattern(rb"\bkind[\"']?: *[\"']?(\w+)")
_MOST_FILES = 2_000
_CORE = frozenset({"apps", "batch", "autoscaling", "policy", "apiextensions.k8s.io"})
_OF_CORE = frozenset({("", "ServiceAccount"), ("", "Secret")})
_Text = tuple[str, str, bytes]
"""A document: its group, its kind, and all of it."""


def edited(files: Iterable[tuple[str, bytes, bytes]]) -> Edited:
    """Return what differs between two states of some files; each is its path and both contents, b"" for none."""
    kinds: set[tuple[str, str]] = set()
    names: set[str] = set()
    patched: set[str] = set()
    maps: set[str] = set()
    for number, (path, before, after) in enumerate(files):
        if number == _MOST_FILES:
            break
        if is_kustomization_path(path):
            patched.update(match.decode() for data in (before, after) for match in _KIND.findall(data))
            continue
        for group, kind, chunk in set(_texts(path, before)) ^ set(_texts(path, after)):
            if kind == "ConfigMap" and not group:
                maps |= names_in(chunk)
            elif (group and group not in _CORE) or (group, kind) in _OF_CORE:
                kinds.add((group, kind))
                names |= own_name(chunk)
    return Edited(frozenset(kinds), frozenset(names), frozenset(patched), frozenset(maps))


def _texts(path: str, data: bytes) -> Iterator[_Text]:
    """Yield the documents of a file whose kind is plain to see."""
    for unread in read(data, path, wanted=lambda *_: False).unread:
        yield unread.api_version.rpartition("/")[0], unread.kind, data[unread.start : unread.end].strip()


__all__ = ["edited"]
