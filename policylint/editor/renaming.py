"""Rename an object with all that names it: its own name, references, patches of kustomizations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from policylint.documents import Document, Pointer, read
from policylint.edit.plan import edits
from policylint.edit.text import Edit
from policylint.editor.state import State
from policylint.errors import UsageError
from policylint.model import Location, ResourceKey, mapping, sequence, text
from policylint.model.fix import Change, Fix
from policylint.model.resource import Written, value_at
from policylint.model.spelling import spelled

_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LONGEST: Final = 253


class RenameError(UsageError):
    """An object cannot be renamed; the message is for users."""


def rename(
    state: State, key: ResourceKey, name: str, files: Iterable[str], content: Callable[[str], str]
) -> list[Edit]:
    """Return the edits that give an object another name, wherever it is named.

    Args:
        files: the files of the tree, as shown.
        content: returns the text of a file.

    Raises:
        RenameError: the name is none, is taken, or some place cannot be edited exactly.
    """
    _check(state, key, name)
    places: dict[tuple[str, int, int], Location] = {}
    for location in _places(state, key):
        places[location.sort_key()] = location
    for location in _patches(key, files, content):
        places[location.sort_key()] = location
    changed = []
    for location in places.values():
        if isinstance(location.document, Document) and value_at(location.document.value, location.pointer) != key.name:
            raise RenameError(f"{location.file}:{location.at()[0]} makes the name of {spelled(key)} of another one")
        fix = Fix("", (Change("set", location, key.name, name),))
        if not (made := edits(fix, content)):
            raise RenameError(f"the name at {location.file}:{location.at()[0]} cannot be edited exactly")
        changed += made
    return changed


def _check(state: State, key: ResourceKey, name: str) -> None:
    inner = name.replace("-", "").replace(".", "")
    if len(name) > _LONGEST or not inner or not set(inner) <= _LETTERS or {name[0], name[-1]} - _LETTERS:
        raise RenameError(f"{name!r} is no name of an object")
    taken = key._replace(name=name)
    if any(taken in simulation.world.resources for simulation in state.workspace.simulations):
        raise RenameError(f"there is a {spelled(taken)} already")


def _places(state: State, key: ResourceKey) -> Iterable[Location]:
    for simulation in state.workspace.simulations:
        if (resource := simulation.world.get(key)) is not None:
            yield resource.name_location
    for held, reference in state.naming(key):
        yield held.resource.location(*reference.name)


def _patches(key: ResourceKey, files: Iterable[str], content: Callable[[str], str]) -> Iterable[Location]:
    """Yield the names in files that are laid over the object: patches by its kind and name, targets of patches."""
    for file in files:
        if key.name not in (written := content(file)):
            continue
        for document in read(written.encode(), file).documents:
            body = mapping(document.value)
            metadata = mapping(body.get("metadata"))
            namespace = text(metadata.get("namespace"))
            group = text(body.get("apiVersion")).rpartition("/")[0]
            is_same = (group, body.get("kind"), metadata.get("name")) == (key.group, key.kind, key.name)
            if is_same and namespace in ("", key.namespace):
                yield _location(document, ("metadata", "name"))
            for field in ("patches", "patchesJson6902", "replacements"):
                for number, entry in enumerate(sequence(body.get(field))):
                    target = mapping(mapping(entry).get("target"))
                    if target.get("name") == key.name and text(target.get("kind")) in ("", key.kind):
                        yield _location(document, (field, number, "target", "name"))


def _location(document: Written, pointer: Pointer) -> Location:
    return Location(document, pointer)
