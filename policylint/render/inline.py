"""YAML inside a YAML string: inline patches, values in ConfigMaps. Read once, located in the file that holds them."""

from __future__ import annotations

from typing import Any

from policylint.documents import Document, Pointer, Position, Problem, read
from policylint.model import Spot
from policylint.render.provenance import Provenance


class Inline:
    """A document written as a text at some place of another one (the Written protocol).

    Lines are right for block scalars, the only style that people use for more than one line; the column is right where
    the block is indented by two from its key, as all formatters do it.
    """

    __slots__ = ("inner", "outer", "text")

    def __init__(self, outer: Provenance, inner: Document, text: str) -> None:
        self.outer = outer
        self.inner = inner
        self.text = text

    @property
    def file(self) -> str:
        return self.outer.document.file

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:
        document, place = self.outer.document, self.outer.pointer
        inner = self.inner.position(pointer, key=key)
        if isinstance(document, Spot):  # the text is a whole file
            return inner
        start = document.position(place)
        if "\n" not in self.text:
            return Position(start.line, start.column)
        indent = document.position(place, key=True).column + 1
        return Position(start.line + inner.line, indent + inner.column)


class Texts:
    """The documents of inline texts; a text that is used a hundred times is read once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[Document], Problem | None]] = {}

    def documents(self, text: str, source: Provenance) -> tuple[list[tuple[Any, Provenance]], Problem | None]:
        """Return the documents of a text written at `source`, each with its provenance, and what is wrong with the
        text."""
        known = self._known.get(text)
        if known is None:
            reading = read(text.encode("utf-8", "replace"), "")
            problem = next((problem for problem in reading.problems if problem.code != "duplicate-key"), None)
            known = self._known[text] = (reading.documents, problem)
        documents, problem = known
        return [(document.value, Provenance(Inline(source, document, text))) for document in documents], problem

    def mappings(self, text: str, source: Provenance) -> list[tuple[dict[str, Any], Provenance]]:
        """Return the first document of a text written at `source` if it is a mapping, as values are."""
        documents = self.documents(text, source)[0][:1]
        return [(value, origin) for value, origin in documents if isinstance(value, dict)]
