"""Objects as kustomize reads them: words that are texts to it, names and annotations that it writes back as texts.

Source: kustomize's goyaml.v3 (resolve.go: `y`, `no`, `on` and the like are booleans of YAML 1.1, and texts where no
boolean is wanted), kyaml's RNode (GetName, SetAnnotations) and api's Resource.RemoveBuildAnnotations, which writes the
annotations of every object anew. tests/render/kustomize/test_as_read.py asks kubectl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Document, Pointer
from policylint.documents.scalars import WORDS
from policylint.load.objects import is_kustomization_file, joined
from policylint.load.reading import Loaded
from policylint.model import Resource, mapping
from policylint.model import texts as texts_of
from policylint.patterns import Pattern
from policylint.sources import SourceError

if TYPE_CHECKING:
    from policylint.render.provenance import Manifest
    from policylint.render.tree import Tree

_BOOLEAN = Pattern(r"(?:true|True|TRUE|false|False|FALSE)(?![\w.-])")
"""What every reader takes for a boolean, at its start."""
_ODD_BREAK = Pattern(r"\r(?!\n)|[\x85\u2028\u2029]")
"""What ends a line of YAML beside `\\n`."""


def as_read(documents: Sequence[Document], path: str, tree: Tree) -> list[Manifest]:
    """Return the objects of a file, in which what kustomize takes for text is text."""
    from policylint.render.provenance import manifests_of

    manifests = manifests_of(documents)
    has_words = any(document.with_words for document in documents)
    words = _Words((tree.read(path) or b"").decode("utf-8", "replace")) if has_words else None
    for manifest in manifests:
        document = manifest.origin.document
        if words is not None and isinstance(document, Document):
            manifest.body = _with_words(manifest.body, manifest.origin.pointer, document, words)
        manifest.body = _with_texts(manifest.body)
    return manifests


def as_listed(resources: Sequence[Resource], documents: Sequence[Document], loaded: Loaded) -> list[Resource]:
    """Return objects that nobody was seen to build: those in files that a kustomization lists are applied as it writes
    them, whoever does so."""
    listed = _listed(documents) if loaded.places else set()
    if not listed:
        return list(resources)
    words: dict[str, _Words] = {}
    found = []
    for resource in resources:
        body, file = resource.body, resource.document.file
        if file in listed and resource.sources is None:
            document = resource.document
            if isinstance(document, Document) and document.with_words:
                if file not in words:
                    words[file] = _Words(_text_of(file, loaded))
                body = _with_words(body, resource.root, document, words[file])
            body = _with_texts(body)
        found.append(resource if body is resource.body else resource.replaced(body=body))
    return found


def _listed(documents: Sequence[Document]) -> set[str]:
    """Return the files that kustomizations list, as shown."""
    return {
        joined(document.file.rpartition("/")[0], entry)
        for document in documents
        if is_kustomization_file(document)
        for entry in texts_of(mapping(document.value).get("resources"))
        if entry.endswith((".yaml", ".yml")) and "://" not in entry
    }


def _text_of(file: str, loaded: Loaded) -> str:
    found = next((each for each in loaded.files if each.path == file), None)
    try:
        return "" if found is None else found.read().decode("utf-8", "replace")
    except SourceError:
        return ""


def _with_texts(body: dict[str, Any]) -> dict[str, Any]:
    """Return an object with texts for annotations."""
    metadata = mapping(body.get("metadata"))
    annotations = mapping(metadata.get("annotations"))
    if not any(isinstance(value, (bool, int, float)) for value in annotations.values()):
        return body
    told = {name: _as_text(value) for name, value in annotations.items()}
    return {**body, "metadata": {**metadata, "annotations": told}}


def _as_text(value: Any) -> Any:
    """Return an annotation as it is written; of numbers in odd spellings as they are read."""
    return str(value).lower() if isinstance(value, (bool, int, float)) else value


class _Words:
    """The words of `WORDS` in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [] if _ODD_BREAK.search(text) else text.split("\n")
        self._found: dict[tuple[int, int], str] | None = None

    def at(self, line: int, column: int) -> str | None:
        """Return the word that stands at a position (1-based); None where something else does."""
        if line <= len(self._lines) and _BOOLEAN.match(self._lines[line - 1], column - 1):
            return None
        if self._found is None:
            from policylint.documents.tokens import plain_scalars

            self._found = plain_scalars(self._text, WORDS)
        return self._found.get((line, column))


def _with_words(body: dict[str, Any], root: Pointer, document: Document, words: _Words) -> dict[str, Any]:
    """Return an object with the words that are texts, each where a boolean is by the rules of the API server."""
    changed = body
    for pointer in [*_booleans(body, root)][::-1]:  # the keys of what is within others last
        is_key = pointer[-1] is None
        place = pointer[:-1] if is_key else pointer
        word = words.at(*_at(document, place, is_key=is_key))
        if word is not None:
            steps = place[len(root) :]
            changed = _renamed(changed, steps, word) if is_key else _put(changed, steps, word)
    return changed


def _at(document: Document, pointer: Pointer, *, is_key: bool) -> tuple[int, int]:
    position = document.position(pointer, key=is_key)
    return position.line, position.column


def _booleans(value: Any, at: Pointer) -> Iterator[Any]:
    """Yield the pointers of booleans, and those of keys that may be some, with None behind them."""
    if isinstance(value, bool):
        yield at
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in ("true", "false"):
                yield (*at, name, None)
            yield from _booleans(inner, (*at, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _booleans(inner, (*at, number))


def _put(value: Any, steps: Pointer, new: Any) -> Any:
    if not steps:
        return new
    changed = value.copy()
    changed[steps[0]] = _put(value[steps[0]], steps[1:], new)
    return changed


def _renamed(value: Any, steps: Pointer, name: str) -> Any:
    if len(steps) == 1:
        return {name if key == steps[0] else key: inner for key, inner in value.items()}
    changed = value.copy()
    changed[steps[0]] = _renamed(value[steps[0]], steps[1:], name)
    return changed
